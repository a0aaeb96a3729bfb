"""A simulated model that plays every role, with a true quality behind each proof.

A simulated proof is a chain of steps, each of which claims a congruence `\\rho(a) \\equiv b \\pmod{1009}`, where rho is
a fixed hash. A claim can be checked, so a proof's true quality travels in its own text: wrong by one is a gap, wrong
by more is an error, no wrong claim is a correct proof. The simulated judge checks the claims and then misjudges at the
configured rates; the refiner repairs or redraws; the ranker compares. A text without claims (any real proof) gets a
quality drawn from its hash.

Every reply is a function of (model seed, request, sample) alone.
"""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass
from functools import cached_property
from random import Random

from maxproof.models.mock.script import MockReply, MockRequest, draw, draw_int

MODULUS = 1009

_CLAIM = re.compile(r"\\rho\((\d{1,12})\) \\equiv (\d{1,12}) \\pmod\{1009\}")
_PROOF_NAMES = ("proof", "draft", "candidate", "solution", "text")


def rho(argument: int) -> int:
    """The hash that simulated proofs make claims about, 0..1008."""
    return int.from_bytes(hashlib.sha256(str(argument).encode()).digest()[:8]) % MODULUS


@dataclass(frozen=True, slots=True)
class Quality:
    """The truth about a proof: its claims, and those that are off by one (gaps) or by more (errors)."""

    claims: tuple[str, ...]
    gaps: tuple[str, ...]
    errors: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """`fundamentally_wrong` when more than half of the claims are errors."""
        if 2 * len(self.errors) > len(self.claims):
            return "fundamentally_wrong"
        if self.errors:
            return "has_errors"
        return "minor_gaps" if self.gaps else "no_errors"

    @property
    def loss(self) -> float:
        """Share of the claims that are wrong, a gap counting a quarter; 0 is a correct proof."""
        return (len(self.errors) + len(self.gaps) / 4) / max(1, len(self.claims))


def true_quality(text: str) -> Quality | None:
    """The truth about a simulated proof, from its claims; None for a text without any."""
    claims, gaps, errors = [], [], []
    for match in _CLAIM.finditer(text):
        claims.append(match.group())
        offset = (int(match.group(2)) - rho(int(match.group(1)))) % MODULUS
        if offset in (1, MODULUS - 1):
            gaps.append(match.group())
        elif offset:
            errors.append(match.group())
    return Quality(tuple(claims), tuple(gaps), tuple(errors)) if claims else None


@dataclass(frozen=True)
class SimulatedModel:
    """See the module's docstring. All rates and shares are in [0, 1].

    Attributes:
        seed: of all draws.
        quality: chance that a step of a fresh proof is right.
        steps: claims in a proof.
        proof_chars: median length of a proof, characters; lengths spread by a factor of about 1.3.
        reasoning_chars: length of the thinking of each reply; 0: none.
        gap_share: share of the wrong steps that are gaps rather than errors.
        patch_fix: chance that PATCH, or going over a draft, repairs a wrong step; a right step breaks with a twentieth
            of it.
        rewrite_quality: chance that a step of a REWRITE is right; None: as `quality`.
        false_positive: chance that a judge passes a wrong proof.
        false_negative: chance that a judge fails a correct proof.
        judge_correlation: correlation of the errors of any two judgements of one proof.
        ranker_error: chance that the ranker picks the worse proof, or misjudges whether to keep an attempt.
        position_bias: chance that the ranker picks what comes first, unread.
        format_drift: share of tagged replies with an odd but readable layout (case, attributes, code fence, a missing
            closing tag, an early draft before the final answer).
        unreadable: share of tagged replies without a readable label.
        refusal: share of replies that decline.
        truncation: share of replies cut by the token limit, half of them inside the thinking.
    """

    seed: int = 0
    quality: float = 0.6
    steps: int = 6
    proof_chars: int = 1500
    reasoning_chars: int = 0
    gap_share: float = 0.3
    patch_fix: float = 0.5
    rewrite_quality: float | None = None
    false_positive: float = 0.0
    false_negative: float = 0.0
    judge_correlation: float = 0.0
    ranker_error: float = 0.0
    position_bias: float = 0.0
    format_drift: float = 0.0
    unreadable: float = 0.0
    refusal: float = 0.0
    truncation: float = 0.0

    def __call__(self, request: MockRequest) -> MockReply:
        random = Random(draw_int("reply", self.seed, request.key, request.sample))
        if random.random() < self.refusal:
            if random.random() < 0.5:
                return MockReply("", finish_reason="content_filter")
            return MockReply("I'm sorry, but I can't help with that request.")
        text = self._text(request, random)
        reasoning = self._filler(random, self.reasoning_chars) if self.reasoning_chars else ""
        if random.random() < self.truncation:
            if random.random() < 0.5:
                return MockReply("", reasoning or "First I try small cases, and then", "length")
            return MockReply(text[: len(text) // 2], reasoning, "length")
        return MockReply(text, reasoning)

    def _text(self, request: MockRequest, random: Random) -> str:
        match request.task:
            case "generate":
                return self._fresh_proof(random, self.quality)
            case "rewrite":
                return self._fresh_proof(random, self.quality if self.rewrite_quality is None else self.rewrite_quality)
            case "patch" | "improve":
                return self._patched(random, _proof_in(request))
            case "normalise":
                return self._tagged(random, "normalised", _proof_in(request))
            case "summarise":
                return self._tagged(random, "summary", self._summary(_proof_in(request)))
            case "verify":
                return self._judgement(request, random)
            case "grade":
                return self._grade(request, random)
            case "rank":
                return self._ranking(request, random)
            case "consolidate":
                return self._consolidation(request, random)
            case "rubric":
                return self._tagged(random, "scheme", _scheme(random))
            case "annotate":
                domain, techniques = _labels(request.block("taxonomy") or "", random)
                return self._tagged(random, "techniques", techniques, f"<domain>{domain}</domain>\n")

    # Provers

    def _fresh_proof(self, random: Random, quality: float) -> str:
        claims = [self._claim(random, random.randrange(10**6, 10**9), quality) for _ in range(self.steps)]
        length = self.proof_chars * math.exp(0.25 * random.gauss(0, 1))
        gap = max(0, int((length - 80 * self.steps) / (self.steps + 1)))
        parts = [self._filler(random, gap)]
        for claim in claims:
            parts.append(f"Hence ${claim}$, by the recursion applied to the previous bound.")
            parts.append(self._filler(random, gap))
        return "\n\n".join(filter(None, parts))

    def _claim(self, random: Random, argument: int, quality: float) -> str:
        value = rho(argument)
        if random.random() >= quality:
            value += 1 if random.random() < self.gap_share else random.randrange(2, MODULUS - 2)
        return rf"\rho({argument}) \equiv {value % MODULUS} \pmod{{{MODULUS}}}"

    def _patched(self, random: Random, proof: str) -> str:
        def patch(match: re.Match[str]) -> str:
            argument, value = int(match.group(1)), int(match.group(2))
            wrong = value != rho(argument)
            if random.random() < (self.patch_fix if wrong else self.patch_fix / 20):
                return self._claim(random, argument, 1.0 if wrong else 0.0)
            return match.group()

        return _CLAIM.sub(patch, proof) if _CLAIM.search(proof) else self._fresh_proof(random, self.quality)

    # Readers

    def _truth(self, proof: str) -> Quality:
        known = true_quality(proof)
        if known is not None:
            return known
        lines = [line.strip() for line in proof.splitlines() if line.strip()] or ["the whole text"]
        wrong = draw("quality", self.seed, proof) >= self.quality
        return Quality(tuple(lines), (), (lines[draw_int("line", self.seed, proof) % len(lines)],) if wrong else ())

    def _misjudged(self, proof: str, random: Random, rate: float) -> bool:
        # With probability sqrt(c) a judgement uses the draw that all judgements of this proof share: two of them then
        # share it with probability c, which is the correlation of their errors.
        own, shared = random.random(), random.random() < math.sqrt(self.judge_correlation)
        return (draw("judge", self.seed, proof) if shared else own) < rate

    def _judgement(self, request: MockRequest, random: Random) -> str:
        proof = _proof_in(request)
        truth = self._truth(proof)
        verdict, wrong = truth.verdict, truth.errors + truth.gaps
        if wrong and self._misjudged(proof, random, self.false_positive):
            verdict, wrong = "no_errors", ()
        elif not wrong and self._misjudged(proof, random, self.false_negative):
            verdict, wrong = "has_errors", (random.choice(truth.claims),)
        listed = "\n".join(
            f'{i}. Location: "{claim}"\n   Description: This relation does not follow from what stands before it.'
            for i, claim in enumerate(wrong, 1)
        )
        assessment = f"The text makes {len(truth.claims)} claims; {len(wrong)} of them are not supported."
        if random.random() < self.unreadable:
            return f"{assessment}\n\nOverall I would call this {random.choice(['mostly fine', 'weak', 'unclear'])}."
        reply = (
            f"<assessment>\n{assessment}\n</assessment>\n<errors>\n{listed or 'none'}\n</errors>\n"
            f"<verdict>{verdict}</verdict>"
        )
        return self._drift(random, reply, "verdict")

    def _grade(self, request: MockRequest, random: Random) -> str:
        """The oracle's: the truth as points, by the map of verdicts; it errs as the ranker does."""
        truth = self._truth(request.block("solution") or _proof_in(request))
        points = {"no_errors": 7, "minor_gaps": 6, "has_errors": 1, "fundamentally_wrong": 0}[truth.verdict]
        if random.random() < self.ranker_error:
            points = 1 if points == 7 else 7
        return self._tagged(random, "points", str(points), f"{len(truth.errors)} of its claims are false.\n")

    def _summary(self, proof: str) -> str:
        truth = self._truth(proof)
        issue = f"the relation {truth.errors[0]}" if truth.errors else "some details" if truth.gaps else "none"
        return f"Chains {len(truth.claims)} relations from {truth.claims[0][:60]}; main issue: {issue[:80]}."

    def _ranking(self, request: MockRequest, random: Random) -> str:
        first, second = _two_proofs(request)
        losses = self._truth(first).loss, self._truth(second).loss
        better = "first" if losses < losses[::-1] or (losses[0] == losses[1] and random.random() < 0.5) else "second"
        if random.random() < self.ranker_error:
            better = "second" if better == "first" else "first"
        if random.random() < self.position_bias:
            better = "first"
        return self._tagged(random, "choice", better, f"The {better} proof leaves fewer relations unsupported.\n")

    def _consolidation(self, request: MockRequest, random: Random) -> str:
        """Keeps the attempts with the fewest unsupported relations; misjudges each with `ranker_error`."""
        shown = [block.text for block in request.blocks if block.name != "problem"]
        losses = [self._truth(text).loss for text in shown]
        best = [loss == min(losses) for loss in losses]
        kept = [n for n, good in enumerate(best, 1) if good != (random.random() < self.ranker_error)]
        return self._tagged(random, "keep", ", ".join(map(str, kept or range(1, len(shown) + 1))))

    # Layout

    def _tagged(self, random: Random, tag: str, content: str, before: str = "") -> str:
        if random.random() < self.unreadable:
            return before or "I have read the text."
        return self._drift(random, f"{before}<{tag}>{content}</{tag}>", tag)

    def _drift(self, random: Random, reply: str, tag: str) -> str:
        if random.random() >= self.format_drift:
            return reply
        opening, closing = f"<{tag}>", f"</{tag}>"
        match random.randrange(5):
            case 0:
                return reply.replace(opening, opening.upper()).replace(closing, closing.upper())
            case 1:
                return reply.replace(opening, f'<{tag} confidence="high">')
            case 2:
                return f"```xml\n{reply}\n```"
            case 3:
                return reply.removesuffix(closing)
            case _:
                return f"Let me begin with a draft.\n<{tag}>not decided yet</{tag}>\nNow the final reply.\n{reply}"

    def _filler(self, random: Random, chars: int) -> str:
        """About `chars` characters of varied mathematical prose, cut at sentence ends."""
        if chars < 60:
            return ""
        start = self._pool.find("\n", random.randrange(len(self._pool) - chars - 200)) + 1
        end = self._pool.rfind("\n", start, start + chars)
        if end < 0:  # shorter than a sentence
            end = self._pool.find("\n", start)
        return self._pool[start:end].replace("\n", " ")

    @cached_property
    def _pool(self) -> str:
        """Prose to cut fillers from, a sentence a line: generated once, so that a long reply costs a slice."""
        random = Random(draw_int("pool", self.seed))
        wanted = max(60_000, 8 * self.proof_chars, 8 * self.reasoning_chars)
        sentences: list[str] = []
        length = 0
        while length < wanted:
            sentence = _sentence(random)
            sentences.append(sentence)
            length += len(sentence) + 1
        return "\n".join(sentences)


_SUBJECTS = (
    "the sum over all indices",
    "each remaining factor",
    "the sequence",
    "every prime divisor of the left side",
    "the chosen subset",
    "the second difference",
    "the polynomial",
    "this expression",
    "the largest element",
    "the pairing of opposite terms",
    "any fixed residue class",
    "the induced ordering",
)
_VERBS = (
    "is bounded by",
    "agrees with",
    "dominates",
    "is a multiple of",
    "stays below",
    "is determined by",
    "exceeds",
    "can be compared with",
    "vanishes together with",
    "has the same parity as",
)
_REASONS = (
    "by the inductive hypothesis",
    "since the terms are positive",
    "because the map is injective",
    "as the degree is even",
    "by comparing leading coefficients",
    "after grouping equal terms",
    "for the same reason as before",
    "by the pigeonhole principle",
    "since no two of them coincide",
)


def _sentence(random: Random) -> str:
    a, b, k = random.randrange(2, 9000), random.randrange(2, 9000), random.randrange(2, 60)
    letter, other = random.choice("abcdmnpqrstuvxyz"), random.choice("ABCDEFGHKLMNPQRSTUVW")
    subject, verb, reason = random.choice(_SUBJECTS), random.choice(_VERBS), random.choice(_REASONS)
    match random.randrange(4):
        case 0:
            return f"Here {subject} {verb} ${letter}_{{{k}}} + {a}$, {reason}."
        case 1:
            return f"Write ${letter} = {a}{other.lower()} + {b}$; then {subject} {verb} ${letter}^{{{k}}}$ {reason}."
        case 2:
            return f"If ${other}_{{{k}}} < {a}$, then {subject} {verb} ${b} - {letter}$."
        case _:
            return f"{reason.capitalize()}, {subject} {verb} ${a}{letter}^2 - {b}{letter} + {k}$ on ${other}$."


def _scheme(random: Random) -> str:
    """A grading scheme of 2 to 4 lines that total 7 points; like a simulated proof, it says nothing about a problem."""
    cuts = sorted(random.sample(range(1, 7), random.randrange(1, 4)))
    points = [high - low for low, high in zip([0, *cuts], [*cuts, 7], strict=True)]
    return (
        "\n"
        + "\n".join(
            f"{number} point{'s' * (number > 1)}: Shows that {_SUBJECTS[index]} {random.choice(_VERBS)} the goal."
            for index, number in enumerate(points)
        )
        + "\n"
    )


def _labels(taxonomy: str, random: Random) -> tuple[str, str]:
    """A domain of the list in a prompt and up to two of its techniques, or `unknown`."""
    names = re.findall(r"^- ([^:(\n]{1,100}?)(?: \(([^)\n]*)\))?:", taxonomy, re.MULTILINE)
    domains = [name for name, used in names if not used]
    if not domains or random.random() < 0.1:
        return "unknown", "unknown"
    domain = random.choice(domains)
    fitting = [name for name, used in names if domain in used.split(", ")]
    return domain, ", ".join(random.sample(fitting, min(2, len(fitting)))) or "unknown"


def _proof_in(request: MockRequest) -> str:
    return request.block(*_PROOF_NAMES) or (request.blocks[-1].text if request.blocks else request.user)


def _two_proofs(request: MockRequest) -> tuple[str, str]:
    proofs = [block.text for block in request.blocks if block.name not in ("problem", "rubric", "reference")]
    return (proofs[-2], proofs[-1]) if len(proofs) >= 2 else (request.user, request.user)
