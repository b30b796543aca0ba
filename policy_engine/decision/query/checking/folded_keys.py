"""Keys that others lie in, as everybody knows: rows are grouped without them, and shown with them.

Which district is in which region tells nothing of anybody where the policy says so
(`pe:nestedColumns`). A group by both is one by the district alone, and is judged as such.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from policy_engine.data.column_names import column_name
from policy_engine.decision.query.checking.checked_query import CheckedQuery
from policy_engine.decision.query.checking.contributions import tried
from policy_engine.decision.query.checking.evidence_tables import run_checked
from policy_engine.decision.query.checking.sql_nodes import grouped, named
from policy_engine.decision.query.checking.unfiltered_rows import UnfilteredRows
from policy_engine.decision.query.grammar import to_sql
from policy_engine.methods.output_checks.parameters import OutputCheck

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

_PAIR = 2


def nested_keys(
    query: CheckedQuery, rows: UnfilteredRows, check: OutputCheck, asset: Callable[[str], str]
) -> tuple[frozenset[int], ...]:
    """Return the numbers of keys that are levels of one hierarchy by a check: columns of one table
    as they are.

    `asset` returns the IRI of the dataset that a table is of.
    """
    columns = [rows.resolved(key).unnest() for key in query.keys] if check.nested else []
    groups = []
    for hierarchy in check.nested:
        for table, dataset in rows.datasets.items():
            names = {(column_name(asset(dataset), iri) or "").lower() for iri in hierarchy}
            group = frozenset(
                number
                for number, one in enumerate(columns)
                if isinstance(one, exp.Column)
                and one.table == table
                and one.name.lower() in names - {""}
            )
            groups += [group] if len(group) >= _PAIR else []
    return tuple(groups)


@dataclass(frozen=True, eq=False)
class KeyLevel:
    """A key that another one, the `lower`, lies in: the own value `of` each of its values."""

    lower: int
    values: "pa.Array"
    of: "pa.Array"


@dataclass(frozen=True, eq=False)
class FoldedKeys:
    """A query as it is judged, and as it was `asked`.

    Of what is `judged`, grouping sets have no key that others of the set lie in, nor are there
    keys in no set. Its keys are those numbered `kept`. Each grouping set that was asked for is
    shown from one of its `places`, with `levels` as the keys that it lacks, by their numbers.
    """

    asked: CheckedQuery
    judged: CheckedQuery
    kept: tuple[int, ...]
    places: tuple[int, ...]
    levels: tuple[Mapping[int, KeyLevel], ...]

    def unfolded(
        self, cells: "pa.Table", sets: "NDArray[np.int64]"
    ) -> "tuple[pa.Table, NDArray[np.int64]]":
        """Return the cells as they were asked for, and which row of those judged each is from.

        Cells have the columns "k<i>" of keys, and "t<i>", which are 1 in totals over one; `sets`
        (rows,) are the numbers of their grouping sets.
        """
        if self.asked is self.judged:
            return cells, np.arange(len(cells))
        numbers = {
            f"{part}{new}": f"{part}{old}" for new, old in enumerate(self.kept) for part in "kt"
        }
        renamed = cells.rename_columns([numbers.get(one, one) for one in cells.column_names])
        parts, rows = [], []
        for place, levels in zip(self.places, self.levels, strict=True):
            own = np.flatnonzero(sets == place)
            parts.append(self._with_levels(renamed.take(pa.array(own)), levels))
            rows.append(own)
        return pa.concat_tables(parts, promote_options="permissive"), np.concatenate(rows)

    def _with_levels(self, cells: "pa.Table", levels: Mapping[int, KeyLevel]) -> "pa.Table":
        for number, level in levels.items():
            cells = cells.drop_columns({f"k{number}", f"t{number}"} & {*cells.column_names})
            lower = cells[f"k{level.lower}"].combine_chunks().cast(level.of.type)
            values = level.values.take(pc.index_in(lower, value_set=level.of))
            cells = cells.append_column(f"k{number}", values)
            cells = cells.append_column(f"t{number}", pa.array(np.zeros(len(cells), np.int64)))
        for number in range(len(self.asked.keys)):
            if f"t{number}" not in cells.column_names:
                ones = pa.array(np.ones(len(cells), np.int64))
                cells = cells.append_column(f"t{number}", ones)
                cells = cells.append_column(f"k{number}", pa.nulls(len(cells)))
        return cells


def fold_keys(
    query: CheckedQuery,
    nested: tuple[frozenset[int], ...],
    rows: UnfilteredRows,
    tables: "Mapping[str, pa.Table]",
) -> FoldedKeys:
    """Return a query without the keys of a grouping set that others of it lie in, by all rows.

    Keys of `nested` alone are left out, and where the lower one has a value in all rows: that all
    who have none are in one region is not known to everybody. Raises NotCheckableError (K022) if a
    query fails.
    """
    pairs = {
        (lower, upper)
        for group in nested
        for keys in query.sets
        for lower, upper in permutations(group & set(keys), _PAIR)
    }
    levels_by_pair = {
        pair: level for pair in sorted(pairs) if (level := _level(query, pair, rows, tables))
    }
    levels = tuple(_levels(keys, levels_by_pair) for keys in query.sets)
    if not any(levels):
        return FoldedKeys(query, query, (*range(len(query.keys)),), (), ())
    sets = [
        tuple(key for key in keys if key not in own)
        for keys, own in zip(query.sets, levels, strict=True)
    ]
    kept = tuple(sorted({key for keys in sets for key in keys}))
    different = tuple(dict.fromkeys(sets))
    judged = _of_keys(query, kept, different)
    return FoldedKeys(query, judged, kept, tuple(map(different.index, sets)), levels)


def _level(
    query: CheckedQuery,
    pair: tuple[int, int],
    rows: UnfilteredRows,
    tables: "Mapping[str, pa.Table]",
) -> KeyLevel | None:
    """Return the level of an upper key over a lower one, over all rows; None where a value lies in
    several, or a row has none."""
    select = rows.source.copy()
    entries = [named(tried(rows.resolved(query.keys[key])), f"k{key}") for key in pair]
    select.set("expressions", entries)
    combinations = run_checked({"": to_sql(grouped(select, pair, []), "duckdb")}, tables)[""]
    lower, upper = (combinations[f"k{key}"].combine_chunks() for key in pair)
    if lower.null_count or len(lower.unique()) < len(lower):
        return None
    return KeyLevel(pair[0], upper, lower)


def _levels(keys: Sequence[int], levels: Mapping[tuple[int, int], KeyLevel]) -> dict[int, KeyLevel]:
    """Return the keys of a grouping set that others of it lie in, by the lowest of those: of two
    that lie in each other, the one with the higher number."""
    above = {
        upper: [
            key
            for key in keys
            if (key, upper) in levels and ((upper, key) not in levels or key < upper)
        ]
        for upper in keys
    }
    kept = [key for key in keys if not above[key]]
    return {
        upper: next(levels[key, upper] for key in kept if (key, upper) in levels)
        for upper in keys
        if above[upper]
    }


def _of_keys(
    query: CheckedQuery, kept: tuple[int, ...], sets: Sequence[tuple[int, ...]]
) -> CheckedQuery:
    """Return a query by some of its keys, under new numbers, without the columns of others."""
    places = {key: place for place, key in enumerate(kept)}
    names = {f"{part}{old}": f"{part}{new}" for old, new in places.items() for part in "kt"}
    names |= {f"a{number}": f"a{number}" for number in range(len(query.aggregates))}
    columns = []
    for one in query.columns:
        nodes = [*one.expression.find_all(exp.Column)]
        if all(node.name in names for node in nodes):
            copied = exp.paren(one.expression.copy(), copy=False)
            for node in [*copied.find_all(exp.Column)]:
                node.replace(exp.column(names[node.name], quoted=True))
            columns.append(replace(one, expression=copied.this))
    return replace(
        query,
        keys=tuple(query.keys[key] for key in kept),
        sets=tuple(tuple(places[key] for key in keys) for keys in sets),
        columns=tuple(columns),
        condition=None,
        order=(),
    )
