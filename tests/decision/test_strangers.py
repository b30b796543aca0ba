"""What a stranger's policies, void and withdrawn ones among them, cannot open, nor close."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from owning import ANN, HOSPITAL, INSURER, NOON, ODRL, OWNED, VISITS, policy, rule

from policy_engine.authoring.ownership import check_owned_files
from policy_engine.decision import Decider, Request, World
from policy_engine.errors import PolicyError
from policy_engine.policy import Hierarchy, InForce, Party, Reading, read_drafts, read_policies
from policy_engine.policy.owners import Owners, OwnerStatement, Standing, read_owners

SAFE, MINE, BOTH = "http://e.org/SafeVisits", "http://e.org/Mine", "http://e.org/All"
STATED = {**OWNED, SAFE: HOSPITAL, MINE: INSURER}


def makes(source, output, **parts):
    return rule("permission", source, action="derive", output=output, uid="urn:makes", **parts)


READS = policy(HOSPITAL, rule("permission", SAFE, VISITS, action="read"), uid="urn:reads")
MAKES = policy(HOSPITAL, makes(VISITS, SAFE), uid="urn:safe")
VOID = {"conflict": "invalid", "party": ((ANN, "urn:crew"),)}


def void(assigner, source, output, uid="urn:void"):
    """Return a policy that is void, since it bars whom it lets make something."""
    bars = rule("prohibition", source, action="derive", assignees=["urn:crew"])
    return policy(assigner, makes(source, output, assignees=[ANN]), bars, uid=uid, **VOID)


def answer(policies, target=SAFE, ended=(), owners=STATED, given=None):
    """Return the reason of what is decided, empty for a permit."""
    known = InForce(policies, (), ended)
    decider = Decider(known, hierarchy=given, owners=read_owners(owners) if owners else None)
    asked = Request(assignee=ANN, action=f"{ODRL}read", targets=(target,))
    found = decider.decide(asked, World(time=NOON))
    return "" if found.permitted else found.reason


# -- what was withdrawn stays so ------------------------------------------------------------------

HERS = [
    policy(INSURER, makes(MINE, SAFE), kind="Offer", uid="urn:hers"),
    void(INSURER, MINE, SAFE),
    policy(INSURER, rule("permission", f"{SAFE}/Zip", action="read"), uid="urn:hers"),
]


@pytest.mark.parametrize("hers", HERS, ids=["offer", "void", "rule"])
@pytest.mark.parametrize("owners", [STATED, None], ids=["owners", "none"])
def test_no_policy_of_a_stranger_reopens_what_was_withdrawn_or_is_void(hers, owners):
    assert "was made under urn:safe" in answer([READS], ended=[MAKES], owners=owners)
    assert "was made under urn:safe" in answer([READS, hers], ended=[MAKES], owners=owners)
    mine = void(HOSPITAL, VISITS, SAFE, "urn:mine")
    assert "was made under urn:mine" in answer([READS, mine], owners=owners)
    assert "was made under urn:mine" in answer([READS, mine, hers], owners=owners)


def test_an_output_of_the_version_before_is_not_void_where_todays_makes_it():
    assert "was made under urn:before" in answer([READS], ended=[replace(MAKES, uid="urn:before")])
    assert "no certificate" in answer([READS, MAKES], ended=[MAKES])


# -- and locks nobody out of what is another's -----------------------------------------------------


@pytest.mark.parametrize("output", [VISITS, f"{VISITS}/Diagnosis", "http://e.org/"])
@pytest.mark.parametrize("assigner", [INSURER, ""])
def test_a_void_output_counts_for_what_its_maker_may_own(output, assigner):
    """Where the text names nobody, for all that it names: it may have been the owner's."""
    hers = policy(assigner, makes(MINE, output), uid="urn:hers")
    told = answer([READS], VISITS, ended=[hers])
    assert ("and whose issuer is unknown: nobody may" in told) == (not assigner)
    assert bool(told) == (not assigner)
    assert "who issued it" not in answer([READS], ended=[MAKES])
    void_now = void(assigner, MINE, output)
    assert bool(answer([READS, void_now], VISITS)) == (not assigner)
    assert answer([READS], VISITS, ended=[hers], owners=None)


def test_a_collection_is_closed_by_what_was_made_of_it_by_its_maker_alone():
    """The hospital reads a collection in which, as the caller says, the insurer's release is."""
    owners = {**STATED, BOTH: HOSPITAL}
    reads = policy(HOSPITAL, rule("permission", BOTH, action="read"))
    release = f"{MINE}/Safe"
    theirs = policy(INSURER, makes(MINE, release), uid="urn:theirs")
    inside = Hierarchy(asset=((SAFE, BOTH),))
    assert "was made under urn:safe" in answer([reads], BOTH, [MAKES], owners, inside)
    assert answer([reads], BOTH, [theirs], owners, inside) == ""
    claims = replace(theirs, hierarchy=Hierarchy(asset=((VISITS, release),)))
    others = policy(INSURER, rule("permission", MINE), asset=((release, VISITS),), uid="urn:w")
    assert answer([READS, others], VISITS, [claims], owners) == ""


def test_a_collection_of_two_owners_is_closed_by_what_was_withdrawn_within_it():
    owners = {**STATED, BOTH: INSURER}
    reads = policy("", rule("permission", BOTH, action="read", assigners=[HOSPITAL, INSURER]))
    inside = Hierarchy(asset=((SAFE, BOTH),))
    assert answer([reads], BOTH, [], owners, inside) == ""
    assert "was made under urn:safe" in answer([reads], BOTH, [MAKES], owners, inside)


# -- whose the policies of assets are --------------------------------------------------------------


def told(policies, ended=()):
    owners = Owners((OwnerStatement(VISITS, policy="urn:p"),))
    return Standing(owners.known_by(InForce(policies, (), ended))).of(VISITS).owners


def test_who_takes_the_uid_of_an_assets_policy_does_not_own_the_asset():
    mine, hers = (
        policy(one, rule("permission", VISITS), uid="urn:p") for one in (HOSPITAL, INSURER)
    )
    assert told([mine]) == told([], ended=[mine]) == told([mine], ended=[mine]) == (HOSPITAL,)
    assert told([hers], ended=[mine]) == told([mine], ended=[hers]) == ()
    unknown = replace(mine, permissions=())
    assert told([hers], ended=[unknown]) == ()


def test_a_catalog_is_asked_with_what_is_in_force_no_longer():
    catalog = {
        "@context": "http://www.w3.org/ns/odrl.jsonld",
        "@graph": [{"uid": VISITS, "hasPolicy": "urn:safe"}],
    }
    hers = policy(INSURER, rule("permission", VISITS, action="read"), uid="urn:safe")
    assert answer([hers], VISITS, owners=catalog) == ""  # nothing tells that it is not meant
    assert "nobody is known to own" in answer([hers], VISITS, [MAKES], owners=catalog)
    assert answer([READS], VISITS, [MAKES], owners=catalog) == ""


def test_who_takes_the_uid_of_what_an_agreement_ended_with_does_not_bring_it_back():
    framework, hers = (
        policy(one, rule("permission", MINE), uid="urn:framework") for one in (HOSPITAL, INSURER)
    )
    agreed = replace(policy(HOSPITAL, rule("permission", VISITS)), ends_with=("urn:framework",))
    assert answer([agreed, framework], VISITS) == ""
    assert answer([agreed, framework], VISITS, ended=[framework]) == ""
    assert "not among the policies in force" in answer([agreed], VISITS, ended=[framework])
    assert "does not replace" in answer([agreed, hers], VISITS, ended=[framework])


def test_a_text_of_others_that_ended_is_named_and_ends_nothing_that_was_accepted_as_it_is():
    framework, hers = (
        policy(one, rule("permission", MINE), uid="urn:framework") for one in (HOSPITAL, INSURER)
    )
    agreed = replace(policy(HOSPITAL, rule("permission", VISITS)), ends_with=("urn:framework",))
    told = answer([agreed, framework], VISITS, ended=[hers])
    assert f"one of '{INSURER}' ended, which the one of '{HOSPITAL}' does not replace" in told
    accepted = replace(agreed, accepted=framework.digest)
    assert answer([accepted, framework], VISITS, ended=[hers]) == ""
    both = replace(framework.permissions[0], assigners=(Party(HOSPITAL), Party(INSURER)))
    joint = replace(framework, permissions=(both,))
    assert answer([agreed, joint], VISITS, ended=[framework]) == ""
    assert "does not replace" in answer([agreed, framework], VISITS, ended=[joint])
    lost = replace(framework, type="", permissions=())
    assert "text is lost" in answer([agreed, framework], VISITS, ended=[lost])


def test_one_of_what_an_agreement_ends_with_is_what_was_accepted_whatever_its_type():
    offer, frame = (replace(policy(HOSPITAL, uid=one), digest=one) for one in ("urn:o", "urn:f"))
    names = {"ends_with": ("urn:o", "urn:f"), "accepted": "urn:o"}
    agreed = replace(policy(HOSPITAL, rule("permission", VISITS)), **names)
    assert answer([agreed, offer, frame], VISITS) == ""
    for kind in ("Set", "Offer", "Agreement"):
        hers = policy(INSURER, rule("permission", MINE), uid="urn:o", kind=kind)
        assert "none of which says what was accepted" in answer([agreed, hers, frame], VISITS)
        one = replace(agreed, ends_with=("urn:o",))
        assert "says other things than what was accepted" in answer([one, hers], VISITS)


def test_validate_knows_the_owner_by_a_policy_that_is_in_force_no_longer(tmp_path):
    catalog = {"@context": TEXT["@context"], "@graph": [{"uid": VISITS, "hasPolicy": "urn:old"}]}
    old = {**TEXT, "uid": "urn:old", "http://purl.org/dc/terms/isReplacedBy": {"@id": "urn:new"}}
    for uid, said in (("urn:old", old), ("urn:new", {**TEXT, "uid": "urn:new"})):
        text = json.dumps({**said, "permission": OPENS})
        (tmp_path / f"{uid[4:]}.jsonld").write_text(text)
    checked = check_owned_files([tmp_path], Reading(), catalog)
    assert [hint.code for one in checked for hint in one.hints] == []


# -- what is inherited -----------------------------------------------------------------------------

TEXT = {
    "@context": [
        "http://www.w3.org/ns/odrl.jsonld",
        "https://www.mosaicrown.eu/ns/mosaicrown.jsonld",
    ],
    "@type": "Set",
    "profile": "https://www.mosaicrown.eu/ns/mosaicrown/1/",
}
NAME = f"{VISITS}/Name"
BARS = {"uid": "urn:bars", "target": NAME, "action": "use"}
HOUSE = {**TEXT, "uid": "urn:house", "assigner": HOSPITAL, "prohibition": BARS}
OPENS = {"assigner": HOSPITAL, "assignee": ANN, "target": VISITS, "action": "use"}


@pytest.mark.parametrize(
    "own",
    [{}, {"informedParty": "urn:desk"}, {"prohibition": BARS}],
    ids=["bare", "adds", "copies"],
)
def test_a_prohibition_that_is_inherited_is_not_lifted_by_saying_who_owns_the_asset(own):
    child = {**TEXT, "uid": "urn:child", "inheritFrom": "urn:house", "permission": OPENS, **own}
    found = read_policies(json.dumps(child), parents=read_drafts(json.dumps(HOUSE)))
    for owners in (STATED, None):
        assert answer(found, NAME, owners=owners) == "urn:bars prohibits it."
        assert answer(found, f"{VISITS}/Age", owners=owners) == ""


def test_a_stranger_does_not_extend_a_prohibition_that_she_inherits():
    house = {**HOUSE, "prohibition": {**BARS, "assignee": "urn:nil"}}
    hers = {**TEXT, "uid": "urn:hers", "inheritFrom": "urn:house", "assigner": INSURER}
    hers |= {"assignee": ANN, "permission": {"target": MINE, "action": "use"}}
    found = read_policies(json.dumps(hers), parents=read_drafts(json.dumps(house)))
    assert answer([READS, *found], NAME) == ""
    assert [one.uid for one in found] == ["urn:hers"]
    assert {*found[0].prohibitions[0].issued_by} == {INSURER}


@pytest.mark.parametrize("further", [False, True], ids=["parent", "grandparent"])
@pytest.mark.parametrize("kind", ["prohibition", "obligation"])
def test_what_a_stranger_puts_beside_as_a_parent_narrows_nothing_of_the_child(
    tmp_path, further, kind
):
    """Nor does it narrow what an honest parent hands down; what its own issuer says there does."""
    hers = {"assignee": "urn:nobody", "prohibition": {"target": MINE, "action": "use"}}
    grand = {**TEXT, "uid": "urn:grand", "assigner": INSURER, **hers}
    house = {**TEXT, "uid": "urn:house", "inheritFrom": "urn:grand", "assigner": HOSPITAL}
    own = {"assignee": ANN} if kind == "obligation" else {}
    child = {**TEXT, "uid": "urn:child", "assigner": HOSPITAL, kind: {**BARS, **own}}
    child["inheritFrom"] = "urn:house" if further else "urn:grand"

    def found():
        for one in (grand, house, child):
            (tmp_path / f"{one['uid'][4:]}.jsonld").write_text(json.dumps(one))
        known = {one.uid: one for one in Reading().policies_in_force(tmp_path)}
        one = known["urn:child"]
        [rule] = [rule for rule in one.rules if rule.uid == BARS["uid"]]
        return [party.iri for party in rule.assignees]

    house["prohibition"] = {"target": VISITS, "action": "use"}
    assert found() == [*own.values()]
    grand["assigner"] = HOSPITAL
    assert found() == [*own.values(), "urn:nobody"]


def test_a_rule_whose_target_a_stranger_would_say_is_not_complete(tmp_path):
    hers = {**TEXT, "uid": "urn:house", "assigner": INSURER, "target": MINE}
    hers["prohibition"] = {"action": "sell"}
    child = {**TEXT, "uid": "urn:child", "assigner": HOSPITAL, "inheritFrom": "urn:house"}
    child["prohibition"] = {"action": "use"}
    for one in (hers, child):
        (tmp_path / f"{one['uid'][4:]}.jsonld").write_text(json.dumps(one))
    with pytest.raises(PolicyError, match="has no target"):
        Reading().policies_in_force(tmp_path)


def test_a_child_is_issued_by_whom_its_own_text_names():
    child = {**TEXT, "uid": "urn:child", "inheritFrom": "urn:house", "permission": OPENS}
    house = {**HOUSE, "assigner": INSURER}
    [found] = read_policies(json.dumps(child), parents=read_drafts(json.dumps(house)))
    assert found.issued_by == {HOSPITAL}
    assert found.prohibitions[0].issued_by == {INSURER}
    assert replace(found, dated=datetime(2026, 1, 1, tzinfo=UTC)).issued_by == {HOSPITAL}


def test_a_strangers_duty_of_the_same_uid_is_not_taken_for_mine():
    duty = rule("duty", action="inform", uid="urn:pay")
    mine, hers = (
        policy(who, rule("permission", asset, duties=(duty,)), uid=f"urn:{who[-1]}")
        for who, asset in ((HOSPITAL, VISITS), (INSURER, MINE))
    )
    asked = Request(assignee=ANN, action=f"{ODRL}read", targets=(VISITS,))

    def is_permitted(*policies, **duties):
        decider = Decider(policies, owners=read_owners(STATED))
        return decider.decide(asked, World(time=NOON, duties=duties)).permitted

    assert is_permitted(mine, **{"urn:pay": "fulfilled"})
    # She may have said it of hers; that is the price of naming no policy.
    assert not is_permitted(mine, hers, **{"urn:pay": "fulfilled"})
    assert not is_permitted(mine, hers, **{"urn:I": {"urn:pay": "fulfilled"}})
    assert is_permitted(mine, hers, **{"urn:H": {"urn:pay": "fulfilled"}})
