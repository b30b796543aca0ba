import pytest

from policy_engine.methods.conflicts import parameter_findings
from policy_engine.methods.recoding import Recoding


def test_without_options_mondrian_cuts_rows():
    assert Recoding() == Recoding(algorithm="mondrian", partitioning="strict", score="loss")


def test_options_have_the_names_that_policies_use():
    given = {"algorithm": "full-domain", "maxSuppression": 0.1, "loss": "height"}
    assert Recoding(**given).max_suppression == 0.1
    assert parameter_findings(Recoding, given, "recoding") == []


def test_recoding_comes_back_from_its_json():
    asked = Recoding(algorithm="full-domain", max_suppression=0.1)
    assert Recoding.model_validate_json(asked.model_dump_json()) == asked
    assert Recoding.model_validate_json(asked.model_dump_json(by_alias=True)) == asked


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
    [finding] = parameter_findings(Recoding, {name: value}, "recoding")
    assert (finding.code, finding.parameter) == ("M003", name)
