"""Conditions of cells as texts: the same rows under the same text, parts in any order."""

import json

import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

from policy_engine.decision.query.checking.condition_texts import (
    ConditionTexts,
    condition_of,
    key_literal,
    without_common_parts,
)
from policy_engine.decision.query.checking.gathering_evidence import gather_answer
from policy_engine.decision.query.checking.reading_checked import read_checked
from policy_engine.decision.query.checking.unfiltered_rows import unfiltered_rows
from policy_engine.decision.query.scope import DATASET

TABLE = pa.table({"id": range(6), "town": [*"aabbcc"], "pay": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]})
IS = " IS NOT DISTINCT FROM "


def parts_of(sql, *, is_own=True):
    """Return the sorted parts of the condition of each cell of a query's first aggregate."""
    tree = sqlglot.parse_one("SELECT " + sql, dialect="duckdb")
    for table in tree.find_all(exp.Table):
        table.meta[DATASET] = table.name
    query = read_checked(tree, frozenset(TABLE.column_names))
    rows = unfiltered_rows(query.source, {"t": tuple(TABLE.column_names)})
    gathered = gather_answer(query, None, {"t": TABLE}, 1, rows)
    texts = ConditionTexts(gathered, rows).of_cells(0, range(len(gathered.sets)), is_own=is_own)
    return [[part.replace('"', "") for part in json.loads(text)[1]] for text in texts]


def test_a_cell_has_the_value_of_its_key():
    assert parts_of("town, COUNT(*) FROM t GROUP BY town") == [
        [f"t.town{IS}'{town}'"] for town in "abc"
    ]


def test_a_total_has_no_value_of_a_key():
    cells = parts_of("town, COUNT(*) FROM t GROUP BY GROUPING SETS ((town), ())")
    assert sorted(map(len, cells)) == [0, 1, 1, 1]


@pytest.mark.parametrize("where", ["pay > 2 AND town = 'a'", "'a' = town AND pay > 2"])
def test_an_equation_is_written_as_a_key_and_parts_are_sorted(where):
    assert parts_of(f"COUNT(*) FROM t WHERE {where}") == [["t.pay > 2", f"t.town{IS}'a'"]]
    grouped, *_ = parts_of("town, COUNT(*) FROM t WHERE pay > 2 AND town = 'a' GROUP BY town")
    assert set(grouped) == {"t.pay > 2", f"t.town{IS}'a'"}


def test_the_base_of_a_cell_is_without_the_aggregates_condition():
    sql = "COUNT(*) FILTER (WHERE pay > 2) FROM t WHERE town = 'b'"
    assert parts_of(sql) == [["t.pay > 2", f"t.town{IS}'b'"]]
    assert parts_of(sql, is_own=False) == [[f"t.town{IS}'b'"]]


def test_common_parts_are_left_out_of_both():
    one, other = (json.dumps(["FROM t", parts]) for parts in (["a", "b"], ["b", "c", "d"]))
    first, second = without_common_parts(one, other)
    assert (json.loads(first), json.loads(second)) == (["FROM t", ["a"]], ["FROM t", ["c", "d"]])


def test_a_text_is_read_as_the_condition_that_it_was_written_of():
    source, condition = condition_of(json.dumps(["FROM t", ["a > 1", f"b{IS}'x'"]]))
    assert source == "FROM t"
    assert [type(one) for one in condition.parts] == [exp.GT, exp.NullSafeEQ]
    assert condition_of(json.dumps(["FROM t", []]))[1].whole.sql() == "(TRUE)"


@pytest.mark.parametrize("value", [0, -5, 10**30, True, "", "o'h", "a\\b", "x\ny", "\0", 1.5])
def test_a_value_of_a_key_is_written_as_any_literal(value):
    assert key_literal(value) == exp.convert(value).sql("duckdb")
