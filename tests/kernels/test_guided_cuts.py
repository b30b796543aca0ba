import numpy as np
import pytest
from drawn import Table, interval, members, tables
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.errors import DataError
from policy_engine.kernels.bounds import ClassConstraint
from policy_engine.kernels.guided_cuts import class_other_rows, guided_cuts
from policy_engine.kernels.guided_tree import guided_partition
from policy_engine.kernels.layout import SensitiveRows

AGES = interval([0, 1, 2, 3, 4, 5])
TARGETS = np.array([0, 0, 0, 9, 9, 9]).reshape(-1, 1)


def cuts_of(axis, size, targets):
    return guided_cuts([axis], SensitiveRows(), ClassConstraint(size), targets)


def codes(values):
    return np.array(values, dtype=np.int32).reshape(-1, 1)


def test_the_tree_of_some_rows_is_refused_for_others_with_its_smallest_class():
    # The 40/40 protocol: k = 3 holds on the first rows, 1 on the others.
    cuts = cuts_of(AGES, 3, TARGETS)
    with pytest.raises(DataError, match="smallest class has 1 row, fewer than k, which is 3") as e:
        class_other_rows(cuts, codes([0, 1, 1, 2, 2, 5]), 3)
    assert [one.code for one in e.value.problems] == ["R019"]


def test_other_rows_are_classed_where_every_class_has_enough():
    classes = class_other_rows(cuts_of(AGES, 3, TARGETS), codes([5, 0, 4, 1, 4, 0]), 3)
    parts = np.split(classes.order, classes.starts[1:-1])
    assert [sorted(part.tolist()) for part in parts] == [[1, 3, 5], [0, 2, 4]]


def test_values_that_the_tree_never_saw_have_a_class():
    letters = members([0, 0, 3, 3])
    cuts = cuts_of(letters, 2, np.array([9, 9, 0, 0]).reshape(-1, 1))
    assert len(class_other_rows(cuts, codes([0, 1, 2, 3]), 1).order) == 4
    gaps = interval([0, 0, 3, 3])
    classes = class_other_rows(cuts_of(gaps, 2, np.array([[9], [9], [0], [0]])), codes([1, 2]), 1)
    assert len(classes.starts) == 2


@settings(deadline=None, max_examples=examples(60))
@given(
    tables(scores=("loss",), relaxed=(False,), apart=(False,)), st.randoms(use_true_random=False)
)
def test_cuts_leave_the_classes_of_the_partition(table: Table, random):
    targets = np.array([[random.randint(-3, 3)] for _ in table.rows])
    arguments = (table.axes, table.people, table.constraint, targets)
    made = guided_partition(*arguments)
    whole = np.column_stack([axis.codes for axis in table.axes])
    again = class_other_rows(guided_cuts(*arguments), whole, 1)
    assert classes_in(made) == classes_in(again)


def classes_in(classes):
    return {frozenset(part.tolist()) for part in np.split(classes.order, classes.starts[1:-1])}
