from decimal import Decimal

import pyarrow as pa
import pytest

from policy_engine.audits.outputs.significant import round_digits, without_dust


@pytest.mark.parametrize(
    ("values", "rounded"),
    [
        ([123456, -99999, 7, 0, None], [123500, -100000, 7, 0, None]),
        ([0.00123456, 98765.4, None], [0.001235, 98770.0, None]),
        ([Decimal("1234.56")], [1235.0]),
        (["a text"], ["a text"]),
    ],
)
def test_numbers_keep_four_digits(values, rounded):
    assert round_digits(pa.chunked_array([values]), 4).to_pylist() == rounded


def test_floats_have_the_digits_that_are_certain():
    column = pa.chunked_array([[0.1 + 0.2, 3 * 0.1 / 10, 2.0**60 + 0.0, None, 1 / 3]])
    assert without_dust(column).to_pylist() == [0.3, 0.03, 2.0**60, None, 0.333333333333333]
    whole = pa.chunked_array([[12345678901234567, None]])
    assert without_dust(whole) is whole
