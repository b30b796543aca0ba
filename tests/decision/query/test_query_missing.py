"""What is missing is missing, however it is written: an empty cell, a null, or NaN."""

import math
from decimal import Decimal

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlglot
from query_samples import PEOPLE, ask, policy, rows, rule, where

from policy_engine.data.catalog import make_catalog

NAN, INF = math.nan, math.inf
CELLS = [1.5, NAN, None, 7.5, 7.5]


def csv(folder):
    file = folder / "people.csv"
    file.write_text("id,v\n1,1.5\n2,NaN\n3,\n4,7.5\n5,7.50\n")
    return file


def table(kind, cells=CELLS):
    return pa.table({"id": range(1, len(cells) + 1), "v": pa.array(cells, kind)})


def parquet(folder):
    pq.write_table(table(pa.float64()), folder / "people.parquet")
    return folder / "people.parquet"


def pandas(_folder):
    frames = pytest.importorskip("pandas")
    return frames.DataFrame({"id": [1, 2, 3, 4, 5], "v": CELLS})


def polars(_folder):
    frames = pytest.importorskip("polars")
    return frames.DataFrame({"id": [1, 2, 3, 4, 5], "v": CELLS}, strict=False)


def decimals(_folder):
    frames = pytest.importorskip("pandas")
    cells = [Decimal("1.5"), Decimal("NaN"), None, Decimal("7.5"), Decimal("7.5")]
    return frames.DataFrame({"id": [1, 2, 3, 4, 5], "v": cells})


def halves(_folder):
    return table(pa.float32()).set_column(1, "v", table(pa.float32())["v"].cast(pa.float16()))


SOURCES = [
    *(csv, parquet, pandas, polars, decimals),
    lambda _: table(pa.float64()),
    lambda _: table(pa.float32()),
    lambda _: table(pa.float64()).set_column(1, "v", table(pa.float64())["v"].dictionary_encode()),
]


@pytest.fixture(params=SOURCES)
def data(request, tmp_path):
    return make_catalog({PEOPLE: request.param(tmp_path)})


NIGHTLY = [pytest.mark.nightly]
OPERATORS = [
    *(("gteq", 5, [4, 5]), ("gt", -5, [1, 4, 5]), ("lt", 5, [1]), ("lteq", 7.5, [1, 4, 5])),
    *(("eq", 7.5, [4, 5]), ("neq", 7.5, [1]), ("neq", 0, [1, 4, 5])),
    *(("isAnyOf", [1.5, 2], [1]), ("isNoneOf", [1.5, 2], [4, 5])),
]
CASES = [
    pytest.param(source, *one, marks=[] if source is csv or one[0] == "gteq" else NIGHTLY)
    for source in SOURCES
    for one in OPERATORS
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("data", "operator", "value", "permitted"), CASES, indirect=["data"])
def test_what_is_missing_satisfies_nothing_and_escapes_nothing(data, operator, value, permitted):
    about = where("v", operator, value)
    allowed = rows("SELECT id FROM People", policy([rule(PEOPLE, about)]), data=data)
    assert allowed == [(n,) for n in permitted]
    left = rows("SELECT id FROM People", policy([rule(PEOPLE)], [rule(PEOPLE, about)]), data=data)
    assert (left or []) == [(n,) for n in (1, 4, 5) if n not in permitted]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT count(v), max(v), CAST(avg(v) * 10 AS INT) FROM People", [(3, 7.5, 55)]),
        ("SELECT count(*) FROM (SELECT DISTINCT v FROM People)", [(3,)]),
        ("SELECT id FROM People ORDER BY v DESC NULLS LAST, id LIMIT 1", [(4,)]),
        ("SELECT a.id FROM People a JOIN People b USING (v) WHERE b.id < 4", [(1,)]),
        ("SELECT id FROM People WHERE v > 100 OR isnan(v)", []),
        ("SELECT count(*) FROM People GROUP BY v", [(1,), (2,), (2,)]),
    ],
)
def test_what_is_missing_is_so_to_the_query_itself(data, sql, expected):
    found = rows(sql, policy([rule(PEOPLE)]), data=data)
    assert [tuple(float(cell) for cell in row) for row in found] == expected


def test_half_floats_are_numbers():
    data = make_catalog({PEOPLE: halves(None)})
    assert rows("SELECT max(v) FROM People", policy([rule(PEOPLE)]), data=data) == [(7.5,)]


def test_a_column_of_nothing_but_nan_has_no_values(tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("id,v\n1,NaN\n2,nan\n")
    data = make_catalog({PEOPLE: file})
    for operator in ("gteq", "lt", "neq"):
        about = where("v", operator, 5)
        assert not rows("SELECT id FROM People", policy([rule(PEOPLE, about)]), data=data)
        held = policy([rule(PEOPLE)], [rule(PEOPLE, about)])
        assert not rows("SELECT id FROM People", held, data=data)


def test_infinite_numbers_are_numbers_above_and_below_all_others():
    data = make_catalog({PEOPLE: table(pa.float64(), [-INF, 0.0, INF, NAN])})

    def kept(operator):
        read = policy([rule(PEOPLE, where("v", operator, 5))])
        return rows("SELECT id FROM People", read, data=data)

    assert kept("gteq") == [(3,)]
    assert kept("lt") == [(1,), (2,)]
    assert kept("neq") == [(1,), (2,), (3,)]


SQL = "SELECT id, v, max(v) OVER () AS most FROM People ORDER BY v DESC NULLS LAST, id"
ABOUT = where("v", "neq", 1.5)


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark", "trino", "bigquery"])
def test_the_printed_query_gives_of_the_data_what_is_given_here(dialect):
    cells = [-0.0, *CELLS, INF, -INF, -1.5]
    data = make_catalog({PEOPLE: table(pa.float64(), cells)})
    read = policy([rule(PEOPLE, ABOUT)])
    expected = ask(SQL, read, data=data).table.to_pylist()
    printed = ask(SQL, read, data=data, dialect=dialect, run=False).sql
    with duckdb.connect(":memory:") as connection:
        connection.register("People", table(pa.float64(), cells))
        again = sqlglot.transpile(printed, read=dialect, write="duckdb")[0]
        assert connection.sql(again).to_arrow_table().to_pylist() == expected
    assert {row["id"] for row in expected} == {1, 5, 6, 7, 8, 9}


def test_nan_is_known_too_where_it_compares_with_nothing():
    sql = ask(
        "SELECT id FROM People",
        policy([rule(PEOPLE)], [rule(PEOPLE, where("v", "gteq", 5))]),
        data=make_catalog({PEOPLE: table(pa.float64())}),
        run=False,
    ).sql
    known = sqlglot.parse_one(sql, read="duckdb").find(sqlglot.exp.Case)
    is_known = known.args["ifs"][0].this

    def ieee(node, value):
        compare = {sqlglot.exp.LTE: float.__le__, sqlglot.exp.LT: float.__lt__}[type(node)]
        left = -value if isinstance(node.this, sqlglot.exp.Neg) else value
        return compare(left, 0.0)

    parts = [is_known.left, is_known.right]
    assert not any(ieee(part, NAN) for part in parts)
    assert all(any(ieee(part, one) for part in parts) for one in (0.0, -0.0, 1.5, -1.5, INF, -INF))


def test_the_printed_query_tells_nothing_of_how_hidden_rows_are_written(tmp_path):
    file = tmp_path / "people.csv"
    data = make_catalog({PEOPLE: csv(tmp_path)})
    read = policy([rule(PEOPLE, where("id", "lteq", 4))])
    texts = []
    for hidden in ("7", "7.5", "NaN", "x"):
        file.write_text(f"id,v\n1,1\n2,3\n5,{hidden}\n")
        texts.append(ask("SELECT v FROM People", read, data=data, run=False).sql)
    assert len(set(texts)) == 1
