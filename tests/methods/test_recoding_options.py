import pytest

from policy_engine.methods.conflicts import parameter_findings
from policy_engine.methods.recoding import RecodingOptions


def test_without_options_mondrian_cuts_rows():
    assert RecodingOptions() == RecodingOptions(
        algorithm="mondrian", partitioning="strict", score="loss"
    )


def test_options_have_the_names_that_policies_use():
    given = {"algorithm": "full-domain", "maxSuppression": 0.1, "loss": "height"}
    assert RecodingOptions(**given).max_suppression == 0.1
    assert parameter_findings(RecodingOptions, given, "recoding") == []


def test_recoding_comes_back_from_its_json():
    asked = RecodingOptions(algorithm="full-domain", max_suppression=0.1)
    assert RecodingOptions.model_validate_json(asked.model_dump_json()) == asked
    assert RecodingOptions.model_validate_json(asked.model_dump_json(by_alias=True)) == asked


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
    [finding] = parameter_findings(RecodingOptions, {name: value}, "recoding")
    assert (finding.code, finding.parameter) == ("M003", name)
