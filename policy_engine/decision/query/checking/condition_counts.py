"""Of how many a cell tells something by its condition: the counts that it is judged by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from policy_engine.audits.outputs.reasons import Reason

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Masks = NDArray[np.uint32]

_REASONS: Mapping[str, Reason] = MappingProxyType(
    {"inside": Reason.FEW_UNITS, "outside": Reason.GROUP_DISCLOSURE}
)
"""The reasons against cells of which too few rows tell something."""
_NUMBERS = np.dtype(
    [
        ("inside", np.int64),
        ("outside", np.int64),
        ("least", np.int64),
        ("is_of_units", np.bool_),
        ("columns", np.object_),
    ]
)


@dataclass(frozen=True, eq=False)
class ConditionCounts:
    """The reasons (bits) against cells by their conditions, and the counts that they are from.

    Both are arrays of one shape. Of each cell, the `numbers` are those that are nearest to too few,
    of all sets of `columns` that are assumed to be secret: `inside` of those that the condition
    holds of, `outside` of the others, and how many are enough at `least`, 0 of a cell that tells
    nothing. They are of units where it `is_of_units`, and of rows otherwise.
    """

    reasons: "Masks"
    numbers: "NDArray[np.void]"

    @classmethod
    def none(cls, *shape: int) -> "ConditionCounts":
        """Return those of cells that tell nothing, to be read alone."""
        return cls(np.zeros(shape, np.uint32), np.broadcast_to(np.zeros((), _NUMBERS), shape))

    @classmethod
    def zeros(cls, *shape: int) -> "ConditionCounts":
        """Return those of cells that tell nothing so far."""
        return cls(np.zeros(shape, np.uint32), np.zeros(shape, _NUMBERS))

    @classmethod
    def judged(
        cls,
        counts: "Sequence[pa.Table]",
        cells: int,
        least: int,
        columns: frozenset[str],
        *,
        is_of_units: bool,
    ) -> "ConditionCounts":
        """Return those of cells of which fewer than the `least` tell something, by any count, of
        all cells that the first one has: (cells,)."""
        telling, whole = counts[0]["cell"].to_numpy(), cls.none(cells)
        for count in counts:
            passed, own = telling[whole.reasons[telling] == 0], cls.zeros(cells)
            for name, reason in _REASONS.items():
                sizes = np.zeros(cells, np.int64)
                sizes[count["cell"].to_numpy()] = count[name].to_numpy()
                own.numbers[name][passed] = sizes[passed]
                own.reasons[passed[sizes[passed] < least]] |= np.uint32(reason.bit)
            own.numbers["least"][passed] = least
            own.numbers["is_of_units"][passed] = is_of_units
            own.numbers["columns"][passed] = columns
            whole = whole.joined(own)
        return whole

    def joined(self, other: "ConditionCounts") -> "ConditionCounts":
        """Return the reasons of both, and of each cell the numbers that are nearer to too few."""
        is_nearer = other.margins < self.margins
        numbers = np.where(is_nearer, other.numbers, self.numbers)
        return ConditionCounts(self.reasons | other.reasons, numbers)

    def add(self, places: "tuple[Counts, ...]", counts: "ConditionCounts") -> None:
        """Add those of a column of cells, (rows,), to the cells in places: (rows, columns)."""
        own = ConditionCounts(self.reasons[places], self.numbers[places])
        more = ConditionCounts(counts.reasons[:, None], counts.numbers[:, None])
        both = own.joined(more)
        self.reasons[places], self.numbers[places] = both.reasons, both.numbers

    def at(self, places: "Counts") -> "ConditionCounts":
        """Return those of the cells in these places."""
        return ConditionCounts(self.reasons[places], self.numbers[places])

    def with_reason(self, reason: Reason) -> "ConditionCounts":
        """Return the same with a reason against all cells."""
        return ConditionCounts(self.reasons | np.uint32(reason.bit), self.numbers)

    def told(self, row: int, aggregate: int) -> dict[str, Any] | None:
        """Return what a figure was judged by, as JSON; None where its condition tells nothing."""
        inside, outside, least, is_of_units, columns = self.numbers[row, aggregate].item()
        if not least:
            return None
        return {
            "columns": sorted(one.replace('"', "") for one in columns),
            "inside": inside,
            "outside": outside,
            "least": least,
            "counted": "units" if is_of_units else "rows",
        }

    @property
    def margins(self) -> "Counts":
        """How many more than enough there are, on the side that has fewer."""
        least = self.numbers["least"]
        fewest = np.minimum(self.numbers["inside"], self.numbers["outside"])
        return np.where(least > 0, fewest - least, np.iinfo(np.int64).max)
