"""A mean of a yes or no is a fraction: it tells how many say either, too."""

import pyarrow as pa
import pytest
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data

CHECK = (
    ("pe:outputCheck", "eq", "sacro"),
    ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/id"}),
)
IS_ILL = "CASE WHEN ill AND id < 60 THEN 1 ELSE 0 END"
CHOSEN = "id = 10 OR ill OR id >= 60"
"""All of whom are ill or known to be in it, but for one."""


def people(is_ill):
    """Return 120 persons of whom two thirds are ill; of number 10, it `is_ill`."""
    ill = [n % 3 != 0 for n in range(120)]
    ill[10] = bool(is_ill)
    return pa.table({"id": range(120), "half": [n % 2 for n in range(120)], "ill": ill})


@pytest.fixture
def figures(tmp_path):
    """Return a function that gives the figures of the answers to queries, with one ledger."""

    def answers(name, is_ill, *queries):
        given = [
            query_data(
                sql,
                [policy_with(*CHECK)],
                RESEARCHER,
                {TABLE: people(is_ill)},
                output_ledger=tmp_path / name,
            )
            for sql in queries
        ]
        return [list(row.values()) for one in given for row in one.table.to_pylist()]

    return answers


TWO = (
    [f"SELECT SUM({IS_ILL}) AS s, AVG({IS_ILL}) AS a FROM T WHERE {CHOSEN}"],
    [f"SELECT AVG({IS_ILL}) AS a FROM T WHERE {CHOSEN}", "SELECT COUNT(*) FROM T WHERE ill"],
    ["SELECT COUNT(*) FROM T WHERE ill", f"SELECT AVG({IS_ILL}) AS a FROM T WHERE {CHOSEN}"],
    [f"SELECT AVG(ill AND id < 60) FILTER (WHERE {CHOSEN}) AS a, COUNT_IF(ill) AS n FROM T"],
)


@pytest.mark.nightly
@pytest.mark.parametrize("queries", TWO)
def test_a_mean_and_its_numerator_do_not_tell_of_one_person(figures, queries):
    worlds = [figures(str(is_ill), is_ill, *queries) for is_ill in (True, False)]
    shown = [[[one is not None for one in row] for row in rows] for rows in worlds]
    assert shown[0] == shown[1]
    assert sum(one for row in shown[0] for one in row) == 1


@pytest.mark.nightly
def test_whether_all_in_a_mean_say_yes_is_not_told(figures):
    sql = "SELECT AVG(CASE WHEN ill THEN 1 ELSE 0 END) AS a FROM T WHERE id = 10 OR ill"
    assert [figures(str(one), one, sql) for one in (True, False)] == [[[None]], [[None]]]


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT AVG(ill = TRUE) AS a FROM T",
        "SELECT half, AVG(ill = TRUE) AS a, COUNT(*) AS n FROM T GROUP BY half",
        "SELECT AVG(CASE WHEN ill THEN 1 ELSE 0 END) AS a FROM T WHERE id < 60",
        "SELECT AVG(ill AND half = 1) AS a, SUM(ill AND half = 1) AS s FROM T WHERE id > 39",
        "SELECT AVG(NOT ill OR half = 1) AS a FROM T",
    ],
)
def test_means_of_ordinary_questions_are_shown(figures, sql):
    assert all(one is not None for row in figures("l", 1, sql) for one in row)
