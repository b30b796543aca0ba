"""Values of one column that are asked for one after the other."""

import numpy as np
import pyarrow as pa
import pytest
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data
from policy_engine.decision.query.checking import told_values

VALUES = ["a"] * 20 + ["b"] * 20 + ["a"] * 12 + ["c"] * 3 + ["a"] * 20 + ["b"] * 20 + ["c"] * 5
REGIONS = ["r"] * 40 + ["s"] * 12 + ["t"] * 48
WITH_A = "SELECT COUNT(*) AS x FROM T WHERE d = 'a' AND region IN ('r', 's')"
OTHERS = [
    "SELECT COUNT(*) AS x FROM T WHERE d = 'b' AND region = 'r'",
    "SELECT AVG(CASE WHEN d = 'b' THEN 1 ELSE 0 END) AS x FROM T WHERE region = 'r'",
    "SELECT COUNT(*) FILTER (WHERE d = 'b') AS x FROM T WHERE region = 'r'",
]


@pytest.fixture
def ask(tmp_path):
    unit = ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/person"})
    policy = policy_with(("pe:outputCheck", "eq", "sacro"), unit)

    def answers(values, *queries):
        persons = np.arange(len(values))
        data = {TABLE: pa.table({"person": persons, "d": values, "region": REGIONS})}
        ledger = tmp_path / "answers"
        return [
            query_data(sql, [policy], RESEARCHER, data, output_ledger=ledger).table.to_pydict()["x"]
            for sql in queries
        ]

    return answers


@pytest.mark.one_in(3)
@pytest.mark.parametrize("other", OTHERS)
def test_that_all_of_a_region_have_a_is_not_told_by_who_else_has_b(ask, other):
    """Of 52 in two regions, 32 have a. If 20 of the 40 in one have b, all twelve of the other one
    have a; c is had in the third one alone."""
    assert ask(VALUES, WITH_A, other) == [[32], [None]]


@pytest.mark.nightly
def test_a_table_of_values_counts_as_those_asked_for_alone(ask):
    table = "SELECT d, COUNT(*) AS x FROM T WHERE region = 'r' GROUP BY d"
    [shown, last] = ask(VALUES, table, WITH_A)
    assert (shown[:2], last) == ([20, 20], [None])


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("most", "shown"), [(128, None), (20, 20)])
def test_of_numbers_as_many_as_may_be_values_limits_count_as_those(ask, monkeypatch, most, shown):
    monkeypatch.setattr(told_values, "MOST_VALUES", most)
    values = [{"a": number, "b": 100, "c": 200}[one] for number, one in enumerate(VALUES)]
    first = "SELECT COUNT(*) AS x FROM T WHERE d < 100 AND region IN ('r', 's')"
    assert ask(values, first, OTHERS[0].replace("'b'", "100")) == [[32], [shown]]
