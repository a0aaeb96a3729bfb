"""Ids of offspring, and what they are told of their siblings."""

from __future__ import annotations

from maxproof.search.refinement import first_slots, offspring_slots, sibling_list
from maxproof.search.settings import SearchSettings
from maxproof.search.types import Candidate, Slot, Standing
from maxproof.verifier.types import Draft


def standing(candidate, summary):
    return Standing(Candidate(Slot(candidate, 0, "generate"), Draft("")), 4, {}, summary)


def test_ids_tell_the_round():
    assert [slot.id for slot in first_slots(32)] == list(range(32))
    for number in range(1, 11):
        slots = offspring_slots(number, (5, 1, 9, 2), SearchSettings())
        assert [slot.id for slot in slots] == list(range(32 + 8 * (number - 1), 32 + 8 * number))
        assert all((slot.id - 32) // 8 + 1 == number == slot.round for slot in slots)
    assert slots[2:4] == [Slot(106, 10, "patch", 1), Slot(107, 10, "rewrite", 1)]


def test_fewer_parents_leave_ids_unused():
    assert [slot.id for slot in offspring_slots(2, (7,), SearchSettings())] == [40, 41]
    assert offspring_slots(3, (7,), SearchSettings())[0].id == 48


def test_two_offspring_of_one_kind_have_the_ids_of_both():
    both = offspring_slots(1, (5, 1), SearchSettings())
    for kind in ("patch", "rewrite"):
        slots = offspring_slots(1, (5, 1), SearchSettings(offspring=kind))
        assert {slot.origin for slot in slots} == {kind}
        assert [(slot.id, slot.parent) for slot in slots] == [(slot.id, slot.parent) for slot in both]


def test_siblings_come_by_id_without_those_that_have_no_summary():
    listed = sibling_list([standing(7, "induction; base missing"), standing(2, ""), standing(3, "counting")])
    assert listed == "Candidate 3: counting\nCandidate 7: induction; base missing"


def test_the_newest_siblings_are_kept():
    listed = sibling_list([standing(i, "x" * 80) for i in range(100)], limit=1000)
    assert len(listed) <= 1000
    assert [line.split(":")[0] for line in listed.splitlines()] == [f"Candidate {i}" for i in range(90, 100)]
