"""Who makes a release is decided as who reads one is; without a party the owner acts."""

import json
from functools import partial

import pytest
from building import ANALYST, DATASET, OUTPUT, PEOPLE, anonymize, permission, policy
from modelled import of_release
from typer.testing import CliRunner

from policy_engine import (
    apply_policy,
    certify_output,
    decide_request,
    explore_policy,
    plan_policy,
    read_request,
)
from policy_engine.api.acting import ActingParty, making_request
from policy_engine.certificate.beside import load_certificate
from policy_engine.cli import app
from policy_engine.decision import World
from policy_engine.decision.log import read_log
from policy_engine.errors import (
    AuditError,
    CertificateError,
    DeniedError,
    PolicyError,
    RequestError,
)
from policy_engine.plan.lineage import Maker
from policy_engine.plan.products import products
from policy_engine.policy import Reading

RULE, OTHER, BOB = "http://x.org/first#make", "http://x.org/other", "http://x.org/bob"
NOON = World(time="2026-06-01T12:00:00Z")
ACTION = anonymize(method="k-anonymity", k=2, quasi=["age"], insensitive=["disease"])
UNTIL_MAY = {"leftOperand": "dateTime", "operator": "lt", "rightOperand": "2026-05-01"}
ONCE = {"leftOperand": "count", "operator": "lteq", "rightOperand": 1}
FEE = {"uid": "http://x.org/fee", "action": "compensate"}
NEVER = {"target": DATASET, "action": "anonymize"}


def first(**parts):
    rule = permission(uid=RULE, action=ACTION, output=OUTPUT, **parts)
    return json.loads(policy([rule], uid="http://x.org/first"))


def other(*permissions, prohibitions=(), name="other"):
    return json.loads(policy(permissions, prohibitions, uid=f"http://x.org/{name}"))


def together(*policies):
    """Return one text that holds several policies."""
    nodes = [{k: v for k, v in one.items() if k != "@context"} for one in policies]
    return {"@context": policies[0]["@context"], "@graph": nodes}


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    return path


def made(people, source, party=ANALYST, purpose="marketing", world=NOON, **parts):
    """Return the certificate of what a party makes; nothing is written where it is denied."""
    folder = people.parent / "out"
    acting = {"party": party, "purpose": purpose, "world": world}
    try:
        parts = {**acting, "overwrite": True, **parts}
        return apply_policy(source, {DATASET: people}, folder, **parts).certificate
    except DeniedError:
        assert not folder.exists()
        raise


DENIED = {
    "an expired permission": (first(constraint=UNTIL_MAY), {}, "dateTime is 2026-06-01"),
    "an unpaid duty": (first(duty=FEE), {}, "its duty odrl:compensate is outstanding"),
    "a prohibition in the same text": (
        together(first(), other(prohibitions=[NEVER])),
        {},
        "prohibits it",
    ),
    "a prohibition in another policy": (
        first(),
        {"policies": [other(prohibitions=[NEVER])]},
        "prohibits it",
    ),
    "a prohibition of a column, for a purpose above": (
        first(),
        {"policies": [other(prohibitions=[{"target": f"{DATASET}/age", "action": "use"}])]},
        "prohibits it",
    ),
    "another party": (first(), {"party": BOB}, f"it is for {ANALYST}, not {BOB}"),
    "no purpose": (first(), {"purpose": ""}, "it is for the purpose"),
    "another purpose": (first(), {"purpose": "http://x.org/sale"}, "it is for the purpose"),
    "a count that nobody tells": (first(constraint=ONCE), {}, "count is not known"),
    "a permission that says how, for another": (
        first(),
        {
            "party": BOB,
            "policies": [
                other(permission(assignee=BOB, action=ACTION, output=OTHER, uid=f"{OTHER}#weak"))
            ],
        },
        "other#weak: it permits only its own odrl:anonymize, not that of",
    ),
}


@pytest.mark.parametrize("case", DENIED)
def test_nothing_is_made_by_who_is_denied(people, case):
    source, parts, why = DENIED[case]
    with pytest.raises(DeniedError, match="D007") as error:
        made(people, source, **parts)
    assert why in str(error.value)


PERMITTED = {
    "the party of the rule": (first(), {}),
    "a duty that is fulfilled": (
        first(duty=FEE),
        {"world": NOON.model_copy(update={"duties": {FEE["uid"]: "fulfilled"}})},
    ),
    "a permission that leaves open how": (
        first(),
        {"party": BOB, "policies": [other(permission(assignee=BOB, action="anonymize"))]},
    ),
    "a prohibition that is for others": (
        first(),
        {"policies": [other(prohibitions=[{**NEVER, "assignee": BOB}])]},
    ),
}


@pytest.mark.parametrize("case", PERMITTED)
def test_the_certificate_names_who_made_it(people, case):
    source, parts = PERMITTED[case]
    made_by = made(people, source, **parts).made_by
    assert isinstance(made_by, Maker)
    assert (made_by.party, len(made_by.rules)) == (parts.get("party", ANALYST), 1)
    [told] = [load_certificate(people.parent / "out").made_by]
    assert told == made_by


def test_without_a_party_the_owner_makes_it_and_the_certificate_says_so(people):
    source = first(constraint=UNTIL_MAY, duty=FEE)
    found = made(people, source, party=None, purpose="", world=None)
    assert found.made_by == "owner"


def test_what_is_of_a_request_needs_a_party(people):
    with pytest.raises(RequestError, match=r"D001 .*party=IRI"):
        made(people, first(), party=None)
    with pytest.raises(RequestError, match="D001"):
        made(people, first(), party="")


def test_a_replaced_policy_is_not_carried_out(people):
    issued = {**first(), "assigner": "http://x.org/owner"}
    later = {**issued, "dct:modified": "2026-03-01"}
    earlier = {**issued, "dct:modified": "2026-02-01"}
    with pytest.raises(PolicyError, match=r"P012 The policy .*first is not in force"):
        made(people, earlier, policies=[{**later, "permission": first(duty=FEE)["permission"]}])


def test_a_count_is_spent_by_making_and_not_by_reading(people, tmp_path):
    log, source = tmp_path / "log.jsonl", first(constraint=ONCE)
    certificate = made(people, source, log=log)
    with pytest.raises(DeniedError, match="count is 2, not at most 1"):
        made_again(people, source, log)
    assert [one.decision.effect for one in read_log(log)] == ["permit", "deny"]
    request = read_request(ANALYST, "read", [OUTPUT], "marketing")
    reads = decide_request([source], [certificate], request, world=NOON, log=log)
    assert reads.permitted


def made_again(people, source, log):
    folder = people.parent / "again"
    apply_policy(
        source,
        {DATASET: people},
        folder,
        party=ANALYST,
        purpose="marketing",
        world=NOON,
        log=log,
    )


def test_a_release_that_fails_is_a_logged_permit(people, tmp_path):
    log = tmp_path / "log.jsonl"
    people.write_text("age,disease\n1,flu\n")
    with pytest.raises(Exception, match="R002"):
        made(people, first(), log=log)
    assert [one.decision.effect for one in read_log(log)] == ["permit"]


def test_of_a_derived_input_the_certificate_is_asked_for(people, tmp_path):
    made(people, first())
    action = anonymize(method="k-anonymity", k=2, quasi=["disease"])
    action = json.loads(json.dumps(action).replace(DATASET, OUTPUT))
    again = permission(action=action, target=OUTPUT, output=f"{OTHER}/safe", uid=f"{OTHER}#make")
    source, whole = other(again), {"policies": [first()], "party": ANALYST, "purpose": "marketing"}
    data = {OUTPUT: tmp_path / "out" / "anonPeople.csv"}
    found = apply_policy(source, data, tmp_path / "further", world=NOON, **whole)
    assert found.certificate.made_by.party == ANALYST
    data[OUTPUT].write_bytes(data[OUTPUT].read_bytes() + data[OUTPUT].read_bytes()[-9:])
    with pytest.raises(CertificateError, match="V013"):
        explore_policy(source, data, {"k": (2,)}, world=NOON, **whole)
    with pytest.raises(DeniedError, match="which is not in force"):
        apply_policy(source, data, tmp_path / "none", world=NOON, **{**whole, "policies": []})
    alone = tmp_path / "alone.csv"
    alone.write_bytes(data[OUTPUT].read_bytes())
    with pytest.raises(DeniedError, match="has no certificate"):
        apply_policy(source, {OUTPUT: alone}, tmp_path / "none", world=NOON, **whole)


def acted(source, *prohibitions, data=DATASET, **parts):
    """Return who makes what a policy asks for, or why not, without making it."""
    acting = ActingParty(ANALYST, policies=[other(prohibitions=prohibitions)], world=NOON, **parts)
    found = making_request(source, Reading(), None, {data: "nowhere.csv"}, acting)
    try:
        return found.makers([], products(found.policy))[0]
    except DeniedError as error:
        return str(error)


def test_to_make_a_model_is_to_anonymize_and_to_train(tmp_path):
    source = json.loads(of_release())
    for rule in source["permission"]:
        rule["assignee"] = ANALYST
        rule.pop("purpose", None)
    log = tmp_path / "log.jsonl"
    denied = acted(source, {"target": OUTPUT, "action": "pe:train"}, log=log)
    assert "may not pe:train http://x.org/anonPeople" in denied
    assert [one.decision.effect for one in read_log(log)] == ["deny"]
    harmless = {"target": DATASET, "action": "print"}
    made_by = acted(source, harmless, log=log)
    assert len(made_by.rules) == 2
    assert [one.decision.effect for one in read_log(log)][1:] == ["permit", "permit"]


def test_a_trial_reads_the_log_and_adds_nothing(tmp_path):
    log, harmless = tmp_path / "log.jsonl", {"target": DATASET, "action": "print"}
    source = first(purpose=None, constraint=ONCE)
    assert acted(source, harmless, log=log)
    before = log.read_bytes()
    assert "count is 2" in acted(source, harmless, log=log, is_trial=True)
    assert log.read_bytes() == before


def test_a_prohibition_of_a_regulator_reaches_who_makes():
    owners = {DATASET: {"owner": "http://x.org/owner", "regulators": ["http://x.org/law"]}}
    source = first(purpose=None, assigner="http://x.org/owner")
    told = {}
    for name in ("law", "stranger"):
        forbids = other(prohibitions=[{**NEVER, "assigner": f"http://x.org/{name}"}])
        acting = ActingParty(ANALYST, policies=[forbids], world=NOON)
        found = making_request(source, Reading(), owners, {DATASET: "nowhere.csv"}, acting)
        try:
            told[name] = found.makers([], products(found.policy))[0].party
        except DeniedError as error:
            told[name] = error.code
    assert told == {"law": "D007", "stranger": ANALYST}


def test_the_command_ends_with_1_where_the_party_is_denied(people, tmp_path):
    (tmp_path / "p.jsonld").write_text(json.dumps(first()))
    args = ["apply", str(tmp_path / "p.jsonld"), "--data", str(people), "--output"]
    args += [str(tmp_path / "out"), "--purpose", "marketing", "--time", "2026-06-01"]
    denied = CliRunner().invoke(app, [*args, "--as", BOB]).exception
    assert isinstance(denied, DeniedError)
    assert (denied.code, denied.exit_code) == ("D007", 1)
    assert not (tmp_path / "out").exists()
    assert CliRunner().invoke(app, args).exception.exit_code == 2
    permitted = CliRunner().invoke(app, [*args, "--as", ANALYST])
    assert (permitted.exit_code, "made by" in permitted.output) == (0, True)


def test_to_plan_and_to_explore_is_decided_alike(people, tmp_path):
    log, source, data = tmp_path / "log.jsonl", first(constraint=ONCE), {DATASET: people}
    acting = {"party": ANALYST, "purpose": "marketing", "world": NOON, "log": log}
    for verb in (plan_policy, partial(explore_policy, choices={"k": (2,)})):
        with pytest.raises(DeniedError):
            verb(source, data, **{**acting, "party": BOB})
    assert plan_policy(source, data, **acting) == plan_policy(source, data, **acting)
    assert len(explore_policy(source, data, {"k": (2,)}, **acting)) == 1
    assert [one.decision.effect for one in read_log(log)] == ["deny", "permit"]
    with pytest.raises(DeniedError, match="count is 2"):
        explore_policy(source, data, {"k": (2,)}, **acting)


def test_to_certify_is_decided_alike_and_leaves_who_made_it(people, tmp_path):
    source, again = first(), {"purpose": "marketing", "world": NOON}
    made(people, source, party=None, purpose="", world=None)
    with pytest.raises(DeniedError):
        certify_output(tmp_path / "out", source, party=BOB, **again)
    found = certify_output(tmp_path / "out", source, party=ANALYST, write=True, **again)
    assert found.made_by == "owner"
    (tmp_path / "out" / "certificate.jsonld").unlink()
    assert certify_output(tmp_path / "out" / "anonPeople.csv", source).made_by is None


@pytest.mark.one_in(2)
@pytest.mark.parametrize("command", ["membership", "tradeoff"])
def test_an_audit_asks_to_train(people, tmp_path, command):
    (tmp_path / "p.jsonld").write_text(json.dumps(first(purpose=None)))
    rule = permission(action="pe:train", purpose=None)
    (tmp_path / "train.jsonld").write_text(json.dumps(other(rule)))
    log = tmp_path / "log.jsonl"
    args = ["audit", command, "--data", str(people), "--log", str(log), "--as", ANALYST, "--policy"]
    denied = CliRunner().invoke(app, [*args, str(tmp_path / "p.jsonld")]).exception
    assert isinstance(denied, DeniedError)
    # Permitted, it is refused for the records, of which there are too few.
    refused = CliRunner().invoke(app, [*args, str(tmp_path / "train.jsonld")]).exception
    assert isinstance(refused, AuditError)
    assert [one.decision.effect for one in read_log(log)] == ["deny", "permit"]
    alone = CliRunner().invoke(app, [*args[:4], "--target", DATASET]).exception
    assert (alone.code, alone.exit_code) == ("U001", 2)
