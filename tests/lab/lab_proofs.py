"""What the tests of all domains share: questions by cell, and a domain's laws."""

from random import Random

from maxproof.lab.oracle import grade
from maxproof.lab.types import Domain, Judgement, Question, StepVerdict
from maxproof.verifier.types import Verdict


def question(domain: Domain, technique: str, level: int, seed: int) -> Question:
    return domain.generate(Random(seed), technique, level)


def points(asked: Question, *claims: str) -> float:
    return grade(asked, "\n".join(claims)).points


def verdicts(asked: Question, *claims: str) -> list[StepVerdict]:
    return [sentence.verdict for sentence in grade(asked, "\n".join(claims)).sentences]


def judged(asked: Question, claims: tuple[str, ...]) -> list[Judgement | None]:
    """Each claim judged after those before it; None where it can't be read."""
    state = asked.start()
    found = []
    for claim in claims:
        judgement = asked.judge(state, claim)
        found.append(judgement)
        if judgement is not None:
            state = judgement.state
    return found


def check_question(domain: Domain, technique: str, level: int, seed: int) -> None:
    """What holds of every question a domain generates."""
    asked = question(domain, technique, level, seed)
    assert asked == question(domain, technique, level, seed)
    assert domain.read(asked.statement) == asked
    assert (asked.domain, asked.techniques[0], asked.level) == (domain.name, technique, level)
    for each in asked.techniques:
        right = asked.solve(each)
        report = grade(asked, "\n".join(right))
        assert (report.points, report.verdict) == (7, Verdict.NO_ERRORS), (asked.statement, right, report)
        for index in range(len(right)):
            _check_dropped(asked, right[:index] + right[index + 1 :])
        for habit in asked.habits(each):
            wrong = asked.solve(each, frozenset({habit}))
            assert wrong == right or points(asked, *wrong) < 7, (asked.statement, habit, wrong)
        everything = asked.solve(each, frozenset(asked.habits(each)))
        assert everything == right or points(asked, *everything) < 7


def check_variety(domain: Domain, technique: str) -> None:
    """A technique's questions have many structures, and each of its habits changes some solution."""
    questions = [question(domain, technique, level, seed) for level in (1, 2, 3, 4) for seed in range(10)]
    assert len({each.structure for each in questions}) >= 20
    for habit in questions[0].habits(technique):
        assert any(each.solve(technique, frozenset({habit})) != each.solve(technique) for each in questions)


def _check_dropped(asked: Question, claims: tuple[str, ...]) -> None:
    """A proof without one of its claims costs points, or each claim that is left still follows."""
    report = grade(asked, "\n".join(claims))
    complete = report.goal and all(sentence.verdict is StepVerdict.VALID for sentence in report.sentences)
    assert (report.points == 7) == complete
