"""Which tables may be given to be checked."""

import pytest

from policy_engine.api.checking_outputs import check_tables
from policy_engine.errors import PolicyEngineError


def test_one_table_is_given_by_its_path_and_none_is_refused(tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text("region,n\nA,30\nB,40\n")
    assert check_tables(path, profile="sacro", kind="counts").is_released
    assert check_tables(str(path), profile="sacro", kind="counts").is_released
    for tables in ([], None, 5):
        with pytest.raises(PolicyEngineError, match=r"K025|U002"):
            check_tables(tables, profile="sacro")


def test_a_table_that_may_have_totals_by_which_blanks_follow_is_for_a_person(tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text("region,men,women,persons\nnorth,.,40,46\nsouth,30,.,37\nwest,20,.,28\n")
    [output] = check_tables(path, profile="dwb-2015", kind="counts").outputs
    assert output.status != "released"
    assert "K021" in output.reasons
    path.write_text("region,men,women,old\nnorth,.,40,16\nsouth,30,.,37\nwest,20,.,28\n")
    [output] = check_tables(path, profile="dwb-2015", kind="counts").outputs
    assert output.status == "released"
