"""The nodes of a lattice that are open: what rules them out."""

from itertools import product

import numpy as np
import pytest
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.kernels.full_domain import lattice
from policy_engine.kernels.full_domain.lattice import Lattice

SHAPES = st.lists(st.integers(1, 9), min_size=1, max_size=4)


def left_in(nodes, loss=np.inf):
    """Return all open nodes that may be as good as a loss."""
    found = []
    while (chosen := nodes.choose(loss)) is not None:
        found.append(chosen[0])
    return sorted(found)


def every(shape):
    return product(*map(range, shape))


def is_below(low, high):
    return all(a <= b for a, b in zip(low, high, strict=True))


@settings(deadline=None, max_examples=examples(60))
@given(SHAPES, st.data())
def test_a_node_closes_itself_and_all_below(shape, data):
    heights = tuple(data.draw(st.integers(0, levels - 1)) for levels in shape)
    nodes = Lattice(np.zeros(shape), nested=True)
    nodes.drop_below(heights)
    assert left_in(nodes) == [one for one in every(shape) if not is_below(one, heights)]


def test_nodes_that_cost_more_than_the_best_are_closed():
    nodes = Lattice(np.add.outer([0.0, 1.0, 2.0], [0.0, 10.0]), nested=True)
    assert nodes.choose(10.5) == ((2, 0), 4)
    assert left_in(nodes, 10.5) == [(0, 0), (0, 1), (1, 0)]


def test_a_node_tells_what_those_above_it_and_below_it_cost():
    nodes = Lattice(np.zeros((3, 3)), nested=True)
    nodes.raise_floors((1, 1), above=5.0, below=4.0)
    assert left_in(nodes, 3.0) == [(0, 2), (2, 0)]
    nodes = Lattice(np.zeros((3, 3)), nested=True)
    nodes.raise_floors((1, 1), above=5.0, below=-np.inf)
    assert (0, 0) in left_in(nodes, 3.0)


def test_where_ladders_are_not_nested_a_node_tells_nothing_of_others():
    nodes = Lattice(np.zeros((2, 2)), nested=False)
    nodes.drop_below((1, 1))
    nodes.raise_floors((1, 1), above=5.0, below=5.0)
    assert len(nodes) == 4


@pytest.mark.parametrize("nested", [True, False])
def test_nodes_go_of_which_a_part_fails(monkeypatch, nested):
    monkeypatch.setattr(lattice, "_WORTH_PARTS", 0)
    shape, asked = (3, 2, 3), []

    def fails(columns, heights):
        asked.append((columns, heights))
        return columns == (0, 2) and is_below(heights, (1, 1))

    nodes = Lattice(np.zeros(shape), nested=nested)
    assert list(nodes.drop_parts(fails)) == [18 - 8]
    assert left_in(nodes) == [one for one in every(shape) if one[0] > 1 or one[2] > 1]
    # Of nested ones, those below one that fails are not asked for.
    assert (((0, 2), (0, 0)) in asked) == (not nested)
