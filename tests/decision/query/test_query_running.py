"""What is run on the rows that may be read: nothing but these, and what fails says so."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from threading import Timer

import duckdb
import pyarrow as pa
import pytest

from policy_engine.decision.query import running
from policy_engine.decision.query.query_limits import QueryStop, query_limits
from policy_engine.decision.query.running import run
from policy_engine.errors import InternalError, QueryError

TABLES = {"t": pa.table({"a": ["1", "x"], "b": [1, 2]}), "u": pa.table({"a": ["1"]})}


def ran(*sqls):
    """Return the rows of queries, as columns."""
    found = run(dict(enumerate(sqls)), TABLES)
    return [one.to_pydict() for one in found.values()]


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("SELECT b FROM t", {"b": [1, 2]}),
        ("SELECT b FROM T", {"b": [1, 2]}),
        ("SELECT t.b FROM t JOIN u USING (a)", {"b": [1]}),
        ("SELECT b AS x, b + 1 AS x FROM t", {"x": [1, 2], "x_2": [2, 3]}),
        (
            "SELECT 1 AS x, 2 AS x, 3 AS x_2, 4 AS x",
            {"x": [1], "x_2": [2], "x_2_2": [3], "x_3": [4]},
        ),
        ("WITH a AS (SELECT 1 AS n) SELECT n FROM A", {"n": [1]}),
        ("WITH a AS MATERIALIZED (SELECT 1 AS n) SELECT n FROM A", {"n": [1]}),
        (
            "WITH RECURSIVE r AS (SELECT 1 AS n UNION SELECT n + 1 FROM r WHERE n < 3) FROM r",
            {"n": [1, 2, 3]},
        ),
        ("SELECT TIMESTAMPTZ '2020-01-01 00:00:00+00' = '2020-01-01 00:00:00' AS n", {"n": [True]}),
    ],
    ids=range(9),
)
def test_query_is_run_on_the_tables_that_are_given(sql, columns):
    assert ran(sql) == [columns]


def test_queries_are_run_one_after_another_on_one_set_of_tables():
    assert ran("SELECT 1 AS n", "SELECT count(*) AS n FROM t") == [{"n": [1]}, {"n": [2]}]
    assert ran() == []


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 FROM nope",
        "SELECT 1 FROM main.t",
        "SELECT 1 FROM memory.main.t",
        "SELECT 1 FROM duckdb_tables()",
        "SELECT 1 FROM (SELECT 1 FROM nope)",
        "SELECT (SELECT 1 FROM nope)",
        "WITH a AS (SELECT 1 FROM nope) SELECT 1 FROM t",
        "SELECT 1 FROM t UNION SELECT 1 FROM nope",
        "SELECT 1 FROM t WHERE EXISTS (SELECT 1 FROM pg_tables)",
        "SELECT * FROM range(5)",
        "DESCRIBE t",
        "SELECT 1 FROM t; SELECT 2",
    ],
)
def test_query_that_reads_anything_else_is_not_run(sql):
    with pytest.raises(InternalError) as caught:
        ran(sql)
    [problem] = caught.value.problems
    said = "A query reads something that was not decided on."
    assert (problem.code, problem.message) == ("X001", said)


ON_A_VALUE = "TRY_CAST gives NULL where CAST fails."


@pytest.mark.parametrize(
    ("sql", "code", "message", "hint"),
    [
        (
            "SELECT CAST(a AS INT) FROM t",
            "Q008",
            "The query fails on a value: conversion.",
            ON_A_VALUE,
        ),
        (
            "SELECT 9223372036854775807 + b FROM t",
            "Q008",
            "The query fails on a value: out of range.",
            ON_A_VALUE,
        ),
        ("SELECT error('x')", "Q008", "The query fails on a value: invalid input.", ON_A_VALUE),
        (
            "SELECT 1 UNION SELECT 1, 2",
            "Q008",
            (
                "The query fails: Binder Error: Set operations can only apply to expressions with "
                "the same number of result columns."
            ),
            "",
        ),
        (
            "SELECT FROM",
            "Q005",
            'DuckDB does not understand the query: syntax error at or near "FROM"',
            "",
        ),
        (
            "INSERT INTO t VALUES (1, 2)",
            "Q005",
            (
                "DuckDB does not understand the query: Only SELECT statements can be serialized "
                "to json!"
            ),
            "",
        ),
    ],
    ids=range(6),
)
def test_query_that_fails_says_so_without_a_value(sql, code, message, hint):
    with pytest.raises(QueryError) as caught:
        ran(sql)
    [problem] = caught.value.problems
    assert (problem.code, problem.message, problem.hint) == (code, message, hint)


ENDLESS = "SELECT count(*) FROM t" + "".join(f", t t{n}" for n in range(40))


def problem_of(sql, **limits):
    with query_limits(**limits), pytest.raises(QueryError) as caught:
        ran(sql)
    [problem] = caught.value.problems
    return problem.code, problem.message


def test_query_that_takes_too_long_says_so():
    expected = ("Q011", "The query takes more time than it may.")
    assert problem_of(ENDLESS, seconds=0.2) == expected
    with query_limits(seconds=0.01):
        time.sleep(0.02)
        with pytest.raises(QueryError, match="Q011"):
            ran("SELECT 1 AS n")


def test_query_that_needs_too_much_memory_says_so_and_others_are_answered():
    sql = "SELECT list(b.b + c.b) AS n FROM t a" + "".join(f", t {name}" for name in LETTERS)
    assert problem_of(sql, memory="64MiB")[0] == "Q011"
    with query_limits("64MiB"):
        assert ran("SELECT count(*) AS n FROM t") == [{"n": [2]}]


def test_query_for_which_the_disk_has_no_room_says_so_and_not_where():
    found = running._query_error(
        duckdb.IOException("query-1/spilled: No space left"), is_ended=False
    )
    [problem] = found.problems
    assert problem.code == "Q011"
    assert "the disk has no room" in problem.message
    assert "spilled" not in problem.message


LETTERS = "bcdefghijklmnopqrsuvwxyz"


def test_what_does_not_fit_in_memory_is_in_a_private_folder():
    with query_limits("128MiB"):
        [found] = ran("SELECT current_setting('temp_directory') AS folder")
    [folder] = found["folder"]
    assert Path(folder).parent == Path(tempfile.gettempdir())
    assert Path(folder).stat().st_mode & 0o77 == 0


@pytest.mark.nightly
def test_folder_is_removed_at_the_end_of_the_process():
    code = "from policy_engine.decision.query import running as r; "
    code += "print(r.run({'': \"SELECT current_setting('temp_directory') AS d\"}, {})['']['d'][0])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip()
    assert not Path(done.stdout.strip()).exists()


def test_query_is_ended_from_another_thread():
    stop = QueryStop()
    Timer(0.3, stop.stop).start()
    assert problem_of(ENDLESS, stop=stop) == (
        "Q012",
        "The query was ended before it was answered.",
    )
    assert problem_of("SELECT 1 AS n", stop=stop)[0] == "Q012", "later ones neither"


@pytest.mark.parametrize(("limit", "code"), [("seconds", "Q011"), ("stop", "Q012")])
def test_query_is_ended_also_by_what_comes_between_two_statements(monkeypatch, limit, code):
    value = 0.05 if limit == "seconds" else QueryStop()
    check = running._check

    def late(*parts):
        check(*parts)
        if limit == "stop":
            value.stop()
        time.sleep(0.1)

    monkeypatch.setattr(running, "_check", late)
    assert problem_of(ENDLESS, **{limit: value})[0] == code


def test_database_is_closed_to_everything_outside():
    names = {"enable_external_access": "false", "lock_configuration": "true", "TimeZone": "UTC"}
    names |= {name: value for name, value in running._CLOSED.items() if value == "false"}
    asked = ", ".join(f"current_setting('{name}')::VARCHAR AS \"{name}\"" for name in names)
    assert ran(f"SELECT {asked}") == [{name: [value] for name, value in names.items()}]


def test_tables_of_one_query_are_not_seen_by_the_next(monkeypatch):
    monkeypatch.setattr(running, "_check", lambda *_: None)
    assert ran("SELECT count(*) AS n FROM t") == [{"n": [2]}]
    with pytest.raises(QueryError, match="Table with name t does not exist"):
        run({"": "SELECT 1 AS n FROM t"}, {"u": TABLES["u"]})


def test_a_database_that_failed_is_not_asked_again(monkeypatch):
    def broken(*_):
        raise duckdb.InternalException("INTERNAL Error: Attempted to access index 0")

    before = running._database(os.getpid(), 0)
    with monkeypatch.context() as patch:
        patch.setattr(running, "_check", broken)
        with pytest.raises(QueryError, match="The query fails: INTERNAL Error"):
            ran("SELECT 1 AS n")
    assert ran("SELECT 1 AS n") == [{"n": [1]}]
    assert running._database(os.getpid(), 0) is not before
