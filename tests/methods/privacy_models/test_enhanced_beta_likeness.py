import pytest
from measuring import DISEASE, holding, measured, refused, taken

from policy_engine.methods.privacy_model import Bound
from policy_engine.methods.privacy_models.enhanced_beta_likeness import EnhancedBetaLikeness

# Of eight rows two have a. A gain of 1 is within -ln 1/4, or 1.39; that of b in the second class,
# 1/3, is beyond -ln 3/4, or .29.
CLASSES = (["a", "b", "a", "b"], ["b", "b", "b", "b"])


def test_beta_is_a_bound_on_the_gain_of_a_value():
    method = EnhancedBetaLikeness(k=4, beta=1)
    assert method.bound(DISEASE) == Bound("enhanced-beta", "disease", 1, "at most")
    assert method.diversity(DISEASE) == {"enhanced_beta": 1}


def test_no_beta_mends_a_frequent_value_that_becomes_certain():
    assert measured(EnhancedBetaLikeness(k=4, beta=9), *CLASSES) == [1, float("inf")]


@pytest.mark.parametrize(("beta", "kept"), [(9, [True, False]), (0.9, [False, False])])
def test_a_class_holds_up_to_beta(beta, kept):
    method = EnhancedBetaLikeness(k=4, beta=beta)
    assert holding(method, *CLASSES) == taken(method, *CLASSES) == kept


@pytest.mark.parametrize("beta", [0, -1, "one", "NaN", float("inf"), True, None])
def test_beta_is_a_number_above_zero(beta):
    assert refused(EnhancedBetaLikeness, k=4, beta=beta) == [("M003", "beta")]
