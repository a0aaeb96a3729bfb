"""Layer 1: each rule fires on what it is for, and never on a real proof."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transcripts import needs_transcripts, real_proofs

from maxproof.models.types import AnswerState
from maxproof.verifier import Draft
from maxproof.verifier.bad_case import check, without_thinking
from maxproof.verifier.settings import BadCaseSettings

LIMITS = BadCaseSettings()
PROOF = (
    "Suppose $n$ is odd, say $n = 2k + 1$. Then $n^2 = 4k^2 + 4k + 1 = 2(2k^2 + 2k) + 1$ is odd. By contraposition, "
    "$n^2$ even implies $n$ even. Conversely, if $n = 2k$, then $n^2 = 2 \\cdot 2k^2$ is even. ∎"
)
SENTENCES = [
    f"Here is remark {a}: the {b} of a {c} is {d}."
    for a, b, c, d in zip(
        range(40),
        ["sum", "rank", "limit", "norm", "index", "kernel", "trace", "image"] * 5,
        ["ring", "graph", "field", "group", "lattice"] * 8,
        ["finite", "prime", "even"] * 13 + ["odd"],
        strict=True,
    )
]


def rules(draft: Draft, limits: BadCaseSettings = LIMITS) -> list[tuple[str, str]]:
    return [(hit.family, hit.rule) for hit in check(draft, limits)]


def test_a_proof_passes() -> None:
    assert rules(Draft(PROOF)) == []


@needs_transcripts
def test_no_rule_fires_on_a_real_proof() -> None:
    assert len(real_proofs()) > 100
    assert [text[:80] for text in real_proofs() if check(Draft(text), LIMITS)] == []


@pytest.mark.parametrize("text", ["", " \n\t ", "\u200b\u200d" * 50, "∎", "$$ $$", "---\n***", "Proof.\n"])
def test_empty(text: str) -> None:
    assert rules(Draft(text)) == [("empty", "empty_text")]


@pytest.mark.parametrize("text", ["$n^2+n=n(n+1)$ is even.", "反証法で示す。nを奇数とする。", "Trivially true."])
def test_short_is_not_empty(text: str) -> None:
    assert rules(Draft(text)) == []


def test_a_refusal_is_no_empty_proof() -> None:
    assert rules(Draft("", state=AnswerState.REFUSED)) == [("empty", "refusal")]


REFUSALS = [
    "I'm sorry, but I can't help with that request.",
    "I’m very sorry, but I am not able to provide a proof of this statement. Please ask me something else.",
    "Sorry. As an AI, I cannot do this.",
    "As an AI language model I am unable to prove this.",
    "I apologize, but I won't complete this task.",
    "Unfortunately, I cannot find a proof of this.",
    "**I cannot assist with that.**",
    "I am unable to help here.",
    "很抱歉，我无法回答这个问题。请换一个问题再问我吧。",
    "作为一个人工智能，我不能提供这个问题的答案，请见谅。",
]
NO_REFUSALS = [
    "I'm sorry, but I can't avoid a computation: $n^2 = 4k^2$ is even.",
    "Unfortunately we cannot use induction, so let n be even; then n is twice some k.",
    "Unfortunately, one cannot take a = 2 here; the square of an even number is even nevertheless.",
    "We cannot have an odd square, since squares of even numbers are even. Hence the claim.",
    "I cannot see another way than to go by parity: the square of an even number is even.",
    "抱歉，我们不能直接用归纳法。设 n 为偶数，则 n 的平方为偶数。",
    f"I'm sorry, but I can't do it shorter. {'The square of an even number is even again. ' * 14}",
]


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_in_words(text: str) -> None:
    (hit,) = check(Draft(text), LIMITS)
    assert (hit.family, hit.rule) == ("empty", "refusal_text")
    assert text[:20] in hit.evidence
    assert rules(Draft(text), BadCaseSettings(max_refusal_chars=10)) == []
    assert rules(Draft(text, state=AnswerState.REFUSED)) == [("empty", "refusal")]


@pytest.mark.parametrize("text", NO_REFUSALS)
def test_what_only_begins_like_a_refusal(text: str) -> None:
    assert rules(Draft(text)) == []


@needs_transcripts
def test_no_real_proof_is_a_refusal_for_its_length_alone() -> None:
    anywhere = BadCaseSettings(max_refusal_chars=10**6)
    assert [hit for text in real_proofs() for hit in check(Draft(text), anywhere)] == []


def test_truncated_in_the_proof() -> None:
    (hit,) = check(Draft(PROOF, state=AnswerState.TRUNCATED), LIMITS)
    assert (hit.family, hit.rule) == ("over_length", "truncated")
    assert f"{len(PROOF)} characters" in hit.evidence
    assert "max_tokens" in hit.evidence


def test_thinking_that_ate_the_limit_is_truncated_and_not_an_empty_proof() -> None:
    (hit,) = check(Draft("", reasoning="hm " * 100, state=AnswerState.TRUNCATED), LIMITS)
    assert hit.rule == "truncated"
    assert "thinking used up the token limit (300 characters" in hit.evidence
    assert "max_tokens" in hit.evidence


def test_thinking_cut_inside_its_tag() -> None:
    draft = Draft("", reasoning="hm", state=AnswerState.TRUNCATED, unclosed_thinking=True)
    assert [rule for _, rule in rules(draft)] == ["truncated", "unclosed_think_tag"]


def test_unclosed_thinking() -> None:
    expected = [("unclosed_thinking", "unclosed_think_tag")]
    assert rules(Draft("", reasoning="hm", unclosed_thinking=True)) == expected
    assert rules(without_thinking(Draft(f"<think>Let me see.\n{PROOF}"))) == expected
    assert rules(without_thinking(Draft(f"<think>Let me see.</think>\n{PROOF}"))) == []


def test_over_length_and_nothing_else_is_looked_at() -> None:
    assert rules(Draft("abc " * 1_250_000)) == [("over_length", "too_long")]
    limits = BadCaseSettings(max_chars=len(PROOF) - 1)
    assert rules(Draft(PROOF), limits) == [("over_length", "too_long")]
    assert rules(Draft(PROOF), BadCaseSettings(max_chars=len(PROOF))) == []


LOOPS = {
    "paragraph": (" ".join(SENTENCES[:5]) + "\n\n") * 20,
    "paragraph after a proof": PROOF + ("\n\n" + " ".join(SENTENCES[:4])) * 30,
    "word": "Therefore " + "therefore " * 400,
    "letter": "a" * 9_000,
    "sign": "Proof, as promised " + "∎" * 9_000,
    "blank lines": PROOF + "\n" * 20_000,
    "numbered template": "".join(
        f"For n = {n} we get f({n}) = {n * n + 1}, and {n * n + 1} is not divisible by 7, so n = {n} is fine.\n"
        for n in range(200)
    ),
    "numbered template after a proof": " ".join(SENTENCES)
    + "".join(
        f"\nSubcase 1.{n}. The same argument with {n + 1} in place of {n} gives the bound again." for n in range(90)
    ),
    "sentence at the end of a long text": " ".join(SENTENCES) * 2 + " Hence we are done by the lemma above." * 150,
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops(name: str) -> None:
    hits = check(Draft(LOOPS[name]), LIMITS)
    assert [hit.family for hit in hits] == ["loop"]
    assert hits[0].evidence


LIKE_LOOPS = {
    "residues modulo 12": PROOF + "".join(f"If $n \\equiv {r}$, then $n^2 \\equiv {r * r % 12}$.\n" for r in range(12)),
    "residues modulo 30, nothing else": "".join(
        f"If n ≡ {r} (mod 30), then n^2 ≡ {r * r % 30} (mod 30), which is not 17.\n" for r in range(30)
    ),
    "a refrain": "\n\n".join(f"{sentence} This proves the claim." for sentence in SENTENCES),
    "a table": "|n|n^2|\n|---|---|\n" + "".join(f"|{n}|{n * n}|\n" for n in range(60)),
}


@pytest.mark.parametrize("name", LIKE_LOOPS)
def test_what_only_looks_like_a_loop(name: str) -> None:
    assert rules(Draft(LIKE_LOOPS[name])) == []


def test_limits_are_configurable() -> None:
    text = LIKE_LOOPS["residues modulo 30, nothing else"]
    assert rules(Draft(text), BadCaseSettings(loop_template_repeats=20)) == [("loop", "ngram_loop")]
    assert rules(Draft("ab"), BadCaseSettings(min_chars=2)) == []
    assert rules(Draft(LOOPS["word"]), BadCaseSettings(loop_share=1, max_compression=1e6)) == []


@given(st.text(st.characters(), max_size=400), st.sampled_from(AnswerState), st.booleans())
def test_every_draft_has_an_answer_with_evidence(text: str, state: AnswerState, unclosed: bool) -> None:
    draft = Draft(text, state=state, unclosed_thinking=unclosed)
    hits = check(draft, LIMITS)
    assert hits == check(draft, LIMITS)
    assert len({hit.rule for hit in hits}) == len(hits)
    assert all(hit.family in ("empty", "unclosed_thinking", "loop", "over_length") for hit in hits)
    assert all(hit.evidence and "\n" not in hit.evidence for hit in hits)


def test_checking_is_cheap() -> None:
    drafts = [Draft(f"{n} {' '.join(SENTENCES[n % 7 :])} {PROOF} " * 3) for n in range(200)]
    started = time.process_time()
    for draft in drafts:
        check(draft, LIMITS)
    assert time.process_time() - started < 10  # about 0.05 s; a count of phrases in each would be caught
