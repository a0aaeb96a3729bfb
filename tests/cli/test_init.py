"""The commented `maxproof.toml` says everything, and what it says loads."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from pydantic import BaseModel

from maxproof.cli.config import flatten, load_config
from maxproof.cli.init import EXAMPLES, config_text, write_config
from maxproof.cli.train_settings import train_settings
from maxproof.evaluation.oracle.settings import OracleSettings
from maxproof.problems import InputError
from maxproof.search.settings import RunSettings
from maxproof.training.settings import CispoSettings

ENVIRONMENT = {"OPENAI_BASE_URL": "http://localhost:8000/v1"}
SETTING = re.compile(r"^#(?=[a-z\[])", re.MULTILINE)


def test_as_written_it_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "maxproof.toml"
    write_config(path)
    assert load_config(path, environ=ENVIRONMENT) == load_config(None, environ=ENVIRONMENT)


def test_uncommented_it_loads_and_shows_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "maxproof.toml"
    path.write_text(SETTING.sub("", config_text()))
    assert not any(line.startswith("#") and not line.startswith("# ") for line in path.read_text().splitlines())
    shown = flatten(load_config(path, environ={}))
    unset = flatten(load_config(None, environ=ENVIRONMENT))
    examples = {key for key, value in shown.items() if unset.get(key) != value}
    assert {key.rpartition(".")[2] for key in examples} <= EXAMPLES.keys() | {"input", "output"}
    assert all(not unset.get(key) for key in examples)  # only what is unset by default has an example


def test_what_it_says_of_training_is_the_default(tmp_path: Path) -> None:
    path = tmp_path / "maxproof.toml"
    path.write_text(SETTING.sub("", config_text()))
    assert train_settings(path, {}) == CispoSettings()
    path.write_text(path.read_text().replace("max_new_tokens = 128", "max_new_tokens = 77"))
    assert train_settings(path, {}).sampling.max_new_tokens == 77


def test_every_setting_is_in_it(tmp_path: Path) -> None:
    names = set(re.findall(r"^#?([a-z_]+) = ", config_text(), re.MULTILINE))

    def options(model: type[BaseModel]) -> set[str]:
        schema = model.model_json_schema()
        tables = [schema, *schema["$defs"].values()]
        return {
            name
            for table in tables
            for name, option in table["properties"].items()
            if "$ref" not in str(option)  # a table of its own
        }

    assert options(RunSettings) | options(CispoSettings) | options(OracleSettings) == names - {"effort"}


def test_it_is_valid_toml_line_by_line() -> None:
    for line in config_text().splitlines():
        if not line.startswith("# "):
            tomllib.loads(SETTING.sub("", line))


def test_a_file_is_replaced_only_when_forced(tmp_path: Path) -> None:
    path = tmp_path / "maxproof.toml"
    path.write_text("mine")
    with pytest.raises(InputError, match=r"there is a file already .--force replaces it"):
        write_config(path)
    assert path.read_text() == "mine"
    write_config(path, force=True)
    assert path.read_text() == config_text()
    with pytest.raises(InputError, match="can't be written: No such file"):
        write_config(tmp_path / "none" / "maxproof.toml")
    with pytest.raises(InputError, match="can't be written: Is a directory"):
        write_config(tmp_path, force=True)
