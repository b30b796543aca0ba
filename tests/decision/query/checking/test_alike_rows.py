"""Rows that are alike, and how many there are."""

import pyarrow as pa
import pytest
import sqlglot

from policy_engine.decision.query.checking.alike_rows import alike_rows
from policy_engine.decision.query.checking.checked_query import NotCheckableError

TABLE = pa.table({"a": ["1", "1", "x", None]})


def counted(**leaves):
    source = sqlglot.parse_one("FROM t", dialect="duckdb")
    parsed = {name: sqlglot.parse_one(one, dialect="duckdb") for name, one in leaves.items()}
    return alike_rows(source, parsed, {}, {"t": TABLE})


def test_alike_rows_are_counted():
    rows = counted(l0="a = '1'")
    assert not rows.can_fail
    assert sorted(map(str, rows.table.to_pylist())) == [
        "{'l0': False, 'n': 1}",
        "{'l0': None, 'n': 1}",
        "{'l0': True, 'n': 2}",
    ]


def test_leaf_that_fails_is_told_from_one_that_is_missing():
    rows = counted(l0="CAST(a AS INT)")
    assert rows.failing(("l0",)) == ("f0",)
    found = {(one["l0"], one["f0"]): one["n"] for one in rows.table.to_pylist()}
    assert found == {(1, False): 2, (None, True): 1, (None, False): 1}


def test_what_is_not_understood_is_refused():
    with pytest.raises(NotCheckableError) as caught:
        counted(l0="no_function(a)")
    assert caught.value.problem.code == "K022"
