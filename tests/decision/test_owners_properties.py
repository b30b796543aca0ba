"""Laws of ownership, on random owners, policies and hierarchies."""

from contextlib import suppress
from dataclasses import replace

from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from owning import ANN, HOSPITAL, INSURER, REGULATOR, decided, is_permitted, policy, rule

from policy_engine.errors import PolicyError
from policy_engine.policy import Hierarchy, InForce

FEW = settings(max_examples=examples(40, times=50))
STAFF = "http://e.org/Staff"
ASSETS = [f"http://e.org/{name}" for name in ("A", "A/x", "B", "B/x", "all")]
PARTIES = [HOSPITAL, INSURER, REGULATOR]
OWNERS = st.fixed_dictionaries(
    {"http://e.org/A": st.sampled_from(PARTIES), "http://e.org/B": st.sampled_from(PARTIES)}
)


def edges(*names):
    return st.lists(st.sampled_from([(a, b) for a in names for b in names]), max_size=2).map(tuple)


@st.composite
def rules(draw, grants, kinds=("permission", "prohibition")):
    kind = draw(st.sampled_from(kinds))
    action = draw(st.sampled_from(["use", "read", "print", *["grantUse"] * grants]))
    whom = PARTIES if action == "grantUse" else [ANN, STAFF]
    targets = draw(st.lists(st.sampled_from(ASSETS), min_size=1, max_size=2, unique=True))
    assignees = draw(st.lists(st.sampled_from(whom), max_size=1))
    uid = f"urn:{draw(st.integers(0, 1 << 40))}"
    return rule(kind, *targets, action=action, assignees=assignees, uid=uid)


@st.composite
def sets(draw, grants=1, assigners=(*PARTIES, ""), conflicts=("prohibit", "perm", "invalid")):
    """Draw policies, each issued by one party, or by nobody in particular."""
    return [
        policy(
            draw(st.sampled_from(assigners)),
            *draw(st.lists(rules(grants), min_size=1, max_size=3)),
            uid=f"urn:p:{number}",
            conflict=draw(st.sampled_from(conflicts)),
            kind=draw(st.sampled_from(["Set", "Set", "Set", "Offer"])),
            party=draw(edges(ANN, STAFF)),
            asset=draw(edges(*ASSETS)),
        )
        for number in range(draw(st.integers(1, 3)))
    ]


TARGETS = st.sampled_from(ASSETS[:4])


def holds_others(one, target, owners):
    """Tell whether a policy puts into a target, near or far, what its owner does not own."""
    found = [target]
    for wide in found:
        found += [low for low, up in one.hierarchy.asset if up == wide and low not in found]
    return any(owners.get(name[:14]) not in (owners[target[:14]], None) for name in found)


def assigner(one):
    return {party.iri for made in one.rules for party in made.assigners}


@FEW
@given(sets(grants=0), OWNERS, TARGETS)
def test_adding_the_policies_of_others_never_widens_what_may_be_read_of_mine(
    policies, owners, target
):
    mine = [one for one in policies if assigner(one) == {owners[target[:14]]}]
    if is_permitted(policies, target, owners=owners):
        assert is_permitted(mine, target, owners=owners)


@FEW
@given(sets(), rules(grants=0, kinds=["permission"]), st.sampled_from(PARTIES), OWNERS, TARGETS)
def test_withdrawing_a_policy_never_widens(policies, permits, party, owners, target):
    """But one that prohibits, says who or what belongs to what, or lets others grant use."""
    if is_permitted(policies, target, owners=owners):
        assert is_permitted(
            [*policies, policy(party, permits, uid="urn:gone")], target, owners=owners
        )


@FEW
@given(sets(assigners=[HOSPITAL]), TARGETS)
def test_what_one_party_owns_and_issues_is_decided_as_if_nobody_asked_who_owns_it(policies, target):
    alone, owned = (
        decided(policies, target, owners=owners) for owners in (None, {"http://e.org/": HOSPITAL})
    )
    assert alone == owned


@FEW
@given(sets(grants=0, conflicts=("prohibit", "perm")), OWNERS, st.booleans(), TARGETS)
def test_a_decision_is_that_of_the_rules_of_those_who_speak_for_the_target(
    policies, owners, regulated, target
):
    owner = owners[target[:14]]
    stated = {
        name: {"owner": party, "regulators": [REGULATOR] * regulated}
        for name, party in owners.items()
    }
    speak = {owner, REGULATOR} if regulated else {owner}
    heard = [
        replace(
            one,
            permissions=()
            if assigner(one) != {owner} or holds_others(one, target, owners)
            else one.permissions,
            prohibitions=one.prohibitions if assigner(one) & speak else (),
        )
        for one in policies
    ]
    found = is_permitted(policies, target, owners=stated)
    assert found == is_permitted(heard, target, owners=None)


@FEW
@given(sets(grants=0), OWNERS, TARGETS, edges(*ASSETS))
def test_nobody_but_the_caller_moves_an_asset(policies, owners, target, told):
    """What policies say of assets opens nothing that their assigners do not own."""
    allowed = {owners[target[:14]]}
    permitted = decided(policies, target, owners=owners, given=Hierarchy(asset=tuple(told)))
    if permitted.permitted:
        by = next(one for one in policies if one.uid == permitted.policy)
        assert assigner(by) == allowed


@FEW
@given(sets(grants=1, assigners=[REGULATOR]), st.sampled_from(ASSETS), TARGETS)
def test_no_policy_of_a_stranger_reopens_what_was_made_under_a_withdrawn_one(
    policies, output, target
):
    """Whatever it says, claims to make, and whether it is an Offer or void."""
    owners = {"http://e.org/A": HOSPITAL, "http://e.org/B": HOSPITAL}
    made = rule("permission", "http://e.org/raw", action="derive", output=target)
    reads = policy(HOSPITAL, rule("permission", target, action="read"), uid="urn:reads")
    hers = [
        replace(one, permissions=tuple(replace(r, output=output) for r in one.permissions))
        for one in policies
    ]
    known = InForce([reads, *hers], (), [policy(HOSPITAL, made, uid="urn:withdrawn")])
    with suppress(PolicyError):  # P019: an output that is not hers
        assert not is_permitted(known, target, owners=owners)
