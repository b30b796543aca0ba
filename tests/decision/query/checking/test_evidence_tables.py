"""However the evidence of cells is found, by row, by unit or in two parts, it is the same."""

import numpy as np
import pyarrow as pa
import pytest
from sqlglot import exp

from policy_engine.decision.query.checking import evidence_tables
from policy_engine.decision.query.checking.evidence_query import EvidenceQueries
from policy_engine.decision.query.checking.evidence_reader import EvidenceReader
from policy_engine.decision.query.checking.evidence_tables import evidence_table
from policy_engine.decision.query.checking.reading_checked import read_checked
from policy_engine.decision.query.grammar import parse_query

AGGREGATES = (
    *("COUNT(*)", "COUNT(pay)", "COUNT(DISTINCT person)", "SUM(pay)", "AVG(pay)"),
    *("AVG(CASE WHEN ill THEN 1 ELSE 0 END)", "COUNT(*) FILTER (WHERE pay > 20)", "MEDIAN(level)"),
    "SUM(level) FILTER (WHERE NOT ill)",
)
SQL = f"SELECT region, {', '.join(AGGREGATES)} FROM T GROUP BY region"
LEAST = 5


def random_table(draws):
    """Return rows of persons, some of whom have several in a region, with missing values."""
    size = int(draws.integers(1, 200))

    def some(values):
        is_missing = draws.random(size) < 0.1
        return [None if one else value for one, value in zip(is_missing, values, strict=True)]

    return pa.table(
        {
            "person": some(draws.integers(0, draws.choice([30, 300]), size).tolist()),
            "region": some(draws.choice(["a", "b", "c"], size).tolist()),
            "pay": some(draws.integers(-5, 50, size).astype(float).tolist()),
            "level": some(draws.integers(0, 3, size).tolist()),
            "ill": some((draws.random(size) < 0.3).tolist()),
        }
    )


def queries_of(sql=SQL, unit="person"):
    query = read_checked(parse_query(sql, "duckdb"), frozenset())
    return EvidenceQueries(query, exp.column(unit, quoted=True) if unit else None)


def evidence(queries, table, keys=(0,)):
    """Return the figures of each cell and all evidence, by the names of its parts."""
    whole = evidence_table(queries, keys, {"T": table}, LEAST)
    codes = np.arange(whole.num_rows)[:, None]
    reader = EvidenceReader(queries, whole, codes)
    statistics = [reader.statistic(n, one) for n, one in enumerate(queries.query.aggregates)]
    figures = [reader.figures(f"a{n}").round(9).tolist() for n in range(len(statistics))]
    parts = [
        [one.evidence.figures(row) for one in statistics]
        for row in range(whole.num_rows if len(keys) else 1)
    ]
    return str((figures, parts))


@pytest.mark.one_in(36)
@pytest.mark.parametrize("seed", range(30))
def test_evidence_in_two_parts_is_that_by_unit(monkeypatch, seed):
    draws = np.random.default_rng(seed)
    table, queries = random_table(draws), queries_of()
    monkeypatch.setattr(evidence_tables, "_MOST_REPEATED", -1)
    by_unit = evidence(queries, table)
    monkeypatch.setattr(evidence_tables, "_MOST_REPEATED", 1)
    assert evidence(queries, table) == by_unit


@pytest.mark.one_in(4)
@pytest.mark.parametrize("most_repeated", [-1, 1])
@pytest.mark.parametrize("persons", [[1, 1, 2, 2, 3, None, None], [1, 2, 3, 4, None]])
def test_rows_of_nobody_are_of_no_unit(monkeypatch, persons, most_repeated):
    """In whichever way the evidence is found, with several rows of somebody or one of each."""
    monkeypatch.setattr(evidence_tables, "_MOST_REPEATED", most_repeated)
    size = len(persons)
    values = {"region": ["a"] * size, "pay": [30.0] * size, "level": [1] * size}
    ill = [one in (1, None) for one in persons]
    table, queries = pa.table({"person": persons, **values, "ill": ill}), queries_of()
    whole = evidence_table(queries, (0,), {"T": table}, LEAST)
    reader = EvidenceReader(queries, whole, np.zeros((1, 1), np.int64))
    aggregates = enumerate(queries.query.aggregates)
    units = [reader.statistic(n, one).evidence.units.tolist() for n, one in aggregates]
    named = len({*persons} - {None})
    expected = [named] * len(units)
    expected[5] = 1  # Of a share of those who are ill: one of them has a name.
    expected[8] = named - 1
    assert units == [[one] for one in expected]
    assert reader.counts("rows").tolist() == [size]


@pytest.mark.one_in(12)
@pytest.mark.parametrize("seed", range(10))
def test_units_that_only_seem_to_have_several_rows_change_nothing(monkeypatch, seed):
    """Hashes of different units may be the same."""
    draws = np.random.default_rng(seed)
    table, queries = random_table(draws), queries_of()
    monkeypatch.setattr(evidence_tables, "_MOST_REPEATED", 1)
    expected, find = evidence(queries, table), evidence_tables._repeated

    def found(queries, keys, tables):
        text = queries.hashes(keys).sql("duckdb")
        hashes = evidence_tables.run_checked({"": text}, tables)[""]["h"].to_numpy()
        return np.union1d(find(queries, keys, tables), hashes[draws.random(len(hashes)) < 0.5])

    monkeypatch.setattr(evidence_tables, "_repeated", found)
    assert evidence(queries, table) == expected


def test_rows_of_one_unit_each_have_the_evidence_of_rows(monkeypatch):
    draws = np.random.default_rng(1)
    table = random_table(draws)
    table = table.set_column(0, "person", pa.array(draws.permutation(table.num_rows)))
    aggregates = ", ".join(one for one in AGGREGATES if "DISTINCT" not in one)
    sql = f"SELECT region, {aggregates} FROM T GROUP BY region"
    expected = evidence(queries_of(sql, None), table)
    assert evidence(queries_of(sql), table) == expected
    monkeypatch.setattr(evidence_tables, "_MOST_REPEATED", -1)
    assert evidence(queries_of(sql), table) == expected


@pytest.mark.parametrize("sql", ["SELECT COUNT(*), SUM(pay) FROM T", SQL])
def test_no_rows_have_evidence_of_nobody(sql):
    table = random_table(np.random.default_rng(1)).slice(0, 0)
    queries = queries_of(sql)
    whole = evidence_table(queries, queries.query.sets[0], {"T": table}, LEAST)
    assert whole["units"].to_pylist() == ([0] if "GROUP" not in sql else [])


@pytest.mark.parametrize(("first", "second"), [(0.0, -0.0), (float("nan"), -float("nan"))])
def test_keys_that_are_one_for_groups_are_one_for_the_units_in_them(first, second):
    """One person with a row of each is one unit."""
    table = pa.table({"person": [1, 1, *range(2, 12)], "key": [first, second] + [5.0] * 10})
    whole = evidence_table(
        queries_of("SELECT key, COUNT(*) FROM T GROUP BY key"), (0,), {"T": table}, LEAST
    )
    assert sorted(whole["units"].to_pylist()) == [1, 10]


def test_only_cells_that_seem_to_have_few_values_have_them_counted():
    """Ten persons of the region "a" have each another pay, and all but one of "b" the same."""
    table = pa.table(
        {
            "person": range(20),
            "region": ["a"] * 10 + ["b"] * 10,
            "pay": [*range(10), *[7] * 9, 8],
        }
    )
    queries = queries_of("SELECT region, SUM(pay) FROM T GROUP BY region")
    whole = evidence_table(queries, (0,), {"T": table}, LEAST)
    assert whole["f0"].to_pylist() == [2**62, 1]
