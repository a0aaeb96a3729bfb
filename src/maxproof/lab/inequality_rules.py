"""What is one inference between polynomial identities and inequalities: the rules of the domain `inequalities`.

All claims are meant for all real values of the variables. Sides are compared as written, up to the order of terms.

An *identity* `A = B` (checked exactly as polynomials) follows if
- one side is the other with brackets `number (sum)` multiplied out, or terms outside brackets collected;
- there is exactly one bracket product in it, a square with coefficient 1: one square is completed or expanded;
- every bracket product in it stands alone, with coefficient 1, in some established identity: the rest is collecting.

An *inequality* `A >= B` (or `B <= A`) follows by one of
- a square is at least 0: A is one square with coefficient 1, B is 0;
- adding one term (a number, or a number times variables) to both sides; scaling both sides by a positive number;
- the sum of two established inequalities, side by side; a chain of two, A >= C and C >= B;
- replacing one side by what an established identity says it equals, by its simplification (as above), or with one of
  its squares expanded and nothing collected;
- a smaller number on the right.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from maxproof.lab.forms import Form, Relation, Term, added, canonical, collected, scaled
from maxproof.lab.linear_rules import is_simplification, ratio, side_scaled, split, term_added, value_of
from maxproof.lab.polynomials import Polynomial, TooLarge

Known = tuple[Relation, ...]


def ordered(relation: Relation) -> Relation:
    """Terms in canonical order, and `A <= B` as `B >= A`."""
    left, right = canonical(relation.left), canonical(relation.right)
    return Relation(right, ">=", left) if relation.symbol == "<=" else Relation(left, relation.symbol, right)


def is_known(claim: Relation, known: Known) -> bool:
    """Whether an ordered claim is established; an identity may be turned round."""
    return claim in known or (claim.symbol == "=" and Relation(claim.right, "=", claim.left) in known)


def follows(claim: Relation, known: Known) -> bool:
    """Whether one inference leads from what is established to an ordered claim, which must be true."""
    try:
        if is_known(claim, known):
            return True
        if claim.symbol == "=":
            return _identity(claim.left, claim.right, known)
        values = [(each, value_of(each.left), value_of(each.right)) for each in known if each.symbol == ">="]
        return _square(claim) or any(
            _from(claim, known, given) or _summed(claim, given, values) for given, _, _ in values
        )
    except TooLarge:
        return False


# --- identities -------------------------------------------------------------------------------------------------------


def _identity(left: Form, right: Form, known: Known) -> bool:
    if is_simplification(left, right):
        return True
    products = [*split(left)[0].terms, *split(right)[0].terms]
    if len(products) == 1 and _is_square(products[0]):
        return True
    familiar = {product.factors for each in known if each.symbol == "=" and (product := _only_product(each))}
    return all(product.factors in familiar for product in products)


def _only_product(identity: Relation) -> Term | None:
    """The one bracket product of an identity, if it has one and that has the coefficient 1."""
    products = [*split(identity.left)[0].terms, *split(identity.right)[0].terms]
    return products[0] if len(products) == 1 and products[0].coefficient == 1 else None


def _is_square(term: Term) -> bool:
    return term.coefficient == 1 and len(term.factors) == 2 and term.factors[0] == term.factors[1]


# --- inequalities -----------------------------------------------------------------------------------------------------


def _square(claim: Relation) -> bool:
    return not claim.right.terms and len(claim.left.terms) == 1 and _is_square(claim.left.terms[0])


def _from(claim: Relation, known: Known, given: Relation) -> bool:
    return (
        term_added(claim, given)
        or _scaled(claim, given)
        or _replaced(claim, known, given)
        or _weakened(claim, given)
        or (claim.left == given.left and Relation(given.right, ">=", claim.right) in known)
    )


def _scaled(claim: Relation, given: Relation) -> bool:
    factor = ratio(value_of(claim.left), value_of(given.left)) or ratio(value_of(claim.right), value_of(given.right))
    if factor <= 0:
        return False
    return side_scaled(given.left, claim.left, factor) and side_scaled(given.right, claim.right, factor)


def _replaced(claim: Relation, known: Known, given: Relation) -> bool:
    if claim.right == given.right:
        return _equal(given.left, claim.left, known)
    return claim.left == given.left and _equal(given.right, claim.right, known)


def _equal(old: Form, new: Form, known: Known) -> bool:
    return is_known(Relation(old, "=", new), known) or is_simplification(old, new) or _square_expanded(old, new)


def _square_expanded(old: Form, new: Form) -> bool:
    for index, term in enumerate(old.terms):
        if term.factors and isinstance(term.factors[0], Form) and _is_square(Term(Fraction(1), term.factors)):
            expansion = scaled(collected(value_of(Form((Term(Fraction(1), term.factors),)))), term.coefficient)
            if canonical(added(Form(old.terms[:index] + old.terms[index + 1 :]), expansion)) == new:
                return True
    return False


def _weakened(claim: Relation, given: Relation) -> bool:
    smaller, larger = value_of(claim.right).constant(), value_of(given.right).constant()
    return claim.left == given.left and smaller is not None and larger is not None and smaller <= larger


def _summed(claim: Relation, given: Relation, values: Sequence[tuple[Relation, Polynomial, Polynomial]]) -> bool:
    """`values`: the established inequalities with the values of their sides."""
    left, right = value_of(claim.left) - value_of(given.left), value_of(claim.right) - value_of(given.right)
    return any(
        _is_sum(claim.left, given.left, other.left) and _is_sum(claim.right, given.right, other.right)
        for other, first, second in values
        if first == left and second == right
    )


def _is_sum(total: Form, first: Form, second: Form) -> bool:
    """Whether a sum, right in value, is written as such: brackets kept, the rest collected or not."""
    written = canonical(added(first, second))
    return total == written or split(total)[0] == split(written)[0]


# --- truth ------------------------------------------------------------------------------------------------------------


def is_nonnegative(polynomial: Polynomial) -> bool:
    """Whether a polynomial of degree at most 2 is >= 0 for all real values.

    It is iff its symmetric matrix over (1, variables) is positive semidefinite; decided by exact elimination.
    """
    names = ["", *sorted(polynomial.variables())]
    matrix = [[_entry(polynomial, row, column) for column in names] for row in names]
    while matrix:
        (pivot, *rest), *others = matrix
        if pivot < 0 or (not pivot and any(rest)):
            return False
        if pivot:
            matrix = [[row[1 + j] - row[0] * rest[j] / pivot for j in range(len(rest))] for row in others]
        else:
            matrix = [row[1:] for row in others]
    return True


def _entry(polynomial: Polynomial, row: str, column: str) -> Fraction:
    if row == column:
        return polynomial.coefficient(((row, 2),) if row else ())
    names = sorted(name for name in (row, column) if name)
    return polynomial.coefficient(tuple((name, 1) for name in names)) / 2
