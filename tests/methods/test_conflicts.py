import pytest

from policy_engine.methods.conflicts import (
    _OPTIONS,
    option_conflicts,
    role_conflicts,
    setting_conflicts,
)
from policy_engine.methods.recoding import option_fields


def setting_codes(role, **settings):
    return [(one.code, one.parameter) for one in setting_conflicts(role, settings)]


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
    assert finding.message == "'name' is named 2 times under identifier."


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
    assert setting_codes("quasi-identifier", **settings) == []


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
    assert setting_codes("quasi-identifier", **settings) == [(code, name)]


def test_nothing_follows_from_a_generalization_or_a_distance_that_there_is_not():
    assert setting_codes("quasi-identifier", generalization="taxonmy", taxonomy="jobs.csv") == []
    assert setting_codes("sensitive", distance="hierarchic", taxonomy="jobs.csv") == []


def test_a_distance_and_its_taxonomy_go_together():
    assert setting_codes("sensitive", distance="hierarchical", taxonomy="jobs.csv") == []
    assert setting_codes("sensitive", distance="ordered") == []
    assert setting_codes("sensitive", distance="hierarchical") == [("M002", "distance")]
    assert setting_codes("sensitive", distance="ordered", taxonomy="x") == [("M003", "taxonomy")]
    assert setting_codes("sensitive", taxonomy="jobs.csv") == [("M003", "taxonomy")]


def option_codes(**given):
    return [(one.code, one.parameter) for one in option_conflicts(given)]


def test_every_option_is_of_one_algorithm_but_suppression_of_two():
    own = {name for options in _OPTIONS.values() for name in options}
    assert own | {"algorithm", "missing", "maxUniqueKept", "composition"} == set(option_fields())
    assert [name for name in own if sum(name in one for one in _OPTIONS.values()) > 1] == [
        "maxSuppression"
    ]


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"algorithm": "mondrian", "partitioning": "relaxed", "score": "span", "polish": True},
        {"dimensionality": "single", "partitioning": "strict", "polish": False},
        {"algorithm": "full-domain", "maxSuppression": 0.05, "loss": "precision"},
        {"maxSuppression": 0.05, "partitioning": "relaxed"},
        {"missing": "wildcard"},
        {"algorithm": "full-domain", "missing": "category"},
    ],
)
def test_options_of_the_algorithm_chosen_are_in_place(given):
    assert option_codes(**given) == []


@pytest.mark.parametrize("name", ["partitioning", "dimensionality", "score", "polish"])
def test_an_option_of_mondrian_is_misplaced_with_full_domain(name):
    [finding] = option_conflicts({"algorithm": "full-domain", name: "any"})
    assert (finding.code, finding.parameter) == ("M003", name)
    assert finding.message == f"{name} is an option of mondrian. The algorithm is 'full-domain'."


def test_the_loss_of_full_domain_is_misplaced_with_mondrian():
    assert option_codes(loss=0) == option_codes(loss=0, algorithm="mondrian") == [("M003", "loss")]


def test_suppression_of_rows_is_of_two_algorithms():
    [finding] = option_conflicts({"algorithm": "microaggregation", "maxSuppression": 0.1})
    assert finding.message == (
        "maxSuppression is an option of mondrian and full-domain. The algorithm is "
        "'microaggregation'."
    )


def test_a_grid_suppresses_no_rows():
    assert option_codes(dimensionality="single", maxSuppression=0.1) == [("M003", "maxSuppression")]


def test_full_domain_has_no_wildcards():
    assert option_codes(algorithm="full-domain", missing="wildcard") == [("M003", "missing")]


def test_a_grid_is_neither_relaxed_nor_scored_nor_polished():
    given = {"partitioning": "relaxed", "score": "loss", "polish": True}
    assert option_codes(dimensionality="single", **given) == [("M003", name) for name in given]


def test_nothing_follows_from_an_algorithm_that_there_is_not():
    assert option_codes(algorithm="mondriaan", score="span", loss="height") == []
