"""The difficulty filter: when a decision stands, what counts, and what does not."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from data_model_fakes import FixedCaller, record
from hypothesis import given
from hypothesis import strategies as st

from maxproof.models.types import Answer, AnswerState, Call, CallFailed, CallNotRun, FailureKind, NoAnswer
from maxproof.training.data.answers import boxed, number_in
from maxproof.training.data.calls import Unused
from maxproof.training.data.filter import DifficultyFilter, FilterSettings, Outcome, Tally, decided, too_easy
from maxproof.verifier import VerifierSettings

PROOF = "By induction on n, using the identity (n + 1)^2 = n^2 + 2n + 1, sample {0}."
PASS = "<assessment>Fine.</assessment><errors>none</errors><verdict>no_errors</verdict>"
FAIL = (
    '<assessment>Bad.</assessment><errors>1. Location: "n"\n Description: wrong</errors>'
    "<verdict>fundamentally_wrong</verdict>"
)


def solver(solved: str, *, judge: NoAnswer | str | None = None) -> FixedCaller:
    """Sample i is right iff `solved[i]` is `1`; `x` is a generator's failed call. `judge` replaces all judgements."""

    def reply(call: Call, blocks: dict[str, str]) -> str | Answer | NoAnswer:
        if call.address.role == "generator":
            what = solved[call.address.sample]
            return (
                CallFailed(FailureKind.TIMEOUT, "slow")
                if what == "x"
                else PROOF.format(f"{call.address.sample}:{what}")
            )
        return judge if judge is not None else PASS if ":1." in blocks["candidate"] else FAIL

    return FixedCaller(reply)


async def examine(caller: FixedCaller, **settings: object) -> object:
    chosen = FilterSettings.model_validate({"samples": 4, **settings})
    return await DifficultyFilter(chosen, VerifierSettings(), caller).examine(record())


def generated(caller: FixedCaller) -> int:
    return sum(call.address.role == "generator" for call in caller.calls)


@pytest.mark.parametrize("wilson", [False, True])
@pytest.mark.parametrize(("samples", "threshold"), [(1, 1.0), (4, 0.5), (5, 0.6), (6, 0.34), (6, 1.0)])
def test_a_decision_stands_iff_no_completion_changes_it(samples: int, threshold: float, wilson: bool) -> None:
    settings = FilterSettings(samples=samples, threshold=threshold, wilson=wilson)
    for made in range(samples + 1):
        for outcomes in product(Outcome, repeat=made):
            tally = Tally()
            for outcome in outcomes:
                tally = tally.plus(outcome)
            found = decided(tally, settings)
            if 2 * tally.scored < samples:
                assert found is None
                continue
            ends = {
                too_easy(tally.solved + s, tally.scored + s + f, settings)
                for s in range(samples - made + 1)
                for f in range(samples - made - s + 1)
            }
            assert found == (ends.pop() if len(ends) == 1 else None)


async def test_what_is_solved_reliably_is_dropped_and_counted() -> None:
    assert await examine(solver("1101")) == Unused(
        "solved reliably: 3 solved, 1 failed, 0 not scored, of 4 samples at most"
    )


async def test_what_is_hard_stays_with_its_rate() -> None:
    done = await examine(solver("0100"), all_samples=True)
    assert not isinstance(done, Unused)
    notes = dict(done.provenance[-1].notes)  # type: ignore[attr-defined]
    assert notes == {
        "by": "proof", "model": "fixed", "solve_rate": 0.25, "solved": 1, "failed": 3, "not_scored": 0, "samples": 4,
    }  # fmt: skip


async def test_sampling_ends_when_the_decision_stands() -> None:
    early = solver("0011")
    assert not isinstance(await examine(early), Unused)  # 2 of 4 at most, below 0.75
    assert generated(early) == 2
    whole = solver("0011")
    await examine(whole, all_samples=True)
    assert generated(whole) == 4


async def test_samples_that_were_not_scored_are_no_failures() -> None:
    done = await examine(solver("1x1x"))
    assert done == Unused("solved reliably: 2 solved, 0 failed, 2 not scored, of 4 samples at most")


async def test_too_few_scored_samples_decide_nothing() -> None:
    found = await examine(solver("xxx0"))
    assert isinstance(found, Unused)
    assert found.reason.startswith("not scored: 0 solved, 1 failed, 3 not scored of 4 samples; slow")
    unread = solver("1111", judge="no verdict here")
    found = await examine(unread)
    assert isinstance(found, Unused)
    assert found.reason.startswith("not scored: 0 solved, 0 failed, 4 not scored")


async def test_a_call_that_was_not_run_leaves_the_record_open() -> None:
    found = await examine(solver("1111", judge=CallNotRun("the budget is spent")))
    assert isinstance(found, Unused)
    assert found.reason.startswith("no answer: ")


async def test_all_verifications_must_pass() -> None:
    def reply(call: Call, blocks: dict[str, str]) -> str:
        if call.address.role == "generator":
            return PROOF.format(call.address.sample)
        return FAIL if call.address.sample == 1 else PASS

    assert isinstance(await examine(FixedCaller(reply), verifications=1), Unused)
    assert not isinstance(await examine(FixedCaller(reply), verifications=2), Unused)


async def test_wilson_asks_for_more_evidence() -> None:
    settings = {"threshold": 0.5, "samples": 3}
    assert isinstance(await examine(solver("111"), **settings), Unused)
    assert not isinstance(await examine(solver("111"), **settings, wilson=True), Unused)


async def test_by_answer_asks_no_judge() -> None:
    answers = iter([r"so \boxed{\frac{6}{8}}.", r"\boxed{0.75}", r"\boxed{1/2}", "I think it is 3/4."])
    caller = FixedCaller(lambda call, blocks: next(answers))
    settings = FilterSettings(samples=4, by="answer", threshold=0.75)
    done = await DifficultyFilter(settings, VerifierSettings(), caller).examine(record(answer="$3/4$"))
    assert not isinstance(done, Unused)
    assert {call.address.role for call in caller.calls} == {"generator"}
    notes = dict(done.provenance[-1].notes)
    assert (notes["by"], notes["solved"], notes["failed"]) == ("answer", 2, 2)


async def test_by_answer_an_answer_that_can_not_be_compared_is_not_scored() -> None:
    caller = FixedCaller(lambda call, blocks: r"\boxed{2^{10}}")
    settings = FilterSettings(samples=2, by="answer")
    found = await DifficultyFilter(settings, VerifierSettings(), caller).examine(record(answer="1024"))
    assert isinstance(found, Unused)
    assert "2 not scored" in found.reason
    cut = FixedCaller(lambda call, blocks: Answer(r"\boxed{1024}", AnswerState.TRUNCATED))
    kept = await DifficultyFilter(settings, VerifierSettings(), cut).examine(record(answer="1024"))
    assert not isinstance(kept, Unused)


async def test_by_answer_a_record_whose_answer_is_no_number_is_verified() -> None:
    caller = solver("00")
    settings = FilterSettings(samples=2, by="answer")
    done = await DifficultyFilter(settings, VerifierSettings(), caller).examine(record(answer="all primes"))
    assert not isinstance(done, Unused)
    assert done.provenance[-1].notes["by"] == "proof"


async def test_records_do_not_share_calls() -> None:
    caller = solver("00")
    difficulty = DifficultyFilter(FilterSettings(samples=2, all_samples=True), VerifierSettings(), caller)
    await difficulty.examine(record("a", statement="The same."))
    await difficulty.examine(record("b", statement="The same."))
    generators = [call.address for call in caller.calls if call.address.role == "generator"]
    assert len(set(generators)) == len(generators) == 4
    candidates = [call.address for call in caller.calls if call.address.role == "judge"]
    assert len({address.candidate for address in candidates}) == 4


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("42", 42), (" -7. ", -7), ("$1{,}234$", 1234), ("1,234,567", 1234567), ("0.750", Fraction(3, 4)),
        (r"\frac{3}{4}", Fraction(3, 4)), (r"-\dfrac12", Fraction(-1, 2)), (r"\left( 5 \right)", None),
        ("3/4", Fraction(3, 4)), ("− 2", -2), ("1/0", None), (r"\frac{1}{0}", None), ("2^{10}", None),
        ("1,2", None), ("", None), ("x", None),
        ("9" * 300, None), ("1e9", None), (r"\(17\)", 17), ("٣", None),
    ],
)  # fmt: skip
def test_only_numbers_are_numbers(text: str, value: object) -> None:
    assert number_in(text) == value


@given(st.integers(-(10**9), 10**9), st.integers(1, 10**6))
def test_all_ways_to_write_a_fraction_agree(top: int, bottom: int) -> None:
    value = Fraction(top, bottom)
    ways = (f"{top}/{bottom}", rf"\frac{{{top}}}{{{bottom}}}", rf"$\dfrac{{{top}}}{{{bottom}}}$.")
    assert {number_in(way) for way in ways} == {value}


@given(st.text(max_size=300))
def test_no_answer_raises(text: str) -> None:
    number_in(text)
    boxed(text)


def test_the_last_box_counts_with_its_braces() -> None:
    assert boxed(r"\boxed{1} then \boxed{\frac{1}{2}} end") == r"\frac{1}{2}"
    assert boxed(r"\boxed{1} then \boxed{2") is None
    assert boxed("none") is None
    assert boxed(r"\boxed{" + "{" * 100_000) is None
