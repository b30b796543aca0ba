"""Numbers of persons, some rows of whom are known: who counts anyway is told nothing of."""

from random import Random

import pyarrow as pa
import pytest
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data

UNIT = ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/id"})
PERSONS = "SELECT COUNT(DISTINCT id) AS n FROM T WHERE"
KNOWN = "(id < 50 AND day = 0)"


def visits(has_one):
    """Return two to four visits each of 80 persons; if number 70 `has_one`, it is for "x"."""
    draw = Random(3)
    rows = [
        (number, day, draw.choice("wxyz"), number % 2)
        for number in range(80)
        for day in range(2 + number % 3)
    ]
    rows = [(n, day, "y", half) if n == 70 else (n, day, d, half) for n, day, d, half in rows]
    if has_one:
        rows = [(n, day, "x" if (n, day) == (70, 1) else d, half) for n, day, d, half in rows]
    return pa.table(dict(zip(("id", "day", "diag", "half"), zip(*rows, strict=True), strict=True)))


@pytest.fixture
def ask(tmp_path):
    """Return a function that gives the figures of the answers to queries, with one ledger."""

    def answers(name, table, *queries, profile="sacro"):
        policy = policy_with(("pe:outputCheck", "eq", profile), UNIT)
        given = [
            query_data(sql, [policy], RESEARCHER, {TABLE: table}, output_ledger=tmp_path / name)
            for sql in queries
        ]
        return [[list(row.values()) for row in one.table.to_pylist()] for one in given]

    return answers


ALONE = (
    f"{PERSONS} {KNOWN} OR (diag = 'x' AND (id < 50 OR id = 70))",
    f"{PERSONS} {KNOWN} OR (diag = 'x' AND day > 0 AND (id < 50 OR id = 70))",
    f"{PERSONS} {KNOWN} OR (diag = 'x' AND day = 1 AND (id < 50 OR id = 70))",
    f"{PERSONS} (day = 0 AND id <> 70) OR diag = 'x'",
    "SELECT COUNT(DISTINCT id) FILTER (WHERE (day = 0 AND id <> 70) OR diag = 'x') AS n FROM T",
)


@pytest.mark.one_in(16)
@pytest.mark.parametrize("profile", ["sacro", "fsrdc"])
@pytest.mark.parametrize("sql", ALONE)
def test_who_counts_by_a_known_row_does_not_hide_one_who_does_not(ask, sql, profile):
    worlds = [ask(str(one), visits(one), sql, profile=profile) for one in (True, False)]
    assert worlds == [[[[None]]], [[[None]]]]


@pytest.mark.nightly
def test_one_secret_of_all_rows_of_persons_who_count_anyway_hides_nobody(ask):
    """Whoever is told by half is in it by one day or the other."""
    both = "(half = 1 AND day = 0) OR (half = 0 AND day = 1)"
    sql = f"{PERSONS} (id < 50 AND ({both})) OR (id BETWEEN 70 AND 72 AND half = 0 AND day = 0)"
    assert ask("l", visits(has_one=True), sql) == [[[None]]]


@pytest.mark.one_in(9)
@pytest.mark.parametrize(
    "sql",
    [
        f"{PERSONS} diag = 'x'",
        f"{PERSONS} diag = 'x' AND id < 60",
        f"{PERSONS} diag IN ('x', 'y') AND day = 0",
        "SELECT half, COUNT(DISTINCT id) AS n FROM T GROUP BY half",
        "SELECT half, COUNT(DISTINCT id) AS n, COUNT(*) AS m FROM T WHERE diag = 'x' GROUP BY half",
        "SELECT COUNT(DISTINCT id) FILTER (WHERE diag = 'x') AS n, COUNT(DISTINCT id) AS m FROM T",
        f"{PERSONS} diag = 'x' AND half = 1",
    ],
)
def test_ordinary_numbers_of_persons_are_shown(ask, sql):
    [rows] = ask("l", visits(has_one=True), sql)
    assert all(one is not None for row in rows for one in row)


# -- several answers


def checkups(of_odd):
    """Return three checkups of 200 persons: "x" once for those of even numbers, and of the odd ones
    for those that `of_odd` says."""
    has_x = [n % 2 == 0 or of_odd(n) for n in range(200)]
    rows = [
        (n, day, "x" if has_x[n] and day == n // 2 % 2 else "y", n // 100)
        for n in range(200)
        for day in range(3)
    ]
    return pa.table(dict(zip(("id", "day", "diag", "half"), zip(*rows, strict=True), strict=True)))


OTHERS = "id NOT IN (" + ", ".join(str(n) for n in range(1, 200, 2) if n % 100 < 48) + ")"
BY_HALF = "SELECT half, COUNT(DISTINCT id) AS n FROM T WHERE diag = 'x' AND {} GROUP BY half"


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("of_odd", "is_shown"), [(lambda n: n % 100 < 48, False), (lambda n: n % 4 == 1, True)]
)
def test_that_enough_persons_are_all_alike_does_not_follow_from_two_numbers(ask, of_odd, is_shown):
    first, second = ask(
        "l", checkups(of_odd), f"{PERSONS} diag = 'x'", f"{PERSONS} diag = 'x' AND {OTHERS}"
    )
    assert first[0][0] is not None
    assert (second[0][0] is not None) == is_shown


@pytest.mark.nightly
@pytest.mark.parametrize("of_odd", [lambda n: n % 100 < 48, lambda n: n % 4 == 1])
def test_nor_from_two_tables_by_what_all_rows_of_a_person_have(ask, of_odd):
    tables = ask("l", checkups(of_odd), BY_HALF.format("TRUE"), BY_HALF.format(OTHERS))
    shown = [[number is not None for _, number in rows] for rows in tables]
    assert shown == [[True, True], [not of_odd(47)] * 2]
