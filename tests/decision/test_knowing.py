"""What a party knows of data, and so may be told the names of."""

import pytest
from owning import ANN, CLAIMS, HOSPITAL, INSURER, OWNED, STAFF, VISITS, makes, policy, rule

from policy_engine.decision import Decider
from policy_engine.decision.knowing import Known
from policy_engine.policy.owners import read_owners

WARD = f"{VISITS}/Ward"
MADE = "http://e.org/Made"


def known(*policies, party=ANN):
    return Known(Decider(policies, owners=read_owners(OWNED)), party)


def reading(*targets, owner=HOSPITAL, who=(ANN,), **edges):
    given = rule("permission", *targets, action="read", assignees=who)
    return policy(owner, given, uid=f"urn:{owner}:{targets}", **edges)


def test_who_is_permitted_a_dataset_knows_its_columns():
    some = known(reading(VISITS))
    assert some.has(VISITS)
    assert some.has(WARD)
    assert not some.has(CLAIMS)
    assert known(reading(VISITS, who=())).has(VISITS)


def test_who_is_permitted_a_column_knows_that_one_alone():
    some = known(reading(WARD))
    assert not some.has(VISITS)
    assert some.has(WARD)
    assert some.parts(VISITS) == (WARD,)
    assert some.parts(CLAIMS) == ()


@pytest.mark.parametrize(
    "others",
    [
        reading(VISITS, who=(STAFF,)),
        reading(VISITS, owner=INSURER),
        policy(HOSPITAL, rule("prohibition", VISITS, assignees=(ANN,))),
    ],
)
def test_rules_for_others_by_strangers_and_against_tell_nothing(others):
    assert not known(others).has(VISITS)
    assert known(others).parts(VISITS) == ()


def test_members_of_a_group_know_what_the_group_does():
    assert known(reading(VISITS, who=(STAFF,), party=((ANN, STAFF),))).has(VISITS)


def test_an_output_is_known_to_whom_it_is_for_and_who_knows_all_inputs():
    made = makes(MADE, VISITS, HOSPITAL)
    assert known(made, party=STAFF).has(MADE)
    assert known(made, reading(VISITS)).has(MADE)
    assert not known(made).has(MADE)
