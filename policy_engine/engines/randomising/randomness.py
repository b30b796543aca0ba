"""Where the words of answers come from: the operating system, or the owner's key, so that the same
person and value have the same words again."""

import hashlib
import hmac
from collections.abc import Callable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.arrays import to_numpy, unchunk
from policy_engine.engines.identifiers import check_key
from policy_engine.engines.row_keys import row_keys
from policy_engine.errors import DataError
from policy_engine.kernels.local_privacy.words import memoised_words, system_words

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

_DOMAIN = b"\xffpolicy-engine randomising 1\n"
_KEY_BYTES = 16


class Randomness:
    """The words of the rows of a table. Given the column of its `persons`, those of one person and
    value are the same in every table, by the owner's key.

    Rows without a person are nobody's, and have `fresh` words: of the operating system unless
    others are given, as by a cluster whose tasks may be repeated. Raises DataError (C013)
    without a key of 32 bytes or more, (C009) for persons of a type that has no text.
    """

    def __init__(
        self,
        persons: pa.ChunkedArray | None = None,
        key: bytes | None = None,
        fresh: "FreshWords | None" = None,
    ) -> None:
        self._persons: Words | None = None
        self._fresh = fresh or _of_system
        if persons is not None:
            check_memory("persons", key)
            secret = hmac.new(check_key(key), _DOMAIN, hashlib.sha256).digest()
            self._secret = secret[:_KEY_BYTES]
            self._persons = row_keys([_texts(persons)], self._secret)
            self._is_nobody = ~to_numpy(unchunk(persons).is_valid())

    def words(self, rows: slice, codes: Ints, label: str, number: int) -> Words:
        """Return so many words for some rows, (rows, number), whose values are `codes`, (rows,).

        The `label` tells what is asked, and how it is answered.
        """
        if self._persons is None:
            return self._fresh(np.arange(len(codes)) + (rows.start or 0), label, number)
        words = memoised_words(self._persons[rows], codes, self._secret, label, number)
        is_nobody = self._is_nobody[rows]
        places = np.flatnonzero(is_nobody) + (rows.start or 0)
        words[is_nobody] = self._fresh(places, label, number)
        return words


FreshWords = Callable[[Ints, str, int], Words]
"""Gives the rows at some places, (rows,), so many words for what a label says, (rows, number)."""


def _of_system(places: Ints, _label: str, number: int) -> Words:
    return system_words(len(places), number)


def check_memory(unit: str, key: bytes | None) -> None:
    """Raise DataError (C013) where persons, by the column of a unit, are to answer alike again, and
    there is no key of 32 bytes or more."""
    if unit and key is None:
        message = "Persons are to answer alike in every release, and no key is given."
        hint = "Give key=FILE, or set POLICY_ENGINE_KEY to the key itself."
        raise DataError.of("C013", message, hint)
    if unit:
        check_key(key)


def _texts(persons: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return persons as texts, so that an integer is the person of its text, as in a file of texts;
    what has no text as it is."""
    try:
        return persons.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return persons


def shuffled_places(rows: int) -> Ints:
    """Return the places of rows in an order that the operating system draws: theirs in the input
    may follow from their values."""
    # Ties of 128 bits do not happen.
    words = system_words(rows, 2)
    return np.lexsort((words[:, 0], words[:, 1]))
