"""States of the world as people write them, and the problems in them in plain words."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from pydantic import ValidationError

from policy_engine import terms
from policy_engine.decision.model import Performance, World
from policy_engine.errors import (
    Place,
    PolicyError,
    Problem,
    RequestError,
    did_you_mean,
    join_names,
    place_order,
)
from policy_engine.policy import Policy
from policy_engine.policy.hierarchy import PARTS
from policy_engine.policy.naming import Names
from policy_engine.policy.syntax.json_text import Document, escape, read_valid_json

WorldPath = tuple[str | int, ...]
"""The keys and numbers that lead to a part of a state of the world."""

_FACT = "a fact must be a text, a number, a boolean, a time, or a list of these"
_SHAPES = {
    "time": "it must be a time, an ISO 8601 text such as 2026-06-01T12:00:00Z",
    "values": "it must map left operands to facts",
    "of": "it must map the IRI of a party, an asset or an action to facts by left operand",
    "counts": "it must map rules to whole numbers",
    "duties": "it must map the uids of duties to what became of them",
    "memberships": "it must contain lists of pairs, each a narrower name and a wider one",
}
_INNER = {
    ("values", 2): _FACT,
    ("of", 2): "it must map left operands to facts",
    ("of", 3): _FACT,
    ("counts", 2): "how often a rule was exercised must be a whole number, 0 or more",
    ("duties", 2): f"a duty is {join_names(get_args(Performance), 'or')}",
    ("memberships", 2): "it must be a list of pairs, each a narrower name and a wider one",
    ("memberships", 3): "it must be a pair of a narrower name and a wider one",
}
_KEYS = {0: tuple(World.model_fields), 1: (*PARTS, "implied")}
_UNKNOWN = {"extra_forbidden": 0, "unexpected_keyword_argument": 1}


def read_world(
    content: str | bytes | Mapping[str, Any], source: str = "", policies: Sequence[Policy] = ()
) -> World:
    """Return a state of the world from JSON, given as text or as Python values.

    Short names stand for what they mean in the policies. Raises RequestError (D003) with every
    problem, each with its place if it is a text, and D001 for a name that does not mean the same in
    all policies.
    """
    names = Names(policies)
    if isinstance(content, Mapping):
        return _world(names.world(content), source, lambda _way: Place())
    document = _document(content, source)

    def place(way: WorldPath) -> Place:
        pointer, value = "", document.value
        for step in way:
            keys = value if isinstance(value, dict) else {}
            next_pointer = f"{pointer}/{escape(names.written(keys, str(step)) or str(step))}"
            if next_pointer not in document.values:
                break
            pointer, value = next_pointer, document.at(next_pointer)
        return document.place(pointer)

    value = document.value
    return _world(names.world(value) if isinstance(value, dict) else value, source, place)


def _document(text: str | bytes, source: str) -> Document:
    try:
        return read_valid_json(text, source)
    except PolicyError as error:
        raise RequestError(*map(_json_problem, error.problems), source=source) from None


def _json_problem(one: Problem) -> Problem:
    return replace(one, code="D003", message=f"The state of the world is not JSON. {one.message}")


def _world(value: Any, source: str, place: Any) -> World:
    try:
        return World.model_validate(value)
    except ValidationError as error:
        problems = [
            Problem("D003", message, hint, place(way))
            for way, (message, hint) in world_faults(error).items()
        ]
        raise RequestError(*sorted(problems, key=place_order), source=source) from None


def world_faults(error: ValidationError) -> dict[WorldPath, tuple[str, str]]:
    """Return the problems of a state of the world, each with a hint, by the path to its part.

    There is one sentence per part, however many types were tried for it.
    """
    faults: dict[WorldPath, tuple[str, str]] = {}
    for one in error.errors(include_url=False):
        loc = tuple(one["loc"])
        if one["type"] in _UNKNOWN and len(loc) == _UNKNOWN[one["type"]] + 1:
            keys = _KEYS[len(loc) - 1]
            holder = "The state of the world" if len(loc) == 1 else f"{loc[0]!r}"
            message = f"{holder} has no key {loc[-1]!r}. It has {join_names(keys)}."
            faults.setdefault(loc, (message, did_you_mean(str(loc[-1]), keys)))
            continue
        way = _part_path(loc)
        stated_reason = str(one["ctx"]["error"]) if one["type"] == "value_error" else ""
        reason = (
            stated_reason or _INNER.get((str(way[0]), len(way))) or _SHAPES[str(way[0])]
            if way
            else ""
        )
        name = ".".join(terms.compact(str(step)) for step in way)
        message = f"In the state of the world, {name}: {reason}." if way else _NOT_AN_OBJECT
        faults.setdefault(way, (message, ""))
    return faults


_NOT_AN_OBJECT = f"A state of the world is an object with the keys {join_names(_KEYS[0])}."


def _part_path(loc: WorldPath) -> WorldPath:
    """Return the path to the part that a problem is about, without the types that were tried."""
    deepest = max((size for part, size in _INNER if loc and part == loc[0]), default=1)
    return loc[:deepest]
