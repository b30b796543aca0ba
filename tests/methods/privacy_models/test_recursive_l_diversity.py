import pytest
from measuring import DISEASE, holding, measured, refused, taken

from policy_engine.methods.privacy_model import Bound
from policy_engine.methods.privacy_models.recursive_l_diversity import RecursiveLDiversity

COUNTS = (["a", "a", "a", "b", "b", "c"], ["a", "a", "b"], ["a", "a", "a"])


def test_c_is_a_bound_that_is_not_reached():
    method = RecursiveLDiversity(k=3, c=2, l=3)
    assert method.bound(DISEASE) == Bound("recursive-c", "disease", 2, "below")
    assert method.diversity(DISEASE) == {"recursive": (2, 3)}


@pytest.mark.parametrize(
    ("l", "ratios"), [(2, [1, 2, float("inf")]), (3, [3, float("inf"), float("inf")])]
)
def test_the_greatest_count_is_divided_by_those_from_the_l_th_on(l, ratios):  # noqa: E741
    # Counts 3, 2, 1: 3 / (2 + 1) with l of 2, and 3 / 1 with l of 3.
    assert measured(RecursiveLDiversity(k=3, c=2, l=l), *COUNTS) == ratios


@pytest.mark.parametrize(
    ("c", "kept"), [(1, [False] * 3), (2, [True, False, False]), (2.5, [True, True, False])]
)
def test_a_class_holds_below_c(c, kept):
    method = RecursiveLDiversity(k=3, c=c, l=2)
    assert holding(method, *COUNTS) == taken(method, *COUNTS) == kept


@pytest.mark.parametrize("c", [0, -1, "many", "NaN", float("inf"), True, None])
def test_c_is_a_number_above_zero(c):
    assert refused(RecursiveLDiversity, k=3, c=c, l=2) == [("M003", "c")]


@pytest.mark.parametrize("l", [1, 2.5, "2", True])
def test_l_is_an_integer_of_two_or_more(l):  # noqa: E741
    assert refused(RecursiveLDiversity, k=3, c=2, l=l) == [("M003", "l")]
