"""The audit: what would let a submission be accepted without a proof, or reach outside of it.

It reads tokens, so that a word in a comment or a string never counts and no spacing hides one. It stands before the
parser, which refuses most of this too, because its findings say that and why something is a cheat. What it lets
through is checked as a proof in full; the audit isn't what makes the check sound.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from maxproof.formal.solution.types import Finding, SolutionState
from maxproof.formal.syntax.ast import Assume, Datatype, Declaration, FunctionType, NamedType, Position, TupleType, Type
from maxproof.formal.syntax.tokens import Token
from maxproof.formal.syntax.walk import descendants, names_used

# Attributes that a proof may carry: they guide the solver and can't make a false claim provable.
KEPT_ATTRIBUTES: Final = frozenset(("trigger", "induction", "fuel"))
# Harmless ones that no checker gets: limits and strategies are ours, messages are of no use.
DROPPED_ATTRIBUTES: Final = frozenset(
    (
        *("autotriggers", "error", "isolateassertions", "message", "msg", "nowarn", "priority", "resourcelimit"),
        *("rlimit", "splithere", "timelimit", "timelimitmultiplier", "vcsspliton", "vcssplitoneveryassert"),
    )
)

_WORDS: Final = {
    "assume": "an assumption proves nothing: assert it and prove it",
    "expect": "'expect' is checked when a program runs, not proved: assert it and prove it",
    "include": "a submission reads no files; the library's declarations are there without it",
    "import": "a submission reads no modules; the library's declarations are there without it",
    "module": "write the declarations at the top level",
    "export": "write the declarations at the top level",
    "refines": "write the declarations at the top level",
    "print": "a proof prints nothing",
    "method": "a proof runs no code: write a lemma",
    "class": "a proof is made of lemmas and functions",
    "trait": "a proof is made of lemmas and functions",
    "iterator": "a proof is made of lemmas and functions",
    "modify": "a proof has no state",
    "modifies": "a proof has no state",
    "new": "a proof has no state",
    "opaque": "write an ordinary function",
}
_ATTRIBUTES: Final = {
    "axiom": "an axiom is a claim without proof",
    "extern": "an external declaration is a claim without proof",
    "verify": "verification can't be switched off",
    "verifyonly": "verification can't be switched off",
    "only": "verification can't be switched off",
    "startcheckinghere": "verification can't be switched off",
    "selectivechecking": "verification can't be switched off",
    "ignore": "verification can't be switched off",
    "assume": "an assumption proves nothing",
    "termination": "termination must be proved",
    "verification": "verification can't be switched off",
}


def audit_tokens(tokens: Sequence[Token]) -> tuple[Finding, ...]:
    """Findings of state CHEATING, in order; () when nothing is wrong."""
    found: list[Finding] = []
    for index, token in enumerate(tokens):
        following = tokens[index + 1] if index + 1 < len(tokens) else token
        before = tokens[index - 1] if index else None
        if before is not None and before[:2] in (("symbol", "{:"), ("symbol", "@")):
            found.extend(_attribute(before, token))
        elif token.kind == "word" and token.text in _WORDS and not _ghost_method(before, token):
            found.append(_finding(token.text, _WORDS[token.text], token.at))
        elif token[:2] == ("word", "decreases") and following[:2] == ("symbol", "*"):
            found.append(_finding("decreases *", "a proof must end: give a measure", token.at))
        elif token[:2] == ("name", "free") and following.text in ("requires", "ensures", "invariant"):
            found.append(_finding(f"free {following.text}", "a free clause is never checked", token.at))
        elif token[:2] == ("symbol", "..."):
            found.append(_finding("...", "write the proof out", token.at))
    return tuple(found)


def audit_declarations(
    declarations: Sequence[Declaration], reserved: Iterable[str], problem: str
) -> tuple[Finding, ...]:
    """Declarations without a body, and names that belong to the library or the problem.

    Args:
        reserved: names that mustn't be declared again.
        problem: the problem lemma's name, which the submission's version of it may bear.
    """
    taken = frozenset(reserved)
    found: list[Finding] = []
    for declaration in declarations:
        if not isinstance(declaration, Datatype) and declaration.body is None:
            kind = type(declaration).__name__.lower()
            message = f"a {kind} without a body is a claim without proof"
            found.append(_finding(f"{kind} {declaration.name}", message, declaration.at))
        names = [(declaration.name, declaration.at)] if declaration.name != problem else []
        if isinstance(declaration, Datatype):
            names += [(constructor.name, constructor.at) for constructor in declaration.constructors]
        for name, at in names:
            if name in taken or name == problem:
                found.append(_finding(name, "the library or the problem declares this name: choose another", at))
        found.extend(
            _finding(node.keyword, _WORDS[node.keyword], node.at)
            for node in descendants(declaration)
            if isinstance(node, Assume)
        )
    datatypes = [declaration for declaration in declarations if isinstance(declaration, Datatype)]
    return (*found, *_paradoxes(datatypes))


def _paradoxes(datatypes: Sequence[Datatype]) -> Iterable[Finding]:
    """Datatypes that no value has, or that would have as many values as sets or functions of their own values."""
    own = {datatype.name for datatype in datatypes}
    inhabited: set[str] = set()
    while grown := {
        datatype.name
        for datatype in datatypes
        if datatype.name not in inhabited
        and any(
            all(field.type is None or _inhabited(field.type, own - inhabited) for field in constructor.fields)
            for constructor in datatype.constructors
        )
    }:
        inhabited |= grown
    for datatype in datatypes:
        construct = f"datatype {datatype.name}"
        if datatype.name not in inhabited:
            yield _finding(construct, "it has no values: every constructor needs one first", datatype.at)
        for node in descendants(datatype):
            infinite = isinstance(node, FunctionType) or (isinstance(node, NamedType) and node.name == "iset")
            if infinite and names_used(node) & own:
                message = "a datatype can't hold functions or infinite sets of the submission's own datatypes"
                yield _finding(construct, message, node.at)


def _inhabited(type_: Type, empty: set[str]) -> bool:
    """Whether the type has a value if those named `empty` have none."""
    match type_:
        case NamedType():
            return type_.name not in empty
        case TupleType():
            return all(_inhabited(item, empty) for item in type_.items)
        case FunctionType():
            return _inhabited(type_.result, empty)


def _attribute(opening: Token, name: Token) -> Iterable[Finding]:
    folded = name.text.replace("_", "").lower()
    construct = "{:" + name.text + "}" if opening.text == "{:" else f"@{name.text}"
    if name.kind not in ("name", "word"):
        return  # the parser says what is wrong
    if folded in _ATTRIBUTES:
        yield _finding(construct, _ATTRIBUTES[folded], opening.at)
    elif folded not in KEPT_ATTRIBUTES and folded not in DROPPED_ATTRIBUTES:
        allowed = ", ".join("{:" + kept + "}" for kept in sorted(KEPT_ATTRIBUTES))
        yield _finding(construct, f"this attribute isn't allowed; {allowed} are", opening.at)


def _ghost_method(before: Token | None, token: Token) -> bool:
    """`ghost method` is an old name of a lemma, `function method` of a function."""
    words = ("ghost", "function", "predicate")
    return token.text == "method" and before is not None and before.kind == "word" and before.text in words


def _finding(construct: str, why: str, at: Position) -> Finding:
    return Finding(SolutionState.CHEATING, construct, f"'{construct}' is not allowed: {why}", at)
