"""Reasons say what a rule asks for and what an output has."""

import pytest

from policy_engine.audits.outputs.output_records import RuleRecord
from policy_engine.audits.outputs.triage_reasons import LearntAbout, reasons_for

PLAIN = LearntAbout(0.04, is_novel=False, is_unknown=False, is_released_by_rules=True)


def first_reasons(kind, is_confidential=True, **attributes):  # noqa: FBT002
    record = RuleRecord(kind, is_confidential=is_confidential, **attributes)
    return reasons_for(record, PLAIN)[:-1]


@pytest.mark.parametrize(
    ("kind", "named"), [("Sonnet", "the type 'Sonnet'"), ("other", "this kind")]
)
def test_what_no_rule_is_about_is_named_where_it_has_a_name(kind, named):
    assert first_reasons(kind) == (f"No rule is about outputs of {named}.",)


@pytest.mark.parametrize(
    ("kind", "attributes", "reasons"),
    [
        (
            "FrequencyTable",
            {"cell_units": 9, "percentage_rows": 0.2},
            ("CellUnits is 9; rule 1 asks for CellUnits ≥ 10.",),
        ),
        (
            "FrequencyTable",
            {"cell_units": 11, "percentage_rows": 0.85},
            (
                "CellUnits is 11, near its limit; rule 1 asks for CellUnits ≥ 10.",
                "PercentageRows is 85%, near its limit; rule 1 asks for PercentageRows < 90%.",
            ),
        ),
        (
            "HigherMoment",
            {},
            ("DegreesOfFreedom is missing; rule 7 asks for DegreesOfFreedom ≥ 10.",),
        ),
        ("Maximum", {}, ("Rule 3 never releases a confidential Maximum.",)),
        (
            "RegressionCoefficient",
            {"intercept": True},
            ("Intercept is yes; rule 8 asks for not Intercept.",),
        ),
        (
            "Correlation",
            {"sample_size": 500, "output": -1},
            ("Output is -1; rule 12 asks for Output ∉ {-1, 0, 1}.",),
        ),
        ("Maximum", {"is_confidential": False}, ()),
        (
            "Mode",
            {"is_confidential": None, "percentage_sample_total": 0.2},
            ("Nobody said whether it is confidential.",),
        ),
    ],
)
def test_a_reason_says_what_is_asked_for_and_what_there_is(kind, attributes, reasons):
    assert first_reasons(kind, **attributes) == reasons


@pytest.mark.parametrize(
    ("share", "is_released", "words"),
    [
        (0.04, True, "About 4% of outputs like it would be rejected."),
        (0.96, True, "The rules allow it, but about 96% of outputs like it would be rejected."),
        (
            0.04,
            False,
            "The rules do not allow it, but only about 4% of its like would be rejected.",
        ),
        (0.96, False, "About 96% of outputs like it would be rejected."),
    ],
)
def test_what_was_learnt_is_told_beside_what_the_rules_say(share, is_released, words):
    about = LearntAbout(share, False, False, is_released)  # noqa: FBT003
    assert reasons_for(RuleRecord("Mode", is_confidential=False), about) == (words,)
