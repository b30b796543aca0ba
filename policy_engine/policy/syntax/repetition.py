"""Names that are repeated among the values of a property.

The values of a property are a set (RDF 1.1 Concepts, section 3.1), in which one name is there
once however often it is written; an array of JSON holds it as often as that.
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
