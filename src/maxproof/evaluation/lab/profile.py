"""How large the lab study is: `standard` for the report, `tiny` for a check in minutes that still trains."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from maxproof.problems import InputError
from maxproof.search.settings import SearchSettings
from maxproof.training.settings import CispoSettings, ModelShape, SamplingSettings, SftSettings


class LabProfile(BaseModel):
    """Sizes and seeds of one run of the study. A run folder keeps its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = "standard"
    seed: int = Field(0, ge=0, description="of the world, the base model and everything that is not an RL seed")
    rl_seeds: int = Field(3, ge=1, description="seeds of each arm of the reward-hacking experiment")
    shape: ModelShape = Field(default_factory=lambda: ModelShape(layers=3))
    corpus: int = Field(
        60_000, ge=100, description="examples of the base model's corpus; drawn from again when used up"
    )
    base: SftSettings = Field(
        default_factory=lambda: SftSettings(
            steps=6500, batch=24, learning_rate=4e-3, matrix_learning_rate=0.02, save_every=500
        )
    )
    train_problems: int = Field(2500, ge=10, description="problems of the train split that RL draws from")
    levels: tuple[int, ...] = Field((1,), description="levels of the problems, all splits")
    domains: tuple[str, ...] | None = Field(None, description="domains of the problems; None: all")
    prover: CispoSettings = Field(
        default_factory=lambda: CispoSettings(
            steps=80, prompts=20, group=8, learning_rate=5e-4, sampling=SamplingSettings(max_new_tokens=120)
        )
    )
    problems: int = Field(200, ge=10, description="held-out problems of every measurement of a prover")
    samples: int = Field(32, ge=2, description="samples a problem, for best-of-k")
    verifier_sft: SftSettings = Field(
        default_factory=lambda: SftSettings(steps=300, batch=48, learning_rate=5e-4, warmup=20)
    )
    verifier_rl: CispoSettings = Field(
        default_factory=lambda: CispoSettings(
            steps=40, prompts=24, group=8, sampling=SamplingSettings(max_new_tokens=48)
        )
    )
    fixer_triples: int = Field(800, ge=10, description="flawed proofs that corrections are sampled for")
    fixer_samples: int = Field(6, ge=1, description="corrections a flawed proof")
    fixer_sft: SftSettings = Field(
        default_factory=lambda: SftSettings(steps=300, batch=48, learning_rate=5e-4, warmup=20)
    )
    validation_problems: int = Field(96, ge=4, description="problems on which the merge's weights are chosen")
    search: SearchSettings = Field(default_factory=lambda: SearchSettings())
    search_problems: int = Field(200, ge=2, description="held-out problems of the comparison of searches")
    search_shards: int = Field(4, ge=1, description="parts of the comparison, one process each")


def _tiny() -> LabProfile:
    """One domain of few facts, so that two minutes of training leave something to improve on."""
    sampling = SamplingSettings(max_new_tokens=80)
    return LabProfile(
        name="tiny",
        rl_seeds=1,
        shape=ModelShape(layers=2, width=96, heads=4, hidden=256),
        corpus=6_000,
        base=SftSettings(steps=450, batch=24, learning_rate=4e-3, matrix_learning_rate=0.02, warmup=20),
        train_problems=300,
        domains=("inequalities",),
        prover=CispoSettings(steps=24, prompts=12, group=8, learning_rate=5e-4, sampling=sampling, save_every=12),
        problems=48,
        samples=8,
        verifier_sft=SftSettings(steps=60, batch=32, learning_rate=5e-4, warmup=5),
        verifier_rl=CispoSettings(steps=6, prompts=8, group=6, sampling=SamplingSettings(max_new_tokens=48)),
        fixer_triples=80,
        fixer_samples=3,
        fixer_sft=SftSettings(steps=30, batch=32, learning_rate=5e-4, warmup=5),
        validation_problems=16,
        search=SearchSettings(candidates=8, verifications=2, rounds=2, parents=2, finalists=2, votes=1),
        search_problems=8,
        search_shards=1,
    )


PROFILES = {"standard": LabProfile, "tiny": _tiny}


def profile_named(name: str) -> LabProfile:
    """Raises InputError for an unknown name."""
    if name not in PROFILES:
        raise InputError(f"unknown profile {name!r}, known: {', '.join(PROFILES)}", field="--profile")
    return PROFILES[name]()


def is_built_in(profile: LabProfile) -> bool:
    """It is one of `PROFILES` with any seed: name and seed say all of it."""
    known = PROFILES.get(profile.name)
    return known is not None and profile == known().model_copy(update={"seed": profile.seed})
