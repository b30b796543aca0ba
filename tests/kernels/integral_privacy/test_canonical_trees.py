"""Trees that decide alike have one canonical form, and predict what they did before."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.integral_privacy import (
    Choice,
    Leaf,
    Split,
    canonical,
    predictions,
    tree_of_arrays,
)

NO, YES = Leaf(0.0), Leaf(1.0)
CELLS = st.integers(0, 3)


def trees():
    """Return random trees over two columns whose cells are 0 to 3."""

    def branched(children):
        split = st.builds(
            Split, st.integers(0, 1), st.sampled_from([0.5, 1.5, 2.5]), *[children] * 2
        )
        codes = st.permutations(range(4)).flatmap(
            lambda order: st.tuples(*[st.tuples(st.just(code), children) for code in order])
        )
        return split | st.builds(Choice, st.integers(0, 1), codes)

    return st.recursive(st.sampled_from([NO, YES]), branched, max_leaves=12)


def test_order_of_branches_does_not_matter():
    one, other = Choice(0, ((1, YES), (0, NO))), Choice(0, ((0, NO), (1, YES)))
    assert canonical(one) == canonical(other) == other


def test_equal_thresholds_are_rounded():
    one, other = Split(0, 1.4999999, NO, YES), Split(0, 1.5000001, NO, YES)
    assert canonical(one, 3) == canonical(other, 3) == Split(0, 1.5, NO, YES)
    assert canonical(one) != canonical(other)
    assert str(canonical(Split(0, -0.0001, NO, YES), 2).threshold) == "0.0"


def test_decisions_of_equal_outcome_are_left_out():
    assert canonical(Split(0, 1.5, Split(1, 2.0, NO, NO), YES)) == Split(0, 1.5, NO, YES)
    assert canonical(Choice(0, ((0, YES), (1, YES)))) == YES


@pytest.mark.parametrize(
    "tree",
    [
        Split(0, 1.0, NO, Split(0, 0.5, NO, YES)),
        Split(0, 1.0, Split(0, 2.0, NO, YES), YES),
        Split(0, 1.0, NO, Split(0, 1.0001, NO, YES)),
    ],
)
def test_branches_that_no_row_reaches_are_left_out(tree):
    assert canonical(tree, 2) == Split(0, 1.0, NO, YES)


def test_code_chosen_above_is_not_chosen_again():
    inner = Choice(0, ((0, NO), (1, YES)))
    assert canonical(Choice(0, ((0, inner), (1, YES)))) == Choice(0, ((0, NO), (1, YES)))


def test_code_without_a_branch_has_no_prediction():
    tree = Choice(0, ((0, NO), (1, YES)))
    assert np.isnan(predictions(tree, np.array([[7.0]]))).all()


@given(trees())
def test_canonical_tree_predicts_the_same_and_is_its_own_form(tree):
    table = np.array([[a, b] for a in range(4) for b in range(4)], dtype=float)
    form = canonical(tree)
    assert (predictions(form, table) == predictions(tree, table)).all()
    assert canonical(form) == form


def fitted(table, labels):
    """Return a tree of scikit-learn and the same one as a tuple."""
    learners = pytest.importorskip("sklearn.tree")
    model = learners.DecisionTreeClassifier(max_depth=3, random_state=0).fit(table, labels)
    nodes = model.tree_
    arrays = (nodes.children_left, nodes.children_right, nodes.feature, nodes.threshold)
    return model, tree_of_arrays(*arrays, nodes.value, model.classes_)


def test_tree_of_scikit_learn_predicts_what_it_does():
    generator = np.random.default_rng(1)
    table = generator.integers(0, 10, (200, 3)).astype(float)
    model, tree = fitted(table, (table[:, 0] + table[:, 1] > 9) + 1)
    assert (predictions(canonical(tree), table) == model.predict(table)).all()


def test_class_that_a_sample_lacks_does_not_renumber_the_others():
    table = np.array([[0.0], [1.0]])
    _, tree = fitted(table, np.array([5, 7]))
    assert canonical(tree) == Split(0, 0.5, Leaf(5.0), Leaf(7.0))
    assert fitted(table, np.array([7, 7]))[1] == Leaf(7.0)


def test_tree_of_numbers_predicts_numbers():
    arrays = [np.array(one) for one in ([1, -1, -1], [2, -1, -1], [0, -2, -2], [0.25, -2, -2])]
    tree = tree_of_arrays(*arrays, np.array([[0.5], [1 / 3], [2 / 3]]))
    assert canonical(tree, 1) == Split(0, 0.2, Leaf(0.3), Leaf(0.7))
