"""Searches for one person at a time, which any division of the persons leaves as they are."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"
Persons: TypeAlias = "tuple[NDArray[Any], ...]"
"""What is known of persons: a named tuple of arrays with a row for each."""
_Persons = TypeVar("_Persons", bound=Persons)


class LinkIndex(Protocol):
    """All released records, so arranged that a person's is found among them."""

    def links(self, persons: Any) -> Floats:
        """Return for each person the probability of being linked to the right record, (persons,).

        They are the same for a person whoever else is given.
        """


Search: TypeAlias = Callable[[LinkIndex, Any], Floats]
"""What finds the links of all persons in an index."""


def search_here(index: LinkIndex, persons: Any) -> Floats:
    """Return the links of all persons, found in this process."""
    return index.links(persons)


def parts_of(persons: _Persons, rows: int) -> Iterator[_Persons]:
    """Yield what is known of `rows` persons at a time, in their order; at least one part.

    An array without rows, for what is known of nobody, is in each part.
    """
    for start in range(0, max(len(persons[0]), 1), rows):
        part = (one[start : start + rows] if len(one) else one for one in persons)
        yield type(persons)(*part)
