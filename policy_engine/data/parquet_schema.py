"""The columns of a Parquet file by its schema, which says nothing besides.

Readers look at a part of each element only: what they pass over could hold anything.
https://github.com/apache/parquet-format/blob/master/LogicalTypes.md
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from policy_engine.data.parquet_thrift import Fields

_ROOTS = re.compile(r"schema|root|table|(spark|arrow|hive|duckdb)_schema")
_GROUPS = re.compile(r"list|bag|array|element|item|array_element|key_value|map|entries|key|value")
_REPETITIONS = _REQUIRED, _OPTIONAL, _REPEATED = 0, 1, 2
_FIXED = 7
_NO_LENGTHS, _NO_DIGITS = (None, 0, -1), (None, 0)
_DECIMAL, _LISTS, _SHORT = 5, (1, 2, 3), (8, 16)
_CONVERTED = range(22)
_CONVERTED_TYPES = {
    "string": (0,),
    "map": (1, 2),
    "list": (3,),
    "enum": (4,),
    "decimal": (_DECIMAL,),
    "date": (6,),
    "json": (19,),
    "bson": (20,),
}
_CONVERTED_TIMES = {"time": {"millis": 7, "micros": 8}, "timestamp": {"millis": 9, "micros": 10}}
_INTEGERS = {11 + place: (8 << place % 4, place > 3) for place in range(8)}
"""The bits of integers, and whether they have a sign, as old programs tell them."""


@dataclass(frozen=True)
class LeafColumn:
    """A column of values: its path, its type, how deep values may be missing and repeated, and the
    least and greatest numbers of short integers."""

    path: tuple[str, ...]
    type: int
    width: int
    missing: int
    repeated: int
    bounds: tuple[int, int] | None = None


def leaf_columns(schema: Sequence[Fields]) -> list[LeafColumn]:
    """Return the columns of values of a schema. Raises ValueError for what it says besides."""
    root, elements = schema[0], iter(schema[1:])
    _check_ids(schema)
    if not _ROOTS.fullmatch(root["name"].decode()) or root.get("repetition", 0) != _REQUIRED:
        raise ValueError("another name of a table")
    if {"type", "converted_type", "logical_type"} & {*root}:
        raise ValueError("a type of a table")
    _check_element(root)
    leaves = [leaf for _ in range(root.get("num_children", 0)) for leaf in _within(elements)]
    if next(elements, None) is not None:
        raise ValueError("columns of no table")
    return leaves


def _check_ids(schema: Sequence[Fields]) -> None:
    """Raise ValueError for numbers of columns that do not count them in their order."""
    ids = [one["field_id"] for one in schema if one.get("field_id", -1) != -1]
    if ids and (ids[0] not in (0, 1) or ids != [*range(ids[0], ids[0] + len(ids))]):
        raise ValueError("numbers of columns that do not count them")


def _within(
    elements: Iterator[Fields],
    path: tuple[str, ...] = (),
    missing: int = 0,
    repeated: int = 0,
    *,
    in_list: bool = False,
) -> Iterator[LeafColumn]:
    """Yield the columns of values in the next element of a schema.

    What is in a list or a map has a name that says so; the parts of a structure have names of their
    own, as columns have.
    """
    one = next(elements, Fields())
    name, children = one["name"].decode(), one.get("num_children", 0)
    is_repeated = one.get("repetition", 0) == _REPEATED
    missing += one.get("repetition", 0) in (_OPTIONAL, _REPEATED)
    repeated += is_repeated
    if in_list and not _GROUPS.fullmatch(name):
        raise ValueError("another name of what is in a list")
    _check_element(one)
    if children:
        is_list = is_repeated or _is_list(one)
        for _ in range(children):
            yield from _within(elements, (*path, name), missing, repeated, in_list=is_list)
        return
    width = one.get("type_length") or 0
    yield LeafColumn((*path, name), one["type"], width, missing, repeated, _bounds(one))


def _check_element(one: Fields) -> None:
    """Raise ValueError where an element says what those of its type do not, or says it twice and
    differently."""
    if one.get("repetition", 0) not in _REPETITIONS:
        raise ValueError("repeated otherwise than columns are")
    if one.get("num_children") and "type" in one:
        raise ValueError("a type of what has columns")
    if one.get("type") != _FIXED and one.get("type_length") not in _NO_LENGTHS:
        raise ValueError("a length of a type without")
    logical, converted = one.get("logical_type", {}), one.get("converted_type")
    if converted is not None and converted not in (_old_types(logical) if logical else _CONVERTED):
        raise ValueError("another type for old programs")
    decimal = logical.get("decimal")
    for name in ("scale", "precision"):
        number = one.get(name)
        is_said = (number == decimal[name]) if decimal else converted == _DECIMAL
        if number not in _NO_DIGITS and not is_said:
            raise ValueError("digits of a type without")


def _old_types(logical: Fields) -> tuple[int, ...]:
    """Return how old programs tell a type, in none, one or two ways."""
    [(name, details)] = logical.items()
    if name == "integer":
        kind = (details["bits"], details["is_signed"])
        return tuple(old for old, one in _INTEGERS.items() if one == kind)
    if name in _CONVERTED_TIMES:
        times = _CONVERTED_TIMES[name]
        return tuple(times[unit] for unit in details["unit"] if unit in times)
    return _CONVERTED_TYPES.get(name, ())


def _bounds(one: Fields) -> tuple[int, int] | None:
    """Return the least and greatest numbers of integers of 8 or 16 bits, None for other types."""
    integer = one.get("logical_type", {}).get("integer")
    bits, is_signed = _INTEGERS.get(one.get("converted_type", -1), (0, False))
    if integer:
        bits, is_signed = integer["bits"], integer["is_signed"]
    if bits not in _SHORT:
        return None
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)


def _is_list(one: Fields) -> bool:
    """Tell whether an element is that of lists or maps, as it is told today or by old programs."""
    logical = one.get("logical_type", {})
    return "list" in logical or "map" in logical or one.get("converted_type") in _LISTS
