"""Reading the proof that `maxproof verify` is given."""

from __future__ import annotations

import io
import os
import sys
import threading
from pathlib import Path

import pytest

from maxproof.problems import InputError, read_proof
from maxproof.problems.load import MAX_PROOF_BYTES


def test_text_comes_back_with_unix_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "proof.md"
    path.write_bytes("\ufeffLet $n$ be even.\r\nDone. ∎\r\n".encode())
    assert read_proof(path) == "Let $n$ be even.\nDone. ∎\n"


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Done.")))
    assert read_proof("-") == "Done."
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b" \n")))
    with pytest.raises(InputError, match=r"^<stdin>: empty: expected the text of a proof$"):
        read_proof("-")


def test_a_pipe_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("Done.",))
    writer.start()
    assert read_proof(pipe) == "Done."
    writer.join()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "empty"),
        (b"\n \n", "empty"),
        (b"a\xff", "not UTF-8"),
        (b"x" * (MAX_PROOF_BYTES + 1), "larger than"),
    ],
)
def test_bad_files(tmp_path: Path, content: bytes, expected: str) -> None:
    path = tmp_path / "proof.md"
    path.write_bytes(content)
    with pytest.raises(InputError, match=expected):
        read_proof(path)
    with pytest.raises(InputError, match="no such file"):
        read_proof(tmp_path / "none.md")
