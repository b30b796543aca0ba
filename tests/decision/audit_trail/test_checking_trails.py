"""An audit trail as an authority reads it: nothing but the file."""

import json
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from building import ANALYST, OUTPUT

from policy_engine import DecisionLog, PolicyEngineError, Request, decide_request
from policy_engine.api.audit_trails import pack_audit_trail, verify_audit_trail
from policy_engine.decision.audit_trail import AuditTrail, check_trail
from policy_engine.decision.package import Member
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


def rebuilt(folder, changes, members=()):
    """Return what is found in the trail of a folder with other files in it."""
    trail = AuditTrail.read((folder / "trail").read_bytes())
    return check_trail(AuditTrail((*trail.members, *members), {**trail.files, **changes}))


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
    (asked / "policy.jsonld").write_text("policy: http://ex.com/p\ntarget: http://ex.com/T\n")
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
    assert states.count("unchecked") == 2
    report = packed(asked, logs=[log.path], keys=[b"another key, as long as keys are.", KEY])
    assert [one.state for one in report.checks].count("unchecked") == 1
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


def test_a_chain_of_an_unknown_kind_is_not_checked(asked):
    packed(asked)
    report = rebuilt(asked, {"logs/2.jsonl": b"{}\n"}, [Member("log", "logs/2.jsonl", "diary")])
    assert "'diary'" in next(one.sentence for one in report.checks if "logs/2" in one.about)


def test_a_trail_whose_file_was_changed_is_refused(asked):
    packed(asked)
    content = (asked / "trail").read_bytes()
    for start in range(0, len(content), 97):
        changed = content[:start] + bytes([content[start] ^ 1]) + content[start + 1 :]
        with suppress(PolicyEngineError):
            assert AuditTrail.read(changed).digest == AuditTrail.read(content).digest
