import pytest

from policy_engine.kernels.estimates import Estimate, NotApplicable
from policy_engine.methods.audits.attribute_inference import AttributeInference
from policy_engine.methods.disclosure import InferenceBound, InferenceMeasurement

BOUND = InferenceBound(measure="inferred", asked=0.2)


def measured(reached, baseline=0.5, bound=BOUND):
    return InferenceMeasurement(
        bound=bound, column="ill", known=("age",), records=50, baseline=baseline, reached=reached
    )


def test_what_is_learned_is_what_the_baseline_misses():
    assert measured(Estimate(value=0.55, low=0.5, high=0.6)).most_learned == pytest.approx(0.2)
    assert measured(Estimate(value=0.2, low=0.1, high=0.4)).most_learned == 0
    assert measured(Estimate(value=1, low=0.9, high=1), baseline=1).most_learned == 0


def test_the_upper_end_of_the_interval_is_bounded():
    assert measured(Estimate(value=0.5, low=0.4, high=0.59)).holds
    assert not measured(Estimate(value=0.5, low=0.4, high=0.61)).holds


def test_no_figure_shows_no_bound():
    assert not measured(NotApplicable(reason="too few")).holds


@pytest.mark.parametrize("asked", [0, 1, -0.5, 2])
def test_a_bound_is_above_0_and_below_1(asked):
    with pytest.raises(ValueError, match="asked"):
        InferenceBound(measure="inferred", asked=asked)


def test_an_interval_is_that_of_a_share():
    with pytest.raises(ValueError, match="the interval of a share"):
        measured(Estimate(value=0.5, low=0.6, high=0.7))


def test_what_is_known_is_not_learned():
    with pytest.raises(ValueError, match="what is known is not learned"):
        AttributeInference(bound=BOUND, known=("age", "ill"), learned=("ill",))


def test_the_order_of_columns_means_nothing():
    one = AttributeInference(bound=BOUND, known=("age", "city"), learned=("ill", "pay"))
    other = AttributeInference(bound=BOUND, known=("city", "age"), learned=("pay", "ill"))
    assert one.sorted_copy() == other.sorted_copy()
    assert {*one.keys} == {*other.keys}
