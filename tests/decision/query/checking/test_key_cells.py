"""Tables by who is ill, of twelve persons and six in another region, in any words.

Persons 0 to 6 of twelve are ill, and three of six in another region. Whoever knows all but that
must not learn that some others are.
"""

import pyarrow as pa
import pytest
from asking_people import MIXED, NOBODY_ELSE, PEOPLE, ask

BY_ILL = "SELECT ill, COUNT(*) AS n FROM T GROUP BY ill"


def rest(condition, select="SELECT ill, COUNT(*) AS n", keys="ill"):
    """Return a question about those of whom a condition holds."""
    return f"{select} FROM T WHERE {condition} GROUP BY {keys}"


def test_two_tables_do_not_tell_that_the_three_by_whom_they_differ_are_ill(tmp_path):
    rows, reasons = ask(tmp_path / "l", BY_ILL, rest(NOBODY_ELSE))
    assert [row["n"] for row in rows] == [None, None]
    assert "K045" in reasons


def test_two_tables_are_given_where_those_by_whom_they_differ_are_not_alike(tmp_path):
    rows, reasons = ask(tmp_path / "l", BY_ILL, rest(MIXED))
    assert (rows, reasons) == ([{"ill": False, "n": 6}, {"ill": True, "n": 8}], set())


@pytest.mark.one_in(24)
@pytest.mark.parametrize(
    "first",
    [
        "SELECT COUNT(*) AS n FROM T WHERE ill",
        "SELECT NOT ill AS well, COUNT(*) AS n FROM T GROUP BY well",
        "SELECT region, ill, COUNT(*) AS n FROM T GROUP BY region, ill",
        "SELECT ill, COUNT(DISTINCT person) AS n FROM T GROUP BY ROLLUP (ill)",
    ],
)
@pytest.mark.parametrize(
    "later",
    [
        rest(NOBODY_ELSE),
        rest(f"{NOBODY_ELSE} AND (ill OR pay > 1060)"),
        rest(f"{NOBODY_ELSE} AND ill"),
        rest(NOBODY_ELSE, "SELECT ill, AVG(pay) AS n"),
        rest(NOBODY_ELSE, "SELECT CASE WHEN ill THEN 1 ELSE 0 END AS one, COUNT(*) AS n", "one"),
    ],
)
def test_keys_and_conditions_tell_of_one_secret_in_any_words(tmp_path, first, later):
    shown, _ = ask(tmp_path / "l", first)
    assert any(row["n"] for row in shown)
    rows, reasons = ask(tmp_path / "l", later)
    assert not any(row["n"] for row in rows)
    assert "K045" in reasons


MANY = PEOPLE.append_column("town", pa.array([["x", "y", "z"][n % 3] for n in range(18)]))
BY_TOWN = "SELECT town, COUNT(*) AS n FROM T GROUP BY town"


ORDINARY = [
    (BY_ILL, BY_ILL),
    (BY_ILL, "SELECT ill, COUNT(DISTINCT person) AS n, AVG(pay) AS p FROM T GROUP BY ill"),
    ("SELECT region, ill, COUNT(*) AS n FROM T GROUP BY region, ill", BY_ILL),
    (BY_ILL, "SELECT region, ill, COUNT(*) AS n FROM T GROUP BY CUBE (region, ill)"),
    (rest("pay < 1063"), rest("pay >= 1063"), BY_ILL),
    (BY_TOWN, "SELECT town, ill, COUNT(*) AS n FROM T GROUP BY ROLLUP (town, ill)"),
]


@pytest.mark.one_in(6)
@pytest.mark.parametrize("queries", ORDINARY)
def test_ordinary_tables_are_given_one_after_another(tmp_path, queries):
    for sql in queries:
        rows, _ = ask(tmp_path / "l", sql, table=MANY)
        assert all(row["n"] for row in rows)
