"""Constraints that are named again among the operands of a logical constraint.

The values of a property are a set (RDF 1.1 Concepts, section 3.1), in which one name is there
once however often it is written; an array of JSON holds it as often as that. What `xone` allows
depends on it, so the operands name each constraint once, other than in an ordered list.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policy_engine import terms


def repeated_names(values: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, str]]:
    """Yield the names that expanded values had before, in any spelling, each with its index."""
    earlier = set()
    for index, data in enumerate(values):
        name = terms.canonical(data.get("@id", ""))
        if name in earlier:
            yield index, name
        elif name:
            earlier.add(name)


def repetition_message(prop: str, name: str) -> str:
    """Return the sentence on a constraint that a logical property names again."""
    constraint_text = "a constraint without a name" if name.startswith("_:") else repr(name)
    return f"{terms.compact(prop)} names each constraint once. Given twice: {constraint_text}."
