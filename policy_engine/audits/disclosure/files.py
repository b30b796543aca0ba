"""An original and its release as an intruder looks at them: the columns known, and whose row is
whose."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.audits.disclosure.axes import CodeAxis, axis_of
from policy_engine.audits.disclosure.numbers import match_numbers
from policy_engine.audits.disclosure.other_tools.matching import match_cells
from policy_engine.audits.disclosure.simulation import Simulation, masked_columns
from policy_engine.audits.disclosure.text_orders import declared_orders, in_declared_order
from policy_engine.audits.utility.categories import Transitions
from policy_engine.audits.utility.matching import MatchedColumn, match, match_values
from policy_engine.data.taxonomy import Taxonomy
from policy_engine.kernels.spread import Spread
from policy_engine.methods.columns import Columns
from policy_engine.methods.masking import ColumnMasking
from policy_engine.plan.plan import Plan
from policy_engine.plan.steps import Mask

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class KnownColumn:
    """A column that the intruder knows of persons, before and after.

    `before` (persons,) and `after` are codes of one domain, and of cells of several codes runs of
    them; `labels` (size,) are the texts of codes and `values` (size,) their places on an axis, for
    numbers. `masking` is how it was masked, if it was. The last `absent` persons were never in the
    original. Cells of classes that are a mean, a median or a mode make it `is_representative`. A
    column is not `is_readable` if some released cells are labels that nobody can read. Values are
    counted from `origin`, or if they are `is_ranked` are ranks, as of a `CodeAxis`. Texts in an
    order are `is_ordinal`: numbers by their ranks, and nothing else. Where it `keeps_missing`, a
    cell is missing where the person's value is, and nowhere else.
    """

    name: str
    before: NDArray[np.integer]
    after: Spread
    labels: NDArray[np.object_]
    values: Floats
    is_number: bool
    has_missing: bool
    masking: ColumnMasking | None = None
    absent: int = 0
    is_representative: bool = False
    is_readable: bool = True
    origin: Decimal = Decimal(0)
    is_ranked: bool = False
    keeps_missing: bool = False
    is_ordinal: bool = False

    @property
    def axis(self) -> CodeAxis:
        """Where its values lie."""
        return CodeAxis(self.values, self.origin, self.is_ranked)

    @property
    def present(self) -> slice:
        """The persons of the original."""
        return slice(len(self.before) - self.absent)

    @property
    def is_exact(self) -> bool:
        """Whether each released cell is one value."""
        return self.after.is_exact

    @property
    def is_point(self) -> bool:
        """Whether persons and records have one number each: texts in an order have ranks."""
        return self.is_number and self.is_exact

    def known_numbers(self) -> Floats:
        """Return the numbers known of persons, nan where there is none."""
        return np.asarray(self._placed()[self.before])

    def released_numbers(self) -> tuple[Floats, Floats]:
        """Return the mean of each released cell's values, and their variance, nan of none."""
        placed = self._placed()
        if self.is_exact:  # sums would not give back the very numbers
            values = placed[self.released_codes()]
            return values, np.zeros(len(values))
        missing = np.isnan(placed)
        filled = np.where(missing, 0.0, placed)
        count = np.maximum(self.after.totals(~missing), 1)
        mean = self.after.totals(filled) / count
        square = self.after.totals(filled**2) / count
        nothing = self.after.totals(~missing) == 0
        mean = np.where(nothing, np.nan, mean)
        variance = np.where(nothing, 0.0, np.maximum(square - mean**2, 0.0))
        return mean[self.after.cell_of], variance[self.after.cell_of]

    def released_codes(self) -> Ints:
        """Return the code of each released cell, -1 where it is several."""
        if self.after.is_of_codes:
            return self.after.cell_of.astype(np.int64)
        code = np.where(self.after.widths == 1, self.after.low[self.after.starts[:-1]], -1)
        return np.asarray(code[self.after.cell_of], dtype=np.int64)

    def covers(self, cells: Ints, codes: Ints) -> NDArray[np.bool_]:
        """Tell whether cells stand for codes, (n,) each, among others."""
        spread, size = self.after, self.after.size + 1
        run_cell = np.repeat(np.arange(len(spread.starts) - 1), np.diff(spread.starts))
        # The runs of a cell are in order, so all are: found by the last that starts at the code or
        # before it.
        starts = run_cell * size + spread.low
        order = np.argsort(starts)
        run = order[np.searchsorted(starts[order], cells * size + codes, side="right") - 1]
        return np.asarray((run_cell[run] == cells) & (codes < spread.high[run]))

    def _placed(self) -> Floats:
        placed = self.values.astype(np.float64).copy()
        placed[: int(self.has_missing)] = np.nan
        return placed


@dataclass(frozen=True)
class TwoFiles:
    """An original and its release: the `columns` known, and by person the `own` record.

    `own` (persons,) are rows of the release, -1 for a person who is not in it. `is_published` tells
    whether anybody knows how the release was made; `drawn` has the transitions of columns that were
    drawn by a matrix, and `again` what masking columns again makes of them; `again_of` returns that
    of some rows of the original, (rows,) being told. The last `absent` persons were never in the
    original.
    """

    columns: tuple[KnownColumn, ...]
    own: Ints
    released: int
    is_published: bool = False
    drawn: Mapping[str, Transitions] = field(default_factory=dict, repr=False)
    again: Mapping[str, Simulation] = field(default_factory=dict, repr=False)
    again_of: "RowsMaskedAgain | None" = field(default=None, repr=False)
    absent: int = 0
    fails_closed: bool = False

    def known_by(self, names: Sequence[str]) -> "TwoFiles":
        """Return what an intruder has who knows these columns, in this order."""
        columns = {one.name: one for one in self.columns}
        return replace(self, columns=tuple(columns[name] for name in names))

    def of_persons(self, is_there: Bools) -> "TwoFiles":
        """Return what an intruder has who knows that all others, (persons,), are not in the
        release."""
        columns = tuple(replace(one, before=one.before[is_there]) for one in self.columns)
        files = replace(self, columns=columns, own=self.own[is_there], again={}, again_of=None)
        if self.again_of is None or (files.lost and not self.again):
            return files
        return replace(files, again=self.again_of(columns, is_there))

    def readable(self) -> "TwoFiles":
        """Return what an intruder has who can use only columns whose cells can be read."""
        return replace(self, columns=tuple(one for one in self.columns if one.is_readable))

    @property
    def unreadable(self) -> tuple[str, ...]:
        """The names of the columns with labels that nobody can read."""
        return tuple(one.name for one in self.columns if not one.is_readable)

    @property
    def lost(self) -> int:
        """How many persons of the original are not in the release."""
        return len(self.own) - self.absent - self.released

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns known."""
        return tuple(one.name for one in self.columns)


RowsMaskedAgain: TypeAlias = Callable[[Sequence[KnownColumn], Bools], Mapping[str, Simulation]]


def known_columns(
    original: pa.Table,
    release: pa.Table,
    names: Sequence[str],
    plan: Plan | None,
    taxonomies: Mapping[str, Taxonomy],
) -> tuple[KnownColumn, ...]:
    """Return columns of two tables over one domain each, in the order of their names.

    `plan` is that of the release, None where nobody knows it: then cells are read as they are
    spelled, and the taxonomies are by the names of columns.

    Raises CertificateError (V002) where a cell cannot have been made from the original, DataError
    as `encode` does.
    """
    maskings = {one.name: one for one in plan.mask.columns} if plan and plan.mask else {}
    numeric = {name for name, one in maskings.items() if one.makes_numbers}.intersection(names)
    original, release = (_empty_as_numbers(table, numeric) for table in (original, release))
    recoded = {one.name for one in plan.mask.recodings} if plan and plan.mask else set()
    spelled = {name for name, one in maskings.items() if one.is_of_categories}
    quasi = set(plan.require_anonymize().columns.quasi_names) if plan else set()
    spelled |= quasi
    numbers = {n: match_numbers(n, original, release) for n in names if n not in spelled}
    matched = {name: one for name, one in numbers.items() if one is not None}
    labelled: set[str] = set()
    if plan is None:
        for name in dict.fromkeys(one for one in names if one not in matched):
            cells = match_cells(name, original, release, taxonomies.get(name))
            if cells is not None:
                matched[name] = cells.column
                labelled |= {name} if cells.labels else set()
    else:
        step, left = plan.require_anonymize(), [name for name in names if name not in matched]
        named = step.model_copy(update={"columns": _select_roles(step.columns, left)})
        masked = [name for name in maskings if name in left and name not in recoded]
        others = match(original, release, named, taxonomies, masked)
        matched |= {one.name: one for one in others}
        if plan.mask:
            for name in recoded.intersection(names):
                matched[name] = _recoded(name, original, release, plan.mask, taxonomies)
    columns = (
        known_column(
            matched.get(name) or match_values(name, "insensitive", "kept", original, release),
            maskings.get(name),
            is_readable=name not in labelled,
            keeps_missing=None if plan is None else name not in quasi,
        )
        for name in names
    )
    orders = declared_orders(plan, maskings) if plan else {}
    return tuple(
        in_declared_order(one, orders[one.name]) if one.name in orders else one for one in columns
    )


def _empty_as_numbers(table: pa.Table, numeric: Collection[str]) -> pa.Table:
    """Return a table in which columns without a value are numbers if they were masked as such."""
    for place, field_ in enumerate(table.schema):
        if field_.name in numeric and table.column(place).null_count == table.num_rows:
            nothing = pa.nulls(table.num_rows, pa.float64())
            table = table.set_column(place, pa.field(field_.name, pa.float64()), nothing)
    return table


def _recoded(
    name: str,
    original: pa.Table,
    release: pa.Table,
    step: Mask,
    taxonomies: Mapping[str, Taxonomy],
) -> MatchedColumn:
    """Return a recoded column over its labels, of which each stands for the values below it."""
    labels = masked_columns(original.select([name]), step, name, taxonomies).column(name)
    before = original.set_column(
        original.schema.get_field_index(name), pa.field(name, labels.type), labels
    )
    return match_values(name, "masked", "masked", before, release)


def _select_roles(columns: Columns, names: Sequence[str]) -> Columns:
    """Return the roles of columns with these names alone."""
    return Columns(
        quasi_identifier=tuple(c for c in columns.quasi_identifier if c.name in names),
        sensitive=tuple(c for c in columns.sensitive if c.name in names),
        insensitive=tuple(name for name in columns.insensitive if name in names),
    )


def known_column(
    column: MatchedColumn,
    masking: ColumnMasking | None = None,
    *,
    is_readable: bool = True,
    keeps_missing: bool | None = None,
) -> KnownColumn:
    """Return a matched column as an intruder knows it, who knows how it was masked."""
    axis = axis_of(column)
    return KnownColumn(
        column.name,
        column.before.cell_of,
        column.after,
        column.labels,
        axis.values,
        is_number=column.is_ordered,
        has_missing=column.has_missing,
        masking=masking,
        is_representative=column.kind == "representative",
        is_readable=is_readable,
        origin=axis.origin,
        is_ranked=axis.is_ranked,
        keeps_missing=_are_as_many(column) if keeps_missing is None else keeps_missing,
    )


def _are_as_many(column: MatchedColumn) -> bool:
    """Tell whether as many cells are missing in the release as in the original: as where missing
    ones stay so, to anybody who does not know how it was made."""
    if not (column.has_missing and column.after.is_exact):
        return False
    released = column.after.low[column.after.starts[:-1]][column.after.cell_of]
    return bool((column.before.cell_of == 0).sum() == (released == 0).sum())
