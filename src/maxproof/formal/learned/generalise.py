"""From the helper lemmas of an accepted solution to lemmas that are worth keeping.

Each helper is taken with what its proof uses, made as general as still proves, and proved again in its final form:

- the proof goes, if the checker needs none;
- preconditions that aren't needed go;
- a number becomes a parameter where the lemma holds for all numbers;
- parameters that nothing uses any more go;
- names become canonical ones, so that two statements of the same thing are one lemma.

A lemma that the library has, that speaks of linear arithmetic only (solvers know that), or whose preconditions
contradict each other is not kept. Every step is judged by the checker; `MAX_CHECKS` bounds them all together.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Final

from maxproof.formal.checkers.types import Checker, CheckState, Limits
from maxproof.formal.guided.retrieval import statement_of, symbols
from maxproof.formal.learned.canonical import statement_key, with_parameters
from maxproof.formal.learned.lemma import (
    MAX_DECLARATIONS,
    LearnedLemma,
    admissible,
    canonical_names,
    leading,
    program_text,
    read_lemma,
)
from maxproof.formal.prelude.assemble import assemble
from maxproof.formal.prelude.load import prelude
from maxproof.formal.problem import FormalProblem
from maxproof.formal.solution.extract import dafny_text
from maxproof.formal.syntax.ast import (
    Apply,
    Binder,
    BoolLiteral,
    Clause,
    Declaration,
    Expr,
    IntLiteral,
    Lemma,
    Name,
    NamedType,
    RealLiteral,
)
from maxproof.formal.syntax.errors import DafnySyntaxError
from maxproof.formal.syntax.parse import parse_submission
from maxproof.formal.syntax.walk import descendants, map_expressions, names_used, rename
from maxproof.problems import InputError

MAX_CHECKS: Final = 40
MAX_HELPERS: Final = 100
MAX_LEARNED: Final = 8
MAX_LITERALS: Final = 4

_Number = int | Fraction


async def learned_from(
    problem: FormalProblem, solution: str, method: str, checker: Checker, limits: Limits
) -> list[LearnedLemma]:
    """The lemmas that an accepted solution teaches, at most `MAX_LEARNED`, all proved by `checker` as they stand.

    The same for the same solution: nothing depends on time, but for checks that a limit ends.
    """
    learner = _Learner(checker, limits)
    found: dict[str, LearnedLemma] = {}
    for declarations in helpers(problem, solution):
        if len(found) == MAX_LEARNED or learner.checks_left <= 0:
            break
        general = await learner.generalised(declarations)
        if general is None:
            continue
        key = statement_key(leading(general))
        final = named(general, key)
        if key not in found and key not in _known() and await learner.proves(final):
            lemma = read_lemma(key, program_text(final), problem.name, method, str(checker.tool))
            if lemma is not None:
                found[key] = lemma
    return list(found.values())


def helpers(problem: FormalProblem, solution: str) -> Iterator[tuple[Declaration, ...]]:
    """Those of a solution's first `MAX_HELPERS` declarations that may be learned, each with what its proof uses."""
    try:
        _, program = parse_submission(dafny_text(solution, problem.name))
    except DafnySyntaxError:
        return
    declared = {declaration.name: declaration for declaration in program.declarations}
    foreign = {problem.name, *(definition.name for definition in problem.definitions)}
    for declaration in program.declarations[:MAX_HELPERS]:
        if declaration.name in foreign or not isinstance(declaration, Lemma):
            continue
        closure = _closure(declaration, declared)
        uses = frozenset(name for member in closure for name in names_used(member))
        if not uses & foreign and admissible(closure) and symbols(statement_of(declaration)):
            yield closure


def named(declarations: tuple[Declaration, ...], key: str) -> tuple[Declaration, ...]:
    """With canonical names: declarations by the key, the lemma's parameters a0, a1, ..."""
    lemma = leading(declarations)
    lemma = with_parameters(lemma, {param.name: f"a{place}" for place, param in enumerate(lemma.params)})
    new = canonical_names(key, len(declarations))
    names = {declaration.name: name for declaration, name in zip(declarations, new, strict=True)}
    return tuple(
        replace(rename(declaration, names), name=names[declaration.name]) for declaration in (lemma, *declarations[1:])
    )


class _Learner:
    """Tries out changes within a number of checks."""

    def __init__(self, checker: Checker, limits: Limits) -> None:
        self._checker = checker
        self._limits = limits
        self.checks_left = MAX_CHECKS

    async def proves(self, declarations: Sequence[Declaration]) -> bool:
        """Whether every declaration is proved; false too once all checks are spent."""
        if self.checks_left <= 0:
            return False
        self.checks_left -= 1
        try:
            task = assemble(declarations, [declaration.name for declaration in declarations])
        except InputError:
            return False
        return (await self._checker.check(task, self._limits)).state is CheckState.PROVED

    async def generalised(self, declarations: tuple[Declaration, ...]) -> tuple[Declaration, ...] | None:
        """The most general form that was found; None for what isn't worth keeping."""
        lemma = leading(declarations)
        others = {declaration.name: declaration for declaration in declarations[1:]}

        async def holds(changed: Lemma) -> bool:
            return await self.proves(_closure(changed, others))

        if not await holds(lemma):
            return None
        if lemma.requires and await self.proves((_contradiction(lemma),)):
            return None
        lemma = await self._first(replace(lemma, body=(), decreases=()), lemma, holds)
        for place in reversed(range(len(lemma.requires))):
            fewer = (*lemma.requires[:place], *lemma.requires[place + 1 :])
            lemma = await self._first(replace(lemma, requires=fewer), lemma, holds)
        for value in _literals(lemma)[:MAX_LITERALS]:
            for whole in (True, False):
                changed = _with_literal_as_parameter(lemma, value, whole)
                if await holds(changed):
                    lemma = changed
                    break
        for param in lemma.params:
            changed = _without_parameter(lemma, param.name)
            if param.name not in names_used(replace(changed, params=())):
                lemma = await self._first(changed, lemma, holds)
        closure = _closure(lemma, others)
        return closure if admissible(closure) and symbols(statement_of(lemma)) else None

    @staticmethod
    async def _first(changed: Lemma, lemma: Lemma, holds: Callable[[Lemma], Awaitable[bool]]) -> Lemma:
        return changed if changed != lemma and await holds(changed) else lemma


def _closure(lemma: Lemma, declared: dict[str, Declaration]) -> tuple[Declaration, ...]:
    """The lemma, then what it uses of `declared`, directly or not, in the order of `declared`.

    More than may be learned with a lemma isn't followed up.
    """
    used: set[str] = set()
    waiting: list[Declaration] = [lemma]
    while waiting and len(used) <= MAX_DECLARATIONS:
        for name in names_used(waiting.pop()):
            if name in declared and name not in used and name != lemma.name:
                used.add(name)
                waiting.append(declared[name])
    return (lemma, *(declaration for name, declaration in declared.items() if name in used))


def _contradiction(lemma: Lemma) -> Lemma:
    """Provable if no values meet the preconditions."""
    return replace(lemma, body=(), ensures=(Clause(BoolLiteral(False)),), decreases=(), attributes=())


def _literals(lemma: Lemma) -> list[_Number]:
    """The numbers in the statement but 0 and 1, in the order in which they stand there."""
    found = (node.value for node in descendants(statement_of(lemma)) if isinstance(node, IntLiteral | RealLiteral))
    return list(dict.fromkeys(value for value in found if value not in (0, 1)))


def _with_literal_as_parameter(lemma: Lemma, value: _Number, whole: bool) -> Lemma:
    """`value` as a new last parameter: everywhere in the lemma if `whole`, else in its statement only."""
    kind = IntLiteral if isinstance(value, int) else RealLiteral
    taken = {*names_used(lemma), *(n.name for n in descendants(lemma) if isinstance(n, Binder | Name))}
    name = next(name for place in range(len(taken) + 1) if (name := f"k{place}") not in taken)

    def change(expression: Expr) -> Expr:
        if isinstance(expression, kind) and expression.value == value:
            return Name(name)
        if isinstance(expression, Apply) and expression.function == Name(lemma.name):
            return replace(expression, args=(*expression.args, Name(name)))
        return expression

    def call(expression: Expr) -> Expr:
        return change(expression) if isinstance(expression, Apply) else expression

    body = replace(lemma, requires=(), ensures=())
    changed_body = map_expressions(body, change if whole else call)
    changed = map_expressions(replace(lemma, body=None, decreases=()), change)
    type_ = NamedType("int" if kind is IntLiteral else "real")
    return replace(
        changed,
        params=(*lemma.params, Binder(name, type_)),
        body=changed_body.body,
        decreases=changed_body.decreases,
    )


def _without_parameter(lemma: Lemma, name: str) -> Lemma:
    """Without that parameter, and without its argument where the lemma calls itself."""
    place = [param.name for param in lemma.params].index(name)

    def change(expression: Expr) -> Expr:
        if isinstance(expression, Apply) and expression.function == Name(lemma.name) and len(expression.args) > place:
            return replace(expression, args=(*expression.args[:place], *expression.args[place + 1 :]))
        return expression

    changed = map_expressions(lemma, change)
    return replace(changed, params=(*lemma.params[:place], *lemma.params[place + 1 :]))


@cache
def _known() -> frozenset[str]:
    """The statements of the library."""
    return frozenset(statement_key(lemma) for lemma in prelude().library.lemmas)
