"""Totals of columns with negative values go to a person, whoever's those are."""

import pyarrow as pa
import pytest
from output_checked import RESEARCHER, TABLE, policy_with

from policy_engine.api.deciding import query_data

UNIT = ("pe:privacyUnit", "eq", {"@id": f"{TABLE}/id"})
POLICY = policy_with(("pe:outputCheck", "eq", "dwb-2015"), UNIT)
CHOSEN = "SELECT SUM(gain) AS s, AVG(gain) AS m, COUNT(*) AS n FROM T WHERE id < 40"


def codes_of(gains, sql, folder):
    table = pa.table({"id": range(120), "half": [n % 2 for n in range(120)], "gain": gains})
    answer = query_data(sql, [POLICY], RESEARCHER, {TABLE: table}, output_ledger=folder / "outputs")
    return [(cell.row, cell.column, cell.codes) for cell in answer.checked.suppressed]


@pytest.mark.parametrize("gain", [-11.5, 11.5])
def test_what_is_told_does_not_tell_the_sign_of_a_chosen_person(tmp_path, gain):
    gains = [10.0 + n for n in range(119)] + [-3.0]
    gains[7] = gain
    assert codes_of(gains, CHOSEN, tmp_path) == [(0, "s", ("K007",)), (0, "m", ("K007",))]


def test_groups_without_negative_values_are_for_a_person_as_the_others_are(tmp_path):
    gains = [10.0 + n for n in range(119)] + [-3.0]
    sql = "SELECT half, SUM(gain) AS s FROM T GROUP BY half"
    assert codes_of(gains, sql, tmp_path) == [(0, "s", ("K007",)), (1, "s", ("K007",))]


def test_totals_of_what_is_never_negative_are_shown(tmp_path):
    assert codes_of([10.0 + n for n in range(120)], CHOSEN, tmp_path) == []
