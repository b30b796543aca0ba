import pyarrow as pa
import pytest

from policy_engine.api.profiling import preview_generalisation, profile_table
from policy_engine.engines.column_profiles import ColumnRole
from policy_engine.errors import DataError
from policy_engine.methods.columns import QuasiIdentifier

ROWS = "patientNr,email,ZIP,birth_date,diagnosis,visits,note\n" + "".join(
    f"p{n},x,{20100 + n % 4},1980-01-{1 + n % 28:02},{'flu' if n % 2 else 'cold'},{n % 3},\n"
    for n in range(40)
)


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "visits.csv"
    file.write_text(ROWS)
    return file


def test_roles_are_proposed_by_names_and_by_values(path):
    profiles = {one.name: one for one in profile_table(path)}
    roles = {name: one.role.value for name, one in profiles.items()}
    assert roles == {
        "patientNr": "identifier",
        "email": "identifier",
        "ZIP": "quasi-identifier",
        "birth_date": "quasi-identifier",
        "diagnosis": "sensitive",
        "visits": "other",
        "note": "other",
    }
    assert profiles["patientNr"].reason == "Nearly every row has a value of its own."
    assert "'zip'" in profiles["ZIP"].reason


def test_what_is_told_of_a_column_is_coarse_and_has_no_value(path):
    profiles = {one.name: one for one in profile_table(path)}
    assert (profiles["ZIP"].kind, profiles["ZIP"].distinct) == ("integer", "2-9")
    assert (profiles["birth_date"].kind, profiles["birth_date"].distinct) == ("date", "10-99")
    assert profiles["note"].missing == "all"
    assert "flu" not in repr(profiles)


@pytest.mark.parametrize(
    ("count", "distinct"), [(0, "0"), (1, "1"), (2, "2-9"), (10, "10-99"), (100, "100-999")]
)
def test_distinct_values_are_counted_to_the_power_of_ten(count, distinct):
    [profile] = profile_table(pa.table({"x": [f"v{n}" for n in range(count)]}))
    assert profile.distinct == distinct


def test_columns_that_cannot_be_compared_are_profiled_too():
    [profile] = profile_table(pa.table({"x": [[1.0, 2.0], [3.0, 4.0]]}))
    assert (profile.kind, profile.role) == ("other", ColumnRole.OTHER)


def test_a_preview_has_a_level_for_each_height_with_its_groups(path):
    column = QuasiIdentifier(name="ZIP", generalization="prefix")
    levels = preview_generalisation(path, column)
    assert [one.group_count for one in levels] == [4, 1, 1, 1, 1, 1]
    assert (levels[0].smallest, levels[0].median, levels[0].largest) == (10, 10.0, 10)
    assert {one.label for one in levels[0].groups} == {"20100", "20101", "20102", "20103"}
    assert [(one.label, one.rows) for one in levels[1].groups] == [("2010*", 40)]


def test_a_preview_is_by_a_taxonomy_that_is_given(path):
    column = QuasiIdentifier(name="diagnosis", generalization="taxonomy")
    levels = preview_generalisation(path, column, b"flu;viral;*\ncold;viral;*\n", "t.csv")
    assert [[one.label for one in level.groups] for level in levels[1:]] == [["viral"], ["*"]]


def test_a_column_that_is_not_there_has_no_preview(path):
    with pytest.raises(DataError, match="'zip'"):
        preview_generalisation(path, QuasiIdentifier(name="zip"))
    with pytest.raises(DataError, match="R006"):
        preview_generalisation(path, QuasiIdentifier(name="diagnosis", generalization="interval"))
