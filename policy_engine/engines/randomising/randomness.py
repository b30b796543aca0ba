"""Where the words of answers come from: the operating system, or the owner's key, so that the same
person and value have the same words again."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.local_privacy.words import memoised_words, system_words

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


class Randomness:
    """The words of the rows of a table. Given the hashes of its `persons`, (rows, 2), and the
    `secret` key of a release's persons, those of one person and value are the same in every table.

    Without persons they are `fresh`: of the operating system unless others are given, as by
    a cluster whose tasks may be repeated.
    """

    def __init__(
        self,
        persons: Words | None = None,
        secret: bytes = b"",
        fresh: "FreshWords | None" = None,
    ) -> None:
        self._persons, self._secret = persons, secret
        self._fresh = fresh or _of_system

    def words(self, rows: slice, codes: Ints, label: str, number: int) -> Words:
        """Return so many words for some rows, (rows, number), whose values are `codes`, (rows,).

        The `label` tells what is asked, and how it is answered.
        """
        if self._persons is None:
            return self._fresh(np.arange(len(codes)) + (rows.start or 0), label, number)
        return memoised_words(self._persons[rows], codes, self._secret, label, number)


FreshWords = Callable[[Ints, str, int], Words]
"""Gives the rows at some places, (rows,), so many words for what a label says, (rows, number)."""


def _of_system(places: Ints, _label: str, number: int) -> Words:
    return system_words(len(places), number)


def shuffled_places(rows: int) -> Ints:
    """Return the places of rows in an order that the operating system draws: theirs in the input
    may follow from their values."""
    # Ties of 128 bits do not happen.
    words = system_words(rows, 2)
    return np.lexsort((words[:, 0], words[:, 1]))
