"""Builds run views for the report's tests: one that looks like a real run, and small ones to order."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

from maxproof.models.types import RoleUsage
from maxproof.problems import Problem
from maxproof.report.view import RunView
from maxproof.search.types import (
    Candidate,
    Match,
    Origin,
    Round,
    SearchResult,
    Slot,
    Standing,
    StopReason,
    Vote,
)
from maxproof.verifier.types import (
    BadCaseHit,
    Draft,
    JudgeView,
    LocatedError,
    Normalisation,
    ScoreState,
    Verdict,
    Verification,
)

STATEMENT = r"""
Let $a, b, c$ be positive real numbers with $a + b + c = 3$. Prove that
$$a^2 + b^2 + c^2 + abc \ge 4,$$
and find all cases of equality.
"""

PROOF = r"""
Among the three numbers $a-1$, $b-1$, $c-1$ two have the same sign or one is zero, so after renaming we may assume

$$(b-1)(c-1) \ge 0. \tag{1}$$

**Lower bound for the product.** Expanding (1) gives $bc \ge b + c - 1 = 2 - a$. Since $a > 0$,
\[
abc \ge a(2-a) = 2a - a^2 .
\]

**Lower bound for the squares.** By the inequality of quadratic and arithmetic mean,
\[
b^2 + c^2 \ge \frac{(b+c)^2}{2} = \frac{(3-a)^2}{2}.
\]

### Putting both together

\begin{align*}
a^2 + b^2 + c^2 + abc &\ge a^2 + \frac{(3-a)^2}{2} + 2a - a^2 \\
 &= \frac{a^2 - 2a + 9}{2} \\
 &= \frac{(a-1)^2}{2} + 4 \;\ge\; 4 .
\end{align*}

*Equality.* It forces

1. $a = 1$, from the last step;
2. $b = c$, from the mean inequality, hence $b = c = 1$.

Conversely $(a, b, c) = (1, 1, 1)$ gives $1 + 1 + 1 + 1 = 4$. In short,
$$f(a,b,c) - 4 \begin{cases} = 0 & \text{if } a = b = c = 1, \\ > 0 & \text{otherwise.} \end{cases}$$
"""

WEAK = r"""
We use Lagrange multipliers for $f = a^2+b^2+c^2+abc$ on $a+b+c=3$. The equations are $2a + bc = 2b + ca = 2c + ab$.
Subtracting, $(a-b)(2-c) = 0$, so $a = b$ or $c = 2$. It is clear that the minimum is attained at an interior point.
At $a=b=c=1$ we get $f = 4$, which is the minimum.
"""

VERDICTS = {7.0: Verdict.NO_ERRORS, 6.0: Verdict.MINOR_GAPS, 1.0: Verdict.HAS_ERRORS, 0.0: Verdict.FUNDAMENTALLY_WRONG}
JUDGES = (("rubric-1", "rubric"), ("rubric-2", "rubric"), ("free", "free"))
ERRORS = (
    LocatedError("It is clear that the minimum is attained at an interior point.", "The boundary is not treated: the "
                 "domain is open and $f$ need not attain its minimum there without an argument."),
    LocatedError("so $a = b$ or $c = 2$", "The case $c = 2$ is never examined."),
    LocatedError("last line", "Equality cases are not all found."),
)  # fmt: skip


def verification(sample: int, *points: float | None, errors: tuple[LocatedError, ...] = ERRORS) -> Verification:
    """Layer 4's result over judges with these points; None is a judge that is not scored."""
    views = []
    for (name, mode), value in zip(JUDGES, points, strict=False):
        if value is None:
            views.append(JudgeView(name, mode, ScoreState.NOT_SCORED, None, None, reason="timed out after 3600 s"))
            continue
        state = ScoreState.PASSED if value == 7 else ScoreState.FAILED
        listed = () if value == 7 else errors[: 1 if value == 6 else 2]
        text = "Each step follows from what is written." if value == 7 else "The argument leaves a gap."
        views.append(JudgeView(name, mode, state, value, VERDICTS[value], listed, text))
    scored = [value for value in points if value is not None]
    low = min(scored, default=None)
    if low is not None and low < 7:
        state = ScoreState.FAILED
    elif len(scored) == len(points):
        state = ScoreState.PASSED
    else:
        state, low = ScoreState.NOT_SCORED, None
    return Verification(
        sample,
        state,
        low,
        VERDICTS[low] if low is not None else None,
        "" if low in (7, None) else "See the located errors.",
        tuple(views),
        disagreement=max(scored) - min(scored) if len(scored) > 1 else 0.0,
        normalisation=Normalisation("rule"),
    )


def filtered(sample: int) -> Verification:
    """Layer 1's result."""
    hit = BadCaseHit("loop", "ngram_loop", "the 12-gram 'hence we conclude that' covers 83 % of the text")
    return Verification(sample, ScoreState.FAILED, 0.0, Verdict.FUNDAMENTALLY_WRONG, hit.evidence, (), (hit,))


def standing(
    number: int,
    verifications: Mapping[int, Verification],
    *,
    text: str = WEAK,
    planned: int = 4,
    round_: int = 0,
    origin: Origin = "generate",
    parent: int | None = None,
    summary: str = "",
) -> Standing:
    """A candidate with its verifications."""
    slot = Slot(number, round_, origin, parent)
    return Standing(Candidate(slot, Draft(text)), planned, verifications, summary)


def view_of(*standings: Standing, winner: int | None, **changes: object) -> RunView:
    """A small run over these candidates."""
    finalists = () if winner is None else (winner,)
    best = max((s.fitness for s in standings if s.fitness is not None), default=None)
    perfect = tuple(s.candidate.id for s in standings if s.perfect)
    ids = tuple(s.candidate.id for s in standings)
    result = SearchResult(
        standings, (Round(0, (), ids, best, perfect),), StopReason.ROUNDS, finalists, (), winner, {}
    )  # fmt: skip
    problem = Problem("inequality-1", STATEMENT)
    view = RunView("2026-01-01-inequality-1", problem, result, {"search.candidates": "2"}, version="0.1.0")
    result_changes = {k: v for k, v in changes.items() if k in ("stop", "lost", "matches", "finalists", "rounds")}
    view_changes = {k: v for k, v in changes.items() if k not in result_changes}
    return replace(view, result=replace(result, **result_changes), **view_changes)  # type: ignore[arg-type]


def passed_view() -> RunView:
    """A candidate that passed beside one that failed."""
    good = standing(0, {k: verification(k, 7, 7, 7) for k in range(4)}, text=PROOF, summary="Pairs of equal sign.")
    poor = standing(1, {0: verification(0, 6, 1, 1)}, summary="Lagrange multipliers; the boundary is missing.")
    return view_of(good, poor, winner=0)


def failed_view() -> RunView:
    """No candidate passed."""
    return view_of(
        standing(0, {k: verification(k, 6, 7, 6 if k else 1) for k in range(4)}),
        standing(1, {0: filtered(0)}, text="hence we conclude that " * 50),
        winner=0,
    )


def realistic_view(rounds: int = 3, text: str = PROOF) -> RunView:
    """A run with the published parameters that ends with two candidates at full points."""
    rng = random.Random(7)
    standings: list[Standing] = []
    closed: list[Round] = []

    def add(number: int, round_: int, origin: Origin, parent: int | None, best: float) -> None:
        good = [7.0] * 12 if best == 7 else [rng.choice([best, 7.0, 6.0]) for _ in range(12)]
        if best < 7:
            good[rng.randrange(3)] = best
        samples: dict[int, Verification] = {}
        for k in range(4):
            samples[k] = verification(k, *good[3 * k : 3 * k + 3])
            if best < 6 and samples[k].points == best:
                break
        summary = "Reduces to one variable; the equality case is " + ("complete." if best == 7 else "incomplete.")
        shown = text if best >= 6 else WEAK
        standings.append(
            standing(number, samples, text=shown, round_=round_, origin=origin, parent=parent, summary=summary)
        )

    def close(number: int, parents: tuple[int, ...], added: tuple[int, ...]) -> None:
        best = max(s.fitness for s in standings if s.fitness is not None)
        closed.append(Round(number, parents, added, best, tuple(s.candidate.id for s in standings if s.perfect)))

    for n in range(32):
        if n == 17:
            continue
        if n == 5:
            standings.append(standing(n, {0: filtered(0)}, text="hence we conclude that " * 400))
        elif n == 9:
            standings.append(standing(n, {k: verification(k, 7, None, 7) for k in range(4)}, text=text))
        else:
            add(n, 0, "generate", None, rng.choice([0.0, 1.0, 1.0, 1.0, 6.0]) if n % 7 else 1.0)
    close(0, (), tuple(s.candidate.id for s in standings))
    for r in range(1, rounds + 1):
        open_ = [s for s in standings if s.fitness is not None and not s.perfect]
        parents = [s.candidate.id for s in sorted(open_, key=lambda s: (-(s.fitness or 0), s.candidate.id))[:4]]
        added = []
        for p, parent in enumerate(parents):
            for i, origin in enumerate(("patch", "rewrite")):
                number = 32 + 8 * (r - 1) + 2 * p + i
                perfect = r == rounds and number % 8 in (2, 5)
                add(number, r, origin, parent, 7.0 if perfect else rng.choice([1.0, 6.0, 6.0, 0.0]))  # type: ignore[arg-type]
                added.append(number)
        close(r, tuple(parents), tuple(added))
    perfect_ids = [s.candidate.id for s in standings if s.perfect]
    others = [s.candidate.id for s in standings if s.fitness == 6.0][:2]
    a, b, c, d = [*perfect_ids[:2], *others]
    why = "The first proof treats the equality case; the second leaves it open."
    matches = (
        Match(0, 0, a, d, tuple(Vote(v, (a, d)[v % 2], a, why) for v in range(3)), a, "votes"),
        Match(1, 0, b, c, (Vote(0, b, b, why), Vote(1, c, None), Vote(2, b, c, why)), b, "fitness"),
        Match(2, 1, a, b, (Vote(0, a, b, why), Vote(1, b, a, why), Vote(2, a, a, why)), a, "votes"),
    )
    result = SearchResult(
        tuple(standings), tuple(closed), StopReason.PERFECT, (a, b, c, d), matches, a,
        {17: "server-1: the deadline of 3600 s around the call ran out"},
    )  # fmt: skip
    usage = (
        RoleUsage("generator", 32, 1, 41_000, 612_000, 480_000, 30_200, 6.181, 9_400.0),
        RoleUsage("judge", 486, 2, 1_820_000, 1_310_000, 1_050_000, 1_402_000, 14.92, 30_110.0),
        RoleUsage("refiner", 24, 0, 190_000, 402_000, 330_000, 61_000, 4.21, 6_720.0),
        RoleUsage("summariser", 55, 0, 310_000, 4_900, 0, 0, 0.36, 210.0, True),
        RoleUsage("ranker", 9, 0, 62_000, 18_000, 15_000, 20_000, 0.24, 420.0),
    )
    settings = {
        "search.candidates": "32", "search.verifications": "4", "search.rounds": "10", "search.parents": "4",
        "search.lazy": "true", "roles.generator.model": "prover-large", "roles.judge.model": "judge-medium",
        "endpoints.default.base_url": "http://127.0.0.1:8000/v1",
    }  # fmt: skip
    problem = Problem(
        "inequality-1", STATEMENT, answer="Equality only for $a=b=c=1$.", domain="algebra", level="easy",
        rubric="1 point for the reduction to one variable, 6 for a complete proof.", source="own collection",
    )  # fmt: skip
    return RunView(
        "2026-01-01-inequality-1",
        problem,
        result,
        settings,
        usage,
        "",
        "2026-01-01 09:30",
        4_211.0,
        162,
        220,
        3,
        "0.1.0",
    )
