"""Lines that lead to the value of a closed term, innermost part first, and the helper lemmas that they call.

Sums and products are followed in a helper lemma that names their function, since the solver takes every written
function literal for another one. Sets are brought to displays of their elements, and displays are counted or added up
one element at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt

from maxproof.formal.embedded.core import (
    BOOL,
    INT,
    REAL,
    Bool,
    Builtin,
    Call,
    DataOf,
    Int,
    Lambda,
    Op,
    SetComp,
    Term,
    Var,
)
from maxproof.formal.embedded.core.show import show, show_sort
from maxproof.formal.embedded.core.walk import free_variables, subnodes, substitute
from maxproof.formal.prover.induction import is_recursive
from maxproof.formal.prover.instances import literal, simplified
from maxproof.formal.prover.literals import chosen_branch, display_of, elements_of, literal_of, value_of
from maxproof.formal.prover.polynomials import conjuncts
from maxproof.formal.prover.question import Helper, Question
from maxproof.formal.prover.residues import Tracer, Unknown
from maxproof.formal.prover.trial_division import MAX_ROOT, divisor_lemma, prime_lines

MAX_STEPS = 1500
MAX_DEPTH = 120
MAX_ELEMENTS = 150
MAX_TERMS = 520
_FEW = 6
_CHUNK = 20
_LARGE_EXPONENT = 40
_FOLDS = {"isum": "int", "iprod": "int", "rsum": "real", "rprod": "real"}
_SET_FOLDS = {"set_isum": "int", "set_iprod": "int", "set_rsum": "real", "set_rprod": "real"}


class TooLong(Exception):
    """A computation that isn't followed: too many steps, or a value that isn't found."""


class Writer:
    """Collects the lines of computations, and the helper lemmas that they call."""

    def __init__(self, question: Question, helpers: list[Helper] | None = None) -> None:
        self._question = question
        self.lines: dict[str, None] = {}
        self.helpers: list[Helper] = [] if helpers is None else helpers
        self._seen: set[Term] = set()
        self._depth = 0

    def attempt(self, term: Term) -> Term | None:
        """`write`, which leaves nothing behind where the computation is too long; then None."""
        lines, seen = dict(self.lines), set(self._seen)
        try:
            return self.write(term)
        except (TooLong, Unknown):
            self.lines, self._seen, self._depth = lines, seen, 0
            return None

    def write(self, term: Term) -> Term | None:
        """The value of a closed term, with the lines that lead to it; None for one that has no literal.

        Raises TooLong.
        """
        if len(self.lines) > MAX_STEPS or len(self._seen) > MAX_STEPS or self._depth > MAX_DEPTH:
            raise TooLong
        value = literal_of(self._question, term)
        if term in self._seen or value == term:
            return value
        self._seen.add(term)
        self._depth += 1
        self._steps(term, value)
        self._depth -= 1
        return value

    def _steps(self, term: Term, value: Term | None) -> None:
        """The lines for a term that wasn't met before."""
        if isinstance(term, Builtin) and term.op is Op.ITE:
            self._conditional(term)
        elif isinstance(term, Builtin) and term.op is Op.MOD and _has_large_power(term):
            self._remainder(term, value)
        elif isinstance(term, SetComp):
            self._comprehension(term, value)
        elif isinstance(term, Builtin) and term.op is Op.CARD and self._counted(term.args[0]):
            if value is not None:
                self._equal(term, value)
        elif isinstance(term, Builtin):
            args = tuple(self.write(arg) or arg for arg in term.args)
            plain = Builtin(term.op, args, term.sort)
            if term.op is Op.CARD and isinstance(value, Int):
                self._size(args[0], value.value)
            if value is not None and term.op is not Op.SET:
                self._equal(plain, value)
                self._equal(term, value)
        elif isinstance(term, Call):
            self._call(term, value)

    def link(self, part: Term, closed: Term) -> None:
        """A fold's helper lemma is called for the statement's own function, too."""
        if isinstance(part, Call) and isinstance(closed, Call) and part.args and part.args[-1] != closed.args[-1]:
            call = f"({show(closed.args[-1])});"
            for line in [line for line in self.lines if line.endswith(call)]:
                self.lines.setdefault(line.removesuffix(call) + f"({show(part.args[-1])});")

    def _equal(self, term: Term, value: Term) -> None:
        if term == value:
            return
        if value == Bool(True) or value == Bool(False):
            self.lines.setdefault(f"assert {show(term if value == Bool(True) else Builtin(Op.NOT, (term,), BOOL))};")
        else:
            self.lines.setdefault(f"assert {show(Builtin(Op.EQ, (term, value), BOOL))};")

    def _conditional(self, term: Builtin) -> None:
        condition = value_of(self._question, term.args[0])
        if not isinstance(condition, bool):
            raise TooLong
        self.write(term.args[0])
        self.write(term.args[1 if condition else 2])

    def _remainder(self, term: Builtin, value: Term | None) -> None:
        modulus = literal_of(self._question, term.args[1])
        if not isinstance(modulus, Int) or modulus.value <= 0:
            raise TooLong
        tracer = Tracer({})
        tracer.trace(term.args[0], modulus.value)
        self.lines.update(tracer.lines)
        if value is not None:
            self._equal(term, value)

    def _call(self, call: Call, value: Term | None) -> None:
        if call.name in _FOLDS and len(call.args) == 3 and isinstance(call.args[2], Lambda):
            self._fold(call, value)
            return
        if call.name in _SET_FOLDS and isinstance(call.args[1], Lambda):
            self._set_fold(call, value)
            return
        args = tuple(self.write(arg) or simplified(arg) for arg in call.args)
        plain = Call(call.name, args, call.sort)
        if plain not in self._seen or plain == call:
            self._seen.add(plain)
            if call.name == "divisors":
                self._divisors(plain, value)
            elif call.name == "prime":
                self._prime(plain, value)
            elif isinstance(call.sort, DataOf) and value is not None:
                inner = self._apart()
                inner._unfold(plain)
                heading = f"()\n  ensures {show(Builtin(Op.EQ, (plain, value), BOOL))}"
                self.lines.setdefault(f"{self._helper('value', heading, list(inner.lines))}();")
            else:
                self._unfold(plain)
        if value is not None:
            self._equal(plain, value)
            self._equal(call, value)

    def _unfold(self, call: Call) -> None:
        """What the chosen branch of the function's body computes."""
        function = self._question.core.functions.get(call.name)
        if function is None or function.body is None:
            raise TooLong
        mapping = {param.name: arg for param, arg in zip(function.params, call.args, strict=True)}
        body = chosen_branch(self._question, substitute(function.body, mapping))
        for node in subnodes(body):
            if isinstance(node, Call) and not free_variables(node) and node != call:
                if is_recursive(self._question, node.name) or node.name == "prime":
                    self.write(node)
                elif not is_recursive(self._question, call.name):
                    self._unfold(node)

    def _helper(self, kind: str, heading: str, body: Sequence[str]) -> str:
        """The name of a helper lemma with that heading and body, which is made unless there is one."""
        rest = "\n".join([heading, "{", *body, "}"])
        for helper in self.helpers:
            if helper.text == f"lemma {helper.name}{rest}":
                return helper.name
        name = f"trace_{kind}_{len(self.helpers) + 1}"
        self.helpers.append(Helper(name, f"lemma {name}{rest}"))
        return name

    def _apart(self) -> Writer:
        """A writer for the body of a helper lemma, where nothing is known yet."""
        return Writer(self._question, self.helpers)

    def _fold(self, call: Call, value: Term | None) -> None:
        low, high = (literal_of(self._question, arg) for arg in call.args[:2])
        function = call.args[2]
        if not isinstance(low, Int) or not isinstance(high, Int) or value is None or not isinstance(function, Lambda):
            raise TooLong
        if high.value - low.value > MAX_TERMS or _has_calls(self._question, function.body) > 1:
            raise TooLong
        sort = _FOLDS[call.name]
        product = call.name in ("iprod", "rprod")
        bound = function.params[0].name
        within = f"{low.value} <= {bound} < {high.value}"
        requires = f"  requires forall {bound}: int :: {within} ==> f({bound}) == {show(function.body)}"
        total = Fraction(1 if product else 0)
        name = ""
        seen: set[Term] = set()
        for start in range(low.value, high.value, _CHUNK):
            inner = self._apart()
            inner._seen = seen
            end = min(start + _CHUNK, high.value)
            if name:
                inner.lines.setdefault(f"{name}(f);")
            for k in range(start, end):
                before = len(inner.lines)
                term = simplified(substitute(function.body, {bound: Int(k)}))
                item = inner.write(term)
                exact = value_of(self._question, term)
                if item is None or isinstance(exact, bool) or not isinstance(exact, int | Fraction):
                    raise TooLong
                total = total * exact if product else total + exact
                reached = literal(total, REAL if sort == "real" else INT)
                assert reached is not None, "a sum of whole numbers is one"
                sum_so_far = f"{call.name}({low.value}, {k + 1}, f) == {show(reached)}"
                steps = [line for line in list(inner.lines)[before:] if line.startswith("assert ")]
                inner.lines.setdefault(f"assert f({k}) == {show(item)};")
                inner.lines.setdefault(f"assert {sum_so_far};")
            # The next lemma's first computation goes on from this one's last.
            ensures = [sum_so_far, *(step.removeprefix("assert ").removesuffix(";") for step in steps)]
            heading = "\n".join([f"(f: int -> {sort})", requires, *(f"  ensures {clause}" for clause in ensures)])
            name = self._helper("fold", heading, list(inner.lines))
        if name:
            self.lines.setdefault(f"{name}({show(function)});")
        self._equal(call, value)

    def _set_fold(self, call: Call, value: Term | None) -> None:
        function = call.args[1]
        display = self.write(call.args[0])
        elements = elements_of(display)
        if elements is None or value is None or not isinstance(function, Lambda) or not elements:
            raise TooLong
        sort = _SET_FOLDS[call.name]
        product = call.name in ("set_iprod", "set_rprod")
        total = Fraction(1 if product else 0)
        whole = REAL if sort == "real" else INT
        first = literal(total, whole)
        assert first is not None, "0 and 1 are whole"
        requires: list[str] = []
        name = ""
        for number, element in enumerate(elements, 1):
            term = simplified(substitute(function.body, {function.params[0].name: Int(element)}))
            item = self.write(term)
            exact = value_of(self._question, term)
            if item is None or isinstance(exact, bool) or not isinstance(exact, int | Fraction):
                raise TooLong
            total = total * exact if product else total + exact
            reached = literal(total, whole)
            assert reached is not None, "a sum of whole numbers is one"
            requires.append(f"  requires f({element}) == {show(item)}")
            before = display_of(elements[: number - 1])
            body = [f"{name}(f);"] if name else [f"assert {call.name}(s, f) == {show(first)};"]
            body = ["var s: set<int> := " + before + ";", *body, f"{call.name}_insert(s, {element}, f);"]
            body.append(f"assert s + {{{element}}} == {display_of(elements[:number])};")
            ensures = f"  ensures {call.name}({display_of(elements[:number])}, f) == {show(reached)}"
            name = self._helper("total", "\n".join([f"(f: int -> {sort})", *requires, ensures]), body)
        self.lines.setdefault(f"{name}({show(function)});")
        assert display is not None
        self._equal(Call(call.name, (display, function), call.sort), value)
        self._equal(call, value)

    def _size(self, whole: Term, count: int) -> None:
        elements = elements_of(whole)
        if elements is None or len(elements) < 3:
            return
        shown = display_of(elements)
        body = ["var s0: set<int> := {};"]
        for number, element in enumerate(elements, 1):
            body.append(f"var s{number} := s{number - 1} + {{{element}}};")
            body.append(f"assert |s{number}| == {number};")
        body.append(f"assert s{len(elements)} == {shown};")
        name = self._helper("size", f"()\n  ensures |{shown}| == {count}", body)
        self.lines.setdefault(f"{name}();")

    def _comprehension(self, term: SetComp, value: Term | None) -> None:
        elements = elements_of(value) if value is not None else None
        if elements is None or value is None or len(elements) > MAX_ELEMENTS or term.vars != (term.term,):
            raise TooLong
        (var,) = term.vars
        calls = _has_calls(self._question, term.range)
        candidates = self._candidates(term, var) if calls else None
        if candidates is not None:
            self._member_by_member(term, var, candidates, elements)
        self._equal(term, value)

    def _counted(self, whole: Term) -> bool:
        """Counts a comprehension: one more element between each two places; false for one that isn't counted so."""
        if not isinstance(whole, SetComp) or whole.vars != (whole.term,) or _has_calls(self._question, whole.range):
            return False
        elements = elements_of(literal_of(self._question, whole))
        if elements is None or not _FEW < len(elements) <= MAX_ELEMENTS:
            return False
        name, condition = whole.vars[0].name, show(whole.range)
        upto = [f"({condition}) && {name} < {element}" for element in elements[1:]] + [condition]
        members = "  requires forall {0}: int :: {0} in {1} <==> ({2})"
        first = self._helper(
            "count",
            f"(s: set<int>)\n{members.format(name, 's', upto[0])}\n  ensures |s| == 1",
            [f"assert s == {{{elements[0]}}};"],
        )
        body = [f"var s1 := set {name}: int | {upto[0]};", f"{first}(s1);"]
        for number in range(1, len(elements)):
            heading = (
                f"(s: set<int>, t: set<int>)\n{members.format(name, 's', upto[number - 1])}\n"
                f"{members.format(name, 't', upto[number])}\n  ensures |t| == |s| + 1"
            )
            step = self._helper("count", heading, [f"assert t == s + {{{elements[number]}}};"])
            body.append(f"var s{number + 1} := set {name}: int | {upto[number]};")
            body.append(f"{step}(s{number}, s{number + 1});")
        heading = f"(s: set<int>)\n{members.format(name, 's', condition)}\n  ensures |s| == {len(elements)}"
        total = self._helper("count", heading, [*body, f"assert s == s{len(elements)};"])
        self.lines.setdefault(f"{total}({show(whole)});")
        return True

    def _candidates(self, term: SetComp, var: Var) -> list[int] | None:
        """The values that the condition leaves: within bounds, or in another set."""
        low: int | None = None
        high: int | None = None
        for part in conjuncts(term.range):
            match part:
                case Builtin(op=Op.IN, args=(item, whole)) if item == var and not free_variables(whole):
                    return elements_of(self.write(whole))
                case Builtin(op=Op.LE | Op.LT as op, args=(Int(value=bound), item)) if item == var:
                    low = bound if op is Op.LE else bound + 1
                case Builtin(op=Op.LE | Op.LT as op, args=(item, Int(value=bound))) if item == var:
                    high = bound if op is Op.LE else bound - 1
        if low is None or high is None or high - low > 2 * MAX_ELEMENTS:
            return None
        return list(range(low, high + 1))

    def _member_by_member(self, term: SetComp, var: Var, candidates: Sequence[int], elements: Sequence[int]) -> None:
        branches: list[str] = []
        for candidate in candidates:
            inner = self._apart()
            condition = simplified(substitute(term.range, {var.name: Int(candidate)}))
            for node in subnodes(condition):
                if isinstance(node, Call) and not free_variables(node):
                    inner.write(node)
            branches.append(f"if {var.name} == {candidate} {{ {' '.join(inner.lines)} }}")
        shown = display_of(elements)
        heading = f"({var.name}: {show_sort(INT)})\n  ensures ({show(term.range)}) <==> {var.name} in {shown}"
        name = self._helper("member", heading, branches)
        self.lines.setdefault(
            f"forall {var.name}: int ensures ({show(term.range)}) <==> {var.name} in {shown} {{ {name}({var.name}); }}"
        )

    def _divisors(self, call: Call, value: Term | None) -> None:
        elements = elements_of(value) if value is not None else None
        number = call.args[0]
        if elements is None or not isinstance(number, Int) or isqrt(number.value) > MAX_ROOT:
            raise TooLong
        n, shown = number.value, display_of(elements)
        name = self._helper("divisor", *divisor_lemma(n, shown))
        self.lines.setdefault(f"forall d: int | 1 <= d <= {n} && divides(d, {n}) ensures d in {shown} {{ {name}(d); }}")
        self.lines.setdefault(f"assert {show(call)} == {shown};")

    def _prime(self, call: Call, value: Term | None) -> None:
        number = call.args[0]
        if not isinstance(number, Int) or not isinstance(value, Bool):
            raise TooLong
        self.lines.update(dict.fromkeys(prime_lines(number.value)))


def _has_large_power(term: Term) -> bool:
    return any(
        isinstance(node, Call)
        and node.name == "ipow"
        and isinstance(node.args[1], Int)
        and node.args[1].value > _LARGE_EXPONENT
        for node in subnodes(term)
    )


def _has_calls(question: Question, term: Term) -> int:
    """0: no recursive functions below it; 1: some; 2: some that fold over further functions."""
    names = {node.name for node in subnodes(term) if isinstance(node, Call)}
    if any(name in _FOLDS or name in _SET_FOLDS for name in names):
        return 2
    return int(any(is_recursive(question, name) or name in ("prime", "coprime", "lcm") for name in names))
