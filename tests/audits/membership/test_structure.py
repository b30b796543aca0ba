import numpy as np
import pytest
from attack_evidence import of_probabilities
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.audits.membership.structure import structure_of, structure_sentences
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods.audits.classifier import Layer, Network


def answered(*groups):
    """What a model of two classes says: of each group the share of class 1, and who has which."""
    shares = np.concatenate([np.full(no + yes, share) for share, no, yes in groups])
    labels = np.concatenate([np.repeat([0, 1], [no, yes]) for _, no, yes in groups])
    return of_probabilities(np.stack([1 - shares, shares], 1), labels)


OTHERS = (0.5, 6, 6)


def test_groups_are_members_with_one_answer():
    """Of 12 with .9 one has class 0, as all 15 with .2; 4 with .6 are few; others do not count."""
    target = answered((0.9, 1, 11), (0.2, 15, 0), (0.6, 2, 2), OTHERS)
    found = structure_of(target, np.arange(43) < 31)
    assert (found.members, found.answers, found.smallest) == (31, 3, 4)
    assert found.in_small_groups == 4
    assert (found.of_one_class, found.few_of_a_class) == (1, 1)
    assert found.right_on_members == 28 / 31
    assert isinstance(found.freedom, NotApplicable)
    [said] = structure_sentences(found)
    assert said.startswith("4 of 31 members have an answer that fewer than 10 members share")


def test_answers_of_one_member_each_are_told():
    shares = np.linspace(0.1, 0.9, 30)
    found = structure_of(answered(*((one, 1, 0) for one in shares), OTHERS), np.arange(42) < 30)
    assert any(
        one.startswith("No answer is shared by 10 members; 30 of 30 are different")
        for one in structure_sentences(found)
    )


def test_a_model_that_is_right_about_members_alone_has_learnt_them_by_heart():
    target = answered((0.9, 0, 20), (0.1, 20, 0), OTHERS)
    found = structure_of(target, np.arange(52) < 40)
    assert found.is_memorised
    [said] = structure_sentences(found)
    assert said == (
        "The model is right about all 40 members and about 50% of the non-members: it has "
        "memorised its records."
    )


@pytest.mark.parametrize(
    ("members", "others"),
    [((0, 5), (1, 4)), ((0, 3), (8, 32)), ((0, 12), (2, 10)), ((0, 100), (1, 4))],
)
def test_few_records_do_not_show_that_they_are_learnt_by_heart(members, others):
    """Wrong and right: a model right about four in five of any records would be as often."""
    target = answered((0.9, *members), (0.8, *others))
    found = structure_of(target, np.arange(sum(members + others)) < sum(members))
    assert found.right_on_members == 1 > found.right_on_others + 0.1
    assert not found.is_memorised


def test_parameters_are_counted_against_members():
    """5 features, 4 units and 2 classes: 6 x 4 and 5 x 2."""
    network = Network(layers=(Layer(units=4),))
    target = answered((0.9, 5, 15), OTHERS)
    found = structure_of(target, np.arange(32) < 20, network, 5)
    assert found.freedom == 20 - 34
    assert "34 parameters for 20 records" in list(structure_sentences(found))[-1]


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=30))
def test_groups_are_of_all_members(records):
    shares, labels = np.array(records).T
    target = of_probabilities(np.stack([1 - shares / 5, shares / 5], 1), labels)
    target = type(target)(np.repeat(target.logits, 2, axis=0), np.repeat(target.labels, 2))
    found = structure_of(target, np.arange(2 * len(shares)) % 2 == 0)
    assert found.answers == len(set(shares))
    assert found.members == len(shares)
    assert found.smallest <= len(shares) // found.answers
    assert (found.in_small_groups > 0) == (found.smallest < 10)
