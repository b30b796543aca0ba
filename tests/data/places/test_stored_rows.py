from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.data.places.stored_rows import TableName, chosen_table, ordered, quoted
from policy_engine.engines.tables import table_digest
from policy_engine.errors import DataError

TABLES = [TableName("main", "people"), TableName("old", "people"), TableName("main", "pets")]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [("pets", TABLES[2]), ("main.pets", TABLES[2]), ("old.people", TABLES[1])],
)
def test_a_table_is_called_with_its_schema_or_where_that_is_sure_without(wanted, expected):
    assert chosen_table(wanted, TABLES, "duckdb:a#b") == expected


@pytest.mark.parametrize(
    ("wanted", "message"),
    [("people", "Several tables are called 'people'"), ("pest", "no table 'pest'")],
)
def test_a_table_that_is_not_there_or_not_sure_is_refused(wanted, message):
    with pytest.raises(DataError, match=f"C019 .*{message}"):
        chosen_table(wanted, TABLES, "duckdb:a#b")


def test_names_are_quoted_whatever_is_in_them():
    assert quoted('a"b; DROP') == '"a""b; DROP"'
    assert TableName("s", "t.u").quoted == '"s"."t.u"'


ROWS = st.tuples(
    st.sampled_from(["b", "a", None]),
    st.sampled_from([0.0, -0.0, 1.5, None]),
    st.sampled_from([Decimal("1.0"), None]),
    st.sampled_from([[1, 2], [1], None]),
    st.sampled_from([b"x", None]),
)
TYPES = [pa.string(), pa.float64(), pa.decimal128(3, 1), pa.list_(pa.int64()), pa.binary()]


def table_of(rows):
    columns = zip(*rows, strict=True)
    arrays = [pa.array(cells, kind) for cells, kind in zip(columns, TYPES, strict=True)]
    return pa.table(arrays, names=list("abcde"))


@given(st.lists(ROWS, min_size=1, max_size=6), st.randoms())
def test_the_digest_does_not_depend_on_the_order_in_which_rows_are_kept(rows, random):
    others = [*rows]
    random.shuffle(others)
    one, other = ordered(table_of(rows)), ordered(table_of(others))
    assert table_digest(one) == table_digest(other)
    assert cells_of(one) == cells_of(table_of(others))


def cells_of(table):
    """Return the rows of a table in no order, their zeros without a sign."""
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return sorted(repr(row).replace("-0.0", "0.0") for row in rows)


def test_rows_are_ordered_column_by_column_with_missing_values_last():
    table = pa.table({"a": ["b", None, "a", "a"], "b": [1, 2, 4, 3]})
    assert ordered(table).to_pydict() == {"a": ["a", "a", "b", None], "b": [3, 4, 1, 2]}
