"""What one policy says of hierarchies, and the conditions of another's rules."""

import pytest
from ruling import ANN, STAFF, TABLE, is_permitted, policy, rule, where

from policy_engine import terms
from policy_engine.policy import Asset, Hierarchy, LogicalConstraint, Party

RESEARCH, MARKETING = "http://p/research", "http://p/marketing"
EDGE = {"purpose": ((MARKETING, RESEARCH),)}
OTHER = policy(uid="urn:p:other", **EDGE)
ALL = rule("permission")


@pytest.mark.parametrize("operator", ["isA", "eq", "isPartOf", "isAnyOf", "isAllOf"])
def test_permission_is_not_widened_by_the_words_of_another_policy(operator):
    one = rule("permission", constraints=(where("purpose", operator, RESEARCH),))
    assert is_permitted([policy(one, **EDGE)], purpose=MARKETING)
    assert not is_permitted([policy(one)], purpose=MARKETING)
    assert not is_permitted([policy(one), OTHER], purpose=MARKETING)
    assert is_permitted([policy(one), OTHER], purpose=MARKETING, given=OTHER.hierarchy)


@pytest.mark.parametrize("operator", ["neq", "isNoneOf"])
def test_prohibition_is_not_lifted_by_the_words_of_another_policy(operator):
    one = rule("prohibition", constraints=(where("purpose", operator, RESEARCH),))
    assert is_permitted([policy(ALL, one, **EDGE)], purpose=MARKETING)
    assert not is_permitted([policy(ALL, one)], purpose=MARKETING)
    assert not is_permitted([policy(ALL, one), OTHER], purpose=MARKETING)


def test_prohibition_sees_what_another_policy_says_of_a_purpose():
    one = rule("prohibition", constraints=(where("purpose", "isA", RESEARCH),))
    assert is_permitted([policy(ALL, one)], purpose=MARKETING)
    assert not is_permitted([policy(ALL, one), OTHER], purpose=MARKETING)


def test_prohibition_of_exactly_one_is_not_lifted_by_making_it_two():
    kinds = [where("purpose", "isA", iri) for iri in (RESEARCH, "http://p/mail")]
    one = rule("prohibition", constraints=(LogicalConstraint(f"{terms.ODRL}xone", (*kinds,)),))
    also = policy(uid="urn:p:also", purpose=((MARKETING, "http://p/mail"),))
    assert is_permitted([policy(ALL, one)], purpose=MARKETING)
    for others in ([OTHER], [also], [OTHER, also]):
        assert not is_permitted([policy(ALL, one), *others], purpose=MARKETING)


@pytest.mark.parametrize(("operator", "kind"), [("isPartOf", "permission"), ("neq", "prohibition")])
def test_recipient_is_compared_by_the_words_of_the_policy_itself(operator, kind):
    one = rule(kind, constraints=(where("recipient", operator, STAFF),))
    other = policy(uid="urn:p:other", party=((ANN, STAFF),))
    world = {"values": {"recipient": (ANN,)}}
    rules = [one] if kind == "permission" else [ALL, one]
    assert not is_permitted([policy(*rules), other], **world)
    assert is_permitted([policy(*rules, party=((ANN, STAFF),)), other], **world)


def test_refinement_of_a_party_is_met_by_the_words_of_the_policy_itself():
    of_staff = Party("http://org/all", (where("recipient", "isPartOf", STAFF),))
    one = rule("permission", assignees=(of_staff,))
    mine = {"party": ((ANN, "http://org/all"),)}
    other = policy(uid="urn:p:other", party=(("http://org/eve", STAFF),))
    world = {"of": {ANN: {"recipient": ("http://org/eve",)}}}
    assert not is_permitted([policy(one, **mine), other], **world)
    assert is_permitted([policy(one, **mine), other], given=other.hierarchy, **world)


def test_members_that_another_policy_names_do_not_speak_for_a_collection():
    """A collection of whose members the policy knows none is asked itself."""
    german = Asset(TABLE, (where("language", "eq", "de"),))
    mine = policy(rule("permission"), rule("prohibition", german))
    member = Hierarchy(asset=(("http://x.org/doc", TABLE),))
    other = policy(uid="urn:p:other", asset=member.asset)
    world = {"of": {"http://x.org/doc": {"language": ("en",)}}}
    assert not is_permitted([mine], **world)
    assert not is_permitted([mine, other], **world)
    assert is_permitted([mine], given=member, **world)
