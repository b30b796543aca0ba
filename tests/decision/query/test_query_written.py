"""Queries as they are written anew, with what they read and what each of their entries does."""

import pytest
from query_samples import PEOPLE, VISITS, catalog

from policy_engine.decision.query.grammar import parse_query, to_sql
from policy_engine.decision.query.scope import read_columns
from policy_engine.decision.query.tables import Tables

SHORT = {PEOPLE: "p", VISITS: "v"}
WRITTEN = """\
SELECT * FROM People p JOIN Visits v USING (id)
    SELECT id, p.name, p.sex, p.age, p.secret, v.cost, v.note FROM People AS p JOIN Visits AS v \
USING (id)
    p: id name sex age secret and v: id cost note (p.id+v.id, p.name, p.sex, p.age, p.secret, \
v.cost, v.note)
SELECT v.* FROM People p JOIN Visits v USING (id)
    SELECT v.id, v.cost, v.note FROM People AS p JOIN Visits AS v USING (id)
    p: id and v: id cost note (v.id, v.cost, v.note)
SELECT * EXCLUDE (NAME, sex, secret, age) FROM People
    SELECT People.id FROM People
    p: id (p.id)
SELECT * EXCLUDE (id) FROM People p JOIN Visits v USING (id)
    SELECT p.name, p.sex, p.age, p.secret, v.cost, v.note FROM People AS p JOIN Visits AS v USING \
(id)
    p: id name sex age secret and v: id cost note (p.name, p.sex, p.age, p.secret, v.cost, v.note)
SELECT * REPLACE (upper(NOTE) AS Note) FROM Visits
    SELECT Visits.id, Visits.cost, UPPER(NOTE) AS Note FROM Visits
    v: id cost note (v.id, v.cost, v.note)
SELECT P.NAME FROM People p
    SELECT p.name FROM People AS p
    p: name (p.name)
SELECT id FROM People p JOIN Visits v USING (ID)
    SELECT id FROM People AS p JOIN Visits AS v USING (ID)
    p: id and v: id (p.id+v.id)
SELECT id FROM (SELECT id FROM Visits) UNION SELECT age FROM People ORDER BY ID LIMIT 1 OFFSET 2
    SELECT id FROM (SELECT id FROM Visits) AS _subquery_1 UNION SELECT age FROM People ORDER BY \
id LIMIT 1 OFFSET 2
    v: id and p: age ()
SELECT NAME AS n FROM People WHERE N = 'x' ORDER BY n
    SELECT name AS n FROM People WHERE N = 'x' ORDER BY n
    p: name (p.name)
SELECT name AS age FROM People WHERE age > 1 ORDER BY age
    =
    p: name age (p.name)
SELECT name AS age FROM People ORDER BY People.age
    =
    p: name age (p.name)
SELECT name AS n FROM People ORDER BY n || 'x'
    =
    p: name (p.name)
SELECT cost FROM Visits v WHERE EXISTS (SELECT 1 FROM People p WHERE p.id = v.id AND AGE > cost)
    SELECT cost FROM Visits AS v WHERE EXISTS(SELECT 1 FROM People AS p WHERE p.id = v.id AND age \
> cost)
    v: id cost and p: id age (v.cost)
SELECT (SELECT name FROM People p WHERE p.id = Visits.id) FROM Visits
    SELECT (SELECT name FROM People AS p WHERE p.id = Visits.id) FROM Visits
    v: id and p: id name (p.id+p.name+v.id)
SELECT x FROM (SELECT id, note FROM Visits) AS a(x)
    =
    v: id note (-)
SELECT X FROM (SELECT id, note FROM Visits) AS a(x, y) WHERE Y = 'a'
    SELECT x FROM (SELECT id, note FROM Visits) AS a(x, y) WHERE y = 'a'
    v: id note (-)
WITH A AS (SELECT id AS i FROM Visits) SELECT I FROM a
    WITH a AS (SELECT id AS i FROM Visits) SELECT i FROM a
    v: id (-)
WITH a(x) AS (SELECT id, cost FROM Visits) SELECT X, COST FROM A
    WITH a(x) AS (SELECT id, cost FROM Visits) SELECT x, cost FROM a
    v: id cost (-, -)
WITH RECURSIVE r(n) AS (SELECT id FROM Visits UNION ALL SELECT n + 1 FROM R WHERE n < 3) SELECT n \
FROM r
    WITH RECURSIVE r(n) AS (SELECT id FROM Visits UNION ALL SELECT n + 1 FROM r WHERE n < 3) \
SELECT n FROM r
    v: id (-)
SELECT p.name FROM (People p JOIN Visits v USING (id)) JOIN (SELECT 1 AS id) x USING (id)
    SELECT p.name FROM (People AS p JOIN Visits AS v USING (id)) JOIN (SELECT 1 AS id) AS x USING \
(id)
    p: id name and v: id (p.name)
SELECT name FROM People p, LATERAL (SELECT cost FROM Visits v WHERE v.id = p.id) x
    SELECT name FROM People AS p, LATERAL (SELECT cost FROM Visits AS v WHERE v.id = p.id) AS x
    p: id name and v: id cost (p.name)
SELECT name FROM People GROUP BY name HAVING count(DISTINCT age) > 1
    SELECT name FROM People GROUP BY name HAVING COUNT(DISTINCT age) > 1
    p: name age (p.name)
SELECT name, row_number() OVER w FROM People WINDOW w AS (PARTITION BY sex ORDER BY age)
    SELECT name, ROW_NUMBER() OVER w FROM People WINDOW w AS (PARTITION BY sex ORDER BY age)
    p: name sex age (p.name, -)
SELECT name FROM People QUALIFY row_number() OVER (ORDER BY age) = 1
    SELECT name FROM People QUALIFY ROW_NUMBER() OVER (ORDER BY age) = 1
    p: name age (p.name)
SELECT DISTINCT ON (sex) name FROM People
    =
    p: name sex (p.name)
SELECT id FROM People LIMIT (SELECT count(note) FROM Visits)
    SELECT id FROM People LIMIT (SELECT COUNT(note) FROM Visits)
    p: id and v: note (p.id)
SELECT name FROM People FULL JOIN Visits ON cost = age
    =
    p: name age and v: cost (p.name)
SELECT * FROM People NATURAL LEFT JOIN Visits
    SELECT id, People.name, People.sex, People.age, People.secret, Visits.cost, Visits.note FROM \
People LEFT JOIN Visits USING (id)
    p: id name sex age secret and v: id cost note (p.id+v.id, p.name, p.sex, p.age, p.secret, \
v.cost, v.note)
SELECT id, 1 FROM Visits
    =
    v: id (v.id, -)
SELECT sum(cost) FILTER (WHERE note = 'a') FROM Visits
    SELECT SUM(cost) FILTER(WHERE note = 'a') FROM Visits
    v: cost note (v.cost+v.note)
FROM Visits
    SELECT Visits.id, Visits.cost, Visits.note FROM Visits
    v: id cost note (v.id, v.cost, v.note)
SELECT a.* FROM (SELECT id AS "I d" FROM Visits) a
    SELECT a.I d FROM (SELECT id AS I d FROM Visits) AS a
    v: id (-)
SELECT "I D" FROM (SELECT id AS "I d" FROM Visits) a
    SELECT I d FROM (SELECT id AS I d FROM Visits) AS a
    v: id (-)
SELECT name FROM People WHERE id IN (SELECT id FROM Visits)
    =
    p: id name and v: id (p.name)
SELECT name FROM People WHERE id = ANY (SELECT id FROM Visits)
    =
    p: id name and v: id (p.name)
(SELECT name FROM People) UNION (SELECT note FROM Visits) ORDER BY NAME
    (SELECT name FROM People) UNION (SELECT note FROM Visits) ORDER BY name
    p: name and v: note ()
"""
"""A query; below it how it is written, without quotes (= as it is), and what it reads.

In parentheses, by entry of the select list, is what that entry reads itself.
"""


def cases():
    """Return the queries, each with what is below it."""
    lines = WRITTEN.splitlines()
    starts = [at for at, line in enumerate(lines) if not line.startswith(" ")]
    return [(lines[at], *map(str.strip, lines[at + 1 : at + 3])) for at in starts]


@pytest.mark.parametrize(("sql", "written", "reads"), cases())
def test_query_is_written_with_the_names_that_it_means(sql, written, reads):
    found = read_columns(parse_query(sql, "duckdb"), Tables(catalog()))
    text = to_sql(found.tree, "duckdb").replace('"', "")
    assert text == (sql if written == "=" else written)
    listed = ", ".join(
        "+".join(sorted(f"{SHORT[iri]}.{name}" for iri, name in one)) or "-" for one in found.listed
    )
    columns = " and ".join(
        f"{SHORT[iri]}: {' '.join(names)}" for iri, names in found.columns.items()
    )
    assert f"{columns} ({listed})" == reads
