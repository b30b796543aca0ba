"""The cells of answers, by hand: who of six persons an answer is about."""

import pyarrow as pa
import pytest

from policy_engine.decision.query.cells import answered_queries
from policy_engine.errors import QueryError
from policy_engine.kernels.estimates import NotApplicable

PERSONS = pa.table(
    {
        "age": [20, 20, 30, 30, 40, None],
        "city": ["a", "b", "a", "b", "a", "a"],
        "Pay": [1, 2, 3, 4, 5, 6],
    }
)


def sets_of(sql):
    """Return the columns that cells follow from, and the rows of each cell."""
    [found] = answered_queries(sql, PERSONS, ["age", "city"])
    cells = found.cells.tolist()
    numbers = dict.fromkeys(one for one in cells if one >= 0)
    return found.columns, [[row for row, one in enumerate(cells) if one == n] for n in numbers]


CELLS = [
    ("SELECT avg(Pay) FROM people WHERE age < 40", ("age",), [[0, 1, 2, 3]]),
    ("SELECT count(*) FROM t", (), [[0, 1, 2, 3, 4, 5]]),
    ("SELECT count(*) FROM t WHERE age > 90", ("age",), []),
    ("SELECT city, sum(Pay) FROM t GROUP BY city", ("city",), [[0, 2, 4, 5], [1, 3]]),
    (
        "SELECT p.age AS a, sum(pay) FROM x AS p WHERE p.city = 'a' GROUP BY 1",
        ("age", "city"),
        [[0], [2], [4], [5]],
    ),
    ("SELECT age // 20 AS band, max(Pay) FROM t GROUP BY band", ("age",), [[0, 1, 2, 3], [4], [5]]),
    ("SELECT city, mad(Pay) FROM t GROUP BY ALL", ("city",), [[0, 2, 4, 5], [1, 3]]),
    # Groups that are left out are not shown, whatever that depends on.
    ("SELECT age, sum(Pay) FROM t GROUP BY age HAVING sum(Pay) > 6", ("age",), [[2, 3]]),
    # Published rows are found by what is known of them; order and number of rows do not matter.
    ("SELECT * FROM t WHERE city = 'b' ORDER BY Pay LIMIT 1", ("age", "city"), [[1], [3]]),
    (
        "SELECT Pay, city, row_number() OVER (ORDER BY age) FROM t",
        ("city",),
        [[0, 2, 4, 5], [1, 3]],
    ),
    ("SELECT DISTINCT Pay FROM t WHERE age = 20", ("age",), [[0, 1]]),
]


@pytest.mark.parametrize(("sql", "columns", "sets"), CELLS)
def test_cells_are_the_sets_of_rows_that_an_answer_is_about(sql, columns, sets):
    assert sets_of(sql) == (columns, sets)


UNKNOWN = "it depends on 'Pay', which the intruder does not know"
WITHIN = "it has a condition within an aggregate: give it as a query with WHERE"
NOT_USED = {
    "SELECT count(*) FROM t WHERE Pay > 3": UNKNOWN,
    "SELECT count(*) FROM t GROUP BY city, pay": UNKNOWN,
    "SELECT count(*) FILTER (WHERE age = 20) FROM t": WITHIN,
    "SELECT sum(CASE WHEN age = 20 THEN Pay END) FROM t": WITHIN,
}


@pytest.mark.parametrize(("sql", "reason"), NOT_USED.items())
def test_answers_about_rows_that_nobody_can_tell_have_no_cells(sql, reason):
    [found] = answered_queries(sql, PERSONS, ["age", "city"])
    assert found.cells == NotApplicable(reason=reason)


def test_queries_are_separated_by_semicolons_outside_texts_and_comments():
    sql = "-- one; two\nSELECT count(*) FROM t;; /* ; */ SELECT Pay FROM t WHERE city = ';';\n--\n"
    first, second = answered_queries(sql, PERSONS, ["city"])
    assert (first.number, second.number) == (1, 2)
    assert set(second.cells.tolist()) == {-1}


def test_a_column_may_be_called_like_the_number_of_a_row():
    [found] = answered_queries("SELECT ROW FROM t", pa.table({"Row": [7, 7, 8]}), ["Row"])
    assert found.cells[0] == found.cells[1] != found.cells[2]


REFUSED = {
    "SELEC 1": "Q001",
    "DROP TABLE t": "Q002",
    "SELECT agee FROM t": "Q004",
    "SELECT a.age FROM t AS a, t AS b": "Q005",
    "SELECT age FROM t WHERE age = (SELECT 20)": "Q005",
    "SELECT 1": "Q005",
    "SELECT count(*) FROM t GROUP BY ROLLUP (age, city)": "Q005",
    "SELECT * FROM t WHERE age = year(today())": "Q005",
    "SELECT CAST(city AS INTEGER), count(*) FROM t GROUP BY 1": "Q008",
}


@pytest.mark.parametrize(("sql", "code"), REFUSED.items())
def test_a_query_that_is_not_understood_is_refused_by_its_number(sql, code):
    with pytest.raises(QueryError, match=f"{code} Query 2: "):
        answered_queries(f"SELECT count(*) FROM t; {sql}", PERSONS, ["age", "city"])


def test_every_query_that_is_not_understood_is_told_with_its_line():
    with pytest.raises(QueryError) as told:
        answered_queries(
            "SELECT x FROM t;\nSELECT age FROM t\nWHERE (", PERSONS, ["age"], "log.sql"
        )
    first, second = told.value.problems
    assert (first.code, second.code, second.place.line) == ("Q004", "Q001", 3)
    assert str(told.value).startswith("log.sql")


def test_a_quote_that_is_left_open_is_no_query():
    with pytest.raises(QueryError, match="Q001"):
        answered_queries("SELECT 'age FROM t", PERSONS, ["age"])


@pytest.mark.parametrize("sql", ["", " ;;\n;", "-- none"])
def test_no_query_at_all_is_told(sql):
    with pytest.raises(QueryError, match="Q002 There is no query that was answered"):
        answered_queries(sql, PERSONS, ["age"])
