import pytest
from measuring import DISEASE, holding, measured, refused, taken

from policy_engine.methods.privacy_model import Bound
from policy_engine.methods.privacy_models.entropy_l_diversity import EntropyLDiversity


def test_l_is_a_bound_on_entropy():
    method = EntropyLDiversity(k=3, l=1.5)
    assert method.bound(DISEASE) == Bound("entropy-l", "disease", 1.5, "at least")
    assert method.diversity(DISEASE) == {"entropy": 1.5}


def test_l_is_how_many_equally_frequent_values_are_as_uncertain():
    # Of shares 2/3 and 1/3 the entropy is ln 3 - 2/3 ln 2, and 3 / 2 ** (2/3) is 1.89.
    classes = (["a", "b", "c"], ["a", "a", "b"], ["a", "a", None])
    found = measured(EntropyLDiversity(k=2, l=2), *classes)
    assert found == pytest.approx([3, 3 / 2 ** (2 / 3), 1])


@pytest.mark.parametrize(
    ("l", "kept"), [(1.8, [True, True]), (1.9, [True, False]), (2, [True, False])]
)
def test_two_equally_frequent_values_are_exactly_two(l, kept):  # noqa: E741
    method, classes = EntropyLDiversity(k=2, l=l), (["a", "b"], ["a", "a", "b"])
    assert holding(method, *classes) == taken(method, *classes) == kept


@pytest.mark.parametrize("l", [1, 0.5, -2, "two", "NaN", float("inf"), True, None])
def test_l_is_a_number_above_one(l):  # noqa: E741
    assert refused(EntropyLDiversity, k=2, l=l) == [("M003", "l")]
