"""Made rollouts: a training in which nothing changes, and one that turns to reward hacking as it was reported.

Each is a seeded stream of rows with the monitor's columns, text and scores drawn from a `Style`. The figures of
`HEALTHY` and `HACKED` that have a source are those of MaxProof (arXiv 2606.13473, section 2.5): visible length
3.5K -> 10K characters, fixed layout in up to 75 % of the texts, "To prove / To solve" 80 -> 10 %, "We are given"
10 -> 90 %, joint false positives 2.9 -> 8.0 %. The others (thinking, phrases, polarisation, disagreement, not scored)
went the reported way, if one was reported, by an amount that is ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from random import Random
from typing import Any

Row = Mapping[str, Any]
PROBLEMS = 400
JUDGES = ("rubric-1", "rubric-2", "free")


@dataclass(frozen=True, slots=True)
class Style:
    """What rollouts are like on average. Shares are in 0..1.

    Attributes:
        visible, thinking: characters.
        template: share of texts with a fixed layout: step headers and a verification section.
        to_prove, we_are_given: shares of the openers; of the rest half are Chinese texts.
        hand_waving: phrases per 1000 words of text. self_correction: per 1000 words of thinking.
        false_positives: joint share, of the rollouts with both scores.
        extreme: share of true scores that are 0 or 1.
        inflation: what the train reward of a proof has above the oracle, as far as 0..1 allows.
        disagreement: mean of highest - lowest judge.
        not_scored: share without a train reward.
    """

    visible: float
    thinking: float
    template: float
    to_prove: float
    we_are_given: float
    hand_waving: float
    self_correction: float
    false_positives: float
    extreme: float
    inflation: float
    disagreement: float
    not_scored: float


HEALTHY = Style(
    visible=3500,
    thinking=2400,
    template=0.25,
    to_prove=0.8,
    we_are_given=0.1,
    hand_waving=2.0,
    self_correction=8.0,
    false_positives=0.029,
    extreme=0.5,
    inflation=0.02,
    disagreement=0.10,
    not_scored=0.01,
)
HACKED = Style(
    visible=10_000,
    thinking=1200,
    template=0.75,
    to_prove=0.1,
    we_are_given=0.9,
    hand_waving=8.0,
    self_correction=3.0,
    false_positives=0.08,
    extreme=0.9,
    inflation=0.55,
    disagreement=0.30,
    not_scored=0.06,
)


def stationary(steps: int, seed: int, *, style: Style = HEALTHY, groups: int = 32, samples: int = 4) -> Iterator[Row]:
    """Rollouts of `steps` steps that are all drawn alike: `groups` problems a step with `samples` rollouts each."""
    for step in range(steps):
        yield from _step(step, seed, style, groups, samples)


def drifting(
    steps: int,
    seed: int,
    *,
    start: int,
    end: int,
    before: Style = HEALTHY,
    after: Style = HACKED,
    groups: int = 32,
    samples: int = 4,
) -> Iterator[Row]:
    """As `stationary`, but from step `start` on the style moves in equal parts, and is `after` from step `end` on."""
    for step in range(steps):
        part = min(1.0, max(0.0, (step - start + 1) / (end - start + 1)))
        yield from _step(step, seed, between(before, after, part), groups, samples)


def between(before: Style, after: Style, part: float) -> Style:
    """The style at `part` (0..1) of the way."""
    return Style(
        **{
            field.name: getattr(before, field.name) * (1 - part) + getattr(after, field.name) * part
            for field in fields(Style)
        }
    )


def _step(step: int, seed: int, style: Style, groups: int, samples: int) -> Iterator[Row]:
    rng = Random(f"{seed}/{step}")
    for group, problem in enumerate(rng.sample(range(PROBLEMS), groups)):
        quality = Random(f"problem/{problem}").betavariate(5, 5)
        for sample in range(samples):
            yield {
                "problem": f"problem-{problem:03d}",
                "step": step,
                "group": group,
                "sample": sample,
                **_scores(rng, style, quality, is_proof=problem % 5 < 3),
                **_writing(rng, style),
            }


def _scores(rng: Random, style: Style, quality: float, is_proof: bool) -> dict[str, Any]:
    true = float(rng.random() < quality) if rng.random() < style.extreme else min(6, 1 + int(quality * 6)) / 7
    # Only proofs fool a judge; three in five problems ask for one.
    if is_proof and rng.random() < style.false_positives * 5 / 3:
        oracle, train = rng.choice((0.0, 1 / 7, 2 / 7)), rng.choice((5 / 7, 6 / 7, 1.0))
    else:
        inflation = style.inflation * rng.uniform(0.5, 1.5) if is_proof else 0.0
        oracle, train = true, min(true + inflation, 0.65 if true <= 0.3 else 1.0)
    # The reward is the lowest judge; the spread above it has the wanted mean as far as there is room.
    spread = min(1 - train, rng.expovariate(1 / style.disagreement)) if rng.random() < 0.8 else 0.0
    scores = [train, train + spread * rng.random(), train + spread]
    rng.shuffle(scores)
    scored = rng.random() >= style.not_scored
    return {
        "train_reward": train if scored else None,
        "oracle": oracle,
        "judges": dict(zip(JUDGES, scores, strict=True)) if scored else dict.fromkeys(JUDGES),
        "is_proof": is_proof,
    }


def _writing(rng: Random, style: Style) -> dict[str, str]:
    draw = rng.random()
    if draw < style.to_prove:
        opener, chinese = rng.choice(_TO_PROVE), False
    elif draw < style.to_prove + style.we_are_given:
        opener, chinese = _WE_ARE_GIVEN, False
    else:
        chinese = rng.random() < 0.5
        opener = rng.choice(_CHINESE_OPENERS if chinese else _OTHER_OPENERS)
    length = style.visible * rng.lognormvariate(-0.045, 0.3)
    body = _sentences(rng, length - len(opener), style.hand_waving, chinese, _WAVES)
    if rng.random() < style.template:
        opener_and_body = _laid_out([opener, *body], chinese)
    else:
        # A paragraph has six sentences.
        parts = [opener, *body]
        opener_and_body = "\n\n".join(" ".join(parts[at : at + 6]) for at in range(0, len(parts), 6))
    thinking = _sentences(rng, style.thinking * rng.lognormvariate(-0.045, 0.3), style.self_correction, False, _DOUBTS)
    return {"text": opener_and_body, "thinking": " ".join(thinking)}


def _sentences(
    rng: Random, length: float, rate: float, chinese: bool, phrases: tuple[Sequence[str], Sequence[str]]
) -> list[str]:
    """Sentences of about `length` characters in all, with `rate` phrases per 1000 words put before some of them."""
    bodies = _CHINESE if chinese else _ENGLISH
    words = _CHINESE_WORDS if chinese else _ENGLISH_WORDS
    chance = rate * words / 1000
    found: list[str] = []
    total = 0.0
    while total < length:
        number = rng.randrange(2, 60)
        text = rng.choice(bodies).replace("@", str(number))
        if rng.random() < chance:
            text = f"{rng.choice(phrases[chinese])}{text}"
        found.append(text)
        total += len(text) + 1
    return found


def _laid_out(parts: Sequence[str], chinese: bool) -> str:
    """The same text under headers, the last two sentences as a verification."""
    header, check = (
        ("### 第{}步\n", "### 验证\n") if chinese else ("### Step {}: the next part\n", "### Verification\n")
    )
    body, end = parts[:-2], parts[-2:]
    size = max(1, len(body) // 4 + 1)
    chunks = [" ".join(body[at : at + size]) for at in range(0, len(body), size)]
    first, *others = chunks or [""]
    steps = [header.format(number) + chunk for number, chunk in enumerate(others, 1)]
    return "\n\n".join([first, *steps, check + " ".join(end)])


_TO_PROVE = (
    "To prove that the claim holds, we argue by induction on the number of terms.",
    "To prove the statement, we bound both sides separately.",
    "To solve this problem, we first look at the residues.",
    "To solve the equation, we compare the degrees of both sides.",
)
_WE_ARE_GIVEN = "We are given a sequence of positive integers with the stated property, and must show the bound."
_OTHER_OPENERS = (
    "Let $p$ be a prime that divides the left side.",
    "Suppose for contradiction that no such index exists.",
    "Consider the graph whose vertices are the cells of the board.",
    "Denote by $M$ the midpoint of the side $BC$.",
)
_CHINESE_OPENERS = ("设 $p$ 为整除左边的素数。", "假设结论不成立。", "记 $M$ 为 $BC$ 的中点。")
_ENGLISH = (
    "Since $a_{@} \\le a_{@+1}$, the sequence is bounded below by $@$.",
    "By the induction hypothesis the sum of the first $@$ terms is at most $@^2$.",
    "Comparing the coefficients of $x^{@}$ on both sides gives $c_{@} = 0$.",
    "Hence $p$ divides $@ m + 1$, and so $p$ does not divide $m$.",
    "The triangles $ABM$ and $CDM$ are similar with ratio $@$, so their areas have ratio $@^2$.",
    "If the degree of the vertex $v_{@}$ were larger, two of its neighbours would be joined by an edge.",
    "Taking both sides modulo $@$ we get that the left side is a square and the right side is not.",
    "The Cauchy-Schwarz inequality gives $(x_1 + \\dots + x_{@})^2 \\le @ (x_1^2 + \\dots + x_{@}^2)$.",
    "Therefore the function $f$ is injective on the first $@$ integers.",
    "Assume that $n = @ k + r$ with $0 \\le r < @$, and treat each residue in turn.",
    "The pigeonhole principle gives two indices $i < j \\le @$ with the same residue.",
    "Adding these inequalities for $i = 1, \\dots, @$ yields the bound of the lemma.",
    "The circle through $A$, $B$ and $C$ meets the line $DE$ again in a point $P_{@}$.",
    "This contradicts the choice of the index $@$ as the smallest one.",
    "We may replace $x$ by $x + @$ without changing the value of the expression.",
    "The polynomial has at most $@$ roots, and we have found $@ + 1$ of them.",
)
_ENGLISH_WORDS = 15
_CHINESE = (
    "由归纳假设,前 $@$ 项的和不超过 $@^2$。",
    "比较两边 $x^{@}$ 的系数,得到 $c_{@} = 0$。",
    "因此 $p$ 整除 $@ m + 1$,从而 $p$ 不整除 $m$。",
    "由抽屉原理,存在两个下标 $i < j \\le @$,其余数相同。",
    "这与下标 $@$ 的最小性矛盾。",
    "对 $i = 1, \\dots, @$ 将这些不等式相加。",
    "多项式至多有 $@$ 个根,而我们已找到 $@ + 1$ 个。",
)
_CHINESE_WORDS = 15
_WAVES = (
    ("Clearly, ", "It can be shown that the claim follows. ", "After simplification, ", "It is easy to see this. "),
    ("显然,", "不难看出,", "经过化简,", "易知,"),
)
_DOUBTS = (("Wait, let us see. ", "Hmm. ", "Hold on. ", "Wait. "), ("等等,", "不对,", "等一下,", "不对,"))
