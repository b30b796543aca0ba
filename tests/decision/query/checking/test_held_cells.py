"""Counts, totals and means of those who are ill, of twelve persons, in any words.

Persons 0 to 6 of twelve are ill, and three of six in another region. Whoever knows all but that
must not learn that some others are.
"""

import pytest
from asking_people import MIXED, NOBODY_ELSE, ask

COUNTED = [
    "COUNT(*) FILTER (WHERE ill)",
    "COUNT(*) FILTER (WHERE ill = TRUE)",
    "COUNT(DISTINCT person) FILTER (WHERE ill)",
    "SUM(CASE WHEN ill THEN 1 ELSE 0 END)",
    "AVG(CASE WHEN ill THEN 1 ELSE 0 END)",
    "AVG(pay) FILTER (WHERE ill)",
]


@pytest.mark.one_in(12)
@pytest.mark.parametrize("figure", COUNTED)
@pytest.mark.parametrize(("condition", "count"), [("ill", 10), ("NOT ill", 8)])
def test_two_figures_do_not_tell_that_three_others_are_ill_in_any_words(
    tmp_path, figure, condition, count
):
    first = f"SELECT COUNT(*) FILTER (WHERE {condition}) AS n FROM T"
    assert ask(tmp_path / "l", first)[0] == [{"n": count}]
    rows, reasons = ask(tmp_path / "l", f"SELECT {figure} AS n FROM T WHERE {NOBODY_ELSE}")
    assert (rows, reasons) == ([{"n": None}], {"K045"})


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("rest", "shown", "codes"), [(NOBODY_ELSE, None, {"K045"}), (MIXED, 8, set())]
)
def test_two_conditions_in_where_tell_of_others_only_where_they_are_not_alike(
    tmp_path, rest, shown, codes
):
    ask(tmp_path / "l", "SELECT COUNT(*) AS n FROM T WHERE ill")
    rows, reasons = ask(tmp_path / "l", f"SELECT COUNT(*) AS n FROM T WHERE {rest} AND ill")
    assert (rows, reasons) == ([{"n": shown}], codes)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("rest", "shown"), [(NOBODY_ELSE, None), (MIXED, 8)])
def test_two_figures_of_a_query_are_compared_as_those_of_two(tmp_path, rest, shown):
    figures = f"COUNT(*) FILTER (WHERE ill) AS n, COUNT(*) FILTER (WHERE ill AND {rest}) AS m"
    rows, _ = ask(tmp_path / "l", f"SELECT {figures} FROM T")
    assert rows == [{"n": 10, "m": shown}]


@pytest.mark.nightly
@pytest.mark.parametrize(("rest", "shown"), [(NOBODY_ELSE, None), (MIXED, 11)])
def test_those_of_whom_a_condition_holds_anyway_make_no_difference(tmp_path, rest, shown):
    """It is known who is of the other region, all of whom the condition holds of."""
    ask(tmp_path / "l", "SELECT COUNT(*) AS n FROM T WHERE region = 'a' AND ill")
    second = f"SELECT COUNT(*) AS n FROM T WHERE {rest} AND (ill OR region = 'c')"
    assert ask(tmp_path / "l", second)[0] == [{"n": shown}]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT region, COUNT(*) FILTER (WHERE ill) AS n, COUNT(*) AS m FROM T GROUP BY region",
        "SELECT region, COUNT(*) AS n FROM T WHERE ill GROUP BY ROLLUP (region)",
        "SELECT COUNT(*) AS n FROM T WHERE ill AND pay >= 1014 AND pay < 1070",
        "SELECT ROUND(pay, -2) AS p, COUNT(*) AS n FROM T WHERE pay < 1090 GROUP BY p",
    ],
)
def test_ordinary_questions_are_answered_and_answered_again(tmp_path, sql):
    rows, _ = ask(tmp_path / "l", sql)
    assert all(row["n"] for row in rows)
    assert ask(tmp_path / "l", sql)[0] == rows


def test_parts_of_a_condition_may_be_swapped(tmp_path):
    first, second = "ill AND region = 'a'", "region = 'a' AND ill"
    rows, _ = ask(
        tmp_path / "l", *(f"SELECT COUNT(*) AS n FROM T WHERE {one}" for one in (first, second))
    )
    assert rows == [{"n": 7}]
