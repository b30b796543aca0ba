import numpy as np
from drawn import interval, keeps, price, tables
from everyday import examples
from hypothesis import given, settings

from policy_engine.kernels.bounds import ClassConstraint
from policy_engine.kernels.layout import Cutting, SensitiveRows
from policy_engine.kernels.mondrian import Partition, partition
from policy_engine.kernels.polish import polish


def in_order(table, found):
    """The classes with their rows in order, equal ones together."""
    leaf = np.repeat(np.arange(len(found.starts) - 1), np.diff(found.starts))
    keys = [axis.codes[found.order] for axis in table]
    return Partition(found.order[np.lexsort((found.order, *keys, leaf))], found.starts)


def loss(axes, found):
    parts = np.split(found.order, found.starts[1:-1])
    return sum(len(part) * price(axes, part.tolist()) for part in parts)


def test_a_row_goes_over_to_the_class_that_it_costs_less():
    # 5 stands with 0, 1 and 2; with 6 and 7 it costs less.
    axes = [interval([0, 1, 2, 5, 6, 7])]
    found = Partition(np.arange(6), np.array([0, 4, 6]))
    polished = polish(axes, SensitiveRows(), ClassConstraint(2), Cutting(), found)
    assert polished.starts.tolist() == [0, 3, 6]
    assert sorted(polished.order[3:].tolist()) == [3, 4, 5]


def test_a_class_of_the_least_size_gives_no_row_away():
    axes = [interval([0, 5, 6, 7])]
    found = Partition(np.arange(4), np.array([0, 2, 4]))
    polished = polish(axes, SensitiveRows(), ClassConstraint(2), Cutting(), found)
    assert polished.starts.tolist() == [0, 2, 4]


@settings(deadline=None, max_examples=examples(50))
@given(tables())
def test_polished_classes_hold_every_bound_and_never_lose_more(table):
    found = in_order(table.axes, partition(*table.arguments))
    polished = polish(*table.arguments, found)
    assert sorted(polished.order.tolist()) == list(table.rows)
    for part in np.split(polished.order, polished.starts[1:-1]):
        assert keeps(table, sorted(part.tolist()))
    assert loss(table.axes, polished) <= loss(table.axes, found)
