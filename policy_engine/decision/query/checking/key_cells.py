"""What the figures of a table tell of its keys, as who is ill where they are by that.

A key is a condition that who asks need not write: of each value, it is counted who has it among
those who are known to have the other keys of a cell. A cell that has all of them, or none, is
judged by itself (K003): what matters is what several tables tell of those by whom they differ.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from policy_engine.audits.outputs.model import TableVerdict
from policy_engine.decision.query.checking.answer_populations import DatasetRows
from policy_engine.decision.query.checking.condition_leaves import columns_of
from policy_engine.decision.query.checking.contributions import tried
from policy_engine.decision.query.checking.evidence_tables import run_checked
from policy_engine.decision.query.checking.gathering_evidence import GatheredAnswer, one_nan
from policy_engine.decision.query.checking.sql_nodes import named
from policy_engine.decision.query.checking.told_values import ToldValues
from policy_engine.decision.query.checking.unfiltered_rows import UnfilteredRows
from policy_engine.decision.query.checking.unit_columns import is_unit
from policy_engine.decision.query.grammar import to_sql
from policy_engine.release.output_ledger import (
    OutputCell,
    Populations,
    counts_holders,
    held_measure,
    is_owned,
    persons_set_told_measure,
    persons_told_measure,
    rows_told_measure,
    rows_told_of,
    set_told_measure,
)

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Masks = NDArray[np.bool_]

MOST_VALUES = 20
"""Keys that have more values are not looked at."""
_ROW, _IS_PRESENT, _VALUED = "row", "present", "valued"
_DENSE, _TWO = 1 << 40, 2

_Figure = tuple[int, str, int, float | None]


@dataclass(frozen=True, eq=False)
class HeldPart:
    """Populations that a secret decides on, those who have it, by measure, and the figures of each.

    `figures` are a population, its measure, the figure, and the count where it may be known.
    """

    populations: Populations
    holders: Mapping[str, "Masks"]
    figures: tuple["_Figure", ...]
    is_one_sided: bool = False

    def cells(self, first: int, least: int) -> Iterator[OutputCell]:
        """Yield the cells of the figures, whose populations are numbered from `first` on."""
        for place, measure, figure, count in self.figures:
            yield OutputCell(first + place, measure, count, least, figure=figure)

    def beside_rows(self, holders: "Masks", are_of_persons: Callable[[int], bool]) -> "HeldPart":
        """Return the same with marks of the figures that tell how many rows are `holders`, named so
        that the first row is none: all but numbers of persons."""
        marks = tuple(
            (place, rows_told_measure(measure), figure, None)
            for place, measure, figure, _ in self.figures
            if not are_of_persons(figure)
        )
        named_holders = {rows_told_measure(one): holders for one in self.holders}
        return replace(
            self, holders={**self.holders, **named_holders}, figures=(*self.figures, *marks)
        )

    def with_sets(self, values: ToldValues, column: str) -> "HeldPart":
        """Return the same with marks of the figures that tell how many rows, or how many persons,
        have some values of a column. Raises NotCheckableError (K022) if the values cannot be
        read."""

        @cache
        def mark(measure: str) -> str:
            holders, is_of_persons = self.holders.get(measure), is_owned(measure)
            if is_of_persons:
                holders = self.holders.get(rows_told_of(measure))
            if holders is None or measure == rows_told_of(measure):
                return ""
            if is_of_persons and not counts_holders(measure):
                holders = ~holders
            own = values.set_of(column, holders, is_one_sided=self.is_one_sided)
            if own is None:
                return ""
            return persons_set_told_measure(own) if is_of_persons else set_told_measure(own)

        marks = tuple(
            (place, mark(measure), figure, None)
            for place, measure, figure, _ in self.figures
            if mark(measure)
        )
        return replace(self, figures=(*self.figures, *marks))

    def of_persons(self, *, of_holders: bool) -> "HeldPart":
        """Return marks of figures of how many persons have rows that are holders, or that are none,
        in place of what those tell of rows."""
        marks = tuple(
            (
                place,
                persons_told_measure(rows_told_measure(measure), of_holders=of_holders),
                one,
                None,
            )
            for place, measure, one, _ in self.figures
        )
        holders = {name: mask for name, mask in self.holders.items() if is_owned(name)}
        return replace(self, holders=holders, figures=marks)


@dataclass(frozen=True, eq=False)
class KeyedFigures:
    """The figures of a grouping set that count the same rows: the `rows` of the answer, and the
    `aggregates`. Of them, `key` is taken as secret."""

    gathered: GatheredAnswer
    verdict: TableVerdict
    number: int
    key: int
    aggregates: Sequence[int]

    @cached_property
    def rows(self) -> "Counts":
        """The rows of the answer that the grouping set has: (cells,)."""
        return np.flatnonzero(self.gathered.sets == self.number)

    @cached_property
    def values(self) -> "Counts":
        """The code of the key in each cell: (cells,)."""
        own: Counts = self.gathered.table.codes[self.rows, self.key]
        return own

    @property
    def others(self) -> list[int]:
        """The other keys of the grouping set."""
        keys = self.gathered.queries.query.sets[self.number]
        return [one for one in keys if one != self.key]

    def figures(self, cell: int) -> Iterator[int]:
        """Yield the released figures of a cell."""
        width, row = self.verdict.released.shape[1], int(self.rows[cell])
        yield from (row * width + one for one in self.aggregates if self.verdict.released[row, one])

    def are_of_persons(self, figure: int) -> bool:
        """Return whether a figure is a number of persons, by its own number."""
        return counts_persons(self.gathered, figure % self.verdict.released.shape[1])

    def groups(self, codes: "Counts") -> "tuple[Counts, Counts]":
        """Return the number of the other keys together, of each cell and of rows with `codes`: -1
        where no cell has them."""
        cells = len(self.rows)
        whole = np.concatenate([self.gathered.table.codes[self.rows], codes])
        combined = np.zeros(len(whole), np.int64)
        for key in self.others:
            size = len(self.gathered.table.labels[key]) + 1
            combined = combined * size + whole[:, key] + 1
            if len(combined) and combined.max() > _DENSE:
                combined = np.unique(combined, return_inverse=True)[1].reshape(-1)
        values, own = np.unique(combined[:cells], return_inverse=True)
        places = np.searchsorted(values, combined[cells:])
        places[values[np.minimum(places, len(values) - 1)] != combined[cells:]] = -1
        return own.reshape(-1), places


@dataclass(frozen=True, eq=False)
class KeysOfRows:
    """The keys of all rows that a query reads without its conditions.

    `codes` are those of the answer, -1 for values that it does not have, (rows of the dataset,
    keys), and `is_present` says of which rows each of some columns has a value. Only rows that the
    query reads have keys (`is_read`); where the column of a key has a value, it is `valued`: (rows,
    keys). Where persons have several rows, it `has_owners`.
    """

    codes: "Counts"
    is_present: Mapping[str, "Masks"]
    is_read: "Masks"
    valued: "Masks"
    has_owners: bool = False

    @classmethod
    def of(
        cls,
        gathered: GatheredAnswer,
        rows: DatasetRows,
        unfiltered: UnfilteredRows,
        presence: Mapping[str, Sequence[exp.Expr]],
        tables: "Mapping[str, pa.Table]",
    ) -> "KeysOfRows":
        """Return the keys of rows, and which rows have all of the values that are asked for by the
        texts of `presence`. Raises NotCheckableError (K022) if the query fails."""
        keys = [unfiltered.resolved(one) for one in gathered.queries.query.keys]
        parts = [exp.and_(exp.true(), *(one.copy() for one in some)) for some in presence.values()]
        select = unfiltered.source.copy()
        entries = [
            named(unfiltered.resolved(rows.expression), _ROW),
            *(named(tried(one), f"k{number}") for number, one in enumerate(keys)),
            *(named(tried(one), f"{_IS_PRESENT}{number}") for number, one in enumerate(parts)),
            *(named(_has_values(one), f"{_VALUED}{number}") for number, one in enumerate(keys)),
        ]
        select.set("expressions", entries)
        table = run_checked({"": to_sql(select, "duckdb")}, tables)[""]
        table = table.filter(table[_ROW].is_valid())
        numbers = rows.numbers(table[_ROW])
        codes = np.full((rows.count, len(keys)), -1)
        valued = np.zeros((rows.count, len(keys)), np.bool_)
        for number, labels in enumerate(gathered.table.labels):
            codes[numbers, number] = _codes(table[f"k{number}"], labels)
            valued[numbers, number] = table[f"{_VALUED}{number}"].to_numpy()
        masks = {}
        for number, text in enumerate(presence):
            column = pc.fill_null(table[f"{_IS_PRESENT}{number}"], pa.scalar(value=False))
            masks[text] = np.zeros(rows.count, np.bool_)
            masks[text][numbers] = column.to_numpy()
        is_read = np.zeros(rows.count, np.bool_)
        is_read[numbers] = True
        return cls(codes, masks, is_read, valued, rows.row_owners is not None)

    def first_like(self, text: str) -> str:
        """Return the first text of values that the same rows have all of."""
        own = self.is_present[text]
        return next(one for one, mask in self.is_present.items() if np.array_equal(mask, own))

    def asked_about(self, key: int) -> "Iterator[Masks | None]":
        """Yield whom a key may be the secret of: of all, and where some have a value of its column
        and others none, of those who have one, if that is known: (rows of the dataset,)."""
        yield None
        valued = self.valued[:, key]
        if valued.any() and not valued[self.is_read].all():
            yield valued

    def part(
        self,
        keyed: KeyedFigures,
        members: "Counts",
        holders: "Mapping[int, Masks]",
        valued: "Masks | None" = None,
    ) -> HeldPart | None:
        """Return what figures tell of a key, of the `members` it decides on, (members,), and of
        the `holders` of each value of it, (rows of the dataset,); None if they do not. If it is
        taken as known who has a value, these are `valued`: (rows of the dataset,)."""
        own, groups = keyed.groups(self.codes[members])
        members, groups = members[groups >= 0], groups[groups >= 0]
        count = int(own.max(initial=-1)) + 1
        # It is judged by itself whether a cell has all, but those without a value count there.
        are_alone = _are_alone(members, groups, holders, count)
        if valued is not None:
            groups, members = groups[valued[members]], members[valued[members]]
            some = {value: mask & valued for value, mask in holders.items()}
            holders = {one: mask for one, mask in some.items() if self._named(mask, valued).any()}
        sizes, figures = np.bincount(groups, minlength=count), list[_Figure]()
        named_masks = {value: self._named(mask, valued) for value, mask in holders.items()}
        measures = {value: _measure(mask, valued) for value, mask in named_masks.items()}
        for value, mask in holders.items():
            held = np.bincount(groups, mask[members], minlength=count)
            are_free = are_alone[value]
            for cell in np.flatnonzero(keyed.values == value).tolist():
                group = int(own[cell])
                value_alone = float(held[group]) if are_free[group] else None
                names = [*keyed.figures(cell)] if sizes[group] else []
                figures += [(group, measures[value], one, value_alone) for one in names]
                for one in names if self.has_owners else ():
                    mark = rows_told_measure(measures[value])
                    if keyed.are_of_persons(one):
                        of_holders = not self._is_first(mask, valued)
                        mark = persons_told_measure(mark, of_holders=of_holders)
                    figures.append((group, mark, one, None))
        if not figures:
            return None
        populations = Populations.of_pairs(members, groups, len(self.codes), count)
        masks = {measures[value]: mask for value, mask in holders.items()}
        if self.has_owners:
            masks |= {rows_told_measure(measures[one]): mask for one, mask in named_masks.items()}
        is_one_sided = self._key_size(keyed, valued) > _TWO
        return HeldPart(populations, masks, tuple(figures), is_one_sided=is_one_sided)

    def _named(self, holders: "Masks", valued: "Masks | None") -> "Masks":
        """Return holders, or the others, so that the first row that is asked about is none."""
        return (holders ^ self._is_first(holders, valued)) & self._asked(valued)

    def _is_first(self, holders: "Masks", valued: "Masks | None") -> bool:
        return bool(holders[np.argmax(self._asked(valued))]) if len(holders) else False

    def _asked(self, valued: "Masks | None") -> "Masks":
        candidates: Masks = self.is_read if valued is None else self.is_read & valued
        return candidates

    def _key_size(self, keyed: KeyedFigures, valued: "Masks | None") -> int:
        """Return how many values a key has; no fewer than two of those who have one."""
        if valued is None:
            return keyed.gathered.key_sizes[keyed.key]
        return len(np.unique(self.codes[valued & self.is_read, keyed.key]))


def _are_alone(
    members: "Counts", groups: "Counts", holders: "Mapping[int, Masks]", count: int
) -> "Mapping[int, Masks]":
    """Return in which of so many groups all members, or none, are holders of each value."""
    sizes = np.bincount(groups, minlength=count)
    held = {one: np.bincount(groups, mask[members], count) for one, mask in holders.items()}
    return {one: (counts == 0) | (counts == sizes) for one, counts in held.items()}


def _measure(holders: "Masks", valued: "Masks | None") -> str:
    """Return the measure of holders, whether they are told of or the others."""
    return held_measure(holders if valued is None else np.concatenate([holders, valued]))


def _has_values(key: exp.Expr) -> exp.Expr:
    """Return whether the columns of a key have values."""
    nodes = {one.sql("duckdb"): one for one in key.find_all(exp.Column)}
    missing = (exp.Is(this=one.copy(), expression=exp.null()) for one in nodes.values())
    return exp.and_(exp.true(), *(exp.Not(this=one) for one in missing))


def _codes(column: "pa.ChunkedArray", labels: Sequence[Any]) -> "Counts":
    """Return the places of values among labels, -1 for others: (rows,)."""
    coded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    places = {one: place for place, one in enumerate(labels)}
    own = [places.get(one_nan(value), -1) for value in coded.dictionary.to_pylist()]
    codes: Counts = np.array([*own, -1])[coded.indices.to_numpy(zero_copy_only=False)]
    return codes


def counts_persons(gathered: GatheredAnswer, number: int) -> bool:
    """Return whether an aggregate is a number of persons."""
    unit, aggregate = gathered.queries.unit, gathered.queries.query.aggregates[number]
    return aggregate.kind == "units" and unit is not None and is_unit(aggregate.arguments[0], unit)


def looked_at(gathered: GatheredAnswer, number: int, unit: str, rows: UnfilteredRows) -> list[int]:
    """Return the keys of a grouping set that are taken as secret: those of few values, but for the
    column of the `unit`, which says who somebody is."""
    query, labels = gathered.queries.query, gathered.table.labels
    return [
        key
        for key in query.sets[number]
        if gathered.key_sizes[key] > 1
        and len(labels[key]) <= MOST_VALUES
        and columns_of(rows.resolved(query.keys[key])) - {unit}
    ]
