"""The group filter, for trainers whose reward function sees whole groups but which have no filter of their own."""

from __future__ import annotations

from collections.abc import Sequence

from maxproof.training.advantage import group_advantages


def drop_flat_groups(rewards: Sequence[float | None], group: int, std_threshold: float) -> list[float | None]:
    """The rewards, with every member of a group that isn't used set to None ("not scored").

    Args:
        rewards: of consecutive groups of `group` answers each; None is not scored.
        std_threshold: a group is used iff its population std exceeds it, strictly.

    Raises:
        ValueError: the rewards aren't whole groups: the trainer has split one over processes.
        InputError: a group of less than 2, or a reward that is no finite number.
    """
    if len(rewards) % group:
        raise ValueError(f"{len(rewards)} rewards are no whole groups of {group}: a group is split over processes")
    kept: list[float | None] = []
    for start in range(0, len(rewards), group):
        members = rewards[start : start + group]
        used = group_advantages(members, std_threshold=std_threshold, epsilon=0.0).dropped is None
        kept += members if used else [None] * group
    return kept
