from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.methods.maskings.rounding import Rounding


def rounded(value, base):
    return Rounding(name="pay", base=base).mask(value)


@pytest.mark.parametrize(
    ("value", "base", "nearest"),
    [
        (24, 10, 20),
        (26, 10, 30),
        (25, 10, 30),  # a tie, away from zero
        (-25, 10, -30),
        (15, 10, 20),  # where ties to even are the same, and next where they are not
        (-4, 10, 0),
        (0, 10, 0),
        (Decimal("0.15"), 0.1, Decimal("0.2")),  # which is below a tie as a float
        (Decimal("2.675"), 0.01, Decimal("2.68")),
        (Decimal("-1.25"), 2.5, Decimal("-2.5")),
        (Decimal("3.75"), 2.5, 5),
    ],
)
def test_a_value_is_the_nearest_multiple_and_ties_go_away_from_zero(value, base, nearest):
    assert rounded(value, base) == nearest
    assert rounded(-value, base) == -nearest


@given(st.integers(-(10**6), 10**6), st.integers(1, 1000))
def test_what_is_rounded_keeps_the_rounding_and_is_as_near_as_can_be(value, base):
    masking = Rounding(name="pay", base=base)
    found = masking.mask(value)
    assert masking.keeps(found)
    assert 2 * abs(found - value) <= base
    assert masking.mask(found) == found


def test_only_multiples_keep_the_rounding():
    masking = Rounding(name="pay", base=0.1)
    assert masking.keeps(Decimal("-0.3"))
    assert not masking.keeps(Decimal("0.35"))
