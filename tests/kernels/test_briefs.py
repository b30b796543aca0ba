import numpy as np
from drawn import interval, ints, members

from policy_engine.kernels import briefs
from policy_engine.kernels.axis import Axis, Interval, pack_axes
from policy_engine.kernels.bounds import ClassConstraint
from policy_engine.kernels.layout import Cutting, SensitiveRows, prepare, scratch

EXTENTS = np.array([[0, 3], [0, 2]])
ROWS = ints([[0, 0], [0, 2], [1, 1], [3, 1]])


def outline(k=2, cutting=None):
    """What is known of a table of a line and a set, without its rows."""
    none = ints([])
    axes = [Axis(none, interval(range(4)).shape), Axis(none, members(range(3)).shape)]
    return prepare(axes, SensitiveRows(), ClassConstraint(k), cutting or Cutting())


def told(rows, table=None):
    table = table or outline()
    return briefs.make_brief(table, scratch(table, 0), rows, EXTENTS)


def test_a_brief_tells_of_the_codes_that_occur():
    found = told(ROWS)
    assert found.at.tolist() == [0, 1, 3, 4, 5, 6]
    assert found.times.tolist() == [2, 1, 1, 1, 2, 1]
    assert found.extents[:, 0].tolist()[3:] == [[0, 0], [1, 3], [0, 0]]
    assert found.present[:3, 1].tolist() == [0b101, 0b010, 0b010]


def test_briefs_of_parts_make_up_that_of_the_whole_in_any_order():
    parts = [told(ROWS[2:]), told(ROWS[:1]), told(ROWS[1:2])]
    for one, other in zip(briefs.merge(parts), told(ROWS), strict=True):
        assert one.tolist() == other.tolist()


def test_turns_of_a_set_are_by_frequency_where_losses_count():
    found = told(ROWS)
    assert briefs.cut_order(outline(), found, 1).tolist() == [1, 0, 2]
    assert briefs.cut_order(outline(cutting=Cutting("span")), found, 1).tolist() == [0, 1, 2]
    assert briefs.cut_order(outline(), found, 0).tolist() == [0, 1, 3]


def chosen(rows, table, total=None):
    extents = np.column_stack([rows.min(axis=0), rows.max(axis=0)]).astype(np.int64)
    found = briefs.make_brief(table, scratch(table, 0), rows, extents)
    return briefs.choose(table, scratch(table, 0), found, extents, total or len(rows))


def test_choose_takes_the_cut_whose_sides_lose_the_least():
    # In the middle of the line, both sides lose 1/3 and 2/3; in the set, one 1/3 and one 1.
    choice = chosen(ints([[0, 1], [1, 0], [2, 0], [3, 1]]), outline())
    assert choice.cut.dim == 1
    assert choice.left.rows == choice.right.rows == 2


def test_a_choice_tells_the_extents_of_both_sides():
    rows = ints([[0, 0], [0, 0], [3, 2], [3, 1]])
    choice = chosen(rows, outline())
    assert choice.cut.goes_left.tolist() == [True, False, False, False]
    assert choice.left.extents.tolist() == [[0, 0], [0, 0]]
    assert choice.right.extents.tolist() == [[3, 3], [1, 2]]


def test_there_is_no_choice_where_no_boundary_leaves_enough():
    assert chosen(ints([[0, 0], [0, 0], [0, 0], [1, 0]]), outline()) is None


def test_a_table_of_too_many_values_is_not_told_in_brief():
    none = ints([])
    wide = [Axis(none, Interval(np.linspace(0, 1, 3_000_000))) for _ in range(2)]
    assert not briefs.can_summarise(pack_axes(wide))
    assert briefs.can_summarise(outline().axes)
