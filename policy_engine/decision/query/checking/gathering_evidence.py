"""A table of results with the evidence of each of its cells, from a query and the rows it reads."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from policy_engine.audits.outputs.lines import absent_cells, line_shares
from policy_engine.audits.outputs.model import (
    TOTAL,
    CellEvidence,
    Measure,
    ResultTable,
    ShownStatistic,
    Statbarn,
)
from policy_engine.decision.query import running
from policy_engine.decision.query.checking.checked_query import (
    CheckedAggregate,
    CheckedQuery,
    NotCheckableError,
)
from policy_engine.decision.query.checking.evidence_query import (
    ANSWER,
    BASE,
    ROWS,
    UNITS,
    EvidenceQueries,
)
from policy_engine.decision.query.checking.key_domains import key_domains
from policy_engine.decision.query.checking.value_counts import value_counts
from policy_engine.decision.query.grammar import to_sql
from policy_engine.errors import InternalError, QueryError

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray
    from sqlglot import exp

    Counts = NDArray[np.int64]

_MOST_ROWS = 5_000_000


@dataclass(frozen=True)
class GatheredAnswer:
    """The aggregates of a query, with their evidence, before anything is released.

    `cells` are the columns "k<i>" of keys and "a<j>" of aggregates, with a row for each of the
    table's; `sets` has the number of the grouping set that each row is of, and `units` how many
    units it is about; `is_listable` tells which rows are of a grouping set that may be listed with
    all combinations of its keys. `queries` are those that the evidence is from. Of each aggregate,
    `populations` has the column of `memberships` that tells who is in it, empty if all units are.
    """

    table: ResultTable
    cells: "pa.Table"
    sets: "Counts"
    units: "Counts"
    queries: EvidenceQueries
    populations: tuple[tuple[str, ...], ...]
    is_listable: "NDArray[np.bool_]"


def gather_answer(
    query: CheckedQuery,
    unit: "exp.Expr | None",
    tables: "Mapping[str, pa.Table]",
    least: int,
) -> GatheredAnswer:
    """Return the aggregates of a query over tables by name, and the evidence of each cell.

    Combinations of keys that no row has are cells, too, of nobody, where `key_domains` has all
    values of the keys, given the `least` units. Raises NotCheckableError (K022) if the query fails,
    always with the same words.
    """
    queries = EvidenceQueries(_with_known_codes(query, unit, tables), unit)
    parts = [_one_set(queries, keys, tables, least) for keys in query.sets]
    whole = pa.concat_tables(parts, promote_options="default")
    sets = np.repeat(np.arange(len(parts)), [part.num_rows for part in parts])
    codes, labels = _coded(query, whole, sets)
    domains = key_domains(query, tables, least)
    labels = tuple(
        tuple(dict.fromkeys((*values, *domains.get(number, ()))))
        for number, values in enumerate(labels)
    )
    listable = [n for n, keys in enumerate(query.sets) if domains.keys() >= {*keys}]
    codes, sets, whole = _filled(query, codes, labels, (sets, listable), whole)
    return _gathered(queries, whole, codes, labels, (sets, np.isin(sets, listable)))


def run_checked(texts: dict[str, str], tables: "Mapping[str, pa.Table]") -> "dict[str, pa.Table]":
    """Return the rows of queries by name. Raises NotCheckableError (K022) if one fails."""
    try:
        return running.run(texts, tables)
    except QueryError:
        # What fails, and on which values, may tell of a person.
        message = "The query cannot be answered on this data."
        raise NotCheckableError("K022", message, "Does it add up or compare texts?") from None


def _one_set(
    queries: EvidenceQueries, keys: tuple[int, ...], tables: "Mapping[str, pa.Table]", least: int
) -> "pa.Table":
    """Return the answer and the evidence of one grouping set, a row for each group."""
    texts = {"answer": queries.answer(keys), "evidence": queries.evidence(keys)}
    results = run_checked({name: to_sql(one, "duckdb") for name, one in texts.items()}, tables)
    answer, evidence = results["answer"], results["evidence"]
    names = [f"k{number}" for number in keys]
    beyond = queries.beyond(keys)
    counts = {name: to_sql(one, "duckdb") for name, one in value_counts(queries, keys, least)}
    others = [evidence, *(run_checked(counts, tables).values() if counts else ())]
    if beyond is not None:
        text = to_sql(beyond, "duckdb")
        others.append(run_checked({"": text}, {**tables, ANSWER: answer})[""])
    for other in others:
        if not _comparable(answer, names).equals(_comparable(other, names)):
            raise InternalError.of("X001", "An answer and its evidence have other rows.")
        for name in other.column_names:
            if name not in answer.column_names:
                answer = answer.append_column(name, other[name])
    if answer.num_rows > _MOST_ROWS:
        message = f"The answer has more than {_MOST_ROWS:,} rows."
        raise NotCheckableError("K017", message)
    return answer


def _comparable(table: "pa.Table", names: list[str]) -> "pa.Table":
    """Return keys with what is no number missing, for it equals nothing."""
    columns = {}
    for name in names:
        column = table[name]
        if pa.types.is_floating(column.type):
            column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
        columns[name] = column
    return pa.table(columns)


def _with_known_codes(
    query: CheckedQuery, unit: "exp.Expr | None", tables: "Mapping[str, pa.Table]"
) -> CheckedQuery:
    """Return the query in which totals of two-valued columns are treated as counts."""
    queries = EvidenceQueries(query, unit)
    places = {place for place, one in enumerate(queries.contributions) if "total" in one.kinds}
    if not places:
        return query
    [row] = run_checked({"": to_sql(queries.levels(), "duckdb")}, tables)[""].to_pylist()
    lows = {}
    for place in places:
        ends = (str(row[f"i{place}"]), str(row[f"h{place}"]))
        if row[f"v{place}"] <= _FEW and ends[0] != ends[1]:
            text = to_sql(queries.between(place, ends), "duckdb")
            if not run_checked({"": text}, tables)[""].to_pylist()[0]["n"]:
                lows[place] = ends[0]
    aggregates = [
        replace(one, kind="binary", statbarn=Statbarn.FREQUENCIES, low=lows[place])
        if one.kind == "total" and place in lows
        else one
        for one, place in zip(query.aggregates, queries.places, strict=True)
    ]
    return replace(query, aggregates=tuple(aggregates))


_FEW = 4
"""Different values by a sketch, which may be off by some: then they are counted."""


# -- keys --------------------------------------------------------------------------------------


def _coded(
    query: CheckedQuery, whole: "pa.Table", sets: "Counts"
) -> "tuple[Counts, tuple[tuple[Any, ...], ...]]":
    """Return the codes of keys, (rows, keys), and the labels of each key."""
    codes = np.full((whole.num_rows, len(query.keys)), TOTAL, dtype=np.int64)
    labels = []
    for number in range(len(query.keys)):
        is_key = np.array([number in keys for keys in query.sets], dtype=np.bool_)[sets]
        column = whole[f"k{number}"].filter(pa.array(is_key)).combine_chunks()
        coded = column.dictionary_encode(null_encoding="encode")
        codes[is_key, number] = coded.indices.to_numpy(zero_copy_only=False)
        labels.append(tuple(coded.dictionary.to_pylist()))
    return codes, tuple(labels)


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
    queries: EvidenceQueries,
    whole: "pa.Table",
    codes: "Counts",
    labels: tuple[tuple[Any, ...], ...],
    listed_sets: "tuple[Counts, NDArray[np.bool_]]",
) -> GatheredAnswer:
    query, (sets, is_listable) = queries.query, listed_sets
    reader = _EvidenceReader(queries, whole, codes)
    measures = tuple(
        Measure(f"a{number}", (reader.statistic(number, one),))
        for number, one in enumerate(query.aggregates)
    )
    values = [reader.figures(f"a{number}") for number in range(len(measures))]
    names = tuple(_key_name(query, number) for number in range(len(query.keys)))
    table = ResultTable(names, labels, codes, measures, np.column_stack(values))
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


def _key_name(query: CheckedQuery, number: int) -> str:
    """Return the name by which a key is shown, or else how it is written."""
    name = f"k{number}"
    item = (one for one in query.columns if one.expression.name == name)
    return next((one.name for one in item), query.keys[number].sql("duckdb", comments=False))


@dataclass(frozen=True)
class _EvidenceReader:
    """Reads the evidence of aggregates from the columns of the queries for it."""

    queries: EvidenceQueries
    whole: "pa.Table"
    codes: "Counts"

    def statistic(self, number: int, aggregate: CheckedAggregate) -> ShownStatistic:
        """Return an aggregate as a statistic with its evidence."""
        place = self.queries.places[number]
        is_every_row = self.queries.contributions[place].is_every_row
        present = self.counts(UNITS if is_every_row else f"n{place}")
        more = getattr(self, f"_{aggregate.kind}")(number, place, present)
        if aggregate.condition is not None and aggregate.kind not in ("count", "units", "binary"):
            left_out = self.counts(UNITS) - present
            more["left_out"] = np.minimum(left_out, more.get("left_out", left_out))
        if f"f{place}" in self.whole.column_names and aggregate.kind != "count":
            fewest = self.counts(f"f{place}")
            more["units"] = np.minimum(more.get("units", present), fewest)
        evidence = CellEvidence(**{"units": present, "rows": self.counts(ROWS), **more})
        return ShownStatistic(
            aggregate.statbarn, evidence, self._columns(aggregate), aggregate.tail
        )

    @staticmethod
    def _columns(aggregate: CheckedAggregate) -> tuple[str, ...]:
        parts = [*aggregate.arguments, *([aggregate.condition] if aggregate.condition else [])]
        columns = [one for part in parts for one in part.find_all(_column_type())]
        return tuple(dict.fromkeys(one.name for one in columns))

    def populations(self) -> tuple[tuple[str, ...], ...]:
        """Return who each aggregate is about: the same columns for the same rows."""
        units, rows = self.counts(UNITS), self.counts(ROWS)
        is_plain = np.array_equal(units, rows)  # Then all units are all rows.

        def shared(name: str) -> str:
            is_all = is_plain and name != BASE and np.array_equal(self.counts(name), units)
            return "" if is_all else name

        return tuple(
            tuple(dict.fromkeys(shared(name) if name else "" for name in names))
            for names in map(self.queries.memberships_of, range(len(self.queries.places)))
        )

    def counts(self, name: str) -> "Counts":
        """Return a column of whole numbers, 0 where there is none."""
        if name not in self.whole.column_names:
            return np.zeros(self.whole.num_rows, dtype=np.int64)
        column = pc.fill_null(self.whole[name], 0)
        counts: Counts = column.cast(pa.int64()).to_numpy()
        return counts

    def figures(self, name: str) -> "NDArray[np.float64]":
        """Return a column of numbers, NaN where there is none, or no number."""
        if name not in self.whole.column_names:
            return np.full(self.whole.num_rows, np.nan)
        column = self.whole[name]
        kind = column.type
        if not (
            pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        ):
            return np.full(self.whole.num_rows, np.nan)
        figures: NDArray[np.float64] = column.cast(pa.float64(), safe=False).to_numpy()
        return figures

    # -- by the kind of aggregate -------------------------------------------------------------

    def _count(self, number: int, place: int, present: "Counts") -> dict[str, Any]:
        units = self.counts(UNITS)
        shares = line_shares(self.codes, present)
        if self.queries.query.aggregates[number].is_group:
            shares = _ratio(present, units)
        figures = {"left_out": self.counts(f"o{place}"), "group_share": shares}
        return {**figures, **self._row_shares(place, present)}

    def _row_shares(self, place: int, present: "Counts") -> dict[str, Any]:
        """Return the rows of the two units that have most, where a unit has several."""
        if f"r{place}" not in self.whole.column_names:
            return {}
        totals = np.nan_to_num(self.figures(f"t{place}"))
        if np.array_equal(totals, present):
            return {}
        sizes = self._two_largest(f"r{place}")
        named = {"largest": sizes[:, 0], "second": sizes[:, 1], "total": totals}
        return {**named, "negatives": np.zeros(len(totals), np.int64)}

    _units = _count

    def _binary(self, number: int, place: int, present: "Counts") -> dict[str, Any]:  # noqa: ARG002
        yes = self.counts(f"p{place}")
        # Where nobody is present nothing is said about anybody.
        shares = np.where(present > 0, _ratio(yes, present), np.nan)
        return {"units": yes, "left_out": self.counts(f"q{place}"), "group_share": shares}

    def _two_largest(self, name: str) -> "NDArray[np.float64]":
        """Return a column of lists of up to two numbers, 0 where there are fewer: (rows, 2)."""
        pairs = self.whole[name].combine_chunks()
        sizes = np.zeros((self.whole.num_rows, 2))
        lengths = np.diff(pairs.offsets.to_numpy()) if len(pairs) else np.zeros(0, np.int64)
        flat, rows = (
            pairs.flatten().to_numpy(zero_copy_only=False),
            np.repeat(np.arange(len(lengths)), lengths),
        )
        places = np.arange(len(flat)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        sizes[rows, places] = flat
        return sizes

    def _total(self, number: int, place: int, present: "Counts") -> dict[str, Any]:  # noqa: ARG002
        sizes = self._two_largest(f"d{place}")
        total = self.figures(f"s{place}")
        is_constant = pc.fill_null(self.whole[f"e{place}"], fill_value=False)
        return {
            "units": self.counts(f"z{place}"),
            "largest": sizes[:, 0],
            "second": sizes[:, 1],
            "total": np.where(np.isnan(total) & (present == 0), 0.0, total),
            "negatives": self.counts(f"g{place}"),
            "is_constant": is_constant.to_numpy() & (present > 0),
        }

    def _position(self, number: int, place: int, present: "Counts") -> dict[str, Any]:  # noqa: ARG002
        # Of the units that have the percentile itself, one may be known.
        sides = [np.maximum(self.counts(f"{side}{number}") - 1, 0) for side in "bc"]
        return {"below": sides[0], "above": sides[1], "tied": self.counts(f"m{number}")}

    def _mode(self, number: int, place: int, present: "Counts") -> dict[str, Any]:  # noqa: ARG002
        tied = self.counts(f"m{number}")
        return {"mode_share": _ratio(tied, present), "tied": tied}

    def _extreme(self, number: int, place: int, present: "Counts") -> dict[str, Any]:  # noqa: ARG002
        return {}

    def _shape(self, number: int, place: int, present: "Counts") -> dict[str, Any]:  # noqa: ARG002
        degrees = (present - 1).astype(np.float64)
        return {
            "degrees_of_freedom": degrees,
            "is_constant": self.figures(f"a{number}") == 0,
            "left_out": self._uncommon(number),
        }

    def _uncommon(self, number: int) -> "Counts":
        """Return how many units have another value than the most common one, of the values with
        fewer of them: what has a shape is about those."""
        sides = [name for name in self.whole.column_names if name.startswith(f"w{number}_")]
        fewest: Counts = np.minimum.reduce([self.counts(name) for name in sides])
        return fewest

    def _coefficient(self, number: int, place: int, present: "Counts") -> dict[str, Any]:  # noqa: ARG002
        parameters = self.queries.query.aggregates[number].parameters
        if not parameters:
            return {
                "coefficient": self.figures(f"a{number}"),
                "left_out": self._uncommon(number),
            }
        return {
            "degrees_of_freedom": (present - parameters).astype(np.float64),
            "levels": self.counts(f"l{number}"),
            "left_out": self._uncommon(number),
        }


def _column_type() -> "type[exp.Column]":
    from sqlglot import exp  # noqa: PLC0415

    return exp.Column


def _ratio(part: "Counts", whole: "Counts") -> "NDArray[np.float64]":
    return part / np.maximum(whole, 1)
