"""Cuts chosen from afar are those that the kernel makes with all rows at hand."""

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from afar import asking, outline, overall_of, parts_in, rows_of, shares_of, side_of
from drawn import Table, interval, ints, members, tables
from everyday import everyday, examples
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.engines.spark.nodes import first_cuts, group_by_node
from policy_engine.kernels import layout
from policy_engine.kernels.axis import Axis
from policy_engine.kernels.bounds import ClassConstraint, Diversity
from policy_engine.kernels.briefs import BriefSide
from policy_engine.kernels.coarse import coarsen, neighbour_parts
from policy_engine.kernels.descent import descend
from policy_engine.kernels.layout import Cutting, SensitiveRows
from policy_engine.kernels.mondrian import partition


def apart(table, part_of, limit):
    """The classes of a table that is first cut from afar, and how many nodes it was cut into."""
    rows = rows_of(table)
    codes = rows.codes[:, : len(table.axes)]
    whole = BriefSide(
        len(codes), np.column_stack([codes.min(axis=0), codes.max(axis=0)]).astype(np.int64)
    )
    nodes = first_cuts(asking(table, part_of), outline(table), whole, limit)
    leaf = descend(nodes.cuts.descent(), rows.codes)
    found = set()
    for node, mine in group_by_node(leaf):
        assert nodes.rows[node] == len(mine)
        axes = [Axis(axis.codes[mine], *list(vars(axis).values())[1:]) for axis in table.axes]
        persons = table.people.persons
        people = SensitiveRows(
            tuple(codes[mine] for codes in table.people.sensitive),
            None if persons is None else persons[mine],
            overall_of(table),
        )
        classes = partition(axes, people, table.constraint, table.cutting)
        found |= {
            frozenset(mine[part].tolist()) for part in np.split(classes.order, classes.starts[1:-1])
        }
    return found, len(nodes.rows)


def at_once(table):
    return parts_in(partition(*table.arguments))


@pytest.mark.nightly
@settings(max_examples=examples(20, 50), deadline=None)
@given(tables(most_rows=60, relaxed=(False,)), st.sampled_from([1, 2, 3, 8]), st.integers(1, 20))
def test_first_cuts_are_those_of_the_kernel(table, parts, limit):
    found, _ = apart(table, shares_of(table, parts), limit)
    assert found == at_once(table)


@settings(max_examples=examples(20, 60), deadline=None)
@given(tables(most_rows=60, relaxed=(False,)), st.integers(1, 20))
def test_first_cuts_are_those_of_the_kernel_where_it_cuts_by_summary(table, limit):
    with patch.object(layout, "_large", lambda _: 2):
        found, _ = apart(table, shares_of(table, 3), limit)
        assert found == at_once(table)


def large_table(seed, score, *, relaxed, bound, unit):
    draw = np.random.default_rng(seed)
    rows = 3_000
    axes = [
        interval(np.minimum(draw.geometric(0.1, rows), 40), has_missing=bool(seed % 2)),
        members(draw.zipf(1.6, rows).clip(0, 30)),
        interval(draw.integers(0, 3, rows)),
    ]
    sensitive = ints(draw.zipf(1.5, rows).clip(1, 8) - 1)
    persons = ints(draw.integers(0, rows // 2, rows)) if unit else None
    constraint = ClassConstraint(3, (Diversity(**bound),))
    return Table(axes, SensitiveRows((sensitive,), persons), constraint, Cutting(score, relaxed))


BOUNDS = [{}, {"distinct": 2}, {"t": 0.3}]


@pytest.mark.one_in(6)
@pytest.mark.parametrize("unit", [pytest.param(False, marks=pytest.mark.nightly), True])
@pytest.mark.parametrize("bound", everyday(BOUNDS, BOUNDS[1]))
@pytest.mark.parametrize("relaxed", [False, True])
@pytest.mark.parametrize("score", ["loss", "span", "entropy"])
def test_first_cuts_of_a_large_table_are_those_of_the_kernel(score, relaxed, bound, unit):
    table = large_table(len(score), score, relaxed=relaxed, bound=bound, unit=unit)
    found, nodes = apart(table, shares_of(table, 5), 100)
    assert found == at_once(table)
    assert nodes > 1 or (relaxed and nodes == 1)


def test_cuts_between_parts_of_codes_leave_classes_valid():
    table = large_table(3, "loss", relaxed=False, bound={"distinct": 2}, unit=False)
    [line, *others] = table.axes
    part = neighbour_parts(line, np.bincount(line.codes), 6)
    told = Table(
        [coarsen(replace(line, codes=part[line.codes]), part), *others],
        *(table.people, table.constraint, table.cutting),
    )
    ask, whole = asking(told, np.arange(3_000) % 4), side_of(rows_of(told).codes[:, :3])
    nodes = first_cuts(ask, outline(told), whole, 200, parts={0: part})
    leaf = descend(nodes.cuts.descent(), rows_of(table).replace_by_parts(nodes.parts).codes)
    assert len(nodes.rows) > 3
    for node, mine in group_by_node(leaf):
        assert nodes.rows[node] == len(mine) >= 3
        assert len(set(table.people.sensitive[0][mine].tolist())) >= 2
