"""Queries that are refused, each with all that is said of it."""

import pytest
from query_samples import catalog

from policy_engine.decision.query.grammar import parse_query, to_sql
from policy_engine.decision.query.scope import read_columns
from policy_engine.decision.query.tables import Tables
from policy_engine.errors import QueryError

NO_TABLE = """\
SELECT name FROM Peopel
    There is no table 'Peopel'. Given: 'People' and 'Visits'. Did you mean 'People'?
SELECT name FROM zzz
    There is no table 'zzz'. Given: 'People' and 'Visits'.
SELECT (SELECT id FROM zzz)
    There is no table 'zzz'. Given: 'People' and 'Visits'.
SELECT a.id FROM a
    There is no table 'a'. Given: 'People' and 'Visits'.
"""
NO_COLUMN = """\
SELECT id FROM People, Visits
    'id' is a column of 'People' and 'Visits'. Write the table before it: TABLE.COLUMN.
SELECT nmae FROM People
    There is no column 'nmae' in 'People'. Did you mean 'name'?
SELECT zzz FROM Visits
    There is no column 'zzz' in 'Visits'. The columns are 'id', 'cost' and 'note'.
SELECT x.name FROM People
    There is no table 'x' in FROM.
SELECT Peopel.name FROM People
    There is no table 'Peopel' in FROM. Did you mean 'People'?
SELECT *
    * needs a FROM clause.
SELECT * EXCLUDE (x) FROM Visits
    There is no column 'x' in 'Visits'. The columns are 'id', 'cost' and 'note'.
SELECT * REPLACE (1 AS x) FROM Visits
    There is no column 'x' in 'Visits'. The columns are 'id', 'cost' and 'note'.
SELECT * FROM (SELECT id, id FROM Visits)
    * stands for all columns of '_subquery_1', which has several columns 'id'.
    Give each a name of its own with AS.
SELECT * FROM (SELECT id + 1 FROM Visits)
    * stands for all columns of '_subquery_1', which has a column without a name.
    Give each a name of its own with AS.
SELECT a.id FROM (SELECT id, id FROM Visits) a
    'a' has several columns 'id' that differ only in case. Give them different names.
SELECT id FROM (SELECT id, 1 AS ID FROM Visits) a
    'a' has several columns 'id' that differ only in case. Give them different names.
SELECT 1 FROM People JOIN Visits USING (cost)
    There is no column 'cost' in 'People'. The columns are 'id', 'name', 'sex', 'age' and 'secret'.
SELECT 1 FROM Visits JOIN People USING (name)
    There is no column 'name' in 'Visits'. The columns are 'id', 'cost' and 'note'.
SELECT 1 FROM Visits JOIN People USING (cost)
    There is no column 'cost' in 'People'. The columns are 'id', 'name', 'sex', 'age' and 'secret'.
SELECT 1 FROM Visits NATURAL JOIN (SELECT 1 AS x) y
    The tables of a NATURAL JOIN have no column in common.
SELECT 1 FROM Visits v JOIN People V ON TRUE
    Two tables are called 'V' in one FROM. Give each a name of its own with AS.
WITH a(x, y) AS (SELECT 1) SELECT x FROM a
    There are 1 columns. 2 names were given for them.
SELECT x FROM (SELECT id FROM Visits) a(x, y)
    There are 1 columns. 2 names were given for them.
SELECT id FROM Visits UNION SELECT id FROM Visits ORDER BY cost
    There is no column 'cost'. The columns are 'id'.
SELECT id FROM (SELECT 1 AS id UNION SELECT 2) LIMIT (SELECT zzz)
    There is no column 'zzz' in '_subquery_1'. The columns are 'id'.
(SELECT id FROM People) ORDER BY zzz
    There is no column 'zzz'. The columns are 'id'.
SELECT Visits.zzz FROM Visits
    There is no column 'zzz' in 'Visits'. The columns are 'id', 'cost' and 'note'.
SELECT 1 FROM People JOIN Visits ON People.id = Visits.zzz
    There is no column 'zzz' in 'Visits'. The columns are 'id', 'cost' and 'note'.
SELECT 1 FROM People p JOIN Visits v USING (id) JOIN (SELECT 1 AS id, 2 AS ID) x USING (id)
    'x' has several columns 'id' that differ only in case. Give them different names.
SELECT 1 FROM People p CROSS JOIN Visits v JOIN (SELECT 1 AS id) x USING (id)
    'id' is a column of 'p', 'v' and 'x'. Write the table before it: TABLE.COLUMN.
SELECT id FROM People p JOIN Visits v USING (id), (SELECT 1 AS id) x
    'id' is a column of 'p', 'v' and 'x'. Write the table before it: TABLE.COLUMN.
SELECT id FROM Visits WHERE id IN (People)
    There is no column 'People' in 'Visits'. The columns are 'id', 'cost' and 'note'.
SELECT id FROM Visits WHERE id = ANY (People)
    There is no column 'People' in 'Visits'. The columns are 'id', 'cost' and 'note'.
SELECT id FROM People p JOIN Visits v USING (zzz)
    There is no column 'zzz' in 'p'. The columns are 'id', 'name', 'sex', 'age' and 'secret'.
SELECT id FROM Visits LIMIT 5 OFFSET zzz
    There is no column 'zzz' in 'Visits'. The columns are 'id', 'cost' and 'note'.
SELECT v.* EXCLUDE (zzz) FROM Visits v
    There is no column 'zzz' in 'v'. The columns are 'id', 'cost' and 'note'.
SELECT x.* FROM Visits v
    There is no table 'x' in FROM.
SELECT * REPLACE (zzz AS id) FROM Visits
    There is no column 'zzz' in 'Visits'. The columns are 'id', 'cost' and 'note'.
SELECT id FROM (SELECT id AS a, note AS A FROM Visits) x WHERE a = 1
    There is no column 'id' in 'x'. The columns are 'a' and 'A'.
SELECT * FROM (SELECT id AS a, note AS A FROM Visits) x
    * stands for all columns of 'x', which has several columns 'a'.
    Give each a name of its own with AS.
SELECT id FROM Visits a, Visits A
    Two tables are called 'A' in one FROM. Give each a name of its own with AS.
SELECT 1 FROM Visits v JOIN People p USING (id) JOIN Visits w USING (id) WHERE id = 1 AND note = 'a'
    'note' is a column of 'v' and 'w'. Write the table before it: TABLE.COLUMN.
SELECT 1 FROM Visits v, People p JOIN Visits w ON v.zzz = w.id
    There is no column 'zzz' in 'v'. The columns are 'id', 'cost' and 'note'.
SELECT Visit.id FROM Visits
    There is no table 'Visit' in FROM. Did you mean 'Visits'?
SELECT id FROM Visits WHERE "ID " = 1
    There is no column 'ID ' in 'Visits'. The columns are 'id', 'cost' and 'note'.
WITH a AS (SELECT 1 AS x) SELECT y FROM a
    There is no column 'y' in 'a'. The columns are 'x'.
SELECT 1 FROM Visits GROUP BY CUBE (zzz)
    There is no column 'zzz' in 'Visits'. The columns are 'id', 'cost' and 'note'.
SELECT id FROM Visits UNION SELECT id FROM Visits LIMIT (SELECT zzz FROM Visits)
    There is no column 'zzz' in 'Visits'. The columns are 'id', 'cost' and 'note'.
SELECT id AS a FROM Visits ORDER BY Visits.a
    There is no column 'a' in 'Visits'. The columns are 'id', 'cost' and 'note'.
"""
NOT_UNDERSTOOD = """\
SELECT * EXCLUDE (Visits.note) FROM Visits
    EXCLUDE takes column names without a table name.
WITH People AS (SELECT 1) SELECT 1
    WITH reuses 'People', which is the name of a table.
WITH a AS (SELECT 1), A AS (SELECT 2) SELECT 1
    WITH names 'A' twice.
SELECT People FROM People
    'People' is a table; a whole row is not allowed as a value.
SELECT p FROM People p
    'p' is a table; a whole row is not allowed as a value.
SELECT 1 FROM People AS p(a, b)
    Aliases for the columns of a table are not allowed in FROM.
SELECT 1 FROM range(5)
    The function GENERATE_SERIES is not allowed in a query.
SELECT 1 FROM (People) AS p
    A join in parentheses cannot have an alias.
SELECT 1 FROM (People JOIN Visits ON TRUE) AS p
    A join in parentheses cannot have an alias.
SELECT 1 FROM (VALUES (1)) AS p
    VALUES is not allowed in a query.
SELECT sum(*) FROM People
    * is allowed only in the select list and in COUNT(*).
SELECT People.* + 1 FROM People
    * is allowed only in the select list and in COUNT(*).
SELECT count(People.*) FROM People
    * is allowed only in the select list and in COUNT(*).
SELECT 1 WHERE *
    * is allowed only in the select list and in COUNT(*).
SELECT id FROM People WHERE id = People.*
    * is allowed only in the select list and in COUNT(*).
SELECT id AS a FROM People WHERE (id AS b) > 1
    An alias (AS) is allowed only for a whole column of the select list.
SELECT id FROM People SEMI JOIN Visits ON TRUE
    SEMI JOIN is not allowed in a query.
SELECT id FROM People POSITIONAL JOIN Visits
    POSITIONAL JOIN is not allowed in a query.
SELECT id FROM People ASOF JOIN Visits USING (id)
    ASOF JOIN is not allowed in a query.
SELECT id FROM People ANTI JOIN Visits ON TRUE
    ANTI JOIN is not allowed in a query.
SELECT id FROM People LEFT ANTI JOIN Visits ON TRUE
    ANTI JOIN is not allowed in a query.
SELECT read_csv('x') FROM People
    The function READ_CSV is not allowed in a query.
SELECT id::JSON FROM People
    The type 'JSON' is not allowed in a query.
SELECT id::BLOB FROM People
    The type 'VARBINARY' is not allowed in a query.
SELECT id::STRUCT(a INT) FROM People
    The type 'STRUCT' is not allowed in a query.
SELECT id::INT[] FROM People
    The type 'ARRAY' is not allowed in a query.
SELECT CAST(id AS GEOMETRY) FROM People
    The type 'GEOMETRY' is not allowed in a query.
SELECT id FROM People LIMIT 5 PERCENT
    PERCENT is not allowed in LIMIT or FETCH.
SELECT id FROM People TABLESAMPLE 5
    SAMPLE is not allowed in TABLE.
SELECT id FROM People FOR UPDATE
    LOCKS is not allowed in SELECT.
SELECT id INTO x FROM People
    INTO is not allowed in SELECT.
SELECT /*+ FULL(t) */ id FROM People
    Hints to the engine are not allowed in a query.
SELECT [1, 2]
    The function ARRAY is not allowed in a query.
SELECT {'a': 1}
    The function STRUCT is not allowed in a query.
SELECT id FROM main.People
    DB is not allowed in TABLE.
SELECT main.People.id FROM People
    DB is not allowed in COLUMN.
SELECT extract(fortnight FROM age) FROM People
    'FORTNIGHT' is not allowed in a query.
SELECT date_trunc(x, age) FROM People
    'X' is not allowed in a query.
SELECT INTERVAL 5 fortnight
    'FORTNIGHT' is not allowed in a query.
SELECT uuid()
    The function UUID is not allowed in a query.
SELECT FOO(1)
    The function 'FOO' is not allowed in a query.
SELECT current_user
    The function CURRENT_USER is not allowed in a query.
SELECT $1
    PLACEHOLDER is not allowed in a query.
SELECT id FROM People USING SAMPLE 5
    SAMPLE is not allowed in SELECT.
SELECT COLUMNS('a') FROM People
    The function COLUMNS is not allowed in a query.
SELECT a.b.c FROM People a
    DB is not allowed in COLUMN.
SELECT id FROM People PIVOT (sum(id) FOR sex IN ('a'))
    PIVOTS is not allowed in TABLE.
SELECT id FROM People UNPIVOT (a FOR b IN (id))
    PIVOTS is not allowed in TABLE.
SELECT id FROM People LATERAL VIEW explode(x) y
    LATERALS is not allowed in SELECT.
SELECT id FROM People CONNECT BY id = 1
    CONNECT is not allowed in SELECT.
SELECT 1 FROM gamma(5)
    ANONYMOUS is not allowed in FROM. Name a table.
SELECT 1 FROM LATERAL gamma(5)
    LATERAL is not allowed in FROM. Name a table.
SELECT 1 FROM People, LATERAL gamma(5) x
    LATERAL is not allowed in FROM. Name a table.
SELECT 1 FROM now() t
    ANONYMOUS is not allowed in FROM. Name a table.
SELECT 1 FROM abs(5)
    ABS is not allowed in FROM. Name a table.
SELECT count(DISTINCT *) FROM Visits
    * is allowed only in the select list and in COUNT(*).
"""
"""A query, and below it what is said of it."""


def cases():
    """Yield the queries, each with the code of its refusal and the sentences."""
    for code, text in (("Q003", NO_TABLE), ("Q004", NO_COLUMN), ("Q005", NOT_UNDERSTOOD)):
        said = {}
        for line in text.splitlines():
            if not line.startswith(" "):
                said[sql := line] = []
            else:
                said[sql].append(line.strip())
        yield from ((sql, code, " ".join(parts)) for sql, parts in said.items())


def refusal(sql, dialect="duckdb"):
    with pytest.raises(QueryError) as caught:
        read_columns(parse_query(sql, dialect), Tables(catalog()))
    [problem] = caught.value.problems
    return problem


@pytest.mark.parametrize(("sql", "code", "sentences"), [*cases()])
def test_query_is_refused_with_what_it_has(sql, code, sentences):
    problem = refusal(sql)
    assert (problem.code, f"{problem.message} {problem.hint}".rstrip()) == (code, sentences)


NOT_PARSED = "The query cannot be parsed:"
ALLOWED = "is not a query. Allowed is SELECT, with WITH and UNION."
UNICODE = "A query may have at most 100,000 characters, all valid Unicode."
NESTED = "The query is nested too deeply to be understood."
NO_WORD = (
    f"{NOT_PARSED} a part of it is not a keyword, name or literal of SQL. Is a quote left open?"
)


@pytest.mark.parametrize(
    ("sql", "code", "sentences", "place"),
    [
        (
            "SELEC a FROM People",
            "Q001",
            f"{NOT_PARSED} no query begins with 'SELEC'. Did you mean 'SELECT'?",
            (1, 12),
        ),
        (
            "FOO a, b c d",
            "Q001",
            f"{NOT_PARSED} no query begins with 'FOO'. A query begins with 'SELECT' and 'WITH'.",
            (1, 6),
        ),
        (
            "SELECT a\nFRM People",
            "Q001",
            f"{NOT_PARSED} 'People' has no place here. Did you mean 'FROM'?",
            (2, 10),
        ),
        (
            "SELECT a FROM People ORDR BY a",
            "Q001",
            f"{NOT_PARSED} 'BY' has no place here. Did you mean 'ORDER'?",
            (1, 28),
        ),
        ("SELECT a FROM b WHERE )", "Q001", f"{NOT_PARSED} ')' has no place here.", (1, 23)),
        ("SELECT (a FROM People", "Q001", f"{NOT_PARSED} ')' is missing.", (1, 14)),
        ("SELECT 'a FROM People", "Q001", NO_WORD, (0, 0)),
        ("SELEC a", "Q002", f"'SELEC' {ALLOWED} Did you mean 'SELECT'?", (0, 0)),
        ("DELETE FROM People", "Q002", f"'DELETE' {ALLOWED}", (0, 0)),
        ("EXPLAIN SELECT 1", "Q002", f"'EXPLAIN' {ALLOWED}", (0, 0)),
        ("1", "Q002", f"'LITERAL' {ALLOWED}", (0, 0)),
        ("x" * 50, "Q002", f"'{'X' * 40}' {ALLOWED}", (0, 0)),
        (
            "SELECT 1; SELECT 2",
            "Q002",
            "One query is run at a time. 2 statements were given.",
            (0, 0),
        ),
        ("", "Q002", "One query is run at a time. 0 statements were given.", (0, 0)),
        ("SELECT '\0'", "Q001", f"{UNICODE} 10 were given.", (0, 0)),
        ("SELECT '\ud800'", "Q001", f"{UNICODE} 10 were given.", (0, 0)),
        (f"SELECT {' ' * 100_000}1", "Q001", f"{UNICODE} 100,008 were given.", (0, 0)),
        ("(" * 2000 + "1", "Q001", NESTED, (0, 0)),
    ],
    ids=range(18),
)
def test_text_that_is_no_query_is_refused_with_its_place(sql, code, sentences, place):
    problem = refusal(sql)
    assert (problem.code, f"{problem.message} {problem.hint}".rstrip()) == (code, sentences)
    assert (problem.place.line, problem.place.column) == place


def test_syntax_problem_is_of_the_query():
    with pytest.raises(QueryError) as caught:
        parse_query("SELECT )", "duckdb")
    assert caught.value.source == "query"


def test_query_of_as_many_characters_as_are_allowed_is_read():
    assert parse_query("SELECT 1".ljust(100_000), "duckdb").key == "select"


def test_words_that_stand_in_the_query_are_not_suggested():
    problem = refusal("SELECT a FROM People WHERE a = = 1")
    assert (problem.message, problem.hint) == (f"{NOT_PARSED} '=' has no place here.", "")


@pytest.mark.parametrize(
    ("sql", "dialect", "hint"),
    [
        (
            "SELECT Alter FROM People",
            "duckdb",
            "'Alter' is a word of SQL. As the name of a column, ",
        ),
        ("SELECT COUNT(*) FROM b WHERE Alter < 20", "duckdb", 'write "Alter".'),
        ("SELECT AVG(Alter) FROM b", "spark", "write `Alter`."),
        ("SELECT a FROM b WHERE HAVING a > 1", "duckdb", ""),
        ("SELECT a FRM Date", "duckdb", "Did you mean 'FROM'?"),
    ],
)
def test_columns_named_by_words_of_sql_are_to_be_quoted(sql, dialect, hint):
    with pytest.raises(QueryError) as caught:
        parse_query(sql, dialect)
    [problem] = caught.value.problems
    assert hint in problem.hint
    assert bool(hint) == bool(problem.hint)


def test_dialect_that_nobody_knows_is_refused_with_those_that_are():
    problem = refusal("SELECT 1", "cobol")
    known = "The dialect 'cobol' is not known. Known are 'athena', 'bigquery', 'clickhouse',"
    assert problem.code == "Q001"
    assert problem.message.startswith(known)


def test_part_that_a_dialect_has_no_words_for_is_refused():
    tree = parse_query("SELECT quantile(a, 0.5) FROM t", "duckdb")
    with pytest.raises(QueryError, match="Q005 A part of the query cannot be written in trino: "):
        to_sql(tree, "trino")


def test_names_are_written_in_quotes_and_comments_are_not():
    tree = parse_query("SELECT a /* of b */ FROM t -- c", "duckdb")
    assert to_sql(tree, "duckdb") == 'SELECT "a" FROM "t"'
