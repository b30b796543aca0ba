import pytest

from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods.audits.population_risk import PopulationRisk
from policy_engine.methods.disclosure import RISKS, Figure, RiskBound, RiskMeasurement

REGISTER = "http://x.org/Register"


def bound(measure, asked=0.2, sense="at most"):
    return RiskBound(measure=measure, asked=asked, sense=sense)


def measured(reached, sense="at most"):
    return RiskMeasurement(
        bound=bound("largestRisk", sense=sense), known=("age",), records=5, reached=reached
    )


def test_a_bound_holds_up_to_what_is_asked_or_below_it():
    assert measured(Figure(value=0.2)).holds
    assert not measured(Figure(value=0.2), "below").holds
    assert not measured(Figure(value=0.200000001)).holds


def test_no_figure_shows_no_bound():
    assert not measured(NotApplicable(reason="the model has no solution")).holds


def test_there_may_be_no_unique_record_at_all():
    none = RiskMeasurement(
        bound=bound("uniques", 0), known=("age",), records=5, reached=Figure(value=0)
    )
    assert none.holds


@pytest.mark.parametrize("asked", [-0.1, 1, 1.5])
def test_a_bound_is_a_share_below_1(asked):
    with pytest.raises(ValueError, match="asked"):
        bound("uniques", asked)


@pytest.mark.parametrize(("measure", "population"), [("presence", ""), ("populationUniques", "r:")])
def test_what_cannot_be_measured_is_not_bounded(measure, population):
    with pytest.raises(ValueError, match="presence needs a population"):
        PopulationRisk(bounds=(bound(measure),), known=("age",), population=population)


@pytest.mark.parametrize("measure", RISKS)
def test_a_figure_has_the_name_that_it_has_in_an_audit(measure):
    named = measured(Figure(value=0)).model_copy(update={"bound": bound(measure)})
    counted = named.model_copy(update={"population": REGISTER})
    assert (named.name, counted.name) == RISKS[measure]


def test_the_order_of_bounds_and_columns_means_nothing():
    bounds = bound("uniques"), bound("meanRisk")
    one = PopulationRisk(bounds=bounds, known=("age", "city"))
    other = PopulationRisk(bounds=bounds[::-1], known=("city", "age"))
    assert one.sorted_copy() == other.sorted_copy()
    assert {*one.keys} == {*other.keys}
