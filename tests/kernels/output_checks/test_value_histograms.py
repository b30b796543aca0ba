"""Whether a total and a count tell how many have which value."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.output_checks.value_histograms import can_have_more, tell_counts


def possible(values, counts, place, least):
    """Return whether there are other counts, by trying all of them."""
    rows, total = sum(counts), sum(v * n for v, n in zip(values, counts, strict=True))
    return any(
        sum(some) == rows
        and sum(v * n for v, n in zip(values, some, strict=True)) == total
        and some[place] >= least
        for some in product(range(rows + 1), repeat=len(values))
    )


def fractions(*values):
    return [Fraction(value) for value in values]


@pytest.mark.parametrize(
    ("values", "counts", "is_open"),
    [
        ([0, 1], [5, 1], False),
        # Of nine rows with a total of 150, one has 100.
        ([0, 1, 100], [50, 50, 1], False),
        ([0, 1, 2], [9, 2, 0], False),
        ([0, 1, 2], [2, 9, 0], True),
        ([0.5, 1.0, 1.5], [2, 9, 0], True),
        ([1, 2, 3, 4], [20, 20, 20, 1], True),
    ],
)
def test_total_is_open_where_others_have_the_same(values, counts, is_open):
    place = len(values) - 1
    assert can_have_more(fractions(*values), counts, place, 3) is is_open


@given(
    st.lists(st.integers(0, 9), min_size=2, max_size=4, unique=True),
    st.lists(st.integers(0, 3), min_size=4, max_size=4),
    st.integers(0, 1),
    st.integers(1, 4),
)
def test_what_is_found_is_possible(values, counts, place, least):
    counts = counts[: len(values)]
    if can_have_more(fractions(*values), counts, place, least):
        assert possible(values, counts, place, least)


@pytest.mark.parametrize(
    ("values", "rows", "is_told"),
    [
        ([0.0, 137.77, 200.0], [40, 1, 40], True),
        ([1.0, 3.0, 5.0], [30, 2, 30], False),
        ([1.0, 3.0, float("inf")], [30, 2, 30], True),
    ],
)
def test_a_total_tells_how_many_have_each_value_unless_enough_might_have_it(values, rows, is_told):
    assert tell_counts(values, rows, [one < 10 for one in rows], 10) is is_told
