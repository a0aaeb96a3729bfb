"""The strategies, in the order in which they're asked. Add one here."""

from __future__ import annotations

from maxproof.formal.prover.algebra import algebra, values
from maxproof.formal.prover.bounds import bounds
from maxproof.formal.prover.cases import cases
from maxproof.formal.prover.closed_forms import closed_forms
from maxproof.formal.prover.compute import compute, isolated
from maxproof.formal.prover.divisibility import divisibility
from maxproof.formal.prover.finite import finite
from maxproof.formal.prover.induction import induction
from maxproof.formal.prover.library import library
from maxproof.formal.prover.logarithms import logarithms
from maxproof.formal.prover.opened import opened
from maxproof.formal.prover.question import Strategy
from maxproof.formal.prover.radicals import radicals
from maxproof.formal.prover.residues import residues
from maxproof.formal.prover.sets import sets

STRATEGIES: tuple[Strategy, ...] = (
    compute,
    isolated,
    sets,
    logarithms,
    radicals,
    closed_forms,
    algebra,
    values,
    bounds,
    divisibility,
    library,
    induction,
    cases,
    finite,
    opened,
    residues,
)
