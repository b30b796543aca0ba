import pytest
from measuring import DISEASE, holding, measured, refused, taken

from policy_engine.methods.privacy_model import Bound
from policy_engine.methods.privacy_models.alpha_k_anonymity import AlphaKAnonymity

CLASSES = (["a", "b", "c", "d"], ["a", "a", "b", "c"], ["a", "a", "a", None])


def test_alpha_is_a_bound_on_the_share_of_a_value():
    method = AlphaKAnonymity(k=4, alpha=0.5)
    assert method.bound(DISEASE) == Bound("alpha", "disease", 0.5, "at most")
    assert method.diversity(DISEASE) == {"alpha": 0.5}


def test_alpha_is_the_share_of_the_most_frequent_value_among_those_who_have_one():
    assert measured(AlphaKAnonymity(k=4, alpha=0.5), *CLASSES) == [0.25, 0.5, 1]


def test_alpha_is_a_share_of_persons_where_there_is_a_unit_of_privacy():
    # Person 0 has flu three times, and so once; one of two persons has it.
    given = {"persons": [[0, 0, 0, 1]]}
    assert measured(AlphaKAnonymity(k=2, alpha=0.5), ["a", "a", "a", "b"], **given) == [0.5]


@pytest.mark.parametrize(
    ("alpha", "kept"), [(0.2, [False] * 3), (0.5, [True, True, False]), (0.9, [True, True, False])]
)
def test_a_class_holds_up_to_alpha(alpha, kept):
    method = AlphaKAnonymity(k=4, alpha=alpha)
    assert holding(method, *CLASSES) == taken(method, *CLASSES) == kept


@pytest.mark.parametrize("alpha", [0, 1, 1.5, -0.5, "half", "NaN", True, None])
def test_alpha_is_a_number_above_zero_and_below_one(alpha):
    assert refused(AlphaKAnonymity, k=4, alpha=alpha) == [("M003", "alpha")]
