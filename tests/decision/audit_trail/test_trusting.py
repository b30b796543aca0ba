"""Trust files in an audit trail, and that of whoever verifies it: nothing but files."""

import hashlib
import json
from datetime import UTC, datetime, timedelta

import pytest
from building import ANALYST, DATASET, OUTPUT, people_policy
from signing import key_of, trust_text

from policy_engine import (
    Request,
    apply_policy,
    attest_output,
    decide_request,
    read_request,
    verify_log,
)
from policy_engine.api.audit_trails import pack_audit_trail, verify_audit_trail
from policy_engine.api.signing import sign_policy_files
from policy_engine.certificate.certificate import read_certificate
from policy_engine.certificate.withdrawals import sign_withdrawal
from policy_engine.decision.audit_trail import AuditTrail, check_trail
from policy_engine.decision.log import last_entries
from policy_engine.errors import TrustError
from policy_engine.policy import load_policy
from policy_engine.policy.signing import sign_policies, signature_path
from policy_engine.trust.proofs import add_proof
from policy_engine.trust.trust_file import read_trust

MARKETING = "https://www.mosaicrown.eu/ns/mosaicrown/1/marketing"
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


def resign(place, key, time=None, **changes):
    """Sign a document anew, changed, by another key."""
    document = json.loads(place.read_text()) | {"issuer": key.public.did} | changes
    del document["proof"]
    place.write_text(json.dumps(add_proof(document, key, time or datetime.now(UTC))))


PAST, FUTURE = "2020-01-01T00:00:00Z", "2999-01-01T00:00:00Z"
ENDED = {"validFrom": "2019-01-01T00:00:00Z", "validUntil": PAST}


def places(office):
    """Return where the signature of the policy and the certificate are."""
    [certificate] = (office / "release").glob("*certificate.jsonld")
    return signature_path(office / "policy.jsonld"), certificate


@pytest.mark.parametrize("changes", [ENDED, {"validFrom": FUTURE}])
def test_what_a_stranger_signed_fails_whatever_times_it_has(office, changes):
    for place in places(office):
        resign(place, key_of(9), **changes)
    report = packed(office)
    assert not report.holds
    assert [one[:4] for one in found(report, "fails")] == ["Y009", "Y009"]
    assert found(report, "unchecked") == []


@pytest.mark.parametrize("changes", [ENDED, {"validFrom": FUTURE}])
def test_what_a_revoked_key_signed_fails_whatever_times_it_has(office, changes):
    for place in places(office):
        resign(place, key_of(1), **changes)
    revoked = [{"key": key_of(1).public.did, "since": PAST}]
    (office / "trust.json").write_text(trust_text(revoked=revoked))
    report = packed(office)
    assert [one[:4] for one in found(report, "fails")] == ["Y010", "Y010"]
    assert found(report, "unchecked") == []


@pytest.mark.parametrize("changes", [ENDED, {"validFrom": FUTURE}])
def test_what_is_beyond_the_scope_of_a_key_fails_whatever_times_it_has(office, changes):
    for place in places(office):
        resign(place, key_of(1), **changes)
    narrow = {"key": key_of(1).public.did, "policies": ["http://y.org/*"], "outputs": []}
    (office / "trust.json").write_text(trust_text(narrow))
    report = packed(office)
    assert [one[:4] for one in found(report, "fails")] == ["Y009", "Y009"]
    assert found(report, "unchecked") == []


@pytest.mark.parametrize("changes", [ENDED, {"validFrom": FUTURE}])
def test_what_a_covered_key_signed_for_another_time_is_unchecked(office, changes):
    for place in places(office):
        resign(place, key_of(1), **changes)
    report = packed(office)
    assert report.holds
    assert ["Y007" in one for one in found(report, "unchecked")] == [True, True]
    assert found(report, "holds") == []


def test_a_signature_from_the_future_is_not_one_that_is_only_untimely(office):
    """Nobody knows who signed what is not read: that its code is the same excuses nothing."""
    resign(places(office)[0], key_of(9), datetime(2999, 1, 1, tzinfo=UTC))
    report = packed(office)
    assert [one[:4] for one in found(report, "fails")] == ["Y007"]
    assert found(report, "unchecked") == []


def test_a_release_that_no_key_covers_hides_no_permit_after_a_withdrawal(office):
    reading = "http://www.w3.org/ns/odrl/2/read"
    purpose = "https://www.mosaicrown.eu/ns/mosaicrown/1/marketing"
    asked = Request(assignee=ANALYST, action=reading, targets=[OUTPUT], purpose=purpose)
    parts = [office / "policy.jsonld"], [office / "release"], asked
    given = {"trust": office / "trust.json", "log": office / "log.jsonl"}
    assert decide_request(*parts, **given).permitted
    certificate = read_certificate(places(office)[1].read_text())
    early = datetime.now(UTC) - timedelta(minutes=2)
    (office / "statement").write_text(sign_withdrawal(certificate, "error", key_of(1), early))
    late = f"The output {OUTPUT} was permitted after it was withdrawn (entry 1)."
    other = certificate.unsigned().model_copy(update={"output_digest": "0" * 64, "file": "o.csv"})
    ended = datetime.now(UTC) - timedelta(minutes=1)
    covered = other.signed(key_of(1), valid_until=ended), other.signed(key_of(1))
    for one, is_hidden in (
        (other, False),
        (other.signed(key_of(9)), False),
        (other.signed(key_of(9), valid_until=ended), False),
        *((each, True) for each in covered),
    ):
        report = pack_audit_trail(
            office / "trail",
            [office / "policy.jsonld"],
            [office / "release", one],
            logs=[office / "log.jsonl"],
            status=[office / "statement"],
            trusts=[office / "trust.json"],
            overwrite=True,
        )
        sentences = [each.sentence for each in report.checks if each.state == "fails"]
        assert (late not in sentences) == is_hidden
        assert report.holds == is_hidden


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


@pytest.fixture
def decided(office):
    """The office, and a log of a decision under its trust file, and of one without."""
    request = read_request(ANALYST, "read", [OUTPUT], MARKETING)
    for trust in (office / "trust.json", None):
        made = decide_request(
            [office / "policy.jsonld"],
            [office / "release"],
            request,
            log=office / "decisions.sqlite",
            trust=trust,
        )
        assert made.permitted
    return office


def grounds(report):
    return [
        (one.state, one.sentence) for one in report.checks if one.about == "signatures of decisions"
    ]


def with_log(office, **more):
    return packed(office, logs=[office / "decisions.sqlite"], **more)


def test_a_decision_is_logged_with_the_trust_file_and_the_signatures_that_it_rested_on(decided):
    trusted, unsigned = last_entries(decided / "decisions.sqlite", 2)
    digest = hashlib.sha256((decided / "trust.json").read_bytes()).hexdigest()
    assert trusted.decided.trust == digest
    assert unsigned.decided.trust is unsigned.decided.signed_by is None
    [certificate] = (decided / "release").glob("*.jsonld")
    signature = read_certificate(certificate.read_bytes()).signature.credential.proof.value
    policy, proof = trusted.decided.signed_by
    assert (policy.kind, policy.of, proof.kind, proof.of) == (
        *("policy", "http://x.org/policy"),
        *("proof", OUTPUT),
    )
    assert policy.key == proof.key == key_of(1).public.did
    assert proof.signature == signature != policy.signature
    assert verify_log(decided / "decisions.sqlite").intact


def test_what_decisions_rested_on_is_verified_by_the_trust_file_that_they_name(decided):
    sentence = "1 decision rested on signatures that the trust file named by each covers."
    silent = "1 permit named no trust file, as earlier versions and decisions without one do not"
    unnamed = ("unchecked", f"{silent} (entry 2).")
    assert grounds(with_log(decided)) == [("holds", sentence), unnamed]
    told = (
        f"The trust file with the sha-256 {read_trust(trust_text()).digest} is not here (entry 1)."
    )
    assert grounds(with_log(decided, trusts=[])) == [("unchecked", told)]
    other = decided / "others.json"
    other.write_text(trust_text({"key": key_of(2).public.did, "policies": ["*"], "outputs": ["*"]}))
    report = with_log(decided, trusts=[other])
    assert grounds(report) == [("fails", told), unnamed]
    assert not report.holds


def test_a_decision_by_a_certificate_that_is_not_here_fails(decided):
    [certificate] = (decided / "release").glob("*.jsonld")
    text = read_certificate(certificate.read_bytes()).signed(key_of(1)).to_jsonld()
    certificate.write_text(text)  # signed again since
    (state, sentence), _unnamed = grounds(with_log(decided))
    assert state == "fails"
    assert sentence.endswith("no certificate or attestation that is here has it (entry 1).")


def test_a_log_without_trust_files_says_nothing_of_signatures(office):
    request = read_request(ANALYST, "read", [OUTPUT], MARKETING)
    given = [office / "policy.jsonld"], [office / "release"], request
    decide_request(*given, log=office / "decisions.sqlite")
    assert [state for state, _ in grounds(with_log(office))] == ["unchecked"]
    assert grounds(with_log(office, trusts=[])) == []
