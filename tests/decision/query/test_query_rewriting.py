"""A query gives what DuckDB gives of it as it was written, where the tables hold no other rows."""

import duckdb
import pyarrow as pa
import pytest
from query_samples import PEOPLE_ROWS, VISITS_ROWS, ask, lines, people_and_visits, rows, where
from sqlglot import exp

from policy_engine.decision.query import logic
from policy_engine.decision.query.filters import Filter
from policy_engine.decision.query.grammar import parse_query, to_sql
from policy_engine.decision.query.rewriting import TableView, rewrite
from policy_engine.decision.query.scope import DATASET
from policy_engine.errors import InternalError

QUERIES = """
    SELECT * FROM People p LEFT JOIN Visits v USING (id)
    SELECT * FROM Visits v RIGHT JOIN People p USING (id)
    SELECT * FROM Visits v FULL JOIN (SELECT id + 1 AS id, age FROM People) p USING (id)
    SELECT * FROM Visits v FULL JOIN (SELECT id + 1 AS id, age FROM People) p ON v.id = p.id
    SELECT id, v.id, p.id FROM Visits v FULL JOIN (SELECT id + 2 AS id FROM People) p USING (id)
    SELECT p.*, v.* EXCLUDE (id) FROM People p NATURAL LEFT JOIN Visits v
    SELECT * FROM Visits a JOIN Visits b USING (id) JOIN People c USING (id)
    SELECT * FROM Visits a NATURAL JOIN Visits b NATURAL JOIN People c
    SELECT a.id, v.note FROM People a, Visits v NATURAL JOIN Visits w
    SELECT a.note, cost FROM (SELECT 1 AS note) a, Visits v JOIN Visits w USING (id, cost)
    SELECT a.*, b.id FROM Visits a JOIN Visits b USING (id), Visits c JOIN Visits d USING (id)
    SELECT * FROM People a, (SELECT 1 AS x, 2 AS y) b NATURAL JOIN (SELECT 1 AS x, 3 AS z) c
    SELECT p.id FROM People p LEFT JOIN (Visits a JOIN Visits b ON a.id = b.id) ON p.id = a.id
    SELECT id AS name, name AS id FROM People ORDER BY id
    SELECT name AS id FROM People WHERE id > 1 ORDER BY id
    SELECT id + 1 AS id FROM People ORDER BY id
    SELECT id AS x, x + 1 AS y FROM People WHERE x > 1 GROUP BY ALL HAVING y < 4
    SELECT age AS id, count(*) FROM People GROUP BY id, age
    SELECT id % 2 AS odd, count(*), sum(age) FROM People GROUP BY odd ORDER BY 1
    SELECT id % 2 AS odd, sum(age) FROM People GROUP BY ROLLUP (odd)
    SELECT id, rank() OVER (ORDER BY age DESC NULLS LAST) FROM People
    SELECT sum(cost) OVER w FROM Visits WINDOW w AS (PARTITION BY id ORDER BY cost)
    SELECT id, (SELECT sum(cost) FROM Visits WHERE Visits.id = People.id) FROM People
    SELECT id FROM People WHERE id IN (SELECT id FROM Visits) AND age NOT IN (SELECT 1)
    SELECT id FROM People p WHERE NOT EXISTS (SELECT 1 FROM Visits v WHERE v.id = p.id)
    SELECT id FROM People WHERE age > ALL (SELECT cost FROM Visits)
    SELECT id FROM People WHERE (id, id) = ANY (SELECT id, id FROM Visits)
    WITH a AS (SELECT id FROM Visits), b AS (SELECT id FROM a UNION SELECT 9) SELECT * FROM b, a
    WITH a AS (SELECT id FROM Visits) SELECT * FROM (WITH b AS (SELECT id FROM a) SELECT * FROM b)
    WITH RECURSIVE r(n, m) AS (SELECT 1, 1 UNION ALL SELECT n + 1, n * m FROM r WHERE n < 5) FROM r
    SELECT id FROM Visits UNION ALL (SELECT id FROM People EXCEPT SELECT 1) ORDER BY id DESC LIMIT 3
    SELECT x.id, y.n FROM People x, LATERAL (SELECT count(*) AS n FROM Visits v WHERE v.id = x.id) y
    SELECT DISTINCT ON (id) id, cost FROM Visits ORDER BY id, cost DESC
    SELECT id FROM Visits QUALIFY row_number() OVER (PARTITION BY id ORDER BY cost) = 1
    SELECT CASE id WHEN 1 THEN 'a' ELSE name END AS c, id // 2, id / 2, id % 2 FROM People
    SELECT round(avg(age), 2), median(age), string_agg(name, '-' ORDER BY id DESC) FROM People
    SELECT "Id", NAME, "People".Sex FROM PEOPLE
    SELECT count(DISTINCT sex), count(*) FILTER (WHERE age > 20) FROM People
    SELECT CAST(age AS VARCHAR) || '!' AS t, upper(name), length(name), name LIKE '_o%' FROM People
    SELECT date_trunc('year', DATE '2020-05-05') AS d, extract(month FROM DATE '2020-05-05') AS m
    SELECT * FROM (SELECT * FROM (SELECT id, name AS n FROM People) AS a(x)) AS b(y, z)
    SELECT count(*) FROM People, Visits
    SELECT 1 AS one FROM People
    SELECT id, cost FROM Visits ORDER BY id, cost OFFSET 1 ROW FETCH NEXT 2 ROWS ONLY
    SELECT format('{} {}', id, name), time_bucket(INTERVAL '7 days', DATE '2020-05-05') FROM People
    SELECT * EXCLUDE (name) REPLACE (id * 10 AS id) FROM People
    SELECT (SELECT max(p.age) FROM People p WHERE p.id = v.id) AS a FROM Visits v GROUP BY v.id
"""


def sorted_rows(table):
    return sorted((tuple(row) for row in zip(*table.to_pydict().values(), strict=True)), key=repr)


@pytest.fixture(scope="module")
def plain():
    """The tables in a database of their own, without any policy."""
    with duckdb.connect(":memory:") as connection:
        connection.register("People", pa.table(PEOPLE_ROWS))
        connection.register("Visits", pa.table(VISITS_ROWS))
        yield connection


@pytest.fixture(scope="module")
def men(plain):
    """The same tables where the women are not."""
    with duckdb.connect(":memory:") as connection:
        kept = plain.sql("SELECT * FROM People WHERE sex = 'male'").to_arrow_table()
        connection.register("People", kept)
        connection.register("Visits", pa.table(VISITS_ROWS))
        yield connection


@pytest.mark.one_in(16)
@pytest.mark.parametrize("sql", lines(QUERIES))
def test_a_query_gives_what_it_gives_of_the_rows_that_may_be_read(plain, men, sql):
    found = ask(sql, people_and_visits(where("sex", "eq", "male")))
    names = [f"c{n}" for n in range(found.table.num_columns)]
    expected = men.sql(sql).to_arrow_table().rename_columns(names)
    assert sorted_rows(found.table.rename_columns(names)) == sorted_rows(expected)
    printed = plain.sql(found.sql).to_arrow_table().rename_columns(names)
    assert sorted_rows(printed) == sorted_rows(expected)


def test_a_join_in_parentheses_is_still_one():
    read = people_and_visits()
    assert len(rows("SELECT cost FROM (Visits CROSS JOIN People)", read)) == 3 * 4
    assert rows("SELECT cost FROM (Visits JOIN People USING (id))", read) == [(1.5,), (2.5,), (4,)]


EVERY = Filter(logic.true())


@pytest.mark.parametrize(
    ("view", "sql"),
    [
        (TableView("t", ("a", "b c"), EVERY), 'SELECT "t"."a", "t"."b c" FROM "t"'),
        (TableView("t", (), EVERY), 'SELECT 1 AS "_" FROM "t"'),
        (
            TableView("t", ("a",), Filter(exp.column("b", quoted=True))),
            'SELECT "t"."a" FROM "t" WHERE "b"',
        ),
        (
            TableView("t", ("a", "b"), EVERY, frozenset("b")),
            (
                'SELECT "t"."a", CASE WHEN "t"."b" <= 0 OR -"t"."b" < 0 THEN "t"."b" END AS "b" '
                'FROM "t"'
            ),
        ),
    ],
    ids=range(4),
)
def test_view_shows_its_columns_of_its_rows(view, sql):
    assert to_sql(view.select(), "duckdb") == sql


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a FROM other",
        "SELECT a FROM t",
        "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM other)",
        "WITH b AS (SELECT 1 AS a) SELECT a FROM c",
        "WITH b AS (SELECT a FROM t) SELECT a FROM b",
    ],
)
def test_table_that_no_view_was_put_in_the_place_of_is_not_run(sql):
    views = {"http://x.org/t": TableView("t", ("a",), EVERY)}
    with pytest.raises(InternalError) as caught:
        rewrite(parse_query(sql, "duckdb"), views)
    [problem] = caught.value.problems
    assert (problem.code, problem.message) == ("X001", "A table of a query was not replaced.")


def test_view_stands_in_the_place_of_its_table():
    tree = parse_query("WITH t AS (SELECT 1 AS a) SELECT x.a FROM other x, T", "duckdb")
    [other] = [one for one in tree.find_all(exp.Table) if one.name == "other"]
    other.meta[DATASET] = "http://x.org/o"
    found = rewrite(tree, {"http://x.org/o": TableView("o", ("a",), EVERY)})
    assert to_sql(found, "duckdb") == (
        'WITH "t" AS (SELECT 1 AS "a") SELECT "x"."a" FROM (SELECT "o"."a" FROM "o") AS "x", "T"'
    )
    assert other.parent is not None
