import datetime as dt
import sys
from decimal import Decimal

import pytest
from postgres import postgres_server

from policy_engine.data.catalog import make_catalog
from policy_engine.data.places.postgresql import read_postgresql
from policy_engine.engines.tables import table_digest
from policy_engine.errors import DataError


@pytest.fixture(scope="module")
def server():
    with postgres_server() as running:
        running.run("CREATE ROLE reader LOGIN")
        yield running


@pytest.fixture
def run(server):
    """Return what carries out statements in an empty schema, and the URL of its database."""
    server.run("DROP SCHEMA IF EXISTS data CASCADE")
    server.run("CREATE SCHEMA data")
    yield server.run
    server.run("DROP SCHEMA data CASCADE")


def place(server, table, user="postgres"):
    return f"{server.url('postgres').replace('postgres@', f'{user}:secret@')}#{table}"


@pytest.mark.nightly
def test_a_table_is_read_with_its_types_in_the_order_of_its_values(server, run):
    run(
        "CREATE TABLE data.people AS SELECT * FROM (VALUES"
        " ('Ben', 30, 1.50::numeric, DATE '1999-12-31', TIMESTAMPTZ '2000-01-01 00:00+01', true),"
        " ('Ann', 20, NULL, NULL, NULL, false)) AS t (name, age, pay, born, seen, old)"
    )
    table = read_postgresql(place(server, "people"))
    kinds = "string int32 decimal128(3, 2) date32[day] timestamp[us, tz=UTC] bool"
    assert " ".join(str(one.type) for one in table.schema) == kinds
    seen = dt.datetime(1999, 12, 31, 23, tzinfo=dt.UTC)
    assert [tuple(row.values()) for row in table.to_pylist()] == [
        ("Ann", 20, None, None, None, False),
        ("Ben", 30, Decimal("1.50"), dt.date(1999, 12, 31), seen, True),
    ]


def test_the_digest_does_not_depend_on_how_the_server_keeps_rows(server, run):
    run("CREATE TABLE data.a AS SELECT n FROM generate_series(1, 9) n")
    run("CREATE VIEW data.b AS SELECT n FROM data.a ORDER BY n DESC")
    tables = [make_catalog({"http://x.org/A": place(server, f"data.{one}")}).tables for one in "ab"]
    assert len({table_digest(one["http://x.org/A"]) for one in tables}) == 1


def test_other_types_are_the_texts_of_the_server(server, run):
    run("""CREATE TABLE data."a ""b" AS SELECT '{"x": 1}'::jsonb j, '{1,2}'::int[] n""")
    table = read_postgresql(place(server, 'a "b'))
    assert table.to_pydict() == {"j": ['{"x": 1}'], "n": ["{1,2}"]}


@pytest.mark.parametrize("value", ["'infinity'::date", "'NaN'::numeric", "'infinity'::timestamp"])
def test_what_no_type_has_is_refused(server, run, value):
    run(f"CREATE TABLE data.t AS SELECT {value} v")
    with pytest.raises(DataError, match="C009"):
        read_postgresql(place(server, "t"))


def test_a_view_that_writes_is_refused(server, run):
    run("CREATE TABLE data.seen (n int)")
    run(
        "CREATE FUNCTION data.write() RETURNS int LANGUAGE sql VOLATILE AS"
        " 'INSERT INTO data.seen VALUES (1) RETURNING n'"
    )
    run("CREATE VIEW data.v AS SELECT data.write() n")
    with pytest.raises(DataError, match=r"C019 .*SQLSTATE 25006"):
        read_postgresql(place(server, "v"))
    assert run("SELECT count(*) FROM data.seen").fetchall() == [(0,)]


def test_what_a_user_may_not_read_is_not_there_and_no_password_is_shown(server, run):
    run("CREATE TABLE data.t (n int)")
    with pytest.raises(DataError, match=r"C019 .*no table 't'") as caught:
        read_postgresql(place(server, "t", user="reader"))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("postgresql://ann:secret@/d?host=/none#t", "nothing listens there"),
        ("postgresql://ann:secret@127.0.0.1:1/d#t", "nothing listens there"),
        ("postgresql://ann:secret@h/d?password=secret", "is given as"),
        ("postgresql://ann:secret@h:port/d#t", "C019"),
        ("postgresql://ann:secret@h/d?secret=1#t", "C019"),
    ],
)
def test_a_server_that_is_not_there_is_told_without_the_password(where, message):
    with pytest.raises(DataError, match=message) as caught:
        read_postgresql(where)
    assert "secret" not in str(caught.value)


def test_no_such_database_is_told(server):
    with pytest.raises(DataError, match="it has no such database"):
        read_postgresql(place(server, "t").replace("/postgres?", "/none?"))


def test_the_package_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(DataError, match=r"C011 .*policy-engine\[postgresql\]"):
        read_postgresql("postgresql://h/d#t")


def test_a_place_says_how_many_seconds_in_figures():
    pytest.importorskip("psycopg")
    with pytest.raises(DataError, match="C019 The connect_timeout of the place is not"):
        read_postgresql("postgresql://h/d?connect_timeout=abc#t")


def test_a_scheme_in_capitals_is_read_as_any_other(server, run):
    run("CREATE TABLE data.people AS SELECT 1 AS n")
    where = place(server, "people").replace("postgresql:", "POSTGRESQL:")
    assert read_postgresql(where).to_pydict() == {"n": [1]}
