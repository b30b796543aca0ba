import numpy as np
from drawn import interval, ints

from policy_engine.kernels.axis import Axis
from policy_engine.kernels.bounds import ClassConstraint, Diversity
from policy_engine.kernels.layout import Cutting, SensitiveRows, prepare
from policy_engine.kernels.side_counts import count_sides, merge, valid_sides


def table(k, values, persons=None, **bounds):
    """What is known of a table with so many sensitive values, without its rows."""
    none = ints([])
    people = SensitiveRows((none,), None if persons is None else none, (np.ones(values, np.int64),))
    axis = Axis(none, interval([0, 1]).shape)
    return prepare([axis], people, ClassConstraint(k, (Diversity(**bounds),)), Cutting())


def told(outline, turns, values, persons=None):
    who = None if persons is None else np.array(persons)
    column = ints(values)[:, None]
    return count_sides(outline, np.array(turns), max(turns) + 1, column, who)


def verdicts(outline, *parts):
    left, right = valid_sides(outline, merge([told(outline, *part) for part in parts]))
    return left.tolist(), right.tolist()


def test_sides_are_enough_from_the_kth_row_on():
    outline = table(2, 1)
    assert verdicts(outline, ([0, 1, 1, 2], [0, 0, 0, 0])) == (
        [False, True, True],
        [True, True, False],
    )


def test_sides_are_diverse_as_soon_as_they_have_enough_values():
    outline = table(1, 3, distinct=2)
    found = verdicts(outline, ([0, 0, 1, 2], [1, 1, 2, 0]))
    assert found == ([False, True, True], [True, True, False])


def test_a_person_comes_once_from_either_side():
    outline = table(2, 1, persons=True)
    found = told(outline, [0, 1, 2, 2], [0, 0, 0, 0], [7, 7, 7, 8])
    assert found.units.tolist() == [[1, 0, 1], [0, 0, 2]]
    assert found.units_left.tolist() == [1, 1, 2]
    assert found.units_right.tolist() == [2, 2, 2]


def test_a_value_counts_once_for_a_person_who_has_it_twice():
    outline = table(1, 2, persons=True, alpha=0.5)
    left, right = verdicts(outline, ([0, 1, 1], [0, 0, 1], [7, 7, 8]))
    assert left == [False, True]  # one of one, then one of two
    assert right == [True, True]


def test_rows_without_a_value_hold_none():
    found = told(table(1, 2, distinct=2), [0, 0, 1], [-1, 1, 0])
    assert found.units[0].tolist() == [2, 1]
    assert found.holders[0, 0].tolist() == [1, 1]


def test_parts_tell_together_what_the_whole_tells():
    outline = table(2, 3, distinct=2)
    turns, values = [0, 1, 2, 2, 1], [0, 1, 1, 2, 0]
    parts = [(turns[:2], values[:2]), (turns[2:4], values[2:4]), (turns[4:], values[4:])]
    whole = told(outline, turns, values)
    pieces = [count_sides(outline, np.array(t), 3, ints(v)[:, None], None) for t, v in parts]
    for one, other in zip(merge(pieces), whole, strict=True):
        assert one.tolist() == other.tolist()
