"""What an owner's leave covers: his collections, his key under any name, and what stands beside."""

import json

import pytest
from building import permission
from letting import (
    NOON,
    SHARED,
    hospital,
    insurer,
    joint,
    jointly,
    letting,
    made,
    prohibiting,
    reads,
    refusal,
)
from matched import (
    CLAIMS,
    EX,
    HOSPITAL,
    INSURER,
    MATCHED,
    OWNERS,
    UNIVERSITY,
    VISITS,
    tables,
)

from policy_engine import decide_request, plan_all, read_request
from policy_engine.errors import PlanError

WARDS, HOUSE, NURSE = f"{EX}Wards", f"{EX}House", f"{EX}Nurse"

# -- collections ----------------------------------------------------------------------------------


def of_wards(wards=WARDS, **rule):
    """Return the hospital's leave for a collection: diagnoses sensitive, and no names."""
    how = {
        **SHARED,
        "joinOn": [f"{wards}/Patient"],
        "quasi": [f"{wards}/Age"],
        "sensitive": [f"{wards}/Diagnosis"],
        "identifier": [f"{wards}/Name"],
    }
    return letting(HOSPITAL, wards, how=how, **rule)


SAID = permission(
    uid=f"{EX}hospital#ward",
    assignee=NURSE,
    target={"@id": VISITS, "partOf": WARDS},
    action="read",
    purpose=None,
)
ABOVE = {
    "by the hospital's own word": (of_wards(more=[SAID]), OWNERS),
    "by the owners": (
        of_wards(),
        {**OWNERS, WARDS: HOSPITAL, VISITS: {"owner": HOSPITAL, "partOf": WARDS}},
    ),
}
LAX = {
    "method": "k-anonymity",
    "l": None,
    "sensitive": None,
    "identifier": [f"{CLAIMS}/Amount"],
    "insensitive": [f"{VISITS}/Diagnosis", f"{VISITS}/Name"],
}


@pytest.mark.parametrize("case", ABOVE)
def test_bounds_on_a_collection_are_held_for_each_table_of_it(tmp_path, case):
    theirs, owners = ABOVE[case]
    both = {"owners": owners}
    codes, said = refusal(tmp_path, theirs, letting(INSURER, CLAIMS), source=joint(**LAX), **both)
    assert set(codes) == {"M017"}
    assert f"{VISITS}/Diagnosis is insensitive, and by the owner it is sensitive" in said
    assert f"{VISITS}/Name is insensitive, and by the owner it is identifier" in said
    release = made(tmp_path, theirs, insurer(), **both)
    told = {one.asset: one.bounds for one in release.certificate.plan.by_consent}
    assert told[VISITS] == ("k at least 2", "l at least 2 of Diagnosis")


def test_bounds_on_what_an_iri_goes_on_from_are_held(tmp_path):
    inner = f"{HOUSE}/Visits"

    def moved(one):
        return json.loads(json.dumps(one).replace(VISITS, inner))

    data = moved({name: str(path) for name, path in tables(tmp_path).items()})
    given = {"owners": {HOUSE: HOSPITAL, CLAIMS: INSURER}, "data": data}
    lax, theirs = moved(joint(**LAX)), of_wards(HOUSE)
    codes, said = refusal(tmp_path, theirs, letting(INSURER, CLAIMS), source=lax, **given)
    assert set(codes) == {"M017"}
    assert f"{inner}/Name is insensitive, and by the owner it is identifier" in said
    assert made(tmp_path, theirs, insurer(), source=moved(joint()), **given).certificate.holds


# -- keys -----------------------------------------------------------------------------------------

PATIENT, INSURED = f"{VISITS}/Patient", f"{CLAIMS}/Insured"
REGISTER = f"{EX}Register"
OTHER_NAMES = {
    "as it is": {"insensitive": [INSURED]},
    "generalised": {"quasi": [f"{VISITS}/Age", f"{CLAIMS}/Zip", INSURED]},
    "as a pseudonym that others share": {"pseudonymize": [INSURED], "pseudonymScope": "all"},
}


@pytest.mark.parametrize("case", OTHER_NAMES)
@pytest.mark.parametrize("theirs", [{"identifier": [PATIENT]}, {}])
def test_a_key_that_one_owner_keeps_back_is_released_under_no_other_name(tmp_path, case, theirs):
    how = {**OTHER_NAMES[case]}
    if "quasi" in how:
        how["quasi"] = [f"{CLAIMS}/Zip", INSURED]
    both = hospital(how=theirs), insurer(how=how)
    codes, said = refusal(tmp_path, *both, source=joint(**OTHER_NAMES[case]))
    assert set(codes) == {"M017"}
    assert f"{PATIENT} is " in said
    assert "under the name 'Insured'" in said


def test_a_key_is_released_as_every_owner_of_it_has_it(tmp_path):
    both = hospital(how={"insensitive": [PATIENT]}), insurer(how={"insensitive": [INSURED]})
    release = made(tmp_path, *both, source=joint(insensitive=[INSURED]))
    assert "Insured" in release.path.read_text()
    redacted = joint(redact=[INSURED])
    one = hospital(how={"identifier": [PATIENT]}), insurer(how={"redact": [INSURED]})
    assert made(tmp_path, *one, source=redacted, overwrite=True).certificate.holds


def registered(folder):
    """Return the policy that joins a table of names of the maker's own, and the data."""
    data = {**tables(folder), REGISTER: folder / "register.csv"}
    data[REGISTER].write_text("Key,Who\n" + "".join(f"{n},P{n}\n" for n in range(1, 9)))
    key = f"{REGISTER}/Key"
    keys, more = [PATIENT, INSURED, key], [key, f"{REGISTER}/Who"]
    owners = {**OWNERS, REGISTER: UNIVERSITY}
    source = joint(target=[VISITS, CLAIMS, REGISTER], joinOn=keys, insensitive=more)
    return {"source": source, "data": data, "owners": owners}


def test_a_key_is_not_told_by_the_makers_own_table(tmp_path):
    codes, said = refusal(tmp_path, hospital(), insurer(), **registered(tmp_path))
    assert set(codes) == {"M017"}
    assert f"{PATIENT} is released as insensitive under the name 'Key'" in said


def test_a_sensitive_key_has_its_bound_under_any_name(tmp_path):
    left_out = [f"{VISITS}/Diagnosis"]
    others = insurer(how={"sensitive": [f"{CLAIMS}/Amount", INSURED]})
    source = joint(k=3, sensitive=[f"{CLAIMS}/Amount", INSURED], identifier=left_out)
    how = {"k": 3, "sensitive": [PATIENT], "identifier": left_out}
    codes, said = refusal(tmp_path, hospital(how={**how, "l": 3}), others, source=source)
    assert (codes, "l at least 3 of Patient, and the policy for 2" in said) == (["M017"], True)
    assert made(tmp_path, hospital(how=how), others, source=source).certificate.holds


# -- what stands beside ---------------------------------------------------------------------------


def test_a_leave_for_one_table_alone_is_none_for_a_join(tmp_path):
    alone = hospital(constraint=jointly([VISITS]))
    both = hospital(constraint=jointly([VISITS, CLAIMS]))
    assert refusal(tmp_path, alone, insurer())[0] == ["M014"]
    release = made(tmp_path, both, insurer())
    assert reads(release, both, insurer()).permitted
    assert not reads(release, alone, insurer()).permitted


def test_a_leave_for_a_join_with_one_table_is_none_for_a_further_one(tmp_path):
    with_claims = hospital(constraint=jointly([VISITS, CLAIMS]))
    given = registered(tmp_path)
    for one in given["source"]["permission"][0]["action"]["refinement"]:
        if one["leftOperand"] == "pe:insensitive":
            one["rightOperand"] = [f"{REGISTER}/Who"]
    assert refusal(tmp_path, with_claims, insurer(), **given)[0] == ["M014"]
    assert made(tmp_path, hospital(), insurer(), **given).certificate.holds


@pytest.mark.parametrize("party", [UNIVERSITY, None])
def test_a_prohibition_of_a_join_keeps_it_from_being_made_and_read(tmp_path, party):
    never = prohibiting(HOSPITAL, VISITS, constraint=jointly([VISITS, CLAIMS], "isAllOf"))
    both = hospital(), insurer()
    world = NOON if party else None
    codes, _ = refusal(tmp_path, *both, never, party=party, world=world)
    assert codes in (["M014"], ["D007"])
    release = made(tmp_path, *both)
    assert reads(release, *both).permitted
    assert not reads(release, *both, never).permitted
    other = prohibiting(HOSPITAL, VISITS, constraint=jointly([VISITS, REGISTER], "isAllOf"))
    assert reads(release, *both, other).permitted


# -- what is told ---------------------------------------------------------------------------------


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("owner", "target", "source"),
    [
        (HOSPITAL, f"{VISITS}/Age", VISITS),
        (HOSPITAL, [CLAIMS, VISITS], VISITS),  # it speaks for visits alone
        (INSURER, f"{CLAIMS}/Insured", CLAIMS),
        (INSURER, [CLAIMS, VISITS], CLAIMS),
    ],
)
def test_the_reason_names_the_input_that_is_prohibited(tmp_path, owner, target, source):
    both = hospital(), insurer()
    release = made(tmp_path, *both)
    found = reads(release, *both, prohibiting(owner, target, action="read"))
    assert found.reason.endswith(f"was made from {source}.")
    assert found.derivation[-1].endswith(f"was made from {source}")


def test_an_output_without_leave_keeps_no_other_from_being_made(tmp_path):
    two, lax = joint(), joint(output=f"{EX}Lax", method="k-anonymity", l=None)["permission"][0]
    two["permission"].append({**lax, "uid": f"{EX}joint#lax"})
    both = hospital(), insurer()
    for parts in ({"asset": f"{EX}Lax"}, {"asset": f"{EX}Lax", "party": None, "world": None}):
        codes, said = refusal(tmp_path, *both, source=two, **parts)
        assert (set(codes), "of Amount, and the policy for nothing" in said) == ({"M017"}, True)
    release = made(tmp_path, *both, source=two, asset=MATCHED)
    assert len(release.certificate.plan.by_consent) == 2
    assert reads(release, *both, source=two).permitted
    with pytest.raises(PlanError, match="M017"):
        plan_all(two, policies=both, owners=OWNERS)


OVER = {"leftOperand": "dateTime", "operator": "lt", "rightOperand": "2026-01-15"}
LACKING = {
    "over": ({"constraint": OVER}, "its constraint is unsatisfied: dateTime is"),
    "for another purpose": ({"purpose": "marketing"}, "it is for the purpose"),
    "with an open duty": (
        {"duty": {"action": "compensate"}},
        "its duty odrl:compensate is outstanding",
    ),
}


@pytest.mark.parametrize("case", LACKING)
def test_a_leave_that_lets_nothing_is_named_with_what_it_lacks(tmp_path, case):
    rule, said = LACKING[case]
    lacking, release = hospital(**rule), made(tmp_path, hospital(), insurer())
    told = f"{EX}hospital#lets does not let {UNIVERSITY} make it: {said}"
    for given in ({}, {"party": None, "world": None}):
        codes, text = refusal(tmp_path / "x", lacking, insurer(), data=tables(tmp_path), **given)
        assert (codes, told in text) == (["M014"], True)
    assert told in reads(release, lacking, insurer()).reason


def test_a_prohibited_leave_is_told_with_the_prohibition(tmp_path):
    never = prohibiting(HOSPITAL, VISITS)
    codes, text = refusal(tmp_path, hospital(), insurer(), never, party=None, world=None)
    assert codes == ["M014"]
    assert f"does not let {UNIVERSITY} make it: {EX}never prohibits it" in text


@pytest.mark.one_in(4)
@pytest.mark.parametrize("party", [UNIVERSITY, None])
@pytest.mark.parametrize("constraint", [None, jointly([VISITS, CLAIMS], "isAllOf")])
def test_a_prohibition_to_make_it_holds_for_who_may_grant_its_use(tmp_path, party, constraint):
    grants, acting = letting(HOSPITAL, VISITS), {"party": party, "world": party and NOON}
    grants["permission"][0]["action"] = "grantUse"
    never = prohibiting(HOSPITAL, VISITS, **({"constraint": constraint} if constraint else {}))
    codes, _ = refusal(tmp_path, grants, insurer(), never, **acting)
    assert codes in (["M014"], ["D007"])
    release = made(tmp_path, grants, insurer(), **acting)
    assert reads(release, grants, insurer()).permitted
    assert not reads(release, grants, insurer(), never).permitted
    other = prohibiting(HOSPITAL, VISITS, action="sell")
    assert reads(release, grants, insurer(), other).permitted


def test_a_leave_to_grant_use_is_held_to_what_is_read_beside():
    grant = {"action": "grantUse", "uid": f"{EX}grant", "assignee": INSURER, "purpose": None}
    reading = permission(
        uid=f"{EX}both", assignee=NURSE, target=[VISITS, CLAIMS], action="read", purpose=None
    )
    opened = letting(INSURER, CLAIMS, more=[reading])
    for assets, is_read in (([VISITS], False), ([VISITS, CLAIMS], True)):
        lets = letting(
            HOSPITAL, VISITS, more=[permission(target=VISITS, constraint=jointly(assets), **grant)]
        )
        asked = read_request(NURSE, "read", [VISITS, CLAIMS])
        found = decide_request([lets, opened], [], asked, owners=OWNERS, world=NOON)
        assert found.permitted == is_read
