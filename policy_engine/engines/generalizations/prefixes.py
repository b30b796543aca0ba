"""Prefixes: the first characters that the codes of a class have in common, the rest masked."""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from policy_engine.data.cells import Cell, write_value
from policy_engine.engines.encoding import ColumnCodes
from policy_engine.engines.generalizations.generalizer import Ints, unfit_values_error, value_labels
from policy_engine.engines.generalizations.trees import Nested

_LONGEST = 100
_NO_CHARACTER = 0x110000


@dataclass(frozen=True)
class Prefixes(Nested):
    """Codes of one or several lengths, masked from the end, one character more at each height.

    A cell is as long as the longest code, `top` characters: `100**`.
    """

    mask: str

    @classmethod
    def of(cls, name: str, column: ColumnCodes, mask: str) -> Self:
        """Return the prefixes of a column.

        Raises DataError (R006) where a value holds the mask, is too long, or is a number or
        time that is not written with as many characters as the others.
        """
        values = value_labels(column)
        _check(name, column, mask)
        longest = max(map(len, values), default=0)
        return cls(column, longest - _common(values, longest), longest, mask)

    def labels(self, height: int, values: Ints) -> list[str]:
        """Return the prefixes, masked to the full length."""
        length = self.top - height
        texts = value_labels(self.column)[values]
        return [write_value(text[:length].ljust(self.top, self.mask)) for text in texts]

    def penalties(self, height: int, values: Ints) -> NDArray[np.float64]:
        """Return the share of characters that are masked."""
        return np.full(len(values), height / self.top)


def _check(name: str, column: ColumnCodes, mask: str) -> None:
    values = value_labels(column)
    if any(mask in value for value in values):
        message = (
            f"The column {name!r} holds values with the character {mask!r}, which is the mask."
        )
        raise unfit_values_error(message, "Name another mask that no value holds.")
    lengths = {len(value) for value in values}
    if max(lengths, default=0) > _LONGEST:
        message = (
            f"The column {name!r} holds a value of {max(lengths):,} characters. Prefixes are for "
            f"codes of {_LONGEST} at most."
        )
        raise unfit_values_error(message, "Texts take 'set' or 'taxonomy'.")
    if column.is_ordered and (len(lengths) > 1 or (values[1:] < values[:-1]).any()):
        message = (
            f"The column {name!r} holds numbers or times that are not of one length, so their "
            "prefixes mean nothing."
        )
        hint = "Write codes as texts, with their leading zeros. Numbers take 'interval'."
        raise unfit_values_error(message, hint)


def _common(values: NDArray[np.object_], longest: int) -> Ints:
    """Return the length of the prefix that each value shares with the next, (values - 1,)."""
    if len(values) < 2:
        return np.zeros(0, dtype=np.int64)
    texts = values.astype(f"U{max(longest, 1)}")
    characters = texts.view(np.uint32).reshape(len(values), -1)
    ends = np.arange(characters.shape[1]) >= np.array([len(value) for value in values])[:, None]
    padded_characters = np.where(ends, np.uint32(_NO_CHARACTER), characters)
    return np.asarray(
        (padded_characters[1:] != padded_characters[:-1]).argmax(axis=1), dtype=np.int64
    )


def price_cells(cells: list[Cell], mask: str) -> NDArray[np.float64]:
    """Return the loss of prefixes, (cells,): the share of their characters that is masked."""
    unmasked = [len(cell.values[0].rstrip(mask)) for cell in cells]
    lengths = [max(len(cell.values[0]), 1) for cell in cells]
    is_empty = np.array([not cell.values[0] for cell in cells], dtype=np.bool_)
    share: NDArray[np.float64] = 1.0 - np.array(unmasked, np.float64) / np.array(
        lengths, np.float64
    )
    return np.where(is_empty, 0.0, share)


def code_finder(column: ColumnCodes, mask: str) -> Callable[[Cell], NDArray[np.int32]]:
    """Return a function from a prefix to the codes of the values that it may stand for."""
    values = value_labels(column)
    order = np.array(sorted(range(len(values)), key=values.__getitem__), dtype=np.int64)
    sorted_values = values[order].tolist()

    def covered(cell: Cell) -> NDArray[np.int32]:
        prefix = cell.values[0].rstrip(mask)
        first = bisect_left(sorted_values, prefix)
        if prefix == cell.values[0]:
            last = first + (sorted_values[first : first + 1] == [prefix])
        else:
            last = bisect_left(
                sorted_values, 1, first, key=lambda text: not text.startswith(prefix)
            )
        positions = order[first:last] + int(column.has_missing)
        return np.sort(positions).astype(np.int32)

    return covered
