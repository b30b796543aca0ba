"""An audit trail as an authority reads it: nothing but the file."""

import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from building import ANALYST, DATASET, OUTPUT

from policy_engine import (
    DecisionLog,
    PolicyEngineError,
    Request,
    apply_policy,
    decide_request,
    load_policy,
    withdraw_release,
)
from policy_engine.api.audit_trails import pack_audit_trail, verify_audit_trail
from policy_engine.certificate.certificate import read_certificate
from policy_engine.certificate.withdrawals import sign_withdrawal
from policy_engine.data.chain.verification import Head
from policy_engine.decision.audit_trail import AuditTrail, check_trail
from policy_engine.decision.package import Member
from policy_engine.policy.signing import sign_policies, signature_path
from policy_engine.trust.signers import PrivateKey

READING = "http://www.w3.org/ns/odrl/2/read"
MARKETING = "https://www.mosaicrown.eu/ns/mosaicrown/1/marketing"
ASKED = Request(assignee=ANALYST, action=READING, targets=[OUTPUT], purpose=MARKETING)
KEY = b"k" * 32


@pytest.fixture
def asked(released):
    """Return a folder with a policy, its release, and a log in which it was permitted once."""
    policy, log = released / "policy.jsonld", released / "log.jsonl"
    assert decide_request([policy], [released / "release"], ASKED, log=log).permitted
    return released


def packed(folder, **more):
    given = {"logs": [folder / "log.jsonl"], "certificates": [folder / "release"]} | more
    return pack_audit_trail(folder / "trail", [folder / "policy.jsonld"], overwrite=True, **given)


def failures(report):
    return [one.sentence for one in report.checks if one.state == "fails"]


def rebuilt(folder, changes, members=(), **more):
    """Return what is found in the trail of a folder with other files in it."""
    trail = AuditTrail.read((folder / "trail").read_bytes())
    return check_trail(AuditTrail((*trail.members, *members), {**trail.files, **changes}), **more)


def test_what_happened_holds(asked):
    report = packed(asked)
    assert report.holds
    assert verify_audit_trail(asked / "trail", digest=report.digest) == report
    states = {one.about: one.state for one in report.checks}
    assert states["the decision log logs/1.jsonl"] == "holds"
    assert states["who packed it"] == "unchecked"


def test_a_changed_decision_is_found(asked):
    packed(asked)
    line = (asked / "log.jsonl").read_bytes().replace(b'"permit"', b'"deny"')
    assert "was changed" in failures(rebuilt(asked, {"logs/1.jsonl": line}))[0]


def test_a_decision_by_a_policy_that_is_not_packed_is_named(asked):
    (asked / "policy.jsonld").write_text(
        "policy: http://ex.com/p\ntarget: http://ex.com/T\naction: read\n"
    )
    assert any("which is not here" in one for one in failures(packed(asked, certificates=[])))


def test_a_permit_without_its_certificate_is_named(asked):
    sentence = f"The output {OUTPUT} was permitted without a certificate that is here (entry 1)."
    assert failures(packed(asked, certificates=[])) == [sentence]


def test_a_certificate_that_contradicts_itself_is_found(asked):
    packed(asked)
    trail = AuditTrail.read((asked / "trail").read_bytes())
    [member] = trail.of_kind("certificate")
    document = json.loads(trail.files[member.path])
    document["pe:certificate"]["rows_out"] += 1
    found = failures(rebuilt(asked, {member.path: json.dumps(document).encode()}))
    assert any("V005" in one for one in found)


def test_a_chain_with_a_key_is_verified_by_it_alone(asked):
    log = DecisionLog.open(asked / "keyed.jsonl", KEY)
    log.append(decide_request([asked / "policy.jsonld"], [asked / "release"], ASKED))
    states = [one.state for one in packed(asked, logs=[log.path]).checks]
    assert states.count("unchecked") == 3
    report = packed(asked, logs=[log.path], keys=[b"another key, as long as keys are.", KEY])
    assert [one.state for one in report.checks].count("unchecked") == 2
    assert failures(packed(asked, logs=[log.path], keys=[b"another key, as long as keys are."]))


def test_a_signed_trail_names_its_signer(asked):
    key = PrivateKey.new()
    report = packed(asked, sign=key)
    assert report.checks[0].state == "holds"
    assert key.public.did in report.checks[0].sentence


def test_the_signature_of_another_trail_does_not_count(asked):
    packed(asked, sign=PrivateKey.new())
    trail = AuditTrail.read((asked / "trail").read_bytes())
    other = AuditTrail((), {}, trail.signature)
    assert "Y011" in check_trail(other).checks[0].sentence
    forged = trail.signature.replace(b'"issuer": "did', b'"issuer": "dad')
    assert check_trail(AuditTrail(trail.members, trail.files, forged)).checks[0].state == "fails"
    late = datetime(2020, 1, 1, tzinfo=UTC)
    assert "Y007" in check_trail(trail, now=late).checks[0].sentence


def test_a_chain_of_an_unknown_kind_fails(asked):
    packed(asked)
    report = rebuilt(asked, {"logs/2.jsonl": b"{}\n"}, [Member("log", "logs/2.jsonl", "diary")])
    assert failures(report) == ["It is of an unknown kind, 'diary'."]


def test_a_chain_that_no_given_key_made_fails(asked):
    [sentence] = failures(packed(asked, keys=[KEY]))
    assert "'hmac-sha-256' is expected" in sentence
    assert "no entry" in failures(rebuilt(asked, {"logs/1.jsonl": b""}, keys=[KEY]))[0]


def test_a_head_that_was_cut_off_is_missed(asked):
    first = packed(asked)
    decide_request([asked / "policy.jsonld"], [], ASKED, log=asked / "log.jsonl")
    packed(asked)
    trail = asked / "trail"
    lines = AuditTrail.read(trail.read_bytes()).files["logs/1.jsonl"].splitlines(keepends=True)
    heads = [json.loads(line)["hash"] for line in lines]
    assert any(heads[0] in one.sentence for one in first.checks)
    assert verify_audit_trail(trail, expect=[f"1:{heads[0]}", heads[1]]).holds
    expected = [Head.of(f"1:{heads[0]}"), Head.of(f"2:{heads[1]}")]
    cut = rebuilt(asked, {"logs/1.jsonl": lines[0]}, expected=expected)
    [failure] = [one for one in cut.checks if one.state == "fails"]
    assert failure.about == f"the head 2:{heads[1]}"


def test_a_head_in_a_chain_that_is_not_verified_does_not_count(asked):
    log = DecisionLog.open(asked / "keyed.jsonl", KEY)
    log.append(decide_request([asked / "policy.jsonld"], [asked / "release"], ASKED))
    packed(asked, logs=[log.path])
    assert not verify_audit_trail(asked / "trail", expect=["1"]).holds
    (asked / "key").write_bytes(KEY)
    (asked / "key").chmod(0o600)
    assert verify_audit_trail(asked / "trail", expect=["1"], keys=[asked / "key"]).holds


def test_another_signer_than_the_one_expected_fails(asked):
    key, other = PrivateKey.new(), PrivateKey.new()
    packed(asked)
    assert "unsigned" in failures(verify_audit_trail(asked / "trail", signer=key.public))[0]
    packed(asked, sign=key)
    assert verify_audit_trail(asked / "trail", signer=key.public.did).holds
    [sentence] = failures(verify_audit_trail(asked / "trail", signer=other.public.did))
    assert other.public.did in sentence


def test_a_trail_without_a_decision_log_says_so(asked):
    report = packed(asked, logs=[])
    assert report.holds
    states = {one.about: one.state for one in report.checks}
    assert states["decisions"] == "unchecked"
    assert "permitted outputs" not in states


def test_signatures_of_policies_are_checked(asked):
    def states(report):
        return {one.about: one.state for one in report.checks}

    assert states(packed(asked))["signatures of policies"] == "unchecked"
    policy = asked / "policy.jsonld"
    key = PrivateKey.new()
    signature = sign_policies([load_policy(policy)], key)
    signature_path(policy).write_text(signature)
    report = packed(asked)
    path = "policies/policy.jsonld.signature"
    assert report.holds
    assert states(report)[f"the signature {path}"] == "holds"
    assert "signatures of policies" not in states(report)
    assert "Y005" in failures(rebuilt(asked, {path: b"{}"}))[0]
    assert "Y005" in failures(rebuilt(asked, {path: b"\xff"}))[0]
    forged = signature.replace("z6Mk", "z6Mj")
    assert failures(rebuilt(asked, {path: forged.encode()}))
    (asked / "other.yaml").write_text(
        "policy: http://x.org/policy\ntarget: http://ex.com/T\naction: read\n"
    )
    other = sign_policies([load_policy(asked / "other.yaml")], key).encode()
    assert "of another policy" in failures(rebuilt(asked, {path: other}))[0]


def withdrawal(folder, since):
    """Return the statement that the release of a folder was withdrawn at a time."""
    text = next((folder / "release").glob("*certificate*")).read_text()
    return sign_withdrawal(read_certificate(text), "an error", PrivateKey.new(), since)


def test_a_permit_after_a_withdrawal_fails(asked):
    # The log is of a decider that knew nothing of the statement.
    made = next((asked / "release").glob("*certificate*"))
    place = made.with_name(f"{made.name}.withdrawal")
    place.write_text(withdrawal(asked, datetime.now(UTC) - timedelta(minutes=2)))
    [sentence] = failures(packed(asked))
    assert sentence == f"The output {OUTPUT} was permitted after it was withdrawn (entry 1)."
    assert failures(verify_audit_trail(asked / "trail")) == [sentence]
    place.write_text(withdrawal(asked, datetime.now(UTC) + timedelta(minutes=2)))
    report = packed(asked)
    assert report.holds
    assert {one.about: one.state for one in report.checks}["withdrawals"] == "holds"


def test_a_statement_that_is_given_is_packed(asked):
    given = asked / "statement"
    given.write_text(withdrawal(asked, datetime.now(UTC) - timedelta(minutes=2)))
    assert "after it was withdrawn" in failures(packed(asked, status=[given]))[0]
    assert "Y00" in failures(rebuilt(asked, {"status/1.json": b"{}"}))[0]


def test_the_withdrawal_of_another_release_counts_for_that_alone(asked):
    text = next((asked / "release").glob("*certificate*")).read_text()
    other = read_certificate(text).model_copy(update={"output_digest": "0" * 64})
    early = datetime.now(UTC) - timedelta(minutes=2)
    (asked / "statement").write_text(sign_withdrawal(other, "error", PrivateKey.new(), early))
    assert packed(asked, status=[asked / "statement"]).holds


def test_a_status_list_that_is_not_packed_is_said(asked):
    key, lists = PrivateKey.new(), asked / "lists"
    lists.mkdir()
    key.write(asked / "key")
    data = {DATASET: asked / "people.csv"}
    place = f"http://ex.com/status={lists / 'status.json'}"
    more = {"sign": asked / "key", "status_list": place}
    apply_policy(asked / "policy.jsonld", data, asked / "listed", **more)
    unknown = packed(asked, certificates=[asked / "listed"], logs=[])
    assert "its status list is not here" in unknown.checks[-1].sentence
    given = {"certificates": [asked / "listed"], "status": [lists / "status.json"]}
    log = asked / "second.jsonl"
    decide_request([asked / "policy.jsonld"], [asked / "listed"], ASKED, log=log)
    known = packed(asked, logs=[log], **given)
    assert (known.checks[-1].about, known.checks[-1].state) == ("withdrawals", "holds")
    withdraw_release(
        asked / "listed",
        "an error",
        asked / "key",
        status_list=lists / "status.json",
        statement=asked / "elsewhere",
    )
    later = packed(asked, logs=[log], **given)
    assert later.digest != known.digest


def test_a_trail_whose_file_was_changed_is_refused(asked):
    packed(asked)
    content = (asked / "trail").read_bytes()
    for start in range(0, len(content), 97):
        changed = content[:start] + bytes([content[start] ^ 1]) + content[start + 1 :]
        with suppress(PolicyEngineError):
            assert AuditTrail.read(changed).digest == AuditTrail.read(content).digest
