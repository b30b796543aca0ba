"""Bounds on attacks on synthetic rows: which end of an interval counts, how figures are told."""

import pytest
from pydantic import ValidationError

from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods.generative import (
    GenerativeBound,
    GenerativeKey,
    GenerativeMeasurement,
    SyntheticInference,
)

AUC = GenerativeBound(measure="auc", asked=0.6)
P = GenerativeBound(measure="setPValue", asked=0.01, sense="at least")
COPIES = GenerativeBound(measure="excessCopies", asked=0.02)


def measured(bound, low, value, high, attack="nearest-sample"):
    key = GenerativeKey(attack, bound)
    return GenerativeMeasurement.of(key, Estimate(value=value, low=low, high=high))


@pytest.mark.parametrize(
    ("sense", "high", "holds"),
    [
        ("at most", 0.6, True),
        ("at most", 0.601, False),
        ("below", 0.6, False),
        ("below", 0.599, True),
    ],
)
def test_the_upper_end_of_an_interval_is_within_its_bound(sense, high, holds):
    bound = GenerativeBound(measure="auc", asked=0.6, sense=sense)
    assert measured(bound, 0.5, 0.55, high).holds is holds


@pytest.mark.parametrize(
    ("sense", "p", "holds"),
    [("at least", 0.01, True), ("at least", 0.0099, False), ("above", 0.01, False)],
)
def test_a_p_value_is_bounded_from_below(sense, p, holds):
    bound = GenerativeBound(measure="setPValue", asked=0.01, sense=sense)
    assert measured(bound, p, p, p).holds is holds


@pytest.mark.parametrize(("low", "holds"), [(0.4, True), (0.399, False)])
def test_an_area_below_a_half_is_that_of_an_attack_turned_round(low, holds):
    assert measured(AUC, low, 0.45, 0.5).holds is holds
    rate = GenerativeBound(measure="tprAtFpr", asked=0.6, fpr=0.1)
    assert measured(rate, 0, 0.05, 0.1).holds


def test_figures_are_rounded_outwards():
    told = measured(AUC, 0.51234, 0.5499, 0.59999).reached
    assert (told.low, told.value, told.high) == (0.512, 0.55, 0.6)
    assert measured(P, 0.00012345, 0.00012345, 0.00012345).reached.low == 0.000123
    small = GenerativeBound(measure="excessCopies", asked=0.0005)
    assert measured(small, 0, 0.00021, 0.00043).reached.high == 0.00043


def test_figures_never_have_more_than_ten_decimals():
    least = GenerativeBound(measure="setPValue", asked=1e-200, sense="at least")
    assert (least.decimals, P.decimals, AUC.decimals) == (10, 6, 3)


def test_an_attack_that_cannot_be_made_breaks_no_bound():
    one = GenerativeMeasurement.of(GenerativeKey("x", AUC), NotApplicable(reason="no"))
    assert one.holds
    assert one.key == ("x", AUC)


def test_excess_copies_may_be_negative_and_intervals_hold_their_figures():
    assert measured(COPIES, -0.01, -0.005, 0.001).holds
    with pytest.raises(ValidationError):
        GenerativeMeasurement(attack="x", bound=AUC, reached=Estimate(value=0.7, low=0.5, high=0.6))


@pytest.mark.parametrize(
    "facts",
    [
        {"measure": "auc", "asked": 0.6, "sense": "at least"},
        {"measure": "setPValue", "asked": 0.1},
        {"measure": "tprAtFpr", "asked": 0.1},
        {"measure": "auc", "asked": 0.6, "fpr": 0.1},
        {"measure": "auc", "asked": 1},
    ],
)
def test_other_bounds_are_none(facts):
    with pytest.raises(ValidationError):
        GenerativeBound(**facts)


def test_what_is_measured_is_each_bound_of_each_attack_and_copies_once():
    method = SyntheticInference(bounds=(AUC, COPIES), attacks=("nearest-sample", "density-ratio"))
    assert [*method.keys] == [
        ("nearest-sample", AUC),
        ("density-ratio", AUC),
        ("exact-copies", COPIES),
    ]
    assert method.attacks_run == ("nearest-sample", "density-ratio", "exact-copies")
    assert str(method) == "auc at most 0.6, excessCopies at most 0.02"
    assert method.sorted_copy().attacks == ("density-ratio", "nearest-sample")


def test_bounds_are_told_with_all_their_digits():
    assert str(GenerativeBound(measure="auc", asked=0.9999999)) == "auc at most 0.9999999"
    rate = GenerativeBound(measure="tprAtFpr", asked=0.5, fpr=0.00123456789)
    assert str(rate) == "tprAtFpr 0.00123456789 at most 0.5"
