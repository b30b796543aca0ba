"""Ways to read what was not decided on: each is denied, refused, or gives nothing of it."""

from pathlib import Path

import pyarrow as pa
import pytest
from query_samples import (
    PEOPLE,
    VISITS,
    ask,
    catalog,
    columns,
    lines,
    may_read,
    policy,
    rows,
    rule,
    where,
)

from policy_engine.data.catalog import make_catalog
from policy_engine.data.column_names import column_iri
from policy_engine.decision.query.query_limits import query_limits
from policy_engine.decision.query.running import run
from policy_engine.errors import PolicyEngineError, QueryError

MEN = where("sex", "eq", "male")
SECRETS = {"s1", "s2", "s3", "s4", "Ann"}

READS_MORE = """
    SELECT secret FROM People
    SELECT SECRET FROM people
    SELECT "Secret" FROM "PEOPLE"
    SELECT People.secret FROM People
    SELECT p.* FROM People p
    SELECT * FROM People
    FROM People
    TABLE People
    SELECT * EXCLUDE (id) FROM People
    SELECT * REPLACE (1 AS id) FROM People
    SELECT * EXCLUDE (id, sex, age) REPLACE (secret AS name) FROM People
    SELECT name FROM People ORDER BY secret
    SELECT name FROM People GROUP BY name, secret
    SELECT name FROM People GROUP BY name HAVING max(secret) > 's1'
    SELECT name FROM People WHERE secret LIKE 's1%'
    SELECT name FROM People QUALIFY row_number() OVER (ORDER BY secret) = 1
    SELECT name, row_number() OVER w FROM People WINDOW w AS (PARTITION BY secret)
    SELECT count(*) FILTER (WHERE secret = 's1') FROM People
    SELECT string_agg(name, ',' ORDER BY secret) FROM People
    SELECT DISTINCT ON (secret) name FROM People
    SELECT max(secret) FROM People
    SELECT p.name FROM People p JOIN Visits v ON p.secret = v.note
    SELECT p.name FROM People p JOIN People q USING (secret)
    SELECT p.name FROM People p NATURAL JOIN People q
    SELECT name FROM People WHERE id IN (SELECT id FROM People WHERE secret = 's1')
    SELECT id FROM Visits v WHERE EXISTS (SELECT 1 FROM People p WHERE p.secret = v.note)
    SELECT id FROM Visits v WHERE 's1' = (SELECT max(secret) FROM People p WHERE p.id = v.id)
    SELECT id, (SELECT secret FROM People p WHERE p.id = v.id) FROM Visits v
    SELECT note FROM Visits UNION SELECT secret FROM People
    SELECT note FROM Visits EXCEPT SELECT secret FROM People
    SELECT note FROM Visits INTERSECT ALL SELECT secret FROM People
    WITH a AS (SELECT secret AS name FROM People) SELECT name FROM a
    WITH a(name) AS (SELECT secret FROM People) SELECT name FROM a
    WITH RECURSIVE r(n) AS (SELECT secret FROM People UNION SELECT n FROM r) SELECT n FROM r
    WITH a AS (SELECT * FROM People), b AS (SELECT * FROM a) SELECT count(*) FROM b
    SELECT x.name FROM (SELECT secret AS name FROM People) x
    SELECT x.name FROM Visits v, LATERAL (SELECT secret AS name FROM People p WHERE p.id = v.id) x
    SELECT name FROM People LIMIT (SELECT count(secret) FROM People)
    SELECT CASE WHEN secret = 's1' THEN 1 END FROM People
    SELECT name AS secret FROM People WHERE secret = 's1'
    SELECT id AS x, secret AS y, y AS z FROM People
    SELECT count(*) FROM People
    SELECT 1 FROM People
    SELECT name FROM People WHERE (id, secret) IN (SELECT id, note FROM Visits)
    SELECT CAST(secret AS INT) FROM People
    SELECT name FROM (People JOIN Visits ON secret = note)
    SELECT name FROM (SELECT * FROM People)
    SELECT count(DISTINCT secret) OVER () FROM People
    SELECT id FROM Visits WHERE note = ANY (SELECT secret FROM People)
    (SELECT secret FROM People) ORDER BY 1
"""
NOT_UNDERSTOOD = """
    SELECT People FROM People
    SELECT p FROM People p
    SELECT People.People FROM People
    SELECT rowid FROM People
    SELECT p.rowid FROM People p
    SELECT name.secret FROM People
    SELECT main.People.secret FROM People
    SELECT x.secret FROM (SELECT name FROM People) x
    SELECT name FROM main.People
    SELECT name FROM memory.main.People
    SELECT name FROM temp.People
    SELECT COLUMNS(*) FROM People
    SELECT COLUMNS('sec.*') FROM People
    SELECT COLUMNS(c -> c LIKE 'sec%') FROM People
    SELECT * LIKE 'sec%' FROM People
    SELECT * EXCLUDE (p.id) FROM People p, Visits v
    SELECT * ILIKE 'SEC%' FROM People
    SELECT * RENAME (secret AS name) FROM People
    SELECT struct_pack(a := name) FROM People
    SELECT {'a': name} FROM People
    SELECT to_json(p) FROM People p
    SELECT row_to_json(p) FROM People p
    SELECT list_transform([1], x -> x) FROM People
    SELECT unnest([name]) FROM People
    SELECT name FROM People TABLESAMPLE 100%
    SELECT name FROM People USING SAMPLE 10
    SELECT name FROM People POSITIONAL JOIN Visits
    SELECT name FROM People ASOF JOIN Visits ON People.id >= Visits.id
    SELECT name FROM People SEMI JOIN Visits ON People.id = Visits.id
    SELECT name FROM People ANTI JOIN Visits ON People.id = Visits.id
    PIVOT People ON name USING count(*)
    SELECT * FROM (PIVOT People ON name USING count(*))
    UNPIVOT People ON name INTO NAME a VALUE b
    SELECT * FROM People UNPIVOT (a FOR b IN (name, secret))
    SUMMARIZE People
    DESCRIBE People
    SHOW TABLES
    SELECT * FROM (SUMMARIZE People)
    SELECT * FROM (DESCRIBE People)
    SELECT * FROM (SHOW TABLES)
    VALUES (1)
    SELECT * FROM (VALUES (1)) v
    SELECT * FROM 'people.csv'
    SELECT * FROM "/etc/passwd"
    SELECT * FROM read_csv('/etc/passwd')
    SELECT * FROM read_parquet('x')
    SELECT * FROM read_text('/etc/passwd')
    SELECT * FROM read_blob('/etc/passwd')
    SELECT * FROM glob('*')
    SELECT * FROM sqlite_scan('x', 'y')
    SELECT * FROM query('SELECT secret FROM People')
    SELECT * FROM query_table('People')
    SELECT * FROM range(10)
    SELECT * FROM generate_series(1, 10)
    SELECT * FROM upper('x')
    SELECT * FROM duckdb_tables()
    SELECT * FROM duckdb_settings()
    SELECT * FROM pragma_table_info('People')
    SELECT * FROM information_schema.tables
    SELECT * FROM pg_catalog.pg_tables
    SELECT * FROM sqlite_master
    SELECT * FROM duckdb_columns
    SELECT getenv('HOME')
    SELECT "getenv"('HOME')
    SELECT main.getenv('HOME')
    SELECT system.main.upper('x')
    SELECT name.upper() FROM People
    SELECT current_setting('secret_directory')
    SELECT set_config('threads', '1')
    SELECT getvariable('x')
    SELECT current_user
    SELECT current_database()
    SELECT current_schema()
    SELECT version()
    SELECT pg_typeof(1)
    SELECT txid_current()
    SELECT nextval('s')
    SELECT write_log('x')
    SELECT random()
    SELECT error('x')
    SELECT json_serialize_sql('SELECT 1')
    SELECT json_execute_serialized_sql('x')
    SELECT $1
    SELECT ?
    SELECT :x
    SELECT #1 FROM People
    SELECT name FROM People FOR UPDATE
    SELECT name INTO x FROM People
    SELECT name FROM People ORDER BY name FETCH FIRST 2 ROWS WITH TIES
    SELECT name FROM People ORDER BY name FETCH FIRST 50 PERCENT ROWS ONLY
    SELECT name FROM People ORDER BY name LIMIT 50 PERCENT
    SELECT name FROM People AT (VERSION => 1)
    SELECT CAST(name AS REGCLASS) FROM People
    SELECT CAST(name AS ENUM('a')) FROM People
    SELECT CAST(name AS STRUCT(a INT)) FROM People
    SELECT name COLLATE nocase FROM People
    SELECT e'\\x41' FROM People
    WITH People AS (SELECT 1 AS name) SELECT name FROM People
    WITH "http://x.org/data/people" AS (SELECT 1 AS name) SELECT name FROM People
    WITH a AS (SELECT 1), a AS (SELECT 2) SELECT * FROM a
    WITH a AS (INSERT INTO People SELECT 1) SELECT 1
    WITH RECURSIVE r(n) USING KEY (n) AS (SELECT 1 UNION SELECT n FROM r) SELECT n FROM r
    SELECT name FROM People UNION BY NAME SELECT note FROM Visits
    SELECT name FROM People p(secret)
    SELECT name FROM People, People
    SELECT name, id FROM People, Visits
    SELECT name FROM a
    SELECT name FROM Peeple
    SELECT nam FROM People
    INSERT INTO People SELECT * FROM People
    UPDATE People SET name = 'x'
    DELETE FROM People
    CREATE TABLE x AS SELECT * FROM People
    COPY People TO 'x.csv'
    COPY (SELECT secret FROM People) TO 'x.csv'
    EXPORT DATABASE 'x'
    IMPORT DATABASE 'x'
    ATTACH 'x.db'
    DETACH memory
    INSTALL httpfs
    LOAD httpfs
    PRAGMA table_info('People')
    SET enable_external_access = true
    RESET lock_configuration
    CALL duckdb_tables()
    EXPLAIN SELECT name FROM People
    EXPLAIN ANALYZE SELECT secret FROM People
    PREPARE q AS SELECT secret FROM People
    EXECUTE q
    BEGIN
    VACUUM
    CHECKPOINT
    USE main
    SELECT name FROM People; SELECT secret FROM People
    SELECT name FROM People; DROP TABLE People
    SELECT /*+ NOFILTER */ name FROM People
    SELECT name FROM People WHERE
    SELECT (name AS secret) FROM People
    SELECT count(*) + count(p.*) FROM People p
    SELECT upper(*) FROM People
    SELECT name FROM People GROUP BY *
"""


def everything(result):
    """Return every value that a result tells."""
    cells = [cell for row in result.table.to_pylist() for cell in row.values()]
    return set(map(str, cells))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("sql", lines(READS_MORE))
def test_what_reads_an_undecided_column_is_denied(sql):
    result = ask(sql, may_read("id", "name"))
    assert not result.permitted
    assert result.table is None
    assert not result.sql
    assert "secret" in str(result.columns) or result.columns[PEOPLE] == ()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("sql", lines(NOT_UNDERSTOOD))
def test_what_is_not_understood_is_refused(sql):
    with pytest.raises(QueryError, match=r"Q00[1-5]"):
        ask(sql, may_read("id", "name"))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name FROM People",
        "SELECT name FROM People WHERE 1 = 1 OR name = name",
        "SELECT v.note, p.name FROM Visits v FULL JOIN People p ON TRUE",
        "SELECT p.name FROM Visits v RIGHT JOIN People p ON FALSE",
        "SELECT q.name FROM People p CROSS JOIN People q",
        "SELECT max(name), min(name), string_agg(name, ',') FROM People",
        "SELECT name FROM People UNION ALL SELECT name FROM People",
        "SELECT coalesce(name, 'none') FROM People ORDER BY name NULLS FIRST",
        "WITH RECURSIVE r AS (SELECT name FROM People UNION SELECT name FROM r) SELECT name FROM r",
        "SELECT (SELECT min(name) FROM People) AS a FROM Visits",
        "SELECT first(name ORDER BY id), arg_min(name, id) FROM People",
        "SELECT lag(name) OVER (ORDER BY id) FROM People",
        "SELECT count(name) FROM People WHERE CASE WHEN name = 'Ann' THEN 1 / 0 ELSE 1 END > 0",
    ],
)
def test_rows_that_are_hidden_stay_hidden(sql):
    read = may_read("id", "name", constraints=[MEN])
    assert not everything(ask(sql, read)) & SECRETS


def test_names_that_would_break_out_of_their_quotes_do_not():
    table = 'http://x.org/a";DROP(TABLE)x;--'
    odd = 'x" FROM People; --'
    data = make_catalog({table: pa.table({odd: [1], "y": [2]})})
    read = policy([rule([data.datasets[0].iri])])
    name = data.datasets[0].iri.replace('"', '""')
    quoted = odd.replace('"', '""')
    assert rows(f'SELECT "{quoted}" FROM "{name}"', read, data=data) == [(1,)]
    assert rows(f'SELECT y AS "a"";" FROM "{name}"', read, data=data) == [(2,)]


def test_a_variable_of_the_program_is_no_table():
    hidden = pa.table({"a": [1]})
    with pytest.raises(QueryError, match="Q003"):
        ask("SELECT a FROM hidden", may_read("id"))
    assert hidden.num_rows == 1


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT {'(' * 3000}1{')' * 3000}",
        f"SELECT {' + '.join(['1'] * 5_000)}",
        f"SELECT {'NOT ' * 5000} TRUE",
        f"{'SELECT * FROM (' * 800}SELECT 1{')' * 800}",
        f"SELECT '{'x' * 200_000}'",
        "SELECT '\0'",
        "",
        ";",
        "-- nothing",
        "SELECT 'a",
        'SELECT "a',
        "SELECT /* a",
        "\ud800",
        'SELECT a FROM "x:\udcff"',
    ],
)
def test_texts_that_are_too_much_are_refused(sql):
    with pytest.raises(PolicyEngineError, match=r"Q00[1258]"):
        ask(sql, may_read("id"))


def test_a_table_in_a_column_of_another_dialect_is_decided_on_too():
    some = policy([rule(columns("id")), rule(VISITS)])
    for dialect in ("spark", "databricks", "postgres"):
        assert rows("SELECT secret FROM People", some, dialect=dialect) is None
    hinted = "SELECT /*+ BROADCAST(People) */ id FROM People"
    for sql in (hinted, "SELECT id FROM People LATERAL VIEW explode(array(1)) t AS x"):
        with pytest.raises(QueryError, match="Q005"):
            ask(sql, some, dialect="spark")


def test_data_of_the_catalog_is_as_it_was():
    data = catalog()
    ask("SELECT name FROM People", may_read("name"), data=data)
    assert data.tables[PEOPLE].column_names == ["id", "name", "sex", "age", "secret"]


@pytest.mark.parametrize("name", ["a/b", "a b", "a%2Fb", "ä?#", 'a"b', "select", "a.b", "*", "_"])
def test_columns_of_odd_names_are_columns(name):
    table = pa.table({name: ["x", "y"], "sex": ["male", "female"], "secret": [1, 2]})
    data, quoted = make_catalog({PEOPLE: table}), name.replace('"', '""')
    read = policy([rule([column_iri(PEOPLE, name)], where(column_iri(PEOPLE, name), "neq", "y"))])
    assert rows(f'SELECT "{quoted}" FROM People', read, data=data) == [("x",)]
    assert rows(f'SELECT "{quoted}", secret FROM People', read, data=data) is None
    other = policy([rule([column_iri(PEOPLE, "secret")])])
    assert rows(f'SELECT "{quoted}" FROM People', other, data=data) is None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a FROM other",
        "SELECT a FROM main.shown",
        "SELECT a FROM range(3)",
        "SELECT a FROM shown; SELECT a FROM shown",
        "SELECT a FROM (SHOW TABLES)",
    ],
)
def test_a_text_that_reads_anything_else_is_not_run(sql):
    with pytest.raises(PolicyEngineError, match="X001"):
        run({"": sql}, {"shown": pa.table({"a": [1]})})


@pytest.mark.parametrize(
    "sql", ["CREATE TABLE x AS SELECT 1", "COPY shown TO 'x'", "SET threads=1"]
)
def test_a_text_that_is_no_query_is_not_run(sql):
    with pytest.raises(QueryError, match="Q005"):
        run({"": sql}, {"shown": pa.table({"a": [1]})})


def test_a_name_of_with_is_no_table_of_a_database_that_tells_names_apart_by_case():
    sql = 'WITH "Payroll" AS (SELECT 1 AS x) SELECT Payroll.x FROM payroll'
    found = ask(sql, may_read("id"), dialect="postgres", run=False).sql
    assert "Payroll" not in found
    assert rows(sql, may_read("id"), dialect="postgres") == [(1,)]


def test_a_query_without_end_ends():
    sql = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(n) FROM r"
    with query_limits(seconds=0.2), pytest.raises(QueryError, match=r"Q011.*more time"):
        ask(sql, may_read("id"))


def test_what_does_not_fit_into_memory_is_laid_down_where_nobody_else_reads():
    text = "SELECT current_setting('temp_directory') AS folder"
    [row] = run({"": text}, {})[""].to_pylist()
    assert Path(row["folder"]).stat().st_mode & 0o77 == 0


@pytest.mark.parametrize("hidden", ["20", "x", "2.5", "020", ""])
def test_types_of_csv_tell_nothing_of_hidden_rows(tmp_path, hidden):
    (tmp_path / "p.csv").write_text(f"id,sex,age\n1,female,{hidden}\n2,male,30\n")
    data = make_catalog({PEOPLE: tmp_path / "p.csv"})
    read = policy([rule(columns("id", "age"), MEN)])
    assert rows("SELECT age, age + 1 AS next FROM People", read, data=data) == [(30, 31)]
    [kind, _] = ask("SELECT age, id FROM People", read, data=data).table.schema.types
    assert kind == pa.int64()
