import pytest

from policy_engine.errors import ServiceError
from policy_engine.service.calls.rates import RateLimit


def test_a_bucket_fills_again_within_a_minute():
    moments = iter([0, 0, 0, 30, 30])
    limit = RateLimit(2, clock=lambda: next(moments))
    limit.spend("ada")
    limit.spend("ada")
    with pytest.raises(ServiceError, match="N006"):
        limit.spend("ada")
    limit.spend("ada")  # half a minute later there is one more
    with pytest.raises(ServiceError, match="N006"):
        limit.spend("ada")


def test_callers_do_not_spend_what_is_others():
    limit = RateLimit(1, clock=lambda: 0)
    limit.spend("ada")
    limit.spend("bob")
