"""No checker proves false from the prelude; and each would notice a contradiction."""

from __future__ import annotations

from pathlib import Path

import pytest
from formal_dafny import needs_dafny
from formal_dafny_batch import ask

from maxproof.formal.checkers.types import CheckState, Limits
from maxproof.formal.embedded.checker import check_here
from maxproof.formal.prelude.assemble import assemble
from maxproof.formal.prelude.load import prelude
from maxproof.formal.prelude.probe import Probe, probes
from maxproof.formal.syntax.ast import Function
from maxproof.formal.syntax.parse import parse_program
from maxproof.formal.syntax.walk import names_used

PROBES = probes()
AXIOMS = [probe for probe in PROBES if probe.group not in ("definitions", "terms")]
LITTLE = Limits(resource=300_000, seconds=1.0)
MUCH = Limits(resource=20_000_000, seconds=20.0)

# What published preludes of this kind assume: a logarithm characterised by its sign, also where it has none; a
# predicate whose postcondition asserts it; a finite set of all divisors of 0; sums that forget duplicates.
CONTRADICTIONS = {
    "logarithm": """
        function {:axiom} plog(x: real): real
          ensures plog(x) > 0.0 <==> x > 1.0
          ensures plog(x) == 0.0 <==> x == 1.0
          ensures plog(x) < 0.0 <==> 0.0 < x < 1.0
        lemma claim(w: real) ensures plog(-1.0) == w {}
    """,
    "predicate": """
        predicate {:axiom} positive(x: real)
          ensures positive(x)
          ensures positive(x) ==> x > 0.0
        lemma claim(w: bool) ensures positive(-1.0) == w {}
    """,
    "divisors": """
        function {:axiom} all_divisors(n: int): set<int>
          ensures forall d: int :: d > 0 && divides(d, n) ==> d in all_divisors(n)
          ensures |all_divisors(n)| <= n
        lemma claim(w: set<int>) ensures all_divisors(0) == w { assert divides(1, 0); }
    """,
    "sequence": """
        lemma {:axiom} sum_over_set(q: seq<int>, s: set<int>)
          requires forall x: int :: x in q <==> x in s
          ensures seq_isum(q) == |s|
        lemma claim(w: bool) ensures w {
          sum_over_set([1, 1], {1});
          assert [1, 1][1..] == [1];
          assert [1][1..] == [];
          assert seq_isum([1]) == 1 && seq_isum([1, 1]) == 2;
        }
    """,
}


@pytest.mark.parametrize("probe", [p for p in PROBES if p.group != "definitions"], ids=lambda probe: probe.name)
def test_the_embedded_checker_proves_no_false(probe: Probe) -> None:
    result = check_here(assemble([probe.lemma], [probe.name]), LITTLE)
    assert result.state in (CheckState.FAILED, CheckState.TIMEOUT), result.diagnostics


@pytest.mark.slow
@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
def test_the_embedded_checker_proves_no_false_with_much_effort(probe: Probe) -> None:
    result = check_here(assemble([probe.lemma], [probe.name]), MUCH)
    assert result.state in (CheckState.FAILED, CheckState.TIMEOUT), result.diagnostics


@pytest.mark.slow
@needs_dafny
@pytest.mark.parametrize("group", ["definitions", "terms"])
def test_dafny_proves_no_false(group: str, tmp_path: Path) -> None:
    asked = [probe for probe in PROBES if probe.group == group]
    names = [probe.name for probe in asked]
    said = ask(assemble([probe.lemma for probe in asked], names), tmp_path, seconds=20.0 * len(names))
    assert [name for name in names if name not in said] == []
    assert [name for name in names if said[name].verified] == []


@pytest.mark.slow
@needs_dafny
@pytest.mark.parametrize("probe", AXIOMS, ids=lambda probe: probe.name)
def test_dafny_proves_no_false_from_axioms(probe: Probe, tmp_path: Path) -> None:
    """One at a time: Z3 ignores its limit on some of these products, and an end by force is no proof."""
    said = ask(assemble([probe.lemma], [probe.name]), tmp_path, seconds=20.0)
    assert probe.name not in said or not said[probe.name].verified


@pytest.mark.parametrize("text", CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_the_embedded_checker_notices_a_contradiction(text: str) -> None:
    assert check_here(assemble(parse_program(text).declarations, ["claim"]), MUCH).state is CheckState.PROVED


@needs_dafny
def test_dafny_notices_a_contradiction(tmp_path: Path) -> None:
    for text in CONTRADICTIONS.values():
        assert ask(assemble(parse_program(text).declarations, ["claim"]), tmp_path, seconds=60.0, each=20)[
            "claim"
        ].verified


def test_every_function_and_axiom_is_probed() -> None:
    used = frozenset().union(*(names_used(probe.lemma) for probe in PROBES))
    functions = {d.name for d in prelude().definitions.declarations if isinstance(d, Function)}
    assert functions | {axiom.name for axiom in prelude().axioms} <= used
    assert {axiom.group for axiom in prelude().axioms} <= {probe.group for probe in PROBES}
    assert len({probe.name for probe in PROBES}) == len(PROBES)
