import numpy as np
import pytest
from drawn import interval, members
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.kernels.axis import UNIT
from policy_engine.kernels.outlying_rows import ClassHulls
from policy_engine.kernels.trimmed_rows import (
    TAIL_BINS,
    BinCounts,
    ChosenBins,
    LineEnd,
    LineTail,
    choose,
    count_rows,
    gain_bins,
    possible_tails,
    rest_of_line,
    tail_bins,
    tail_losses,
)

WHOLE = np.array([0.0, 1.0])
HIGH = LineEnd(0, is_high=True)


def test_there_are_64_bins_from_a_gain_to_its_double():
    bins = gain_bins(np.array([0, 1, 2, 4, 5, 2**40, 2**41]))
    assert bins[0] == 0
    assert np.diff(bins[[1, 2, 3, 5, 6]]).tolist() == [64, 64, 64 * 38, 64]
    assert bins[4] == bins[3] + 16


@settings(deadline=None, max_examples=examples(100, times=10))
@given(st.lists(st.integers(0, 2**52), min_size=2, max_size=50))
def test_a_greater_gain_is_never_in_a_lower_bin(gains):
    bins = gain_bins(np.sort(np.array(gains)))
    assert (np.diff(bins) >= 0).all()


def test_a_place_is_in_a_bin_by_what_is_left_of_the_line_there():
    place = np.array([1, 0.5, 0.25, 0.0, -1.0])
    assert tail_bins(place, WHOLE, is_high=True).tolist() == [0, 64, 128, *[TAIL_BINS - 1] * 2]
    assert tail_bins(1 - place[:3], WHOLE, is_high=False).tolist() == [0, 64, 128]
    assert tail_bins(place, np.array([0.5, 0.5]), is_high=True).tolist() == [TAIL_BINS - 1] * 5


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30))
def test_rows_nearer_to_an_end_are_never_in_a_later_bin(place):
    bins = tail_bins(np.sort(np.array(place)), WHOLE, is_high=True)
    assert (np.diff(bins) <= 0).all()
    assert ((bins >= 0) & (bins < TAIL_BINS)).all()


def test_bins_of_the_greatest_gains_are_chosen_whole_as_long_as_there_is_room():
    counts = BinCounts({0: 90, 5: 3, 7: 4, 9: 4})
    axes = [members([0, 1])]
    assert choose(counts, axes, [0], {}, 7) == ChosenBins((9, 5), (), 7)
    assert choose(counts, axes, [0], {}, 11) == ChosenBins((9, 7, 5), (), 11)
    assert choose(counts, axes, [0], {}, 2) == ChosenBins()


def test_a_tail_is_chosen_where_the_rest_of_the_line_is_short():
    # One row in a hundred spans a line, the others its first thousandth: their cells, a tenth of
    # that, could cost a thousand times as much.
    axes, place = [interval([0, 1]), members([0, 1])], np.linspace(0, 0.001, 100)[:, None]
    place = np.column_stack([place, np.zeros(100)])
    place[7, 0] = 1
    ends = np.array([[0, 1.0], [0, 0]])
    counts = count_rows(axes, np.zeros(100, np.int32), place, ends)
    [tail] = possible_tails(counts, 1)
    loss, stretched = [100 * UNIT // 10_000, 0], {tail: 100 * UNIT // 10}
    found = choose(counts, axes, loss, stretched, 1)
    assert found == ChosenBins((), (tail,), 1)
    assert np.flatnonzero(found.holds(np.zeros(100, np.int32), place, ends)).tolist() == [7]
    assert choose(counts, axes, loss, {tail: 100 * UNIT // 1000}, 1) == ChosenBins()
    assert possible_tails(counts, 0) == ()


def test_a_tail_ends_where_its_bins_do():
    place = np.array([1, 0.9, 0.5, 0.4, 0.2, 0])
    span, column = np.array([0, 2.0]), interval([0, 1])
    counts = count_rows([column], np.zeros(6, np.int32), 2 * place[:, None], span[None])
    tails, low = possible_tails(counts, 3), LineEnd(0, is_high=False)
    assert tails == (
        *(LineTail(low, bins) for bins in (16, 32, 64)),
        LineTail(HIGH, 16),
        LineTail(HIGH, 80),
    )
    rests = [rest_of_line(one, span).tolist() for one in tails]
    assert rests == [[0.25, 2], [0.5, 2], [1, 2], [0, 1.75], [0, 0.875]]
    taken = [
        ChosenBins((), (one,)).holds(np.zeros(6), 2 * place[:, None], span[None]) for one in tails
    ]
    assert [one.sum() for one in taken] == [1, 2, 3, 2, 3]


def test_the_loss_without_a_tail_is_that_on_the_rest_of_the_line():
    ends = np.array([[0, 1.0]])
    hulls = ClassHulls(np.array([3, 2]), np.zeros(2, int), *np.array([[[0], [0.5]], [[0.25], [1]]]))
    tails = [LineTail(HIGH, 64), LineTail(LineEnd(0, is_high=False), 64)]
    assert tail_losses(hulls, [interval([0, 1])], ends, tails) == {
        tails[0]: 3 * UNIT // 2 + 2 * UNIT,
        tails[1]: 3 * UNIT // 2 + 2 * UNIT,
    }


@settings(deadline=None, max_examples=examples(50, times=10))
@given(st.data(), st.integers(1, 30), st.integers(0, 10))
def test_no_more_rows_are_chosen_than_may_be_and_parts_are_counted_as_one(data, rows, limit):
    numbers = st.lists(st.floats(0, 1), min_size=rows, max_size=rows)
    place = np.array([data.draw(numbers) for _ in range(2)]).T
    bins = np.array(data.draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows)), np.int32)
    axes, ends = [interval([0, 1])] * 2, np.tile(WHOLE, (2, 1))
    whole = count_rows(axes, bins, place, ends)
    cut = data.draw(st.integers(0, rows))
    parts = (
        count_rows(axes, bins[one], place[one], ends) for one in (slice(cut), slice(cut, None))
    )
    tails = dict.fromkeys(possible_tails(whole, limit), rows * UNIT // 2)
    found = choose(sum(parts, BinCounts()), axes, [rows * UNIT // 50] * 2, tails, limit)
    assert found == choose(whole, axes, [rows * UNIT // 50] * 2, tails, limit)
    assert found.holds(bins, place, ends).sum() <= found.rows <= limit
    if found.rows == limit == 0:
        assert found == ChosenBins()


def test_a_count_is_told_by_its_side():
    one = BinCounts.of_tail(HIGH, 3, 5)
    both = one + one + BinCounts({2: 1})
    assert both.tails[HIGH][3] == both.tails[HIGH].sum() == 10
    assert both.gains == {2: 1}
    assert one.gains == pytest.approx({})
