"""A verifier's card: every rate that graded proofs give, computed from `Evidence` alone. Pure and deterministic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import Any

from maxproof.evaluation.calibrate.correlation import PanelErrors, panel_errors
from maxproof.evaluation.calibrate.draws import Draws, draws
from maxproof.evaluation.calibrate.rates import AtThreshold, Measured, RuleRates, measure, rule_rates, sweep
from maxproof.evaluation.calibrate.replay import RULES
from maxproof.evaluation.calibrate.style import STYLES
from maxproof.evaluation.calibrate.types import (
    CardSettings,
    Evidence,
    Judged,
    Rule,
    by_judge,
    by_majority,
    by_mean,
    by_min,
    judge_names,
    was_asked,
)
from maxproof.statistics import Rate
from maxproof.verifier.types import MAX_POINTS

MIN, MEAN, MAJORITY = RULES


@dataclass(frozen=True, slots=True)
class Slice:
    """The minimum's rates on some of the proofs; `proofs` and `problems` are how many, verified ones only."""

    name: str
    proofs: int
    problems: int
    false_positive: Measured
    false_negative: Measured


@dataclass(frozen=True, slots=True)
class Counts:
    """How much stands behind a card.

    Attributes:
        wrong, right: proofs with at least one verification. not_run: proofs without.
        wrong_problems, right_problems: problems that the wrong and the right proofs are of.
        judgements: verifications. filtered_wrong, filtered_right: those that layer 1 stopped without a judge.
        shared: problems with several proofs, so that judgements are not independent.
    """

    wrong: int
    right: int
    not_run: int
    problems: int
    wrong_problems: int
    right_problems: int
    shared: int
    judgements: int
    samples: int
    filtered_wrong: int
    filtered_right: int


@dataclass(frozen=True, slots=True)
class Card:
    """See the module. `rules`: each judge, then `min`, `mean` and `majority` over the judges."""

    settings: CardSettings
    truth: str
    caution: str
    verifier: str
    unused: Mapping[str, int]
    counts: Counts
    judges: tuple[str, ...]
    rules: tuple[RuleRates, ...]
    on_wrong: PanelErrors | None
    on_right: PanelErrors | None
    draws: Draws
    sweeps: Mapping[str, tuple[AtThreshold, ...]]
    lengths: tuple[Slice, ...]
    styles: tuple[Slice, ...]
    labels: tuple[Slice, ...]

    def rule(self, name: str) -> RuleRates:
        """Raises KeyError."""
        for found in self.rules:
            if found.name == name:
                return found
        raise KeyError(name)

    def to_json(self) -> dict[str, Any]:
        """Plain dicts; a rate has its `value` beside its counts and bounds."""
        found = {field.name: _plain(getattr(self, field.name)) for field in fields(self) if field.name != "settings"}
        return {"settings": self.settings.model_dump(), **found}


def make_card(evidence: Evidence, settings: CardSettings | None = None) -> Card:
    """The card of `evidence`."""
    settings = settings or CardSettings()
    proofs = tuple(proof for proof in evidence.proofs if proof.samples)
    names = judge_names(proofs)
    confidence, seed, pass_at = settings.confidence, settings.seed, settings.pass_at
    minimum = by_min(pass_at)
    rules: list[tuple[str, Rule, float]] = [(name, by_judge(name), pass_at) for name in names]
    panel_rules: list[tuple[str, Rule, float]] = [(MIN, minimum, pass_at)]
    if len(names) > 1:
        panel_rules += [(MEAN, by_mean, settings.mean_at), (MAJORITY, by_majority(pass_at), float(MAX_POINTS))]

    def sliced(name: str, chosen: Iterable[Judged]) -> Slice:
        some = tuple(chosen)
        points = [
            (proof, value) for proof in some for sample in proof.samples if (value := minimum(sample)) is not None
        ]
        return Slice(
            name,
            len(some),
            len({proof.problem for proof in some}),
            measure(
                ((proof.problem, value >= pass_at) for proof, value in points if not proof.right), confidence, seed
            ),
            measure(((proof.problem, value < pass_at) for proof, value in points if proof.right), confidence, seed),
        )

    def panel(right: bool) -> PanelErrors | None:
        return panel_errors(proofs, names, right, pass_at, confidence) if len(names) > 1 else None

    return Card(
        settings=settings,
        truth=evidence.truth,
        caution=evidence.caution,
        verifier=evidence.verifier,
        unused=dict(evidence.unused),
        counts=_counts(evidence.proofs),
        judges=names,
        rules=(
            *(rule_rates(name, rule, at, proofs, confidence, seed, was_asked(name)) for name, rule, at in rules),
            *(rule_rates(name, rule, at, proofs, confidence, seed) for name, rule, at in panel_rules),
        ),
        on_wrong=panel(False),
        on_right=panel(True),
        draws=draws(proofs, minimum, pass_at, confidence, seed),
        sweeps={name: sweep(rule, proofs, confidence) for name, rule, _ in (*rules, *panel_rules) if name != MAJORITY},
        lengths=_lengths(proofs, settings.length_bins, sliced),
        styles=_styles(proofs, sliced),
        labels=tuple(
            sliced(label, (proof for proof in proofs if proof.label == label))
            for label in sorted({proof.label for proof in proofs if proof.label})
        ),
    )


def _counts(proofs: Sequence[Judged]) -> Counts:
    verified = [proof for proof in proofs if proof.samples]
    by_problem: dict[str, int] = {}
    for proof in verified:
        by_problem[proof.problem] = by_problem.get(proof.problem, 0) + 1

    def filtered(right: bool) -> int:
        return sum(sample.filtered for proof in verified if proof.right is right for sample in proof.samples)

    return Counts(
        wrong=sum(not proof.right for proof in verified),
        right=sum(proof.right for proof in verified),
        not_run=len(proofs) - len(verified),
        problems=len(by_problem),
        wrong_problems=len({proof.problem for proof in verified if not proof.right}),
        right_problems=len({proof.problem for proof in verified if proof.right}),
        shared=sum(count > 1 for count in by_problem.values()),
        judgements=sum(len(proof.samples) for proof in verified),
        samples=max((len(proof.samples) for proof in verified), default=0),
        filtered_wrong=filtered(False),
        filtered_right=filtered(True),
    )


_Sliced = Callable[[str, Iterable[Judged]], Slice]


def _lengths(proofs: Sequence[Judged], bins: int, sliced: _Sliced) -> tuple[Slice, ...]:
    """Groups of equal numbers by length; proofs of one length are never parted, so there may be fewer groups."""
    known = sorted((proof for proof in proofs if proof.chars), key=lambda proof: (proof.chars, proof.id))
    if not known:
        return ()
    edges = sorted({known[len(known) * place // bins].chars for place in range(1, bins)})
    found = []
    for low, high in zip([0, *edges], [*edges, known[-1].chars + 1], strict=True):
        group = [proof for proof in known if low <= proof.chars < high]
        if group:
            found.append(sliced(f"{group[0].chars:,} to {group[-1].chars:,} characters", group))
    return tuple(found)


def _styles(proofs: Sequence[Judged], sliced: _Sliced) -> tuple[Slice, ...]:
    """For each style that some proofs have and some have not: those with it, and those without."""
    known = [proof for proof in proofs if proof.chars]
    found = []
    for style in STYLES:
        having = [proof for proof in known if style in proof.styles]
        if having and len(having) < len(known):
            found.append(sliced(f"with {style}", having))
            found.append(sliced(f"without {style}", (proof for proof in known if style not in proof.styles)))
    return tuple(found)


def _plain(value: Any) -> Any:
    if isinstance(value, Rate):
        return {"value": value.value if value.total else None, **asdict(value)}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple | list) else value
