from decimal import Decimal

from policy_engine.methods.maskings.top_coding import TopCoding

MASKING = TopCoding(name="pay", threshold=-2.5)


def test_what_is_above_the_threshold_is_the_threshold():
    assert [MASKING.mask(value) for value in (-3, Decimal("-2.5"), Decimal("-2.4"), 7)] == [
        *(-3, Decimal("-2.5"), Decimal("-2.5"), Decimal("-2.5"))
    ]


def test_no_value_above_the_threshold_keeps_it():
    assert [MASKING.keeps(value) for value in (-3, Decimal("-2.5"), -2)] == [True, True, False]
