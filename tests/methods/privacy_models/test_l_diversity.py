import pytest
from measuring import DISEASE, holding, measured, refused, taken

from policy_engine.methods.conflicts import parameter_findings
from policy_engine.methods.privacy_model import Bound
from policy_engine.methods.privacy_models.l_diversity import LDiversity

CLASSES = (["flu", "cold", "ulcer"], ["flu", "flu", "cold"], ["flu", None, "flu"])


def test_l_is_a_bound_on_distinct_values():
    method = LDiversity(k=3, l=2)
    assert method.bound(DISEASE) == Bound("l", "disease", 2, "at least")
    assert method.diversity(DISEASE) == {"distinct": 2}


def test_l_counts_the_distinct_values_of_a_class_and_no_missing_ones():
    assert measured(LDiversity(k=3, l=2), *CLASSES) == [3, 2, 1]


@pytest.mark.parametrize(("l", "kept"), [(2, [True, True, False]), (3, [True, False, False])])
def test_a_class_holds_from_l_values(l, kept):  # noqa: E741
    method = LDiversity(k=3, l=l)
    assert holding(method, *CLASSES) == taken(method, *CLASSES) == kept


def test_values_that_all_persons_of_a_class_share_are_one():
    # Persons 0 and 1 both have flu, and 1 has a cold as well: whoever is in it has flu.
    given = {"persons": [[0, 1, 1]]}
    assert measured(LDiversity(k=2, l=2), ["flu", "flu", "cold"], **given) == [1]


def test_l_above_k_is_refused():
    [finding] = parameter_findings(LDiversity, {"k": 2, "l": 3}, "l-diversity")
    assert (finding.code, finding.parameter) == ("M003", "l")
    assert finding.message.startswith("l is 3, above k, which is 2.")
    assert refused(LDiversity, k=2, l=2) == []


@pytest.mark.parametrize("l", [1, 0, True, 2.5, "2", None])
def test_l_is_an_integer_of_two_or_more(l):  # noqa: E741
    assert refused(LDiversity, k=4, l=l) == [("M003", "l")]
