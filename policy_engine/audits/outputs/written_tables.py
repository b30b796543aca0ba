"""A finished table as it was written, with the cells blank that are withheld."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.outputs.finished_tables import matched_cells
from policy_engine.audits.outputs.layout import Cell, ShownTable
from policy_engine.audits.outputs.model import Counts
from policy_engine.audits.outputs.reading_tables import FinishedTable
from policy_engine.audits.outputs.significant import rounded_figure
from policy_engine.audits.outputs.tabulating import Tabulation


@dataclass(frozen=True, eq=False)
class HandedInTable:
    """A table that was handed in, and the row and the measure of each of its cells among those of
    the evidence, (cells, 2), -1 for none."""

    table: FinishedTable
    matches: Counts

    @classmethod
    def of(cls, table: FinishedTable, made: Tabulation) -> "HandedInTable":
        """Return a table and what a recipe makes of it. Raises DataError (K029) where it shows what
        the recipe does not give."""
        return cls(table, matched_cells(table, made))

    @classmethod
    def of_alone(cls, table: FinishedTable) -> "HandedInTable":
        """Return a table each cell of which is a row of the evidence, of its only measure."""
        rows = np.arange(len(table.values))
        return cls(table, np.column_stack([rows, np.zeros_like(rows)]))

    def shown(
        self,
        is_shown: NDArray[np.bool_],
        is_listed: NDArray[np.bool_] | None = None,
        digits: int | None = None,
    ) -> ShownTable:
        """Return it as it was written, with the figures that are shown, (rows, measures), in so
        many significant digits. Rows none of whose cells is listed, (rows,), are left out."""
        rows, numbers = self.matches.T
        has_figure = ~self.table.is_blank & (rows >= 0)
        is_kept = has_figure & is_shown[rows, numbers]
        is_there = rows >= 0 if is_listed is None else (rows >= 0) & is_listed[rows]
        head, texts = self.table.written
        left, width = self.table.left, len(head) - self.table.left
        kept, there = is_kept.reshape(-1, width), is_there.reshape(-1, width)
        values = self.table.values.reshape(-1, width)
        is_line = there.any(axis=1)
        shares = [(one, one.kept(kept)) for one in self.table.shares] if digits is None else []
        # A label that is written once for several rows goes with each, where some are left out.
        labels = texts if is_line.all() else self.table.words[::width]
        lines = []
        for n in np.flatnonzero(is_line).tolist():
            figures = _figures(texts[n][left:], kept[n], values[n], digits)
            for share, own in shares:
                figures.insert(share.place, own[n])
            lines.append((*labels[n][:left], *figures))
        names = [*head[left:]]
        for share, _ in shares:
            names.insert(share.place, share.name)
        return ShownTable((*head[:left], *names), tuple(lines), left)


def _figures(
    texts: tuple[str, ...],
    is_kept: NDArray[np.bool_],
    values: NDArray[np.float64],
    digits: int | None,
) -> list[Cell]:
    """Return the figures of a row as they are written, None for those that are not kept; those of
    more digits are rounded."""
    cells: list[Cell] = []
    for text, kept, value in zip(texts, is_kept.tolist(), values.tolist(), strict=True):
        rounded = value if digits is None else rounded_figure(value, digits)
        is_written = rounded == value
        cells.append((text if is_written else f"{rounded:.15g}") if kept else None)
    return cells
