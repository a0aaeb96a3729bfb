"""The program that is checked for a submission: our copy of the problem's lemma, with what was submitted as its proof.

    lemma L(x: int) requires P(x) ensures Q(x) { submitted_L(x); }    // our copy: the checker proves the implication
    lemma submitted_L(y: int) requires ... ensures ... { ... }        // what was submitted
    ...                                                               // its helper lemmas and functions

A body without a heading becomes the body of our copy. Nothing of the statement is ever taken from the submission, so
nothing in it can weaken the question. Every declaration of the submission is a target: helpers are proved and must end.
So are the problem's definitions: with a wrong contract among them anything could be proved.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from maxproof.formal.prelude.load import prelude
from maxproof.formal.problem import FormalProblem
from maxproof.formal.solution.audit import KEPT_ATTRIBUTES, audit_declarations, audit_tokens
from maxproof.formal.solution.extract import dafny_text
from maxproof.formal.solution.types import Finding, SolutionState
from maxproof.formal.syntax.ast import (
    NOWHERE,
    Apply,
    Assign,
    Attribute,
    Binder,
    BoolLiteral,
    CallStmt,
    Clause,
    Datatype,
    Declaration,
    Lemma,
    Name,
    Node,
    Position,
    Program,
    Stmt,
)
from maxproof.formal.syntax.errors import DafnySyntaxError
from maxproof.formal.syntax.parse import parse_submission
from maxproof.formal.syntax.tokens import tokenize
from maxproof.formal.syntax.walk import children, fields, moved, names_used, rename
from maxproof.problems.errors import nearest

MAX_CHARACTERS: Final = 200_000
# The problem's own places get this added to their lines: no submission has as many.
PROBLEM_LINES: Final = 10_000_000


@dataclass(frozen=True, slots=True)
class Wrapped:
    """What to check.

    Attributes:
        declarations: the problem's and the submission's. Places of the problem's are moved by `PROBLEM_LINES`.
        targets: what must be proved: the problem's definitions, everything submitted, and our copy of the lemma.
        lemma: the problem lemma's name.
        submitted: the name that the submitted lemma got; "" when a body alone was submitted.
    """

    declarations: tuple[Declaration, ...]
    targets: tuple[str, ...]
    lemma: str
    submitted: str = ""

    @property
    def own_lemmas(self) -> tuple[str, ...]:
        """The submission's lemmas, then our copy of the problem's."""
        lemmas = [each for each in self.declarations if isinstance(each, Lemma) and each.name != self.lemma]
        return (*(each.name for each in lemmas if each.at.line <= PROBLEM_LINES), self.lemma)

    def absurd(self, names: Collection[str]) -> tuple[Declaration, ...]:
        """The declarations, where the lemmas in `names` conclude `false`; their bodies stay."""
        return tuple(
            replace(each, ensures=(Clause(BoolLiteral(False)),))
            if isinstance(each, Lemma) and each.name in names
            else each
            for each in self.declarations
        )


def wrap(problem: FormalProblem, text: str) -> Wrapped | tuple[Finding, ...]:
    """The program for a submission, or why it is refused before any check. Never raises for what `text` is."""
    if len(text) > MAX_CHARACTERS:
        message = f"{len(text):,} characters; at most {MAX_CHARACTERS:,} are read"
        return (Finding(SolutionState.MALFORMED, "", message, Position(1, 1)),)
    dafny = dafny_text(text, problem.name)
    try:
        tokens = tokenize(dafny)
        if findings := audit_tokens(tokens):
            return findings
        if len(tokens) == 1:
            message = "nothing is submitted: expected a body or the lemma"
            return _refused(SolutionState.MALFORMED, "", message, Position(1, 1))
        body, program = parse_submission(dafny)
    except DafnySyntaxError as error:
        state = SolutionState.UNSUPPORTED if error.message.startswith("not supported") else SolutionState.MALFORMED
        return _refused(state, "", error.message, error.at)
    if findings := audit_declarations(program.declarations, _reserved(problem), problem.name):
        return findings
    program = cast(Program, _kept(program))
    statement = moved(cast(Lemma, _kept(problem.lemma)), _moved)
    definitions = tuple(moved(definition, _moved) for definition in problem.definitions)
    if body is not None:
        return _with_body(problem, statement, definitions, _kept(body), program)
    return _with_lemma(problem, statement, definitions, program)


def _with_body(
    problem: FormalProblem,
    statement: Lemma,
    definitions: tuple[Declaration, ...],
    body: tuple[Stmt, ...],
    program: Program,
) -> Wrapped | tuple[Finding, ...]:
    for declaration in program.declarations:
        if declaration.name == problem.name:
            message = "both a body and the lemma are submitted: expected one of them"
            return _refused(SolutionState.MALFORMED, problem.name, message, declaration.at)
    ours = replace(statement, body=body)
    given = (*definitions, *program.declarations)
    return Wrapped((*given, ours), (*_targets(given), ours.name), ours.name)


def _with_lemma(
    problem: FormalProblem, statement: Lemma, definitions: tuple[Declaration, ...], program: Program
) -> Wrapped | tuple[Finding, ...]:
    names = [declaration.name for declaration in program.declarations]
    if problem.name not in names:
        at = program.declarations[0].at if program.declarations else NOWHERE
        hint = nearest(problem.name, names)
        message = f"no lemma '{problem.name}' is submitted" + (f": found '{hint.split()[-1]}'" if hint else "")
        return _refused(SolutionState.MALFORMED, problem.name, message, at)
    theirs = program[problem.name]
    if not isinstance(theirs, Lemma):
        message = f"'{problem.name}' must be a lemma"
        return _refused(SolutionState.STATEMENT, problem.name, message, theirs.at)
    for what, ours_has, theirs_has in (
        ("parameters", statement.params, theirs.params),
        ("results", statement.results, theirs.results),
    ):
        if len(ours_has) != len(theirs_has):
            message = f"the submitted lemma has {len(theirs_has)} {what}, the problem has {len(ours_has)}"
            return _refused(SolutionState.STATEMENT, problem.name, message, theirs.at)
    fresh = _fresh_name(problem, program)
    declarations = tuple(
        replace(renamed, name=fresh) if declaration is theirs else renamed
        for declaration in program.declarations
        for renamed in (rename(declaration, {problem.name: fresh}),)
    )
    ours = replace(statement, body=_call(statement, fresh), attributes=(Attribute("induction", (BoolLiteral(False),)),))
    given = (*definitions, *declarations)
    return Wrapped((*given, ours), (*_targets(given), ours.name), ours.name, fresh)


def _call(statement: Lemma, name: str) -> tuple[Stmt, ...]:
    at = statement.at
    call = Apply(Name(name, at=at), tuple(Name(param.name, at=param.at) for param in statement.params), at=at)
    if statement.results:
        return (Assign(tuple(result.name for result in statement.results), (call,), at=at),)
    return (CallStmt(call, at=at),)


def _targets(declarations: Iterable[Declaration]) -> tuple[str, ...]:
    return tuple(declaration.name for declaration in declarations if not isinstance(declaration, Datatype))


def _reserved(problem: FormalProblem) -> frozenset[str]:
    known = prelude()
    declarations = (*known.definitions.declarations, *known.library.declarations, *problem.definitions)
    names = {declaration.name for declaration in declarations}
    for declaration in declarations:
        if isinstance(declaration, Datatype):
            names.update(constructor.name for constructor in declaration.constructors)
    return frozenset(names)


def _fresh_name(problem: FormalProblem, program: Program) -> str:
    taken = set(_reserved(problem)) | {problem.name} | _all_names(problem.lemma)
    for declaration in program.declarations:
        taken |= {declaration.name} | _all_names(declaration)
    name = f"submitted_{problem.name}"
    while name in taken:
        name += "'"
    return name


def _all_names(node: Node) -> set[str]:
    """Every name in it, free or bound."""
    found = set(names_used(node))
    waiting: list[Node] = [node]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, Binder):
            found.add(inner.name)
        waiting.extend(children(inner))
    return found


def _moved(at: Position) -> Position:
    return Position(at.line + PROBLEM_LINES, at.column)


def _kept(value: Any) -> Any:
    """`value` without the attributes that no checker gets; `@Trigger` in the form that all of them read."""
    if isinstance(value, tuple):
        dropped = [isinstance(item, Attribute) and _attribute(item) is None for item in value]
        return tuple(_kept(item) for item, drop in zip(value, dropped, strict=True) if not drop)
    if isinstance(value, Attribute):
        value = _attribute(value)
    if not isinstance(value, Node | Program):
        return value
    changes = {}
    for field in fields(type(value)):
        inner = getattr(value, field)
        if isinstance(inner, Node) or (isinstance(inner, tuple) and inner):
            changes[field] = _kept(inner)
    return replace(value, **changes)


def _attribute(attribute: Attribute) -> Attribute | None:
    name = attribute.name.lower()
    return replace(attribute, name=name, form="brace") if name in KEPT_ATTRIBUTES else None


def _refused(state: SolutionState, construct: str, message: str, at: Position) -> tuple[Finding, ...]:
    return (Finding(state, construct, message, at),)
