"""What tells the rows of one stratum from others."""

from datetime import date, datetime, time
from decimal import Decimal

import pyarrow as pa
import pytest

from policy_engine.engines.masking.stratum_words import stratum_words

KEY = bytes(range(16))
NOON = datetime(2020, 2, 28, 12)  # noqa: DTZ001 (as a file writes it)
SAME = {
    "integers": (pa.array([1, 2, None]), ["1", " 2", None]),
    "floats": (pa.array([1.0, 0.5, float("nan")]), ["1", "5e-1", ""]),
    "few bits": (pa.array([0.1, 0.2], pa.float32()), ["0.1", "0.20"]),
    "decimals": (pa.array([Decimal("1.50"), Decimal(2)], pa.decimal128(9, 2)), ["1.5", "2"]),
    "truth": (pa.array([True, False]), ["true", "false"]),
    "dates": (pa.array([date(2020, 1, 2)]), ["2020-01-02"]),
    "times": (pa.array([time(9, 30)]), ["09:30"]),
    "moments": (pa.array([NOON], pa.timestamp("ms")), ["2020-02-28T12:00:00.000"]),
    "zones": (pa.array([NOON], pa.timestamp("us", "UTC")), ["2020-02-28 13:00:00+01:00"]),
    "texts": (
        pa.array(["a", "01", "2020-02-30 00:00", ""]),
        ["a ", "01", "2020-02-30 00:00", None],
    ),
    "many": (pa.array(["b", "a", "b"]).dictionary_encode(), ["b", "a", "b"]),
    "nothing": (pa.nulls(2), [None, ""]),
}


def words_of(column):
    return [tuple(one) for one in stratum_words([column], KEY).tolist()]


@pytest.mark.parametrize("name", SAME)
def test_strata_are_the_same_however_a_file_writes_their_values(name):
    typed, texts = SAME[name]
    assert words_of(typed) == words_of(pa.array(texts, pa.string()))


@pytest.mark.parametrize(
    "values",
    [
        pa.array([2**53, 2**53 + 1, -(2**53)]),
        pa.array(["01", "1", "a", "A", "", "2020-01-01 00:00", "2020-01-01"]),
        pa.array(["0.10000000000000000001", "0.10000000000000000002", "0.1"]),
        pa.array([1, 2, 1001], pa.timestamp("ns")),
        pa.array([[1], [2], None, []]),
    ],
    ids=str,
)
def test_other_values_are_other_strata(values):
    assert len({*words_of(values)}) == len(values)


def test_strata_of_several_columns_are_told_by_each():
    words = stratum_words([pa.array(["a", "a", "b"]), pa.array([1, 2, 1])], KEY)
    assert len({tuple(one) for one in words.tolist()}) == 3
