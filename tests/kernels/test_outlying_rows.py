from itertools import pairwise

import numpy as np
from drawn import axes_of, interval, members, price, tree
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.kernels.axis import UNIT
from policy_engine.kernels.outlying_rows import full_price, judge, places, spans

WHOLE = np.array([[0.0, 1.0]])


def judged(axes, sizes=None, ends=None):
    """Judge rows in classes of so many rows, one after the other; all in one by default."""
    rows = np.column_stack([*map(places, axes)])
    sizes = [len(rows)] if sizes is None else sizes
    ends = np.tile(WHOLE, (len(axes), 1)) if ends is None else np.array(ends, float)
    return judge(axes, ends, rows, np.arange(len(rows)), np.cumsum([0, *sizes]))


def test_an_extreme_value_gains_what_the_others_no_longer_cost():
    # Before, four rows cost 1 each; without the last, three cost 1/8, and one has lost all.
    found = judged([interval([0, 0, 1, 2], [0, 1 / 8, 1])])
    assert found.gain.tolist() == [0, 0, 0, 4 * UNIT - 3 * UNIT // 8 - UNIT]


def test_rows_at_one_place_are_removed_together():
    found = judged([interval([0, 0, 0, 0, 1, 1], [0, 1])])
    assert found.gain.tolist() == [0, 0, 0, 0, 2 * UNIT, 2 * UNIT]


def test_missing_values_that_hide_all_others_are_removed():
    found = judged([interval([0, 1, 1, 1], [0, 0], has_missing=True)])
    assert found.gain.tolist() == [3 * UNIT, 0, 0, 0]
    free = judged([interval([0, 1, 1, 1], [0, 0], has_missing=True, is_wildcard=True)])
    assert free.gain.tolist() == [0] * 4


def test_the_rarest_value_of_a_set_is_removed():
    # Three of four values cost 3/4 a row, two cost a half.
    found = judged([members([0, 0, 0, 1, 1, 3])])
    assert found.gain.tolist() == [0, 0, 0, 0, 0, 6 * 3 * UNIT // 4 - 5 * UNIT // 2 - UNIT]


def test_the_row_that_needs_a_higher_node_is_removed():
    taxonomy = [-1, 0, 1, 1, 0], [2, 3, 4], [1.0, 0.5, 0.0, 0.0, 0.0]
    found = judged([tree([0, 1, 0, 2], *taxonomy)])
    assert found.gain.tolist() == [0, 0, 0, 4 * UNIT - 3 * UNIT // 2 - UNIT]


def test_a_row_apart_in_two_dimensions_gains_in_both():
    column = [0, 0, 0, 0, 1], [0, 1 / 2, 1]
    found = judged([interval(*column), interval(*column)])
    assert found.gain.tolist() == [0, 0, 0, 0, 4 * UNIT - UNIT]


def test_nothing_is_gained_where_a_row_would_lose_more():
    assert judged([interval([0, 1], [0, 0.5, 1])]).gain.tolist() == [0, 0]
    weighty = interval([0, 0, 1], [0, 1 / 8, 1], weight=5.0)
    light = interval([0, 0, 1], [0, 0.5, 1], weight=0.5)
    assert judged([weighty, light]).gain.tolist() == [0, 0, 0]


def test_classes_are_judged_apart():
    found = judged([interval([0, 0, 0, 2, 1, 1, 1, 1], [0, 0.5, 1])], [4, 4])
    assert found.gain.tolist() == [0, 0, 0, 3 * UNIT, 0, 0, 0, 0]


def test_the_loss_of_classes_is_a_share_of_any_span():
    hulls = judged([interval([0, 1, 2, 3], [0, 0.25, 0.5, 1])], [2, 2]).hulls
    axes = [interval([0, 1, 2, 3])]
    assert hulls.loss(axes, WHOLE) == 2 * UNIT // 4 + 2 * UNIT // 2
    assert hulls.loss(axes, np.array([[0, 0.5]])) == 2 * UNIT // 2 + 2 * UNIT
    assert hulls.loss(axes, np.array([[0.25, 0.25]])) == 4 * UNIT


def test_spans_are_those_of_values_that_are_there():
    axes = [
        interval([0, 1, 2], [0, 0.25, 0.75], has_missing=True),
        interval([0] * 3, has_missing=True),
    ]
    rows = np.column_stack([*map(places, axes)])
    assert spans(axes, rows).tolist() == [[0.25, 0.75], [0, 0]]


@settings(deadline=None, max_examples=examples(100, times=10))
@given(st.data(), st.integers(1, 12), st.integers(1, 3))
def test_what_is_removed_gains_at_least_what_is_told(data, rows, classes):
    axes = [data.draw(axes_of(rows)) for _ in range(2)]
    class_of = data.draw(st.lists(st.integers(0, classes - 1), min_size=rows, max_size=rows))
    order = np.argsort(class_of, kind="stable")
    sizes = np.unique(class_of, return_counts=True)[1]
    ends, starts = np.tile(WHOLE, (2, 1)), np.append(0, np.cumsum(sizes))
    found = judge(axes, ends, np.column_stack([*map(places, axes)]), order, starts)
    parts = [order[a:b].tolist() for a, b in pairwise(starts)]
    assert abs(found.hulls.loss(axes, ends) - sum(cost(axes, part) for part in parts)) < ROUNDING
    for part in parts:
        best = [row for row in part if found.gain[row]]
        told = {int(found.gain[row]) for row in best}
        assert len(told) <= 1
        together = gained(axes, part, best) if best else 0
        alone = min((gained(axes, part, [row]) for row in best), default=0)
        assert max(together / max(len(best), 1), alone) >= max(told, default=0) - ROUNDING


ROUNDING = 1000
"""Prices are rounded to integers, and a row's share of a gain too."""


def gained(axes, rows, removed):
    """Return what a class of rows gains if some are removed, each of which has then lost all."""
    left = [row for row in rows if row not in removed]
    return cost(axes, rows) - cost(axes, left) - len(removed) * full_price(axes)


def cost(axes, rows):
    """Return what the cells of a class of rows cost."""
    return len(rows) * price(axes, rows)
