import pytest
from query_samples import PEOPLE, VISITS, catalog

from policy_engine.decision.query import scope
from policy_engine.decision.query.grammar import DIALECTS, parse_query, to_sql
from policy_engine.decision.query.scope import read_columns
from policy_engine.decision.query.tables import Tables
from policy_engine.errors import QueryError


def reads(sql, dialect="duckdb"):
    """Return the columns that a query reads, by the short name of the table."""
    found = read_columns(parse_query(sql, dialect), Tables(catalog())).columns
    short = {PEOPLE: "p", VISITS: "v"}
    return {short[iri]: " ".join(names) for iri, names in found.items()}


def written(sql):
    return to_sql(read_columns(parse_query(sql, "duckdb"), Tables(catalog())).tree, "duckdb")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT 1", {}),
        ("SELECT name FROM People", {"p": "name"}),
        ("SELECT NAME FROM pEOPLE", {"p": "name"}),
        (f'SELECT name FROM "{PEOPLE}"', {"p": "name"}),
        (f'SELECT "{PEOPLE}".name FROM "{PEOPLE}"', {"p": "name"}),
        ("SELECT count(*) FROM People", {"p": ""}),
        ("SELECT count(*), max(id) FROM People", {"p": "id"}),
        ("SELECT * FROM Visits", {"v": "id cost note"}),
        ("SELECT v.* FROM Visits v, People p WHERE age > 1", {"v": "id cost note", "p": "age"}),
        ("SELECT * EXCLUDE (note) FROM Visits", {"v": "id cost"}),
        ("SELECT cost FROM People JOIN Visits USING (id)", {"p": "id", "v": "id cost"}),
        ("SELECT cost FROM People NATURAL JOIN Visits", {"p": "id", "v": "id cost"}),
        ("SELECT cost FROM Visits ORDER BY note", {"v": "cost note"}),
        ("SELECT cost AS note FROM Visits ORDER BY note", {"v": "cost"}),
        ("SELECT cost AS c FROM Visits WHERE c > 1 GROUP BY c HAVING c > 2", {"v": "cost"}),
        (
            "SELECT sum(cost) OVER (PARTITION BY id ORDER BY note) FROM Visits",
            {"v": "id cost note"},
        ),
        (
            "SELECT cost FROM Visits WHERE id = (SELECT max(p.id) FROM People p WHERE age > cost)",
            {"v": "id cost", "p": "id age"},
        ),
        (
            "SELECT cost FROM Visits WHERE EXISTS (SELECT 1 FROM People WHERE age = cost)",
            {"v": "cost", "p": "age"},
        ),
        ("WITH a AS (SELECT id, cost AS c FROM Visits) SELECT c FROM a", {"v": "id cost"}),
        ("WITH a(x) AS (SELECT id FROM Visits) SELECT x FROM a", {"v": "id"}),
        ("SELECT x FROM (SELECT id, note FROM Visits) AS a(x)", {"v": "id note"}),
        ("SELECT id FROM Visits UNION SELECT age FROM People ORDER BY id", {"v": "id", "p": "age"}),
        (
            "SELECT cost FROM Visits v, LATERAL (SELECT age FROM People p WHERE p.id = v.id) x",
            {"v": "id cost", "p": "id age"},
        ),
        (
            "SELECT cost FROM Visits v, (SELECT age FROM People p WHERE p.id = v.id) x",
            {"v": "id cost", "p": "id age"},
        ),
        (
            "WITH RECURSIVE r AS (SELECT id FROM Visits UNION SELECT r.id FROM r, People) SELECT 1",
            {"v": "id", "p": ""},
        ),
        (
            "SELECT cost FROM Visits v WHERE EXISTS (WITH a AS (SELECT v.note) SELECT 1 FROM a)",
            {"v": "cost note"},
        ),
        (
            (
                "WITH RECURSIVE r AS (WITH r AS (SELECT age FROM People) "
                "SELECT id FROM Visits UNION SELECT age FROM r) SELECT 1"
            ),
            {"v": "id", "p": "age"},
        ),
        (
            "SELECT 1 FROM Visits v WHERE id IN (SELECT 1 UNION SELECT 2 ORDER BY (SELECT v.note))",
            {"v": "id note"},
        ),
    ],
)
def test_columns_that_are_read_anywhere_count(sql, expected):
    assert reads(sql) == expected


def test_the_same_query_reads_the_same_in_every_dialect():
    sql = "SELECT max(cost) AS m FROM People JOIN Visits USING (id) WHERE age > 1 GROUP BY sex"
    assert len({str(reads(sql, dialect)) for dialect in DIALECTS}) == 1


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT id FROM People, Visits", "Q004 'id' is a column of 'People' and 'Visits'"),
        (
            "SELECT 1 FROM People JOIN (Visits CROSS JOIN Visits v) USING (id)",
            "Q004 'id' is a column of 'People', 'Visits' and 'v'",
        ),
        ("SELECT nmae FROM People", "Q004 .*Did you mean 'name'"),
        ("SELECT x.name FROM People", "Q004 There is no table 'x' in FROM"),
        ("SELECT name FROM Peopel", "Q003 .*'People' and 'Visits'.*Did you mean 'People'"),
        ("SELECT *", "Q004 .*needs a FROM clause"),
        ("SELECT * EXCLUDE (x) FROM Visits", "Q004 There is no column 'x'"),
        ("SELECT * FROM (SELECT id, id FROM Visits)", "Q004 .*several columns 'id'"),
        ("SELECT * FROM (SELECT id + 1 FROM Visits)", "Q004 .*without a name"),
        ("SELECT 1 FROM People JOIN Visits USING (cost)", "Q004 There is no column 'cost'"),
        ("SELECT 1 FROM Visits NATURAL JOIN (SELECT 1 AS x) y", "Q004 .*no column in common"),
        ("SELECT 1 FROM Visits v JOIN People V ON TRUE", "Q004 Two tables are called 'V'"),
        ("WITH a(x, y) AS (SELECT 1) SELECT x FROM a", "Q004 There are 1 columns"),
        ("SELECT id FROM Visits UNION SELECT id FROM Visits ORDER BY cost", "Q004 .*'cost'"),
        ("SELECT a FROM b WHERE (", "Q001 The query cannot be parsed"),
    ],
)
def test_what_cannot_be_told_is_an_error_that_says_so(sql, message):
    with pytest.raises(QueryError, match=message):
        reads(sql)


def test_a_place_in_the_query_is_named():
    with pytest.raises(QueryError) as caught:
        reads("SELECT id\nFROM Visits WHERE )")
    assert caught.value.problems[0].place.line == 2


def test_stars_and_natural_joins_are_written_out():
    assert written("SELECT * FROM Visits v NATURAL JOIN (SELECT id, age FROM People) p") == (
        'SELECT "id", "v"."cost", "v"."note", "p"."age" FROM "Visits" AS "v" '
        'JOIN (SELECT "id", "age" FROM "People") AS "p" USING ("id")'
    )


def test_a_column_replaced_in_a_star_keeps_its_place():
    assert written("SELECT * REPLACE (cost * 2 AS cost) FROM Visits") == (
        'SELECT "Visits"."id", "cost" * 2 AS "cost", "Visits"."note" FROM "Visits"'
    )


def test_an_unknown_dialect_is_refused():
    with pytest.raises(QueryError, match=r"Q001 .*'cobol'"):
        parse_query("SELECT 1", "cobol")


def test_what_is_nested_in_recursive_queries_is_walked_once(monkeypatch):
    calls = []
    walk = scope._Reader.query
    monkeypatch.setattr(scope._Reader, "query", lambda *args: calls.append(1) or walk(*args))
    sql = "SELECT id FROM Visits"
    for depth in range(12):
        part = "SELECT id FROM Visits"
        sql = f"WITH RECURSIVE a{depth}(id) AS (({sql}) UNION ALL {part}) SELECT id FROM a{depth}"
    assert reads(sql) == {"v": "id"}
    assert len(calls) < 100


def test_a_recursive_query_gives_names_of_its_own():
    own = "WITH RECURSIVE r AS (WITH p AS (SELECT id, cost FROM Visits) SELECT id FROM p"
    assert reads(f"{own} UNION SELECT r.id FROM r, p) SELECT id FROM r") == {"v": "id cost"}
