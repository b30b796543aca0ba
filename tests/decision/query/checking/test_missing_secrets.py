"""Questions about a yes or no that some have no value of: who has one may be known."""

import pyarrow as pa
import pytest
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data

ILL = [True] * 12 + [number % 2 == 0 for number in range(90)]
"""All of region g are ill, and half of the others."""
REGIONS = ["g"] * 12 + ["h"] * 40 + ["k"] * 50
ILL_OF_TWO = "SELECT COUNT(*) AS x FROM T WHERE ill AND region IN ('g', 'h')"
VALUED = "ill IS NOT NULL"


def people(missing):
    """Return 102 persons, the last of whom have no value."""
    ill = [*ILL[: len(ILL) - missing], *[None] * missing]
    letters = [None if one is None else "b" if not one else "a" for one in ill]
    return pa.table(
        {"person": range(102), "region": REGIONS, "ill": pa.array(ill), "letter": letters}
    )


def visits():
    """Return the visits of twelve persons with five rows, and of 69 with one; all rows of the first
    are of the ill, and twelve of the others have no value."""
    sizes = [5] * 12 + [1] * (21 + 36 + 12)
    ill = [True] * 60 + [True] * 21 + [False] * 36 + [None] * 12
    persons = [number for number, size in enumerate(sizes) for _ in range(size)]
    return pa.table({"person": persons, "visit": range(len(persons)), "ill": pa.array(ill)})


@pytest.fixture
def ask(tmp_path):
    def answers(table, *queries, profile="sacro", least=10):
        unit = ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/person"})
        check = ("pe:outputCheck", "eq", profile)
        policy = policy_with(check, unit, ("pe:minUnits", "eq", least))
        data, ledger = {TABLE: table}, tmp_path / "answers"
        return [
            query_data(sql, [policy], RESEARCHER, data, output_ledger=ledger).table.to_pydict()["x"]
            for sql in queries
        ]

    return answers


OTHERS = [
    "SELECT COUNT(*) AS x FROM T WHERE region = 'h' AND NOT ill",
    "SELECT COUNT(*) AS x FROM T WHERE region = 'h' AND letter <> 'a'",
    "SELECT COUNT(*) AS x FROM T WHERE region = 'h' AND letter = 'b'",
    "SELECT COUNT(*) FILTER (WHERE NOT ill) AS x FROM T WHERE region = 'h'",
    "SELECT AVG(CASE WHEN NOT ill THEN 1 ELSE 0 END) AS x FROM T WHERE region = 'h'",
    f"SELECT AVG(CASE WHEN ill THEN 0 ELSE 1 END) AS x FROM T WHERE region = 'h' AND {VALUED}",
    "SELECT SUM(CASE WHEN letter = 'b' THEN 1 ELSE 0 END) AS x FROM T WHERE region = 'h'",
]


@pytest.mark.one_in(21)
@pytest.mark.parametrize("missing", [0, 1, 12])
@pytest.mark.parametrize("sql", OTHERS)
def test_those_who_are_not_ill_do_not_tell_that_all_others_are(ask, missing, sql):
    """32 of both regions are ill: if 20 of region h are not, 20 are, and all twelve of g."""
    first = ILL_OF_TWO.replace("ill", "letter = 'a'") if "letter" in sql else ILL_OF_TWO
    assert ask(people(missing), first, sql) == [[32], [None]]


@pytest.mark.nightly
@pytest.mark.one_in(3)
@pytest.mark.parametrize("profile", ["bundesbank", "abs", "dwb-2015"])
def test_they_do_not_under_any_profile(ask, profile):
    assert ask(people(1), ILL_OF_TWO, OTHERS[0], profile=profile) == [[32], [None]]


def test_one_missing_value_does_not_let_those_who_are_ill_follow_the_others(ask):
    assert ask(people(1), OTHERS[0], ILL_OF_TWO) == [[20], [None]]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("key", ["ill", "letter"])
def test_a_table_by_the_secret_tells_it_no_more(ask, key):
    first = ILL_OF_TWO if key == "ill" else ILL_OF_TWO.replace("ill", "letter = 'a'")
    sql = f"SELECT {key}, COUNT(*) AS x FROM T WHERE region = 'h' GROUP BY {key}"
    shown = ask(people(1), first, sql)[1]
    assert not any(shown)


def test_those_who_are_not_ill_are_told_where_others_are_mixed(ask):
    """Of region k, some are ill and some are not."""
    both = "SELECT COUNT(*) AS x FROM T WHERE ill AND region IN ('h', 'k')"
    assert ask(people(1), both, OTHERS[0]) == [[45], [20]]


PERSONS_ILL = "SELECT COUNT(DISTINCT person) AS x FROM T WHERE ill"
ROWS_OF_OTHERS = [
    f"SELECT AVG(CASE WHEN NOT ill THEN 1 ELSE 0 END) AS x FROM T WHERE {VALUED}",
    "SELECT COUNT(*) FILTER (WHERE NOT ill) AS x, COUNT(ill) AS y FROM T",
    "SELECT COUNT(*) AS x FROM T WHERE ill = FALSE",
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("rows", ROWS_OF_OTHERS)
def test_rows_that_are_not_of_the_ill_are_not_told_after_persons_who_are(ask, rows):
    """33 persons are ill in 81 rows: all of those who have five."""
    assert ask(visits(), PERSONS_ILL, rows) == [[33], [None]]


@pytest.mark.nightly
def test_persons_who_are_ill_are_not_told_after_the_rows_of_others(ask):
    rows, persons = ask(visits(), ROWS_OF_OTHERS[0], PERSONS_ILL)
    assert (rows, persons) == ([pytest.approx(36 / 117)], [None])


@pytest.mark.parametrize(("others", "shown"), [(0, False), (3, False), (12, True)])
def test_nearly_all_who_have_a_value_may_not_have_the_same_one(ask, others, shown):
    """Of who has a value, 25 have a; 25 have none."""
    letters = ["a"] * 25 + ["b"] * others + [None] * 25
    table = pa.table({"person": range(len(letters)), "letter": letters})
    [counts] = ask(table, "SELECT letter, COUNT(*) AS x FROM T GROUP BY letter", least=5)
    assert (counts[0] == 25) is shown


def test_all_persons_with_a_value_are_not_told_to_be_ill_at_some_visit(ask):
    """Of 80 persons, 20 have no value; the 60 others are ill at a visit, and 25 not at another."""
    ill = [True] * 60 + [False] * 25 + [None] * 20
    table = pa.table({"person": [*range(60), *range(25), *range(60, 80)], "ill": pa.array(ill)})
    sql = "SELECT ill, COUNT(DISTINCT person) AS x FROM T GROUP BY ill ORDER BY ill"
    assert 60 not in ask(table, sql)[0]
