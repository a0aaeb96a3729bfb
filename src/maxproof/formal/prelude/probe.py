"""Does false follow? Lemmas that are true only if the prelude contradicts itself, which no checker may prove.

A contradiction in an axiom shows where its terms occur, inside its domain or outside of it. So the probes are: for each
function, its values at chosen points (on and off every domain) and at unknown arguments; each axiom, each group of them
and all together, at those points where their preconditions hold; and terms by which published preludes of this kind
prove false. A probe claims that some of the terms equal values it knows nothing of: unlike a bare `false`, that
gives no checker a reason to drop the terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Final

from maxproof.formal.prelude.load import prelude
from maxproof.formal.syntax.ast import (
    Apply,
    Binary,
    Binder,
    Block,
    CallStmt,
    Clause,
    Comparison,
    Declaration,
    Expr,
    Function,
    FunctionType,
    IfStmt,
    Lemma,
    LetExpr,
    Name,
    NamedType,
    Stmt,
    Type,
)
from maxproof.formal.syntax.parse import parse_expression
from maxproof.formal.syntax.walk import names_used

# Arguments by type, the most telling first. Single letters are parameters of the probe: unknown values.
_POINTS: Final[dict[str, tuple[str, ...]]] = {
    "int": ("-1", "0", "n", "1", "2", "-3", "5"),
    "real": ("-1.0", "0.0", "x", "0.5", "2.0", "1.0", "-0.5"),
    "complex": ("Complex(0.0, 0.0)", "z", "Complex(-1.0, 2.0)"),
    "seq<int>": ("[]", "[1, 1]", "q", "[-1, 0, 7]"),
    "set<int>": ("{}", "{1, 1}", "s", "{-1, 0, 7}"),
    "set<real>": ("{}", "{0.5, 0.5}", "t", "{-1.0, 0.0}"),
    "int -> int": ("((k: int) => k)", "f", "((k: int) => -1)"),
    "int -> real": ("((k: int) => k as real)", "u", "((k: int) => 0.0)"),
    "int -> complex": ("((k: int) => Complex(k as real, 1.0))", "c"),
    "real -> real": ("((r: real) => r * r)", "g"),
}
_PARAMS: Final = {
    "n": "int",
    "x": "real",
    "z": "complex",
    "q": "seq<int>",
    "s": "set<int>",
    "t": "set<real>",
    "f": "int -> int",
    "u": "int -> real",
    "c": "int -> complex",
    "g": "real -> real",
}
_COMBINATIONS: Final = 12  # of points, for one function or lemma

# Terms (with their types) that prove false in published preludes of this kind, or that definitions easily get wrong.
_TERMS: Final[dict[str, tuple[str, ...]]] = {
    "log_of_negative": ("log(-1.0): real", "exp(log(-1.0)): real"),
    "log_of_zero": ("log(0.0): real", "exp(log(0.0)): real", "log(1.0): real"),
    "logb_of_zero": ("logb(2.0, 0.0): real", "logb(2.0, 1.0): real"),
    "logb_below_one": ("logb(0.5, 2.0): real", "logb(0.5, 0.5): real", "logb(1.0, 2.0): real", "logb(0.0, 2.0): real"),
    "sqrt_of_negative": ("sqrt(-1.0) * sqrt(-1.0): real", "sqrt(-1.0 * -1.0): real", "sqrt(0.0): real"),
    "power_of_negative": ("rpow(-1.0, 0.5) * rpow(-1.0, 0.5): real", "rpow(-1.0, 1.0): real", "rpow(0.0, 0.0): real"),
    "power_of_zero": ("rpow(0.0, -1.0): real", "zpow(0.0, -1): real", "pow(0.0, 0): real", "ipow(0, -2): int"),
    "quotient_by_zero": ("rdiv(1.0, 0.0): real", "rdiv(0.0, 0.0) * 0.0: real", "idiv(7, 0): int", "imod(7, 0): int"),
    "inverse_of_zero": ("cmul(cinv(Complex(0.0, 0.0)), z): complex", "cdiv(z, Complex(0.0, 0.0)): complex"),
    "products_of_fractions": ("ratio(1, 2) * ratio(2, 1): real", "ratio(2, 2): real", "ratio(1, 0): real"),
    "equal_fractions": ("rat_den(ratio(2, 4)): int", "rat_num(ratio(0, 4)): int", "rat_den(ratio(1, 2)): int"),
    "parts_of_irrational": ("rat_num(sqrt(2.0)): int", "rat_den(pi()): int", "rat_num(x): int", "rat_den(x): int"),
    "sums_with_duplicates": ("seq_isum([1, 1]): int", "set_isum({1, 1}, (k: int) => k): int", "seq_isum([1]): int"),
    "sums_over_nothing": ("set_isum({}, f): int", "set_iprod({}, f): int", "isum(5, 0, f): int", "seq_isum([]): int"),
    "divisors_of_zero": (
        "divisors(0): set<int>",
        "1 in divisors(0): bool",
        "|divisors(0)|: int",
        "divisors(6): set<int>",
    ),
    "digits_in_small_bases": ("digits(0, 5): seq<int>", "digits(1, 3): seq<int>", "digits(-2, 9): seq<int>"),
    "digits_of_negative": (
        "digits(10, -5): seq<int>",
        "of_digits(0, [1, 1]): int",
        "of_digits(10, digits(10, -5)): int",
    ),
    "factorial_of_negative": ("factorial(-3): int", "factorial(-2): int", "choose(-1, 0): int", "choose(0, -1): int"),
    "gcd_of_zeros": ("gcd(0, 0): int", "lcm(0, 0): int", "gcd(-4, 6): int", "divides(0, 0): bool", "prime(1): bool"),
    "limit_beyond_domain": ("eventually_within(u, u(0), -1.0): bool", "within_from(u, u(0), 0.0, -5): bool"),
    "limits": ("tends_to(u, u(0)): bool", "tends_to(u, x): bool"),
    "limit_at_point": ("has_limit(g, 0.0, g(0.0)): bool", "within_near(g, 0.0, g(0.0), -1.0, 0.0): bool"),
    "tangent_at_pole": ("tan(pi() / 2.0): real", "cos(pi() / 2.0): real", "sin(-pi()): real", "tan(0.0): real"),
}


@dataclass(frozen=True, slots=True)
class Probe:
    """A lemma, named after what it asks.

    Attributes:
        group: the axioms' group or `all`; `definitions` for functions one by one, `terms` for the listed terms.
    """

    group: str
    lemma: Lemma

    @property
    def name(self) -> str:
        return self.lemma.name


def probes() -> tuple[Probe, ...]:
    """All probes, in a fixed order. None of their lemmas is a theorem unless the prelude contradicts itself."""
    known = prelude()
    functions = [d for d in known.definitions.declarations if isinstance(d, Function)]
    found = [Probe("definitions", _probe(f"probe_{f.name}", _values(f))) for f in functions]
    declared = {d.name: d for d in (*known.definitions.declarations, *known.library.declarations)}
    axioms = {axiom.name: axiom.group for axiom in known.axioms}
    for name, group in axioms.items():
        if isinstance(lemma := declared[name], Lemma):
            found.append(Probe(group, _probe(f"probe_axiom_{name}", (), _facts(lemma))))
    for group in dict.fromkeys(axioms.values()):
        members = [declared[name] for name in axioms if axioms[name] == group]
        found.append(Probe(group, _together(f"probe_group_{group}", members, 4)))
    found.append(Probe("all", _together("probe_all_axioms", [declared[name] for name in axioms], 2)))
    for name, texts in _TERMS.items():
        parts = (text.rsplit(": ", 1) for text in texts)
        terms = ((parse_expression(term), _type(type_)) for term, type_ in parts)
        found.append(Probe("terms", _probe(f"probe_{name}", terms)))
    return tuple(found)


def _together(name: str, axioms: Sequence[Declaration], limit: int) -> Lemma:
    """One probe with `limit` values of each function and as many calls of each lemma among `axioms`."""
    values = (value for axiom in axioms if isinstance(axiom, Function) for value in _values(axiom, limit))
    facts = (fact for axiom in axioms if isinstance(axiom, Lemma) for fact in _facts(axiom, limit))
    return _probe(name, values, facts)


def _probe(name: str, terms: Iterable[tuple[Expr, Type]], facts: Iterable[Stmt] = ()) -> Lemma:
    """`lemma name(..., w0: bool, w1: T, ...) ensures w0 || term1 == w1 || ... { facts }`."""
    body = tuple(facts)
    unknown = [Binder("w0", NamedType("bool"))]
    claim: Expr = Name("w0")
    for count, (term, type_) in enumerate(terms, 1):
        unknown.append(Binder(f"w{count}", type_))
        claim = Binary("||", claim, Comparison((term, Name(f"w{count}")), ("==",)))
    lemma = Lemma(name, (), body, ensures=(Clause(claim),))
    used = names_used(lemma)
    params = [Binder(param, _type(type_)) for param, type_ in _PARAMS.items() if param in used]
    return replace(lemma, params=(*params, *unknown))


def _type(text: str) -> Type:
    """The type that `text` writes: one of the keys of the points."""
    if " -> " in text:
        source, result = text.split(" -> ")
        return FunctionType((NamedType(source),), NamedType(result))
    if "<" in text:
        name, item = text.rstrip(">").split("<")
        return NamedType(name, (NamedType(item),))
    return NamedType(text)


def _values(function: Function, limit: int = _COMBINATIONS) -> Iterator[tuple[Expr, Type]]:
    """The function's values at its choices of points, with their type."""
    for arguments in _arguments(function.params, limit):
        yield Apply(Name(function.name), arguments), function.result


def _facts(lemma: Lemma, limit: int = _COMBINATIONS) -> Iterator[Stmt]:
    """Calls of the lemma at its choices of points, each where its preconditions hold."""
    for arguments in _arguments(lemma.params, limit):
        call = CallStmt(Apply(Name(lemma.name), arguments))
        domain = _domain(lemma, arguments)
        yield call if domain is None else IfStmt(domain, Block((call,)))


def _domain(lemma: Lemma, arguments: tuple[Expr, ...]) -> Expr | None:
    """The lemma's preconditions at `arguments`; None if it has none."""
    if not lemma.requires:
        return None
    condition = lemma.requires[0].condition
    for clause in lemma.requires[1:]:
        condition = Binary("&&", condition, clause.condition)
    binders = tuple(Binder(param.name + "'") for param in lemma.params)
    inner = LetExpr(lemma.params, tuple(Name(binder.name) for binder in binders), condition)
    return LetExpr(binders, arguments, inner)


def _arguments(params: tuple[Binder, ...], limit: int) -> Iterator[tuple[Expr, ...]]:
    """Choices of points for `params`, those with equally telling points first."""
    pools = [_POINTS[_shown(param.type)] for param in params]
    choices = [tuple(choice) for choice in product(*(enumerate(pool) for pool in pools))]
    ranked = sorted(choices, key=lambda choice: max((rank for rank, _ in choice), default=0))
    for choice in islice(ranked, limit):
        yield tuple(parse_expression(text) for _, text in choice)


def _shown(type_: Type | None) -> str:
    match type_:
        case FunctionType((NamedType(source, ()),), NamedType(result, ())):
            return f"{source} -> {result}"
        case NamedType(name, (NamedType(item, ()),)):
            return f"{name}<{item}>"
        case NamedType(name, ()):
            return name
    raise ValueError(f"the prelude has no parameter of the type {type_}")
