"""Whole sets: files and records, headers, names, hashes, hostile input, and the statements of miniF2F."""

from __future__ import annotations

import hashlib
import json
import subprocess
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from formal_dafny import needs_dafny
from hypothesis import given
from hypothesis import strategies as st

from maxproof.formal.embedded.resolve.program import resolve
from maxproof.formal.lean.agreement import agreement
from maxproof.formal.lean.commands import read_theorems
from maxproof.formal.lean.elaborate import elaborate
from maxproof.formal.lean.errors import NotTranslated
from maxproof.formal.lean.lemma import to_lemma
from maxproof.formal.lean.translate import TranslatedSet, problem_text, translate, translate_set, write_problem
from maxproof.formal.lean.tree import Theorem
from maxproof.formal.prelude.assemble import assemble
from maxproof.formal.prelude.load import prelude
from maxproof.formal.problem import FormalProblem
from maxproof.formal.syntax.ast import Clause, Program
from maxproof.formal.syntax.dialect import Dialect
from maxproof.formal.syntax.parse import parse_expression, parse_program
from maxproof.formal.syntax.printer import print_expression, print_program
from maxproof.problems import InputError

MINIF2F = Path(__file__).parents[3] / "shared" / "data" / "minif2f-lean4.jsonl"

LEAN_FILE = """
import Mathlib
set_option maxHeartbeats 400000
open BigOperators Real
open scoped Topology

/-- A comment with theorem in it. -/
@[simp]
theorem first (x : ℝ) (h : x = 1) : x ^ 2 = 1 := by
  subst h
  norm_num
  ‹some› "strange" proof with theorem inside

namespace Nat

-- n! needs Nat, which the namespace opens
theorem second (n : ℕ) : 0 < n ! := by sorry

end Nat

open Nat in
lemma third : 3 ! = 6 := by decide

theorem fourth (s : Foo) : s = s := rfl
"""


def test_a_lean_file(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "Example.lean").write_text(LEAN_FILE, "utf-8")
    result = translate_set(tmp_path)
    assert [p.name for p in result.problems] == ["first", "second", "third"]
    (refused,) = result.refused
    file = tmp_path / "sub" / "Example.lean"
    assert str(refused) == f"fourth: {file}, line 24, column 21: not translated: the name `Foo`"
    assert len(result) == 4
    assert {p.split for p in result.problems} == {"sub"}


def test_opens_end_with_their_namespace_or_command() -> None:
    text = "open Nat in\ntheorem a : 3 ! = 6 := rfl\n\ntheorem b : 3 ! = 6 := rfl\n"
    first, second = (elaborated(t) for t in read_theorems(text))
    assert first is None
    assert second is not None
    assert "namespace Nat" in second


def test_theorems_before_a_definition_are_translated(tmp_path: Path) -> None:
    file = tmp_path / "a.lean"
    file.write_text("theorem a : True := trivial\ndef sqrt := 3\ntheorem b : True := trivial\n", "utf-8")
    result = translate_set(file)
    assert [p.name for p in result.problems] == ["a"]
    assert [(r.name, r.construct) for r in result.refused] == [("b", "what comes after `def`")]


def elaborated(theorem: Theorem | NotTranslated) -> str | None:
    """What stands in the way, None if nothing."""
    try:
        if isinstance(theorem, NotTranslated):
            raise theorem
        elaborate(theorem)
    except NotTranslated as refusal:
        return refusal.construct
    return None


def test_records(tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    records = [
        {"name": "a", "split": "test", "statement": "theorem a : π < 4", "open": ["open Real"]},
        {"name": "b", "split": "valid", "statement": "theorem b\n  (x : ℝ) :\n  foo x = 1"},
    ]
    file.write_text("\n".join(json.dumps(r) for r in records), "utf-8")
    result = translate_set(file)
    assert [(p.name, p.split) for p in result.problems] == [("a", "test")]
    assert [(r.name, r.split, r.line, r.column) for r in result.refused] == [("b", "valid", 3, 3)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not JSON"),
        ("[]", "no record"),
        ('{"name": "a"}', "no record"),
        ('{"statement": "theorem a : True", "open": "Real"}', "no record"),
        ('{"statement": 3}', "no record"),
        ('{"statement": "theorem a : True\\ntheorem b : True"}', "2 theorems"),
        ('{"statement": "theorem a : True"}\n{"statement": "theorem a : True"}', "a second statement named a"),
    ],
)
def test_broken_records(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "set.jsonl"
    file.write_text(content, "utf-8")
    with pytest.raises(InputError, match=message):
        translate_set(file)


def test_missing_and_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no \.lean file"):
        translate_set(tmp_path)
    with pytest.raises(InputError):
        translate_set(tmp_path / "absent.lean")
    (tmp_path / "latin.lean").write_bytes(b"theorem caf\xe9")
    with pytest.raises(InputError, match="UTF-8"):
        translate_set(tmp_path / "latin.lean")


def test_a_problem_file(tmp_path: Path) -> None:
    text = "theorem square (x : ℝ) (h : x = 2) : x ^ 2 = 4"
    problem = translate(f"{text} := by\n  simp")
    assert problem.origin == hashlib.sha256(text.encode()).hexdigest()
    assert problem.source == text
    path = write_problem(problem, tmp_path)
    assert path.name == "square.dfy"
    assert path.read_text("utf-8") == (
        "// square: translated from Lean 4\n"
        f"// SHA-256 of the Lean statement: {problem.origin}\n\n"
        "lemma square(x: real)\n  requires x == 2.0\n  ensures x * x == 4.0\n{ }\n"
    )
    assert parse_program(path.read_text("utf-8")).lemmas == (problem.lemma,)


@pytest.mark.parametrize("name", ["assert", "gcd", "divisors"])
def test_a_theorem_may_have_a_name_that_is_taken(name: str) -> None:
    assert translate(f"theorem {name} : True").name == f"{name}_1"


# Hostile input: an answer or a refusal, soon


HOSTILE = [
    "(" * 5000 + "x" + ")" * 5000 + " = 1",
    " + ".join(["x"] * 5000) + " = 1",
    " ∧ ".join(["x = 1"] * 3000),
    "¬ " * 3000 + "x = 1",
    "- " * 3000 + "x = 1",
    "↑" * 3000 + "x = 1",
    "√" * 3000 + "x = 1",
    "x" + "⁻¹" * 3000 + " = 1",
    "".join(f"∃! x{i} : ℝ, " for i in range(40)) + "x0 = 1",
    "(" * 40 + "x + y" + ") ^ 4" * 40 + " = 1",
    "x ^ 99999999999999999999999 = 1",
    "x = " + "9" * 100_000,
    "∀ " + " ".join(f"a{i}" for i in range(3000)) + " : ℝ, x = 1",
    "[" + ", ".join(["n"] * 3000) + "].Pairwise (· ≠ ·)",
    "n ∈ ({" + ", ".join(["n"] * 3000) + "} : Set ℕ)",
    "n ∈ " + "{k : ℕ | k ∈ " * 40 + "({1} : Set ℕ)" + "}" * 40,
    "IsLeast " * 3000 + "3",
    "(fun n : ℕ => " * 40 + "n" + ")" * 40 + " n = 1",
    "Nat.gcd " * 3000 + "1 = 1",
    "x " * 5000 + "= 1",
    "x = 1 \x00 \u202e",
    "/-" * 5000 + "x = 1",
    "“x” = 1",
    "x.y.z.w = 1",
    "(·) = 1",
    "· = 1",
    "|x = 1",
    "{x | } = 1",
    "[] = []",
    "∑ x ∈ , x = 1",
    "f⁻¹' = 1",
    "",
]


@pytest.mark.parametrize("conclusion", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile(conclusion: str) -> None:
    try:
        problem = translate(f"theorem t (x y : ℝ) (n : ℕ) : {conclusion}", opened=["open Nat Real"])
    except NotTranslated:
        return
    resolve(assemble((*problem.definitions, problem.lemma), [problem.name]).program)


@given(st.text(alphabet="theorem t(x:ℝ)=1+*^∑∈,{}|[]·↑⁻¹'∀∃!→∧ \n-/.λ"))
def test_any_text_is_translated_or_refused(text: str) -> None:
    for prefix in ("", "theorem t (x : ℝ) (n : ℕ) : "):
        with suppress(NotTranslated):
            assert translate(prefix + text, opened=["Nat", "Real"]).origin


# Both readings


STATEMENTS = [
    "theorem t (n m : ℕ) : n - m + m = n ∨ n / m * m + n % m = n",
    "theorem t (a b : ℤ) : a / b * b + a % b = a ∧ a % -3 = -a / 2",
    "theorem t (x y : ℝ) : x / y * y = x ∨ x⁻¹ = 1 / x ∨ x ^ 3 - x ^ (-(2 : ℤ)) < -x ^ 2",
    "theorem t (z w : ℂ) : z / w * w = z ∧ z ^ 3 = -w ∧ Complex.normSq z = z.re ^ 2 + z.im ^ 2",
    "theorem t (f : ℕ → ℕ) : ∀ n, ∑ k ∈ Finset.range n, f (k - 1) = f n - 1",
    "theorem t (n : ℕ) : n.divisors.card = 3 ↔ (∑ d ∈ Nat.properDivisors n, (d : ℚ) / 2) = 1",
    "theorem t (S : Finset ℕ) : ∑ k ∈ S, (k - 1) = (Finset.filter (fun k => k % 3 = 1) S).card",
    "theorem t (a b : NNReal) : a - b + b = a ∧ 2 * a ≤ b / 3",
    "theorem t (q : ℚ) : q.num = q * q.den ∧ ⌊q⌋ ≤ q ∧ ⌈q⌉ - ⌊q⌋ ≤ 1",
    "theorem t (n : ℕ) : (Nat.digits 10 n).sum % 9 = n % 9 ∧ n ! % 7 = Nat.choose n 2",
    "theorem t (x : ZMod 7) : x ^ 3 = 1 ∨ x = -2 ∨ x * 3⁻¹ = 4",
    "theorem t (σ : Equiv ℝ ℝ) : σ.1 (σ.2 3) = 3 ∧ σ 2 = 1",
    "theorem t (p : ℕ) (x : ℝ) : Nat.Prime p → |x - p| < 3 ∧ max x 2 ≤ min 3 x",
    "theorem t (a b : ℤ) : a ≡ b [ZMOD 5] ∨ a ∣ b ∨ Int.gcd a b = 1 ∨ a.natAbs = 2",
]


def both(text: str) -> tuple[FormalProblem, object]:
    (theorem,) = read_theorems(text, ["Nat", "Real"])
    assert isinstance(theorem, Theorem)
    return translate(text, opened=["Nat", "Real"]), elaborate(theorem)


@pytest.mark.parametrize("text", STATEMENTS)
def test_both_readings_agree(text: str) -> None:
    problem, statement = both(text)
    outcome = agreement(statement, problem, trials=30)  # type: ignore[arg-type]
    assert outcome.differences == []
    assert outcome.compared >= 30


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("theorem t (n m : ℕ) : n - m = 3", "n - m == 3"),
        ("theorem t (a b : ℤ) : a / b = 3", "if b == 0 then a == 3 else a / b == 3"),
        ("theorem t (x : ℝ) : -x ^ 2 = 1", "(-x) * (-x) == 1.0"),
        ("theorem t (n : ℕ) : ∑ k ∈ Finset.Icc 1 n, k = 3", "isum(1, n, (k: int) => k) == 3"),
        ("theorem t (f : ℕ → ℤ) : ∀ n > 1, f (n - 1) = 2", "forall n: nat :: n > 1 ==> f(n + 1) == 2"),
        ("theorem t (q : ℚ) : q.den = 2", "rat_num(q) == 2"),
        ("theorem t (n m : ℕ) : n ∣ m", "divides(m, n)"),
    ],
)
def test_a_wrong_translation_is_noticed(text: str, wrong: str) -> None:
    problem, statement = both(text)
    lemma = replace(problem.lemma, ensures=(Clause(parse_expression(wrong)),))
    assert agreement(statement, replace(problem, lemma=lemma), trials=30).differences  # type: ignore[arg-type]


# miniF2F


@pytest.fixture(scope="module")
def minif2f() -> TranslatedSet:
    if not MINIF2F.is_file():
        pytest.skip("the statements of miniF2F are not here")
    return translate_set(MINIF2F)


def test_minif2f_is_translated(minif2f: TranslatedSet) -> None:
    assert len(minif2f) == 488
    assert len(minif2f.problems) >= 480
    assert len({p.name for p in minif2f.problems}) == len(minif2f.problems)


def test_minif2f_resolves_and_reads_back(minif2f: TranslatedSet) -> None:
    for problem in minif2f.problems[::5]:
        task = assemble((*problem.definitions, problem.lemma), [problem.name])
        resolve(task.program, task.targets)
        assert parse_program(problem_text(problem)).declarations == (*problem.definitions, problem.lemma)


def test_minif2f_is_translated_the_same_each_time(minif2f: TranslatedSet) -> None:
    for statement, problem in zip(minif2f.statements[::25], minif2f.problems[::25], strict=True):
        assert to_lemma(statement) == (problem.lemma, problem.definitions)


def test_minif2f_reads_the_same_in_lean_and_dafny(minif2f: TranslatedSet) -> None:
    pairs = list(zip(minif2f.statements, minif2f.problems, strict=True))[::4]
    outcomes = {p.name: agreement(s, p, trials=2) for s, p in pairs}
    assert {name: o.differences for name, o in outcomes.items() if o.differences} == {}
    assert sum(o.compared > 0 for o in outcomes.values()) > 0.95 * len(outcomes)


def test_what_lean_says_though_nobody_meant_it(minif2f: TranslatedSet) -> None:
    """An exponent 1/3 of which nothing says that it is real is a natural number, 0; the translation keeps that."""
    by_name = {p.name: p for p in minif2f.problems}
    (conclusion,) = by_name["mathd_algebra_208"].lemma.ensures
    assert print_expression(conclusion.condition) == "sqrt(1000000.0) - pow(1000000.0, 1 / 3) == 900.0"


@needs_dafny
def test_minif2f_resolves_in_dafny(minif2f: TranslatedSet, tmp_path: Path) -> None:
    extra = {d.name: d for p in minif2f.problems for d in p.definitions}
    lemmas = [p.lemma for p in minif2f.problems]
    program = Program((*prelude().definitions.declarations, *extra.values(), *lemmas))
    file = tmp_path / "all.dfy"
    file.write_text(print_program(program, Dialect.DAFNY_2_3).text, "utf-8")
    command = ["dafny", "/compile:0", "/dafnyVerify:0", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert [line for line in done.stdout.splitlines() if ": Error" in line] == []
    assert done.returncode == 0
