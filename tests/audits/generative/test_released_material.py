"""Made-up rows and those of their table in one code: exact, and by the whole table."""

from datetime import date
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.generative.released_material import coded_release
from policy_engine.engines.tables import read_table

LARGE = 8_939_010_000_000_000_000


def coded(values, kind=None, made=None):
    """Return the only column of a table of values, half of them learnt, its own rows made up."""
    table = pa.table({"x": pa.array(values, kind)})
    half = len(values) // 2
    made = table if made is None else made
    one = coded_release(table.slice(0, half), table.slice(half), made)
    return one, one.columns[0], one.values[:, 0][: len(values)].tolist()


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2, 3], pa.int8()),
        ([LARGE, LARGE + 1, LARGE + 2], pa.int64()),
        ([2**64 - 3, 2**64 - 2, 2**64 - 1], pa.uint64()),
        ([-(2**63), 0, 2**63 - 1], pa.int64()),
        ([Decimal("1e20"), Decimal("1e20") + 1, Decimal("1e20") + 2], pa.decimal128(38, 2)),
        ([str(10 * LARGE + place) for place in range(3)], None),
        ([1e306, 1.5e306, 2e306], pa.float64()),
        ([-1e308, 0.0, 1e308], pa.float64()),
        ([1e-200, 2e-200, 3e-200], pa.float64()),
        ([date(2020, 1, 1), date(2020, 1, 2), date(2020, 1, 3)], pa.date32()),
        ([10**18, 10**18 + 1, 10**18 + 2], pa.timestamp("ns")),
        (["2020-01-01T00:00:00Z", "2020-01-01T12:00:00Z", "2020-01-02T00:00:00Z"], None),
    ],
)
def test_numbers_and_times_are_shares_of_their_range(values, kind):
    one, column, shares = coded(values, kind)
    assert column.is_number
    assert shares == pytest.approx([0, 0.5, 1])
    assert one.exact[:, 0].tolist() == [0, 1, 2] * 2


def test_missing_and_infinite_numbers_are_apart():
    one, _, shares = coded([1.0, None, float("inf"), float("-inf"), 3.0, 1.0])
    assert np.array_equal(shares, [0, np.nan, 2, -1, 1, 0], equal_nan=True)
    assert one.exact[:6, 0].tolist() == [0, 1, 2, 3, 4, 0]
    assert np.array_equal(coded([1.0, None])[2], [0, np.nan], equal_nan=True)
    assert np.isnan(coded([None, None], pa.float64())[2]).all()


def test_a_few_texts_make_no_categories_of_numbers():
    _, column, shares = coded(["10", "20", "unknown", "30", "NA", "15"])
    assert column.is_number
    assert np.array_equal(shares, [0, 0.5, np.nan, 1, np.nan, 0.25], equal_nan=True)


@pytest.mark.parametrize(
    "values",
    [
        ["1", "01", "001"],
        ["a", "b", "1"],
        [b"a", b"\xff", b"c"],
        [True, False, None],
        ["10115", *(f"0{place}" for place in range(6)), *map(str, range(20, 40))],
    ],
)
def test_other_values_are_categories(values):
    one, column, codes = coded(values)
    assert not column.is_number
    assert len({*codes}) == len(values) == len({*one.exact[:, 0].tolist()})
    assert max(codes) < len(column.texts)
    assert (min(codes) < 0) == (None in values)


def test_rows_of_a_file_are_coded_as_those_made_up_of_it(tmp_path):
    (tmp_path / "a.csv").write_text(f"x,y\n1.50,a\n{LARGE},b\nunknown,c\n2,d\n")
    table = read_table(tmp_path / "a.csv")
    made = table.slice(1, 2)
    one = coded_release(table.slice(0, 2), table.slice(2), made)
    assert one.exact.tolist() == [[0, 0], [1, 1], [2, 2], [3, 3], [1, 1], [2, 2]]
    records = one.records("made up", np.array([4, 5]))
    assert (len(records), records.exact.tolist()) == (2, [[1, 1], [2, 2]])
