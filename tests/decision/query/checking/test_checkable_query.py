"""The units of rows, numbered."""

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.decision.query.checking.checkable_query import unit_numbers

CLOSE, FAR = [7, 9, 7, 8, 9], [7, 2**40, 7, -8, 2**40]


@pytest.mark.parametrize(
    "units",
    [
        pa.array(CLOSE, pa.int8()),
        pa.array(np.array(CLOSE, np.uint64) + 2**63),
        pa.array(FAR),
        pa.array([*CLOSE[:4], None]),
        pa.array([*"babcc"]),
    ],
)
def test_units_are_numbered_in_the_order_of_their_first_rows(units):
    first = [units.to_pylist().index(one) for one in units.to_pylist()]
    order = sorted({*first})
    assert unit_numbers(units).tolist() == [order.index(place) for place in first]


def test_no_rows_have_no_units():
    assert unit_numbers(pa.array([], pa.int64())).tolist() == []
