import datetime as dt
from decimal import Decimal
from itertools import chain

import pyarrow as pa
import pytest

from policy_engine.engines.readings import parse_cell, record_marks
from policy_engine.errors import DataError

NOON = dt.datetime(2020, 1, 1, 12, tzinfo=dt.UTC)
SAME = {
    "a number": [
        *(["39"], ["39.0"], ["039"], ["+39"], [" 39 "], ["3.9e1"], ["390E-1"], [39], [39.0]),
        *(pa.array([39.0], pa.float16()), pa.array([39], pa.int8()), [Decimal("39.00")]),
        pa.array(["39.000"]).dictionary_encode(),
    ],
    "a fraction": [["0.1"], [".10"], [0.1], pa.array([0.1], pa.float32()), [Decimal("0.10")]],
    "a large number": [["1e19"], pa.array([10**19], pa.uint64()), [Decimal(10**19)]],
    "nothing": [["0"], ["-0.0"], [-0.0], [0]],
    "truth": [["true"], ["TRUE"], [True], ["1"], [1.0]],
    "a day": [
        ["2020-01-01"],
        [dt.date(2020, 1, 1)],
        ["2020-01-01T00:00"],
        [NOON.replace(hour=0, tzinfo=None)],
    ],
    "a moment": [
        *(["2020-01-01T12:00Z"], ["2020-01-01 13:00:00.000+01:00"], [NOON]),
        pa.array([NOON], pa.timestamp("ns", "Europe/Rome")),
    ],
    "a time of day": [["07:30"], ["07:30:00.00"], [dt.time(7, 30)]],
    "nobody knows": [[""], [None], pa.array([None], pa.int8())],
}
OTHER = ["39 a", "thirty-nine", "Rome", "Rome ", "rome", "nan", "1e400", "2020-13-01", "[20 - 40]"]


def mark(cells):
    return record_marks(pa.table({"x": cells}), ["x"])[0]


@pytest.mark.parametrize("what", SAME)
def test_a_cell_says_the_same_however_it_is_written(what):
    assert len({mark(cells) for cells in SAME[what]}) == 1


def test_other_cells_say_other_things():
    cells = [*(given[0] for given in SAME.values()), *([text] for text in OTHER)]
    assert len({mark(one) for one in cells}) == len(cells)


@pytest.mark.parametrize("text", OTHER)
def test_a_text_is_itself(text):
    assert parse_cell(text) == text


def test_a_cell_says_the_same_in_whatever_table_it_stands():
    column = list(chain.from_iterable([["39.0"], OTHER, ["39"]]))
    marks = record_marks(pa.table({"y": column, "x": ["a"] * len(column)}), ["x", "y"])
    assert marks[0] == marks[-1]
    assert len(set(marks.tolist())) == len(column) - 1
    assert record_marks(pa.table({"x": ["a"], "y": [39]}), ["x", "y"])[0] == marks[0]


def test_a_type_without_equality_is_refused():
    with pytest.raises(DataError, match="C009 The column 'x' is of type list"):
        mark([[1, 2]])
