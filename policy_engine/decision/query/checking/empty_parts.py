"""Who would be in a cell of nobody, and in which other cells such persons would be.

That nobody is there says nothing of it, so persons are thought of: one who has all that the cell
asks for but one part, as somebody in the data has, and in that part what somebody else has. So
their other values are such as occur with those of the cell: a district is in its own region.

Cells that split those persons tell nothing of them alone, but all cells of a table do.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations, islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import sqlglot
from sqlglot import exp

from policy_engine.decision.query.checking.alike_rows import leaves_of_rows
from policy_engine.decision.query.checking.condition_leaves import columns_of
from policy_engine.decision.query.checking.condition_texts import KEY_IS
from policy_engine.decision.query.checking.contributions import tried
from policy_engine.decision.query.checking.evidence_tables import run_checked
from policy_engine.decision.query.checking.same_conditions import ReadTable, read_tables
from policy_engine.decision.query.checking.sql_nodes import column, named
from policy_engine.decision.query.grammar import to_sql
from policy_engine.release.output_ledger import EmptyParts

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Masks = NDArray[np.bool_]

EACH = 16
"""How many persons are thought of who lack one part of a condition."""
MOST_SUMS = 4_000
"""How many sums of cells are looked at."""
_ROWS, _SET = "rows", "set"
_AT_ONCE = 200
"""How many queries or conditions are evaluated together."""

_Parts = frozenset[str]
_Kind = tuple[object, ...]
"""What the cell that a group is thought of in asks for, and what its persons lack."""


class _Persons(NamedTuple):
    """Persons thought of: the number of the group of each, (persons,), and whether a part of a
    condition holds of them, (persons,), by its text."""

    groups: "Counts"
    holds: "Mapping[str, Masks]"

    def are_in(self, parts: _Parts) -> "Masks":
        """Return of whom all parts of a condition hold: (persons,)."""
        own = [self.holds[one] for one in parts]
        every = [np.ones(len(self.groups), np.bool_), *own]
        return np.asarray(np.logical_and.reduce(every), np.bool_)


@dataclass
class PartsOfEmptyCells:
    """Returns the sums of cells that those would be in who were in cells of nobody. Persons who
    lack the same part of the condition of the same cell are one group.

    Cells are compared whose tables are the first of the same others; others count as apart.
    """

    read: ReadTable
    known: "dict[tuple[str, tuple[_Parts, ...]], _Persons]" = field(default_factory=dict)

    def __call__(self, empties: Sequence[str], conditions: Sequence[str]) -> EmptyParts:
        """Return the sums of cells by their conditions, and whether they have those in who would
        be in cells of nobody.

        Raises NotCheckableError (K022) if the conditions cannot be evaluated.
        """
        own, others = [*map(_condition, empties)], [*map(_condition, conditions)]
        masks, numbers = [np.zeros((len(others), 0), np.bool_)], [np.zeros(0, np.int64)]
        kinds = list[_Kind]()
        for source in dict.fromkeys(source for source, _ in own):
            cells = [parts for other, parts in own if other == source]
            wide = max((one for one, _ in own + others if one.startswith(source)), key=len)
            is_comparable = np.array([wide.startswith(one) for one, _ in others], np.bool_)
            compared = [parts if wide.startswith(one) else _Parts() for one, parts in others]
            for is_within, groups, names in self._of_source(wide, cells, compared):
                masks.append(is_within & is_comparable[:, None])
                numbers.append(groups + len(kinds))
                kinds += names
        groups, places = np.unique(np.concatenate(numbers), return_inverse=True)
        order = {kind: number for number, kind in enumerate(dict.fromkeys(kinds))}
        of_groups = np.array([order[kinds[group]] for group in groups.tolist()], np.int64)
        return _summed(others, np.hstack(masks), places.reshape(-1).astype(np.int64), of_groups)

    def _of_source(
        self, source: str, cells: Sequence[_Parts], conditions: Sequence[_Parts]
    ) -> "Iterator[tuple[Masks, Counts, list[_Kind]]]":
        """Yield who is in which cells, (cells, persons), the groups, and the kind of each: of those
        who are thought of, and one for each cell of nobody that nobody can be thought of in."""
        texts = _Parts().union(*cells, *conditions)
        persons = self.known.get((source, tuple(cells)))
        if persons is None or not texts <= persons.holds.keys():
            persons = _persons(sqlglot.parse_one(source, dialect="duckdb"), cells, texts, self.read)
            self.known[source, tuple(cells)] = persons
        is_within = [persons.are_in(one) for one in conditions]
        shape = len(conditions), len(persons.groups)
        lacking: list[_Kind] = [
            (_names(cell), *_names({part})) for cell in cells for part in sorted(cell)
        ]
        yield np.array(is_within, np.bool_).reshape(shape), persons.groups, lacking
        lonely = [one for one in cells if not persons.are_in(one).any()]
        contained = [[parts <= one for one in lonely] for parts in conditions]
        masks = np.array(contained, np.bool_).reshape(len(conditions), len(lonely))
        yield masks, np.arange(len(lonely)), [(_names(one),) for one in lonely]


def _names(parts: Iterable[str]) -> tuple[str, ...]:
    """Return what parts of a condition ask for, without the values of keys."""
    return tuple(sorted(one.split(KEY_IS, 1)[0] for one in parts))


def _summed(
    conditions: Sequence[tuple[str, _Parts]],
    is_within: "Masks",
    groups: "Counts",
    kinds: "Counts",
) -> EmptyParts:
    """Return the sums of cells, each by itself first, and which have all of a group in, or some."""
    order = np.argsort(groups, kind="stable")
    is_within, starts = is_within[:, order], np.searchsorted(groups[order], np.arange(len(kinds)))
    tables, places = [*_tables(conditions)], np.arange(len(conditions))
    for number, table in enumerate(tables):
        places[[*table.cells]] = number
    several = [*islice(_several(conditions, tables, is_within, starts), MOST_SUMS)]
    own = np.vstack([is_within, *(is_within[[*one]].any(axis=0) for one in several)])
    are_all = np.logical_and.reduceat(own, starts, axis=1)
    are_split = np.logical_or.reduceat(own, starts, axis=1) & ~are_all
    singles = [(place,) for place in range(len(conditions))]
    of_tables = np.concatenate([places, len(tables) + np.arange(len(several))])
    return EmptyParts((*singles, *several), of_tables, are_all, are_split, kinds)


def _several(
    conditions: Sequence[tuple[str, _Parts]],
    tables: "Sequence[_Table]",
    is_within: "Masks",
    starts: "Counts",
) -> Iterator[tuple[int, ...]]:
    """Yield the sums of cells of one table by which all of a group are in: of those alone that any
    of them is in, and of all that have some values in common, unless these are a cell, too."""
    cells, sums = {*conditions}, set[tuple[int, ...]]()
    for table in tables:
        places = np.array([*table.cells], np.int64)
        own = is_within[places]
        are_whole = np.logical_and.reduceat(own, starts, axis=1).any(axis=0)
        is_covered = np.logical_and.reduceat(own.any(axis=0), starts)
        are_some = np.logical_or.reduceat(own, starts, axis=1)[:, is_covered & ~are_whole]
        for is_in in np.unique(are_some, axis=1).T:
            for one in (tuple(places[is_in].tolist()), *table.around(is_in)):
                if one not in sums and table.in_common(one) not in cells:
                    yield one
                sums.add(one)


class _Table(NamedTuple):
    """The cells of a table, of which nobody is in two: the parts of the condition of each that are
    values of keys, by their places, and the tables that are read with all other parts."""

    source: str
    rest: _Parts
    cells: dict[int, _Parts]

    def in_common(self, places: Sequence[int]) -> tuple[str, _Parts]:
        """Return the condition of all cells that have in common what some of them have."""
        return self.source, self.rest | frozenset.intersection(*(self.cells[p] for p in places))

    def around(self, is_in: "Masks") -> Iterator[tuple[int, ...]]:
        """Yield the cells that have the values of a few keys in common that some cells have."""
        own = [parts for parts, one in zip(self.cells.values(), is_in, strict=True) if one]
        common = sorted(frozenset.intersection(*own))
        for size in range(len(common) + 1):
            for chosen in combinations(common, size):
                yield tuple(place for place, one in self.cells.items() if one >= {*chosen})


def _tables(conditions: Sequence[tuple[str, _Parts]]) -> Iterator[_Table]:
    """Yield the tables that cells are of. A cell that is there several times is in as many."""
    tables: dict[object, _Table] = {}
    times: Counter[tuple[str, _Parts]] = Counter()
    for place, (source, parts) in enumerate(conditions):
        own = frozenset(one for one in parts if KEY_IS in one)
        keys = frozenset(one.split(KEY_IS, 1)[0] for one in own)
        name = source, parts - own, keys, times[source, parts]
        times[source, parts] += 1
        tables.setdefault(name, _Table(source, parts - own, {})).cells[place] = own
    yield from tables.values()


@lru_cache(20_000)
def _condition(text: str) -> tuple[str, _Parts]:
    source, parts = json.loads(text)
    return source, frozenset(parts)


@lru_cache(20_000)
def _node(text: str) -> exp.Expr:
    return sqlglot.parse_one(text, dialect="duckdb")


class _Lacking(NamedTuple):
    """Somebody who is to be in a cell: the row of somebody of whom all parts of its condition hold
    but one, which is changed as in the row of a donor; `group` is the number of cell and part."""

    group: int
    cell: _Parts
    part: str
    row: int
    donor: int


def _persons(select: exp.Expr, cells: Sequence[_Parts], texts: _Parts, read: ReadTable) -> _Persons:
    """Return who would be in some cells, and which parts of conditions hold of them."""
    nodes = {text: _node(text) for text in sorted(texts)}
    read_of = {text: columns_of(node) for text, node in nodes.items()}
    columns = {
        one: f"c{number}"
        for number, one in enumerate(sorted(frozenset[str]().union(*read_of.values())))
    }
    over = {text: node.transform(_renamed, columns) for text, node in nodes.items()}
    assert isinstance(select, exp.Select)  # noqa: S101 (so it was written)
    rows = _rows(select, columns, read_tables(read, select, [*nodes.values()]))
    samples = _samples(rows, cells, over)
    some = [*_lacking(cells, samples.places)]
    persons = _Persons(
        np.array([one.group for one in some], np.int64),
        _holds(_changed(samples.rows, some, columns, read_of), over),
    )
    of_cells = {cell: persons.are_in(cell) for cell in cells}
    are_in = np.array([of_cells[one.cell][at] for at, one in enumerate(some)], np.bool_)
    holds = {text: mask[are_in] for text, mask in persons.holds.items()}
    return _Persons(persons.groups[are_in], holds)


def _renamed(node: exp.Expr, columns: Mapping[str, str]) -> exp.Expr:
    return column(columns[node.sql("duckdb")]) if isinstance(node, exp.Column) else node


def _rows(
    select: exp.Select, columns: Mapping[str, str], tables: "Mapping[str, pa.Table]"
) -> "pa.Table":
    """Return the columns of all rows that conditions read, under their new names.

    They are in an order that has nothing to do with their values: the first ones differ.
    """
    values = {name: _node(one) for one, name in columns.items()}
    rows = leaves_of_rows(select, values or {"c": exp.true()}, {}, tables).table
    return rows.take(pa.array(np.random.default_rng(rows.num_rows).permutation(rows.num_rows)))


class _Samples(NamedTuple):
    """Some rows, and at which places those are of which all of some parts of conditions hold."""

    rows: "pa.Table"
    places: dict[_Parts, list[int]]


def _samples(rows: "pa.Table", cells: Sequence[_Parts], over: Mapping[str, exp.Expr]) -> _Samples:
    """Return the first rows of whom one part of a cell's condition holds, or all others do."""
    wanted = {frozenset({part}): 1 for cell in cells for part in cell}
    wanted |= {cell - {part}: EACH for cell in cells for part in cell}
    selects = [
        exp.select("*", exp.alias_(exp.Literal.number(number), _SET, quoted=True))
        .from_(exp.table_(_ROWS, quoted=True))
        .where(*(tried(over[part]) for part in sorted(parts)), copy=False)
        .limit(count)
        .subquery()
        for number, (parts, count) in enumerate(wanted.items())
    ]
    tables, numbers = [rows.slice(0, 0)], [np.zeros(0, np.int64)]
    for first in range(0, len(selects), _AT_ONCE):
        entries = [exp.select("*").from_(one) for one in selects[first : first + _AT_ONCE]]
        query = exp.union(*entries, distinct=False) if len(entries) > 1 else entries[0]
        own = run_checked({"": to_sql(query, "duckdb")}, {_ROWS: rows})[""]
        numbers.append(own[_SET].to_numpy().astype(np.int64))
        tables.append(own.drop_columns([_SET]))
    every = np.concatenate(numbers)
    places = {parts: np.flatnonzero(every == n).tolist() for n, parts in enumerate(wanted)}
    return _Samples(pa.concat_tables(tables), places)


def _lacking(cells: Sequence[_Parts], places: Mapping[_Parts, Sequence[int]]) -> Iterator[_Lacking]:
    group = 0
    for cell in cells:
        for part in sorted(cell):
            for donor in places[frozenset({part})][:1]:
                for row in places[cell - {part}]:
                    yield _Lacking(group, cell, part, row, donor)
            group += 1


def _changed(
    rows: "pa.Table",
    some: Sequence[_Lacking],
    columns: Mapping[str, str],
    read_of: Mapping[str, frozenset[str]],
) -> "pa.Table":
    """Return the rows of persons that are thought of."""
    values = {}
    for one, name in columns.items():
        own = [person.donor if one in read_of[person.part] else person.row for person in some]
        values[name] = rows[name].take(pa.array(own, pa.int64()))
    return pa.table(values)


def _holds(rows: "pa.Table", over: Mapping[str, exp.Expr]) -> "dict[str, Masks]":
    """Return of which rows each part of a condition holds, by its text."""
    texts, holds = [*over], dict[str, "Masks"]()
    for first in range(0, len(texts), _AT_ONCE):
        own = texts[first : first + _AT_ONCE]
        entries = [
            named(exp.func("COALESCE", tried(over[text]), exp.false()), f"h{number}")
            for number, text in enumerate(own)
        ]
        select = exp.select(*entries).from_(exp.table_(_ROWS, quoted=True))
        answers = run_checked({"": to_sql(select, "duckdb")}, {_ROWS: rows})[""]
        for number, text in enumerate(own):
            holds[text] = answers[f"h{number}"].to_numpy().astype(np.bool_)
    return holds
