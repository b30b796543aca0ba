"""Numbers of persons beside figures of rows, of which persons have several."""

from itertools import count

import numpy as np
import pyarrow as pa
import pytest
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data

CHECK = (
    ("pe:outputCheck", "eq", "dwb-2015"),
    ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/id"}),
)
SIZES = {("north", "a"): 40, ("north", "b"): 5, ("south", "a"): 40, ("south", "b"): 30}
PERSONS = "SELECT region, kind, COUNT(DISTINCT id) AS n FROM T GROUP BY region, kind"


def stays(times):
    """Return the stays of persons by region and kind: of the north and b, there are five."""
    persons = [key for key, size in SIZES.items() for _ in range(size)]
    rows = [(number, *key, day) for number, key in enumerate(persons) for day in range(times)]
    names = ("id", "region", "kind", "day")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    return pa.table(columns | {"pay": [100 + number % 37 for number in range(len(rows))]})


@pytest.fixture
def ask(tmp_path):
    numbers = count()

    def answers(table, *queries):
        ledger = tmp_path / f"outputs-{next(numbers)}"
        return [
            query_data(sql, [policy_with(*CHECK)], RESEARCHER, {TABLE: table}, output_ledger=ledger)
            for sql in queries
        ][-1].table.to_pydict()

    return answers


@pytest.mark.nightly
def test_who_knows_numbers_of_persons_does_not_know_those_of_rows(ask):
    sql = "SELECT region, AVG(pay) AS pay FROM T GROUP BY region"
    pay = ask(stays(3), PERSONS, sql)
    assert None not in pay["pay"]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("asked", ["COUNT(*)", "AVG(pay)", "COUNT(DISTINCT id)"])
def test_persons_with_one_row_each_are_as_many_as_their_rows(ask, asked):
    sql = f"SELECT region, {asked} AS x FROM T GROUP BY region"
    assert ask(stays(1), PERSONS, sql)["x"][0] is None


def test_totals_of_persons_tell_the_number_of_few(ask):
    sql = "SELECT region, COUNT(DISTINCT id) AS n FROM T GROUP BY region"
    # Of the south, another count is withheld that would tell the few by the number of all persons.
    assert ask(stays(3), PERSONS, sql)["n"] == [None, None]
    assert ask(stays(3), sql)["n"] == [45, 70]


ILL = "WHERE ill"
PERSONS_ILL = f"SELECT COUNT(DISTINCT id) AS x FROM T {ILL}"
TOLD_ROWS = [
    "SELECT AVG(CASE WHEN ill THEN 1 ELSE 0 END) AS x FROM T",
    "SELECT COUNT(*) FILTER (WHERE ill) AS x FROM T",
    "SELECT COUNT(*) AS x FROM T WHERE NOT ill",
    "SELECT SUM(CASE WHEN ill THEN 1 ELSE 0 END) AS x FROM T",
]
FEW = ("pe:minUnits", "eq", 3)


def visits(sizes, ill):
    """Return the visits of persons, of each of whom so many are ill."""
    rows = [
        (number, visit, visit < some)
        for number, (size, some) in enumerate(zip(sizes, ill, strict=True))
        for visit in range(size)
    ]
    return pa.table(
        dict(zip(("id", "visit", "ill"), map(list, zip(*rows, strict=True)), strict=True))
    )


@pytest.fixture
def ask_ill(tmp_path):
    policy = policy_with(("pe:outputCheck", "eq", "bundesbank"), CHECK[1], FEW)

    def answers(table, *queries):
        data, ledger = {TABLE: table}, tmp_path / "answers"
        return [
            query_data(sql, [policy], RESEARCHER, data, output_ledger=ledger).table.to_pydict()
            for sql in queries
        ]

    return answers


@pytest.mark.one_in(4)
@pytest.mark.parametrize("rows", TOLD_ROWS)
def test_eleven_persons_ill_in_27_rows_are_not_told_with_these(ask_ill, rows):
    """Of 23 persons, four have five rows each. No eleven of them have more than 27 rows together:
    all rows of the four would be known to be of the ill."""
    table = visits([5] * 4 + [1] * 19, [5] * 4 + [1] * 7 + [0] * 12)
    assert ask_ill(table, PERSONS_ILL, rows) == [{"x": [11]}, {"x": [None]}]


def test_a_share_of_rows_is_not_followed_by_how_many_persons_they_are_of(ask_ill):
    table = visits([5] * 4 + [1] * 19, [5] * 4 + [1] * 7 + [0] * 12)
    share, persons = ask_ill(table, TOLD_ROWS[0], PERSONS_ILL)
    assert (share["x"], persons["x"]) == ([pytest.approx(27 / 39)], [None])


@pytest.mark.one_in(4)
@pytest.mark.parametrize("rows", TOLD_ROWS)
def test_eleven_persons_ill_in_19_rows_may_be_any(ask_ill, rows):
    """If one of the four is not among them, eleven have 23 rows."""
    table = visits([5] * 4 + [1] * 19, [3] * 4 + [1] * 7 + [0] * 12)
    assert None not in [one["x"][0] for one in ask_ill(table, PERSONS_ILL, rows)]


ROWS_ILL = "SELECT COUNT(*) AS x FROM T WHERE ill"
ROWS_WELL = "SELECT COUNT(*) AS x FROM T WHERE NOT ill"


@pytest.mark.one_in(8)
@pytest.mark.parametrize("rows", [ROWS_ILL, ROWS_WELL, *TOLD_ROWS[:2]])
@pytest.mark.parametrize("ill", [20, 0])
def test_the_rows_of_who_has_many_are_not_told_by_one_number(ask_ill, rows, ill):
    """Of 50 rows, 20 are of one person: if 40 are of the ill, ten of his are, and if 20 are and 30
    are not, he may have any."""
    told = visits(
        [20] + [1] * 30, [ill] + [1] * 20 + [0] * 10 if ill else [0] + [1] * 10 + [0] * 20
    )
    assert ask_ill(told, rows)[0]["x"] == [None]


def test_where_nobody_has_half_of_the_rows_one_number_is_told(ask_ill):
    table = visits([20] + [1] * 60, [10] + [1] * 30 + [0] * 30)
    assert ask_ill(table, ROWS_ILL)[0]["x"] == [40]


def test_who_has_several_rows_is_not_told_to_have_others_by_persons_and_rows(ask_ill):
    """15 persons have 15 rows in which they are not ill: then nobody has more than one, and of
    three rows each, everybody is ill in two."""
    persons = "SELECT COUNT(DISTINCT id) AS x FROM T WHERE NOT ill"
    table = visits([3] * 30, [2] * 15 + [3] * 15)
    assert [one["x"] for one in ask_ill(table, persons, ROWS_WELL)] == [[15], [None]]


def test_persons_and_rows_are_told_where_anybody_may_have_all_of_his(ask_ill):
    persons = "SELECT COUNT(DISTINCT id) AS x FROM T WHERE NOT ill"
    table = visits([3] * 30, [0] * 2 + [2] * 13 + [3] * 15)
    assert [one["x"] for one in ask_ill(table, persons, ROWS_WELL)] == [[15], [19]]


def test_persons_with_one_row_in_each_year_are_told_with_their_rows_by_year(ask_ill):
    """That somebody has a row that is not of a year is told: it may be of any other one."""
    rows = [(number, visit) for number in range(40) for visit in range(6) if (number + visit) % 3]
    table = pa.table(dict(zip(("id", "visit"), map(list, zip(*rows, strict=True)), strict=True)))
    sql = "SELECT visit, COUNT(*) AS n, COUNT(DISTINCT id) AS x FROM T GROUP BY visit"
    [shown] = ask_ill(table, sql)
    assert shown["n"] == shown["x"] == [26, 27, 27, 26, 27, 27]


def test_persons_and_rows_of_whole_persons_do_not_tell_that_none_has_many(ask_ill):
    """Whoever is ill is so in all rows: with five rows, eleven persons have 15 at least."""
    alike = visits([1] * 12 + [5] * 4 + [1] * 19, [1] * 12 + [0] * 4 + [0] * 19)
    rows = "SELECT COUNT(*) AS x FROM T WHERE ill"
    assert ask_ill(alike, PERSONS_ILL, rows)[1] == {"x": [None]}


def test_persons_with_the_key_and_their_rows_are_not_both_told(ask_ill):
    table = visits([5] * 4 + [1] * 19, [5] * 4 + [1] * 7 + [0] * 12)
    sql = "SELECT ill, COUNT(*) AS n, COUNT(DISTINCT id) AS x FROM T GROUP BY ill"
    [shown] = ask_ill(table, sql)
    assert not any(n and x for n, x in zip(shown["n"], shown["x"], strict=True))


@pytest.mark.nightly
def test_persons_and_rows_of_parts_are_judged_by_what_they_differ_by(ask_ill):
    """Ill are eleven of the first 19 persons, in 27 rows, and five of 11 others with one row."""
    table = visits([5] * 4 + [1] * 26, [5] * 4 + [1] * 7 + [0] * 8 + [1] * 5 + [0] * 6)
    last = "SELECT COUNT(DISTINCT id) AS x FROM T WHERE ill AND id >= 19"
    first = "SELECT COUNT(*) FILTER (WHERE ill) AS x FROM T WHERE id < 19"
    assert ask_ill(table, PERSONS_ILL, last, first) == [{"x": [16]}, {"x": [5]}, {"x": [None]}]


@pytest.mark.nightly
def test_of_many_persons_with_few_rows_both_are_told(ask_ill):
    draws = np.random.default_rng(1)
    sizes = draws.integers(1, 6, 120)
    table = visits(sizes, draws.binomial(sizes, 0.4))
    sql = "SELECT ill, COUNT(*) AS n, COUNT(DISTINCT id) AS x FROM T GROUP BY ill"
    [keyed, *others] = ask_ill(table, sql, PERSONS_ILL, *TOLD_ROWS)
    assert None not in keyed["n"] + keyed["x"] + [one["x"][0] for one in others]


def regions(both):
    """Return the visits of 40 persons of n, all of whom are ill at one, and so many are not at
    another; and of 80 of s with up to three, half of which they are ill at."""
    sizes = [1 + (number < both) for number in range(40)] + [1 + number % 3 for number in range(80)]
    rows = [
        (
            number,
            "n" if number < 40 else "s",
            not visit if number < 40 else (number + visit) % 2 == 0,
        )
        for number, size in enumerate(sizes)
        for visit in range(size)
    ]
    return pa.table(
        dict(zip(("id", "region", "ill"), map(list, zip(*rows, strict=True)), strict=True))
    )


BY_ILL = "SELECT ill, COUNT(DISTINCT id) AS x FROM T {} GROUP BY ill"
ILL_IN = "SELECT COUNT(DISTINCT id) AS x FROM T WHERE ill {}"


@pytest.mark.one_in(4)
@pytest.mark.parametrize("both", [20, 40])
@pytest.mark.parametrize(
    ("first", "second"),
    [(BY_ILL, BY_ILL), (ILL_IN, ILL_IN), (BY_ILL, ILL_IN), (ILL_IN, BY_ILL)],
)
def test_that_all_of_a_region_are_ill_is_not_told_by_what_two_numbers_differ_by(
    ask_ill, first, second, both
):
    word = "AND" if second == ILL_IN else "WHERE"
    whole, part = ask_ill(regions(both), first.format(""), second.format(f"{word} region = 's'"))
    assert None in (whole["x"][-1], part["x"][-1])


def test_what_two_numbers_of_rows_differ_by_are_not_nearly_all(ask_ill):
    """Of 40 persons of n, 39 are ill."""
    table = pa.table(
        {
            "id": range(140),
            "region": ["n"] * 40 + ["s"] * 100,
            "ill": [True] * 39 + [False] + [number % 7 < 4 for number in range(100)],
        }
    )
    asked = ROWS_ILL, f"{ROWS_ILL} AND region = 's'"
    assert [one["x"] for one in ask_ill(table, *asked)][1] == [None]


def test_who_has_too_many_rows_for_two_values_is_not_told_to_have_the_third(ask_ill):
    """Nobody has two values, and somebody has 20 rows: 19 are of a, 19 of c and 41 of b."""
    values = ["b"] * 20 + ["a"] * 19 + ["b"] * 21 + ["c"] * 19
    table = pa.table({"id": [0] * 20 + [*range(1, 60)], "kind": values})
    [shown] = ask_ill(table, "SELECT kind, COUNT(*) AS x FROM T GROUP BY kind")
    assert shown["x"] == [None, 41, None]


WITH_KIND = "SELECT COUNT(DISTINCT id) AS x FROM T WHERE kind = '{}' AND region = 'n'"
BY_KIND = "SELECT kind, COUNT(DISTINCT id) AS x FROM T WHERE region = 'n' GROUP BY kind"


def kinds(first):
    """Return persons of the north, one with three rows and 39 with one, and 90 of the south."""
    north = [*first, *"a" * 12, *"b" * 14, *"c" * 13]
    ids = [0] * 3 + [*range(1, 40)]
    values = north + ["a", "b", "c"] * 30
    regions = ["n"] * len(north) + ["s"] * 90
    return pa.table({"id": [*ids, *range(40, 130)], "kind": values, "region": regions})


@pytest.mark.nightly
@pytest.mark.one_in(2)
@pytest.mark.parametrize("queries", [[WITH_KIND.format(one) for one in "abc"], [BY_KIND]])
def test_who_alone_has_three_rows_is_not_told_to_have_three_kinds(ask, queries):
    """Of 40 persons, 13, 15 and 14 have a, b and c: two more than there are."""
    assert None in ask(kinds("abc"), *queries)["x"]
    assert None not in ask(kinds("abb"), *queries)["x"]
