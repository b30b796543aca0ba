"""Equivalence classes read off a table, by code that shares nothing with the partitioner."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Groups:
    """The classes of a table, and what is needed to measure them.

    `class_of` (rows,) numbers each row's class 0 .. count-1. `sensitive` holds (rows,) codes
    by column, -1 for missing. `loss` (rows, quasi-identifiers) is the normalised certainty
    penalty of every cell, from 0 to 1.
    """

    class_of: NDArray[np.int64]
    count: int
    sensitive: Mapping[str, NDArray[np.int32]]
    loss: NDArray[np.float64]

    def sizes(self) -> NDArray[np.int64]:
        """Return the number of rows of every class, (count,)."""
        return np.bincount(self.class_of, minlength=self.count)

    def distinct(self, column: str) -> NDArray[np.int64]:
        """Return how many distinct values of a sensitive column every class holds, (count,)."""
        codes = self.sensitive[column]
        present = codes >= 0
        width = int(codes.max(initial=0)) + 1
        pairs = np.unique(self.class_of[present] * width + codes[present])
        return np.bincount(pairs // width, minlength=self.count)

    def discernability(self) -> int:
        """Return the sum of the squared class sizes (Bayardo and Agrawal, ICDE 2005)."""
        sizes = self.sizes()
        return int((sizes * sizes).sum())

    def certainty_penalty(self) -> float:
        """Return the global certainty penalty, from 0 (as it was) to 1 (all is hidden).

        The mean of the cells' normalised certainty penalty over rows and quasi-identifiers
        (Xu et al., KDD 2006; Ghinita et al., VLDB 2007).
        """
        return float(self.loss.mean()) if self.loss.size else 0.0


def classes_of(columns: Sequence[NDArray[np.int32]]) -> tuple[NDArray[np.int64], int]:
    """Number the distinct rows of code columns: (rows,) class numbers, and how many there are."""
    classes = np.zeros(len(columns[0]), dtype=np.int64)
    count = 1
    for codes in columns:
        width = int(codes.max(initial=0)) + 1
        found, classes = np.unique(classes * width + codes, return_inverse=True)
        count = len(found)
    return classes, count
