"""JSON as the taxonomies' readers take it: numbers as they are written, keys checked."""

import json
import re
from typing import Any, NoReturn

from policy_engine.data.taxonomy.problems import MAX_NODES, Problems, shown
from policy_engine.errors import Place

Pointer = tuple["Pointer", str] | None
"""A JSON pointer as its last step and what comes before: long ones cost nothing unless shown."""

_MAX_BRACKETS = 8 * MAX_NODES
_HALF_OF_A_PAIR = re.compile("[\ud800-\udfff]")


class Number(str):
    """A JSON number, as it is written."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Twice(dict[str, Any]):
    """A JSON object in which the key `twice` stands more than once."""

    twice: str


def read_json(text: str, problems: Problems) -> Any:
    """Return the value of a JSON text, its numbers as Number. Raises DataError (J001, T003)."""
    if text.count("{") + text.count("[") > _MAX_BRACKETS:
        problems.fail("T003", f"The text has too many values. {_MAX_BRACKETS:,} are allowed.")
    try:
        return json.loads(
            text,
            parse_int=Number,
            parse_float=Number,
            parse_constant=_refuse,
            object_pairs_hook=_object,
        )
    except json.JSONDecodeError as error:
        place = Place("", error.lineno, error.colno)
        problems.fail("J001", f"The text is not JSON: {error.msg}.", "", place)
    except ValueError as error:
        problems.fail("J001", f"The text is not JSON: {error}.")
    except RecursionError:
        problems.fail("T003", "The text is nested too deeply.")


def rendered(pointer: Pointer) -> str:
    """Return a JSON pointer as text (RFC 6901)."""
    steps = []
    while pointer:
        pointer, step = pointer
        steps.append(step.replace("~", "~0").replace("/", "~1"))
    return "".join(f"/{step}" for step in reversed(steps))


def at(pointer: Pointer) -> Place:
    """Return the place of a JSON pointer."""
    return Place(rendered(pointer))


def named(pointer: Pointer) -> str:
    """Return a JSON pointer as a message names it."""
    return shown(rendered(pointer)) if pointer else "the top of the text"


def note_twice(value: Any, pointer: Pointer, problems: Problems) -> None:
    """Note a key that appears twice in an object (J002)."""
    if isinstance(value, Twice):
        message = f"The key {shown(value.twice)} appears twice in the object at {named(pointer)}."
        problems.add("J002", message, "", at(pointer))


def is_text(value: Any) -> bool:
    """Tell whether a value is a string that can be written as UTF-8."""
    return isinstance(value, str) and (value.isascii() or not _HALF_OF_A_PAIR.search(value))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    seen: set[str] = set()
    twice = Twice(members)
    twice.twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return twice


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")
