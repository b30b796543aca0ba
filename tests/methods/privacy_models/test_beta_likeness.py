import pytest
from measuring import DISEASE, holding, measured, refused, taken

from policy_engine.methods.privacy_model import Bound
from policy_engine.methods.privacy_models.beta_likeness import BetaLikeness

# Of eight rows two have a: 1/4. In the first class it is 1/2, a gain of (1/2 - 1/4) / (1/4).
CLASSES = (["a", "b", "a", "b"], ["b", "b", "b", "b"])


def test_beta_is_a_bound_on_the_gain_of_a_value():
    method = BetaLikeness(k=4, beta=1)
    assert method.bound(DISEASE) == Bound("beta", "disease", 1, "at most")
    assert method.diversity(DISEASE) == {"beta": 1}


def test_beta_is_the_greatest_gain_relative_to_the_share_in_the_table():
    assert measured(BetaLikeness(k=4, beta=1), *CLASSES) == pytest.approx([1, 1 / 3])


def test_a_class_without_values_gains_without_limit():
    assert measured(BetaLikeness(k=2, beta=1), ["a", "a"], [None, None]) == [0, float("inf")]


@pytest.mark.parametrize(
    ("beta", "kept"), [(1, [True, True]), (0.9, [False, True]), (0.3, [False, False])]
)
def test_a_class_holds_up_to_beta(beta, kept):
    method = BetaLikeness(k=4, beta=beta)
    assert holding(method, *CLASSES) == taken(method, *CLASSES) == kept


@pytest.mark.parametrize("beta", [0, -1, "one", "NaN", float("inf"), True, None])
def test_beta_is_a_number_above_zero(beta):
    assert refused(BetaLikeness, k=4, beta=beta) == [("M003", "beta")]
