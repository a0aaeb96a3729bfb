"""The prelude and the examples by both checkers: who proves what, and that nobody contradicts.

Run with `-s` to see the table of what only one of the two proves.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("z3")
from formal_dafny import needs_dafny
from formal_dafny_batch import ask

from maxproof.formal.checkers.types import CheckResult, CheckState, Limits, ObligationState
from maxproof.formal.embedded.checker import check_here
from maxproof.formal.prelude.assemble import assemble
from maxproof.formal.prelude.load import prelude
from maxproof.formal.syntax.ast import Datatype, Declaration
from maxproof.formal.syntax.parse import parse_program

pytestmark = [pytest.mark.slow, needs_dafny]

LIMITS = Limits(seconds=60.0)
TOGETHER = 20  # declarations in one run of Dafny
EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "formal").glob("**/*.dfy"))


def with_body(declarations: tuple[Declaration, ...]) -> list[str]:
    return [d.name for d in declarations if not isinstance(d, Datatype) and d.body is not None]


def compare(own: tuple[Declaration, ...], names: list[str], folder: Path) -> Counter[str]:
    """Classes of agreement on `names`. Fails where the embedded checker refutes what Dafny verifies."""
    classes: Counter[str] = Counter()
    for start in range(0, len(names), TOGETHER):
        part = names[start : start + TOGETHER]
        there = ask(assemble(own, part), folder, seconds=60.0 + 30.0 * len(part), each=30)
        for name in part:
            here = check_here(assemble(own, [name]), LIMITS)
            said = there.get(name)
            verified = said is not None and said.verified
            assert here.state is not CheckState.TOOL_ERROR, name
            assert not (verified and refuted(here)), f"{name}: Dafny verifies it, we have {here.reason}"
            if verified or here.state is CheckState.PROVED:
                one = "" if not verified else "Dafny only" if here.state is not CheckState.PROVED else "both"
                classes[one or "embedded only"] += 1
                if one != "both":
                    why = here.reason if one else "; ".join(said.messages or said.outcomes) if said else "no answer"
                    print(f"{one or 'embedded only':14} {name}: {why}")
            else:
                classes["neither"] += 1
                print(f"neither        {name}: {here.reason}")
    print(dict(classes))
    return classes


def refuted(result: CheckResult) -> bool:
    return any(o.state is ObligationState.REFUTED and o.confirmed for o in result.obligations)


def test_definitions(tmp_path: Path) -> None:
    classes = compare((), with_body(prelude().definitions.declarations), tmp_path)
    assert classes["neither"] == 0


def test_library(tmp_path: Path) -> None:
    classes = compare((), with_body(prelude().library.declarations), tmp_path)
    assert classes["neither"] == 0


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples(path: Path, tmp_path: Path) -> None:
    declarations = parse_program(path.read_text()).declarations
    compare(declarations, with_body(declarations), tmp_path)
