from decimal import Decimal

from policy_engine.methods.maskings.bottom_coding import BottomCoding

MASKING = BottomCoding(name="pay", threshold=2.5)


def test_what_is_below_the_threshold_is_the_threshold():
    assert [MASKING.mask(value) for value in (-3, Decimal("2.5"), 3)] == [
        *(Decimal("2.5"), Decimal("2.5"), 3)
    ]


def test_no_value_below_the_threshold_keeps_it():
    assert [MASKING.keeps(value) for value in (2, Decimal("2.5"), 3)] == [False, True, True]
