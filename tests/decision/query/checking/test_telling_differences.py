"""The difference of two released totals is judged as a total of its own."""

import numpy as np
import pyarrow as pa
import pytest
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data
from policy_engine.decision.query.checking.telling_differences import ToldDifferences
from policy_engine.methods.output_checks.profiles import PROFILES

CHECKED = (
    ("pe:outputCheck", "eq", "sacro"),
    (
        "pe:privacyUnit",
        "eq",
        {"@id": f"{TABLE}/person"},
    ),
)


@pytest.fixture
def ask(tmp_path):
    def answer(sql, table):
        policies, ledger = [policy_with(*CHECKED)], tmp_path / "outputs"
        return query_data(sql, policies, RESEARCHER, {TABLE: table}, output_ledger=ledger)

    return answer


def earners():
    """Return 100 persons, of the first ten of whom person 7 has nearly all."""
    pay = [5000 if n == 7 else n if n <= 10 else 1000 + n for n in range(1, 101)]
    return pa.table({"person": list(range(1, 101)), "pay": pay})


@pytest.mark.parametrize("figures", ["SUM(pay) AS s", "AVG(pay) AS s, COUNT(*) AS n"])
@pytest.mark.parametrize("first", ["", " WHERE person > 10"])
def test_difference_of_which_one_person_has_nearly_all_is_not_told(ask, figures, first):
    second = " WHERE person > 10" if not first else ""
    assert ask(f"SELECT {figures} FROM T{first}", earners()).permitted
    result = ask(f"SELECT {figures} FROM T{second}", earners())
    assert result.checked.table["s"].to_pylist() == [None]


def test_difference_of_which_nobody_has_much_is_told(ask):
    assert ask("SELECT SUM(pay) AS s FROM T", earners()).permitted
    assert ask("SELECT SUM(pay) AS s FROM T WHERE person <= 80", earners()).permitted


def test_two_totals_of_one_answer_do_not_tell_it_either(ask):
    result = ask("SELECT SUM(pay) AS s, SUM(pay) FILTER (WHERE person > 10) AS t FROM T", earners())
    [row] = result.checked.table.to_pylist()
    assert None in row.values()


def test_rows_of_a_unit_are_added_up_before_they_are_compared():
    units = np.repeat(np.arange(20), [40, *[1] * 19])
    told = ToldDifferences(units, lambda _: np.ones(59), PROFILES["sacro"])
    assert told("sum:pay", np.ones(59, np.bool_))
    assert not told("count", units <= 4)
    assert told("count", units >= 4)
    assert not ToldDifferences(units, lambda _: None, PROFILES["sacro"])("sum:x", units > 4)


@pytest.mark.parametrize("count", ["COUNT(*)", "COUNT(pay)"])
def test_rows_of_one_person_are_no_count_of_rows(ask, count):
    """Person 0 has 500 of 520 rows: their number is nearly that of all."""
    person = [0] * 500 + list(range(1, 21))
    table = pa.table({"person": person, "pay": [1] * 519 + [2]})
    result = ask(f"SELECT {count} AS n FROM T", table)
    assert result.checked.table["n"].to_pylist() == [None]


@pytest.mark.parametrize("count", ["COUNT(*)", "COUNT(pay)"])
def test_rows_of_persons_who_have_as_many_are_counted(ask, count):
    table = pa.table({"person": [n // 3 for n in range(90)], "pay": list(range(90))})
    assert ask(f"SELECT {count} AS n FROM T", table).checked.table["n"].to_pylist() == [90]
