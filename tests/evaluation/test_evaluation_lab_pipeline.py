"""The lab run's folder and its plan of stages."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

import pytest

from maxproof.evaluation.lab import pipeline
from maxproof.evaluation.lab.pipeline import PROVER, RUN, open_lab, read_lab, stages
from maxproof.evaluation.lab.profile import PROFILES, LabProfile, profile_named
from maxproof.problems import InputError


def test_profiles_are_found_by_name() -> None:
    assert profile_named("tiny").name == "tiny"
    assert profile_named("standard") == LabProfile()
    with pytest.raises(InputError, match=r"--profile: unknown profile 'huge', known: standard, tiny"):
        profile_named("huge")


@pytest.mark.parametrize("name", PROFILES)
def test_every_profile_survives_its_own_file(name: str) -> None:
    profile = profile_named(name)
    assert LabProfile.model_validate(json.loads(json.dumps(profile.model_dump(mode="json")))) == profile
    assert profile.search_problems <= profile.problems
    assert profile.verifier_rl.group > 1
    assert profile.prover.group > 1


def test_a_folder_keeps_its_profile(tmp_path: Path) -> None:
    profile = profile_named("tiny").model_copy(update={"seed": 9})
    assert open_lab(tmp_path, profile) == profile
    assert open_lab(tmp_path, None) == profile
    assert open_lab(tmp_path, profile) == profile
    assert read_lab(tmp_path) == profile


def test_another_profile_is_refused(tmp_path: Path) -> None:
    open_lab(tmp_path, profile_named("tiny"))
    with pytest.raises(InputError, match="was begun with another profile") as caught:
        open_lab(tmp_path, profile_named("tiny").model_copy(update={"seed": 1}))
    assert caught.value.file == str(tmp_path / RUN)
    assert read_lab(tmp_path).seed == 0


def test_other_versions_are_refused_and_named_but_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile = open_lab(tmp_path, profile_named("tiny"))
    monkeypatch.setattr(
        pipeline, "versions", lambda: {**json.loads((tmp_path / RUN).read_text())["versions"], "torch": "9"}
    )
    with pytest.raises(InputError, match=r"was begun with other versions: torch .*, now 9"):
        open_lab(tmp_path, None)
    assert read_lab(tmp_path) == profile


def test_a_missing_folder_says_how_to_begin(tmp_path: Path) -> None:
    for call in (lambda: open_lab(tmp_path / "none", None), lambda: read_lab(tmp_path / "none")):
        with pytest.raises(InputError, match=r"no lab run there \(begin one with maxproof lab run --out FOLDER\)"):
            call()
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"profile": 3}', '{"profile": {"nonsense": 1}}', "\x00"])
def test_a_damaged_file_is_one_clear_line(tmp_path: Path, text: str) -> None:
    (tmp_path / RUN).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="is damaged") as caught:
        open_lab(tmp_path, None)
    assert "\n" not in str(caught.value)


def test_damaged_versions_are_one_clear_line(tmp_path: Path) -> None:
    path = tmp_path / RUN
    path.write_text(json.dumps({"profile": profile_named("tiny").model_dump(mode="json"), "versions": 3}))
    with pytest.raises(InputError, match="no versions"):
        open_lab(tmp_path, None)


@pytest.mark.parametrize("name", PROFILES)
def test_needs_are_listed_before_and_every_stage_is_a_function(name: str) -> None:
    pytest.importorskip("torch", reason="needs the extra train")
    profile = profile_named(name)
    planned = stages(profile)
    seen: set[str] = set()
    for stage in planned:
        assert seen.issuperset(stage.needs), stage.name
        assert stage.name not in seen
        seen.add(stage.name)
        module, _, function = stage.run.partition(":")
        assert callable(getattr(import_module(module), function))
    assert PROVER in seen
    for arm in ("panel", "biased"):
        assert {f"{arm}-{seed}" for seed in range(profile.rl_seeds)} <= seen
    assert sum(stage.name.startswith("search-") for stage in planned) == profile.search_shards
