"""What others prohibit, and what leave they give, reaches making through all that is beside it."""

from dataclasses import replace

import pytest
from building import permission
from building import policy as text_of
from certifying import certified
from matched import anonymizing
from owning import (
    ANN,
    CLAIMS,
    HOSPITAL,
    INSURER,
    NOON,
    REGULATOR,
    STAFF,
    VISITS,
    attested,
    derives,
    lets,
    makes,
    policy,
    rule,
)

from policy_engine.decision import Decider, Request, World
from policy_engine.decision.log import DecisionLog
from policy_engine.decision.making_consents import missing_consents
from policy_engine.decision.model import CarriedOutRule
from policy_engine.plan.lineage import Upstream
from policy_engine.policy import Action, Constraint, Hierarchy, read_policy
from policy_engine.policy.model import ANONYMIZE, COUNT, JOINTLY, TRAIN, Value
from policy_engine.policy.owners import read_owners
from policy_engine.terms import ODRL

LAB, LAB_2, OTHER = (f"http://e.org/{name}" for name in ("Lab", "Lab2", "ColumnOwner"))
SAFE, AGAIN, MINE, DERIVED = (f"http://e.org/{name}" for name in ("Safe", "Again", "Mine", "D"))
MARKETING, RESEARCH = "http://e.org/mk", "http://e.org/research"
BOTH = [
    {"owner": HOSPITAL, "regulators": [REGULATOR], "delegates": []},
    {"owner": INSURER, "regulators": [REGULATOR], "delegates": []},
]
OWNED = {VISITS: BOTH[0], CLAIMS: BOTH[1], SAFE: LAB, AGAIN: LAB_2, MINE: LAB_2}
LEAVES = [lets(HOSPITAL, VISITS, LAB), lets(INSURER, CLAIMS, LAB)]


def never(who, target, action, conflict="prohibit", **parts):
    """Return the policy by which a party prohibits to do something, to all or to some."""
    parts = {"action": action.removeprefix(ODRL), "uid": "urn:never#r", **parts}
    made = replace(rule("prohibition", target, **parts), actions=(Action(_whole(action)),))
    return policy(who, made, uid="urn:never", conflict=conflict)


def _whole(action):
    return action if ":" in action else f"{ODRL}{action}"


def condition(operand, operator, *values):
    return (Constraint(operand, f"{ODRL}{operator}", tuple(map(Value, values))),)


def joins(output, inputs, maker, quasi, purpose=None):
    """Return the policy by which a party makes an output of several inputs, by their keys."""
    keys = [f"{one}/Key" for one in inputs]
    action = anonymizing(method="k-anonymity", k=2, joinOn=keys, quasi=[*quasi, keys[0]])
    parts = {"assignee": STAFF, "target": inputs, "output": output, "purpose": purpose}
    made = permission(uid=f"{output}#m", action=action, **parts)
    return read_policy(text_of([made], uid=f"{output}/policy", assigner=maker, profile=None))


def why(policies, made, purpose="", owners=OWNED, given=None):
    """Return why a policy's output is not to be made."""
    decider = Decider(policies, hierarchy=given, owners=read_owners(owners))
    return [one.why for one in missing_consents(decider, made, World(time=NOON), purpose=purpose)]


def asked(policies, *targets, proofs=(), owners=OWNED, given=None, carried=None, **parts):
    """Return what is decided of a request, of the staff to read unless it says otherwise."""
    decider = Decider(policies, proofs, given, read_owners(owners))
    parts = {"assignee": STAFF, "action": "read", "purpose": "", **parts}
    parts["action"] = _whole(parts["action"])
    return decider.decide(Request(targets=targets, **parts), World(time=NOON), carried=carried)


# -- a release beside what it was made from ------------------------------------------------------

JOINED = joins(SAFE, [VISITS, CLAIMS], LAB, [f"{VISITS}/Age", f"{CLAIMS}/Zip"])
OF_JOINED = certified(JOINED)


def beside(other):
    """Return all policies where the second laboratory joins the release with another table."""
    made = joins(AGAIN, [SAFE, other], LAB_2, [f"{SAFE}/Zip"])
    return made, [*LEAVES, lets(LAB, SAFE, LAB_2), lets(HOSPITAL, VISITS, LAB_2), JOINED, made]


@pytest.mark.parametrize("other", [MINE, VISITS])
@pytest.mark.parametrize("action", [ANONYMIZE, "use"])
def test_a_release_beside_its_own_input_is_still_made_of_the_others(other, action):
    made, policies = beside(other)
    assert why(policies, made) == []
    policies = [*policies, never(INSURER, CLAIMS, action, assignees=[LAB_2])]
    prohibited = f"urn:never#r prohibits it: {SAFE} was made from {CLAIMS}"
    assert why(policies, made) == [prohibited]
    read = asked(policies, AGAIN, proofs=[OF_JOINED, certified(made, OF_JOINED)])
    assert prohibited in read.reason


@pytest.mark.parametrize("other", [MINE, VISITS])
def test_a_release_beside_its_own_input_needs_its_certificate_and_leave(other):
    _, policies = beside(other)
    found = asked(policies, SAFE, other, action=ANONYMIZE)
    assert f"{SAFE} has no certificate" in found.reason
    less = [one for one in policies if one is not LEAVES[1]]
    found = asked(less, SAFE, other, action=ANONYMIZE, proofs=[OF_JOINED])
    assert f"{SAFE} may not be made by {JOINED.uid}" in found.reason


@pytest.mark.parametrize(("other", "is_permitted"), [(MINE, True), (VISITS, False)])
def test_a_release_is_joined_with_its_own_input_by_who_is_permitted_both_jointly(
    other, is_permitted
):
    _, policies = beside(other)
    making = {"action": ANONYMIZE, "proofs": [OF_JOINED]}
    assert asked(policies, SAFE, other, **making).permitted == is_permitted
    bound = condition(JOINTLY, "isAnyOf", SAFE, other)
    parts = {"action": "anonymize", "assignees": [STAFF], "constraints": bound}
    both = policy(LAB_2, rule("permission", SAFE, other, **parts), uid="urn:both")
    assert asked([*policies, both], SAFE, other, **making).permitted


def test_what_is_made_of_a_release_and_its_named_input_is_read_by_its_assignee():
    named = {"leftOperand": "pe:jointly", "operator": "isAnyOf", "rightOperand": [SAFE, VISITS]}
    keys = [f"{SAFE}/Key", f"{VISITS}/Key"]
    action = anonymizing(method="k-anonymity", k=2, joinOn=keys, quasi=[f"{SAFE}/Zip", keys[0]])
    parts = {"assignee": STAFF, "target": [SAFE, VISITS], "output": AGAIN, "purpose": None}
    made = permission(uid="urn:m", action=action, constraint=[named], **parts)
    made = read_policy(text_of([made], uid="urn:again", assigner=LAB_2, profile=None))
    policies = [*LEAVES, lets(LAB, SAFE, LAB_2), lets(HOSPITAL, VISITS, LAB_2), JOINED, made]
    proofs = [OF_JOINED, certified(made, OF_JOINED)]
    assert asked(policies, SAFE, VISITS, action=ANONYMIZE, proofs=proofs).permitted
    assert asked(policies, AGAIN, proofs=proofs).permitted
    assert not asked(policies, AGAIN, MINE, proofs=proofs).permitted


@pytest.mark.parametrize("other", [MINE, VISITS])
@pytest.mark.parametrize("action", [TRAIN, "use"])
def test_what_is_derived_of_a_release_and_its_input_stays_what_it_was_made_from(other, action):
    derived = policy(
        LAB,
        rule("permission", SAFE, other, action="derive", output=DERIVED, assignees=[STAFF]),
        uid="urn:derived",
    )
    model = makes(AGAIN, DERIVED, LAB_2)
    [one] = model.permissions
    model = replace(model, permissions=(replace(one, actions=(Action(TRAIN),)),))
    policies = [*LEAVES, lets(LAB, DERIVED, LAB_2), JOINED, derived, model]
    owners = {**OWNED, DERIVED: LAB, MINE: LAB}
    assert why(policies, model, owners=owners) == []
    policies.append(never(INSURER, CLAIMS, action, assignees=[LAB_2]))
    assert "prohibits it" in why(policies, model, owners=owners)[0]


def test_a_release_in_a_collection_is_read_by_who_makes_something_of_the_collection():
    parts = {"action": "anonymize", "assignees": [STAFF], "assigners": [LAB, LAB_2]}
    both = policy("", rule("permission", MINE, **parts), uid="urn:both")
    making = {"action": ANONYMIZE, "given": Hierarchy(asset=((SAFE, MINE),))}
    policies = [*LEAVES, JOINED, both]
    assert asked(policies, MINE, proofs=[OF_JOINED], **making).permitted
    assert f"{SAFE} has no certificate" in asked(policies, MINE, **making).reason


def test_an_output_that_lies_within_what_it_is_made_of_is_not_read_to_make_another():
    made = [makes(f"{VISITS}/{name}", VISITS, HOSPITAL) for name in ("One", "Two")]
    assert asked(made, VISITS, action=ANONYMIZE).permitted
    reads = policy(HOSPITAL, rule("permission", VISITS, action="read"), uid="urn:reads")
    assert f"{VISITS}/One has no certificate" in asked([*made, reads], VISITS).reason


# -- together with what a neighbour was made from ------------------------------------------------

ONE = joins(SAFE, [VISITS, MINE], LAB, [f"{VISITS}/Age"])
NEXT = joins(AGAIN, [SAFE, CLAIMS], LAB, [f"{SAFE}/Age", f"{CLAIMS}/Zip"])
LAST = joins(DERIVED, [AGAIN, MINE], LAB, [f"{AGAIN}/Zip"])
BY_LAB = {**OWNED, AGAIN: LAB, MINE: LAB, DERIVED: LAB}
PROOFS = [OF_ONE := certified(ONE), OF_NEXT := certified(NEXT, OF_ONE), certified(LAST, OF_NEXT)]
CHAIN = [*LEAVES, ONE, NEXT, LAST]
APART = [
    (INSURER, CLAIMS, ("isAnyOf", VISITS)),
    (REGULATOR, CLAIMS, ("isAnyOf", VISITS)),
    (INSURER, f"{CLAIMS}/Zip", ("isAllOf", f"{CLAIMS}/Zip", f"{VISITS}/Age")),
    (HOSPITAL, VISITS, ("isAnyOf", CLAIMS)),
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("who", "target", "apart"), APART)
def test_a_neighbour_is_what_it_was_made_from(who, target, apart):
    policies = [*CHAIN, never(who, target, "use", constraints=condition(JOINTLY, *apart))]
    assert why(CHAIN, NEXT, owners=BY_LAB) == why(policies, ONE, owners=BY_LAB) == []
    for made in (NEXT, LAST):
        assert why(policies, made, owners=BY_LAB)
    for output in (AGAIN, DERIVED):
        assert asked(CHAIN, output, proofs=PROOFS, owners=BY_LAB).permitted
        assert not asked(policies, output, proofs=PROOFS, owners=BY_LAB).permitted
    assert asked(policies, SAFE, proofs=PROOFS, owners=BY_LAB).permitted


@pytest.mark.parametrize(
    ("beside_them", "apart", "is_permitted"),
    [(SAFE, VISITS, False), (SAFE, f"{VISITS}/Name", True), (VISITS, SAFE, True)],
)
def test_what_is_read_beside_a_table_is_what_it_was_made_from(beside_them, apart, is_permitted):
    issuers = [LAB if beside_them == SAFE else HOSPITAL, INSURER]
    parts = {"action": "read", "assignees": [STAFF], "assigners": issuers}
    both = policy("", rule("permission", beside_them, CLAIMS, **parts))
    no = never(INSURER, CLAIMS, "read", constraints=condition(JOINTLY, "isAnyOf", apart))
    policies = [*LEAVES, ONE, both]
    for more, expected in (([], True), ([no], is_permitted)):
        found = asked([*policies, *more], beside_them, CLAIMS, proofs=PROOFS, owners=BY_LAB)
        assert found.permitted == expected


@pytest.mark.parametrize("targets", [(SAFE, CLAIMS), (CLAIMS, SAFE), (SAFE, f"{CLAIMS}/Zip")])
@pytest.mark.parametrize("who", [HOSPITAL, REGULATOR])
def test_what_a_release_was_made_from_is_together_with_what_is_read_beside_it(who, targets):
    parts = {"action": "read", "assignees": [STAFF], "assigners": [LAB, INSURER]}
    both = policy("", rule("permission", SAFE, CLAIMS, **parts))
    policies = [*LEAVES, ONE, both]
    no = never(who, VISITS, "read", constraints=condition(JOINTLY, "isAnyOf", CLAIMS))
    known = {"proofs": PROOFS, "owners": BY_LAB}
    assert asked(policies, *targets, **known).permitted
    assert asked([*policies, no], SAFE, **known).permitted
    assert not asked([*policies, no], *targets, **known).permitted


EARLIER = OF_ONE.plan.model_copy(update={"policy_digest": "0" * 64})
OF_EARLIER = OF_ONE.model_copy(update={"plan": EARLIER})
TWIN = makes(DERIVED, VISITS, LAB)
FROM_ONE = makes(AGAIN, SAFE, LAB)
WITH_TWIN = joins(AGAIN, [SAFE, DERIVED], LAB, [f"{SAFE}/Age"])


@pytest.mark.parametrize(
    ("targets", "is_permitted"),
    [
        ((SAFE,), True),
        ((f"{SAFE}/Age", f"{SAFE}/Key"), True),
        ((SAFE, CLAIMS), True),
        ((SAFE, VISITS), False),
        ((SAFE, DERIVED), False),
    ],
)
@pytest.mark.parametrize("who", [REGULATOR, HOSPITAL])
def test_a_release_that_is_kept_apart_from_its_input_is_read_alone(who, targets, is_permitted):
    named = condition(JOINTLY, "isAnyOf", SAFE, VISITS, DERIVED)
    parts = {"action": "read", "assignees": [STAFF], "assigners": [LAB, HOSPITAL, INSURER]}
    names = rule("permission", SAFE, VISITS, DERIVED, constraints=named, **parts)
    both = policy("", names, rule("permission", SAFE, CLAIMS, uid="urn:2", **parts), uid="urn:b")
    regulated = {SAFE: {"owner": LAB, "regulators": [REGULATOR, HOSPITAL], "delegates": []}}
    proofs = [OF_ONE, OF_EARLIER, certified(TWIN)]
    known = {"owners": {**BY_LAB, **regulated}, "proofs": proofs}
    policies = [*LEAVES, ONE, TWIN, both]
    assert asked(policies, *targets, **known).permitted
    no = never(who, SAFE, "read", constraints=condition(JOINTLY, "isAnyOf", VISITS))
    assert asked([*policies, no], *targets, **known).permitted == is_permitted


@pytest.mark.parametrize(("made", "is_made"), [(FROM_ONE, True), (NEXT, True), (WITH_TWIN, False)])
def test_what_is_made_of_a_release_kept_apart_from_its_input_is_together_with_the_rest(
    made, is_made
):
    regulated = {SAFE: {"owner": LAB, "regulators": [REGULATOR], "delegates": []}}
    owners = {**BY_LAB, **regulated}
    proofs = [OF_ONE, of_twin := certified(TWIN), certified(made, OF_ONE, of_twin)]
    policies = [*LEAVES, ONE, TWIN, made]
    assert why(policies, made, owners=owners) == []
    assert asked(policies, AGAIN, proofs=proofs, owners=owners).permitted
    no = never(REGULATOR, SAFE, "use", constraints=condition(JOINTLY, "isAnyOf", VISITS))
    policies.append(no)
    assert (why(policies, made, owners=owners) == []) == is_made
    assert asked(policies, AGAIN, proofs=proofs, owners=owners).permitted == is_made


@pytest.mark.parametrize("action", ["grantUse", "anonymize"])
@pytest.mark.parametrize(
    ("tables", "is_made"),
    [
        (("isNoneOf", VISITS), False),
        (("isNoneOf", f"{VISITS}/Name"), True),
        (("isAnyOf", CLAIMS, SAFE), True),
        (("isAnyOf", CLAIMS, VISITS), False),
    ],
)
def test_leave_to_join_is_held_to_what_the_others_were_made_from(action, tables, is_made):
    bound = condition(JOINTLY, *tables)
    leave = lets(INSURER, CLAIMS, LAB, action=action, constraints=bound)
    assert (why([LEAVES[0], leave, ONE, NEXT], NEXT, owners=BY_LAB) == []) == is_made


# -- what is told of it ---------------------------------------------------------------------------

INPUTS = [
    (HOSPITAL, VISITS, VISITS),
    (HOSPITAL, f"{VISITS}/Age", VISITS),
    (INSURER, CLAIMS, CLAIMS),
    (INSURER, f"{CLAIMS}/Zip", CLAIMS),
    (REGULATOR, f"{CLAIMS}/Zip", CLAIMS),
]


@pytest.mark.parametrize(("who", "target", "source"), INPUTS)
def test_a_denial_names_the_input_that_is_prohibited(who, target, source):
    found = asked([*LEAVES, JOINED, never(who, target, "read")], SAFE, proofs=[OF_JOINED])
    assert found.reason == f"urn:never#r prohibits it: {SAFE} was made from {source}."
    assert found.derivation[0] == f"urn:never#r prohibits odrl:read on {target}"
    assert found.derivation[-1] == f"{SAFE} was made from {source}"
    assert (found.request.targets, found.policy, found.rule) == (
        (SAFE,),
        "urn:never",
        "urn:never#r",
    )


@pytest.mark.parametrize("purposes", [(), (RESEARCH,)])
def test_a_denial_names_the_whole_way_to_the_input_that_is_prohibited(purposes):
    no = never(HOSPITAL, VISITS, "read", purposes=purposes)
    found = asked([*CHAIN, no], DERIVED, proofs=PROOFS, owners=BY_LAB)
    way = [(SAFE, VISITS), (AGAIN, SAFE), (DERIVED, AGAIN)]
    steps = [f"{output} was made from {source}" for output, source in way]
    told = f" It is for the purpose {RESEARCH}, and the request names none." if purposes else ""
    assert found.reason == f"urn:never#r prohibits it: {': '.join(steps)}.{told}"
    assert [*found.derivation[-3:]] == steps


# -- conditions of those who made it -------------------------------------------------------------

PURPOSE = f"{ODRL}purpose"
FIRST = makes(SAFE, VISITS, LAB)
SECOND = makes(AGAIN, SAFE, INSURER, purpose=MARKETING)
READ = policy(INSURER, rule("permission", AGAIN, action="read", assignees=[STAFF]), uid="urn:read")
TWICE = [LEAVES[0], FIRST, lets(LAB, SAFE, INSURER), SECOND, READ]
BY_INSURER = {VISITS: BOTH[0], SAFE: LAB, AGAIN: INSURER}
OF_TWICE = [OF_FIRST := certified(FIRST), certified(SECOND, OF_FIRST)]
FOR = [
    {"purposes": (MARKETING,)},
    {"constraints": condition(PURPOSE, "eq", MARKETING)},
    {"constraints": condition(PURPOSE, "neq", RESEARCH)},
]


AND_NOT = [{"leftOperand": "purpose", "operator": "neq", "rightOperand": RESEARCH}]
FOR_IT = [{"leftOperand": "purpose", "operator": "eq", "rightOperand": MARKETING}]
MADE_FOR = [
    {"purpose": MARKETING},
    {"constraint": FOR_IT},
    {"purpose": [MARKETING, RESEARCH], "constraint": AND_NOT},
]


@pytest.mark.parametrize("parts", FOR)
@pytest.mark.parametrize("who", [HOSPITAL, REGULATOR])
@pytest.mark.parametrize("made_for", MADE_FOR)
def test_what_was_made_for_a_prohibited_purpose_is_read_for_no_other(who, parts, made_for):
    made = makes(AGAIN, SAFE, INSURER, **made_for)
    proofs = [OF_FIRST, certified(made, OF_FIRST)]
    read = {"proofs": proofs, "owners": BY_INSURER, "purpose": RESEARCH}
    policies = [*TWICE[:3], made, READ]
    assert asked(policies, AGAIN, **read).permitted
    found = asked([*policies, never(who, VISITS, "use", **parts)], AGAIN, **read)
    assert f"{AGAIN} may not be made" in found.reason


def test_what_was_made_for_any_purpose_is_read_for_those_that_are_not_prohibited():
    no = never(HOSPITAL, VISITS, "use", purposes=(MARKETING,))
    policies = [LEAVES[0], FIRST, no]
    for purpose, is_free in ((RESEARCH, True), (MARKETING, False), ("", False)):
        read = {"proofs": [OF_FIRST], "owners": BY_INSURER, "purpose": purpose}
        assert asked(policies, SAFE, **read).permitted == is_free


def test_a_purpose_of_its_own_in_a_constraint_is_none_of_anothers():
    condition = [{"leftOperand": "purpose", "operator": "eq", "rightOperand": RESEARCH}]
    made = makes(SAFE, VISITS, LAB, constraint=condition)
    no = never(HOSPITAL, VISITS, ANONYMIZE, purposes=(MARKETING,))
    assert why([LEAVES[0], made, no], made, owners=BY_INSURER) == []


def test_what_a_permission_lifts_for_readers_alone_was_not_to_be_made():
    lifted = rule("permission", VISITS, assignees=[STAFF], uid="urn:lifts")
    no = never(HOSPITAL, VISITS, "use", "perm")
    no = policy(HOSPITAL, *no.prohibitions, lifted, uid="urn:perm", conflict="perm")
    found = asked([*TWICE, no], AGAIN, proofs=OF_TWICE, owners=BY_INSURER)
    assert f"{AGAIN} may not be made" in found.reason


ST, NARROW, SIBLING = (f"http://e.org/{name}" for name in ("st", "st1", "st2"))
PURPOSES = Hierarchy(purpose=((NARROW, ST), (SIBLING, ST)))


@pytest.mark.parametrize("action", [ANONYMIZE, "use"])
def test_what_is_prohibited_for_a_narrow_purpose_is_made_and_read_for_its_sibling(action):
    made = makes(AGAIN, SAFE, INSURER, purpose=ST)
    no = never(HOSPITAL, VISITS, action, purposes=(NARROW,))
    policies = [LEAVES[0], FIRST, lets(LAB, SAFE, INSURER), made, no]
    known = {"owners": BY_INSURER, "given": PURPOSES}
    proofs = [OF_FIRST, certified(made, OF_FIRST)]
    for purpose, is_free in ((ST, False), (NARROW, False), (SIBLING, True)):
        assert (why(policies, made, purpose, **known) == []) == is_free
        found = asked(policies, AGAIN, proofs=proofs, purpose=purpose, **known)
        assert found.permitted == is_free


def test_what_stands_for_a_sibling_of_a_prohibited_purpose_stands():
    made = makes(AGAIN, SAFE, INSURER, purpose=ST)
    no = never(HOSPITAL, VISITS, ANONYMIZE, purposes=(NARROW,))
    policies = [LEAVES[0], FIRST, lets(LAB, SAFE, INSURER), made, no]
    proofs = [OF_FIRST, certified(made, OF_FIRST)]
    decider = Decider(policies, proofs, PURPOSES, read_owners(BY_INSURER))
    assert not decider.valid_output(made, AGAIN, World(time=NOON)).invalid_reason
    release = Upstream(
        asset=AGAIN,
        policy=made.uid,
        policy_digest=made.digest,
        output_digest=proofs[1].output_digest,
        certificate_digest=proofs[1].output_digest,
    )
    assert decider.release_end_reason(release, World(time=NOON)) == ""


# -- actions, parties and strategies -------------------------------------------------------------


@pytest.mark.parametrize("verb", ["derive", "aggregate"])
@pytest.mark.parametrize("who", [HOSPITAL, REGULATOR])
@pytest.mark.parametrize("parts", [{}, {"assignees": [INSURER]}])
def test_prohibitions_reach_what_is_derived_and_aggregated(verb, who, parts):
    made = derives(DERIVED, SAFE, INSURER)
    [one] = made.permissions
    made = replace(made, permissions=(replace(one, actions=(Action(f"{ODRL}{verb}"),)),))
    policies = [LEAVES[0], FIRST, lets(LAB, SAFE, INSURER), made]
    read = {"proofs": [OF_FIRST, attested(made)], "owners": {**BY_INSURER, DERIVED: INSURER}}
    assert asked(policies, DERIVED, **read).permitted
    found = asked([*policies, never(who, VISITS, verb, **parts)], DERIVED, **read)
    assert f"{DERIVED} may not be made" in found.reason


def test_leave_to_grant_use_derives_nothing_that_the_owner_prohibits_to_derive():
    made = derives(DERIVED, VISITS, LAB)
    read = {"proofs": [attested(made)], "owners": {VISITS: HOSPITAL, DERIVED: LAB}}
    assert asked([LEAVES[0], made], DERIVED, **read).permitted
    found = asked([LEAVES[0], made, never(HOSPITAL, VISITS, "derive")], DERIVED, **read)
    assert not found.permitted


ALSO = rule("permission", SAFE, action="anonymize", assignees=[STAFF], uid="urn:also")


@pytest.mark.parametrize("more", [[], [policy(LAB, ALSO, uid="urn:more")]])
def test_what_the_assigner_may_not_have_made_its_assignee_may_not_make(more):
    carried = CarriedOutRule(SECOND.uid, SECOND.permissions[0].label())
    making = {
        "action": ANONYMIZE,
        "proofs": OF_TWICE,
        "owners": BY_INSURER,
        "purpose": MARKETING,
        "carried": carried,
    }
    policies = [*TWICE, *more]
    assert asked(policies, SAFE, **making).permitted
    no = never(HOSPITAL, VISITS, ANONYMIZE, assignees=[INSURER])
    found = asked([*policies, no], SAFE, **making)
    assert f"{AGAIN} may not be made" in found.reason
    found = asked([*TWICE, no], SAFE, **{**making, "carried": None})
    assert "urn:never#r prohibits it" in found.reason


@pytest.mark.parametrize("who", [REGULATOR, HOSPITAL])
@pytest.mark.parametrize("action", ["derive", "aggregate"])
def test_what_the_assigner_may_not_have_derived_its_assignee_may_not_derive(action, who):
    made = rule("permission", VISITS, action=action, output=DERIVED, assignees=[STAFF])
    policies = [LEAVES[0], policy(LAB, made, uid="urn:derived")]
    derive = {"action": action, "owners": {VISITS: BOTH[0], DERIVED: LAB}}
    assert asked(policies, VISITS, **derive).permitted
    found = asked([*policies, never(who, VISITS, action, assignees=[LAB])], VISITS, **derive)
    assert "urn:never#r prohibits it" in found.reason
    assert asked(
        [*policies, never(who, VISITS, action, assignees=[ANN])], VISITS, **derive
    ).permitted


def test_an_owner_aggregates_nothing_that_he_prohibits_himself():
    made = rule("permission", SAFE, action="aggregate", output=DERIVED, assignees=[STAFF])
    theirs = policy(HOSPITAL, made, uid="urn:theirs")
    policies = [LEAVES[0], FIRST, lets(LAB, SAFE, HOSPITAL), theirs]
    known = {"proofs": [OF_FIRST], "owners": {VISITS: HOSPITAL, SAFE: LAB, DERIVED: HOSPITAL}}
    assert asked(policies, SAFE, action="aggregate", **known).permitted
    no = never(HOSPITAL, VISITS, "use", assignees=[HOSPITAL])
    assert not asked([*policies, no], SAFE, action="aggregate", **known).permitted


@pytest.mark.parametrize(
    ("conflict", "lets_do", "is_made"),
    [
        ("perm", ["anonymize"], True),
        ("prohibit", ["anonymize"], False),
        ("perm", ["grantUse"], False),
        ("perm", ["grantUse", "use"], True),
    ],
)
def test_leave_heeds_the_conflict_strategy_of_its_policy(conflict, lets_do, is_made):
    no = never(HOSPITAL, VISITS, ANONYMIZE).prohibitions
    given = [
        rule("permission", VISITS, action=one, assignees=[LAB], uid=f"urn:{one}") for one in lets_do
    ]
    theirs = policy(HOSPITAL, *no, *given, uid="urn:theirs", conflict=conflict)
    policies, owners = [theirs, FIRST], {VISITS: HOSPITAL, SAFE: LAB}
    assert (why(policies, FIRST, owners=owners) == []) == is_made
    assert asked(policies, SAFE, proofs=[OF_FIRST], owners=owners).permitted == is_made


@pytest.mark.parametrize(
    ("conflict", "lifted", "is_made"),
    [("perm", CLAIMS, True), ("perm", VISITS, False), ("prohibit", CLAIMS, False)],
)
def test_a_prohibition_of_one_input_yields_to_its_policys_permission_of_that_input(
    conflict, lifted, is_made
):
    no = never(INSURER, CLAIMS, ANONYMIZE).prohibitions
    given = rule("permission", lifted, action="anonymize", assignees=[LAB], uid="urn:lifts")
    theirs = policy(INSURER, *no, given, uid="urn:theirs", conflict=conflict)
    assert (why([*LEAVES, JOINED, theirs], JOINED) == []) == is_made


@pytest.mark.parametrize(("party", "is_permitted"), [(STAFF, True), (ANN, False)])
def test_who_is_permitted_the_input_by_the_same_policy_reads_what_was_made_of_it(
    party, is_permitted
):
    no = never(HOSPITAL, VISITS, "read").prohibitions
    given = rule("permission", VISITS, action="read", assignees=[party])
    theirs = policy(HOSPITAL, *no, given, uid="urn:theirs", conflict="perm")
    policies = [theirs, LEAVES[0], FIRST]
    found = asked(policies, SAFE, proofs=[OF_FIRST], owners={VISITS: HOSPITAL, SAFE: LAB})
    assert found.permitted == is_permitted


@pytest.mark.parametrize("who", [HOSPITAL, REGULATOR])
def test_what_was_made_within_a_bound_on_making_is_read(tmp_path, who):
    once = never(who, VISITS, ANONYMIZE, constraints=condition(COUNT, "gt", 1))
    owners = read_owners({VISITS: BOTH[0], SAFE: LAB})
    decider = Decider([LEAVES[0], FIRST, once], [OF_FIRST], owners=owners)
    log = DecisionLog.open(tmp_path / "log.jsonl")
    found = []
    for action, target in ((ANONYMIZE, VISITS), ("read", SAFE), (ANONYMIZE, VISITS)):
        request = Request(assignee=STAFF, action=_whole(action), targets=(target,))
        found.append(log.decide(decider, request, World(time=NOON)).permitted)
    assert found == [True, True, False]


# -- parts of others -----------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["grantUse", "anonymize"])
@pytest.mark.parametrize(
    ("givers", "missing"),
    [((HOSPITAL, OTHER), ""), ((HOSPITAL,), f"{VISITS}/x"), ((OTHER,), VISITS)],
)
def test_each_owner_of_a_part_gives_leave_for_it(action, givers, missing):
    of_each = {HOSPITAL: VISITS, OTHER: f"{VISITS}/x"}
    given = [lets(who, of_each[who], LAB, action=action) for who in givers]
    owners = {VISITS: HOSPITAL, f"{VISITS}/x": OTHER, SAFE: LAB}
    found = why([*given, FIRST], FIRST, owners=owners)
    assert found == ([f"{LAB} does not own {missing}"] if missing else [])
    read = asked([*given, FIRST], SAFE, proofs=[OF_FIRST], owners=owners)
    assert read.permitted == (not missing)


def test_what_a_policy_takes_into_a_target_is_asked_for_with_its_parts():
    read = rule("permission", VISITS, action="read", assignees=[STAFF])
    taking = policy(HOSPITAL, read, asset=((MINE, VISITS),))
    leave = lets(LAB_2, MINE, HOSPITAL)
    owners = {VISITS: HOSPITAL, MINE: LAB_2}
    assert asked([taking, leave], VISITS, owners=owners).permitted
    assert not asked([taking, leave], VISITS, owners={**owners, f"{MINE}/x": OTHER}).permitted
