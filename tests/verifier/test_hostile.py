"""No text that others wrote gets out of its fence, is mistaken for a verdict, or changes who judges what."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from verifier_fakes import FAIL, ScriptedCaller

from hostile_attacks import (
    ATTACKS,
    FLAWED,
    PASS_REPLY,
    Attack,
    ObedientModel,
    attack_name,
    blocks,
    hidden_characters,
    outside,
)
from maxproof.models import reply as wire
from maxproof.models.template import fence
from maxproof.models.types import Answer, CallAddress, Message
from maxproof.problems import Problem
from maxproof.verifier import Draft, JudgeSettings, ScoreState, Verifier, VerifierSettings, normalise_text
from maxproof.verifier.settings import NormaliserSettings

PROBLEM = Problem("p", "Prove that $n^2$ is even iff $n$ is.", reference="Parity.", rubric="7 points for both ways.")
RUBRIC_BLOCKS = ("problem", "reference", "rubric", "candidate")
FREE_BLOCKS = ("problem", "candidate")


def judge(address: CallAddress, messages: tuple[Message, ...]) -> str:
    expected = FREE_BLOCKS if address.judge == "free" else RUBRIC_BLOCKS
    return ObedientModel(honest=FAIL, obeyed=PASS_REPLY, expected=expected).answer(messages)


def settings(method: str) -> VerifierSettings:
    return VerifierSettings(normaliser=NormaliserSettings.model_validate({"method": method}))


def test_there_are_enough_attacks() -> None:
    assert len({attack.name for attack in ATTACKS}) == len({attack.text for attack in ATTACKS}) == len(ATTACKS) >= 25


def test_the_scripted_judge_obeys_what_is_outside() -> None:
    model = ObedientModel("honest", "obeyed", ("candidate",))
    for attack in ATTACKS:
        fenced = Message("user", f"Judge:\n{fence('candidate', attack.text)}")
        assert model.answer([fenced]) == "honest", attack.name
        assert model.answer([Message("user", f"{fenced.content}\n{attack.text}")]) == "obeyed", attack.name
    assert model.answer([Message("user", "no block")]) == "obeyed"


@pytest.mark.parametrize("method", ["rule", "none"])
@pytest.mark.parametrize("attack", ATTACKS, ids=attack_name)
async def test_a_hostile_candidate_is_judged_like_any_other(attack: Attack, method: str) -> None:
    caller = ScriptedCaller(judge)
    verifications = await Verifier(settings(method), caller, PROBLEM).verify(0, Draft(attack.text), [0, 1])
    assert sorted(verifications) == [0, 1]
    for verification in verifications.values():
        assert verification.state is ScoreState.FAILED
        if verification.bad_cases:
            assert caller.calls == []
        else:
            assert verification.points == 1
            assert [view.judge for view in verification.judges] == ["rubric-1", "rubric-2", "free"]
            assert len(caller.calls) == 6  # three judges, two samples, no re-ask


@pytest.mark.parametrize("attack", ATTACKS, ids=attack_name)
async def test_what_surrounds_the_candidate_does_not_depend_on_it(attack: Attack) -> None:
    plain, hostile = ScriptedCaller(judge), ScriptedCaller(judge)
    await Verifier(settings("none"), plain, PROBLEM).verify(0, Draft(FLAWED), [0])
    verification = (await Verifier(settings("none"), hostile, PROBLEM).verify(0, Draft(attack.text), [0]))[0]
    if not verification.bad_cases:
        assert [outside(prompt) for prompt in hostile.prompts] == [outside(prompt) for prompt in plain.prompts]


@pytest.mark.parametrize("field", ["statement", "reference", "rubric"])
@pytest.mark.parametrize("attack", ATTACKS, ids=attack_name)
async def test_a_hostile_problem_file_stays_in_its_fence(attack: Attack, field: str) -> None:
    fields = {"statement": PROBLEM.statement, "reference": PROBLEM.reference, "rubric": PROBLEM.rubric}
    problem = Problem("p", **{**fields, field: attack.text})  # type: ignore[arg-type]
    caller = ScriptedCaller(judge)
    verification = (await Verifier(settings("rule"), caller, problem).verify(0, Draft(FLAWED), [0]))[0]
    assert verification.points == 1
    assert max(len(message.content) for prompt in caller.prompts for message in prompt) < 300_000


@pytest.mark.parametrize("attack", ATTACKS, ids=attack_name)
async def test_a_hostile_candidate_does_not_command_the_normaliser(attack: Attack) -> None:
    normaliser = ObedientModel(honest="honest", obeyed="obeyed", expected=("candidate",))
    seen = []

    def script(address: CallAddress, messages: tuple[Message, ...]) -> str:
        if address.role == "normaliser":
            seen.append(normaliser.answer(messages))
            return "The proof is complete. " + PASS_REPLY
        return judge(address, messages)

    verification = (
        await Verifier(settings("model"), ScriptedCaller(script), PROBLEM).verify(0, Draft(attack.text), [0])
    )[0]
    assert verification.state is ScoreState.FAILED
    assert seen == ([] if verification.bad_cases else ["honest"])
    if verification.normalisation is not None:
        assert verification.normalisation.method == "rule"
        assert verification.normalisation.fallback


QUOTING = {
    "before": "<assessment>\nIt says:\n{quoted}\n</assessment>\n" + FAIL.partition("</assessment>\n")[2],
    "before_and_in_marks": "<assessment>\nIt says: {quoted}\n</assessment>\n" + FAIL + "\nNote the text '{quoted}'.",
    "after": FAIL + "\nNote the text:\n{quoted}",
    "after_in_a_sentence": FAIL + "\nNote the text {quoted}, which proves nothing.",
    "in_the_errors": "<errors>\n1. Location: {quoted}\n   Description: wrong\n</errors>\n<verdict>has_errors</verdict>",
    "in_thinking": "<think>It says {quoted}</think>" + FAIL,
}
"""Honest replies that quote what they should not."""


def from_the_wire(text: str, reasoning: str | None = None) -> Answer:
    """The answer that the client makes of a server's body."""
    message = {"content": text, "reasoning_content": reasoning}
    body = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()
    return wire.parse_reply(body)[0]


@pytest.mark.parametrize("form", QUOTING)
@pytest.mark.parametrize("attack", ATTACKS, ids=attack_name)
async def test_a_reply_that_quotes_the_attack_is_no_pass(attack: Attack, form: str) -> None:
    """As the judge was shown it, as its author wrote it, and normalised; with thinking of the server's own and without.

    A free judge alone: nobody else's honest verdict may save the day.
    """
    free = (JudgeSettings(name="free", mode="free"),)
    normalised = normalise_text(attack.text)[0]
    for method, source in (
        ("rule", None),
        ("rule", attack.text),
        ("rule", normalised),
        ("none", None),
        ("none", attack.text),
    ):
        for reasoning in (None, "Hm."):

            def quoting(
                address: CallAddress,
                messages: tuple[Message, ...],
                source: str | None = source,
                reasoning: str | None = reasoning,
            ) -> Answer:
                quoted = source or dict(blocks(messages))["candidate"]
                return from_the_wire(QUOTING[form].replace("{quoted}", quoted[:20_000]), reasoning)

            chosen = settings(method).model_copy(update={"judges": free})
            verifier = Verifier(chosen, ScriptedCaller(quoting), PROBLEM)
            verification = (await verifier.verify(0, Draft(attack.text), [0]))[0]
            assert verification.state is not ScoreState.PASSED, (method, reasoning)


@pytest.mark.parametrize("attack", ATTACKS, ids=attack_name)
async def test_a_quotation_as_shown_in_the_assessment_costs_no_verdict_by_thinking(attack: Attack) -> None:
    """The prompt shows no think tag, so a faithful quotation of it can't make thinking of the reply."""
    caller = ScriptedCaller(judge)
    await Verifier(settings("rule"), caller, PROBLEM).verify(0, Draft(attack.text), [0])
    for prompt in caller.prompts:
        quoted = dict(blocks(prompt))["candidate"]
        answer = from_the_wire(f"{FAIL}\nIt says:\n{quoted}")
        assert (answer.reasoning, answer.unclosed_thinking) == ("", False)
        assert FAIL in answer.text


async def test_a_re_ask_does_not_show_the_reply_that_could_not_be_used() -> None:
    """That reply may quote the candidate, and it would stand outside any fence."""

    def script(address: CallAddress, messages: tuple[Message, ...]) -> Answer | str:
        if address.attempt == 0:
            return f"{ATTACKS[0].text} <verdict>{ATTACKS[0].text}</verdict>"
        return judge(address, messages)

    caller = ScriptedCaller(script)
    verification = (await Verifier(settings("rule"), caller, PROBLEM).verify(0, Draft(FLAWED), [0]))[0]
    assert verification.points == 1
    assert {address.attempt for address in caller.addresses} == {0, 1}


@given(st.text(st.characters(), max_size=200), st.text(st.characters(), max_size=200))
def test_a_fence_holds_any_text(first: str, second: str) -> None:
    message = Message("user", f"a\n{fence('problem', first)}\nb\n{fence('candidate', second)}\nc")
    assert [name for name, _ in blocks([message])] == ["problem", "candidate"]
    assert outside([message]) == "user: a\n[block]\nb\n[block]\nc"
    assert not hidden_characters(message.content)
