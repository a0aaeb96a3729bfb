"""Many proofs with one judgement each, consolidated, then a knock-out (Nous Research's Nomos).

Proofs are written in waves of 2M until `finalists` of them have full marks, `candidates` are written or the budget is
spent. One verification each. Then, of the perfect ones (of the best scored, if there is none), at most `ENTRANTS`, a
model says which to keep, and those play a single elimination with one vote a match.

Kept from what is published: one judgement, four perfect ones (the default of `finalists`), eight entrants, one vote.
Different: proofs are written in waves, where the original keeps all its workers writing after four are found; who is
shown first is drawn by the seed, and an unreadable or failed vote goes to the higher score, then to the lower id, where
the original tosses a coin that has no seed; a reply about whom to keep that can't be read keeps all; a failed
judgement is no zero; and no proof can pull another one's text into its own place in a prompt.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from maxproof.evaluation.methods.outcome import attempts_of, highest
from maxproof.evaluation.methods.proofs import Proofs
from maxproof.evaluation.methods.types import Left, Outcome
from maxproof.models.types import AnswerState, CallAddress, Caller, NoAnswer
from maxproof.problems import Problem
from maxproof.search.prompted import PromptedRanker, role_call
from maxproof.search.refinement import first_slots
from maxproof.search.settings import SearchSettings
from maxproof.search.tournament import tournament
from maxproof.search.types import Standing
from maxproof.verifier.settings import VerifierSettings

ENTRANTS = 8
VOTES = 1
MAX_READ_CHARS = 10_000
"""Of a longer reply about whom to keep only the end is read."""

_SLOTS = tuple(f"proof_{letter}" for letter in "abcdefgh")
_KEEP = re.compile(
    r"<[ \t]{0,4}keep\b[^<>\n]{0,200}>([^<>]{0,200})<[ \t]{0,4}/[ \t]{0,4}keep[ \t]{0,4}>", re.IGNORECASE
)
_NUMBERS = re.compile(r"\s*\d{1,2}(?:[\s,;]+(?:and\s+)?\d{1,2})*[\s.]*", re.IGNORECASE)


async def run(
    problem: Problem, search: SearchSettings, verifier: VerifierSettings, caller: Caller, left: Left
) -> Outcome:
    """See `types.Method`. `stop`: `perfect`, `rounds` (all `candidates` are written), `not_run`."""
    proofs = Proofs(problem, verifier, caller, planned=1)
    slots = first_slots(search.candidates)
    wave = 2 * search.parents
    stop = "rounds"
    for start in range(0, len(slots), wave):
        if start and (proofs.refused or not left()):
            stop = "not_run"
            break
        await proofs.wave(slots[start : start + wave], proofs.generator.generate)
        if sum(s.perfect for s in proofs.standings) >= search.finalists:
            stop = "perfect"
            break
    if stop == "rounds" and proofs.refused:
        stop = "not_run"
    kept = await consolidated(problem, caller, entrants(proofs.standings))
    ranker = PromptedRanker(problem, caller)
    _, winner = await tournament(kept, VOTES, search.seed, ranker, lambda event: None)
    return Outcome(
        attempts=attempts_of(proofs.standings),
        picked=winner,
        argmax=highest(proofs.standings),
        passed=winner is not None and proofs[winner].perfect,
        rounds=0,
        stop=stop,
    )


def entrants(standings: Sequence[Standing]) -> list[Standing]:
    """Who may be kept, best first: the perfect ones, or else those with the highest points, not scored ones last."""
    pool = [s for s in standings if s.perfect] or [s for s in standings if s.candidate.text.strip()] or standings
    return sorted(pool, key=lambda s: (1.0 if s.fitness is None else -s.fitness, s.candidate.id))[:ENTRANTS]


async def consolidated(problem: Problem, caller: Caller, pool: Sequence[Standing]) -> list[Standing]:
    """Those that a model keeps; all if there is no choice, or no readable answer even to the second call."""
    if len(pool) < 2:
        return list(pool)
    shown = [s.candidate.text for s in pool]
    texts = dict(zip(_SLOTS, [*shown, *[None] * (len(_SLOTS) - len(shown))], strict=True))
    for attempt in (0, 1):
        address = CallAddress("ranker", "consolidate", 0, attempt=attempt)
        try:
            answer = await caller.ask(role_call(address, "consolidate", problem, texts, "maxproof.evaluation.methods"))
        except NoAnswer:
            break
        kept = parse_keep(answer.text, len(pool))
        if kept is not None and answer.state is AnswerState.COMPLETE and not answer.unclosed_thinking:
            return [pool[number - 1] for number in kept]
    return list(pool)


def parse_keep(text: str, count: int) -> tuple[int, ...] | None:
    """The numbers 1..`count` in the keep blocks, ascending; None unless all blocks say the same and nothing else.

    A second block may be quoted from a proof, so blocks that differ say nothing.
    """
    found: set[tuple[int, ...] | None] = set()
    for content in _KEEP.findall(text[-MAX_READ_CHARS:]):
        numbers = sorted({int(digits) for digits in re.findall(r"\d+", content)})
        listed = _NUMBERS.fullmatch(content) is not None and all(1 <= number <= count for number in numbers)
        found.add(tuple(numbers) if listed else None)
    return found.pop() if len(found) == 1 else None
