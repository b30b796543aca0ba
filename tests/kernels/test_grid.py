import numpy as np
from drawn import interval, tables
from everyday import examples
from hypothesis import given, settings

from policy_engine.kernels.grid import grid


def classes(axes, size, holds=None):
    found = grid(axes, size, holds)
    return [set(part.tolist()) for part in np.split(found.order, found.starts[1:-1])]


def test_a_dimension_is_cut_at_the_boundary_nearest_the_median():
    assert classes([interval([3, 0, 2, 1])], 2) == [{1, 3}, {0, 2}]
    assert classes([interval([0, 0, 0, 1])], 2) == [{0, 1, 2, 3}]


def test_the_widest_interval_is_cut_first():
    narrow, wide = interval([0, 0, 1, 1], [0, 0.5]), interval([0, 1, 0, 1])
    assert classes([narrow, wide], 2) == [{0, 2}, {1, 3}]


def test_a_cut_goes_through_all_classes_or_through_none():
    # After the cut of the first column, one of the second would leave a class of one row.
    first, second = interval([0, 0, 0, 1, 1, 1]), interval([0, 0, 1, 0, 0, 1], [0, 0.9])
    assert classes([first, second], 2) == [{0, 1, 2}, {3, 4, 5}]


def test_a_cut_that_breaks_another_bound_is_not_made():
    assert classes([interval([0, 1, 2, 3])], 2, lambda _classes, count: count < 2) == [{0, 1, 2, 3}]


@settings(deadline=None, max_examples=examples(50))
@given(tables(most_sensitive=0, persons=(False,)))
def test_every_class_is_large_enough_and_every_value_in_one_interval(table):
    found = grid(table.axes, table.constraint.size)
    assert np.array_equal(np.sort(found.order), np.arange(len(table.rows)))
    assert np.diff(found.starts).min() >= table.constraint.size
    tuples = np.stack([axis.codes for axis in table.axes], axis=1)
    for one in np.split(found.order, found.starts[1:-1]):
        low, high = tuples[one].min(axis=0), tuples[one].max(axis=0)
        inside = ((tuples >= low) & (tuples <= high)).all(axis=1)
        assert inside.sum() == len(one)
