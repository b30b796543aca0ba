"""A table of results with the evidence of each of its cells, from a query and the rows it reads."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from policy_engine.audits.outputs.lines import absent_cells
from policy_engine.audits.outputs.model import TOTAL, Measure, ResultTable
from policy_engine.decision.query.checking.checked_query import CheckedQuery
from policy_engine.decision.query.checking.evidence_columns import UNITS
from policy_engine.decision.query.checking.evidence_query import EvidenceQueries
from policy_engine.decision.query.checking.evidence_reader import EvidenceReader
from policy_engine.decision.query.checking.evidence_tables import evidence_table
from policy_engine.decision.query.checking.excluded_keys import left_domains
from policy_engine.decision.query.checking.key_domains import key_domains, listed_sets
from policy_engine.decision.query.checking.line_evidence import with_line_units
from policy_engine.decision.query.checking.population_conditions import settled_keys
from policy_engine.decision.query.checking.unfiltered_rows import UnfilteredRows
from policy_engine.decision.query.checking.whole_columns import has_many_values, with_known_codes

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray
    from sqlglot import exp

    Counts = NDArray[np.int64]


@dataclass(frozen=True)
class GatheredAnswer:
    """The aggregates of a query, with their evidence, before anything is released.

    `cells` are the columns "k<i>" of keys and "a<j>" of aggregates, with a row for each of the
    table's; `sets` has the number of the grouping set that each row is of, and `units` how many
    units it is about; `is_listable` tells which rows are of a grouping set that is listed with all
    combinations of its keys, and `are_all_listed` whether all sets are. Rows are in the order of
    the sets and of their keys' values, whether anybody has them or not. `queries` are those that
    the evidence is from. Of each aggregate, `populations` has the column of `memberships` that
    tells who is in it, empty if all units are. `key_sizes` are how many values each key has, those
    that the condition excludes included.
    """

    table: ResultTable
    cells: "pa.Table"
    sets: "Counts"
    units: "Counts"
    queries: EvidenceQueries
    populations: tuple[tuple[str, ...], ...]
    is_listable: "NDArray[np.bool_]"
    are_all_listed: bool = True
    key_sizes: tuple[int, ...] = ()


def gather_answer(
    query: CheckedQuery,
    unit: "exp.Expr | None",
    tables: "Mapping[str, pa.Table]",
    least: int,
    rows: UnfilteredRows,
) -> GatheredAnswer:
    """Return the aggregates of a query over tables by name, and the evidence of each cell.

    `rows` are those of the query without conditions. Combinations of keys that no row has are
    cells, too, of nobody, where `key_domains` has all values of the keys, given the `least` units,
    and these have few enough combinations. Raises NotCheckableError: K017 for an argument that
    cannot be read, and K022 if the query fails, always with the same words.
    """
    queries = EvidenceQueries(with_known_codes(query, rows, tables), unit)
    is_wide = cache(lambda node: has_many_values(node, rows, tables))
    parts = [evidence_table(queries, keys, tables, least, is_wide) for keys in query.sets]
    parts = with_line_units(queries, query.sets, parts, tables)
    whole = pa.concat_tables(parts, promote_options="default")
    sets = np.repeat(np.arange(len(parts)), [part.num_rows for part in parts])
    every = key_domains(query, tables, least)
    domains = left_domains(query, every)
    codes, labels = _coded(query, whole, sets, domains)
    listable = listed_sets(query.sets, domains)
    codes, sets, whole = _filled(query, codes, labels, (sets, listable), whole)
    order = np.lexsort((*codes.T[::-1], sets))
    codes, sets, whole = codes[order], sets[order], whole.take(pa.array(order))
    reader = EvidenceReader(queries, whole, codes, settled_keys(query.keys, rows))
    answer = _gathered(reader, labels, (sets, np.isin(sets, listable)))
    sizes = tuple(max(len(one), len(every.get(key, ()))) for key, one in enumerate(labels))
    return replace(answer, are_all_listed=len(listable) == len(parts), key_sizes=sizes)


# -- keys --------------------------------------------------------------------------------------


def _coded(
    query: CheckedQuery,
    whole: "pa.Table",
    sets: "Counts",
    domains: "Mapping[int, pa.Array]",
) -> "tuple[Counts, tuple[tuple[Any, ...], ...]]":
    """Return the codes of keys, (rows, keys), and the labels of each key, in their own order."""
    codes = np.full((whole.num_rows, len(query.keys)), TOTAL, dtype=np.int64)
    labels = []
    for number in range(len(query.keys)):
        is_key = np.array([number in keys for keys in query.sets], dtype=np.bool_)[sets]
        column = whole[f"k{number}"].filter(pa.array(is_key)).combine_chunks()
        coded = column.dictionary_encode(null_encoding="encode")
        present = [one_nan(value) for value in coded.dictionary.to_pylist()]
        own = domains[number].to_pylist() if number in domains else ()
        places = in_order([*present, *map(one_nan, own)])
        ranks = np.array([places[value] for value in present], dtype=np.int64)
        codes[is_key, number] = ranks[coded.indices.to_numpy(zero_copy_only=False)]
        labels.append(tuple(places))
    return codes, tuple(labels)


def in_order(values: "Iterable[Any]") -> dict[Any, int]:
    """Return the place of each different value of a key, in an order that follows from the values
    alone: what is no number comes after numbers, and what is missing last."""
    unique = dict.fromkeys(values)
    nothing = (None, math.nan)
    last = [one for one in (math.nan, None) if one in unique]
    ranked = [*sorted(one for one in unique if one not in nothing), *last]
    return {value: place for place, value in enumerate(ranked)}


def one_nan(value: object) -> object:
    """Return a value, with one NaN standing for all: no two of them are equal."""
    return math.nan if value != value else value  # noqa: PLR0124


def _filled(
    query: CheckedQuery,
    codes: "Counts",
    labels: tuple[tuple[Any, ...], ...],
    listed_sets: "tuple[Counts, list[int]]",
    whole: "pa.Table",
) -> "tuple[Counts, Counts, pa.Table]":
    """Return the table with a row for each combination of keys in a listable grouping set."""
    (sets, listable), sizes = listed_sets, [len(one) for one in labels]
    more = [
        absent_cells(codes[sets == n], keys if n in listable else (), sizes)
        for n, keys in enumerate(query.sets)
    ]
    count = sum(map(len, more))
    if not count:
        return codes, sets, whole
    added = np.concatenate(more)
    columns = {}
    for name, column in zip(whole.column_names, whole.columns, strict=True):
        if name.startswith("k"):
            number = int(name[1:])
            values = pa.array([*labels[number], None], column.type)
            columns[name] = values.take(pa.array(added[:, number] % len(values)))
        elif name.startswith("a") and not _is_count(query, name):
            columns[name] = pa.nulls(count, column.type)
        else:
            columns[name] = _zeros(count, column.type)
    rows = pa.table(columns, schema=whole.schema)
    numbers = np.repeat(np.arange(len(more)), [len(one) for one in more])
    return (
        np.concatenate([codes, added]),
        np.concatenate([sets, numbers]),
        pa.concat_tables([whole, rows]),
    )


def _is_count(query: CheckedQuery, name: str) -> bool:
    from sqlglot import exp  # noqa: PLC0415

    return isinstance(query.aggregates[int(name[1:])].function, exp.Count | exp.CountIf)


def _zeros(count: int, kind: "pa.DataType") -> "pa.Array":
    if pa.types.is_list(kind):
        return pa.array([[0.0]] * count, kind)
    return pa.array(np.zeros(count)).cast(pa.bool_() if pa.types.is_boolean(kind) else kind)


# -- evidence ----------------------------------------------------------------------------------


def _gathered(
    reader: EvidenceReader,
    labels: tuple[tuple[Any, ...], ...],
    listed_sets: "tuple[Counts, NDArray[np.bool_]]",
) -> GatheredAnswer:
    queries, whole, (sets, is_listable) = reader.queries, reader.whole, listed_sets
    query = queries.query
    measures = tuple(
        Measure(f"a{number}", (reader.statistic(number, one),))
        for number, one in enumerate(query.aggregates)
    )
    values = [reader.figures(f"a{number}") for number in range(len(measures))]
    names = tuple(key_name(query, number) for number in range(len(query.keys)))
    table = ResultTable(names, labels, reader.codes, measures, np.column_stack(values))
    item = [name for name in whole.column_names if name[0] in "ka"]
    return GatheredAnswer(
        table,
        whole.select(item),
        sets,
        reader.counts(UNITS),
        queries,
        reader.populations(),
        is_listable,
    )


def key_name(query: CheckedQuery, number: int) -> str:
    """Return the name by which a key is shown, or else how it is written."""
    name = f"k{number}"
    item = (one for one in query.columns if one.expression.name == name)
    return next((one.name for one in item), query.keys[number].sql("duckdb", comments=False))
