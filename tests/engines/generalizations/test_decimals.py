from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.engines.generalizations.decimals import (
    decimals,
    format_scaled,
    is_number,
    parse_scaled,
)


def read(*labels, least=0):
    found = decimals(np.array(labels, dtype=object), least)
    return found.quanta.tolist(), found.exponent


@pytest.mark.parametrize(
    ("labels", "numbers"),
    [
        (["-20", "0", "35"], ([-20, 0, 35], 0)),
        (["1.50", "20", "3.", ".5"], ([15, 200, 30, 5], -1)),
        (["1e3", "2.5e-1"], ([100_000, 25], -2)),
        (["1e+22"], ([10**22], 0)),
        (["0.1234567890123456789"], ([1234567890123456789], -19)),
        (["9007199254740993"], ([9007199254740993], 0)),
        ([], ([], 0)),
    ],
)
def test_decimals_are_whole_multiples_of_a_power_of_ten(labels, numbers):
    assert read(*labels) == numbers


def test_decimals_have_the_exponent_asked_for():
    assert read("1", least=-2) == ([100], -2)
    assert read("100", least=2) == ([100], 0)


@pytest.mark.parametrize(
    ("number", "exponent", "label"),
    [
        (0, -3, "0"),
        (20, 0, "20"),
        (205, -1, "20.5"),
        (-30, -2, "-0.3"),
        (3000, -2, "30"),
        (5, -9, "5e-9"),
        (-125, -12, "-1.25e-10"),
        (1, 300, "1e+300"),
        (10**21, 0, "1e+21"),
        (10**20, 0, "1" + "0" * 20),
    ],
)
def test_written_is_plain_unless_that_were_long(number, exponent, label):
    assert format_scaled(number, exponent) == label


def test_is_number_tells_numbers_from_times():
    labels = ("1", "-2.5", ".5", "1e-300", "2020-01-01", "08:00", "x", "")
    assert list(map(is_number, labels)) == [True] * 4 + [False] * 4


@given(st.integers(), st.integers(-40, 40))
def test_a_written_number_is_the_number(number, exponent):
    label = format_scaled(number, exponent)
    assert Decimal(label) == Decimal(f"{number}e{exponent}")
    assert parse_scaled(label) == parse_scaled(f"{number}e{exponent}")


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False).map(repr), min_size=1))
def test_decimals_are_exact(labels):
    quanta, exponent = read(*labels)
    assert [Decimal(f"{n}e{exponent}") for n in quanta] == list(map(Decimal, labels))
