"""Answers about the same rows under other conditions are as those about a few others."""

import pyarrow as pa
import pytest
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data

CHECK = ("pe:outputCheck", "eq", "dwb-2015")
UNIT = ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/id"})


def patients(ill):
    """Return 120 persons, every third of whom is ill, but for person 30, who is as given."""
    numbers = range(120)
    columns = {
        "id": list(numbers),
        "region": ["north" if number % 2 else "south" for number in numbers],
        "code": [number % 2 for number in numbers],
        "age": [20 + number % 50 for number in numbers],
        "pay": [1000.0 + number for number in numbers],
        "ill": [ill if number == 30 else number % 3 == 0 for number in numbers],
    }
    return pa.table(columns)


@pytest.fixture
def ask(tmp_path):
    """Return a function that answers queries one after another, person 30 being ill or not."""

    def answers(*queries, ill=True, shared=""):
        ledger, policy = tmp_path / f"outputs-{ill}{shared}", policy_with(CHECK, UNIT)
        table = patients(ill)
        return [
            query_data(sql, [policy], RESEARCHER, {TABLE: table}, output_ledger=ledger)
            for sql in queries
        ]

    return answers


def seen(results):
    return [
        (
            one.permitted,
            one.checked.outcome,
            one.checked.codes,
            [(cell.row, cell.column) for cell in one.checked.suppressed],
        )
        for one in results
    ]


def codes(result):
    return {reason.value for cell in result.checked.judged.cells() for reason in cell.reasons}


COUNT = "SELECT COUNT(*) AS n FROM T WHERE"
PAIRS = {
    "with and without a person": (
        f"{COUNT} ill AND id < 60",
        f"{COUNT} ill AND id < 60 AND id <> 30",
    ),
    "other ends": (f"{COUNT} ill AND id >= 30", f"{COUNT} ill AND id > 30"),
    "total and count": (
        "SELECT AVG(pay) AS m FROM T WHERE ill AND id >= 30",
        "SELECT COUNT(*) AS n, SUM(pay) AS s FROM T WHERE ill AND id > 30",
    ),
    "by a key": (
        f"{COUNT} ill AND id >= 30",
        "SELECT ill, COUNT(*) FROM T WHERE id > 30 GROUP BY ill",
    ),
    "by a filter": (
        "SELECT COUNT(*) FILTER (WHERE ill) AS n FROM T WHERE id >= 30",
        "SELECT COUNT(*) FILTER (WHERE ill) AS n FROM T WHERE id > 30",
    ),
    "by a subquery": (
        f"{COUNT} ill AND id >= 30",
        "SELECT COUNT(*) AS n FROM (SELECT ill AND id > 30 AS f FROM T) AS s WHERE f",
    ),
    "in one answer": (
        "SELECT COUNT_IF(ill AND id >= 30) AS n, COUNT_IF(ill AND id > 30) AS m FROM T",
    ),
}


@pytest.mark.one_in(20)
@pytest.mark.parametrize("queries", PAIRS.values(), ids=PAIRS)
@pytest.mark.parametrize("order", [1, -1])
def test_answers_with_and_without_a_person_do_not_tell_of_the_person(ask, queries, order):
    results = [ask(*queries[::order], ill=ill) for ill in (True, False)]
    assert seen(results[0]) == seen(results[1])
    assert results[0][0].permitted
    assert codes(results[1][-1]) & {"K041", "K042"}


REPEATED = [
    f"{COUNT} region = 'north' AND age < 45",
    f"{COUNT} age < 45 AND 'north' = region",
    f"{COUNT} NOT (age >= 45 OR region <> 'north')",
    f"{COUNT} T.age < 45 AND T.region = 'north'",
    "SELECT COUNT(*) AS n FROM (SELECT * FROM T WHERE age < 45) AS s WHERE region = 'north'",
]


@pytest.mark.one_in(8)
@pytest.mark.parametrize("sql", REPEATED)
def test_same_condition_in_other_words_is_free(ask, sql):
    first, again = ask(REPEATED[0], sql)
    assert again.permitted
    assert again.table.to_pylist() == first.table.to_pylist()


def test_key_is_the_condition_that_it_has_its_value(ask):
    first, second, third = ask(
        f"{COUNT} region = 'north'",
        "SELECT region, COUNT(*) AS n, AVG(pay) AS m FROM T GROUP BY region",
        "SELECT COUNT(*) AS n, region FROM T GROUP BY ROLLUP (region)",
    )
    assert first.permitted
    for result in (second, third):
        assert result.checked.suppressed == ()


@pytest.mark.nightly
def test_measures_of_the_same_rows_are_answered_together_and_again(ask):
    sql = "SELECT COUNT(*) AS n, SUM(pay) AS s, AVG(pay) AS m FROM T WHERE ill"
    for result in ask(sql, sql, "SELECT AVG(pay) AS m, COUNT(*) AS n FROM T WHERE ill"):
        assert result.checked.suppressed == ()


def test_other_condition_of_the_same_rows_is_refused(ask):
    """What region a person has is in the code, too, but nothing says that it must be."""
    first, second = ask(f"{COUNT} region = 'north'", f"{COUNT} code = 1")
    assert first.permitted
    assert codes(second) == {"K041"}


@pytest.mark.nightly
def test_ledger_on_disk_keeps_the_conditions(ask):
    [first] = ask(f"{COUNT} ill AND id >= 30", ill=False)
    [second] = ask(f"{COUNT} ill AND id > 30", ill=False)
    [again] = ask(f"{COUNT} ill AND id >= 30", ill=False)
    assert first.permitted
    assert again.permitted
    assert codes(second) == {"K041"}
