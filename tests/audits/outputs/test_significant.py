from decimal import Decimal

import pyarrow as pa
import pytest

from policy_engine.audits.outputs.significant import round_digits


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
