import math

import pytest
from measuring import DISEASE, holding, measured, refused, taken

from policy_engine.methods.privacy_model import Bound
from policy_engine.methods.privacy_models.delta_disclosure import DeltaDisclosure

# Of eight rows two have a: 1/4. In the first class it is 1/2, twice that; b is 2/3 of what it was.
CLASSES = (["a", "b", "a", "b"], ["b", "b", "b", "b"])


def test_delta_is_a_bound_that_is_not_reached():
    method = DeltaDisclosure(k=4, delta=1)
    assert method.bound(DISEASE) == Bound("delta", "disease", 1, "below")
    assert method.diversity(DISEASE) == {"delta": 1}


def test_delta_is_the_greatest_logarithm_of_values_that_a_class_has():
    found = measured(DeltaDisclosure(k=4, delta=1), *CLASSES)
    assert found == pytest.approx([math.log(2), math.log(4 / 3)])


@pytest.mark.parametrize(
    ("delta", "kept"),
    [(1, [True, True]), (math.log(2), [False, True]), (0.1, [False, False])],
)
def test_a_class_holds_below_delta(delta, kept):
    method = DeltaDisclosure(k=4, delta=delta)
    assert holding(method, *CLASSES) == taken(method, *CLASSES) == kept


def test_two_classes_that_hold_may_not_hold_as_one():
    # x has 4/7 of the table, y 3/7. The first class lacks y; in both as one, y has 1/5.
    method, rest = DeltaDisclosure(k=2, delta=0.6), ["y", "y"]
    apart = holding(method, ["x", "x"], ["x", "x", "y"], rest)
    together = holding(method, ["x", "x", "x", "x", "y"], rest)
    assert (apart[:2], together[0]) == ([True, True], False)
    assert not DeltaDisclosure.is_kept_by_union


@pytest.mark.parametrize("delta", [0, -1, "one", "NaN", float("inf"), True, None])
def test_delta_is_a_number_above_zero(delta):
    assert refused(DeltaDisclosure, k=4, delta=delta) == [("M003", "delta")]
