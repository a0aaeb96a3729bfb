"""Clusters are found as an exhaustive search finds them; no cluster is in two splits; shares are met."""

from __future__ import annotations

import random
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("datasketch", reason="needs the extra data")

import numpy as np

from maxproof.problems.data.clusters import BUCKET, ClusterIndex, Clusters, ClusterSettings
from maxproof.problems.data.files import DataWriter, Reject, read_data
from maxproof.problems.data.near_duplicates import grams_of, jaccard
from maxproof.problems.data.normal_form import normal_form
from maxproof.problems.data.record import DataRecord
from maxproof.problems.data.split import SPLITS, SplitCounts, SplitSettings, assign, leaks, split

WORDS = [
    f"{first}{second}" for first in ("ka", "lo", "mi", "ne", "pu", "ra") for second in ("be", "do", "fi", "gu", "sy")
]
DOMAINS = ("algebra", "combinatorics", "geometry", "number theory", None)


def statement(rng: random.Random, length: int = 30) -> str:
    return " ".join(rng.choices(WORDS, k=length))


def changed(text: str, rng: random.Random, words: int) -> str:
    parts = text.split()
    for at in rng.sample(range(len(parts)), words):
        parts[at] = "other"
    return " ".join(parts)


def found(folder: Path, statements: list[str], **settings: object) -> Clusters:
    with ClusterIndex(folder, ClusterSettings.model_validate(settings)) as index:
        for text in statements:
            index.add(text)
        return index.clusters()


def written(path: Path, records: list[DataRecord]) -> Path:
    path.write_text("".join(record.model_dump_json() + "\n" for record in records))
    return path


def corpus(count: int, seed: int = 3) -> list[DataRecord]:
    """Every third statement has one to three variants: a word changed or two."""
    rng = random.Random(seed)
    records = []
    for number in range(count):
        text = statement(rng)
        for variant in range(1 if number % 3 else rng.randint(2, 4)):
            records.append(
                DataRecord(
                    id=f"{number}-{variant}",
                    statement=text if not variant else changed(text, rng, rng.randint(0, 1)),
                    domain=DOMAINS[number % 5],
                )
            )
    rng.shuffle(records)
    return records


def run(tmp_path: Path, records: list[DataRecord], **settings: object) -> tuple[dict[str, str], SplitCounts]:
    source, out = written(tmp_path / "in.jsonl", records), tmp_path / "out.jsonl"
    with DataWriter(out) as writer:
        counts = split(source, writer, SplitSettings.model_validate(settings), tmp_path)
    labels: dict[str, str] = {}
    for _, row in read_data(out):
        assert not isinstance(row, Reject)
        assert row.split is not None
        labels[row.id] = row.split
    return labels, counts


def test_clusters_are_those_of_an_exhaustive_search(tmp_path: Path) -> None:
    statements = [record.statement for record in corpus(120)]
    sets = [grams_of(normal_form(text).words) for text in statements]
    expected = list(range(len(sets)))
    for one, other in combinations(range(len(sets)), 2):
        if jaccard(sets[one], sets[other]) >= 0.6:
            low, high = sorted((expected[one], expected[other]))
            expected = [low if label == high else label for label in expected]
    clusters = found(tmp_path, statements, permutations=256)
    assert clusters.first.tolist() == expected
    assert clusters.count == len(set(expected))
    assert list(tmp_path.iterdir()) == []


def test_copies_and_short_statements(tmp_path: Path) -> None:
    clusters = found(tmp_path, ["Find $x$.", "find y", "Find $x + 1$.", "Prove", "Prove that."])
    assert clusters.first.tolist() == [0, 0, 2, 3, 4]
    assert found(tmp_path, []).count == 0


def test_large_buckets_are_walked_once_and_what_is_left_out_is_counted(tmp_path: Path) -> None:
    rng = random.Random(1)
    copies = [statement(rng)] * 500
    clusters = found(tmp_path, copies)
    assert (clusters.count, clusters.compared) == (1, 0)
    common = statement(rng, 400)
    alike = [changed(common, random.Random(number), 3) for number in range(4 * BUCKET)]
    clusters = found(tmp_path, alike, threshold=0.95, permutations=16)
    assert clusters.not_compared > 0


def test_no_cluster_is_in_two_splits_and_shares_are_met(tmp_path: Path) -> None:
    records = corpus(400)
    labels, counts = run(tmp_path, records, validation=0.1, test=0.2)
    by_problem: dict[str, set[str]] = {}
    for id, label in labels.items():
        by_problem.setdefault(id.split("-")[0], set()).add(label)
    assert all(len(splits) == 1 for splits in by_problem.values())
    assert len(labels) == len(records)
    assert counts.of("test") == pytest.approx(0.2 * len(records), abs=4)
    assert counts.of("validation") == pytest.approx(0.1 * len(records), abs=4)
    for domain, row in counts.by_domain.items():
        assert row["test"] == pytest.approx(0.2 * sum(row.values()), abs=5), domain
    assert sum(counts.clusters.values()) == len(by_problem)
    assert leaks(tmp_path / "out.jsonl", ClusterSettings(seed=99), tmp_path) == []


def test_the_check_finds_a_planted_leak(tmp_path: Path) -> None:
    rng = random.Random(8)
    text = statement(rng)
    records = [
        DataRecord(id="a", statement=text, split="train"),
        DataRecord(id="b", statement=statement(rng), split="train"),
        DataRecord(id="c", statement=changed(text, rng, 1), split="test"),
    ]
    (leak,) = leaks(written(tmp_path / "s.jsonl", records), ClusterSettings(), tmp_path)
    assert leak.records == (("a", "train"), ("c", "test"))


def test_the_order_of_records_makes_no_difference_and_the_seed_does(tmp_path: Path) -> None:
    records = corpus(100)
    labels, _ = run(tmp_path, records, test=0.3)
    assert run(tmp_path, records[::-1], test=0.3)[0] == labels
    assert run(tmp_path, records, test=0.3, seed=1)[0] != labels


def test_added_records_move_few_clusters(tmp_path: Path) -> None:
    records = corpus(300)
    before, _ = run(tmp_path, records, test=0.2)
    after, _ = run(
        tmp_path, records + [record.model_copy(update={"id": "n" + record.id}) for record in corpus(30, 9)], test=0.2
    )
    assert sum(after[id] != label for id, label in before.items()) < 0.15 * len(before)


def test_bad_rows_do_not_shift_the_labels(tmp_path: Path) -> None:
    records = corpus(50)
    labels, _ = run(tmp_path, records, test=0.3)
    lines = (tmp_path / "in.jsonl").read_text().splitlines()
    lines.insert(3, "bad")
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    with DataWriter(tmp_path / "again.jsonl") as writer:
        split(tmp_path / "in.jsonl", writer, SplitSettings(test=0.3), tmp_path)
    assert writer.rejected == 1
    assert {
        row.id: row.split for _, row in read_data(tmp_path / "again.jsonl") if isinstance(row, DataRecord)
    } == labels


@given(st.lists(st.integers(0, 6), min_size=1, max_size=60), st.integers(0, 3), st.floats(0, 0.4), st.floats(0, 0.4))
def test_whole_clusters_are_assigned_within_what_is_owed(
    clusters: list[int], seed: int, validation: float, test: float
) -> None:
    first = np.array([clusters.index(cluster) for cluster in clusters])
    keys = np.array([cluster * 7919 + 1 for cluster in clusters], np.uint64)
    settings = SplitSettings(validation=validation, test=test, seed=seed)
    labels, _, sizes = assign(Clusters(first, keys, 0, 0, 0), np.zeros(len(first), np.int64), settings)
    for cluster in set(clusters):
        assert len({labels[at] for at, other in enumerate(clusters) if other == cluster}) == 1
    assert sizes.tolist() == [clusters.count(cluster) for cluster in clusters]
    assert np.count_nonzero(labels == SPLITS.index("test")) <= round(test * len(clusters))
    assert np.count_nonzero(labels == SPLITS.index("validation")) <= round(validation * len(clusters))


def test_empty_and_impossible(tmp_path: Path) -> None:
    assert run(tmp_path, [])[0] == {}
    with pytest.raises(ValueError, match="nothing for training"):
        SplitSettings(validation=0.5, test=0.5)
