"""Figures of risk, against all ways to divide a few records into classes."""

from itertools import product

import pytest
from building import anonymize, column, permission, policy
from certifying import certified

from policy_engine.certificate.risk_arithmetic import _have_classes, impossible_figures
from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods.disclosure import (
    Figure,
    InferenceBound,
    InferenceMeasurement,
    RiskBound,
    RiskMeasurement,
)
from policy_engine.policy import read_policy


def divided(records, least=1):
    """Yield the sizes of classes of so many records, each in ascending order."""
    if records >= least:
        yield (records,)
    for size in range(least, records // 2 + 1):
        yield from ((size, *others) for others in divided(records - size, size))


def told(uniques, classes, smallest, records):
    return {
        "uniques": round(uniques / records, 9),
        "meanRisk": round(classes / records, 9),
        "largestRisk": round(1 / smallest, 9),
    }


@pytest.mark.parametrize("records", range(1, 9))
def test_figures_are_those_of_some_classes(records):
    ways = [told(one.count(1), len(one), one[0], records) for one in divided(records)]
    counts = range(1, records + 1)
    for uniques, classes, smallest in product((0, *counts), counts, counts):
        risks = told(uniques, classes, smallest, records)
        for names in (["uniques", "meanRisk"], ["meanRisk", "largestRisk"], [*risks]):
            some = {name: risks[name] for name in names}
            assert _have_classes(some, records) == any(some.items() <= one.items() for one in ways)


@pytest.mark.parametrize(
    ("largest", "mean", "is_possible"),
    [
        (1 / 400, 1 / 400, True),  # one class
        (0.5, 1 / 400, False),
        (1 / 399, 2 / 400, False),  # the other class would have one record
        (1 / 200, 2 / 400, True),
        (1 / 200, 3 / 400, False),
    ],
)
def test_the_smallest_of_several_classes_has_half_of_the_records_at_most(
    largest, mean, is_possible
):
    risks = {"largestRisk": round(largest, 9), "meanRisk": round(mean, 9)}
    assert _have_classes(risks, 400) == is_possible


def test_figures_of_many_records_are_rounded():
    sizes = (31_623, 31_624, 10**9)
    risks = {"largestRisk": round(1 / sizes[0], 9), "meanRisk": round(3 / sum(sizes), 9)}
    assert _have_classes({"uniques": 0.0, **risks}, sum(sizes))
    for records, told in ((10**9, 1e-9), (3 * 10**9, 0.0)):
        assert _have_classes({"largestRisk": told, "meanRisk": told}, records)  # one class


# -- the figures of a certificate -----------------------------------------------------------------

MASKED = {
    "method": "masking",
    "masked": [column("pay", masking="rounding", base=1000)],
    "insensitive": ["age"],
}
WILDCARDS = {
    "method": "k-anonymity",
    "k": 2,
    "quasi": ["age", "pay"],
    "algorithm": "local-suppression",
    "missing": "wildcard",
}
REGISTER = "http://x.org/Register"
CONTRADICTION = "Its figures of the risk of the same classes contradict each other."


def certificate_of(*figures, **parts):
    """Return a certificate of six rows with some figures."""
    made = permission(action=anonymize(**(parts or MASKED)), output="http://x.org/out")
    return certified(read_policy(policy([made])), rows_out=6, disclosures=figures)


def risk(measure, value, population="", known=("age", "pay")):
    bound, reached = RiskBound(measure=measure, asked=0.999), Figure(value=round(value, 9))
    parts = {"known": known, "population": population, "records": 6}
    return RiskMeasurement(bound=bound, reached=reached, **parts)


def said(*figures, **parts):
    return [*impossible_figures(certificate_of(*figures, **parts))]


@pytest.mark.parametrize(
    ("measure", "possible", "impossible"),
    [
        ("uniques", [0, 1 / 6, 1], [0.2]),
        ("meanRisk", [1 / 6, 1], [0, 0.4]),
        ("largestRisk", [1 / 6, 1 / 3, 0.5, 1], [0, 1 / 7, 0.3, 0.6]),
        ("populationUniques", [0, 0.01, 1], []),
    ],
)
def test_a_risk_of_six_records_is_that_of_their_classes(measure, possible, impossible):
    for value in possible:
        assert said(risk(measure, value)) == []
    name = risk(measure, 0).name
    for value in impossible:
        told = f"{name} cannot be {round(value, 9):g} of 6 records."
        assert said(risk(measure, value)) == [told]


@pytest.mark.parametrize(
    ("measure", "possible", "impossible"),
    [
        ("uniques", [0, 1 / 6, 1], [0.2]),
        ("meanRisk", [0, 0.01, 0.4, 1], []),
        ("largestRisk", [0, 1 / 7, 0.001, 0.5, 1], [0.3, 0.6]),
        ("presence", [0, 0.3, 1], []),
    ],
)
def test_a_risk_among_a_population_is_that_of_any_number_of_persons(measure, possible, impossible):
    for value in possible:
        assert said(risk(measure, value, REGISTER)) == []
    name = risk(measure, 0, REGISTER).name
    for value in impossible:
        told = f"{name} cannot be {round(value, 9):g} of 6 records."
        assert said(risk(measure, value, REGISTER)) == [told]


def test_classes_that_overlap_have_any_mean_risk_of_so_many_records():
    for value in (1 / 6, 0.4, 1):
        assert said(risk("meanRisk", value), **WILDCARDS) == []
    told = "prosecutor-mean cannot be 0.166 of 6 records."
    assert said(risk("meanRisk", 0.166), **WILDCARDS) == [told]


@pytest.mark.parametrize(
    ("figures", "is_possible"),
    [
        ({"meanRisk": 0.5, "largestRisk": 0.5}, True),
        ({"meanRisk": 0.51, "largestRisk": 0.5}, False),
        ({"uniques": 1 / 6, "largestRisk": 1}, True),
        ({"uniques": 1 / 6, "largestRisk": 0.5}, False),
        ({"uniques": 0, "largestRisk": 0.5}, True),
        ({"uniques": 0.5, "meanRisk": 0.5}, True),  # nobody is like the others
        ({"uniques": 0.5, "meanRisk": 0.4}, False),
        ({"uniques": 0.5}, True),
        ({"meanRisk": 0.9}, True),
    ],
    ids=str,
)
def test_the_largest_risk_is_above_the_mean_and_that_of_who_is_unique_is_1(figures, is_possible):
    told = [] if is_possible else [CONTRADICTION]
    assert said(*(risk(name, value, REGISTER) for name, value in figures.items())) == told


@pytest.mark.parametrize(
    ("figures", "apart", "overlapping"),
    [
        ({"uniques": 2 / 6, "meanRisk": 4 / 6}, True, True),
        ({"uniques": 2 / 6, "meanRisk": 5 / 6}, False, True),  # four others, in three classes
        ({"uniques": 3 / 6, "meanRisk": 2 / 6}, False, True),
        ({"uniques": 1 / 6, "largestRisk": 0.5}, False, True),
        ({"meanRisk": 4 / 6, "largestRisk": 0.5}, False, False),
    ],
    ids=str,
)
def test_figures_of_one_release_are_those_of_its_classes(figures, apart, overlapping):
    risks = [risk(name, value) for name, value in figures.items()]
    assert said(*risks) == ([] if apart else [CONTRADICTION])
    assert said(*risks, **WILDCARDS) == ([] if overlapping else [CONTRADICTION])


def test_figures_by_other_columns_or_of_other_persons_contradict_nothing():
    mean = risk("meanRisk", 1)
    for other in ({"known": ("age",)}, {"population": REGISTER}):
        assert said(mean, risk("largestRisk", 0.5, **other)) == []
    assert said(mean, risk("largestRisk", 0.5, known=("pay", "age"))) == [CONTRADICTION]


def test_what_cannot_be_or_was_not_measured_contradicts_nothing_else():
    impossible, whole = risk("uniques", 0.2), risk("meanRisk", 1 / 6)
    assert said(impossible, whole) == ["sample-uniques cannot be 0.2 of 6 records."]
    unknown = impossible.model_copy(update={"reached": NotApplicable(reason="too few")})
    assert said(unknown, whole, risk("largestRisk", 0.6)) == [
        "prosecutor-largest cannot be 0.6 of 6 records."
    ]


def test_a_column_is_known_once():
    told = "It names a column twice that sample-uniques knows."
    assert said(risk("uniques", 0, known=("age", "pay", "age"))) == [told]


def learned(name, share):
    return InferenceMeasurement(
        bound=InferenceBound(measure="inferred", asked=0.9),
        column=name,
        known=("age",),
        records=6,
        baseline=round(share, 9),
        reached=Estimate(value=0.5, low=0.1, high=0.9),
    )


@pytest.mark.parametrize(
    ("name", "share", "is_possible"),
    [
        ("age", 0.5, True),
        ("age", 1 / 6, True),
        ("age", 0.4, False),
        ("age", 0, False),
        ("pay", 0.4, True),
        ("job", 0.4, True),
    ],
)
def test_the_commonest_value_of_a_kept_column_is_that_of_some_records(name, share, is_possible):
    told = f"No value of {name!r} is that of {round(share, 9):g} of 6 records."
    assert said(learned(name, share)) == ([] if is_possible else [told])


@pytest.mark.parametrize("name", ["age", "pay"])
def test_no_less_is_guessed_than_by_the_commonest_value(name):
    told = f"Nobody guesses 0.5 of {name!r} who could guess 0.666667 by one value for all."
    assert said(learned(name, 4 / 6)) == [told]
    assert said(learned(name, 3 / 6)) == []


def test_a_sensitive_column_is_kept():
    parts = {"method": "l-diversity", "k": 2, "l": 2, "quasi": ["age"], "sensitive": ["ill"]}
    told = "No value of 'ill' is that of 0.4 of 6 records."
    assert said(learned("ill", 0.4), **parts) == [told]
    assert said(learned("ill", 0.5), learned("age", 0.4), **parts) == []
