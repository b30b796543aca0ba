import pytest
from measuring import refused

from policy_engine.methods.privacy_models.k_anonymity import KAnonymity


def test_k_says_nothing_of_sensitive_values():
    assert not KAnonymity.is_about_values
    assert KAnonymity(k=3).k == 3


@pytest.mark.parametrize("k", [1, 0, -3, True, 2.5, "3", None])
def test_k_is_an_integer_of_two_or_more(k):
    assert refused(KAnonymity, k=k) == [("M003", "k")]


def test_k_is_needed():
    assert refused(KAnonymity) == [("M002", "k")]
