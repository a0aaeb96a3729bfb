"""A request's body, read as what it is: hostile input.

    {"items": [{"problem_id": "p", "answer": "..."},
               {"statement": "...", "reference": "...", "rubric": "...", "answer": "...", "finished": false}]}

Whatever is wrong is an InputError whose field names the item: `items[3].answer`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from maxproof.problems import Problem
from maxproof.problems.errors import Place
from maxproof.problems.fields import check_keys, to_problem

BODY = "request"
STATED_ID = "stated"
"""The id of a problem that the request states itself."""
_STATED = ("statement", "reference", "rubric")
_KEYS = ("problem_id", *_STATED, "answer", "finished")
_SHOWN_IDS = 3


@dataclass(frozen=True, slots=True)
class Item:
    """One answer to be rewarded.

    Attributes:
        answer: what the model wrote, thinking included.
        finished: it ended by itself; false when the token limit cut it, which is worth nothing.
    """

    problem: Problem
    answer: str
    finished: bool = True


def read_items(body: bytes, problems: Mapping[str, Problem], most: int) -> list[Item]:
    """The items of a body, at least one, at most `most`.

    Args:
        problems: those that a `problem_id` may name.

    Raises InputError.
    """
    place = Place(BODY)
    try:
        found = json.loads(body, parse_constant=_no_number)
    except RecursionError:
        raise place.error("nested too deeply") from None
    except ValueError as error:
        # Its text may hold a piece of what was sent.
        where = f" at character {error.pos}" if isinstance(error, json.JSONDecodeError) else ""
        raise place.error(f"not JSON{where}") from None
    if not isinstance(found, dict):
        raise place.error('expected an object: {"items": [...]}')
    check_keys(found, place, ("items",))
    items = found.get("items")
    if not isinstance(items, list) or not items:
        raise place.error("expected a list of at least one item", field="items")
    if len(items) > most:
        raise place.error(f"{len(items)} items, this server takes at most {most}", field="items", hint="send fewer")
    return [_item(raw, Place(BODY, item=f"items[{index}]"), problems) for index, raw in enumerate(items)]


def _item(raw: Any, place: Place, problems: Mapping[str, Problem]) -> Item:
    if not isinstance(raw, dict):
        raise place.error("expected an object")
    check_keys(raw, place, _KEYS)
    answer, finished = raw.get("answer"), raw.get("finished", True)
    if not isinstance(answer, str):
        raise place.error("expected a text", field="answer")
    if not isinstance(finished, bool):
        raise place.error("expected true or false", field="finished")
    if "problem_id" not in raw:
        stated = {key: raw[key] for key in _STATED if key in raw}
        if not stated:
            raise place.error("expected problem_id, or a statement")
        return Item(to_problem(stated, place, STATED_ID), answer, finished)
    for key in _STATED:
        if key in raw:
            raise place.error("given beside problem_id, expected one of the two", field=key)
    return Item(_known(raw["problem_id"], place, problems), answer, finished)


def _known(name: object, place: Place, problems: Mapping[str, Problem]) -> Problem:
    if not isinstance(name, str):
        raise place.error("expected a text", field="problem_id")
    if name not in problems:
        some = ", ".join(islice(problems, _SHOWN_IDS))
        held = f"the server holds {len(problems)}, such as {some}" if problems else "the server holds none"
        raise place.error("no problem has this id", field="problem_id", hint=held)
    return problems[name]


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON")
