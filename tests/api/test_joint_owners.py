"""Tables of several owners in one release: every owner lets it be made, and all bounds hold."""

import json
import re
from pathlib import Path

import pytest
from building import policy
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from letting import (
    NOON,
    OF_CLAIMS,
    SHARED,
    hospital,
    insurer,
    joint,
    letting,
    made,
    reads,
    refusal,
)
from matched import (
    ANN,
    CLAIMS,
    EX,
    HOSPITAL,
    INSURER,
    MATCHED,
    OWNERS,
    UNIVERSITY,
    VISITS,
    matching,
    rows,
    tables,
)
from places import ROOT

from policy_engine import (
    apply_policy,
    certify_output,
    check_policy,
    decide_request,
    plan_policy,
    query_data,
    read_request,
)
from policy_engine.authoring.diagram import draw_policy
from policy_engine.decision import World
from policy_engine.decision.log import read_log
from policy_engine.errors import CertificateError, DeniedError, PlanError, PolicyEngineError
from policy_engine.policy import read_policy

RESEARCH = "mosaicrown:statistical"


def test_who_is_let_by_every_owner_makes_it_and_each_bound_is_told(tmp_path):
    release = made(tmp_path, hospital(), insurer(how={"k": 2}))
    assert release.certificate.made_by.party == UNIVERSITY
    told = {one.asset: one for one in release.certificate.plan.by_consent}
    assert told[CLAIMS].rule == f"{EX}insurer#lets"
    assert told[CLAIMS].bounds == ("k at least 2", "l at least 2 of Amount")
    assert told[VISITS].bounds == ("k at least 2", "l at least 2 of Diagnosis")
    assert len(rows(release.path.read_text())) == 6


@pytest.mark.parametrize("others", [(), ("hospital",), ("insurer",)])
def test_the_leave_of_one_owner_is_none_of_the_other(tmp_path, others):
    known = {"hospital": hospital(), "insurer": insurer()}
    codes, said = refusal(tmp_path, *(known[name] for name in others))
    assert codes == ["M014"]
    assert f"does not own {VISITS if others == ('insurer',) else CLAIMS}" in said


def test_no_owner_lets_anybody_join_the_table_of_another(tmp_path):
    theirs = letting(INSURER, [CLAIMS, VISITS])
    codes, said = refusal(tmp_path, theirs)
    assert (codes, f"does not own {VISITS}" in said) == (["M014"], True)
    mine = matching(uid="grab", issuer=INSURER)
    codes, said = refusal(tmp_path, theirs, source=mine, party=INSURER)
    assert (codes, f"{INSURER} does not own {VISITS}" in said) == (["M014"], True)


def test_an_owner_joins_his_own_table_with_one_that_he_is_let_to(tmp_path):
    source = matching(issuer=HOSPITAL, assignee=HOSPITAL)
    release = made(tmp_path, insurer(who=HOSPITAL), source=source, party=HOSPITAL)
    assert [one.asset for one in release.certificate.plan.by_consent] == [CLAIMS]


def test_owners_who_issue_one_policy_together_need_no_other(tmp_path):
    source = matching(issuer=[HOSPITAL, INSURER])
    assert made(tmp_path, source=source, party=None, world=None).certificate.made_by == "owner"
    assert made(tmp_path, source=source, overwrite=True).certificate.plan.by_consent == ()


def test_without_owners_one_policy_is_enough(tmp_path):
    assert made(tmp_path, owners=None, party=None, world=None).certificate.holds


# -- the strictest of all bounds ------------------------------------------------------------------

STRICTER = {
    "k": ({"k": 3}, "k at least 3, and the policy for 2"),
    "l": ({"k": 3, "l": 3}, "l at least 3 of Amount, and the policy for 2"),
    "another model": (
        {"method": ["l-diversity", "t-closeness"], "t": 0.5},
        "t at most 0.5 of Amount, and the policy for nothing",
    ),
    "a column that is to be dropped": (
        {"sensitive": None, "method": "k-anonymity", "l": None, "identifier": [f"{CLAIMS}/Amount"]},
        "Claims/Amount is sensitive, and by the owner it is identifier",
    ),
    "a column that it does not name": (
        {"sensitive": None, "method": "k-anonymity", "l": None},
        "Claims/Amount is released as sensitive, and the owner lets it not be released",
    ),
    "a role that tells less": (
        {"quasi": [f"{CLAIMS}/Amount"], "sensitive": [f"{CLAIMS}/Zip"]},
        "Claims/Zip is quasi-identifier, and by the owner it is sensitive",
    ),
    "a generalization": (
        {"quasi": [{"@id": f"{CLAIMS}/Zip", "pe:generalization": "prefix"}]},
        "The generalization of http://example.com/Claims/Zip is none, and by the owner",
    ),
    "another column to join on": (
        {"joinOn": [f"{CLAIMS}/Agent"]},
        "is joined on 'Insured', and the owner lets it be joined on 'Agent' alone",
    ),
    "no join": ({"joinOn": None}, "the owner lets it be joined with nothing"),
    "persons": ({"privacyUnit": f"{CLAIMS}/Agent"}, "persons counted by"),
    "an option": ({"partitioning": "relaxed"}, "partitioning is 'strict', and by the owner"),
}


@pytest.mark.parametrize("case", STRICTER)
def test_less_than_an_owner_asks_is_refused_and_both_places_are_told(tmp_path, case):
    how, said = STRICTER[case]
    file = tmp_path / "insurer.jsonld"
    file.write_text(json.dumps(insurer(how=how), indent=1))
    codes, text = refusal(tmp_path, hospital(), file)
    assert set(codes) == {"M017"}
    assert said in text
    assert f"({file}, line " in text


ENOUGH = {
    "more": {"k": 3},
    "an owner's k alone": {"method": ["l-diversity", "t-closeness"], "t": 0.9},
    "a column left out": {"sensitive": [f"{VISITS}/Diagnosis"]},
    "a constant": {"sensitive": [f"{VISITS}/Diagnosis"], "redact": [f"{CLAIMS}/Amount"]},
    "persons of one key": {"privacyUnit": f"{VISITS}/Patient"},
}


@pytest.mark.parametrize("case", ENOUGH)
def test_more_than_an_owner_asks_is_made(tmp_path, case):
    assert made(tmp_path, hospital(), insurer(), source=joint(**ENOUGH[case])).certificate.holds


def test_persons_are_those_of_any_key_that_is_joined_on(tmp_path):
    by_insured = insurer(how={"privacyUnit": f"{CLAIMS}/Insured"})
    source = joint(privacyUnit=f"{VISITS}/Patient")
    assert made(tmp_path, hospital(), by_insured, source=source).certificate.holds
    assert refusal(tmp_path / "x", hospital(), by_insured, data=tables(tmp_path))[0] == ["M017"]


def test_suppression_is_at_most_what_each_owner_lets(tmp_path):
    options = {"algorithm": "full-domain", "maxSuppression": 0.4}
    source = joint(**options)
    less = insurer(how={**options, "maxSuppression": 0.1})
    codes, text = refusal(tmp_path, hospital(), less, source=source)
    assert codes == ["M017"]
    assert "lets 0.1 of the rows be suppressed, and the policy 0.4" in text
    same = insurer(how=options)
    assert made(tmp_path, hospital(), same, source=source).certificate.holds


@settings(max_examples=examples(12), deadline=None)
@given(*(st.integers(2, 4) for _ in range(3)))
def test_a_release_has_classes_as_large_as_every_owner_asks(tmp_path_factory, own, one, other):
    folder = tmp_path_factory.mktemp("bounds")
    how = {"method": "k-anonymity", "l": None}
    others = hospital(how={**how, "k": one}), insurer(how={**how, "k": other})
    source = joint(k=own, **how)
    if own < max(one, other):
        assert set(refusal(folder, *others, source=source)[0]) == {"M017"}
        return
    found = rows(made(folder, *others, source=source).path.read_text())
    classes = [(row["Age"], row["Zip"]) for row in found]
    assert min(map(classes.count, classes)) >= max(one, other)


# -- conditions of the leave ----------------------------------------------------------------------

MAY = {"leftOperand": "dateTime", "operator": "lt", "rightOperand": "2026-06-15"}
ONCE = {"leftOperand": "count", "operator": "lteq", "rightOperand": 1}
FEE = {"uid": f"{EX}fee", "action": "compensate"}
JULY = World(time="2026-07-01T12:00:00Z")


def test_it_is_read_as_long_as_every_owner_lets_it_be(tmp_path):
    both = hospital(constraint=MAY), insurer()
    release = made(tmp_path, *both)
    found = reads(release, *both)
    assert found.permitted
    assert f"{EX}insurer#lets lets {UNIVERSITY} anonymize {CLAIMS}" in found.derivation
    assert not reads(release, both[0]).permitted
    assert not reads(release, both[1]).permitted
    assert not reads(release, *both, world=JULY).permitted
    stricter = insurer(how={"k": 3})
    assert "k at least 3" in reads(release, both[0], stricter).reason
    replaced = {**insurer(), "dct:isReplacedBy": {"@id": f"{EX}insurer-2"}}
    assert not reads(release, both[0], replaced).permitted


def test_of_several_ways_that_an_owner_lets_it_be_made_all_are_held_in_any_order(tmp_path):
    lets = hospital()
    [rule] = lets["permission"]
    ways = [rule["action"], hospital(how={"k": 3})["permission"][0]["action"]]
    for several in (ways, ways[::-1]):
        given = {**lets, "permission": [{**rule, "action": several}]}
        codes, said = refusal(tmp_path, given, insurer())
        assert (codes, "k at least 3" in said) == (["M017"], True)


def test_an_expired_leave_or_an_unpaid_duty_lets_nothing_be_made(tmp_path):
    assert refusal(tmp_path, hospital(constraint=MAY), insurer(), world=JULY)[0] == ["M014"]
    assert refusal(tmp_path, hospital(), insurer(duty=FEE))[0] == ["M014"]
    paid = NOON.model_copy(update={"duties": {FEE["uid"]: "fulfilled"}})
    assert made(tmp_path, hospital(), insurer(duty=FEE), world=paid).certificate.holds


def test_a_leave_for_a_purpose_is_one_for_that_alone(tmp_path):
    for_research = insurer(purpose=RESEARCH)
    assert refusal(tmp_path, hospital(), for_research)[0] == ["M014"]
    source = joint(purpose=RESEARCH)
    release = made(tmp_path, hospital(), for_research, source=source, purpose=RESEARCH)
    both = hospital(), for_research
    assert reads(release, *both, purpose=RESEARCH, source=source).permitted
    assert not reads(release, *both, source=joint(purpose=["marketing", RESEARCH])).permitted


def test_who_makes_it_is_let_by_every_owner_and_not_by_the_maker_alone(tmp_path):
    source = joint(assignee=[UNIVERSITY, ANN])
    both = hospital(), insurer()
    with pytest.raises(DeniedError, match=f"D007 .*does not let {ANN} make anything of it"):
        made(tmp_path, *both, source=source, party=ANN)
    let = [hospital(who=[UNIVERSITY, ANN]), insurer(who=[UNIVERSITY, ANN])]
    assert made(tmp_path, *let, source=source, party=ANN).certificate.made_by.party == ANN


def test_a_prohibition_of_either_owner_keeps_it_from_being_made(tmp_path):
    never = {"uid": f"{EX}never", "target": CLAIMS, "action": "anonymize"}
    against = {**insurer(), "prohibition": [never], "conflict": "prohibit"}
    assert refusal(tmp_path, hospital(), against)[0] == ["M014"]


def test_a_leave_is_spent_by_making_and_not_by_reading(tmp_path):
    log, both = tmp_path / "log.jsonl", (hospital(), insurer(constraint=ONCE))
    release = made(tmp_path, *both, log=log)
    assert reads(release, *both, log=log).permitted
    assert reads(release, *both, log=log).permitted
    with pytest.raises(PolicyEngineError, match="M014"):
        made(tmp_path, *both, log=log, overwrite=True)
    assert [one.decision.effect for one in read_log(log)] == ["permit"] * 3
    assert refusal(tmp_path / "x", *both, data=tables(tmp_path), party=None, world=None)[0] == [
        "M014"
    ]


FURTHER = f"{EX}Further"


def test_what_is_made_of_it_falls_with_the_leave_of_one_owner(tmp_path):
    both = hospital(), insurer()
    release = made(tmp_path, *both)
    again = matching(
        uid="again",
        issuer=UNIVERSITY,
        target=[MATCHED],
        output=FURTHER,
        method="k-anonymity",
        l=None,
        joinOn=None,
        sensitive=None,
        quasi=[f"{MATCHED}/Diagnosis"],
    )
    data = {MATCHED: release.path}
    further = made(tmp_path / "again", joint(), *both, source=again, data=data, **AS_OWNER)
    request = read_request(UNIVERSITY, "read", [FURTHER])
    proofs = [release.certificate, further.certificate]
    answers = [
        decide_request([again, joint(), *some], proofs, request, owners=OWNERS, world=NOON)
        for some in (both, both[:1])
    ]
    assert [one.permitted for one in answers] == [True, False]
    assert f"{FURTHER} was made from {MATCHED}" in answers[1].reason


AS_OWNER = {"party": None, "world": None}
LAW = f"{EX}Authority"
REGULATED = {**OWNERS, CLAIMS: {"owner": INSURER, "regulators": [LAW]}}


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("target", "is_read"),
    [
        (CLAIMS, False),
        (f"{CLAIMS}/Amount", False),
        (f"{CLAIMS}/Insured", False),  # it is joined on
        (f"{CLAIMS}/Agent", True),
        (f"{VISITS}/Age", True),  # the authority is not a regulator of visits
    ],
)
def test_a_prohibition_of_a_regulator_reaches_what_was_joined(tmp_path, target, is_read):
    both = hospital(), insurer()
    release = made(tmp_path, *both)
    never = {"uid": f"{EX}law#never", "target": target, "action": "read"}
    law = json.loads(policy([], [never], uid=f"{EX}law", assigner=LAW))
    request = read_request(UNIVERSITY, "read", [MATCHED])
    proofs, given = [release.certificate], [joint(), *both, law]
    found = decide_request(given, proofs, request, owners=REGULATED, world=NOON)
    assert found.permitted == is_read


# -- the rest -------------------------------------------------------------------------------------


def test_a_leave_is_valid_by_itself_and_makes_nothing():
    assert check_policy(insurer()).permissions
    assert check_policy(letting(INSURER, [CLAIMS, VISITS])).permissions
    with pytest.raises(PlanError, match="M007 The policy has no output"):
        plan_policy(insurer())


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        ({"how": {"l": 9}}, "M003"),
        ({"how": {"quasi": None}}, "M002"),
        ({"how": {"quasi": [f"{VISITS}/Age"]}}, "M006"),
        ({"how": {"joinOn": [f"{CLAIMS}/Insured", f"{CLAIMS}/Agent"]}}, "M016"),
    ],
)
def test_bounds_that_nothing_could_hold_are_refused(parts, code):
    with pytest.raises(PlanError, match=code):
        check_policy(insurer(**parts))


def test_bounds_are_those_of_one_table():
    with pytest.raises(PlanError, match="M007 Bounds are those of one dataset"):
        check_policy(letting(INSURER, [CLAIMS, VISITS], how={**SHARED, **OF_CLAIMS}))


def test_who_is_no_owner_lets_nobody_and_a_use_is_no_leave(tmp_path):
    stranger = letting(f"{EX}Mallory", CLAIMS)
    assert refusal(tmp_path, hospital(), stranger)[0] == ["M014"]
    used = letting(INSURER, CLAIMS)
    used["permission"][0]["action"] = "use"
    assert refusal(tmp_path, hospital(), used)[0] == ["M014"]
    offered = {**insurer(), "@type": "Offer"}
    assert refusal(tmp_path, hospital(), offered)[0] == ["M014"]
    assert made(tmp_path, hospital(), letting(INSURER, CLAIMS)).certificate.holds


def test_a_single_table_is_anonymised_by_its_owners_leave(tmp_path):
    how = {"joinOn": None, "quasi": [f"{VISITS}/Age"], "sensitive": [f"{VISITS}/Diagnosis"]}
    source = joint(target=[VISITS], **how)
    data = tables(tmp_path)
    given = {VISITS: data[VISITS]}
    assert refusal(tmp_path, hospital(how={"k": 3}), source=source, data=given)[0] == ["M017"]
    release = made(tmp_path, hospital(), source=source, data=given)
    assert [one.asset for one in release.certificate.plan.by_consent] == [VISITS]


def test_certify_and_plan_tell_whose_leave_it_is(tmp_path):
    both = hospital(), insurer()
    out = made(tmp_path, *both).path
    again = {"owners": OWNERS, "policies": both, "world": NOON, "party": UNIVERSITY}
    assert len(certify_output(out, joint(), **again).plan.by_consent) == 2
    assert len(plan_policy(joint(), tables(tmp_path), **again).by_consent) == 2
    with pytest.raises(PlanError, match="M014"):
        certify_output(out, joint(), **{**again, "policies": both[:1]})


# -- what the documentation shows -----------------------------------------------------------------

PAGE = ROOT / "docs" / "policy-language.md"


def test_the_example_of_the_documentation_is_made_as_it_says(tmp_path):
    fence = re.compile(r"^```\w+ (\w+)=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    blocks = {(what, name): text for what, name, text in fence.findall(PAGE.read_text("utf-8"))}
    for (what, name), text in blocks.items():
        if what == "file":
            (tmp_path / name).write_text(text)
    data = {VISITS: tmp_path / "joined-visits.csv", CLAIMS: tmp_path / "joined-claims.csv"}
    others = [tmp_path / "hospital-lets.jsonld", tmp_path / "insurer-lets.jsonld"]
    owned = {"owners": tmp_path / "owners.json", "party": UNIVERSITY, "purpose": RESEARCH}
    source = tmp_path / "matched.jsonld"
    release = apply_policy(source, data, tmp_path / "out", policies=others, **owned)
    assert release.path.read_text() == blocks["made", "matched.jsonld"]
    assert [one.asset for one in release.plan.by_consent] == [CLAIMS, VISITS]
    with pytest.raises(PlanError, match="M014"):
        apply_policy(source, data, tmp_path / "none", policies=others[:1], **owned)


def test_a_permit_to_make_tells_what_the_owners_who_let_it_ask_of_the_maker():
    obligation = {"uid": f"{EX}tidy", "assignee": UNIVERSITY, "action": "delete", "target": VISITS}
    request = read_request(UNIVERSITY, "anonymize", [VISITS, CLAIMS], RESEARCH)
    given = joint(), {**hospital(), "obligation": obligation}, insurer()
    found = decide_request(given, (), request, world=NOON, owners=OWNERS)
    assert found.permitted
    assert [(one.policy, one.duty) for one in found.duties] == [(f"{EX}hospital", f"{EX}tidy")]


def test_a_picture_says_as_a_decision_does_whether_what_was_let_for_a_purpose_stands(tmp_path):
    others = hospital(purpose=RESEARCH), insurer(purpose=RESEARCH)
    source = joint(purpose=RESEARCH)
    certificate = made(tmp_path, *others, source=source, purpose=RESEARCH).certificate
    read = [read_policy(json.dumps(one)) for one in (source, *others)]
    whole = draw_policy(read, "mermaid", [certificate], owners=OWNERS, world=NOON)
    assert "no longer valid" not in whole.text
    taken = draw_policy(read[:2], "mermaid", [certificate], owners=OWNERS, world=NOON)
    assert "no longer valid" in taken.text


def test_a_query_reads_the_file_that_was_certified_where_leave_is_for_a_purpose(tmp_path):
    others = hospital(purpose=RESEARCH), insurer(purpose=RESEARCH)
    source = joint(purpose=RESEARCH)
    release = made(tmp_path, *others, source=source, purpose=RESEARCH)
    asked = {"purpose": RESEARCH, "owners": OWNERS, "world": NOON}
    given = "SELECT Age FROM Matched", [source, *others], UNIVERSITY, {MATCHED: release.path}
    whole = query_data(*given, certificates=[release.certificate], **asked)
    assert whole.table.num_rows == len(rows(Path(release.path).read_text()))
    path = Path(release.path)
    path.write_text(path.read_text() + path.read_text().splitlines()[-1] + "\n")
    with pytest.raises(CertificateError, match="V004"):
        query_data(*given, certificates=[release.certificate], **asked)
