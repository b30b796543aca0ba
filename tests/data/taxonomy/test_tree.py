from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.data.taxonomy import Taxonomy
from policy_engine.data.taxonomy.tree import make_tree
from policy_engine.errors import DataError

#        *
#    x       y      lone
#  a   b   Other
#            c
WORLD = Taxonomy(
    ("*", "x", "a", "b", "y", "Other", "c", "lone"),
    (-1, 0, 1, 1, 0, 4, 5, 0),
)
ONE = Taxonomy(("a",), (-1,))


def test_leaves_are_the_values_in_order():
    assert WORLD.leaves == (2, 3, 6, 7)
    assert WORLD.leaf_labels == ("a", "b", "c", "lone")
    assert WORLD.codes == {"a": 0, "b": 1, "c": 2, "lone": 3}


def test_measures_of_every_node():
    assert WORLD.leaf_count.tolist() == [4, 2, 1, 1, 1, 1, 1, 1]
    assert WORLD.height.tolist() == [3, 1, 0, 0, 2, 1, 0, 0]
    assert WORLD.depth.tolist() == [0, 1, 2, 2, 1, 2, 3, 1]


def test_a_lone_value_is_root_and_leaf():
    assert (ONE.leaves, ONE.height.tolist(), ONE.levels()) == ((0,), [0], (("a",),))


def test_measures_cannot_be_changed():
    for measure in (WORLD.leaf_count, WORLD.height, WORLD.depth, WORLD.level_nodes()):
        with pytest.raises(ValueError, match="read-only"):
            measure[0] = 1


def test_ancestors_are_nearest_first():
    assert WORLD.ancestors(6) == (5, 4, 0)
    assert WORLD.ancestors(0) == ()


@pytest.mark.parametrize(
    ("a", "b", "common"), [(2, 3, 1), (3, 2, 1), (2, 6, 0), (6, 4, 4), (6, 6, 6), (7, 0, 0)]
)
def test_lowest_common_ancestor(a, b, common):
    assert WORLD.lowest_common_ancestor(a, b) == common


def test_levels_leave_a_leaf_as_it_is_until_the_others_catch_up():
    assert WORLD.levels() == (
        ("a", "b", "c", "lone"),
        ("x", "x", "Other", "lone"),
        ("x", "x", "y", "lone"),
        ("*", "*", "*", "*"),
    )


@pytest.mark.parametrize(
    ("labels", "parents", "found"),
    [
        # `Other` is a value of Adult's race and a group of its occupations.
        (("*", "Other", "Other", "a"), (-1, 0, 1, 1), 1),
        (("*", "a", "Other", "Other", "b"), (-1, 0, 0, 2, 2), 2),
        (("*", "Other", "a", "Other", "b", "c"), (-1, 0, 1, 0, 3, 3), 3),
    ],
)
def test_find_takes_the_widest_node_of_a_label(labels, parents, found):
    assert Taxonomy(labels, parents).find("Other") == found


def test_find_takes_the_higher_of_two_nodes_with_the_same_leaves():
    assert Taxonomy(("*", "x", "x", "a", "b"), (-1, 0, 1, 2, 0)).find("x") == 1


def test_find_refuses_a_label_that_is_not_there():
    with pytest.raises(DataError) as error:
        WORLD.find("Othr")
    assert str(error.value) == "T010 No node has the label 'Othr'. Did you mean 'Other'?"


def test_covering_lists_every_missing_value_once():
    assert WORLD.covering(["a", "q", "lone", "p", "q"]) == ("q", "p")
    assert WORLD.covering(["a", "c"]) == ()
    assert WORLD.covering(["x"]) == ("x",)


def test_unlisted_values_come_right_below_the_root():
    tree = WORLD.with_unlisted(["q", "a", "q", "x"])
    assert tree.leaf_labels == ("a", "b", "c", "lone", "q", "x")
    assert [tree.parents[leaf] for leaf in tree.leaves[-2:]] == [0, 0]
    assert tree.levels()[2] == ("x", "x", "y", "lone", "q", "x")
    assert tree.find("x") == 1
    assert WORLD.with_unlisted(["a"]) is WORLD


def test_unlisted_values_beside_a_lone_value_keep_it():
    assert ONE.with_unlisted(["b"]) == Taxonomy(("*", "a", "b"), (-1, 0, 0))


def test_digest_tells_trees_apart():
    others = [
        Taxonomy(("r", "a", "b"), (-1, 0, 0)),
        Taxonomy(("r", "b", "a"), (-1, 0, 0)),
        Taxonomy(("r", "a", "b"), (-1, 0, 1)),
        Taxonomy(('r","a', "b"), (-1, 0)),
    ]
    assert len({tree.digest for tree in others}) == 4
    assert Taxonomy(("r", "a", "b"), (-1, 0, 0)).digest == others[0].digest


def test_digest_is_that_of_the_json_of_labels_and_parents():
    # printf '[["é"],[-1]]' | sha256sum
    expected = "c13314f33a1c53a8bebc116c0f5363a4ca8201d93b682f0de8c32f6ef9b2c8e7"
    assert Taxonomy(("é",), (-1,)).digest == expected


@pytest.mark.parametrize(
    ("labels", "parents"),
    [
        ((), ()),
        (("a",), ()),
        (("a",), (0,)),
        (("a", "b"), (-1, -1)),
        (("a", "b"), (-1, 1)),
        (("a", "b", "c", "d"), (-1, 0, 0, 1)),
        (("a", "b"), (-1, -2)),
        (("", "b"), (-1, 0)),
        (("a", "b", "b"), (-1, 0, 0)),
    ],
)
def test_what_is_no_tree_in_pre_order_is_refused(labels, parents):
    with pytest.raises(ValueError, match=r"tree|label"):
        Taxonomy(labels, parents)


def test_planted_keeps_the_order_of_siblings():
    tree = make_tree(["b", "x", "a", "y", "c"], [1, -1, 3, -1, 1])
    assert tree == Taxonomy(("*", "x", "b", "c", "y", "a"), (-1, 0, 1, 1, 0, 4))


@st.composite
def trees(draw):
    parents = [-1, *(draw(st.integers(0, node)) for node in range(draw(st.integers(0, 12))))]
    return make_tree([f"n{node}" for node in range(len(parents))], parents)


@given(trees())
def test_every_level_generalises_the_one_before(tree):
    nodes = tree.level_nodes()
    assert nodes[0].tolist() == list(tree.leaves)
    assert set(nodes[-1].tolist()) == {0}
    for level, (finer, coarser) in enumerate(pairwise(nodes), start=1):
        assert (tree.height[coarser] <= level).all()
        assert all(b == a or b in tree.ancestors(a) for a, b in zip(finer, coarser, strict=True))


@given(trees(), st.data())
def test_the_common_ancestor_is_the_deepest_shared_one(tree, data):
    a, b = (data.draw(st.sampled_from(range(len(tree.labels)))) for _ in "ab")
    shared = {a, *tree.ancestors(a)} & {b, *tree.ancestors(b)}
    assert tree.lowest_common_ancestor(a, b) == max(shared, key=lambda node: tree.depth[node])


@given(trees())
def test_leaves_are_counted_below_every_node(tree):
    counts = [
        sum(n == leaf or n in tree.ancestors(leaf) for leaf in tree.leaves)
        for n in range(len(tree.labels))
    ]
    assert np.array_equal(tree.leaf_count, counts)
