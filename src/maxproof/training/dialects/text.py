"""Options as text: YAML, Hydra overrides, command-line flags."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

Scalar = str | int | float | bool | None
Value = Scalar | Sequence[str]


def yaml_text(values: Mapping[str, Any]) -> str:
    """Nested mappings, lists of scalars and scalars, which any YAML reader gives back as they are."""
    return "".join(f"{line}\n" for line in _yaml_lines(values, ""))


def _yaml_lines(values: Mapping[str, Any], indent: str) -> list[str]:
    lines = []
    for key, value in values.items():
        if isinstance(value, Mapping):
            lines += [f"{indent}{key}:", *_yaml_lines(value, indent + "  ")]
        elif isinstance(value, (list, tuple)):
            lines.append(f"{indent}{key}: [{', '.join(map(_yaml_scalar, value))}]")
        else:
            lines.append(f"{indent}{key}: {_yaml_scalar(value)}")
    return lines


def _yaml_scalar(value: Scalar) -> str:
    text = json.dumps(value)
    if isinstance(value, float) and "e" in text and "." not in text:
        return text.replace("e", ".0e")  # YAML 1.1 reads 1e-06 as a string
    return text


def hydra_overrides(options: Mapping[str, Value]) -> list[str]:
    """`key=value`, quoted for Hydra's grammar and not yet for a shell."""
    return [f"{key}={_hydra_value(value)}" for key, value in options.items()]


def _hydra_value(value: Value) -> str:
    if not isinstance(value, str):
        return f"[{','.join(map(_hydra_value, value))}]" if isinstance(value, Sequence) else json.dumps(value)
    if re.fullmatch(r"[A-Za-z0-9_./:@-]+", value) and not re.fullmatch(r"(?i)null|true|false|[\d.e+-]+", value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def flags(options: Mapping[str, Scalar]) -> list[str]:
    """`--key value` as two words each; a flag without a value has None."""
    words: list[str] = []
    for key, value in options.items():
        words.append(f"--{key}")
        if value is not None:
            words.append(value if isinstance(value, str) else json.dumps(value))
    return words


def shell_text(comment: Sequence[str], command: Sequence[str], arguments: Sequence[str]) -> str:
    """A bash script that runs one command with one argument (or flag and value) a line, and passes its own on."""
    lines = ["#!/usr/bin/env bash", *(f"# {line}" for line in comment), "set -euo pipefail"]
    words = list(map(shlex.quote, arguments))
    rows: list[str] = []
    for word in words:
        if rows and rows[-1].startswith("--") and " " not in rows[-1] and not word.startswith("--"):
            rows[-1] += f" {word}"
        else:
            rows.append(word)
    lines.append(" \\\n  ".join([" ".join(command), *rows, '"$@"']))
    return "\n".join(lines) + "\n"
