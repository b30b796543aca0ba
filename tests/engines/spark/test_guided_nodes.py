"""Guided cuts chosen from afar are those that the kernel makes with all rows at hand."""

import numpy as np
import pytest
from afar import asking, described, outline, overall_of, parts_in, rows_of, shares_of
from drawn import Table, interval, ints, members, tables
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.engines.spark.guided_nodes import FarTable, first_guided_cuts
from policy_engine.engines.spark.nodes import group_by_node
from policy_engine.kernels.axis import Axis
from policy_engine.kernels.bounds import ClassConstraint, Diversity
from policy_engine.kernels.coarse import coarsen, neighbour_parts
from policy_engine.kernels.descent import descend
from policy_engine.kernels.guided_tree import guided_partition, guided_table
from policy_engine.kernels.layout import Cutting, SensitiveRows


def at_once(table, targets):
    return parts_in(guided_partition(table.axes, table.people, table.constraint, targets))


def apart(table, targets, part_of, limit, parts=None):
    """The classes of a table that is first cut from afar, the nodes, and whether some cuts were
    between parts of codes."""
    rows, parts = rows_of(table, targets), parts or {}
    coarse_axes = [
        coarsen(axis, parts[dim]) if dim in parts else axis for dim, axis in enumerate(table.axes)
    ]
    coarse = outline(Table(coarse_axes, table.people, table.constraint, Cutting("loss")))
    none = np.zeros((0, targets.shape[1]), np.int64)
    whole = guided_table(*described(table), table.constraint, none)
    far = FarTable(whole, targets.shape[1], coarse, parts)
    made = first_guided_cuts(asking(table, part_of, targets), far, len(rows.codes), limit)
    leaf, classes = descend(made.nodes.cuts.descent(), rows.codes), set()
    for node, mine in group_by_node(leaf):
        assert made.nodes.rows[node] == len(mine)
        axes = [Axis(axis.codes[mine], *list(vars(axis).values())[1:]) for axis in table.axes]
        persons = table.people.persons
        people = SensitiveRows(
            tuple(codes[mine] for codes in table.people.sensitive),
            None if persons is None else persons[mine],
            overall_of(table),
        )
        found = guided_partition(axes, people, table.constraint, targets[mine])
        classes |= {
            frozenset(mine[part].tolist()) for part in np.split(found.order, found.starts[1:-1])
        }
    return classes, made.nodes, made.is_coarse


@st.composite
def guided_tables(draw):
    table = draw(tables(scores=("loss",), most_rows=60, relaxed=(False,), apart=(False,)))
    rows, count = len(table.axes[0].codes), draw(st.integers(1, 3))
    values = draw(st.lists(st.integers(-3, 3), min_size=rows * count, max_size=rows * count))
    return table, np.array(values, dtype=np.int32).reshape(rows, count)


@pytest.mark.nightly
@settings(max_examples=examples(25, 200), deadline=None)
@given(guided_tables(), st.sampled_from([1, 2, 3, 8]), st.integers(1, 20))
def test_guided_cuts_are_those_of_the_kernel(table, parts, limit):
    table, targets = table
    classes, _, _ = apart(table, targets, shares_of(table, parts), limit)
    assert classes == at_once(table, targets)


def large_table(bound=None, *, unit=False):
    draw = np.random.default_rng(4)
    rows = 3_000
    axes = [
        interval(np.minimum(draw.geometric(0.05, rows), 90), has_missing=True),
        members(draw.zipf(1.6, rows).clip(0, 30)),
        interval(draw.integers(0, 3, rows)),
    ]
    sensitive = ints(draw.zipf(1.5, rows).clip(1, 8) - 1)
    persons = ints(draw.integers(0, rows // 2, rows)) if unit else None
    constraint = ClassConstraint(3, (Diversity(**(bound or {})),))
    table = Table(axes, SensitiveRows((sensitive,), persons), constraint, Cutting("loss"))
    targets = np.column_stack([axes[0].codes // 30 * 700, axes[1].codes % 3 * -400])
    return table, targets.astype(np.int32)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("bound", [{}, {"distinct": 3}, {"t": 0.3}])
def test_guided_cuts_of_a_large_table_are_those_of_the_kernel(bound, unit):
    # Of every target there are but three values: most nodes are cut where nothing is gained.
    table, targets = large_table(bound, unit=unit)
    classes, nodes, is_coarse = apart(table, targets, shares_of(table, 5), 60)
    assert classes == at_once(table, targets)
    assert len(nodes.rows) > 20
    assert not is_coarse


def test_where_codes_are_many_only_cuts_that_gain_nothing_are_between_parts_of_them():
    table, targets = large_table({"distinct": 2})
    part = neighbour_parts(table.axes[0], np.bincount(table.axes[0].codes), 6)
    # Each age has a target of its own: every cut of an age gains.
    ages = table.axes[0].codes[:, None] * np.int32(100)
    classes, _, is_coarse = apart(table, ages, shares_of(table, 4), 400, {0: part})
    assert (classes == at_once(table, ages), is_coarse) == (True, False)
    classes, nodes, is_coarse = apart(table, targets, shares_of(table, 4), 60, {0: part})
    assert is_coarse
    assert len(nodes.rows) > 20
    sensitive = table.people.sensitive[0]
    assert min(map(len, classes)) >= 3
    assert min(len(set(sensitive[list(one)].tolist())) for one in classes) >= 2
