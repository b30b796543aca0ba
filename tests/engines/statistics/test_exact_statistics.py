"""The exact statistics of groups: whose rows are used, and what they sum to, worked by hand."""

import numpy as np
import pyarrow as pa
import pytest
from asking_statistics import BY_SEX, DAYS, MEDIAN, ROWS, UNITS, VISITS, step_of, visits
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.engines.statistics.row_cells import texts_of
from policy_engine.engines.statistics.tallies import (
    check_contributions,
    group_rows,
    merged,
    tally_table,
)
from policy_engine.errors import DataError, InternalError

SECRET = bytes(range(16))
HISTOGRAM = {
    "pe:function": "histogram",
    "pe:of": f"{VISITS}/days",
    "pe:candidates": ["1", "2"],
    "pe:name": "histogram",
}
MEAN = {**DAYS, "pe:function": "mean", "pe:name": "mean"}
VARIANCE = {**DAYS, "pe:function": "variance", "pe:name": "variance"}
PUBLIC = (("f",), ("m",))


def tally(table, *aggregates, public=PUBLIC, secret=SECRET, **changes):
    return tally_table(table, step_of(*aggregates, **changes), public, secret)


def test_groups_are_summed_exactly():
    table = visits(("a", "f", 3), ("a", "f", 20), ("b", "f", -1), ("c", "m", 5))
    result = tally(table, UNITS, ROWS, DAYS)
    assert result.keys == PUBLIC
    assert result.units == [2, 1]
    # 20 days are 14, -1 is 0.
    assert result.sums == [[2, 1], [3, 1], [17, 5]]


def test_a_mean_is_summed_around_the_middle():
    table = visits(("a", "f", 3), ("b", "f", 10))
    mean, squares, rows = [one[0] for one in tally(table, VARIANCE).sums]
    # In half days from 7: -8 and 6; squares 64 and 36, twice less 14^2 = 196.
    assert (mean, squares, rows) == (-2, 2 * 64 - 196 + 2 * 36 - 196, 2)


def test_ranks_and_histograms_count_rows_by_candidate():
    table = visits(("a", "f", 0), ("b", "f", 99), ("c", "f", None), ("d", "f", 2))
    ranks, counts = tally(table, MEDIAN, HISTOGRAM).sums
    assert ranks[0].tolist() == [1, 0, 1, *[0] * 11, 1]
    assert counts[0].tolist() == [0, 1]


def test_a_histogram_counts_a_unit_once():
    table = visits(("a", "f", 1), ("a", "f", 2), ("a", "f", 1), ("b", "f", 1))
    [counts] = tally(table, HISTOGRAM, maxRowsPerGroup=3).sums
    assert counts[0].sum() == 2
    assert counts[0][0] >= 1


def test_no_more_rows_of_a_unit_are_used_than_the_bound():
    table = visits(*[("a", "f", 1)] * 5, ("b", "f", 1))
    assert tally(table, ROWS).sums == [[3, 0]]


def test_no_more_groups_of_a_unit_are_used_than_the_bound():
    table = visits(("a", "f", 1), ("a", "m", 1), ("b", "m", 1))
    [counts] = tally(table, UNITS).sums
    assert sum(counts) == 2
    assert tally(table, UNITS, maxGroupsPerUnit=2).sums == [[1, 2]]


def test_rows_without_a_unit_or_a_public_group_are_left_out():
    table = visits((None, "f", 1), ("", "f", 1), ("a", None, 1), ("a", "x", 1), ("b", "f", 1))
    assert tally(table, ROWS).sums == [[1, 0]]


def test_groups_of_others_do_not_use_up_the_bound():
    table = visits(*[("a", f"x{number}", 1) for number in range(20)], ("a", "f", 1))
    assert tally(table, UNITS).sums == [[1, 0]]


def test_a_table_without_rows_has_all_public_groups():
    result = tally(visits(), UNITS, DAYS, MEDIAN)
    assert result.units == [0, 0]
    assert result.sums[0] == result.sums[1] == [0, 0]
    assert result.sums[2].sum() == 0


def test_groups_of_the_data_are_in_the_order_of_their_keys():
    table = visits(("a", "m", 1), ("b", "f", 1))
    result = tally(table, UNITS, by=[f"{VISITS}/sex"], delta="1e-6", public=None)
    assert result.keys == (("f",), ("m",))


def test_cells_of_csv_that_are_no_numbers_add_nothing():
    days = pa.array(["3", "n/a", "1e400", " 4 "])
    table = visits(*[(unit, "f", 0) for unit in "abcd"]).set_column(2, "days", days)
    assert tally(table, DAYS).sums == [[7 + 14, 0]]


def test_a_number_is_one_key_however_it_is_stored():
    by = [{"@id": f"{VISITS}/days", "pe:keys": ["5"]}]
    for kind in (pa.int64(), pa.float64(), pa.decimal128(21, 1)):
        table = visits(("a", "f", 5)).set_column(2, "days", pa.array([5]).cast(kind))
        assert tally(table, UNITS, by=by, public=(("5",),)).sums == [[1]]


FAR = 2**62


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([10**37 + 1, 10**37 + 2], pa.decimal128(38, 0)),  # more digits than decimals of Python
        ([1, 2], pa.time64("ns")),  # finer than microseconds
        ([FAR, FAR - 1, -FAR], pa.timestamp("us", "Europe/Berlin")),  # no year of a calendar
        ([2**31 - 1, -(2**31)], pa.date32()),
        ([FAR, 1], pa.duration("us")),
        ([1, 2], pa.timestamp("ns")),
    ],
)
def test_units_of_any_type_are_told_apart_and_fail_nowhere(values, kind):
    raw = pa.array(values, kind if pa.types.is_decimal(kind) else pa.int64())
    narrow = raw.cast(pa.int32()) if pa.types.is_date(kind) else raw
    units = narrow if pa.types.is_decimal(kind) else narrow.cast(kind)
    table = visits(*[(str(place), "f", 1) for place in range(len(values))])
    assert tally(table.set_column(0, "person", units), UNITS).units == [len(values), 0]


def test_dictionaries_of_many_chunks_have_all_their_values():
    chunks = [
        pa.array([f"{part}-{number}" for number in range(100)]).dictionary_encode()
        for part in range(3)
    ]
    narrow = [one.cast(pa.dictionary(pa.int8(), pa.string())) for one in chunks]
    table = visits(*[("p", "f", 1)] * 300).set_column(0, "person", pa.chunked_array(narrow))
    assert tally(table, UNITS).units == [300, 0]


def test_moments_and_days_have_texts_without_needless_zeros():
    moment = pa.array([1_500_000], pa.timestamp("us", "Europe/Berlin"))
    assert texts_of(moment) == ["1970-01-01 00:00:01.5Z"]
    assert texts_of(pa.array([0], pa.timestamp("ns"))) == ["1970-01-01 00:00:00"]
    assert texts_of(pa.array([1], pa.int32()).cast(pa.date32())) == ["1970-01-02"]
    assert texts_of(pa.array([True, None])) == ["true", None]


def test_nested_columns_are_refused_by_their_type():
    table = visits(("a", "f", 5)).set_column(1, "sex", pa.array([["f"]]))
    with pytest.raises(DataError, match="has no text"):
        tally(table, UNITS)


def test_sums_beyond_64_bits_are_exact():
    far = {**DAYS, "pe:lower": 0, "pe:upper": 2**31, "pe:function": "sum"}
    table = visits(*[(f"{number}", "f", 2**31) for number in range(3)])
    assert tally(table, far).sums == [[3 * 2**31, 0]]


ROWS_OF_VISITS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c", None]),
        st.sampled_from(["f", "m", "x", None]),
        st.integers(-2, 20) | st.none(),
    ),
    max_size=12,
)


@given(ROWS_OF_VISITS, st.permutations(range(12)), st.binary(min_size=16, max_size=16))
def test_the_order_of_rows_is_of_no_matter(rows, order, secret):
    shuffled = [rows[place] for place in order if place < len(rows)]
    one, other = (tally(visits(*some), UNITS, DAYS, secret=secret) for some in (rows, shuffled))
    assert one.sums == other.sums


@given(ROWS_OF_VISITS, st.integers(1, 2), st.integers(1, 3))
def test_one_unit_changes_no_number_by_more_than_its_sensitivity(rows, groups, most):
    """All numbers with and without a unit, whichever it is: what the whole guarantee rests on."""
    bounds = {"maxGroupsPerUnit": groups, "maxRowsPerGroup": most}
    figures = (UNITS, ROWS, DAYS, MEAN, VARIANCE, HISTOGRAM)
    step = step_of(*figures, **bounds)
    everybody = tally(visits(*rows), *figures, **bounds)
    without = tally(visits(*(row for row in rows if row[0] != "a")), *figures, **bounds)
    for noise, with_a, one in zip(step.noises(), everybody.sums, without.sums, strict=True):
        difference = np.abs(np.array(with_a) - np.array(one))
        by_group = difference.reshape(2, -1).sum(axis=1)
        assert (by_group <= noise.sensitivity).all()
        assert np.count_nonzero(by_group) <= noise.cells


@given(ROWS_OF_VISITS)
def test_parts_without_a_common_unit_are_merged_to_the_whole(rows):
    step = step_of(UNITS, DAYS, MEDIAN)
    parts = [visits(*(row for row in rows if row[0] == unit)) for unit in "abc"]
    tallies = [tally_table(part, step, PUBLIC, SECRET) for part in parts]
    whole, of_parts = (
        tally_table(visits(*rows), step, PUBLIC, SECRET),
        merged(tallies, step, PUBLIC),
    )
    assert whole.units == of_parts.units
    assert all(np.array_equal(a, b) for a, b in zip(whole.sums, of_parts.sums, strict=True))


@pytest.mark.parametrize(
    ("units", "groups", "values"),
    [
        ([0, 0, 0], [0, 0, 0], [1, 1, 1]),  # three rows in a group, two allowed
        ([0, 0], [0, 1], [1, 1]),  # two groups, one allowed
        ([0], [0], [15]),  # beyond the bound of a value
    ],
)
def test_contributions_beyond_the_bounds_are_found_before_any_noise(units, groups, values):
    arrays = [np.array(one, dtype=np.int64) for one in (units, groups, values)]
    with pytest.raises(InternalError):
        check_contributions(arrays[0], arrays[1], [arrays[2]], step_of(DAYS))


def test_several_columns_make_one_key():
    by = [*BY_SEX, {"@id": f"{VISITS}/days", "pe:keys": ["1", "2"]}]
    table = visits(("a", "f", 1), ("b", "f", 2), ("c", "m", 1), ("d", "m", 3), ("e", None, 1))
    public = [("f", "1"), ("f", "2"), ("m", "1"), ("m", "2")]
    groups, keys = group_rows(table, step_of(UNITS, by=by), public)
    assert groups.tolist() == [0, 1, 2, -1, -1]
    assert keys == tuple(public)


SYNTHETIC = {
    "by": [],
    "maxRowsPerGroup": 1,
    "query": {"pe:rows": 5},
}
SEX_COLUMN = {"pe:function": "synthetic", "pe:of": f"{VISITS}/sex", "pe:candidates": ["f", ""]}
DAYS_COLUMN = {key: DAYS[key] for key in DAYS if key != "pe:name"} | {"pe:function": "synthetic"}


def test_a_synthetic_table_counts_complete_rows_by_column_and_by_pair():
    """No day is out of bounds; a sex that is not declared, or a text that is no number, is."""
    table = visits(("a", "f", 1), ("b", None, 99), ("c", "x", 1), ("d", "f", None))
    result = tally(table, SEX_COLUMN, DAYS_COLUMN, public=((),), **SYNTHETIC)
    sex, days, pairs = (one[0].tolist() for one in result.sums)
    assert sex == [1, 1]
    assert days == [0, 1, *[0] * 12, 1]
    assert pairs == [0, 1, *[0] * 27, 1]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("fx"), st.integers(0, 3))))
def test_a_unit_is_one_row_of_a_synthetic_table(rows):
    step = step_of(SEX_COLUMN, DAYS_COLUMN, **SYNTHETIC)
    units = {unit for unit, sex, _ in rows if sex == "f"}
    whole = tally_table(visits(*rows), step, ((),), SECRET)
    assert [int(one.sum()) for one in whole.sums] == [len(units)] * 3
    parts = [
        tally_table(visits(*(row for row in rows if row[0] == unit)), step, ((),), SECRET)
        for unit in "abc"
    ]
    together = merged(parts, step, ((),))
    assert [one.tolist() for one in together.sums] == [one.tolist() for one in whole.sums]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("fx"), st.integers(0, 3))))
def test_one_unit_changes_one_count_of_each_column_and_pair_by_one(rows):
    step = step_of(SEX_COLUMN, DAYS_COLUMN, **SYNTHETIC)
    others = [row for row in rows if row[0] != "a"]
    whole, less = (tally_table(visits(*some), step, ((),), SECRET) for some in (rows, others))
    there = any(unit == "a" and sex == "f" for unit, sex, _ in rows)
    for one, other in zip(whole.sums, less.sums, strict=True):
        change = np.asarray(one) - np.asarray(other)
        assert max(change.ravel().tolist()) == int(there)
        assert np.abs(change).sum() == int(there)
