import pytest
from measuring import DISEASE, holding, measured, refused, taken

from policy_engine.methods.columns import Sensitive
from policy_engine.methods.privacy_model import Bound
from policy_engine.methods.privacy_models.t_closeness import TCloseness

SALARY = Sensitive(name="salary", distance="ordered")
TREE = {
    "any": None,
    "respiratory": "any",
    "digestive": "any",
    "flu": "respiratory",
    "cold": "respiratory",
    "ulcer": "digestive",
    "gastritis": "digestive",
}
KINDS = Sensitive(name="disease", distance="hierarchical", taxonomy="diseases")


def test_t_is_a_bound_on_the_distance_of_the_column():
    method = TCloseness(k=3, t=0.2)
    assert method.bound(SALARY) == Bound("t", "salary", 0.2, "at most")
    assert method.diversity(SALARY) == {"t": 0.2, "distance": "ordered"}
    assert method.diversity(DISEASE) == {"t": 0.2, "distance": "variational"}


def test_the_variational_distance_is_what_a_class_exceeds_the_table_by():
    # The table is a: 1/2, b: 1/2; a class of a alone exceeds it by 1/2.
    assert measured(TCloseness(k=2, t=0.2), ["a", "a"], ["b", "b"]) == [0.5, 0.5]
    assert measured(TCloseness(k=2, t=0.2), ["a", "b"], ["a", "b"]) == [0, 0]


def test_the_ordered_distance_is_that_of_the_paper():
    # Li, Li, Venkatasubramanian, ICDE 2007, section 4.1: .375 and .167 (salaries in thousands).
    classes = ([3, 4, 5], [6, 8, 11], [7, 9, 10])
    found = measured(TCloseness(k=3, t=0.2), *classes, column=SALARY)
    assert found[:2] == pytest.approx([0.375, 1 / 6])


def test_the_hierarchical_distance_is_shorter_within_a_kind():
    # Half of each class moves to the other disease of its kind, half as far as to the other kind.
    within = (["flu", "ulcer"], ["cold", "gastritis"])
    across = (["flu", "cold"], ["ulcer", "gastritis"])
    given = {"column": KINDS, "tree": TREE}
    assert measured(TCloseness(k=2, t=0.2), *within, **given) == pytest.approx([0.25, 0.25])
    assert measured(TCloseness(k=2, t=0.2), *across, **given) == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize(("t", "kept"), [(0.3, True), (0.25, True), (0.2, False)])
def test_a_class_holds_up_to_t(t, kept):
    method, given = TCloseness(k=2, t=t), {"column": KINDS, "tree": TREE}
    classes = (["flu", "ulcer"], ["cold", "gastritis"])
    assert holding(method, *classes, **given) == taken(method, *classes, **given) == [kept] * 2


def test_a_class_without_values_is_as_far_as_can_be():
    assert measured(TCloseness(k=2, t=0.2), ["a", "a"], [None, None]) == [0, 1]


@pytest.mark.parametrize("t", [0, -0.1, 1.5, "near", "NaN", float("inf"), True, None])
def test_t_is_a_number_above_zero_and_up_to_one(t):
    assert refused(TCloseness, k=3, t=t) == [("M003", "t")]


def test_t_may_be_one():
    assert refused(TCloseness, k=3, t=1) == refused(TCloseness, k=3, t=1.0) == []
