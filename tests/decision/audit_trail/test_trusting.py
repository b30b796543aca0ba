"""Trust files in an audit trail, and that of whoever verifies it: nothing but files."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from building import DATASET, people_policy
from signing import key_of, trust_text

from policy_engine import apply_policy, attest_output
from policy_engine.api.audit_trails import pack_audit_trail, verify_audit_trail
from policy_engine.api.signing import sign_policy_files
from policy_engine.decision.audit_trail import AuditTrail, check_trail
from policy_engine.errors import TrustError
from policy_engine.policy import load_policy
from policy_engine.policy.signing import sign_policies, signature_path

COVERS = "It covers every policy and certificate that is here."


@pytest.fixture
def office(people):
    """A signed policy and a signed release of it, and the trust file of the key."""
    key_of(1).write(people / "key")
    sign_policy_files([people / "policy.jsonld"], people / "key")
    data = {DATASET: people / "people.csv"}
    apply_policy(people / "policy.jsonld", data, people / "release", sign=people / "key")
    (people / "trust.json").write_text(trust_text())
    return people


def packed(office, **more):
    options = {"trusts": [office / "trust.json"], "overwrite": True} | more
    return pack_audit_trail(
        office / "trail", [office / "policy.jsonld"], [office / "release"], **options
    )


def found(report, state):
    checks = [one for one in report.checks if "trust" in one.about and one.state == state]
    return [one.sentence for one in checks]


def test_a_packed_trust_file_covers_what_is_packed_and_verified_with_it_offline(office):
    report = packed(office)
    assert report.holds
    assert found(report, "holds") == [COVERS]
    for name in ("policy.jsonld.signature", "trust.json", "key"):
        (office / name).unlink()
    assert verify_audit_trail(office / "trail") == report


def test_what_a_packed_trust_file_does_not_cover_fails(office):
    (office / "trust.json").write_text(trust_text({"key": key_of(2).public.did, "outputs": ["*"]}))
    report = packed(office)
    assert not report.holds
    policy, certificate = found(report, "fails")
    assert policy.startswith("Y009 The policy http://x.org/policy does not count")
    assert certificate.startswith("Y009 The certificate of ")
    revoked = [{"key": key_of(1).public.did, "since": "2020-01-01T00:00:00Z"}]
    (office / "trust.json").write_text(trust_text(revoked=revoked))
    assert [one[:4] for one in found(packed(office), "fails")] == ["Y010", "Y010"]


def test_whoever_verifies_has_a_trust_of_their_own(office):
    packed(office, trusts=[])
    own = office / "own.json"
    own.write_text(trust_text())
    assert found(verify_audit_trail(office / "trail", trust=own), "holds") == [COVERS]
    own.write_text(trust_text({"key": key_of(2).public.did, "policies": ["*"], "outputs": ["*"]}))
    report = verify_audit_trail(office / "trail", trust=own)
    assert len(found(report, "fails")) == 2
    own.write_text("{")
    with pytest.raises(TrustError, match="Y008"):
        verify_audit_trail(office / "trail", trust=own)


def test_a_trust_file_that_cannot_be_understood_is_packed_and_fails(office):
    (office / "trust.json").write_text(json.dumps({"trust": 1, "keys": [], "kyes": []}))
    assert found(packed(office), "fails")[0].startswith("Y008 ")


def test_another_trust_file_in_the_place_of_the_packed_one_is_judged_by(office):
    packed(office)
    trail = AuditTrail.read((office / "trail").read_bytes())
    other = trust_text({"key": key_of(2).public.did, "outputs": ["*"]}).encode()
    changed = AuditTrail(trail.members, {**trail.files, "trust/1.json": other})
    assert changed.digest != trail.digest
    assert len(found(check_trail(changed), "fails")) == 2


def test_what_has_ended_since_is_not_known_to_have_been_refused(office):
    now = datetime.now(UTC)
    own = [load_policy(office / "policy.jsonld")]
    text = sign_policies(own, key_of(1), time=now - timedelta(2), valid_until=now - timedelta(1))
    signature_path(office / "policy.jsonld").write_text(text)
    report = packed(office)
    assert report.holds
    assert "Y007" in found(report, "unchecked")[0]
    assert found(report, "holds") == []


def test_unsigned_attestations_fail_under_a_trust_file_and_signed_ones_do_not(office):
    text = people_policy(uid="http://x.org/sums").replace("anonPeople", "sums")
    document = json.loads(text)
    document["permission"][0]["action"] = "aggregate"
    (office / "sums.jsonld").write_text(json.dumps(document))
    sign_policy_files([office / "sums.jsonld"], office / "key")
    (office / "sums.csv").write_text("n\n20\n")
    for key, states in ((None, ["fails"]), (office / "key", ["holds"])):
        parts = office / "sums.jsonld", office / "sums.csv", "http://x.org/Eve"
        word = attest_output(*parts, sign=key)
        report = pack_audit_trail(
            office / "trail",
            [office / "sums.jsonld"],
            [word],
            trusts=[office / "trust.json"],
            overwrite=True,
        )
        assert [one.state for one in report.checks if "trust" in one.about] == states
