"""Flags of the formal commands as settings."""

from __future__ import annotations

import pytest

from maxproof.cli.formal_options import formal_settings, method_names
from maxproof.problems import InputError


def test_flags_that_are_not_given_leave_the_defaults() -> None:
    settings = formal_settings({"checker": "embedded", "confirm": None, "repeats": None})
    assert settings == formal_settings({})
    assert settings.repeats == 1


def test_limits_reach_the_checks() -> None:
    limits = formal_settings({}, 5, 2.5, 7.0, 512).limits.limits()
    assert (limits.resource, limits.seconds, limits.wall_seconds, limits.memory_mb) == (5, 2.5, 7.0, 512)


@pytest.mark.parametrize(
    ("limits", "flag"),
    [((None, 0.0, None, None), "--seconds"), ((None, None, -1.0, None), "--wall"), ((None, None, None, 3), "--memory")],
)
def test_an_impossible_limit_is_named_by_its_flag(limits: tuple[None, ...], flag: str) -> None:
    with pytest.raises(InputError) as error:
        formal_settings({}, *limits)
    assert error.value.field == flag


def test_methods_are_named_once_each_in_order() -> None:
    assert method_names(" symbolic,empty,symbolic") == ["symbolic", "empty"]


@pytest.mark.parametrize(("text", "told"), [("gided", "guided"), (",", "empty, symbolic"), ("x", "population")])
def test_unknown_methods_are_refused_with_what_there_is(text: str, told: str) -> None:
    with pytest.raises(InputError) as error:
        method_names(text)
    assert told in str(error.value)
