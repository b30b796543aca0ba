"""Which tables may list the combinations of keys that nobody has."""

import numpy as np

from policy_engine.audits.outputs.filled_keys import MOST_FILLED, can_be_filled
from policy_engine.audits.outputs.microdata import CodedColumn


def key(name, *codes):
    return CodedColumn(name, np.array(codes), tuple(range(max(codes) + 1)))


def test_keys_that_cross_are_filled_and_districts_of_regions_are_not():
    job, region, district = key("j", 0, 1, 0, 1), key("r", 0, 0, 1, 1), key("d", 0, 1, 2, 2)
    assert can_be_filled((job, region))
    assert not can_be_filled((region, district))
    assert not can_be_filled((region,))


def test_too_many_combinations_are_not_filled():
    numbers = np.arange(MOST_FILLED)
    many = CodedColumn("m", numbers, tuple(range(MOST_FILLED)))
    assert not can_be_filled((many, CodedColumn("n", numbers % 2, (0, 1))))
