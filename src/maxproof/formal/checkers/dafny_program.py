"""What an installed Dafny is given: our own printing of the program, with everything that is no target trusted.

A lemma that is no target is printed without its body as an axiom; a function keeps its body. Neither is verified, the
specification of an axiom included, which Dafny would otherwise check for being well-formed. What could
switch off the verification of a target from within is refused here, whoever made the program.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from maxproof.formal.checkers.types import CheckTask
from maxproof.formal.syntax.ast import (
    NOWHERE,
    Assume,
    Attribute,
    BoolLiteral,
    Datatype,
    Declaration,
    ForallStmt,
    Function,
    Lemma,
    Position,
    Program,
)
from maxproof.formal.syntax.dialect import Dialect
from maxproof.formal.syntax.printed import Printed
from maxproof.formal.syntax.printer import print_declaration, print_program
from maxproof.formal.syntax.walk import descendants

_AXIOM: Final = Attribute("axiom")
_UNVERIFIED: Final = Attribute("verify", (BoolLiteral(False),))
# Attributes that can only help or hinder the solver. Any other one in a target is refused.
_HARMLESS: Final = frozenset(
    (
        *("trigger", "autotriggers", "induction", "inductionTrigger", "fuel", "opaque", "nowarn", "subsumption"),
        *("split_here", "isolate_assertions", "vcs_split_on_every_assert", "priority"),
        *("timeLimit", "timeLimitMultiplier", "rlimit", "resource_limit"),
    )
)


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a program is not given to Dafny: one line."""

    reason: str
    at: Position = NOWHERE


@dataclass(frozen=True, slots=True)
class DafnyProgram:
    """A printed program.

    Attributes:
        starts: for each declaration the line where it starts, 1-based, ascending, with its name.
        lemmas, functions: the targets by kind.
        must_show: the lemmas among them that have something to show (an `ensures`).
    """

    printed: Printed
    starts: tuple[tuple[int, str], ...]
    lemmas: frozenset[str]
    functions: frozenset[str]
    must_show: frozenset[str]

    @property
    def text(self) -> str:
        return self.printed.text

    @property
    def targets(self) -> frozenset[str]:
        return self.lemmas | self.functions

    def declared_at(self, line: int) -> str:
        """The name of the declaration that holds that line; "" before the first."""
        return next((name for start, name in reversed(self.starts) if start <= line), "")

    def line(self, line: int) -> str:
        """A line of the text without its indentation; "" if there is none."""
        lines = self.text.split("\n")
        return lines[line - 1].strip() if 1 <= line <= len(lines) else ""


def dafny_program(task: CheckTask, dialect: Dialect) -> DafnyProgram | Refused:
    """The text for `task`, or why there is none."""
    targets = frozenset(task.targets)
    declared = {declaration.name: declaration for declaration in task.program.declarations}
    if not targets:
        return Refused("there is nothing to verify")
    if unknown := sorted(targets - declared.keys()):
        return Refused(f"there is no declaration of {unknown[0]}")
    for name in task.targets:
        refused = _refused(declared[name])
        if refused is not None:
            return refused
    trusted = tuple(d if d.name in targets else _trusted(d) for d in task.program.declarations)
    try:
        printed = print_program(Program(trusted), dialect)
        starts, line = [], 1
        for declaration in trusted:
            starts.append((line, declaration.name))
            line += print_declaration(declaration, dialect).count("\n") + 1
    except ValueError as error:  # a tree that no text could have given
        return Refused(f"the program can't be printed: {error}")
    except RecursionError:
        return Refused("the program is nested too deeply")
    lemmas = [declared[name] for name in targets if isinstance(declared[name], Lemma)]
    return DafnyProgram(
        printed=printed,
        starts=tuple(starts),
        lemmas=frozenset(lemma.name for lemma in lemmas),
        functions=frozenset(name for name in targets if isinstance(declared[name], Function)),
        must_show=frozenset(lemma.name for lemma in lemmas if isinstance(lemma, Lemma) and lemma.ensures),
    )


def _refused(target: Declaration) -> Refused | None:
    if isinstance(target, Datatype):
        return Refused(f"{target.name} is a datatype: there is nothing to verify", target.at)
    if target.body is None:
        return Refused(f"{target.name} has no body", target.at)
    for node in descendants(target):
        match node:
            case Attribute() if node.name not in _HARMLESS:
                return Refused(f"not supported: the attribute {node.name} in {target.name}", node.at)
            case Assume():
                return Refused(f"not supported: {node.keyword} in {target.name}", node.at)
            case ForallStmt(body=None):
                return Refused(f"not supported: a forall statement without a body in {target.name}", node.at)
    return None


def _trusted(declaration: Declaration) -> Declaration:
    kept = tuple(a for a in declaration.attributes if a.name not in ("axiom", "verify"))
    match declaration:
        case Lemma():
            return replace(declaration, body=None, attributes=(_AXIOM, _UNVERIFIED))
        case Function(body=None):
            return replace(declaration, attributes=(_AXIOM, _UNVERIFIED, *kept))
        case Function():
            return replace(declaration, attributes=(_UNVERIFIED, *kept))
    return declaration
