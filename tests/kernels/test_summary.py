import numpy as np
from drawn import axes_of, interval, ints, members, price
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.kernels.axis import Axis, Members, pack_axes
from policy_engine.kernels.extent import extent
from policy_engine.kernels.summary import price_codes, summarise, summary


class Brief:
    """A node of all rows, summarised."""

    def __init__(self, axes):
        rows = np.column_stack([axis.codes for axis in axes])
        self.axes, self.state = pack_axes(axes), extent(pack_axes(axes)).state
        self.summary = summary(self.axes)
        self.node = np.zeros((len(axes), 3), dtype=np.int64)
        self.node[:, 0], self.node[:, 1] = rows.min(axis=0), rows.max(axis=0)
        summarise(self.axes, self.summary, rows, 0, len(rows), self.node)

    def prices(self, dim, turns, side):
        """What the first or the last of these codes cost together, for each number of them."""
        codes = np.zeros((len(turns), 2), dtype=np.int64)
        codes[:, 1] = np.array(turns) - self.node[dim, 0]
        state, found = self.state, self.summary.prices
        price_codes(self.axes, self.summary, state, self.node, dim, codes, len(turns), side)
        return found[side, : len(turns)].tolist()


def test_summary_counts_the_rows_of_every_code():
    brief = Brief([interval([0, 2, 2, 1, 2]), members([0, 0, 1, 1, 1])])
    assert brief.summary.times.tolist() == [1, 1, 3, 2, 3]


def test_summary_can_be_filled_again():
    axes = [interval([0, 1, 1]), interval([0, 1, 0])]
    brief = Brief(axes)
    rows = np.column_stack([axis.codes for axis in axes])
    summarise(brief.axes, brief.summary, rows, 0, 3, brief.node)
    assert brief.summary.times.tolist() == [1, 2, 2, 1]


def test_summary_has_a_word_for_every_64_members_and_one_for_what_is_no_set():
    axes = [members(range(64)), members(range(65)), interval(range(1000)), members([0])]
    assert summary(pack_axes(axes)).word.tolist() == [0, 1, 3, 4, 5]


def test_summary_is_empty_where_it_would_take_too_much():
    assert len(summary(pack_axes([members(range(1_000))])).times) == 1_000
    assert len(summary(pack_axes([members(range(50_000))])).times) == 0


def test_prices_count_the_members_of_a_set_in_every_word():
    column = Axis(ints([0, 63, 64, 127, 128, 999]), Members(1000))
    axes = [interval([0, 0, 0, 1, 1, 1]), column]
    share = 2**24 // 1000
    assert Brief(axes).prices(0, [0, 1], 0) == [3 * share, 2**24 + 6 * share]
    assert Brief(axes).prices(0, [0, 1], 1) == [3 * share, 2**24 + 6 * share]


@settings(deadline=None)
@given(st.data())
def test_prices_are_those_of_the_rows_of_the_codes(data):
    rows = data.draw(st.integers(2, 20))
    axes = data.draw(st.lists(axes_of(rows, widest=200), min_size=1, max_size=4))
    brief = Brief(axes)
    for dim, axis in enumerate(axes):
        occurring = sorted(set(axis.codes.tolist()))
        turns = data.draw(st.permutations(occurring))
        if len(occurring) > 1:
            first = [rows_of(axis, turns[: n + 1]) for n in range(len(turns))]
            last = [rows_of(axis, turns[-n - 1 :]) for n in range(len(turns))]
            assert brief.prices(dim, turns, 0) == [price(axes, held) for held in first]
            assert brief.prices(dim, turns, 1) == [price(axes, held) for held in last]


def rows_of(axis, codes):
    return np.flatnonzero(np.isin(axis.codes, codes)).tolist()
