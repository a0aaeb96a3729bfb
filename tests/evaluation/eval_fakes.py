"""What the tests of `maxproof eval` share: a small dataset, a mock for the searches, one for the oracle."""

from __future__ import annotations

import hashlib
from pathlib import Path

from maxproof.evaluation.dataset.folder import Asked, EvalFolder, create_eval
from maxproof.evaluation.description import dataset_digest
from maxproof.evaluation.oracle.settings import OracleSettings
from maxproof.models.mock import MockReply, MockRequest, SimulatedModel
from maxproof.models.mock.simulate import true_quality
from maxproof.models.settings import BudgetSettings, EndpointSettings
from maxproof.problems import Problem
from maxproof.search.settings import RunSettings, SearchSettings
from maxproof.verifier.settings import JudgeSettings, VerifierSettings

SEARCH = SearchSettings(candidates=4, verifications=2, rounds=2, parents=2, finalists=2)
VERIFIER = VerifierSettings(judges=(JudgeSettings(name="free", mode="free"),))


def dataset(count: int) -> tuple[Problem, ...]:
    """Problems with reference, rubric, domain and level."""
    domains = ("algebra", "geometry", "number theory")
    return tuple(
        Problem(
            f"P{n}",
            f"Prove statement number {n} about rho.",
            reference=f"Reference {n}.",
            rubric="(Almost) a slip",
            domain=domains[n % 3],
            level="easy" if n % 2 else "hard",
        )
        for n in range(count)
    )


def endpoint(url: str, model: str = "sim", concurrency: int = 16, **more: object) -> EndpointSettings:
    return EndpointSettings.model_validate(
        {"base_url": url, "model": model, "concurrency": concurrency, "timeout_s": 20.0, "n_samples": "off", **more}
    )


def oracle_settings(url: str, **more: object) -> OracleSettings:
    return OracleSettings.model_validate(
        {"base_url": url, "model": "oracle", "concurrency": 8, "timeout_s": 20.0, "n_samples": "off", **more}
    )


def asked(
    problems: tuple[Problem, ...],
    url: str,
    oracle: OracleSettings | None = None,
    *,
    method: str = "search",
    seeds: tuple[int, ...] = (0,),
    budget: BudgetSettings | None = None,
    search: SearchSettings = SEARCH,
    concurrency: int = 16,
    **more: object,
) -> Asked:
    settings = RunSettings(
        endpoints={"default": endpoint(url, concurrency=concurrency)},
        verifier=VERIFIER,
        search=search,
        budget=budget or BudgetSettings(),
    )
    values: dict[str, object] = {
        "maxproof": "0", "dataset": "set.jsonl", "digest": dataset_digest(problems), "problems": len(problems),
        "method": method, "seeds": seeds, "grade": "archive", "settings": settings,
        "oracle": "judge" if oracle else "none", "oracle_settings": oracle, **more,
    }  # fmt: skip
    return Asked.model_validate(values)


def make(path: Path, problems: tuple[Problem, ...], wanted: Asked) -> EvalFolder:
    return create_eval(path, wanted, problems)


def model(seed: int = 1) -> SimulatedModel:
    return SimulatedModel(seed=seed, quality=0.5, false_positive=0.1, false_negative=0.1)


class OracleScript:
    """Grades by the truth that stands in a simulated proof; `unreadable`: of every so many proofs, none is readable."""

    def __init__(self, unreadable: int = 0) -> None:
        self._unreadable = unreadable

    def __call__(self, request: MockRequest) -> MockReply:
        text = request.block("solution") or ""
        digest = int(hashlib.sha256(text.encode()).hexdigest(), 16)
        if self._unreadable and digest % self._unreadable == 0:
            return MockReply("I would rather not say.")
        truth = true_quality(text)
        points = {"no_errors": 7, "minor_gaps": 6, "has_errors": 1}.get(truth.verdict, 0) if truth is not None else 0
        return MockReply(f"<assessment>Read.</assessment>\n<points>{points}</points>")
