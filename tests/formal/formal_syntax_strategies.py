"""Random syntax trees: any that the parser could give."""

from fractions import Fraction

from hypothesis import strategies as st

from maxproof.formal.syntax import ast

NAMES = st.sampled_from(["a", "b", "f", "g", "x", "x'", "n_1", "s", "C"])


def _many(strategy, low=0, high=3):
    return st.lists(strategy, min_size=low, max_size=high).map(tuple)


def types():
    named = st.sampled_from(["int", "nat", "real", "bool", "complex"]).map(ast.NamedType)
    return st.recursive(
        named,
        lambda inner: st.one_of(
            st.builds(ast.NamedType, st.sampled_from(["set", "iset", "seq"]), st.tuples(inner)),
            st.builds(ast.TupleType, _many(inner, 2)),
            st.builds(ast.FunctionType, _many(inner), inner, st.sampled_from(["->", "-->", "~>"])),
        ),
        max_leaves=4,
    )


def plain_types():
    """Those that may follow `as`."""
    return st.sampled_from(["int", "nat", "real", "complex"]).map(ast.NamedType)


def binders(low=1, high=2):
    return _many(st.builds(ast.Binder, NAMES, st.none() | types()), low, high)


def typed_binders():
    return _many(st.builds(ast.Binder, NAMES, types()), 0, 2)


RISING = st.sampled_from(["<", "<=", "=="])
FALLING = st.sampled_from([">", ">=", "=="])
LONE = st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "in", "!in", "!!"])


@st.composite
def comparisons(draw, inner):
    ops = draw(st.one_of(st.tuples(LONE), _many(RISING, 1, 3), _many(FALLING, 1, 3)))
    return ast.Comparison(tuple(draw(inner) for _ in range(len(ops) + 1)), ops)


@st.composite
def lets(draw, inner):
    bound = draw(binders())
    if draw(st.booleans()):
        return ast.LetExpr(bound, (draw(inner),), draw(inner), True)
    return ast.LetExpr(bound, tuple(draw(inner) for _ in bound), draw(inner))


@st.composite
def comprehensions(draw, inner):
    bound = draw(binders())
    term = draw(inner if len(bound) > 1 else st.none() | inner)
    return ast.Comprehension(bound, draw(inner), term, draw(st.booleans()), draw(attributes(inner)))


def calls(inner):
    return st.builds(ast.Apply, st.builds(ast.Name, NAMES), _many(inner))


def attributes(inner):
    named = st.builds(ast.Attribute, st.sampled_from(["trigger", "induction", "axiom"]), _many(inner, 0, 2))
    text = st.sampled_from(["", "a", '\\"', "//", "*/"]).map(ast.StringLiteral)
    return _many(named | st.builds(ast.Attribute, st.just("message"), st.tuples(text)), 0, 1)


def cases(inner, body):
    return st.builds(ast.MatchCase, st.sampled_from(["C", "D"]), binders(0), body)


def _expressions(inner):
    operators = st.sampled_from(["<==>", "==>", "<==", "&&", "||", "+", "-", "*", "/", "%"])
    return st.one_of(
        st.builds(ast.Binary, operators, inner, inner),
        comparisons(inner),
        st.builds(ast.Unary, st.sampled_from(["!", "-"]), inner),
        st.builds(ast.Cardinality, inner),
        st.builds(ast.Apply, inner, _many(inner)),
        calls(inner),
        st.builds(ast.Member, inner, st.sampled_from(["re", "0", "1", "Complex?", "Floor"])),
        st.builds(ast.Index, inner, inner),
        st.builds(ast.Slice, inner, st.none() | inner, st.none() | inner),
        st.builds(ast.Update, inner, inner, inner),
        st.builds(ast.TupleExpr, _many(inner, 2)),
        st.builds(ast.SetDisplay, _many(inner), st.booleans()),
        st.builds(ast.SeqDisplay, _many(inner)),
        st.builds(ast.IfExpr, inner, inner, inner),
        lets(inner),
        st.builds(ast.LambdaExpr, binders(0), inner, _many(inner, 0, 1)),
        st.builds(
            ast.Quantifier,
            st.sampled_from(["forall", "exists"]),
            binders(),
            inner,
            st.none() | inner,
            attributes(inner),
        ),
        comprehensions(inner),
        st.builds(ast.AsExpr, inner, plain_types()),
        st.builds(ast.MatchExpr, inner, _many(cases(inner, inner), 1, 2)),
        st.builds(ast.StmtExpr, st.builds(ast.CallStmt, calls(inner)) | asserts(inner), inner),
    )


def asserts(inner):
    return st.builds(ast.Assert, inner, st.none() | st.just(ast.Block(())))


def expressions(max_leaves=12):
    leaves = st.one_of(
        st.builds(ast.Name, NAMES),
        st.integers(0, 10**20).map(ast.IntLiteral),
        st.tuples(st.integers(0, 10**9), st.integers(0, 6), st.integers(0, 6)).map(
            lambda t: ast.RealLiteral(Fraction(t[0], 2 ** t[1] * 5 ** t[2]))
        ),
        st.booleans().map(ast.BoolLiteral),
    )
    return st.recursive(leaves, _expressions, max_leaves=max_leaves)


SMALL = expressions(4)


@st.composite
def clauses(draw, labels=("",)):
    return ast.Clause(draw(SMALL), draw(attributes(SMALL)), draw(st.sampled_from(labels)))


def plain_clauses():
    return st.builds(ast.Clause, SMALL)


@st.composite
def calcs(draw, body):
    lines = draw(_many(SMALL, 0, 3))
    steps = max(len(lines) - 1, 0)
    op = st.sampled_from(["==", "<", "<=", "==>", "<==", "<==>", ">=", "!="])
    return ast.Calc(
        lines,
        tuple(draw(st.none() | op) for _ in range(steps)),
        tuple(draw(_many(st.builds(ast.Block, body), 0, 2)) for _ in range(steps)),
        draw(op),
    )


@st.composite
def ifs(draw, body):
    block = st.builds(ast.Block, body)
    otherwise = draw(st.none() | block | st.builds(ast.IfCases, _many(guarded(body), 1, 2)))
    if draw(st.booleans()):
        otherwise = ast.IfStmt(draw(SMALL), draw(block), otherwise)
    return ast.IfStmt(draw(SMALL), draw(block), otherwise, draw(binders(0)))


def guarded(body):
    return st.builds(ast.GuardedCase, SMALL, body, binders(0))


@st.composite
def variables(draw):
    bound = draw(binders())
    kind = draw(st.sampled_from(["declared", "such that", "values"]))
    if kind == "declared":
        return ast.VarStmt(bound)
    if kind == "such that":
        return ast.VarStmt(bound, (draw(SMALL),), True)
    return ast.VarStmt(bound, tuple(draw(SMALL) for _ in bound))


def _statements(inner):
    body = _many(inner, 0, 2)
    block = st.builds(ast.Block, body)
    return st.one_of(
        block,
        st.builds(ast.Assert, SMALL, st.none() | block, st.sampled_from(["", "L3"]), attributes(SMALL)),
        calcs(body),
        st.builds(ast.ForallStmt, binders(), st.none() | SMALL, _many(plain_clauses(), 0, 2), block, attributes(SMALL)),
        ifs(body),
        st.builds(ast.IfCases, _many(guarded(body), 1, 2)),
        st.builds(ast.MatchStmt, SMALL, _many(cases(SMALL, body), 1, 2)),
        st.builds(ast.While, SMALL, _many(clauses(), 0, 1), _many(SMALL, 0, 2), block),
    )


def statements():
    simple = st.one_of(
        variables(),
        st.builds(ast.Assign, st.tuples(NAMES), st.tuples(SMALL), st.booleans()),
        st.builds(ast.CallStmt, calls(SMALL)),
        st.builds(ast.Assume, SMALL),
        st.builds(ast.Return, _many(SMALL, 0, 2)),
        st.builds(ast.Reveal, _many(calls(SMALL), 1, 2)),
    )
    return st.recursive(simple, _statements, max_leaves=5)


def lemmas(name):
    return st.builds(
        ast.Lemma,
        st.just(name),
        typed_binders(),
        st.none() | _many(statements(), 0, 2),
        typed_binders(),
        _many(clauses(("", "L2")), 0, 2),
        _many(clauses(), 0, 2),
        _many(SMALL, 0, 2),
        attributes(SMALL),
    )


@st.composite
def functions(draw, name):
    predicate = draw(st.booleans())
    return ast.Function(
        name,
        draw(typed_binders()),
        ast.NamedType("bool") if predicate else draw(types()),
        draw(st.none() | SMALL),
        "" if predicate else draw(st.sampled_from(["", "r"])),
        draw(_many(clauses(), 0, 1)),
        draw(_many(clauses(), 0, 1)),
        draw(_many(SMALL, 0, 1)),
        predicate,
        draw(attributes(SMALL)),
    )


def datatypes(name):
    constructor = st.builds(ast.Constructor, st.sampled_from(["C", "D"]), typed_binders())
    return st.builds(ast.Datatype, st.just(name), _many(constructor, 1, 2))


def programs():
    return st.tuples(lemmas("L"), functions("F"), datatypes("D")).map(ast.Program)
