import pytest
from pydantic import ValidationError

from policy_engine.methods.columns import (
    Columns,
    QuasiIdentifier,
    Sensitive,
    role_conflicts,
    setting_conflicts,
)

WHOLE = Columns(
    **{
        "identifier": ("name",),
        "pseudonymize": ("card",),
        "redact": ("note",),
        "quasi-identifier": (QuasiIdentifier(name="age"), QuasiIdentifier(name="zip")),
        "sensitive": (Sensitive(name="disease"),),
        "insensitive": ("row",),
        "privacyUnit": "person",
    }
)


def found(role, **settings):
    return [(one.code, one.parameter) for one in setting_conflicts(role, settings)]


def test_what_is_released_is_all_but_identifiers_and_the_unit_of_privacy():
    assert WHOLE.released == ("card", "note", "age", "zip", "disease", "row")
    assert WHOLE.dropped == ("name", "person")


def test_a_unit_of_privacy_that_is_an_identifier_is_dropped_once():
    assert WHOLE.model_copy(update={"identifier": ("person",)}).dropped == ("person",)


def test_names_stand_without_settings():
    assert WHOLE.quasi_names == ("age", "zip")
    assert WHOLE.sensitive_names == ("disease",)


def test_taxonomies_are_named_once():
    generalised = QuasiIdentifier(name="job", generalization="taxonomy", taxonomy="jobs.csv")
    kept = Sensitive(name="trade", distance="hierarchical", taxonomy="jobs.csv")
    columns = Columns(**{"quasi-identifier": (generalised,), "sensitive": (kept,)})
    assert columns.taxonomies == ("jobs.csv",)
    assert WHOLE.taxonomies == ()


def test_columns_come_back_from_their_json():
    assert Columns.model_validate_json(WHOLE.model_dump_json()) == WHOLE
    assert Columns.model_validate_json(WHOLE.model_dump_json(by_alias=True)) == WHOLE


def test_there_is_a_quasi_identifier():
    with pytest.raises(ValidationError):
        Columns(**{"quasi-identifier": ()})


def test_a_column_has_one_role():
    roles = {"identifier": ("name",), "quasi-identifier": ("age",), "sensitive": ("age",)}
    [finding] = role_conflicts(roles)
    assert (finding.code, finding.parameter) == ("M005", "sensitive")
    assert finding.message == (
        "'age' is both quasi-identifier and sensitive. A column has one role."
    )


def test_a_column_stands_once_in_its_role():
    [finding] = role_conflicts({"identifier": ("name", "name", "id")})
    assert (finding.code, finding.parameter) == ("M005", "identifier")
    assert finding.message == "'name' stands 2 times under identifier."


def test_two_ways_to_treat_an_identifier_are_two_roles():
    assert len(list(role_conflicts({"pseudonymize": ("card",), "redact": ("card",)}))) == 1


@pytest.mark.parametrize("role", ["pseudonymize", "redact", "quasi-identifier", "insensitive"])
def test_the_unit_of_privacy_is_not_kept(role):
    [finding] = role_conflicts({role: ("person",)}, "person")
    assert (finding.code, finding.parameter) == ("M005", "privacyUnit")
    assert finding.message.startswith(f"'person' is both {role} and privacyUnit.")


def test_the_unit_of_privacy_may_be_an_identifier():
    assert list(role_conflicts({"identifier": ("person",)}, "person")) == []
    assert list(role_conflicts({"identifier": ("name",)}, "")) == []


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"generalization": "taxonomy", "taxonomy": "jobs.csv", "unlisted": "root"},
        {"generalization": "interval", "fanout": 10, "precision": 5},
        {"generalization": "prefix", "mask": "#"},
        {"generalization": "set", "order": "frequency"},
        {"order": "lexicographic", "weight": 2},
    ],
)
def test_settings_fit_the_generalization_that_they_belong_to(settings):
    assert found("quasi-identifier", **settings) == []


@pytest.mark.parametrize(
    ("settings", "code", "name"),
    [
        ({"generalization": "taxonomy"}, "M002", "generalization"),
        ({"generalization": "taxonomy", "taxonomy": ""}, "M002", "generalization"),
        ({"taxonomy": "jobs.csv"}, "M003", "taxonomy"),
        ({"unlisted": "root"}, "M003", "unlisted"),
        ({"generalization": "set", "mask": "#"}, "M003", "mask"),
        ({"generalization": "calendar", "fanout": 10}, "M003", "fanout"),
        ({"precision": 5}, "M003", "precision"),
        ({"generalization": "prefix", "order": "frequency"}, "M003", "order"),
    ],
)
def test_a_setting_of_another_generalization_is_a_misfit(settings, code, name):
    assert found("quasi-identifier", **settings) == [(code, name)]


def test_nothing_follows_from_a_generalization_or_a_distance_that_there_is_not():
    assert found("quasi-identifier", generalization="taxonmy", taxonomy="jobs.csv") == []
    assert found("sensitive", distance="hierarchic", taxonomy="jobs.csv") == []


def test_a_distance_and_its_taxonomy_go_together():
    assert found("sensitive", distance="hierarchical", taxonomy="jobs.csv") == []
    assert found("sensitive", distance="ordered") == []
    assert found("sensitive", distance="hierarchical") == [("M002", "distance")]
    assert found("sensitive", distance="ordered", taxonomy="x") == [("M003", "taxonomy")]
    assert found("sensitive", taxonomy="jobs.csv") == [("M003", "taxonomy")]
