"""Whose rules count in a decision where several own what is asked for."""

import json

import pytest
from owning import (
    ANN,
    CLAIMS,
    HOSPITAL,
    INSURER,
    OWNED,
    REGULATOR,
    VISITS,
    attested,
    decided,
    derives,
    is_permitted,
    policy,
    rule,
)

from policy_engine.decision import Decider, Request
from policy_engine.policy import Constraint, Hierarchy, read_drafts, read_policies
from policy_engine.policy.model import READ, Value
from policy_engine.policy.owners import read_owners
from policy_engine.terms import ODRL

READS, BARS = rule("permission", VISITS), rule("prohibition", VISITS)
MINE = policy(HOSPITAL, READS)
NAME = f"{VISITS}/Name"


def test_the_issuer_of_a_policy_owns_what_it_makes_of_his_own():
    made = derives("http://e.org/Sum", VISITS, HOSPITAL)
    decider = Decider([made], [attested(made)], owners=read_owners(OWNED))
    request = Request(assignee=STAFF, action=READ, targets=("http://e.org/Sum",))
    assert decider.decide(request).permitted
    anything = policy(INSURER, rule("prohibition"), uid="urn:anything")
    decider = Decider([made, anything], [attested(made)], owners=read_owners(OWNED))
    assert decider.decide(request).permitted


# -- parts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", [f"{VISITS}/deep/Name", "urn:part"])
def test_the_owner_of_a_part_bars_it_within_all_of_it(part):
    given = Hierarchy(asset=(("urn:part", VISITS),))
    bars = policy(INSURER, rule("prohibition", part))
    owners = {**OWNED, part: INSURER}
    both = policy("", rule("permission", VISITS, assigners=[HOSPITAL, INSURER]))
    assert is_permitted([both], owners=owners, given=given)
    assert not is_permitted([both, bars], owners=owners, given=given)
    stranger = policy(REGULATOR, rule("prohibition", part))
    assert is_permitted([both, stranger], owners=owners, given=given)


# -- permissions ----------------------------------------------------------------------------------


def test_a_permission_counts_where_its_assigner_owns_the_target():
    assert is_permitted([MINE])
    assert is_permitted([MINE], NAME)


def test_a_strangers_permission_opens_nothing_of_mine_and_says_why():
    found = decided([policy(INSURER, READS)])
    assert not found.permitted
    assert found.reason.endswith(f"urn:permission: {INSURER} does not own {VISITS}.")
    assert found.near_misses[0].missing == (f"{INSURER} does not own {VISITS}",)
    assert [one.applies for one in found.matches] == [False]


def test_a_strangers_permission_for_others_lacks_both():
    found = decided([policy(INSURER, rule("permission", VISITS, assignees=[STAFF]))])
    assert found.near_misses[0].missing == (
        f"it is for {STAFF}, not {ANN}",
        f"{INSURER} does not own {VISITS}",
    )
    elsewhere = policy(INSURER, rule("permission", CLAIMS, assignees=[ANN]))
    assert decided([elsewhere]).near_misses[0].missing == (f"it does not cover {VISITS}",)


def test_a_policy_without_an_assigner_opens_nothing_once_owners_are_stated():
    assert is_permitted([policy("", READS)], owners=None)
    found = decided([policy("", READS)])
    assert f"it names no assigner, and {HOSPITAL} owns {VISITS}" in found.reason


def test_without_owners_every_permission_counts():
    assert is_permitted([policy(INSURER, READS)], owners=None)


def test_of_an_asset_that_nobody_is_stated_to_own_nothing_is_permitted():
    found = decided(
        [policy(HOSPITAL, rule("permission", "http://e.org/Lost"))], "http://e.org/Lost"
    )
    assert "nobody is known to own http://e.org/Lost" in found.reason


def test_the_assigner_of_a_rule_counts_as_that_of_its_policy_does():
    assert is_permitted([policy("", rule("permission", VISITS, assigners=[HOSPITAL]))])
    assert not is_permitted([policy("", rule("permission", VISITS, assigners=[INSURER]))])


def test_targets_of_two_owners_are_read_together_by_a_rule_that_both_issued():
    both = rule("permission", VISITS, CLAIMS)
    assert not is_permitted([policy(HOSPITAL, both)], VISITS, CLAIMS)
    assert is_permitted([policy(HOSPITAL, both)], VISITS)
    assert not is_permitted([policy(HOSPITAL, both)], CLAIMS)
    alone = [MINE, policy(INSURER, rule("permission", CLAIMS))]
    assert not is_permitted(alone, VISITS, CLAIMS)
    joint = rule("permission", VISITS, CLAIMS, assigners=[HOSPITAL, INSURER])
    assert is_permitted([policy("", joint)], VISITS, CLAIMS)


def test_a_rule_without_targets_opens_what_is_its_assigners_alone():
    every = policy(HOSPITAL, rule("permission"))
    assert is_permitted([every])
    assert not is_permitted([every], CLAIMS)


def test_a_dataset_is_not_opened_with_a_column_of_another_owner():
    owners = {**OWNED, NAME: INSURER}
    assert not is_permitted([MINE], owners=owners)
    assert not is_permitted([MINE], NAME, owners=owners)
    assert is_permitted([MINE], f"{VISITS}/Age", owners=owners)


def test_a_party_is_the_one_whose_iri_it_is_in_any_spelling():
    assert is_permitted([MINE], owners={"HTTP://E.org:80/%56isits": "http://E.ORG/x/../H"})
    assert not is_permitted([MINE], owners={VISITS: f"{HOSPITAL}/"})


@pytest.mark.parametrize("up", ["http://e.org/Mine", CLAIMS])
def test_no_policy_moves_an_asset_under_another_owner(up):
    """What a policy says of parts widens what its own permissions cover, and no ownership."""
    claims = policy(INSURER, rule("permission", up), asset=((VISITS, up),))
    owners = {**OWNED, "http://e.org/Mine": INSURER}
    assert is_permitted([claims], owners=None)
    assert not is_permitted([claims], owners=owners)


def test_the_caller_moves_an_asset_that_nobody_is_stated_to_own():
    part = "http://x.org/Doc"
    reads = [policy(HOSPITAL, rule("permission", VISITS))]
    assert not is_permitted(reads, part)
    assert is_permitted(reads, part, given=Hierarchy(asset=((part, VISITS),)))
    assert is_permitted(reads, part, memberships=Hierarchy(asset=((part, VISITS),)))
    assert not is_permitted(reads, CLAIMS, given=Hierarchy(asset=((CLAIMS, VISITS),)))


@pytest.mark.parametrize(("number", "more"), [(16, []), (17, ["1 more rules do not count"])])
def test_of_many_rules_that_do_not_count_sixteen_are_told(number, more):
    bars = [rule("prohibition", VISITS, uid=f"urn:bars:{n}") for n in range(number)]
    told = decided([MINE, policy(INSURER, *bars)]).derivation
    lines = [one for one in told if "not count" in one]
    assert lines[:16] == [
        f"urn:bars:{n} does not count: {INSURER} does not own {VISITS}" for n in range(16)
    ]
    assert lines[16:] == more


# -- prohibitions ---------------------------------------------------------------------------------


def test_a_prohibition_counts_where_its_assigner_owns_the_target_and_else_is_told_aside():
    assert not is_permitted([MINE, policy(HOSPITAL, BARS, uid="urn:p")])
    found = decided([MINE, policy(INSURER, BARS, uid="urn:p")])
    assert found.permitted
    assert found.derivation[-1] == (
        f"urn:prohibition does not count: {INSURER} does not own {VISITS}"
    )
    assert not is_permitted([MINE, policy(INSURER, BARS, uid="urn:p")], owners=None)


def test_a_prohibition_of_a_regulator_counts_and_a_permission_does_not():
    owners = {VISITS: {"owner": HOSPITAL, "regulators": [REGULATOR]}}
    assert not is_permitted([MINE, policy(REGULATOR, BARS)], owners=owners)
    assert not is_permitted([policy(REGULATOR, READS)], owners=owners)
    assert is_permitted([MINE, policy(REGULATOR, BARS)])


def test_a_regulator_bars_a_collection_with_all_that_the_catalog_puts_into_it():
    health = "http://e.org/HealthData"
    owners = {VISITS: {"owner": HOSPITAL, "partOf": health}, health: {"regulators": REGULATOR}}
    bars = policy(REGULATOR, rule("prohibition", health))
    given = Hierarchy(asset=((VISITS, health),))
    assert not is_permitted([MINE, bars], owners=owners, given=given)
    assert not is_permitted([MINE, policy(REGULATOR, BARS)], NAME, owners=owners)


def test_of_what_the_catalog_puts_into_a_collection_rules_are_found_by_the_catalog():
    health = "http://e.org/HealthData"
    owners = {VISITS: {"owner": HOSPITAL, "partOf": health}, health: {"regulators": REGULATOR}}
    assert not is_permitted([MINE, policy(REGULATOR, rule("prohibition", health))], owners=owners)


def test_a_prohibition_of_a_column_by_its_owner_bars_its_dataset():
    owners = {VISITS: {"owner": HOSPITAL, "delegates": INSURER}, NAME: INSURER}
    reads = policy(INSURER, READS, uid="urn:p")
    assert is_permitted([reads], owners=owners)
    assert not is_permitted([reads, policy(INSURER, rule("prohibition", NAME))], owners=owners)


def test_of_an_asset_that_nobody_is_stated_to_own_every_prohibition_counts():
    lost = "http://e.org/Lost"
    owners = {**OWNED, lost: {"regulators": [REGULATOR]}}
    found = decided([policy(INSURER, rule("prohibition", lost))], lost, owners=owners)
    assert found.reason == "urn:prohibition prohibits it."


def test_a_prohibition_on_what_a_stranger_claims_to_be_in_my_asset_bars_nobody():
    claims = policy(
        INSURER, rule("prohibition", CLAIMS), asset=((CLAIMS, VISITS), (VISITS, CLAIMS))
    )
    assert is_permitted([MINE, claims])
    assert not is_permitted([MINE, claims], owners=None)


def test_a_prohibition_for_one_of_several_targets_counts_for_that_one():
    joint = policy(
        "", rule("permission", VISITS, CLAIMS, assigners=[HOSPITAL, INSURER]), uid="urn:p"
    )
    bars = policy(INSURER, rule("prohibition", CLAIMS))
    assert not is_permitted([joint, bars], VISITS, CLAIMS)
    assert is_permitted([joint, bars], VISITS)


def test_a_prohibition_of_another_owner_is_not_lifted_by_the_strategy_of_the_policy():
    owners = {VISITS: {"owner": HOSPITAL, "regulators": [REGULATOR]}}
    lifts = policy(HOSPITAL, READS, BARS, conflict="perm")
    assert is_permitted([lifts], owners=owners)
    assert not is_permitted([lifts, policy(REGULATOR, BARS, conflict="perm")], owners=owners)
    barred = rule("prohibition", VISITS, assigners=[REGULATOR])
    assert not is_permitted([policy(HOSPITAL, READS, barred, conflict="perm")], owners=owners)


# -- the words of others --------------------------------------------------------------------------

PRESS, STAFF, BOB = (f"http://e.org/{name}" for name in ("Press", "Staff", "Bob"))
VOIDABLE = policy(
    HOSPITAL,
    rule("permission", VISITS, assignees=[STAFF], uid="urn:staff"),
    rule("permission", VISITS, assignees=[BOB], uid="urn:bob"),
    rule("prohibition", VISITS, assignees=[PRESS]),
    conflict="invalid",
    party=((ANN, STAFF),),
)
WORDS = {"party": ((STAFF, PRESS),)}


def test_the_words_of_a_stranger_narrow_what_they_are_about_and_void_no_policy():
    """A prohibition sees all that is said; a policy is void by its own owner's words alone."""
    other = policy(INSURER, rule("permission", CLAIMS), **WORDS)
    assert is_permitted([VOIDABLE])
    assert not is_permitted([VOIDABLE, other])
    assert is_permitted([VOIDABLE, other], assignee=BOB)
    assert not is_permitted([VOIDABLE, other], assignee=BOB, owners=None)


def test_the_words_of_its_owner_and_of_the_caller_void_a_policy():
    own = policy(HOSPITAL, rule("permission", NAME), uid="urn:own", **WORDS)
    known = Hierarchy(**WORDS)
    assert not is_permitted([VOIDABLE, own], assignee=BOB)
    assert not is_permitted([VOIDABLE], assignee=BOB, given=known)
    assert not is_permitted([VOIDABLE], assignee=BOB, memberships=known)
    nobody = policy("", rule("permission", NAME), uid="urn:nobody", **WORDS)
    assert is_permitted([VOIDABLE, nobody], assignee=BOB)


# -- delegation -----------------------------------------------------------------------------------

GRANTS = rule("permission", VISITS, action="grantUse", assignees=[INSURER], uid="urn:grant")


def test_an_owner_lets_another_permit_by_granting_use():
    theirs = policy(INSURER, READS, uid="urn:theirs")
    assert not is_permitted([theirs])
    found = decided([theirs, policy(HOSPITAL, GRANTS)])
    assert f"urn:grant lets {INSURER} grant the use of {VISITS}" in found.derivation
    assert is_permitted([theirs, policy(HOSPITAL, GRANTS)], NAME)
    assert not is_permitted([theirs, policy(REGULATOR, GRANTS)])
    assert not is_permitted([theirs, policy(HOSPITAL, GRANTS, kind="Offer")])


def test_a_permission_to_use_lets_nobody_grant_use():
    uses = rule("permission", VISITS, assignees=[INSURER])
    assert not is_permitted([policy(INSURER, READS, uid="urn:theirs"), policy(HOSPITAL, uses)])


def test_a_delegation_of_a_column_is_one_of_that_column():
    granted = rule("permission", NAME, action="grantUse", assignees=[INSURER], uid="urn:grant")
    both = [policy(INSURER, READS, uid="urn:theirs"), policy(HOSPITAL, granted)]
    assert is_permitted(both, NAME)
    assert not is_permitted(both, VISITS)


def within(place):
    return Constraint(f"{ODRL}spatial", f"{ODRL}eq", (Value(place, type="@id"),))


@pytest.mark.parametrize(
    ("place", "permits", "bars"),
    [("urn:EU", True, True), ("urn:US", False, False), (None, False, True)],
)
def test_the_constraints_of_a_delegation_are_decided_as_any_others(place, permits, bars):
    granted = rule(
        "permission",
        VISITS,
        action="grantUse",
        assignees=[INSURER],
        constraints=(within("urn:EU"),),
        uid="urn:grant",
    )
    mine = policy(HOSPITAL, granted, READS, uid="urn:mine")
    world = {"values": {"spatial": place}} if place else {}
    opens = policy(HOSPITAL, granted, uid="urn:mine")
    assert is_permitted([opens, policy(INSURER, READS)], **world) == permits
    assert is_permitted([mine, policy(INSURER, BARS)], **world) == (not bars)


def test_a_delegation_for_a_purpose_is_one_for_that_purpose():
    granted = rule(
        "permission",
        VISITS,
        action="grantUse",
        assignees=[INSURER],
        purposes=("urn:trial",),
        uid="urn:grant",
    )
    both = [policy(HOSPITAL, granted, uid="urn:mine"), policy(INSURER, READS)]
    assert is_permitted(both, purpose="urn:trial")
    assert not is_permitted(both, purpose="urn:other")


def test_a_prohibited_delegation_is_none():
    bars = rule("prohibition", VISITS, action="grantUse", assignees=[INSURER], uid="urn:bars")
    both = [policy(HOSPITAL, GRANTS, bars), policy(INSURER, READS, uid="urn:theirs")]
    assert not is_permitted(both)


@pytest.mark.parametrize("stated", [True, False])
def test_a_delegate_delegates_nobody(stated):
    owners = {VISITS: {"owner": HOSPITAL, "delegates": [INSURER] if stated else []}}
    further = rule(
        "permission", VISITS, action="grantUse", assignees=[REGULATOR], uid="urn:further"
    )
    policies = [policy(INSURER, further), policy(REGULATOR, READS), policy(HOSPITAL, GRANTS)]
    assert not is_permitted(policies, owners=owners)


def test_a_delegate_that_is_stated_speaks_as_the_owner_does():
    owners = {VISITS: {"owner": HOSPITAL, "delegates": [INSURER]}}
    assert is_permitted([policy(INSURER, READS)], owners=owners)
    assert not is_permitted([MINE, policy(INSURER, BARS)], owners=owners)


def test_a_collection_of_mine_does_not_open_what_my_policy_puts_into_it_of_others():
    archive = "http://e.org/Archive"
    owners = {**OWNED, archive: HOSPITAL}
    mine = policy(HOSPITAL, rule("permission", archive), asset=((VISITS, archive),))
    takes = policy(HOSPITAL, rule("permission", archive), asset=((CLAIMS, archive),))
    assert is_permitted([mine], archive, owners=owners)
    assert not is_permitted([takes], archive, owners=owners)
    assert is_permitted(
        [mine, policy(INSURER, READS, asset=((CLAIMS, archive),))], archive, owners=owners
    )


# -- inheritance ----------------------------------------------------------------------------------

TEXT = {
    "@context": [
        "http://www.w3.org/ns/odrl.jsonld",
        "https://www.mosaicrown.eu/ns/mosaicrown.jsonld",
    ],
    "@type": "Set",
    "profile": "https://www.mosaicrown.eu/ns/mosaicrown/1/",
}
PARENT = TEXT | {
    "uid": "urn:parent",
    "assigner": HOSPITAL,
    "permission": {"target": VISITS, "action": "read", "assignee": "http://e.org/Bob"},
}
CHILD = TEXT | {"uid": "urn:child", "inheritFrom": "urn:parent"}


@pytest.mark.parametrize("assigner", [{}, {"assigner": INSURER}])
@pytest.mark.parametrize(
    "own",
    [
        {"assignee": ANN},
        {"permission": {"target": VISITS, "action": "read", "assignee": ANN}},
    ],
)
def test_who_inherits_from_a_policy_does_not_speak_for_its_assigner(assigner, own):
    """What a parent says of all rules goes for those of the child, but who issued them."""
    child = CHILD | own
    parents = read_drafts(json.dumps(PARENT))
    [found] = read_policies(json.dumps(child | assigner), parents=parents)
    assert not is_permitted([found])
    assert not is_permitted([found], assignee="http://e.org/Bob")
    [mine] = read_policies(json.dumps(child | {"assigner": HOSPITAL}), parents=parents)
    assert is_permitted([mine])
    further = TEXT | {"uid": "urn:further", "inheritFrom": "urn:child"} | own | assigner
    texts = json.dumps([child | {"assigner": HOSPITAL}, further])
    _, last = read_policies(texts, parents=parents)
    assert not is_permitted([last])
