"""Queries of columns that follow from others: a ledger compares them."""

import numpy as np
import pyarrow as pa
import pytest
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data

UNIT = ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/person"})
CELLS = {("n", "f"): 30, ("n", "s"): 40, ("s", "f"): 6, ("s", "s"): 38, ("w", "f"): 25,
         ("w", "s"): 33}  # fmt: skip
BOTH = "region, sector"
DOMINATED = "dwb-2015"


def people():
    """Return 172 persons, six of whom are farmers in the south, and one of whom has much pay."""
    rows = [key for key, count in CELLS.items() for _ in range(count)]
    random, count = np.random.default_rng(0), len(rows)
    age, pay = random.integers(18, 66, count), random.lognormal(3, 0.4, count).round(2)
    many, costs = pay.copy(), random.lognormal(6, 0.3, count).round(2)
    many[5] = 50_000.0
    columns = {"age": age, "born": 2026 - age, "pay": pay, "annual": (12 * pay).round(2)}
    columns |= {
        "most": many,
        "gross": many + 100_000,
        "costs": costs,
        "revenue": many + costs,
        "both": pay + costs,
    }
    keys = {"region": [one for one, _ in rows], "sector": [one for _, one in rows]}
    return pa.table({"person": range(count), **keys, **columns})


@pytest.fixture
def ask(tmp_path):
    """Return a function that gives the missing cells, and codes, of totals by some keys."""
    data = people()

    def ask(columns, by="", profile="sacro"):
        shown = ", ".join(f"SUM({name}) AS {name}" if name != "*" else "COUNT(*) AS n"
                          for name in columns.split())  # fmt: skip
        keys = f"{by}, " if by else ""
        sql = f"SELECT {keys}{shown} FROM T" + (f" GROUP BY {by}" if by else "")
        policies = [policy_with(("pe:outputCheck", "eq", profile), UNIT)]
        ledger = tmp_path / f"{profile}.ledger"
        given = query_data(sql, policies, RESEARCHER, {TABLE: data}, output_ledger=ledger)
        names = [name for name in given.table.column_names if name not in ("region", "sector")]
        codes = {one.value for cell in given.checked.verdict.cells() for one in cell.reasons}
        return [given.table[name].null_count for name in names], codes

    return ask


def test_a_column_in_other_units_is_compared_with_earlier_answers(ask):
    assert ask("annual", "region") == ([0], set())
    assert ask("pay", BOTH) == ([2], {"K002", "K041"})


def test_other_columns_are_not(ask):
    assert ask("annual", "region") == ([0], set())
    assert ask("age costs", BOTH)[0] == [1, 1]


def test_totals_of_two_columns_that_add_up_to_a_constant_do_not_tell_a_count(ask):
    assert ask("*") == ([0], set())
    assert ask("age born", BOTH)[0] == [2, 2]


def test_nor_do_those_of_two_queries(ask):
    assert ask("*") == ([0], set())
    assert ask("born", BOTH)[0] == [1]
    assert ask("age", BOTH)[0] == [2]


def test_a_column_that_differs_by_a_constant_does_not_tell_what_dominance_withholds(ask):
    assert ask("most", "region", DOMINATED)[0] == [1]
    assert ask("* gross", "region", DOMINATED)[0] == [0, 1]


def test_a_sum_of_columns_of_which_something_is_withheld_is_left_to_a_person(ask):
    assert ask("most", "region", DOMINATED)[0] == [1]
    assert ask("costs", "region", DOMINATED) == ([0], set())
    missing, codes = ask("revenue", "region", DOMINATED)
    assert (missing, "K046" in codes) == ([3], True)


def test_a_sum_of_columns_of_which_nothing_is_withheld_is_answered(ask):
    for columns in ("pay costs", "both"):
        assert set(ask(columns, "region")[0]) == {0}
