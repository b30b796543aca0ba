"""The order of rows says nothing of how they are stored, whatever a query does with it."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from output_checked import RESEARCHER, policy_with
from output_checked import TABLE as CHECKED
from query_samples import PEOPLE, ask, policy, rule, where

from policy_engine.api.deciding import query_data
from policy_engine.data.catalog import make_catalog
from policy_engine.decision.query import logic, showing
from policy_engine.decision.query.filters import Filter
from policy_engine.decision.query.rewriting import TableView
from policy_engine.decision.query.shuffling import has_codes, order, take_rows
from policy_engine.decision.query.tables import Tables

N = 500
ROWS = {
    "id": list(range(N)),
    "half": [number / 2 for number in range(N)],
    "name": [f"n{number:04}" for number in range(N)],
    "sex": ["f", "m"] * (N // 2),
}
APART = policy([rule(f"{PEOPLE}/{name}") for name in ROWS])
ALL = policy([rule(PEOPLE)])
KEY = bytes(32)


def stored(kind, folder):
    table = pa.table(ROWS)
    if kind == "memory":
        return make_catalog({PEOPLE: table})
    path = folder / "people.csv"
    lines = [",".join(map(str, row.values())) for row in table.to_pylist()]
    path.write_text("\n".join([",".join(ROWS), *lines]))
    return make_catalog({PEOPLE: path})


@pytest.fixture(scope="module", params=["memory", "csv"])
def data(request, tmp_path_factory):
    return stored(request.param, tmp_path_factory.mktemp("stored"))


def told(sql, data, read=ALL, **options):
    return ask(sql, read, data=data, **options).table.column(0).to_pylist()


def place(value):
    """Return at which place of the table a value is stored."""
    return int(float(str(value).removeprefix("n")) * (2 if isinstance(value, float) else 1))


def is_mixed(values):
    """Tell whether few values stand where they were stored, or follow one that they did."""
    places = [*map(place, values)]
    kept = sum(one == number for number, one in enumerate(places))
    follow = sum(one + 1 == other for one, other in pairwise(places))
    return len(places) > 50 and kept < 20 and follow < 20


def test_columns_that_were_asked_for_one_by_one_are_not_rows_side_by_side(data):
    columns = [told(f"SELECT {name} FROM People", data, APART) for name in ("id", "half", "name")]
    assert [sorted(map(place, one)) for one in columns] == [[*range(N)]] * 3
    rows = [len({*map(place, row)}) for row in zip(*columns, strict=True)]
    assert rows.count(1) < 20
    assert all(map(is_mixed, columns))


TELLING = [
    "SELECT id FROM People LIMIT 100",
    "SELECT id FROM People LIMIT 100 OFFSET 200",
    "SELECT id FROM (SELECT id, row_number() OVER () AS n FROM People) ORDER BY n",
    "SELECT id FROM People QUALIFY row_number() OVER () <= 100",
    "SELECT lag(id) OVER () AS x FROM People QUALIFY row_number() OVER () > 1",
    "SELECT sum(1) OVER (ROWS UNBOUNDED PRECEDING) * 0 + id AS x FROM People",
    "SELECT name FROM People GROUP BY name",
    "SELECT DISTINCT name FROM People",
    "SELECT DISTINCT ON (half) name FROM People",
    "SELECT max(id) AS top FROM People GROUP BY name",
    "SELECT id FROM People UNION ALL SELECT id FROM People WHERE id < 0",
    "SELECT name FROM People EXCEPT SELECT 'x'",
    "SELECT a.id FROM People a JOIN People b ON a.id = b.id",
    "SELECT id FROM People a, LATERAL (SELECT a.half AS x) b",
    "SELECT (SELECT any_value(b.id) FROM People b WHERE b.id = a.id) AS x FROM People a",
    "WITH a AS (SELECT id FROM People) SELECT id FROM a",
    "SELECT id FROM People WHERE sex = 'f' OR sex = 'm'",
    "SELECT id FROM People ORDER BY sex",
    "SELECT id FROM People ORDER BY 1 = 1",
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("sql", TELLING)
def test_rows_come_as_they_were_shuffled(data, sql):
    assert is_mixed(told(sql, data))


AGGREGATES = [
    "SELECT list(id) AS x FROM People",
    "SELECT array_agg(name) AS x FROM People",
    "SELECT list(id) OVER () AS x FROM People LIMIT 1",
    "SELECT list(DISTINCT name) AS x FROM People",
]


@pytest.mark.parametrize("sql", AGGREGATES)
def test_lists_come_as_rows_were_shuffled(data, sql):
    [found] = told(sql, data)
    assert is_mixed(found)
    [text] = told("SELECT string_agg(name, ' ') AS x FROM People", data)
    assert is_mixed(text.split())


@pytest.mark.one_in(3)
@pytest.mark.parametrize("of", ["first(id)", "last(id)", "any_value(id)", "arg_max(id, 1)"])
def test_one_value_of_many_is_of_no_certain_row(data, of):
    assert len({told(f"SELECT {of} AS x FROM People", data)[0] for _ in range(5)}) > 1


def test_rows_that_a_rule_filters_are_shuffled_too(data):
    some = policy([rule(PEOPLE, where(f"{PEOPLE}/id", "lt", N // 2))])
    assert is_mixed(told("SELECT name FROM People", data, some))


def test_groups_of_rows_in_a_file_are_shuffled_as_one(tmp_path):
    pq.write_table(pa.table(ROWS), tmp_path / "people.parquet", row_group_size=100)
    data = make_catalog({PEOPLE: tmp_path / "people.parquet"})
    assert is_mixed(told("SELECT name FROM People", data))


def test_order_by_a_column_that_may_be_read_is_as_asked_and_ties_are_shuffled(data):
    assert told("SELECT id FROM People ORDER BY id", data) == ROWS["id"]
    sexes = ask("SELECT sex, id FROM People ORDER BY sex", ALL, data=data).table.to_pydict()
    assert sexes["sex"] == ["f"] * (N // 2) + ["m"] * (N // 2)
    assert sorted(sexes["id"][: N // 2]) == ROWS["id"][::2]
    assert told("SELECT id FROM People ORDER BY id LIMIT 2 OFFSET 1", data) == [1, 2]


def test_a_key_gives_one_order_and_a_query_has_a_key_of_its_own(data):
    sql = "SELECT id FROM People"
    assert told(sql, data, key=KEY) == told(sql, data, key=KEY) != told(sql, data, key=b"1" * 32)
    assert told(sql, data) != told(sql, data)


def test_two_tables_of_one_size_have_orders_that_do_not_go_together():
    assert sorted(order(N, KEY, "a")) == sorted(order(N, KEY, "b")) == [*range(N)]
    assert sum(order(N, KEY, "a") == order(N, KEY, "b")) < 20


def test_a_dictionary_of_texts_says_nothing_of_rows():
    coded = pa.table({"name": pa.array(ROWS["name"]).dictionary_encode()})
    found = take_rows(coded, order(N, KEY, "a")).column("name").combine_chunks()
    assert is_mixed(found.dictionary.to_pylist())
    assert found.to_pylist() == [ROWS["name"][number] for number in order(N, KEY, "a")]


@pytest.mark.parametrize(
    ("measure", "is_mixed_up"), [("COUNT(*)", False), ("SUM(half)", False), ("MODE(sex)", True)]
)
def test_rows_of_a_checked_answer_are_shuffled_where_ties_could_tell_their_order(
    tmp_path, monkeypatch, measure, is_mixed_up
):
    """Whatever the order of rows is, figures are the same: to shuffle takes longer than to add."""
    orders, shuffled = [], showing.take_rows

    def take(table, numbers):
        orders.append(numbers.tolist())
        return shuffled(table, numbers)

    monkeypatch.setattr(showing, "take_rows", take)
    policies = [policy_with(("pe:outputCheck", "eq", "sacro"))]
    data, sql = {CHECKED: pa.table(ROWS)}, f"SELECT {measure} AS x FROM T"
    query_data(sql, policies, RESEARCHER, data, output_ledger=tmp_path / "answers")
    assert [one != sorted(one) for one in orders] == [True] * is_mixed_up


def test_without_a_key_rows_stay_in_the_order_in_which_they_are_stored(data):
    views = {PEOPLE: TableView("People", ("name",), Filter(logic.true()))}
    read = showing.read_views(views, Tables(data.with_tables()), None, numbered="number")
    assert read["People"].to_pydict() == {"name": ROWS["name"], "number": ROWS["id"]}


def test_a_dictionary_may_have_values_of_no_row():
    coded = pa.table({"sex": pa.array(["b", "a"]).dictionary_encode().slice(1)})
    assert has_codes(coded)
    assert not has_codes(pa.table(ROWS))
    assert take_rows(coded, np.arange(1))["sex"].chunk(0).dictionary.to_pylist() == ["a"]
