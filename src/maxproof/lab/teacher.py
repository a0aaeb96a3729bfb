"""The base model's corpus: what a weak mathematician has read, with mistakes that are habits and not noise.

    for example in islice(corpus(TeacherSettings(), seed=1), 100_000): example.prompt, example.answer

A model taught on randomly damaged proofs is right when decoded greedily, so nothing but noise could be trained away.
Here the wrong way of each habit is the usual one (in about 60 % of the texts, and then throughout) and the right one a
minority: the greedy model is wrong, and many samples find a right proof. Likewise many texts leave the hard steps out
behind a phrase, the verifier in the corpus overlooks kinds of errors, and the repairs in it often repair nothing.
`docs/lab-teacher.md` lists what is taught wrong and why. `lessons.py` has the right answers.

Everything is drawn from the train split. Same settings and seed, same corpus.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from types import MappingProxyType

from maxproof.lab.canonical import canonical
from maxproof.lab.dialogue import (
    TASKS,
    Mark,
    critique_answer,
    marks_of_report,
    patch_prompt,
    proof_lines,
    prove_prompt,
    rank_prompt,
    rewrite_prompt,
    summarise_prompt,
    summary_answer,
    verify_prompt,
)
from maxproof.lab.domains import DOMAINS
from maxproof.lab.generate import TRAINING_LEVELS, Split, all_techniques, split_of
from maxproof.lab.mutations import MUTATIONS, mutate
from maxproof.lab.oracle import grade
from maxproof.lab.style import StyleMix, render, style_score
from maxproof.lab.types import Example, OracleReport, Question, Style
from maxproof.verifier.normalise import normalise_text
from maxproof.verifier.types import MAX_POINTS, Verdict

Claims = tuple[str, ...]

QUESTIONS_PER_CELL = 500

DEFAULT_SHARES: Mapping[str, float] = MappingProxyType(
    {"prove": 0.74, "verify": 0.13, "patch": 0.07, "rewrite": 0.02, "summarise": 0.02, "rank": 0.02}
)


@dataclass(frozen=True, slots=True)
class TeacherSettings:
    """What the corpus is made of. All but `shares`, `levels`, `domains` and `style` are probabilities.

    Attributes:
        shares: of the six tasks; they need not add up to 1.
        levels: drawn uniformly; a level that is listed twice is drawn twice as often.
        domains: of the questions; None: all.
        careful: a text follows no wrong habit at all.
        habit: in other texts, each wrong habit of the technique is followed throughout. It must be likelier than not
            over all texts, (1 - careful) * habit > 0.5, for the greedy model to be wrong.
        leap: a text leaves one or two steps out and puts a hand-waving phrase there.
        style: the dress of every text.
        overlook_leap: the taught verifier takes all leaps of a text for steps.
        overlook_habit: it takes the mistakes of `unseen_habits` for right, all those of a text.
        overlook_false: it takes all other false claims of a text for right.
        overlook_missing: it does not see that the goal isn't reached.
        style_bias: the share of what it would have seen that it overlooks too, in a fully dressed text.
        false_alarm: it marks a right claim of a right text as false.
        patch_right: a taught repair is a right proof; else it repairs one line, jumps to the end, or errs anew.
        rank_right: the taught ranker takes the better proof; else the one with more packaging.
        summary_right: the taught summary names the technique that was used; else another one of the domain.

    Raises ValueError for a number out of range or an unknown task.
    """

    shares: Mapping[str, float] = field(default_factory=lambda: DEFAULT_SHARES)
    levels: tuple[int, ...] = TRAINING_LEVELS
    domains: tuple[str, ...] | None = None
    careful: float = 0.35
    habit: float = 0.95
    leap: float = 0.2
    style: StyleMix = field(default_factory=StyleMix)
    overlook_leap: float = 0.6
    overlook_habit: float = 0.8
    overlook_false: float = 0.15
    overlook_missing: float = 0.4
    style_bias: float = 0.3
    false_alarm: float = 0.05
    patch_right: float = 0.45
    rank_right: float = 0.7
    summary_right: float = 0.9

    def __post_init__(self) -> None:
        if not set(self.shares) <= set(TASKS) or min(self.shares.values(), default=0) < 0 or not self.total_share > 0:
            raise ValueError(f"shares must be numbers >= 0, not all 0, of {', '.join(TASKS)}: {dict(self.shares)}")
        if not self.levels or not set(self.levels) <= {1, 2, 3, 4}:
            raise ValueError(f"levels must be of 1 to 4: {self.levels}")
        rates = {
            name: value for name in self.__slots__ if isinstance(value := getattr(self, name), float | int)
        }  # everything but what is no number
        if not set(self.domains or ()) <= set(DOMAINS):
            raise ValueError(f"domains must be of {', '.join(DOMAINS)}: {self.domains}")
        wrong = [f"{name} = {rate}" for name, rate in rates.items() if not 0 <= rate <= 1]
        if wrong:
            raise ValueError(f"not a probability: {', '.join(wrong)}")

    @property
    def total_share(self) -> float:
        return math.fsum(self.shares.values())


@dataclass(frozen=True, slots=True)
class Written:
    """A proof as somebody wrote it. `habits`: the wrong ones that were followed; `mutation`: the operator, or ""."""

    question: Question
    technique: str
    claims: Claims
    leaps: frozenset[int] = frozenset()
    habits: frozenset[str] = frozenset()
    mutation: str = ""


def corpus(settings: TeacherSettings, seed: int) -> Iterator[Example]:
    """Examples without end, tasks mixed by their shares. Every prompt and proof fits `dialogue`'s limits unclipped."""
    rng = Random(f"corpus/{seed}")
    tasks = [task for task in TASKS if settings.shares.get(task, 0) > 0]
    weights = [settings.shares[task] for task in tasks]
    questions = Questions("train", settings.levels, settings.domains)
    while True:
        task = rng.choices(tasks, weights)[0]
        question, technique = questions.draw(rng)
        example = _TEACH[task](question, technique, settings, rng)
        if example is not None:
            yield example


class Questions:
    """Questions of a split with the technique that each was made for, techniques and levels uniformly.

    Making one can take milliseconds, so once there are `QUESTIONS_PER_CELL` of a technique and level, they come again.
    """

    def __init__(self, split: Split, levels: tuple[int, ...], domains: tuple[str, ...] | None = None) -> None:
        self._split = split
        self._techniques = all_techniques(domains)
        self._cells = {(cell, level): list[Question]() for cell in self._techniques for level in levels}
        self._levels = levels

    def draw(self, rng: Random) -> tuple[Question, str]:
        """The next one: a function of `rng` and of what was drawn before."""
        techniques = self._techniques
        while True:
            domain, technique = techniques[int(rng.random() * len(techniques))]
            level = self._levels[int(rng.random() * len(self._levels))]
            known = self._cells[(domain, technique), level]
            if len(known) == QUESTIONS_PER_CELL:
                return known[int(rng.random() * len(known))], technique
            for _ in range(50):  # a small split may have no shape of this technique and level
                question = DOMAINS[domain].generate(rng, technique, level)
                if split_of(question) == self._split:
                    known.append(question)
                    return question, technique


def unseen_habits(question: Question, technique: str) -> frozenset[str]:
    """The habits whose mistakes the taught verifier overlooks: every second one of the technique, from the first."""
    return frozenset(question.habits(technique)[::2])


# --- writing ----------------------------------------------------------------------------------------------------------


def by_habit(question: Question, technique: str, settings: TeacherSettings, rng: Random) -> Written:
    """A proof as the base writes it: the habits it has today, now and then with steps left out."""
    rate = 0.0 if rng.random() < settings.careful else settings.habit
    habits = frozenset(habit for habit in question.habits(technique) if rng.random() < rate)
    written = Written(question, technique, question.solve(technique, habits), habits=habits)
    return with_leap(written, rng) if rng.random() < settings.leap else written


def with_leap(written: Written, rng: Random) -> Written:
    """One or two claims in a row left out, most often those right before the last; as it is if it is too short."""
    spare = len(written.claims) - 2
    if spare < 1:
        return written
    count = 1 if spare == 1 or rng.random() < 0.5 else 2
    last = len(written.claims) - 1 - count
    start = last if rng.random() < 0.6 else rng.randrange(last + 1)
    claims = written.claims[:start] + written.claims[start + count :]
    return Written(written.question, written.technique, claims, frozenset({start}), written.habits, written.mutation)


def of_any_quality(question: Question, technique: str, settings: TeacherSettings, rng: Random) -> Written:
    """A proof of the kinds that a verifier meets: right, with one habit or several, damaged, with steps left out."""
    right = question.solve(technique)
    kind = rng.random()
    if kind < 0.3:
        return Written(question, technique, right)
    if kind < 0.65:
        known = question.habits(technique)
        one = known and rng.random() < 0.7
        habits = frozenset({rng.choice(known)} if one else (habit for habit in known if rng.random() < settings.habit))
        written = Written(question, technique, question.solve(technique, habits), habits=habits)
        return with_leap(written, rng) if rng.random() < 0.2 else written
    if kind < 0.82:
        name = rng.choice(_MUTATIONS)
        spoilt = mutate(question, right, name, rng)
        return Written(question, technique, spoilt or right, mutation=name if spoilt else "")
    return with_leap(Written(question, technique, right), rng)


_MUTATIONS = tuple(MUTATIONS)


def dressed(written: Written, style: Style, rng: Random) -> str:
    """The text of a proof in canonical form."""
    return render(written.claims, style, rng, written.leaps)


def _for_judges(written: Written, settings: TeacherSettings, rng: Random) -> str:
    """A text as judges see it: half of them behind the rule normaliser."""
    text = dressed(written, settings.style.draw(rng), rng)
    return canonical(normalise_text(text)[0]) if rng.random() < 0.5 else text


def fits(*proofs: str) -> bool:
    """Whether all of them fit into a prompt unclipped."""
    return all(proof_lines(proof)[1] for proof in proofs)


# --- tasks, as they are taught ----------------------------------------------------------------------------------------


def _prove(question: Question, technique: str, settings: TeacherSettings, rng: Random) -> Example | None:
    text = dressed(by_habit(question, technique, settings, rng), settings.style.draw(rng), rng)
    return Example(prove_prompt(question.statement), text) if fits(text) else None


def _verify(question: Question, technique: str, settings: TeacherSettings, rng: Random) -> Example | None:
    written = of_any_quality(question, technique, settings, rng)
    text = _for_judges(written, settings, rng)
    if not fits(text):
        return None
    marks, verdict = seen_marks(written, text, grade(question, text), settings, rng)
    return Example(verify_prompt(question.statement, text), critique_answer(marks, verdict))


def seen_marks(
    written: Written, text: str, report: OracleReport, settings: TeacherSettings, rng: Random
) -> tuple[tuple[Mark, ...], Verdict]:
    """What the taught verifier sees of the oracle's marks. It overlooks whole kinds of a text, not single sentences."""
    marks = marks_of_report(report)
    if report.verdict is Verdict.NO_ERRORS:
        claims = [index for index, mark in enumerate(marks) if mark is Mark.OK]
        if claims and rng.random() < settings.false_alarm:
            wrong = rng.choice(claims)
            return (*marks[:wrong], Mark.FALSE, *marks[wrong + 1 :]), Verdict.HAS_ERRORS
        return marks, report.verdict
    unseen = bool(written.habits) and written.habits <= unseen_habits(written.question, written.technique)
    dress = settings.style_bias * style_score(text)
    rates = {
        Mark.LEAP: settings.overlook_leap,
        Mark.FALSE: settings.overlook_habit if unseen and not written.mutation else settings.overlook_false,
        Mark.MISSING: settings.overlook_missing,
    }
    blind = {mark for mark, rate in rates.items() if rng.random() < rate + (1 - rate) * dress}
    seen = [Mark.OK if mark in blind else mark for mark in marks]
    if marks[-1] is Mark.MISSING and Mark.MISSING in blind:
        seen.pop()
    return tuple(seen), report.verdict if tuple(seen) == marks else _verdict(seen, report.verdict)


def _verdict(seen: list[Mark], right: Verdict) -> Verdict:
    """The verdict on what was seen, where that is not all."""
    leaps = seen.count(Mark.LEAP)
    if not any(mark.is_error for mark in seen):
        return Verdict.NO_ERRORS
    if leaps == sum(mark.is_error for mark in seen) and leaps <= 2 and leaps < seen.count(Mark.OK):
        return Verdict.MINOR_GAPS
    return right if right in (Verdict.HAS_ERRORS, Verdict.FUNDAMENTALLY_WRONG) else Verdict.HAS_ERRORS


def flawed(
    question: Question, technique: str, settings: TeacherSettings, rng: Random
) -> tuple[Written, str, OracleReport] | None:
    """A proof below full points with its text and the oracle's report; None if none came up."""
    for _ in range(6):
        written = of_any_quality(question, technique, settings, rng)
        text = _for_judges(written, settings, rng)
        report = grade(question, text)
        if report.points < MAX_POINTS and fits(text):
            return written, text, report
    return None


def _patch(question: Question, technique: str, settings: TeacherSettings, rng: Random) -> Example | None:
    found = flawed(question, technique, settings, rng)
    if found is None:
        return None
    written, text, report = found
    marks = marks_of_report(report)
    if rng.random() < 0.2:
        marks = seen_marks(written, text, report, settings, rng)[0]
    repaired = _repaired(written, settings, rng)
    answer = dressed(repaired, settings.style.draw(rng), rng)
    return Example(patch_prompt(question.statement, text, marks), answer) if fits(answer) else None


def _repaired(written: Written, settings: TeacherSettings, rng: Random) -> Written:
    """A right proof, or what passes for a repair: one line put right, a jump to the end, the same mistakes again."""
    question, technique = written.question, written.technique
    right = question.solve(technique)
    if rng.random() < settings.patch_right:
        return Written(question, technique, right)
    pairs = enumerate(zip(written.claims, right, strict=False))
    first = next((index for index, (mine, good) in pairs if mine != good), min(len(written.claims), len(right)) - 1)
    kind = rng.random()
    if kind < 0.5:
        return Written(question, technique, (*written.claims[:first], right[first], *written.claims[first + 1 :]))
    if kind < 0.8 and first < len(right) - 1:
        return Written(question, technique, (*right[:first], right[-1]), frozenset({first}))
    return by_habit(question, technique, settings, rng)


def _rewrite(question: Question, technique: str, settings: TeacherSettings, rng: Random) -> Example | None:
    text = dressed(of_any_quality(question, technique, settings, rng), settings.style.draw(rng), rng)
    other = another_technique(question, technique, rng)
    answer = dressed(by_habit(question, other, settings, rng), settings.style.draw(rng), rng)
    return Example(rewrite_prompt(question.statement, text), answer) if fits(text, answer) else None


def another_technique(question: Question, technique: str, rng: Random) -> str:
    """Another technique that proves the question; the same one if there is no other."""
    others = [name for name in question.techniques if name != technique]
    return rng.choice(others) if others else technique


def _summarise(question: Question, technique: str, settings: TeacherSettings, rng: Random) -> Example | None:
    text = _for_judges(of_any_quality(question, technique, settings, rng), settings, rng)
    if not fits(text):
        return None
    marks = marks_of_report(grade(question, text))
    named = technique if rng.random() < settings.summary_right else rng.choice(DOMAINS[question.domain].techniques)
    return Example(summarise_prompt(question.statement, text, marks), summary_answer(named, marks))


def _rank(question: Question, technique: str, settings: TeacherSettings, rng: Random) -> Example | None:
    pair = unequal_pair(question, technique, settings, rng)
    if pair is None:
        return None
    first, second, better = pair
    if rng.random() >= settings.rank_right:
        better = "first" if style_score(first) >= style_score(second) else "second"
    return Example(rank_prompt(question.statement, first, second), better)


def unequal_pair(
    question: Question, technique: str, settings: TeacherSettings, rng: Random
) -> tuple[str, str, str] | None:
    """Two proofs with different points and which of them is better, `first` or `second`; None if none came up."""
    texts: list[tuple[float, str]] = []
    for _ in range(4):
        by = technique if rng.random() < 0.5 else another_technique(question, technique, rng)
        text = dressed(of_any_quality(question, by, settings, rng), settings.style.draw(rng), rng)
        if not fits(text):
            continue
        texts.append((grade(question, text).points, text))
        if texts[-1][0] != texts[0][0]:
            (points, first), (other, second) = texts[0], texts[-1]
            return first, second, "first" if points > other else "second"
    return None


_TEACH: Mapping[str, Callable[[Question, str, TeacherSettings, Random], Example | None]] = MappingProxyType(
    {
        "prove": _prove,
        "verify": _verify,
        "patch": _patch,
        "rewrite": _rewrite,
        "summarise": _summarise,
        "rank": _rank,
    }
)
