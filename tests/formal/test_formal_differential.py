"""The embedded checker against running what it accepts: programs made at random, with proofs, helper lemmas, recursion.

A program that is accepted must have no false claim, no undefined operation and no call that doesn't get smaller at any
of the values tried. The values, the operations and the runs are this folder's own (`formal_lemmas*`).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

pytest.importorskip("z3")
from formal_lemma_laws import renamed
from formal_lemma_maker import Maker
from formal_lemma_programs import Lemma, Program, Run, faults, satisfied, values
from formal_lemmas import Env, Fault, Tree, Undefined, Unknown, truth

from maxproof.formal.checkers.types import CheckState, CheckTask, Limits, ObligationState
from maxproof.formal.embedded.checker import check_here
from maxproof.formal.embedded.errors import ResolutionError, Unsupported
from maxproof.formal.embedded.evaluate.evaluator import Budget
from maxproof.formal.embedded.falsify.search import falsify
from maxproof.formal.embedded.obligations import obligations
from maxproof.formal.embedded.resolve.program import resolve
from maxproof.formal.embedded.settle import Settler
from maxproof.formal.prelude.assemble import assemble
from maxproof.formal.syntax.parse import parse_program

LIMITS = Limits(resource=60_000, seconds=1.0)
FALSE: Tree = ("lit", False)


def task(program: Program) -> CheckTask:
    declarations = parse_program(program.text).declarations
    return assemble(declarations, [declaration.name for declaration in declarations])


def state(program: Program) -> CheckState:
    return check_here(task(program), LIMITS).state


def hold(seed: str, count: int, bodies: float) -> Counter[CheckState]:
    """Checks `count` programs; those that are accepted are run."""
    states: Counter[CheckState] = Counter()
    for number in range(count):
        program = Maker(f"{seed}.{number}").program(bodies)
        verdict = state(program)
        states[verdict] += 1
        assert verdict is not CheckState.TOOL_ERROR
        if verdict is CheckState.PROVED:
            wrong = list(faults(program, f"{seed}.{number}"))
            assert not wrong, f"accepted, but {wrong[0]}:\n{program.text}"
    return states


def test_statements_that_are_accepted_hold() -> None:
    states = hold("statements", 100, bodies=0.0)
    assert states[CheckState.PROVED] > 20
    assert states[CheckState.FAILED] > 15


def test_proofs_that_are_accepted_hold() -> None:
    states = hold("proofs", 60, bodies=1.0)
    assert states[CheckState.PROVED] > 8
    assert states[CheckState.FAILED] > 15


def counterexample(lemma: Lemma, seed: str, runs: int = 80) -> Env | None:
    """Values that meet the preconditions and not the postcondition."""
    source = random.Random(seed)
    for _ in range(runs):
        env = {name: source.choice(values(sort)) for name, sort in lemma.params}
        try:
            if all(truth(clause, env) is True for clause in lemma.requires) and truth(lemma.ensures[0], env) is False:
                return env
        except (Undefined, Unknown):
            continue
    return None


def at_values(seed: str, env: Env, source: random.Random) -> Iterator[Tree]:
    """Hypotheses that hold at `env`: what the values are, and laws that happen to hold."""
    for name, v in env.items():
        if isinstance(v, int) and source.random() < 0.5:
            yield (source.choice(("==", "<=", ">=")), ("var", name), ("lit", v))
    for number in range(12):
        tree = Maker(f"{seed}.{number}").claim(0.3)
        try:
            if source.random() < 0.3 and truth(tree, env) is True:
                yield tree
        except (KeyError, Undefined, TypeError):  # of other variables, undefined there, or of the wrong type
            continue


def keep_counterexamples(seed: str, count: int) -> int:
    """No hypothesis that holds at a counterexample makes a false lemma proved, in any order, under other names."""
    source, told = random.Random(seed), 0
    for number in range(count):
        maker = Maker(f"{seed}.{number}")
        lemma = maker.program(0.0).lemmas[0]
        try:
            env = counterexample(lemma, f"{seed}.{number}")
        except TypeError:  # ill-formed
            continue
        if env is None:
            continue
        told += 1
        more = [*lemma.requires, *at_values(f"{seed}.more.{number}", env, source)]
        source.shuffle(more)
        names = {name: source.choice((name, f"{name}1", "k" if name == "a" else name)) for name, _ in lemma.params}
        other = replace(
            lemma,
            params=tuple((names[name], sort) for name, sort in lemma.params),
            requires=tuple(renamed(clause, names) for clause in more),
            ensures=tuple(renamed(clause, names) for clause in lemma.ensures),
        )
        assert state(Program((other,))) is not CheckState.PROVED, f"false at {env}:\n{other.text}"
    return told


def test_hypotheses_that_hold_at_a_counterexample_dont_prove_it_away() -> None:
    assert keep_counterexamples("false", 120) > 20


def no_contradictions(seed: str, count: int) -> int:
    """False doesn't follow from hypotheses that some values meet."""
    told = 0
    for number in range(count):
        maker = Maker(f"{seed}.{number}")
        requires = tuple(maker.claim(0.4) for _ in range(maker.random.choice((1, 2, 2, 3))))
        lemma = Lemma("l", maker.parameters(*requires), requires, (FALSE,), ())
        try:
            env = satisfied(lemma, f"{seed}.{number}", 40)
        except TypeError:
            continue
        if env is not None:
            told += 1
            assert state(Program((lemma,))) is not CheckState.PROVED, f"met at {env}:\n{lemma.text}"
    return told


def test_false_does_not_follow_from_what_can_be_met() -> None:
    assert no_contradictions("contradiction", 60) > 30


def test_what_is_proved_step_by_step_has_no_counterexample() -> None:
    """Each obligation on its own, also those of programs that fail: searched for counterexamples with other seeds."""
    assert single_obligations("single", 30) > 30


def single_obligations(seed: str, count: int) -> int:
    told = 0
    for number in range(count):
        asked = task(Maker(f"{seed}.{number}").program(1.0))
        try:
            core = resolve(asked.program, asked.targets)
            posed = [o for target in asked.targets for o in obligations(core, target)]
        except (ResolutionError, Unsupported):
            continue
        settler = Settler(core, asked.targets)
        for obligation in posed:
            if settler.settle(obligation, LIMITS).state is ObligationState.PROVED:
                told += 1
                found = falsify(obligation, core, Budget(steps=30_000), seed=7)
                assert found is None, f"{obligation.text} at {found}\n{Maker(f'{seed}.{number}').program(1.0).text}"
    return told


def test_the_runs_find_faults() -> None:
    """Runs that find nothing would let everything pass."""
    x: Tree = ("var", "a")
    wrong = {
        "claim": ((), ("<", x, ("lit", 3)), ()),
        "divisor": ((), ("==", ("/", x, x), ("/", x, x)), ()),
        "assertion": ((), (">=", ("*", x, x), ("lit", 0)), (("assert", (">", x, ("lit", 0))),)),
        "case": ((), ("==", x, x), (("cases", ((">", x, ("lit", 0)), ()), (("<", x, ("lit", 0)), ())),)),
        "recursion": ((), ("==", x, x), (("lemma", None, "l", (("+", x, ("lit", 1)),)),)),
        "hint": ((), ("==", x, x), (("by", ("==", x, x), (("assert", FALSE),)),)),
    }
    for requires, ensures, body in wrong.values():
        program = Program((Lemma("l", (("a", "int"),), requires, (ensures,), body),))
        assert list(faults(program, "run"))
        assert state(program) is CheckState.FAILED
    fine = Program((Lemma("l", (("a", "int"),), ((">", x, ("lit", 0)),), ((">=", x, ("lit", 1)),), ()),))
    assert not list(faults(fine, "run"))
    with pytest.raises(Fault):
        Run(Lemma("l", (), (), (FALSE,), ()), {}, {}, random.Random(0)).whole()


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_many_programs_that_are_accepted_hold(part: int) -> None:
    hold(f"programs{part}", 600, bodies=0.6)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_many_false_lemmas_stay_unproved(part: int) -> None:
    keep_counterexamples(f"false{part}", 800)
    no_contradictions(f"contradiction{part}", 800)
    single_obligations(f"single{part}", 300)
