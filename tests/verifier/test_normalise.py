"""The rule-based normaliser takes the packaging and leaves the mathematics."""

from __future__ import annotations

import hashlib
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transcripts import needs_transcripts, real_proofs

from maxproof.verifier import normalise
from maxproof.verifier.content_guard import mathematics, violation
from maxproof.verifier.normalise import PASSES, normalise_text

BODY = "Let $n = 2k$. Then $n^2 = 4k^2$ is even, since $4k^2 = 2 \\cdot 2k^2$."


def text_of(text: str) -> str:
    return normalise_text(text)[0]


@pytest.mark.parametrize(
    "opening",
    [
        "Certainly! ",
        "Sure, ",
        "Certainly! Here is the proof.\n\n",
        "Here is a complete and rigorous proof of the statement:\n\n",
        "Of course. Below is a detailed solution.\n\n",
        "We will provide a rigorous proof. ",
        "I will now present a full solution to the problem.\n\n",
        "We are asked to prove the following statement. ",
        "Certainly! Here's my solution.\n\nWe are given that ",
    ],
)
def test_openings(opening: str) -> None:
    assert normalise_text(opening + BODY) == (BODY, ("opening",))


def test_to_prove_this() -> None:
    assert text_of("To prove this statement, we let $n = 2k$.") == "we let $n = 2k$."
    assert text_of("To show the claim, suppose $n$ is odd.") == "suppose $n$ is odd."


@pytest.mark.parametrize(
    "text",
    [
        "To prove that $f$ is injective, suppose $f(x) = f(y)$.",  # without its start this would be a claim
        "To prove that A, B and C are collinear, we use Menelaus.",
        "To show that n is even, we factor n.",
        "To be precise, let $x$ be real.",
        "We are done.",
        "Here $x$ is real. The proof follows.",
        "Sure enough, $x$ is real.",
    ],
)
def test_openings_that_carry_mathematics_stay(text: str) -> None:
    assert normalise_text(text) == (text, ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**Step 1: Setup.** Let $n$.", "Setup. Let $n$."),
        ("### Step 2\nLet $n$.", "Let $n$."),
        ("**Step 3**: Let $n$.", "Let $n$."),
        ("Step 4. Let $n$.\n\nStep 5) So $m$.", "Let $n$.\n\nSo $m$."),
        ("## 🔍 Step 1: Setup\nLet $n$.", "Setup\nLet $n$."),
    ],
)
def test_step_headers(text: str, expected: str) -> None:
    assert text_of(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Step 1: Let $n$.\n\nStep 2: By step 1, $m$.",
        "Step 1: Let $n$.\n\nBy Steps 1 and 2 we have $m$.",
        "Case 1: $n$ is even.\n\nCase 2: $n$ is odd.",
        "Lemma 3: $n$ is even.",
        "Step 2 follows from the lemma.",
        "Step 2-3 of the game are $x$.",
    ],
)
def test_labels_that_are_content_stay(text: str) -> None:
    assert text.partition("\n")[0][:6] in text_of(text)
    assert "1" not in text or "1" in text_of(text)


def test_only_the_step_that_is_referred_to_keeps_its_label() -> None:
    assert text_of("Step 1: Let $n$.\n\nStep 2: By step 1, $m$.") == "Step 1: Let $n$.\n\nBy step 1, $m$."


@pytest.mark.parametrize(
    "section",
    [
        "## Verification\nWe check that $n = 2k$ is used.",
        "### Conclusion ###\nThis completes the proof.",
        "**Summary:** Even numbers have even squares.",
        "**4. Conclusion**\nSo $n = 2k$ is even.\n\n## Final check\nAll is well.",
        "## Final Answer\n$n^2 = 4k^2$",
    ],
)
def test_closing_sections_that_repeat(section: str) -> None:
    text, stripped = normalise_text(f"{BODY * 6}\n\n{section}")
    assert text == BODY * 6
    assert "closing_section" in stripped


@pytest.mark.parametrize(
    "section",
    [
        "## Verification\nIndeed $9k^2$ is not needed.",
        "## Conclusion\nThe answer is 17.",
        "## Verification of Lemma\nWe used $4k^2$.",
        "## Case 2\nThis completes the proof.",
    ],
)
def test_closing_sections_with_something_new_stay(section: str) -> None:
    assert section.partition("\n")[2] in text_of(f"{BODY * 6}\n\n{section}")


def test_a_section_that_is_followed_by_another_stays() -> None:
    text = f"## Verification\nWe check it.\n\n## Proof\n{BODY * 6}"
    assert "We check it." in text_of(text)


def test_a_closing_section_that_is_most_of_the_text_stays() -> None:
    assert "We argue" in text_of(f"{BODY}\n\n## Verification\n{'We argue in words. ' * 30}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**Proof.** Let $n$.", "Proof. Let $n$."),
        ("***Lemma*** and **two words**", "Lemma and two words"),
        ("# Title\n\n## Part two ##\nText", "Title\n\nPart two\nText"),
        ("Text\n\n---\n\nMore\n* * *\nEnd", "Text\n\nMore\nEnd"),
        ("> Since $x$\n> and $y$,\n> we are done.", "Since $x$\nand $y$,\nwe are done."),
        ("✅ **Done**: $x$ 🎉", "Done: $x$"),
        ("Title\n=====\nText  \n\n\n\nMore\n", "Title\nText\n\nMore"),
    ],
)
def test_decoration(text: str, expected: str) -> None:
    assert text_of(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "so 2**3 = 8 and x ** 2 ** 3",
        "a *b* c and _x_ and a_1 and b_1",
        "a + b\n> 0, and\n> x",
        "# S = 3",
        "#S = 5",
        "- one\n- two\n1. three",
        "$**a**$ `**b**` $$\n# S\n> T\n---\n$$",
        "\\begin{align}\n# **x**\n---\n\\end{align}",
        "Place 🔴 and 🔵 discs in turn; 🟦🟥 is lost",
        "| a | b |\n|---|---|\n| 1 | 2 |",
    ],
)
def test_mathematics_that_looks_like_decoration_stays(text: str) -> None:
    assert normalise_text(text) == (text, ())


def test_every_pass_is_named_when_it_cuts() -> None:
    text = f"Certainly! {BODY * 6}\n\n### Step 1: **So**\n---\n> Since it is.\n\n✅ Done with it.  \n\n"
    text += "## Conclusion\nDone."
    assert set(normalise_text(text)[1]) == set(PASSES)


PIECES = st.lists(
    st.one_of(
        st.sampled_from(
            [
                *(
                    "**",
                    "***",
                    "# ",
                    "### ",
                    "> ",
                    "---\n",
                    "\n",
                    "\n\n",
                    "  ",
                    "$x$",
                    "$$",
                    "`",
                    "$",
                    "1. ",
                    "- ",
                    "✅",
                    "∎",
                ),
                *(
                    "Step 1: ",
                    "Step 2",
                    "step 1",
                    "Certainly! ",
                    "Here is the proof. ",
                    "To prove this, we ",
                    "We are given ",
                ),
                *(
                    "## Conclusion\n",
                    "**Verification:** ",
                    "\\begin{align}",
                    "\\end{align}",
                    "\\(",
                    "\\)",
                    "words and ",
                    "n≥3 ",
                ),
                *("\r\n", "\0", "\u200b", "*", "_", "=" * 5),
            ]
        ),
        st.text(max_size=5),
    ),
    max_size=40,
).map("".join)


@settings(max_examples=400)
@given(PIECES)
def test_idempotent_and_true_to_the_mathematics(text: str) -> None:
    once, stripped = normalise_text(text)
    assert normalise_text(once) == (once, ())
    assert set(stripped) <= set(PASSES)
    assert violation(mathematics(text), mathematics(once)) == ""
    assert len(once) <= len(text)


@given(PIECES)
def test_only_cuts(text: str) -> None:
    rest = iter(text.replace("\r\n", "\n"))
    assert all(any(character == other for other in rest) for character in text_of(text).replace("\r\n", "\n"))


@needs_transcripts
def test_real_proofs_keep_their_mathematics() -> None:
    changed = 0
    for proof in real_proofs()[::4]:
        once, _ = normalise_text(proof)
        assert violation(mathematics(proof), mathematics(once)) == ""
        assert normalise_text(once) == (once, ())
        assert "**" not in once
        assert len(once) > 0.7 * len(proof)
        changed += once != proof
    assert changed > 10


HOSTILE = {
    "braces": "{" * 500_000,
    "bold": "**a" * 150_000,
    "stars": "*" * 500_000,
    "hashes": "#" * 500_000,
    "headings": "# " * 250_000,
    "heading of blanks": "# " + " " * 400_000 + "1",
    "quotes": ">\n" * 100_000 + "> " * 100_000,
    "steps": "Step 1: " * 60_000,
    "step lines": "**Step 1:** a\n" * 30_000,
    "openings": "Certainly! " * 50_000,
    "to prove": "to prove" + " a" * 250_000,
    "spaces": ("x" + " " * 1000) * 300,
    "pictures": "✅" * 200_000 + "x",
    "sections": "## Summary\n" * 30_000,
    "rules": "- " * 200_000 + "x" + "\n---" * 50_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_bounded(name: str) -> None:
    started = time.process_time()
    once, _ = normalise_text(HOSTILE[name])
    assert normalise_text(once) == (once, ())
    assert time.process_time() - started < 20  # each takes about a second; quadratic work would take hours


def test_the_version_changes_with_the_result() -> None:
    """The version is a part of the judges' journal keys: raise it when this digest changes."""
    text = (
        f"Sure! Here is the proof.\n\n## Step 1: **A**\n\n{BODY * 6}\n\n---\n> Since so.\n\n**Case 1:** ✅ b"
        "\n\n## Conclusion\nOk."
    )
    digest = hashlib.sha256(text_of(text).encode()).hexdigest()[:12]
    assert (normalise.VERSION, digest) == (1, "54c2b8051e60")
