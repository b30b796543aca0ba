"""The sets of records that explain a result equally well, and their lattice."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Alternatives:
    """Distinct sets of elements, (alternatives, elements), each of which explains a result.

    An element is a person's record, removed from a table or added to it, or used in training. Equal
    records are elements of their own, as in k-anonymity; `common_kinds` says what their values tell
    all the same.
    """

    sets: Bools

    @classmethod
    def of(cls, sets: Bools) -> "Alternatives":
        """Return the distinct ones of sets, the smallest first, then by their elements."""
        packed, sizes = np.packbits(~sets, axis=1), sets.sum(axis=1).tolist()
        place = {row.tobytes(): at for at, row in enumerate(packed)}
        order = sorted(place, key=lambda key: (sizes[place[key]], key))
        return cls(sets[np.array([place[key] for key in order], dtype=np.int64)])

    def __len__(self) -> int:
        """Return how many alternatives there are."""
        return len(self.sets)

    def minimal(self) -> "Alternatives":
        """Return those that contain no other: the minimal elements of the lattice."""
        left, minimal_sets = self.sets, [self.sets[:0]]
        while len(left):
            smallest, left = _split_by_size(left)
            minimal_sets.append(smallest)
        return Alternatives(np.concatenate(minimal_sets))

    def common(self) -> Bools:
        """Return the elements that all alternatives have, (elements,): what an intruder is sure of.

        With no alternatives, these are all elements.
        """
        common: Bools = np.logical_and.reduce(self.sets, axis=0)
        return common

    def common_kinds(self, kind_of: Ints) -> Ints:
        """Return how many elements of each kind every alternative has at least, (kinds,).

        `kind_of` (elements,) numbers the kinds: records with equal values, say. An intruder knows
        these values without knowing whose they are. With no alternatives, these are all elements.
        """
        least = np.bincount(kind_of)
        for counts in self._counts(kind_of):
            least = np.minimum(least, counts)
        return least

    def _counts(self, kind_of: Ints) -> Iterator[Ints]:
        kinds = int(kind_of.max(initial=-1)) + 1
        for one in self.sets:
            yield np.bincount(kind_of[one], minlength=kinds)

    def are_anonymous(self, k: int) -> bool:
        """Return whether there is k-anonymous integral privacy.

        At least k alternatives are minimal, and no element is common to all.
        """
        return len(self.minimal()) >= k and not self.common().any()


def _split_by_size(sets: Bools) -> tuple[Bools, Bools]:
    """Return the smallest sets, and those of the others that contain none of them."""
    # Of equal sizes, none contains another, so that most sets need no comparison.
    sizes = sets.sum(axis=1)
    is_smallest = sizes == sizes.min()
    smallest, larger = sets[is_smallest], sets[~is_smallest]
    for one in smallest:
        if not len(larger):
            break
        larger = larger[~larger[:, one].all(axis=1)]
    return smallest, larger
