"""Shares are met, frequent techniques are capped, the long tail stays, and order makes no difference."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("numpy", reason="needs the extra data")

from pydantic import ValidationError

from maxproof.problems import InputError
from maxproof.problems.data.balance import (
    DOMAIN_SHARES,
    LEVEL_SHARES,
    BalanceCounts,
    BalanceSettings,
    balance,
    technique_weight,
    uniform,
)
from maxproof.problems.data.files import DataWriter, read_data
from maxproof.problems.data.record import DataRecord


def records(seed: int = 1, count: int = 2000) -> list[DataRecord]:
    """Half algebra; in each domain most records name one technique, few one of a long tail."""
    rng = random.Random(seed)
    made = []
    for number in range(count):
        domain = rng.choices([*DOMAIN_SHARES, None], weights=[2, 2, 5, 1.5, 0.5])[0]
        tail = rng.random() < 0.2
        techniques = (f"rare {rng.randrange(20)}",) if tail else ("induction",)
        made.append(
            DataRecord(
                id=str(number), statement=f"Problem {number}.", domain=domain, techniques=techniques,
                level=rng.choice(list(LEVEL_SHARES)),
            )
        )  # fmt: skip
    return made


def run(tmp_path: Path, rows: list[DataRecord], **settings: object) -> tuple[list[DataRecord], BalanceCounts]:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text("".join(row.model_dump_json() + "\n" for row in rows) + "bad\n")
    with DataWriter(out) as writer:
        counts = balance(source, writer, BalanceSettings.model_validate(settings))
    assert writer.rejected == 1
    kept = [row for _, row in read_data(out) if isinstance(row, DataRecord)]
    assert counts.after.records == len(kept)
    return kept, counts


def test_domains_reach_the_default_shares_at_the_largest_size(tmp_path: Path) -> None:
    rows = records()
    kept, counts = run(tmp_path, rows, strength=0)
    total = sum(DOMAIN_SHARES.values())
    have = Counter(row.domain for row in kept)
    for domain, share in DOMAIN_SHARES.items():
        assert have[domain] == pytest.approx(len(kept) * share / total, abs=1)
    full = Counter(row.domain for row in rows)
    assert any(have[domain] >= full[domain] - 1 for domain in DOMAIN_SHARES)  # none could be larger
    assert counts.before.domains["(other)"] == full[None]
    assert [row.id for row in kept] == [row.id for row in rows if row.id in {row.id for row in kept}]
    assert kept[0].provenance[-1].step == "balance"


def test_smoothing_caps_the_frequent_and_keeps_the_whole_tail(tmp_path: Path) -> None:
    rows = [row for row in records() if row.domain == "algebra"]
    kept, counts = run(tmp_path, rows, domains={"algebra": 1}, cap=0.1, strength=1)
    before, after = counts.before.techniques, counts.after.techniques
    assert before["induction"] > 0.7 * len(rows)
    assert after["induction"] == pytest.approx(0.1 * len(rows), abs=2)
    for technique in before:
        if technique != "induction":
            assert after[technique] >= before[technique] - 1
    assert len(kept) == pytest.approx(before.total() - before["induction"] + 0.1 * len(rows), abs=2)


def test_records_without_techniques_have_the_mean_weight(tmp_path: Path) -> None:
    rows = [DataRecord(id=f"a{n}", statement="S", domain="algebra", techniques=("t",)) for n in range(100)]
    rows += [DataRecord(id=f"c{n}", statement="S", domain="algebra", techniques=(f"u{n}",)) for n in range(4)]
    rows += [DataRecord(id=f"b{n}", statement="S", domain="algebra") for n in range(104)]
    _, counts = run(tmp_path, rows, domains={"algebra": 1}, cap=0.25, strength=0.5)
    weight = (100 * (0.25 / (100 / 104)) ** 0.5 + 4) / 104
    assert counts.after.records == int(208 * weight)
    assert counts.after.techniques["t"] == pytest.approx(104 * weight - 4, abs=15)


def test_an_even_mix_is_left_alone(tmp_path: Path) -> None:
    rows = [DataRecord(id=str(n), statement="S", domain="algebra", techniques=(f"t{n % 3}",)) for n in range(30)]
    assert len(run(tmp_path, rows, domains={"algebra": 1}, strength=1)[0]) == 30


def test_levels_are_shares_too(tmp_path: Path) -> None:
    kept, _ = run(tmp_path, records(count=4000), levels=LEVEL_SHARES, strength=0)
    have = Counter(row.level for row in kept)
    for level, share in LEVEL_SHARES.items():
        assert have[level] == pytest.approx(len(kept) * share, abs=6)


def test_a_given_size_is_met_or_refused(tmp_path: Path) -> None:
    kept, counts = run(tmp_path, records(), size=100)
    assert len(kept) == 100 == sum(counts.wanted.values())
    with pytest.raises(InputError, match=r"--size.*at most"):
        run(tmp_path, records(), size=1900)


def test_other_domains_are_dropped_or_kept_whole(tmp_path: Path) -> None:
    rows = records()
    dropped, _ = run(tmp_path, rows)
    kept, _ = run(tmp_path, rows, other="keep")
    assert {row.id for row in kept} - {row.id for row in dropped} == {row.id for row in rows if row.domain is None}


def test_order_makes_no_difference_and_the_seed_does(tmp_path: Path) -> None:
    rows = records()
    ids = {row.id for row in run(tmp_path, rows)[0]}
    assert {row.id for row in run(tmp_path, rows[::-1])[0]} == ids
    assert {row.id for row in run(tmp_path, rows, seed=1)[0]} != ids


def test_a_share_of_nothing_is_an_error(tmp_path: Path) -> None:
    rows = [row for row in records() if row.domain != "geometry"]
    with pytest.raises(InputError, match="no record of geometry"):
        run(tmp_path, rows)
    with pytest.raises(ValidationError):
        BalanceSettings(domains={"algebra": -1})
    with pytest.raises(ValidationError):
        BalanceSettings(domains={})


@given(st.floats(0.001, 1), st.floats(0.001, 1), st.floats(0, 1))
def test_a_weight_is_at_most_one_and_falls_with_the_share(one: float, other: float, strength: float) -> None:
    low, high = sorted((one, other))
    assert 0 < technique_weight(high, 0.1, strength) <= technique_weight(low, 0.1, strength) <= 1
    assert technique_weight(0.1, 0.1, strength) == 1


def test_draws_are_uniform() -> None:
    draws = [uniform(3, str(number)) for number in range(4000)]
    assert sum(draws) / 4000 == pytest.approx(0.5, abs=4 * (1 / 12 / 4000) ** 0.5)
    assert all(0 < draw < 1 for draw in draws)
