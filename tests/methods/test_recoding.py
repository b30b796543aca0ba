import pytest

from policy_engine.methods import findings, parameters
from policy_engine.methods.recoding import _OPTIONS, Recoding, option_conflicts


def found(**given):
    return [(one.code, one.parameter) for one in option_conflicts(given)]


def test_without_options_mondrian_cuts_rows():
    assert Recoding() == Recoding(algorithm="mondrian", partitioning="strict", score="loss")


def test_options_have_the_names_that_policies_use():
    given = {"algorithm": "full-domain", "maxSuppression": 0.1, "loss": "height"}
    assert Recoding(**given).max_suppression == 0.1
    assert findings(Recoding, given, "recoding") == []


def test_recoding_comes_back_from_its_json():
    asked = Recoding(algorithm="full-domain", max_suppression=0.1)
    assert Recoding.model_validate_json(asked.model_dump_json()) == asked
    assert Recoding.model_validate_json(asked.model_dump_json(by_alias=True)) == asked


def test_every_option_is_of_one_algorithm_or_of_both():
    own = {name for options in _OPTIONS.values() for name in options}
    assert own | {"algorithm", "missing"} == set(parameters(Recoding))
    assert sum(map(len, _OPTIONS.values())) == len(own)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"algorithm": "mondrian", "partitioning": "relaxed", "score": "span", "polish": True},
        {"dimensionality": "single", "partitioning": "strict", "polish": False},
        {"algorithm": "full-domain", "maxSuppression": 0.05, "loss": "precision"},
        {"missing": "wildcard"},
        {"algorithm": "full-domain", "missing": "category"},
    ],
)
def test_options_of_the_algorithm_chosen_are_in_place(given):
    assert found(**given) == []


@pytest.mark.parametrize("name", ["partitioning", "dimensionality", "score", "polish"])
def test_an_option_of_mondrian_is_misplaced_with_full_domain(name):
    [finding] = option_conflicts({"algorithm": "full-domain", name: "any"})
    assert (finding.code, finding.parameter) == ("M003", name)
    assert finding.message == f"{name} is an option of mondrian. The algorithm is 'full-domain'."


@pytest.mark.parametrize("name", ["maxSuppression", "loss"])
def test_an_option_of_full_domain_is_misplaced_with_mondrian(name):
    assert found(**{name: 0}) == found(**{name: 0, "algorithm": "mondrian"}) == [("M003", name)]


def test_full_domain_has_no_wildcards():
    assert found(algorithm="full-domain", missing="wildcard") == [("M003", "missing")]


def test_a_grid_is_neither_relaxed_nor_scored_nor_polished():
    given = {"partitioning": "relaxed", "score": "loss", "polish": True}
    assert found(dimensionality="single", **given) == [("M003", name) for name in given]


def test_nothing_follows_from_an_algorithm_that_there_is_not():
    assert found(algorithm="mondriaan", score="span", loss="height") == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("polish", "perhaps"),
        ("polish", 1),
        ("maxSuppression", 1),
        ("maxSuppression", -0.1),
        ("maxSuppression", True),
        ("score", "widest"),
        ("partitioning", None),
    ],
)
def test_a_value_that_an_option_does_not_take_is_found(name, value):
    [finding] = findings(Recoding, {name: value}, "recoding")
    assert (finding.code, finding.parameter) == ("M003", name)
