"""How expressions group: closed claims whose truth shows it, and what Dafny 2.3 says of the same text.

Dafny gets the text as it stands here, not our printing of it.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("z3")
from formal_dafny import needs_dafny

from maxproof.formal.checkers.types import CheckState, Limits
from maxproof.formal.embedded.checker import check_here
from maxproof.formal.prelude.assemble import assemble
from maxproof.formal.syntax.parse import DafnySyntaxError, parse_program

TRUE = """
-7 / 2 == -4
-7 % 3 == 2
- 7 / 2 == -4
2 - 3 - 4 == -5
12 / 3 * 2 == 8
7 % 4 * 2 == 6
2 + 3 * 4 == 14
1 < 2 < 3
1 < 2 <= 2 == 2
3 > 2 >= 2 > 1
1 == 1 == 1
(1 == 1) == true
true ==> false ==> false
(true ==> false) ==> false
false ==> true ==> false
false <== true <== false
false <== false <== true
true <==> false <==> false
true ==> true <==> true
!true == false
! true || true
true && !false
true && true ==> false || true
forall x: int :: x > 0 ==> x >= 1
(if true then 1 else 2) == 1
var x := 1; x + 1 == 2
(var x := 1; x) + 1 == 2
1 in {1} && 2 !in {1}
!(1 in {2})
{1} + {2} == {2, 1}
{1} <= {1, 2} && {1} < {1, 2}
{1, 2} * {2} == {2}
{1} !! {2}
[1] + [2] == [1, 2]
[1, 2][0] == 1
[1, 2, 3][1..] == [2, 3]
[1, 2, 3][..1] == [1]
[1] <= [1, 2]
|[1, 2]| + 1 == 3
|{1, 1}| == 1
(1 as real) + 0.5 == 1.5
1 as real + 0.5 == 1.5
-1 as real == -1.0
-0.5.Floor == 0
(-0.5).Floor == -1
-(0.5.Floor) == 0
2.5.Floor == 2
3.0 as int == 3
-(1.0) == -1.0
1.0 / 2.0 / 2.0 == 0.25
(1, 2).0 == 1
((x: int) => x + 1)(2) == 3
(x => x + 1)(2) == 3
exists x: int :: x == 3 && x > 2
exists x :: x == 3
(set x: int | 0 <= x < 3) == {0, 1, 2}
(set x: int | 0 <= x < 3 :: x * x) == {0, 1, 4}
forall x: nat :: x >= 0
forall x: int | x > 3 :: x > 2
1 != 2
1 < 2 != 3
0 - 1 % 3 == -1
-1 * -1 == 1
- -1 == 1
1_000 == 1000
0x10 == 16
true != false
[1, 2][0 := 5] == [5, 2]
[1, 2][0 := 5][0] == 5
7 / -2 == -3
7 % -2 == 1
-7 / -2 == 4
2 * -3 == -6
3 - -3 == 6
!(false <==> true)
true ==> (false || true) && true
1 == 2 || 2 == 2 ==> 3 == 3
iset{1} == iset{1}
""".strip().splitlines()
FALSE = """
-7 / 2 == -3
2 - 3 - 4 == 3
12 / 3 * 2 == 2
false ==> true <==> false
!(true == true)
(forall x: int :: x > 0 ==> true) && false
if false then false else true && false
1 in {1} + {2} - {1}
[1] < [1]
1.0 / 2.0 / 2.0 == 1.0
7 / -2 == -4
""".strip().splitlines()
REFUSED = """
1 <= 1 && 2 >= 2 || false
false && true || true == true
if true then 1 else 2 == 2
set x: int | 0 <= x < 3 == {0, 1, 2}
""".strip().splitlines()
NEED_WITNESSES = ("exists", "(set x")  # Dafny finds no witness, or doesn't compute the set


def state(claim: str) -> CheckState:
    declarations = parse_program(f"lemma l() ensures {claim} {{}}").declarations
    return check_here(assemble(declarations, ["l"]), Limits(resource=500_000, seconds=10.0)).state


def test_true_claims_are_proved() -> None:
    assert [claim for claim in TRUE if state(claim) is not CheckState.PROVED] == []


def test_false_claims_are_not() -> None:
    assert [claim for claim in FALSE if state(claim) is not CheckState.FAILED] == []


def test_what_does_not_group_is_refused() -> None:
    for claim in REFUSED:
        try:
            assert state(claim) is CheckState.ILL_FORMED, claim
        except DafnySyntaxError:
            continue


@needs_dafny
@pytest.mark.slow
def test_dafny_groups_them_alike(tmp_path: Path) -> None:
    claims = [*TRUE, *FALSE]
    text = "\n".join(f"lemma p{i}() ensures {claim} {{}}" for i, claim in enumerate(claims))
    (tmp_path / "claims.dfy").write_text(text)
    command = ["dafny", "/nologo", "/compile:0", "/trace", "/timeLimit:10", "claims.dfy"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 4, ran.stdout
    refused = {
        int(found[1])
        for found in re.finditer(r"default\.p(\d+) \.\.\.\n  \[[^]]*\]  (\w+)", ran.stdout)
        if found[2] != "verified"
    }
    expected = set(range(len(TRUE), len(claims)))
    assert expected <= refused
    assert all(claims[i].startswith(NEED_WITNESSES) for i in refused - expected), [
        claims[i] for i in refused - expected
    ]


@needs_dafny
@pytest.mark.parametrize("claim", REFUSED)
def test_dafny_refuses_them_too(claim: str, tmp_path: Path) -> None:
    (tmp_path / "claim.dfy").write_text(f"lemma l() ensures {claim} {{}}")
    command = ["dafny", "/nologo", "/compile:0", "claim.dfy"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 2
