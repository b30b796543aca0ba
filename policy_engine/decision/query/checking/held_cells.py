"""What the counts, totals and means of an answer tell of the secrets that decide on conditions.

Of each such figure, the ledger is also told among which rows a secret column decides whether they
count, how many of these have a secret of that kind, and whose it is: no answers together may tell
that some persons are all of that kind, or none is. A total tells as much where what is added up is
known.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from sqlglot import exp

from policy_engine.audits.outputs.model import TableVerdict
from policy_engine.decision.query.checking.answer_populations import (
    DatasetRows,
    PopulationRows,
    keyed_cells,
)
from policy_engine.decision.query.checking.condition_leaves import columns_of
from policy_engine.decision.query.checking.contributions import tried
from policy_engine.decision.query.checking.evidence_query import CELLS
from policy_engine.decision.query.checking.evidence_tables import run_checked
from policy_engine.decision.query.checking.gathering_evidence import GatheredAnswer
from policy_engine.decision.query.checking.key_cells import (
    HeldPart,
    KeyedFigures,
    KeysOfRows,
    counts_persons,
    looked_at,
)
from policy_engine.decision.query.checking.population_conditions import (
    PopulationCondition,
    base_condition,
    key_columns,
    population_condition,
)
from policy_engine.decision.query.checking.secret_profiles import (
    ROW,
    DecidedRows,
    SecretProfiles,
)
from policy_engine.decision.query.checking.sql_nodes import named, rows_of
from policy_engine.decision.query.checking.told_values import ToldValues
from policy_engine.decision.query.checking.unfiltered_rows import UnfilteredRows
from policy_engine.decision.query.grammar import to_sql
from policy_engine.release.output_ledger import (
    OutputAnswer,
    Populations,
    held_measure,
)

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Masks = NDArray[np.bool_]

_TELLING = ("count", "units", "binary", "total")


def with_held_cells(
    answer: OutputAnswer,
    gathered: GatheredAnswer,
    verdict: TableVerdict,
    dataset_rows: DatasetRows,
    tables: "Mapping[str, pa.Table]",
    members: Sequence[PopulationRows],
    *,
    is_accepted: bool = False,
) -> OutputAnswer:
    """Return an answer with cells of what its released figures tell of secrets.

    `members` are the rows in its cells. Where a person lets it out, a figure may tell by itself
    that a condition holds of nobody, or of all: that was lifted with the rules. Raises
    NotCheckableError: K022 if the query fails, K046 for values that are too many.
    """
    rows = dataset_rows.unfiltered
    if rows is None:
        return answer
    conditions = _conditions(gathered, verdict, rows)
    held = _HeldCells(gathered, verdict, dataset_rows, rows, tables, conditions, is_accepted)
    cells, populations, holders = [*answer.cells], answer.populations, dict(answer.holders)
    least, two_sided = dataset_rows.least_rows(verdict.check.profile.min_units), set[str]()
    for part in held.parts(members):
        cells += part.cells(len(populations), least)
        populations = populations.joined(part.populations)
        holders |= part.holders
        two_sided |= set() if part.is_one_sided else part.holders.keys()
    return replace(
        answer,
        cells=tuple(cells),
        populations=populations,
        holders=holders,
        secret_values=held.values.found,
        one_sided=frozenset(holders.keys() - two_sided),
    )


def _conditions(
    gathered: GatheredAnswer, verdict: TableVerdict, rows: UnfilteredRows
) -> dict[str, tuple[PopulationCondition, list[int]]]:
    """Return the conditions of released figures, by their texts, and the aggregates under each."""
    conditions: dict[str, tuple[PopulationCondition, list[int]]] = {}
    for (number, _), condition in _questions(gathered, verdict, rows).items():
        if condition.parts:
            conditions.setdefault(condition.text, (condition, []))[1].append(number)
    return conditions


def _questions(
    gathered: GatheredAnswer, verdict: TableVerdict, rows: UnfilteredRows
) -> dict[tuple[int, str], PopulationCondition]:
    """Return the conditions of each aggregate that has a released figure which tells something, by
    the aggregate and the column of `memberships` of whom they hold.

    A mean of a yes or no tells how many say either, too: it is a fraction of them.
    """
    questions = {}
    for number, aggregate in enumerate(gathered.queries.query.aggregates):
        if aggregate.kind not in _TELLING or not verdict.released[:, number].any():
            continue
        own, *others = gathered.populations[number]
        questions[number, own] = population_condition(gathered.queries, number, rows)
        if aggregate.kind == "binary" and isinstance(aggregate.function, exp.Avg):
            for name in others:
                questions[number, name] = base_condition(gathered.queries, number, rows)
    return questions


@dataclass(frozen=True, eq=False)
class _HeldCells:
    gathered: GatheredAnswer
    verdict: TableVerdict
    dataset_rows: DatasetRows
    rows: UnfilteredRows
    tables: "Mapping[str, pa.Table]"
    conditions: Mapping[str, tuple[PopulationCondition, list[int]]]
    is_accepted: bool = False

    def parts(self, members: Sequence[PopulationRows]) -> Iterator[HeldPart]:
        """Yield the populations that secrets decide on, for each set of keys and condition."""
        if self.conditions:
            yield from self._of_conditions(self.profiles)
            yield from self._of_persons(self.profiles)
            yield from self._of_owners(self.profiles)
        yield from self._of_keys(members)

    @cached_property
    def profiles(self) -> SecretProfiles:
        """Whom secrets decide about by the conditions, in their order."""
        row = self.rows.resolved(self.dataset_rows.expression)
        several = [one for one, _ in self.conditions.values()]
        return SecretProfiles.of(self.rows.source, row, several, self.tables)

    @cached_property
    def values(self) -> ToldValues:
        """The values of columns that are asked about."""
        return ToldValues(self.rows, self.dataset_rows, self.tables)

    @cached_property
    def places(self) -> "list[Counts]":
        """The place of each row's cell in each grouping set, -1 for none: (rows,) each."""
        row = self.rows.resolved(self.dataset_rows.expression)
        return [self._places(number, row) for number in range(len(self._sets))]

    @cached_property
    def unit_name(self) -> str:
        """The column of units, which are known."""
        unit = self.gathered.queries.unit
        return "" if unit is None else self.rows.resolved(unit).unnest().sql("duckdb")

    def _of_conditions(self, profiles: SecretProfiles) -> Iterator[HeldPart]:
        numbers, places = profiles.numbers, self.places
        for place, (_, aggregates) in enumerate(self.conditions.values()):
            for decided in profiles.decided(place):
                if decided.column == self.unit_name:
                    continue  # Who somebody is counts as known.
                for number, own in enumerate(places):
                    if decided.column in self._settled(number):
                        continue
                    for part in self._part(number, own[numbers], numbers, decided, aggregates):
                        # If it is known who has a value, it is told of the same values.
                        is_told = decided.valued is None
                        yield part.with_sets(self.values, decided.column) if is_told else part

    def _of_persons(self, profiles: SecretProfiles) -> Iterator[HeldPart]:
        """Yield the same of numbers of persons, where the cells of a grouping set have all rows of
        whoever is in them: each person is told of once, by the first row."""
        units = self.dataset_rows.units
        if units is None or self.dataset_rows.row_owners is None:
            return
        owners = units[profiles.numbers]
        persons, firsts = np.unique(units, return_index=True)
        for place, (_, numbers) in enumerate(self.conditions.values()):
            own = [one for one in numbers if counts_persons(self.gathered, one)]
            for number in range(len(self._sets)) if own else ():
                cells = self.places[number]
                if not np.array_equal(cells[firsts][np.searchsorted(persons, units)], cells):
                    continue
                for decided in profiles.decided_persons(place, owners):
                    if decided.column in {self.unit_name, *self._settled(number)}:
                        continue
                    pair = np.zeros((2, len(persons)), np.bool_)
                    pair[:, : len(decided.members)] = decided.members, decided.holders
                    first = replace(decided, members=pair[0], holders=pair[1])
                    yield from self._part(number, cells[firsts], firsts, first, own)

    def _of_owners(self, profiles: SecretProfiles) -> Iterator[HeldPart]:
        """Yield the rows by which persons count in numbers of them, in whatever cells."""
        units = self.dataset_rows.units
        if units is None or self.dataset_rows.row_owners is None:
            return
        numbers, width = profiles.numbers, int(units.max(initial=0)) + 1
        for place, (_, aggregates) in enumerate(self.conditions.values()):
            own = [one for one in aggregates if counts_persons(self.gathered, one)]
            for number in range(len(self._sets)) if own else ():
                places = self.places[number][numbers]
                codes = places * width + units[numbers]
                for decided in profiles.decided_owners(place):
                    if decided.column in {self.unit_name, *self._settled(number)}:
                        continue
                    # Who counts by a row that is known counts whatever the others are.
                    members = decided.members
                    if decided.counts.any():
                        members = members & ~np.isin(codes, codes[decided.counts])
                    deciding = replace(decided, members=members)
                    for part in self._part(number, places, numbers, deciding, own):
                        persons = part.of_persons(of_holders=decided.of_holders)
                        is_told = decided.valued is None
                        yield persons.with_sets(self.values, decided.column) if is_told else persons

    def _of_keys(self, members: Sequence[PopulationRows]) -> Iterator[HeldPart]:
        """Yield the same of the keys, each of which may be the secret."""
        sets = range(len(self._sets))
        keys = [looked_at(self.gathered, one, self.unit_name, self.rows) for one in sets]
        if not any(keys):
            return
        questions = _questions(self.gathered, self.verdict, self.rows)
        presence = {one.presence_text: one.presence for one in questions.values()}
        row_keys = KeysOfRows.of(self.gathered, self.dataset_rows, self.rows, presence, self.tables)
        for part in members:
            if not len(part.rows):
                continue
            number, groups = int(self.gathered.sets[part.rows[0]]), dict[str, list[int]]()
            for one in part.aggregates:
                if (one, part.name) in questions:
                    condition = questions[one, part.name]
                    present = row_keys.first_like(condition.presence_text)
                    groups.setdefault(f"{condition.whole} {present}", []).append(one)
            for key, aggregates in product(keys[number], groups.values()):
                keyed = KeyedFigures(self.gathered, self.verdict, number, key, aggregates)
                condition = questions[aggregates[0], part.name]
                yield from self._of_key(row_keys, keyed, condition, part)

    def _of_key(
        self,
        row_keys: KeysOfRows,
        keyed: KeyedFigures,
        condition: PopulationCondition,
        part: PopulationRows,
    ) -> Iterator[HeldPart]:
        is_present, codes = (
            row_keys.is_present[condition.presence_text],
            row_keys.codes[:, keyed.key],
        )
        (column,) = columns_of(self.rows.resolved(self.gathered.queries.query.keys[keyed.key]))
        values = np.unique(keyed.values).tolist()
        if column not in columns_of(condition.whole):
            holders = {value: (codes == value) & is_present for value in values}
            for valued in row_keys.asked_about(keyed.key):
                held = row_keys.part(keyed, part.numbers, holders, valued)
                if held is not None:
                    yield held if valued is not None else held.with_sets(self.values, column)
            return
        profiles, place = self.profiles, [*self.conditions].index(condition.text)
        numbers = profiles.numbers
        for value in values:
            for decided in profiles.decided_as(place, column, codes[numbers], value):
                mask, valued = self._of_rows(decided.holders), decided.valued
                valued = None if valued is None else self._of_rows(valued)
                holders = {value: mask & is_present}
                own = row_keys.part(keyed, numbers[decided.members], holders, valued)
                if own is not None:
                    yield own if valued is not None else own.with_sets(self.values, column)

    @property
    def _sets(self) -> tuple[tuple[int, ...], ...]:
        return self.gathered.queries.query.sets

    def _settled(self, number: int) -> frozenset[str]:
        keys = self.gathered.queries.query.keys
        return key_columns(self.rows.resolved(keys[key]) for key in self._sets[number])

    def _places(self, number: int, row: exp.Expr) -> "Counts":
        """Return the place of each row's cell in a grouping set, -1 for none: (rows,)."""
        keys, rows = self._sets[number], np.flatnonzero(self.gathered.sets == number)
        places = np.full(self.dataset_rows.count, -1 if keys else min(len(rows), 1) - 1)
        if not keys or not self.verdict.released[rows].any():
            return places
        select = self.rows.source.copy()
        resolved = [self.rows.resolved(self.gathered.queries.query.keys[key]) for key in keys]
        entries = [named(tried(one), f"k{key}") for key, one in zip(keys, resolved, strict=True)]
        select.set("expressions", [*entries, named(row.copy(), ROW)])
        same = [
            exp.NullSafeEQ(
                this=exp.column(f"k{key}", table="r", quoted=True),
                expression=exp.column(f"k{key}", table=CELLS, quoted=True),
            )
            for key in keys
        ]
        joined = rows_of(select, [exp.column("cell", table=CELLS, quoted=True), _row()])
        joined = joined.join(exp.table_(CELLS, quoted=True), on=exp.and_(*same), join_type="inner")
        joined = joined.where(exp.Not(this=exp.Is(this=_row(), expression=exp.null())))
        cells = keyed_cells(self.gathered, rows)
        members = run_checked({"": to_sql(joined, "duckdb")}, {**self.tables, CELLS: cells})[""]
        places[self.dataset_rows.numbers(members[ROW])] = members["cell"].to_numpy()
        return places

    def _varies(self, number: int, places: "Counts", decided: DecidedRows) -> "Masks":
        """Return whether there are both kinds of secrets in the cells of each row: (rows,).

        A key that is computed of the secret counts as known, and may settle it.
        """
        keys = self.gathered.queries.query.keys
        bound = [
            key
            for key in self._sets[number]
            if decided.column in columns_of(self.rows.resolved(keys[key]))
        ]
        if not bound:
            return np.ones(len(places), np.bool_)
        codes = self.gathered.table.codes[self.gathered.sets == number][:, bound]
        groups = np.unique(codes, axis=0, return_inverse=True)[1].reshape(-1)
        is_placed, varies = places >= 0, np.zeros(len(places), np.bool_)
        if decided.valued is not None and decided.values is None:
            is_placed &= decided.valued
        own, holders = groups[places[is_placed]], decided.holders[is_placed]
        sizes, held = np.bincount(own), np.bincount(own, holders)
        varies[is_placed] = ((held > 0) & (held < sizes))[own]
        return varies

    def _part(
        self,
        number: int,
        places: "Counts",
        numbers: "Counts",
        decided: DecidedRows,
        aggregates: list[int],
    ) -> Iterator[HeldPart]:
        """Yield the populations of a grouping set that a secret decides on, if there are any."""
        rows = np.flatnonzero(self.gathered.sets == number)
        released = self.verdict.released[np.ix_(rows, np.array(aggregates))]
        is_shown = released.any(axis=1)
        is_in = decided.members & (places >= 0) & self._varies(number, places, decided)
        is_in[is_in] = is_shown[places[is_in]]
        cells, groups = np.unique(places[is_in], return_inverse=True)
        if not len(cells):
            return
        holders = np.zeros(self.dataset_rows.count, np.bool_)
        holders[numbers] = decided.holders
        pairs = numbers[is_in], groups.reshape(-1)
        populations = Populations.of_pairs(*pairs, self.dataset_rows.count, len(cells))
        width = len(self.gathered.queries.query.aggregates)
        # Of persons, those of one column and of another may be the same by chance.
        marks = [one for one in (decided.values, decided.valued) if one is not None]
        measure = held_measure(np.concatenate([holders, *map(self._of_rows, marks)]))
        counts = self._counts(groups.reshape(-1), decided.holders[is_in])
        figures = tuple(
            (place, measure, int(rows[cell]) * width + aggregate, counts[place])
            for place, cell in enumerate(cells.tolist())
            for column, aggregate in enumerate(aggregates)
            if released[cell, column]
        )
        part = HeldPart(populations, {measure: holders}, figures)
        if self.dataset_rows.row_owners is None or decided.values is not None:
            yield part
            return
        # Named so that the first row is none of the holders, whichever of both are told of.
        first = int(np.argmin(numbers))
        named_holders = np.zeros(self.dataset_rows.count, np.bool_)
        named_holders[numbers] = decided.holders ^ decided.holders[first]
        persons = {one for one in aggregates if counts_persons(self.gathered, one)}
        yield part.beside_rows(named_holders, lambda figure: figure % width in persons)

    def _of_rows(self, mask: "Masks") -> "Masks":
        """Return a mask of the rows of the profiles as one of those of the dataset."""
        rows = np.zeros(self.dataset_rows.count, np.bool_)
        rows[self.profiles.numbers] = mask
        return rows

    def _counts(self, groups: "Counts", are_holders: "Masks") -> list[float | None]:
        """Return of each cell how many are holders, where that may be known: all or nobody, if a
        person lets it out."""
        sizes, counts = np.bincount(groups), np.bincount(groups, are_holders)
        are_ends = self.is_accepted & ((counts == 0) | (counts == sizes))
        return [
            count if is_end else None
            for count, is_end in zip(counts.tolist(), are_ends.tolist(), strict=True)
        ]


def _row() -> exp.Expr:
    return exp.column(ROW, table="r", quoted=True)
