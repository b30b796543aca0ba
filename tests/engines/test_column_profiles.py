import pyarrow as pa
import pytest

from policy_engine.engines.column_profiles import generalised_levels, profile_columns
from policy_engine.errors import DataError
from policy_engine.methods.columns import QuasiIdentifier

NUMBERS = pa.table({"age": [1, 2, 3, 3]})


def test_the_largest_groups_come_first():
    levels = generalised_levels(NUMBERS, QuasiIdentifier(name="age"))
    assert [(one.label, one.rows) for one in levels[0].groups] == [("3", 2), ("1", 1), ("2", 1)]
    assert (levels[-1].group_count, levels[-1].largest) == (1, 4)


def test_a_column_without_rows_has_no_levels():
    assert generalised_levels(NUMBERS[:0], QuasiIdentifier(name="age")) == ()


def test_levels_of_a_taxonomy_need_one():
    column = QuasiIdentifier(name="age", generalization="taxonomy")
    with pytest.raises(DataError, match="T011"):
        generalised_levels(NUMBERS, column)


def test_numbers_that_are_seldom_the_same_are_no_identifiers():
    [profile] = profile_columns(pa.table({"weight": [n / 7 for n in range(100)]}))
    assert profile.role.value == "other"
