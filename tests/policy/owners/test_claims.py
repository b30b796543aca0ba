"""Outputs that are not their policies' to name."""

import pytest
from owning import ANN, CLAIMS, HOSPITAL, INSURER, OWNED, VISITS, decided, policy, rule

from policy_engine.errors import Place, PolicyError
from policy_engine.policy import Hierarchy, Rule
from policy_engine.policy.claims import Claims
from policy_engine.policy.owners import Owners, output_problems, owned_outputs, read_owners

SAFE, MINE = "http://e.org/SafeVisits", "http://e.org/Mine"


def makes(source, output, action="anonymize", **parts):
    return rule("permission", source, action=action, output=output, uid="urn:makes", **parts)


def told(policies, owners=None, edges=(), data=()):
    """Return what is said of the outputs of policies, in a row."""
    stated = read_owners(owners) if owners else Owners()
    found = output_problems(Claims(policies), stated.known_by(policies), edges, data)
    return " | ".join(problem.message for _, problem in found)


READS = policy(HOSPITAL, rule("permission", VISITS, action="read"), uid="urn:reads")
RELEASES = policy(HOSPITAL, makes(VISITS, SAFE), uid="urn:releases")


@pytest.mark.parametrize(
    ("output", "how"),
    [
        (VISITS, "is a target of urn:reads as well"),
        (f"{VISITS}/Diagnosis", f"lies within {VISITS!r}, a target of urn:reads"),
        ("http://e.org/Vis", ""),
        ("http://e.org/", f"contains {VISITS!r}, a target of urn:reads"),
    ],
)
def test_an_output_is_not_what_the_rule_of_another_policy_is_about(output, how):
    stranger = policy(INSURER, makes(MINE, output))
    found = told([READS, stranger])
    assert how in found
    assert bool(found) == bool(how)
    assert told([stranger, READS]) == found


def test_an_output_is_not_that_of_another_policy_whoever_issued_that():
    for assigner in (HOSPITAL, INSURER, ""):
        other = policy(assigner, makes(MINE, SAFE), uid="urn:other")
        assert "is an output of urn:other as well" in told([RELEASES, other])
        within = policy(assigner, makes(MINE, f"{SAFE}/Name"), uid="urn:other")
        assert f"lies within {SAFE!r}, an output of urn:releases" in told([RELEASES, within])


def test_rules_about_an_output_stand_in_its_own_policy_and_in_others_of_its_assigner():
    reads = [rule("permission", name, action="read") for name in (SAFE, f"{SAFE}/Age")]
    assert told([policy(HOSPITAL, makes(VISITS, SAFE), *reads)]) == ""
    assert told([RELEASES, policy(HOSPITAL, *reads)]) == ""
    assert "a target of" in told([RELEASES, policy(INSURER, *reads)])
    nobodys = [policy("", makes(VISITS, SAFE), uid="urn:a"), policy("", *reads, uid="urn:b")]
    assert told(nobodys) == ""


def test_policies_that_name_nobody_are_one_owners_as_far_as_columns_go():
    reads = policy("", rule("permission", f"{VISITS}/Name", action="read"), uid="urn:b")
    assert told([policy("", makes(MINE, VISITS)), reads]) == ""
    for wide in ("http://e.org/", "http://e.org"):
        assert f"contains '{VISITS}/Name'" in told([policy("", makes(MINE, wide)), reads])
        assert told([policy("", makes("urn:mine", wide), *reads.rules)]) == ""


def test_an_output_does_not_lie_within_its_own_input():
    inside = makes(VISITS, f"{VISITS}/Diagnosis")
    assert "lies within" in told([policy(HOSPITAL, inside)])
    reads = rule("permission", VISITS, action="read")
    both = policy(HOSPITAL, makes(MINE, f"{VISITS}/Diagnosis"), reads)
    assert "lies within" in told([both])


def test_what_a_policy_says_of_parts_makes_its_output_no_part_of_others():
    claims = policy(INSURER, makes(MINE, SAFE), asset=((VISITS, SAFE),))
    assert "is stated to be in" in told([READS, claims])
    assert told([READS, claims], OWNED | {MINE: INSURER}) == ""


def test_offers_and_void_policies_claim_nothing():
    offer = policy(INSURER, makes(MINE, VISITS), kind="Offer")
    assert told([READS, offer]) == ""
    assert decided([READS, offer], owners=None).permitted
    assert Claims([READS, RELEASES], void={"urn:releases"}).outputs == []


@pytest.mark.parametrize(
    ("data", "how"),
    [(VISITS, "lies within"), (f"{VISITS}/Diagnosis/x", "contains"), (f"{VISITS}/Diagnosis", "")],
)
def test_an_output_does_not_lie_within_data_that_is_given(data, how):
    stranger = policy(INSURER, makes(MINE, f"{VISITS}/Diagnosis"))
    found = told([stranger], data=[data])
    assert how in found
    assert bool(found) == bool(how)


def test_a_set_whose_outputs_clash_is_not_decided_on():
    stranger = policy(INSURER, makes(MINE, f"{VISITS}/Diagnosis"))
    with pytest.raises(PolicyError, match=r"P019 .* lies within 'http://e.org/Visits'"):
        decided([READS, stranger], owners=None)


def test_both_places_are_told():
    at = {"place": Place("/permission", 12, 3)}
    made = Rule(**{**vars(makes(MINE, f"{VISITS}/Name")), **at})
    one = policy(INSURER, made)
    other = policy(HOSPITAL, Rule(**{**vars(READS.permissions[0]), "place": Place("", 7, 1)}))
    [(_, problem)] = output_problems(Claims([one, other]), Owners(), ())
    assert problem.place.line == 12
    assert "(line 12)" in problem.message
    assert "(line 7)" in problem.message


# -- with owners ----------------------------------------------------------------------------------


def test_an_output_is_its_makers_where_that_is_stated_or_nobody_is():
    assert told([RELEASES], OWNED) == ""
    assert told([RELEASES], {**OWNED, SAFE: HOSPITAL}) == ""
    assert told([RELEASES], {**OWNED, "http://e.org/": HOSPITAL}) == ""


@pytest.mark.parametrize(
    ("output", "owners", "how"),
    [
        (SAFE, {SAFE: INSURER}, f"{HOSPITAL} does not own {SAFE}"),
        (f"{CLAIMS}/Safe", OWNED, f"{HOSPITAL} does not own {CLAIMS}/Safe"),
        ("http://e.org/", OWNED, f"and contains {CLAIMS!r}: {HOSPITAL} does not own {CLAIMS}"),
        (f"{VISITS}/Name", OWNED, ""),
    ],
)
def test_an_output_of_anothers_is_refused(output, owners, how):
    found = told([policy(HOSPITAL, makes(MINE, output))], {**owners, MINE: HOSPITAL})
    assert how in found
    assert bool(found) == bool(how)


def test_an_output_that_nobody_is_stated_to_own_is_refused_where_others_have_rules_about_it():
    theirs = policy(INSURER, rule("permission", SAFE, action="read"))
    assert "is a target of" in told([RELEASES, theirs], OWNED)
    assert told([RELEASES, theirs], {**OWNED, SAFE: HOSPITAL}) == ""
    regulated = {**OWNED, "http://e.org/Health": {"regulators": INSURER}}
    bars = policy(INSURER, rule("prohibition", SAFE))
    assert told([RELEASES, bars], regulated) == ""


def test_a_statement_is_told_with_its_place():
    text = '{"http://e.org/Visits": "http://e.org/H",\n"http://e.org/SafeVisits": "http://e.org/I"}'
    owners = read_owners(text, "owners.json")
    [(_, problem)] = output_problems(Claims([RELEASES]), owners, ())
    assert problem.message.endswith("(stated in owners.json, line 2).")


def test_what_is_made_is_owned_by_its_maker_with_the_regulators_of_what_it_is_made_of():
    owners = read_owners({VISITS: {"owner": HOSPITAL, "regulators": ["urn:R"]}, MINE: HOSPITAL})
    further = policy(HOSPITAL, makes(SAFE, "http://e.org/Model", "derive"), uid="urn:further")
    found = owned_outputs(Claims([further, RELEASES]), owners, ()).statements_by_asset
    assert found[SAFE].owners == found["http://e.org/Model"].owners == (HOSPITAL,)
    assert found["http://e.org/Model"].regulators == ("urn:R",)


def test_what_is_made_without_right_is_read_by_nobody():
    """A rule about what its assigner does not own counts for nothing, nor does its output."""
    theirs = policy(
        INSURER,
        makes(VISITS, SAFE, "derive"),
        rule("permission", SAFE, action="read"),
    )
    assert "may not be made by" in decided([theirs], SAFE).reason
    assert f"{INSURER} does not own {VISITS}" in decided([theirs], SAFE).reason


def test_what_a_stranger_makes_locks_nobody_out():
    claims = policy(
        INSURER, makes(CLAIMS, "http://e.org/Safe"), asset=((VISITS, "http://e.org/Safe"),)
    )
    mine = policy(HOSPITAL, rule("permission", VISITS, action="read"))
    assert decided([mine, claims]).permitted
    own = policy(HOSPITAL, makes(VISITS, SAFE), uid="urn:own", asset=((VISITS, SAFE),))
    assert "no certificate" in decided([mine, own]).reason


def test_what_a_policy_makes_is_not_opened_by_a_state_of_the_world_that_voids_it():
    parts = {"assignees": [ANN]}
    press = rule("prohibition", VISITS, assignees=["urn:press"])
    void = policy("", makes(VISITS, SAFE, **parts), press, conflict="invalid", uid="urn:void")
    reads = policy("", rule("permission", SAFE, action="read"), uid="urn:reads")
    known = {"memberships": Hierarchy(party=((ANN, "urn:press"),))}
    assert "no certificate" in decided([void, reads], SAFE, owners=None).reason
    assert "is not in force" in decided([void, reads], SAFE, owners=None, **known).reason
