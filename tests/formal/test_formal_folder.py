"""A formal run's folder holds all that a resumed run needs, and says in one line what is wrong with it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from formal_models import GOAL, problem

from maxproof.formal.folder import FORMAT, FormalFolder, create_formal_run, is_formal_run, open_formal_run
from maxproof.formal.guided.settings import GuidedSettings
from maxproof.formal.problem import FormalProblem
from maxproof.formal.results import Status
from maxproof.formal.settings import FormalSettings
from maxproof.models.settings import EndpointSettings
from maxproof.problems import InputError
from maxproof.search.settings import RunSettings

FORMAL = FormalSettings(methods=("empty", "guided"), repeats=4, learn=True, guided=GuidedSettings(mode="afresh"))
SETTINGS = RunSettings(endpoints={"default": EndpointSettings(base_url="http://h/v1")})


def problems() -> list[FormalProblem]:
    text = "// é\npredicate small(x: int) { x < 5 }\nlemma low(x: int) requires small(x) ensures x < 6 {}\n"
    return [problem(), replace(problem(text), split="test", domain="order", origin="ab" * 32)]


def create(path: Path) -> FormalFolder:
    return create_formal_run(path, problems(), FORMAL, SETTINGS, "1.2", {"low": Status.VACUOUS})


def test_what_is_created_is_opened_again(tmp_path: Path) -> None:
    made = create(tmp_path / "a" / "run")
    opened = open_formal_run(made.path)
    assert opened == made
    assert opened.digest == made.digest
    assert is_formal_run(made.path)
    served = made.with_served("default", "model-1")
    assert open_formal_run(made.path).served == served.served == {"default": "model-1"}


def test_what_was_unreadable_stays_known(tmp_path: Path) -> None:
    made = create_formal_run(tmp_path / "run", problems(), FORMAL, SETTINGS, "1.2", unreadable=["p.dfy:1:2: wrong"])
    assert open_formal_run(made.path).unreadable == made.unreadable == ("p.dfy:1:2: wrong",)


def test_a_problem_made_in_memory_can_be_resumed(tmp_path: Path) -> None:
    bare = replace(problem(), source="", file=None)
    made = create_formal_run(tmp_path / "run", [bare], FormalSettings(), RunSettings(), "1.2")
    (opened,) = open_formal_run(made.path).problems
    assert (opened.lemma, opened.definitions) == (bare.lemma, ())
    assert open_formal_run(made.path).digest == made.digest


def test_the_digest_is_of_names_and_texts(tmp_path: Path) -> None:
    one = create(tmp_path / "one")
    other = create_formal_run(tmp_path / "other", [problem(GOAL + " ")], FORMAL, SETTINGS, "1.2")
    third = create_formal_run(tmp_path / "third", [problem()], FORMAL, SETTINGS, "1.2")
    assert len({one.digest, other.digest, third.digest}) == 3


def test_a_run_is_not_made_over_another(tmp_path: Path) -> None:
    create(tmp_path / "run")
    with pytest.raises(InputError, match="already holds a run"):
        create(tmp_path / "run")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="can't write the run folder"):
        create(tmp_path / "file" / "run")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda value: value | {"format": FORMAT + 1}, "newer version"),
        (lambda value: value | {"formal": {"methods": ["magic"]}}, r"is damaged"),
        (lambda value: value | {"formal": {"methods": []}}, r"is damaged"),
        (lambda value: {k: v for k, v in value.items() if k != "problems"}, "problems: is damaged|is damaged"),
        (lambda value: value | {"problems": [{"name": "x", "text": "lemma y() ensures true {}"}]}, "expected 'x'"),
        (lambda value: value | {"problems": [{"name": "x", "text": "lemma x( {}"}]}, "run.json"),
        (lambda value: value | {"statements": {"low": "wonderful"}}, "is damaged"),
        (lambda value: [value], "is damaged"),
    ],
)
def test_a_damaged_run_is_one_clear_line(change, message: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    file = create(tmp_path / "run").path / "run.json"
    file.write_text(json.dumps(change(json.loads(file.read_text()))))
    with pytest.raises(InputError, match=message) as caught:
        open_formal_run(tmp_path / "run")
    assert "\n" not in str(caught.value)


def test_what_is_no_formal_run(tmp_path: Path) -> None:
    assert not is_formal_run(tmp_path)
    (tmp_path / "run.json").write_text("{")
    assert not is_formal_run(tmp_path)
    with pytest.raises(InputError, match="no JSON"):
        open_formal_run(tmp_path)
    (tmp_path / "run.json").write_text('{"kind": "prove", "format": 1}')
    assert not is_formal_run(tmp_path)
    (tmp_path / "run.json").write_text("[" * 100_000)
    assert not is_formal_run(tmp_path)
    with pytest.raises(InputError):
        open_formal_run(tmp_path)
    with pytest.raises(InputError, match="can't be read"):
        open_formal_run(tmp_path / "none")
