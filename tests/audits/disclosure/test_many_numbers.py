"""Columns of many numbers are matched as those of few are."""

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.disclosure import numbers
from policy_engine.audits.disclosure.files import known_columns
from policy_engine.audits.disclosure.numbers import match_numbers

TEXT = pa.field("rate", pa.string(), metadata={"csv": ""})
BEFORE = pa.table(
    [pa.array([3, None, 10, 2]), pa.array(["1.50", "-2", None, "7e2"])],
    schema=pa.schema([pa.field("pay", pa.int64()), TEXT]),
)
AFTER = pa.table({"pay": [2, 10, 4], "rate": ["1.5", "700", "-2.0"]})


@pytest.mark.parametrize("name", ["pay", "rate"])
def test_many_numbers_are_matched_as_few_are(monkeypatch, name):
    few = known_columns(BEFORE, AFTER, [name], None, {})[0]
    monkeypatch.setattr(numbers, "LEAST_ROWS", 4)
    many = known_columns(BEFORE, AFTER, [name], None, {})[0]
    assert match_numbers(name, BEFORE, AFTER) is not None
    assert (many.before.tolist(), many.has_missing) == (few.before.tolist(), few.has_missing)
    assert many.after.cell_of.tolist() == few.after.cell_of.tolist()
    assert np.array_equal(many.known_numbers(), few.known_numbers(), equal_nan=True)
    assert many.is_number is few.is_number is True


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["2020-01-01"] * 4, ["2020-01-02"] * 4),
        (["1", "2", "3", "1234567890123456.5"], ["1"] * 4),
        ([1, 2, 3, 2**53 + 1], [1, 2, 3, 4]),
        ([1.0, 2, 3, float("inf")], [1.0, 2, 3, 4]),
        (["1", "2", "3", "4"], ["1", "2", "3", ">3"]),
    ],
    ids=["dates", "digits", "integers", "infinite", "labels"],
)
def test_numbers_that_floats_do_not_hold_are_matched_as_texts(monkeypatch, before, after):
    monkeypatch.setattr(numbers, "LEAST_ROWS", 1)
    field = pa.field("x", pa.array(before).type, metadata={"csv": ""})
    original = pa.table([before], schema=pa.schema([field]))
    assert match_numbers("x", original, pa.table({"x": after})) is None


def test_texts_of_a_file_with_types_are_no_numbers(monkeypatch):
    monkeypatch.setattr(numbers, "LEAST_ROWS", 1)
    table = pa.table({"x": ["1", "2"]})
    assert match_numbers("x", table, table) is None
