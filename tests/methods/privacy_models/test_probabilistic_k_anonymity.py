"""Probabilistic k-anonymity: what it bounds, and what does not go with it."""

import numpy as np
import pytest
from applying import asking
from building import column

from policy_engine import plan_policy
from policy_engine.errors import PlanError
from policy_engine.kernels.grouping import Groups
from policy_engine.methods.permutation import (
    LINK_PROBABILITY,
    permutation_conflicts,
    permuted_conflicts,
)
from policy_engine.methods.privacy_models.probabilistic_k_anonymity import ProbabilisticKAnonymity

ASKED = {"method": "probabilistic-k-anonymity", "k": 4, "quasi": ["age", "job"]}


def conflicts(options=(), notations=("probabilistic-k-anonymity",), roles=(), unit=""):
    found = permutation_conflicts(dict(options), notations, dict(roles), unit)
    return [(one.code, one.parameter) for one in found]


def refused_by(**parts):
    with pytest.raises(PlanError) as raised:
        plan_policy(asking(**{**ASKED, **parts}))
    return [one.message for one in raised.value.problems]


def test_a_row_is_linked_with_a_probability_of_at_most_one_in_k():
    bound = ProbabilisticKAnonymity(k=4).link_bound()
    assert (bound.name, bound.asked, bound.sense) == (LINK_PROBABILITY, 0.25, "at most")


def test_it_is_measured_by_the_smallest_class_and_never_called_k():
    step = plan_policy(asking(**ASKED)).anonymize
    assert [one.name for one in step.bounds()] == [LINK_PROBABILITY]
    classes = Groups(np.array([0] * 4 + [1] * 5), 2, {}, {})
    [measured] = step.measure(classes, {})
    assert (measured.bound, measured.achieved, measured.worst) == (LINK_PROBABILITY, 0.25, 0)
    [short] = step.measure(Groups(np.array([0] * 3 + [1] * 6), 2, {}, {}), {})
    assert not short.holds


def test_other_models_speak_of_classes_that_are_not_shown():
    assert conflicts(notations=("probabilistic-k-anonymity", "l-diversity")) == [("M003", "method")]
    assert conflicts(notations=("probabilistic-k-anonymity", "masking")) == []
    assert conflicts(notations=("l-diversity",), unit="id") == []


@pytest.mark.parametrize(
    "algorithm", ["full-domain", "microaggregation", "local-suppression", "bucketization"]
)
def test_classes_are_cut_by_quasi_identifiers_or_by_what_is_predicted(algorithm):
    assert conflicts({"algorithm": algorithm}) == [("M003", "algorithm")]
    assert conflicts({"algorithm": "accuracy-guided"}) == []


def test_classes_that_equal_quasi_identifiers_do_not_decide_are_refused():
    for name, value in {"partitioning": "relaxed", "polish": True, "missing": "wildcard"}.items():
        assert conflicts({name: value}) == [("M003", name)]
    assert conflicts({"partitioning": "strict", "polish": False, "missing": "category"}) == []


def test_persons_may_have_several_rows_and_pseudonyms_are_refused():
    assert conflicts(unit="id") == []
    assert conflicts(roles={"pseudonymize": ["id"]}) == [("M003", "pseudonymize")]


def test_nothing_represents_a_class():
    assert conflicts({"representative": "nearest"}) == [("M003", "representative")]


def test_only_weights_are_said_of_a_column():
    assert not [*permuted_conflicts({"weight": 2})]
    assert [one.parameter for one in permuted_conflicts({"generalization": "range"})] == [
        "generalization"
    ]


def test_problems_have_their_place_in_the_policy():
    [message] = refused_by(quasi=[column("age", generalization="range"), "job"])
    assert message.startswith("'age': generalization is about generalising.")
    [message] = refused_by(method=["probabilistic-k-anonymity", "k-anonymity"])
    assert "'k-anonymity'" in message


def test_a_plan_of_other_classes_is_not_a_plan():
    step = plan_policy(asking(**ASKED)).anonymize
    changes = step.model_dump(by_alias=True)
    changes["recoding"]["algorithm"] = "full-domain"
    with pytest.raises(ValueError, match="permuted within classes"):
        type(step).model_validate(changes)


def test_accuracy_guided_classes_are_permuted_without_a_representative():
    label = "http://x.org/People/income"
    parts = {**ASKED, "algorithm": "accuracy-guided", "label": label}
    step = plan_policy(asking(**parts)).anonymize
    assert step.is_permuted
    assert [one.generalization for one in step.columns.quasi_identifier] == [None, None]
    assert step.recoding.guide.representative == "cell"
