import numpy as np
import pytest
from drawn import ancestries, figures, heights, ints, peoples
from drawn import is_diverse as is_diverse_by_measures
from everyday import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from policy_engine.kernels import constraint as compiled
from policy_engine.kernels.axis import Axis, Members
from policy_engine.kernels.bounds import Ancestry, ClassConstraint, Diversity
from policy_engine.kernels.layout import Cutting, SensitiveRows, prepare


def holds(people, asked, rows):
    """Tell, by compiled code, whether rows keep the bounds on the first sensitive column."""
    return diverse(people, (asked, *[Diversity()] * (len(people.sensitive) - 1)), rows)


def diverse(people, bounds, rows):
    """Tell, by compiled code, whether rows keep the bounds on every sensitive column."""
    axis = Axis(np.zeros(len(people.sensitive[0]), np.int32), Members(1))
    table = prepare([axis], people, ClassConstraint(1, bounds), Cutting())
    compiled.forget(table.watched, table.tally)
    compiled.count(
        *(table.watched, table.tally, table.rows, np.array(rows), 0, len(rows)),
        *(table.sensitive, table.person),
    )
    return bool(compiled.is_diverse(table.watched, table.tally))


TABLE = [0, 0, 0, 1, 1, 1, 2, 2, 2]
PARENT = [-1, 0, 0, 1, 1]  # 0 and 1 under node 1, 2 alone
TREE = Ancestry(*(np.array(part, np.int64) for part in (PARENT, heights(PARENT), [3, 4, 2])))


@pytest.mark.parametrize(
    ("bounds", "rows", "expected"),
    [
        ({"distinct": 3}, [0, 3, 6], True),
        ({"distinct": 3}, [0, 1, 3], False),
        ({"entropy": 3.0}, [0, 3, 6], True),  # exp of log 3, whatever rounding makes of it
        ({"entropy": 2.0}, [0, 1, 3], False),
        ({"alpha": 0.5}, [0, 1, 3, 6], True),  # just reached
        ({"alpha": 0.5}, [0, 1, 3], False),
        ({"recursive": (2.0, 2)}, [0, 1, 3], False),  # 2 < 2 x 1 does not hold
        ({"recursive": (2.1, 2)}, [0, 1, 3], True),
        ({"recursive": (1.0, 1)}, [0, 1], False),  # 2 < 1 x 2, nothing taken off
        ({"recursive": (1.1, 1)}, [0, 1], True),
        ({"recursive": (2.0, 3)}, [0, 1, 3, 6], False),  # 2 < 2 x 1, two counts taken off
        ({"recursive": (2.1, 3)}, [0, 1, 3, 6], True),
        ({"recursive": (9.0, 4)}, [0, 1], False),  # nothing is left to be greater
        ({"t": 1 / 3}, [0, 1, 3, 4], True),  # (1/2 - 1/3) twice
        ({"t": 0.3}, [0, 1, 3, 4], False),
        ({"t": 0.25, "distance": "ordered"}, [0, 1, 3, 4], True),  # (1/6 + 1/3) / 2
        ({"t": 0.24, "distance": "ordered"}, [0, 1, 3, 4], False),
        ({"t": 1e-300, "distance": "ordered"}, range(9), True),  # no distance at all
        # a third goes to the other value below node 1, half as far as the third that leaves it
        ({"t": 0.5, "distance": "hierarchical", "ancestry": TREE}, [0, 1, 2], True),
        ({"t": 0.49, "distance": "hierarchical", "ancestry": TREE}, [0, 1, 2], False),
        ({"beta": 0.5}, [0, 1, 3, 4], True),  # (1/2 - 1/3) / (1/3)
        ({"beta": 0.4}, [0, 1, 3, 4], False),
        ({"enhanced_beta": 9.0}, [0, 1, 2], False),  # a gain of 2 is above ln 3
        ({"delta": np.log(1.5)}, [0, 1, 3, 4], False),  # is to be below
        ({"delta": 0.41}, [0, 1, 3, 4], True),
        ({"entropy": 2.0, "alpha": 0.4}, [0, 3], False),
    ],
)
def test_a_bound_holds_up_to_where_it_says(bounds, rows, expected):
    assert holds(SensitiveRows((ints(TABLE),)), Diversity(**bounds), rows) is expected


def test_the_values_of_one_person_do_not_hide_what_all_have():
    values, persons = ints([0, 0, 0, 1, 2, 3]), ints([0, 1, 2, 2, 2, 2])
    people = SensitiveRows((values,), persons)
    assert holds(people, Diversity(distinct=1), range(6))
    assert not holds(people, Diversity(distinct=2), range(6))


def test_a_person_counts_once_for_a_value():
    values = ints([0, 0, 0, 0, 1])
    assert holds(SensitiveRows((values,), ints([0, 0, 0, 0, 1])), Diversity(alpha=0.5), range(5))
    assert not holds(
        SensitiveRows((values,), ints([0, 1, 2, 3, 4])), Diversity(alpha=0.5), range(5)
    )


def test_the_ordered_distance_has_steps_only_between_values_that_occur():
    people = SensitiveRows((ints([0, 1, 4]),))
    assert holds(people, Diversity(t=0.5, distance="ordered"), [0])  # (2/3 + 1/3) / 2
    assert not holds(people, Diversity(t=0.49, distance="ordered"), [0])


def test_the_ordered_distance_of_one_of_two_values_is_all_there_is():
    people = SensitiveRows((ints([0, 1]),))
    assert holds(people, Diversity(t=0.5, distance="ordered"), [0])
    assert not holds(people, Diversity(t=0.49, distance="ordered"), [0])


def test_the_ordered_distances_of_two_columns_are_of_their_own_values():
    people = SensitiveRows((ints([0, 0, 1]), ints([0, 1, 2])))
    # Of the first two rows a third goes from 0 to 1 in the one column; in the other a sixth each
    # leaves 0 and 1 for 2: (1/6 + 1/3) / 2.
    for first, second, expected in [(0.34, 0.26, True), (0.33, 0.26, False), (0.34, 0.24, False)]:
        bounds = tuple(Diversity(t=t, distance="ordered") for t in (first, second))
        assert diverse(people, bounds, [0, 1]) is expected


@pytest.mark.parametrize(("t", "rows"), [(1 / 3, [0, 3]), (2 / 3, [6, 7])])
def test_the_values_of_one_node_leave_it_together(t, rows):
    # Values 0 and 1 at one node, 2 at another: what the one has too much the other lacks.
    parent, leaf = [-1, 0, 0], [1, 1, 2]
    tree = Ancestry(*(np.array(part, np.int64) for part in (parent, heights(parent), leaf)))
    for bound, expected in ((t, True), (t * 0.99, False)):
        asked = Diversity(t=bound, distance="hierarchical", ancestry=tree)
        assert holds(SensitiveRows((ints(TABLE),)), asked, rows) is expected


@pytest.mark.parametrize("distance", ["variational", "ordered", "hierarchical"])
def test_the_only_row_of_a_table_is_at_no_distance_from_it(distance):
    tree = Ancestry(*(np.array(part, np.int64) for part in ([-1], [0], [0])))
    asked = Diversity(t=0.1, distance=distance, ancestry=tree)
    assert holds(SensitiveRows((ints([0]),)), asked, [0])


def test_a_row_counts_in_the_columns_where_it_says_something_new():
    # The first row lacks the one value, the second repeats its person's: both have another value
    # in the other column.
    people = SensitiveRows((ints([-1, 0, 0, 1]), ints([0, 1, 2, 3])), ints([0, 1, 1, 0]))
    for l, expected in ((2, True), (3, False)):  # noqa: E741
        assert diverse(people, (Diversity(distinct=l), Diversity()), range(4)) is expected
        bounds = Diversity(distinct=1), Diversity(entropy=4.0 if expected else 4.1)
        assert diverse(people, bounds, range(4)) is expected


def test_rows_without_a_value_are_not_diverse():
    assert not holds(SensitiveRows((ints([-1, -1, 0]),)), Diversity(distinct=1), [0, 1])


@settings(deadline=None, max_examples=examples(100))
@given(st.data())
def test_compiled_bounds_are_those_that_certify_a_release(data):
    people, asked = data.draw(peoples(10))
    if people.sensitive:
        rows = data.draw(st.lists(st.integers(0, 9), unique=True, min_size=1))
        expected = is_diverse_by_measures(people, 0, rows, asked.diversity[0])
        assert holds(people, asked.diversity[0], rows) == expected


AT_LEAST, AT_MOST, BELOW = ("distinct", "entropy"), ("alpha", "t", "beta", "enhanced_beta"), "delta"


@settings(deadline=None, max_examples=examples(60))
@given(st.data())
def test_a_bound_is_kept_up_to_the_figure_that_is_measured_and_no_further(data):
    people, _ = data.draw(peoples(10))
    rows = data.draw(st.lists(st.integers(0, 9), unique=True, min_size=1))
    assume(people.sensitive and (people.sensitive[0][rows] >= 0).any())
    tree = data.draw(ancestries(int(people.sensitive[0].max()) + 1))
    for distance in ("variational", "ordered", "hierarchical"):
        found = figures(people, 0, rows, distance, tree)
        for name in (*AT_LEAST, *AT_MOST, BELOW) if distance == "hierarchical" else ("t",):
            if not 1e-6 < found[name] < np.inf:
                continue
            kept, broken = (
                holds(people, Diversity(**{name: bound}, distance=distance, ancestry=tree), rows)
                for bound in (found[name], found[name] * (1 + 1e-6 * (1 - 2 * (name in AT_MOST))))
            )
            assert (kept, broken) == ((False, True) if name == BELOW else (True, False)), name
    for l in (2, 3):  # noqa: E741
        ratio, _ = figures(people, 0, rows, l=l)["recursive"]
        for c in [ratio, ratio * (1 + 1e-6)] if ratio < np.inf else [1e9]:
            is_above = ratio < c
            assert holds(people, Diversity(recursive=(c, l)), rows) == is_above


@settings(deadline=None, max_examples=examples(80))
@given(st.data())
def test_every_column_keeps_its_own_bounds_however_often_rows_are_forgotten(data):
    people, asked = data.draw(peoples(10))
    table = prepare([Axis(np.zeros(10, np.int32), Members(1))], people, asked, Cutting())
    kept = [c for c, one in enumerate(asked.diversity) if one != Diversity()]
    tally = data.draw(st.sampled_from([table.tally, compiled.fresh(table.tally)]))
    for _ in range(3):
        rows = data.draw(st.lists(st.integers(0, 9), unique=True, min_size=1))
        middle = data.draw(st.integers(0, len(rows)))
        compiled.forget(table.watched, tally)
        for start, end in ((0, middle), (middle, len(rows))):
            given_rows = table.rows, np.array(rows), start, end, table.sensitive, table.person
            compiled.count(table.watched, tally, *given_rows)
        expected = all(is_diverse_by_measures(people, c, rows, asked.diversity[c]) for c in kept)
        assert compiled.is_diverse(table.watched, tally) == expected
        whose = rows if people.persons is None else people.persons[rows].tolist()
        assert tally.state[-1, compiled.UNITS] == len({*whose})


def test_two_columns_are_told_apart_and_counted_anew():
    people = SensitiveRows((ints([0, 0, 1, 1]), ints([0, 1, 0, 2])))
    # Of the first rows, a quarter goes all the way from value 2 to value 1.
    far, near = (Diversity(t=t, distance="hierarchical", ancestry=TREE) for t in (0.25, 0.24))
    for bounds, expected in [
        ((Diversity(distinct=2), Diversity(distinct=2)), [False, True, True]),
        ((Diversity(distinct=1), Diversity(distinct=2)), [True, True, True]),
        ((Diversity(), Diversity(distinct=3)), [False, True, True]),
        ((Diversity(distinct=1), far), [True, True, True]),
        ((Diversity(distinct=1), near), [False, True, True]),
    ]:
        axis, asked = Axis(np.zeros(4, np.int32), Members(1)), ClassConstraint(1, bounds)
        table = prepare([axis], people, asked, Cutting())
        found = []
        for rows in ([0, 1], [0, 1, 3], [0, 1, 2, 3]):
            compiled.forget(table.watched, table.tally)
            compiled.count(
                *(table.watched, table.tally, table.rows, np.array(rows), 0, len(rows)),
                *(table.sensitive, table.person),
            )
            found.append(bool(compiled.is_diverse(table.watched, table.tally)))
        assert found == expected
