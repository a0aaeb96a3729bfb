"""What is one inference from equations to an equation: the rules of the domain `linear`.

Sides are compared as written, up to the order of their terms, so that "simplified" means something; an equation may be
turned round freely. From established equations a new one follows by exactly one of these:

- *simplify one side*, the other as it is: multiply out brackets (or put them back), or collect the terms that stand
  outside brackets; a side without variables may be worked out at once;
- *add a term to both sides*: one number or one multiple of a variable. Each side may be written with the term put
  behind it, or collected if it was collected before (what is in brackets stays);
- *scale*: both sides times a number that is not 0, term by term, or written as a product; a side that is not collected
  must be kept as written;
- *combine*: the sum or the difference of two equations, side by side; all sides collected before (a multiple is scaled
  first, as a step of its own);
- *substitute*: with `v = expression` established, v is replaced everywhere on one side, or on both, of another
  equation. Numbers within one product are worked out, nothing is multiplied out or collected.

Anything else that is true needs more.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from maxproof.lab.forms import (
    Form,
    Relation,
    Term,
    added,
    canonical,
    collected,
    has_brackets,
    is_collected,
    number_form,
    polynomial_of,
    scaled,
    substituted,
    times,
)
from maxproof.lab.polynomials import Polynomial, TooLarge


@dataclass(frozen=True, slots=True)
class Equation:
    """Two sides as written, terms in canonical order."""

    left: Form
    right: Form

    def turned(self) -> Equation:
        """The sides exchanged."""
        return Equation(self.right, self.left)


def equation(left: Form, right: Form) -> Equation:
    """An equation of two sides in any order of terms."""
    return Equation(canonical(left), canonical(right))


def is_known(claim: Equation, known: tuple[Equation, ...]) -> bool:
    """Whether the claim, or the claim turned round, is established."""
    return claim in known or claim.turned() in known


def follows(claim: Equation, known: tuple[Equation, ...]) -> bool:
    """Whether one inference leads from established equations to the claim."""
    try:
        return is_known(claim, known) or any(_follows(claim, known, each) for each in _both_ways(known))
    except TooLarge:
        return False


def _both_ways(known: tuple[Equation, ...]) -> list[Equation]:
    return [way for each in known for way in (each, each.turned())]


def _follows(claim: Equation, known: tuple[Equation, ...], given: Equation) -> bool:
    return (
        _simplified(claim, given)
        or term_added(claim, given)
        or _scaled(claim, given)
        or _combined(claim, known, given)
        or _substituted(claim, known, given)
    )


# --- simplify ---------------------------------------------------------------------------------------------------------


def _simplified(claim: Equation, given: Equation) -> bool:
    return (claim.left == given.left and is_simplification(given.right, claim.right)) or (
        claim.right == given.right and is_simplification(given.left, claim.left)
    )


def is_simplification(old: Form, new: Form) -> bool:
    """Whether `new` is `old` with brackets multiplied out (or put back), or with terms outside brackets collected."""
    first, second = value_of(old), value_of(new)
    if first != second:
        return False
    if first.constant() is not None or split(old)[0] == split(new)[0]:
        return True
    return canonical(multiplied_out(old)) == canonical(new) or canonical(multiplied_out(new)) == canonical(old)


def multiplied_out(form: Form) -> Form:
    """Every `number (sum)` written without its brackets, nothing collected. Raises TooLarge."""
    result = Form(())
    for term in form.terms:
        match term.factors:
            case (Form() as inner,):
                result = added(result, scaled(inner, term.coefficient))
            case _:
                result = added(result, Form((term,)))
    return result


def split(form: Form) -> tuple[Form, Form]:
    """The terms with brackets, and the others."""
    bracketed = [term for term in form.terms if has_brackets(Form((term,)))]
    return Form(tuple(bracketed)), Form(tuple(term for term in form.terms if term not in bracketed))


def value_of(form: Form) -> Polynomial:
    """The polynomial. Raises TooLarge."""
    value = polynomial_of(form)
    if value is None:
        raise TooLarge
    return value


# --- add a term, scale ------------------------------------------------------------------------------------------------


def term_added(claim: Equation | Relation, given: Equation | Relation) -> bool:
    """Whether the same term was added on both sides, written behind them or collected. Raises TooLarge."""
    change = value_of(claim.left) - value_of(given.left)
    if len(change.terms) != 1 or change != value_of(claim.right) - value_of(given.right):
        return False
    term = collected(change)
    return with_term(given.left, claim.left, term) and with_term(given.right, claim.right, term)


def with_term(old: Form, new: Form, term: Form) -> bool:
    """Whether `new` is `old` and a term, written behind it or collected; the sum of the values must be right."""
    bracketed, rest = split(old)
    return canonical(added(old, term)) == new or (is_collected(rest) and split(new)[0] == bracketed)


def _scaled(claim: Equation, given: Equation) -> bool:
    factor = ratio(value_of(claim.left), value_of(given.left)) or ratio(value_of(claim.right), value_of(given.right))
    if not factor:
        return False
    return side_scaled(given.left, claim.left, factor) and side_scaled(given.right, claim.right, factor)


def ratio(new: Polynomial, old: Polynomial) -> Fraction:
    """new / old by their first coefficients; 0 if there is none."""
    return new.terms[0][1] / old.terms[0][1] if new.terms and old.terms else Fraction(0)


def side_scaled(old: Form, new: Form, factor: Fraction) -> bool:
    """Whether `new` is `old` times a number: term by term, as a product, or, if `old` is collected, in any form."""
    if value_of(new) != value_of(old).scaled(factor):
        return False
    written = (canonical(scaled(old, factor)), canonical(times(number_form(factor), old)))
    return new in written or (is_collected(old) and not has_brackets(new))


# --- combine, substitute ----------------------------------------------------------------------------------------------


def _combined(claim: Equation, known: tuple[Equation, ...], given: Equation) -> bool:
    if not _collected(given) or has_brackets(claim.left) or has_brackets(claim.right):
        return False
    left = value_of(claim.left) - value_of(given.left)
    right = value_of(claim.right) - value_of(given.right)
    wanted = ((left, right), (-left, -right))
    return any(
        _collected(other) and (value_of(other.left), value_of(other.right)) in wanted for other in _both_ways(known)
    )


def _collected(each: Equation) -> bool:
    return is_collected(each.left) and is_collected(each.right)


def _substituted(claim: Equation, known: tuple[Equation, ...], given: Equation) -> bool:
    """`given` is the one in which a variable is replaced."""
    for definition in _both_ways(known):
        name = lone_variable(definition.left)
        if name is None or name in value_of(definition.right).variables():
            continue
        left = canonical(substituted(given.left, name, definition.right))
        right = canonical(substituted(given.right, name, definition.right))
        if claim in (Equation(left, right), Equation(left, given.right), Equation(given.left, right)):
            return True
    return False


def lone_variable(form: Form) -> str | None:
    """The name, if the form is one variable by itself."""
    match form.terms:
        case (Term(coefficient, (str(name),)),) if coefficient == 1:
            return name
        case _:
            return None
