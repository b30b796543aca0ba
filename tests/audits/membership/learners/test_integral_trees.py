"""Trees that several samples lead to, of records whose trees can be told by hand."""

import numpy as np
import pytest
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("sklearn")

from policy_engine.audits.membership.learners.integral_trees import (
    count_generators,
    fit_integral,
    generated_trees,
)
from policy_engine.audits.membership.learners.scikit import EstimatorLearner, make_estimator
from policy_engine.audits.membership.records import records_of_arrays
from policy_engine.audits.membership.released.files import read_estimator, write_estimator
from policy_engine.errors import AuditError
from policy_engine.kernels.integral_privacy import Leaf, Split
from policy_engine.methods.audits.classifier import Estimator

ASKED = Estimator(name="DecisionTreeClassifier", generators=3)
TREE = make_estimator(ASKED)
# Ten persons: those of whom the feature is 1 are of class 1. A sample with both classes leads to
# one decision, a sample of one class to a leaf.
FEATURES = np.array([[0.0]] * 5 + [[1.0]] * 5, dtype=np.float32)
LABELS = np.array([0] * 5 + [1] * 5)
DECISION = Split(0, 0.5, Leaf(0.0), Leaf(1.0))


def found_of(features=FEATURES, labels=LABELS, k=3):
    return {one.model: one for one in generated_trees(TREE, features, labels, k)}


def test_the_decision_of_ten_persons_is_found_from_halves_and_pairs_that_share_nobody():
    found = found_of()
    assert set(found) == {DECISION, Leaf(0.0), Leaf(1.0)}
    assert (found[DECISION].accuracy, found[DECISION].common) == (1.0, 0)
    assert (found[Leaf(0.0)].accuracy, found[Leaf(1.0)].accuracy) == (0.5, 0.5)
    # The least samples with both classes are pairs of one of each: 5 x 5. In fewer than 100 draws
    # of a fifth of ten persons, most of the 25 occur, and every larger sample with both contains
    # such a pair; what is counted are the minimal ones that were drawn.
    assert 20 <= found[DECISION].generators <= 25 + 3 * 20


@pytest.mark.nightly
def test_the_tree_with_enough_generators_that_is_right_most_often_is_released():
    model = fit_integral(TREE, FEATURES, LABELS, 3)
    assert model.predict(FEATURES).tolist() == LABELS.tolist()
    assert model.predict_proba(FEATURES[:1]).tolist() == [[1.0, 0.0]]
    assert (model.get_depth(), model.get_n_leaves()) == (1, 2)
    assert count_generators(model, TREE, FEATURES, LABELS, 3) == found_of()[DECISION].generators


@pytest.mark.nightly
def test_a_decision_that_rests_on_one_person_is_not_released():
    # Without the one person of class 1, nobody is told apart: all trees with a decision share her.
    labels = np.array([0] * 9 + [1])
    features = labels[:, None].astype(np.float32)
    found = found_of(features, labels)
    assert found[DECISION].accuracy == 1.0
    assert found[DECISION].common >= 1
    assert fit_integral(TREE, features, labels, 3).predict(features).tolist() == [0] * 10
    alone = make_estimator(ASKED).fit(features, labels)
    assert count_generators(alone, TREE, features, labels, 3) == 0


@pytest.mark.nightly
def test_a_decision_with_a_leaf_of_too_few_records_is_not_released():
    assert fit_integral(TREE, FEATURES, LABELS, 3, fewest=5).get_n_leaves() == 2
    assert fit_integral(TREE, FEATURES, LABELS, 3, fewest=6).get_n_leaves() == 1


@pytest.mark.nightly
@settings(max_examples=examples(6, times=334))
@given(st.permutations(range(10)), st.integers(0, 2**10 - 1))
def test_the_order_of_the_records_decides_nothing(order, bits):
    labels = np.array([bits >> place & 1 for place in range(10)])
    features = np.arange(10, dtype=np.float32)[:, None] // 3
    again = generated_trees(TREE, features[order], labels[order], 2)
    assert generated_trees(TREE, features, labels, 2) == again


def test_no_tree_of_two_persons_of_two_classes_can_be_released():
    with pytest.raises(AuditError, match="A026 No tree can be released: no model has 2 generators"):
        fit_integral(TREE, FEATURES[4:6], LABELS[4:6], 2)


@pytest.mark.nightly
def test_a_released_tree_is_read_back_from_its_file_with_its_generators(tmp_path):
    learner = EstimatorLearner.of(ASKED, fewest=10)
    records = records_of_arrays(np.repeat(FEATURES, 4, axis=0), np.repeat(LABELS, 4))
    trained = learner.train(records, [np.arange(40)], [7])
    write_estimator(trained.models[0], tmp_path / "model.skops")
    model = read_estimator(tmp_path / "model.skops")
    features = records.features.astype(np.float32)
    assert model.predict(features).tolist() == records.labels.tolist()
    assert count_generators(model, TREE, features, records.labels, 3) >= 3


def test_generators_are_of_decision_trees_alone():
    with pytest.raises(
        ValueError, match="counted of a DecisionTreeClassifier, not of a GaussianNB"
    ):
        Estimator(name="GaussianNB", generators=3)
    assert "generators" not in Estimator(name="GaussianNB").model_dump()
    assert "generators" not in EstimatorLearner.of(Estimator(name="GaussianNB")).name
