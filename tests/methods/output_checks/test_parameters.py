from policy_engine import terms
from policy_engine.methods.output_checks.parameters import (
    PARAMETERS,
    THRESHOLDS,
    OutputCheck,
    OwnThresholds,
)
from policy_engine.methods.output_checks.profile import OutputProfile
from policy_engine.methods.output_checks.profiles import PROFILES


def test_parameters_are_terms_that_refine_reading():
    for name in PARAMETERS:
        term = terms.vocabulary()[f"{terms.PE}{name}"]
        assert f"{terms.ODRL}read" in term.iris("refines")


def test_thresholds_are_fields_of_a_profile_and_have_limits():
    assert {*THRESHOLDS.values()} <= OutputProfile.model_fields.keys()
    assert {*THRESHOLDS.values()} <= OwnThresholds.model_fields.keys()


def test_facts_leave_out_what_a_profile_has_no_value_for():
    facts = OutputCheck(profile=PROFILES["iab"]).facts()
    assert facts["minUnits"] == 20
    assert "maxLargestShare" not in facts
    assert "privacyUnit" not in facts
