"""JSON for the readers of taxonomies: numbers as they are written, keys checked."""

import json
import re
from typing import Any, NoReturn

from policy_engine.data.taxonomy.problems import MAX_NODES, Problems, quote
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


class DuplicateKeys(dict[str, Any]):
    """A JSON object in which the key `duplicate` appears more than once."""

    duplicate: str


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


def format_pointer(pointer: Pointer) -> str:
    """Return a JSON pointer as text (RFC 6901)."""
    steps = []
    while pointer:
        pointer, step = pointer
        steps.append(step.replace("~", "~0").replace("/", "~1"))
    return "".join(f"/{step}" for step in reversed(steps))


def place_at(pointer: Pointer) -> Place:
    """Return the place of a JSON pointer."""
    return Place(format_pointer(pointer))


def pointer_text(pointer: Pointer) -> str:
    """Return a JSON pointer as a message names it."""
    return quote(format_pointer(pointer)) if pointer else "the top of the text"


def note_duplicate_key(value: Any, pointer: Pointer, problems: Problems) -> None:
    """Note a key that appears twice in an object (J002)."""
    if isinstance(value, DuplicateKeys):
        where = f"in the object at {pointer_text(pointer)}"
        message = f"The key {quote(value.duplicate)} appears twice {where}."
        problems.add("J002", message, "", place_at(pointer))


def is_text(value: Any) -> bool:
    """Tell whether a value is a string that can be written as UTF-8."""
    return isinstance(value, str) and (value.isascii() or not _HALF_OF_A_PAIR.search(value))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    keys: set[str] = set()
    duplicates = DuplicateKeys(members)
    duplicates.duplicate = next(key for key, _ in pairs if key in keys or keys.add(key))  # type: ignore[func-returns-value]
    return duplicates


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")
