"""Marks of columns: the same for the same values in any order, and for no others."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.engines.masking.marks import cell_words, column_mark

KEY = b"k" * 16


@pytest.mark.parametrize(
    "values",
    [
        pa.array([3, 3, None, 5, 3, 3]),
        pa.array(["1.50", "1.5", "a", None, "a", "a"]),
        pa.array([Decimal("1.50"), Decimal("2.00"), None] * 3, pa.decimal128(9, 2)),
        pa.array([0.5, -0.0, 0.0, None, 0.5, 0.5]),
        pa.array([1, 2, 3]),
        pa.array([], pa.int64()),
        pa.ExtensionArray.from_storage(pa.json_(), pa.array(["1", "1", None, "2", "1", "1"])),
    ],
    ids=lambda values: str(values.type),
)
def test_a_mark_adds_up_the_words_of_all_cells_however_often_values_occur(values):
    column = pa.chunked_array([values[:2], values[2:]])
    expected = int(cell_words(values, None, KEY)[:, 0].sum(dtype=np.uint64))
    assert column_mark(column, None, KEY) == expected
    assert column_mark(pa.chunked_array([values[::-1]]), None, KEY) == expected
