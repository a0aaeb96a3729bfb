"""All stages of the study one after another, at sizes of seconds.

The optimisers, the judges, the files and the figures are real. Answers are scripted, as nothing is learnt in two steps:
each is one of a few that a model could give, chosen by its seed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from maxproof.evaluation.lab.pipeline import open_lab, stages
from maxproof.evaluation.lab.profile import LabProfile, profile_named
from maxproof.evaluation.lab.report import write_report
from maxproof.evaluation.lab.results import read_results
from maxproof.evaluation.lab.stages import RESULT, run_stage, stage_folder
from maxproof.lab.dialogue import Mark, critique_answer
from maxproof.lab.domains import read_question
from maxproof.training.settings import CispoSettings, ModelShape, SamplingSettings, SftSettings
from maxproof.training.types import Sampled
from maxproof.verifier.types import Verdict


def answer(prompt: str, rng: Random) -> str:
    """One answer in the model's own format."""
    task, _, rest = prompt.partition(" ")
    statement, _, proof = rest.partition(" <sep>")
    match task:
        case "<verify>":
            count = max(1, len(re.findall(r"(?:^| )\d+: ", proof)))
            wrong = rng.randrange(2 * count)
            marks = tuple(Mark.FALSE if n == wrong else Mark.OK for n in range(count))
            return critique_answer(marks, Verdict.HAS_ERRORS if wrong < count else Verdict.NO_ERRORS)
        case "<rank>":
            return rng.choice(("first", "second"))
        case "<summarise>":
            return "by reduction ; none"
    question = read_question(statement)
    assert question is not None
    claims = list(question.solve(question.techniques[0]))
    found = rng.choice((claims, claims[:-1], [*claims[:1], claims[-1]], ["The answer is 12345."]))
    return "\n".join(found or claims)


def sample(
    model: Any, tokenizer: Any, prompts: Sequence[str], settings: SamplingSettings, seeds: Sequence[int]
) -> list[Sampled]:
    found = []
    weight = float(next(model.parameters()).detach().sum())
    for prompt, seed in zip(prompts, seeds, strict=True):
        # The greedy answer has no seed; models differ, as their weights do.
        chosen = f"{prompt} {seed if settings.temperature else 0} {weight:.9f}"
        ids = (*tokenizer.encode(answer(prompt, Random(chosen))), tokenizer.end)
        found.append(Sampled(ids, (-1.0,) * len(ids), True))
    return found


@pytest.fixture
def profile(monkeypatch: pytest.MonkeyPatch) -> LabProfile:
    pytest.importorskip("torch", reason="needs the extra train")
    from maxproof.training import rl, sampling

    monkeypatch.setattr(sampling, "sample", sample)
    monkeypatch.setattr(rl, "sample", sample)
    sft = SftSettings(steps=2, batch=4, warmup=1)
    cispo = CispoSettings(steps=2, prompts=6, group=4, sampling=SamplingSettings(max_new_tokens=150))
    sizes = {
        "shape": ModelShape(layers=1, width=16, heads=2, hidden=16),
        "corpus": 400,
        "base": sft,
        "train_problems": 60,
        "prover": cispo,
        "problems": 20,
        "samples": 2,
        "verifier_sft": sft,
        "verifier_rl": cispo,
        "fixer_triples": 20,
        "fixer_samples": 2,
        "fixer_sft": sft,
        "validation_problems": 12,
        "search_problems": 2,
    }
    return profile_named("tiny").model_copy(update=sizes)


def test_every_stage_reads_what_the_others_wrote_and_the_report_shows_it(tmp_path: Path, profile: LabProfile) -> None:
    open_lab(tmp_path, profile)
    planned = stages(profile)
    for stage in planned:
        run_stage(tmp_path, stage, profile)
    results = read_results(tmp_path)
    assert results.waiting == ()
    assert len(results.searches) == profile.search_problems

    _, markdown = write_report(tmp_path)
    text = markdown.read_text(encoding="utf-8")
    assert "not measured" not in text.lower()
    assert "Not done" not in text
    for title in ("Reward hacking", "Provers", "Verifier expert", "Fixer expert", "Merge", "Search"):
        assert f"## {title}\n" in text
    assert "merged, dare_ties" in text
    assert text.count("| claim | here |") == 7
    assert not re.search(r"\bnan\b|None", text)

    for shard in range(profile.search_shards):
        again = next(stage for stage in planned if stage.name == f"search-{shard}")
        before = (stage_folder(tmp_path, again.name) / "problems.jsonl").read_bytes()
        (stage_folder(tmp_path, again.name) / RESULT).unlink()
        run_stage(tmp_path, again, profile)
        assert (stage_folder(tmp_path, again.name) / "problems.jsonl").read_bytes() == before
    assert json.loads(json.dumps(results.to_json(), allow_nan=False))["waiting"] == []
