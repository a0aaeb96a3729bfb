"""The scaffolds that people use in the search's place, on the model, each within a limit of calls by problem.

They follow what their authors publish, as far as the model has it:

- `repair_loop`: draft, verify, repair with the report; five passes in a row accept, ten failures give the draft up for
  a new one (Huang & Yang, arXiv 2507.15855; without its self-improvement step).
- `mean_pool`: a pool scored by the mean of K samples; each round the best are refined; one proof whose samples all pass
  ends it; the best mean is returned (DeepSeek-Math-V2's published loop, at the search's sizes).
- `consolidate`: one verification each until four pass or the calls are spent; a model keeps up to four of the eight
  best, which play a knock-out of one vote a match (Nous Nomos).

Best-of-N with a tournament is `policies.best_of`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from maxproof.evaluation.study.decisions import ABSENT, head, keys, knock_out
from maxproof.evaluation.study.model import POINTS, RIGHT, TOP, Bools, Ints, Model, Proofs, Purpose
from maxproof.evaluation.study.policies import Archive, Outcome, finish
from maxproof.search.settings import SearchSettings

ACCEPT, GIVE_UP = 5, 10
REPAIRS = 1 << 12
"""Where the columns of repairs begin."""
KEEP, SHORTLIST, ENOUGH = 4, 8, 4


def repair_loop(model: Model, sizes: SearchSettings, limit: Ints) -> Outcome:
    """The verify-repair loop. Without an accepted proof the latest of those with the longest run of passes is
    returned."""
    problems, judges = model.draws.problems, model.settings.judges
    rows = np.arange(problems)
    column = np.zeros(problems, dtype=np.int64)
    proof = model.fresh(rows, column[:, None])
    drafts = np.ones(problems, dtype=np.int64)
    repairs, failures, streak = (np.zeros(problems, dtype=np.int64) for _ in range(3))
    calls = np.ones(problems, dtype=np.int64)
    verifications = np.zeros(problems, dtype=np.int64)
    accepted = np.zeros(problems, dtype=bool)
    longest = np.zeros(problems, dtype=np.int64)
    kept_grade, kept_column = proof.grade[:, 0].copy(), column.copy()
    best = POINTS[proof.grade[:, 0]].copy()
    alive = rows[calls + judges <= limit]
    while len(alive):
        z = np.empty((len(alive), 1), dtype=np.float32)
        current = proof.take(alive, np.zeros((len(alive), 1), dtype=np.int64))
        for sample in np.unique(streak[alive]):
            at = np.nonzero(streak[alive] == sample)[0]
            z[at] = model.leniency(alive[at], column[alive[at], None], current.shared[at], int(sample))
        passes = model.report(current, z)[:, 0] == TOP
        calls[alive] += judges
        verifications[alive] += 1
        streak[alive] = np.where(passes, streak[alive] + 1, 0)
        failures[alive] += ~passes
        better = alive[streak[alive] >= longest[alive]]
        longest[better] = streak[better]
        kept_grade[better], kept_column[better] = proof.grade[better, 0], column[better]
        accepted[alive] = streak[alive] >= ACCEPT
        failed = alive[~passes & (calls[alive] + 1 <= limit[alive])]
        anew = failures[failed] >= GIVE_UP
        for again, which in ((False, failed[~anew]), (True, failed[anew])):
            if not len(which):
                continue
            if again:
                column[which] = drafts[which]
                drafts[which] += 1
                failures[which] = 0
                written = model.fresh(which, column[which, None])
            else:
                column[which] = REPAIRS + repairs[which]
                repairs[which] += 1
                parent = proof.take(which, np.zeros((len(which), 1), dtype=np.int64))
                written = model.patch(which, column[which, None], parent)
            for name in Proofs.__slots__:
                getattr(proof, name)[which] = getattr(written, name)
            best[which] = np.maximum(best[which], POINTS[written.grade[:, 0]])
        calls[failed] += 1
        out_of_calls = ~passes & ~np.isin(alive, failed)
        alive = alive[~accepted[alive] & ~out_of_calls & (calls[alive] + judges <= limit[alive])]
    picked = POINTS[kept_grade]
    return Outcome(
        picked=picked,
        argmax=picked,
        best=best,
        calls=calls,
        verifications=verifications,
        candidates=drafts + repairs,
        claimed=accepted,
        stopped=accepted,
        wrong_stop=accepted & (kept_grade != RIGHT),
        by_round=best[:, None],
        winner=kept_column,
    )


def mean_pool(model: Model, sizes: SearchSettings, limit: Ints) -> Outcome:
    """The pool of mean-scored proofs; as many refinements a round as the search writes, by PATCH.

    Where the limit doesn't pay for one proof with all its samples, the first proof is returned, unverified.
    """
    each = 1 + model.settings.judges * sizes.verifications
    width = 2 * sizes.parents
    rows = np.arange(model.draws.problems)
    first = np.clip(limit // each, 1, sizes.candidates)
    left = limit // each - first
    rounds = int(-(-max(left.max(), 0) // width))
    archive = Archive(model, sizes.candidates + width * rounds, sizes.verifications, "mean", lazy=False)
    archive.add(rows, 0, model.fresh(rows, range(sizes.candidates)), np.arange(sizes.candidates) < first[:, None])
    by_round = [archive.best()]
    for number in range(1, rounds + 1):
        active = rows[(left > 0) & ~archive.perfect(rows).any(axis=1)]
        chosen = head(archive.keys(active, sizes.seed, f"round {number}"), width)
        chosen[np.arange(width) >= left[active, None]] = -1
        columns = range(archive.used, archive.used + width)
        parents = archive.proofs.take(active, np.maximum(chosen, 0))
        archive.add(active, columns.start, model.patch(active, columns, parents), chosen >= 0)
        left[active] -= (chosen >= 0).sum(axis=1)
        by_round.append(archive.best())
    paid: Bools = limit >= each
    stopped: Bools = np.any(archive.perfect(rows), axis=1) & paid
    own = sizes.model_copy(update={"summaries": False})
    found = finish(archive, own, stopped, np.stack(by_round, axis=1), tournament=False)
    return replace(
        found,
        calls=np.where(paid, found.calls, 1),
        verifications=np.where(paid, found.verifications, 0),
        claimed=found.claimed & paid,
        wrong_stop=found.wrong_stop & paid,
    )


def consolidate(model: Model, sizes: SearchSettings, limit: Ints) -> Outcome:
    """Consolidation and knock-out."""
    judges = model.settings.judges
    rows = np.arange(model.draws.problems)
    affordable = np.maximum((limit - 1 - (KEEP - 1)) // (1 + judges), 1)
    columns = range(int(affordable.max()))
    proofs = model.fresh(rows, columns)
    points = model.report(proofs, model.leniency(rows, columns, proofs.shared, 0))
    enough = np.cumsum(points == TOP, axis=1) >= ENOUGH
    count = np.minimum(affordable, np.where(enough.any(axis=1), enough.argmax(axis=1) + 1, affordable))
    exists = np.arange(len(columns)) < count[:, None]
    highest = np.where(exists, points, -1).max(axis=1)
    key = keys(points, exists & (points == highest[:, None]), sizes.seed, "shortlist")
    shortlist = head(key, SHORTLIST)
    ids = np.maximum(shortlist, 0)
    noise = np.sqrt(1 - model.settings.ranker_shared) * model.draws.columns(Purpose.GROUP, ids, rows)
    looks = np.where(shortlist >= 0, model.merit(rows, ids, proofs.take(rows, ids)) + noise, -np.inf)
    order = np.argsort(-looks, axis=1, kind="stable")[:, :KEEP]
    finalists = np.take_along_axis(shortlist, order, axis=1)
    asked_group = (shortlist >= 0).sum(axis=1) > KEEP
    chosen = proofs.take(rows, np.maximum(finalists, 0))
    score = np.take_along_axis(points, np.maximum(finalists, 0), axis=1)
    place, votes = knock_out(model, rows, finalists, score, chosen, 1, sizes.seed)
    winner = finalists[rows, place]
    true = POINTS[proofs.grade]
    stopped = enough.any(axis=1) & (count == np.where(enough.any(axis=1), enough.argmax(axis=1) + 1, -1))
    passing = exists & (points == TOP)
    return Outcome(
        picked=true[rows, winner],
        argmax=true[rows, shortlist[:, 0]],
        best=np.where(exists, true, ABSENT).max(axis=1),
        calls=count * (1 + judges) + asked_group + votes,
        verifications=count,
        candidates=count,
        claimed=points[rows, winner] == TOP,
        stopped=stopped,
        wrong_stop=stopped & ~(passing & (proofs.grade == RIGHT)).any(axis=1),
        by_round=np.where(exists, true, ABSENT).max(axis=1)[:, None],
        winner=winner,
    )
