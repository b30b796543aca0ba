"""What a certificate tells of attacks on its table, against what they reach again."""

import pytest

from policy_engine.certificate.figure_checks import false_disclosures
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods.disclosure import (
    DisclosureBound,
    DisclosureMeasurement,
    Figure,
    RiskBound,
    RiskMeasurement,
)

REACHED = Estimate(value=0.5, low=0.4, high=0.6)


def linked(reached=REACHED, asked=0.9, **changes):
    parts = {"known": ("age", "pay"), "records": 6, "baseline": 0.2, **changes}
    bound = DisclosureBound(measure="linked", asked=asked)
    return DisclosureMeasurement(attack="value-linkage", bound=bound, reached=reached, **parts)


def risk(value, known=("age", "pay")):
    bound = RiskBound(measure="meanRisk", asked=0.9)
    return RiskMeasurement(bound=bound, known=known, records=6, reached=Figure(value=value))


def reaching(**figures):
    return linked(REACHED.model_copy(update=figures))


def wrong(what, stated, actual):
    message = f"The certificate says that {what}linked of value-linkage is {stated}"
    return [f"{message}; measured again, it is {actual}."]


OTHER_COLUMNS = (
    "The certificate names other columns than those by which the attack value-linkage reaches it."
)


@pytest.mark.parametrize(
    ("actual", "told"),
    [
        (linked(), []),
        (reaching(value=0.501, low=0.399, high=0.601), []),
        (reaching(value=0.502), wrong("", 0.5, 0.502)),
        (reaching(low=0.398), wrong("the lower end of ", 0.4, 0.398)),
        (reaching(high=0.602), wrong("the upper end of ", 0.6, 0.602)),
        (linked(baseline=0.202), wrong("the baseline of ", 0.2, 0.202)),
        (linked(baseline=0.201), []),
        (linked(known=("pay", "age")), []),
        (
            linked(known=("age",)),
            [OTHER_COLUMNS],
        ),
        (
            linked(REACHED.model_copy(update={"value": 0.55}), known=("age",)),
            wrong("", 0.5, 0.55),
        ),
        (
            linked(NotApplicable(reason="too few")),
            ["The certificate is wrong about whether the attack value-linkage applies."],
        ),
        (
            linked(asked=0.8),
            ["The certificate does not tell what the attack value-linkage reaches."],
        ),
    ],
    ids=range(12),
)
def test_what_an_attack_is_told_to_reach_is_what_it_reaches_again(actual, told):
    assert [*false_disclosures([linked()], [actual])] == told


def test_why_an_attack_does_not_apply_is_told_as_it_is():
    few, none = (linked(NotApplicable(reason=reason)) for reason in ("too few", "none"))
    assert [*false_disclosures([few], [few])] == []
    told = "The certificate is wrong about why the attack value-linkage does not apply."
    assert [*false_disclosures([few], [none])] == [told]
    told = "The certificate is wrong about whether the attack value-linkage applies."
    assert [*false_disclosures([few], [linked()])] == [told]


def test_a_risk_has_nine_decimals_and_no_baseline():
    assert [*false_disclosures([risk(0.5)], [risk(0.500000001)])] == []
    assert [*false_disclosures([risk(0.5)], [risk(0.500001)])] == [
        (
            "The certificate says that meanRisk of prosecutor-mean is 0.5; measured again, it is "
            "0.500001."
        )
    ]
    told = "The certificate does not tell what prosecutor-mean reaches."
    assert [*false_disclosures([risk(0.5, ("age",))], [risk(0.5)])] == [told]


def test_of_two_duties_each_has_a_figure_of_its_own():
    other = reaching(value=0.55)
    assert [*false_disclosures([linked(), other], [linked(), other])] == []
    assert [*false_disclosures([linked()], [linked(), linked()])] == [
        "The certificate does not tell what the attack value-linkage reaches."
    ]
    assert [*false_disclosures([linked(), risk(0.5)], [linked()])] == []
