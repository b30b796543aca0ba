"""Attestations under a trust file: a person's word counts if a key signed it that may."""

import json
import shutil
from datetime import UTC, datetime, timedelta

import pytest
from signing import key_of, trust_text
from typer.testing import CliRunner

from policy_engine import attest_output, decide_request, query_data, read_request
from policy_engine.api.signing import sign_policy_files
from policy_engine.certificate.attestation import read_attestation
from policy_engine.certificate.certificate import read_certificate
from policy_engine.cli import app
from policy_engine.errors import CertificateError, OutputError
from policy_engine.trust.proofs import add_proof
from policy_engine.trust.status_lists import StatusList

E = "http://example.com/"
POLICY = f"""{{
  "@context": "http://www.w3.org/ns/odrl.jsonld", "@type": "Set", "uid": "{E}p",
  "permission": [{{"uid": "{E}p#sum", "assignee": "{E}Ann", "target": "{E}Visits",
    "action": "aggregate", "output": "{E}Totals"}}]
}}"""
ASKED = read_request(f"{E}Ann", "read", [f"{E}Totals"])
WORD = "totals.csv.attestation.json"


@pytest.fixture
def office(tmp_path):
    """A signed policy, an output, a signed attestation of it, and a trust file."""
    (tmp_path / "policy.jsonld").write_text(POLICY)
    (tmp_path / "totals.csv").write_text("Zip,n\n1,20\n")
    key_of(1).write(tmp_path / "key")
    key_of(2).write(tmp_path / "other")
    sign_policy_files([tmp_path / "policy.jsonld"], tmp_path / "key")
    (tmp_path / "trust.json").write_text(trust_text())
    attested(tmp_path, "key")
    return tmp_path


def attested(office, key=None, **options):
    where = {"file": office / WORD, "sign": None if key is None else office / key}
    policy, output = office / "policy.jsonld", office / "totals.csv"
    return attest_output(policy, output, f"{E}Eve", **where, overwrite=True, **options)


def decided(office, proof=WORD, trust="trust.json"):
    given = office / proof if isinstance(proof, str) else proof
    trusted = None if trust is None else office / trust
    return decide_request([office / "policy.jsonld"], [given], ASKED, trust=trusted)


def denial(office, *parts):
    made = decided(office, *parts)
    assert (made.permitted, made.signatures) == (False, "trusted")
    return made.reason


def test_the_signed_word_of_a_person_counts_where_its_key_may_sign_for_the_output(office):
    for place in (WORD, "totals.csv", "."):
        made = decided(office, place)
        assert (made.permitted, made.signatures, made.notes) == (True, "trusted", ())
    trust = {"key": key_of(1).public.did, "policies": ["*"], "outputs": [f"{E}Other"]}
    (office / "trust.json").write_text(trust_text(trust))
    assert "Y009" in denial(office)


def test_a_key_that_signs_for_some_datasets_alone_does_not_sign_an_attestation(office):
    """It does not say what its output was made from."""
    entry = {"key": key_of(1).public.did, "policies": ["*"], "datasets": ["*"]}
    (office / "trust.json").write_text(trust_text(entry))
    assert "Y009" in denial(office)


def test_an_unsigned_word_does_not_count_under_a_trust_file(office):
    attested(office)
    assert "Y009 The attestation of http://example.com/Totals is not signed." in denial(office)
    assert decided(office, trust=None).signatures == "unsigned"


def test_the_word_of_another_key_a_revoked_one_or_an_old_one_does_not_count(office):
    attested(office, "other")
    assert "Y009" in denial(office)
    one = attested(office, "key")
    revoked = [{"key": key_of(1).public.did, "since": "2020-01-01T00:00:00Z"}]
    (office / "trust.json").write_text(trust_text(revoked=revoked))
    assert "Y010" in denial(office)
    (office / "trust.json").write_text(trust_text())
    ended = one.signed(key_of(1), valid_until=datetime.now(UTC) - timedelta(seconds=1))
    (office / WORD).write_text(ended.to_jsonld())
    assert "Y007" in denial(office)


@pytest.mark.parametrize("name", ["by", "evidence", "output_digest", "asset", "file", "time"])
def test_a_changed_word_is_not_what_was_signed(office, name):
    document = json.loads((office / WORD).read_text())
    facts = document["credentialSubject"]["pe:attestation"]
    facts[name] = "0" * 64 if name == "output_digest" else facts["time"][:-7] + "1+00:00"
    (office / WORD).write_text(json.dumps(document, indent=2))
    assert "Y006" in denial(office)
    with pytest.raises(CertificateError, match="Y006"):
        decided(office, trust=None)


def test_an_output_that_was_exchanged_or_is_gone_is_denied(office):
    (office / "totals.csv").write_text("Zip,n\n1,21\n")
    assert "V004" in denial(office)
    (office / "totals.csv").unlink()
    assert "Y012 The output 'totals.csv' that the attestation" in denial(office)
    assert decided(office, trust=None).permitted
    (office / "elsewhere").mkdir()
    shutil.copy(office / WORD, office / "elsewhere")
    assert "Y012" in denial(office, "elsewhere")


def test_a_word_that_is_given_as_a_value_says_that_nobody_saw_its_output(office):
    made = decided(office, attested(office, "key"))
    assert made.permitted
    assert made.notes == (f"{E}Totals was not seen: only its attestation was.",)


def test_a_query_reads_what_a_signed_word_is_for(office):
    def asked():
        return query_data(
            "SELECT n FROM Totals",
            [office / "policy.jsonld"],
            f"{E}Ann",
            {f"{E}Totals": office / "totals.csv"},
            certificates=[office / WORD],
            trust=office / "trust.json",
        )

    assert asked().table.to_pylist() == [{"n": 20}]
    attested(office)
    assert not asked().permitted


def test_a_signed_word_is_read_as_the_one_that_was_signed_and_never_as_a_certificate(office):
    text = (office / WORD).read_text()
    again = read_attestation(text)
    assert again.to_jsonld() == text
    assert again.signature.credential.proof.key == key_of(1).public
    with pytest.raises(CertificateError, match="Y005"):
        read_certificate(text)
    document = json.loads(text)
    posing = {**document, "type": ["VerifiableCredential", "pe:ReleaseCertificate"]}
    posing = add_proof(posing, key_of(1), datetime.now(UTC))
    with pytest.raises(CertificateError, match="Y005"):
        read_attestation(json.dumps(posing))
    more = add_proof({**document, "evidence": [{"type": "x"}]}, key_of(1), datetime.now(UTC))
    assert read_attestation(json.dumps(more)).signature.credential.evidence


def test_the_command_signs(office, monkeypatch):
    monkeypatch.chdir(office)
    given = ["attest", "policy.jsonld", "--output", "totals.csv", "--by", f"{E}Eve"]
    (office / WORD).unlink()
    assert CliRunner().invoke(app, [*given, "--sign", "key"]).exit_code == 0
    asked = ["decide", "--policy", "policy.jsonld", "--certificate", WORD, "--assignee", f"{E}Ann"]
    asked += ["--target", f"{E}Totals", "--trust", "trust.json"]
    done = CliRunner().invoke(app, asked)
    assert (done.exit_code, done.stdout[:8]) == (0, "permit: ")
    with pytest.raises(OutputError):
        CliRunner().invoke(app, [*given, "--sign", "key"], catch_exceptions=False)


def test_an_attestation_with_an_entry_in_a_status_list_counts_until_it_is_withdrawn(office):
    status, entries = StatusList("https://example.com/status/1").allot(2)
    document = {**json.loads((office / WORD).read_text()), "credentialStatus": entries[1]}
    document = add_proof(document, key_of(1), datetime.now(UTC))
    (office / WORD).write_text(json.dumps(document))
    lists, since = office / "status.json", datetime(2026, 1, 1, tzinfo=UTC)

    def told(trust="trust.json", given=(lists,)):
        trusted = None if trust is None else office / trust
        parts = {"trust": trusted, "status": given}
        return decide_request([office / "policy.jsonld"], [office / WORD], ASKED, **parts)

    assert "Y014" in told(given=()).reason  # whether it was withdrawn is not known
    lists.write_text(status.signed_text(key_of(1)))
    assert told().permitted
    lists.write_text(status.with_withdrawal(0, since).signed_text(key_of(1)))
    assert told().permitted
    lists.write_text(status.with_withdrawal(1, since).signed_text(key_of(2)))
    assert "Y014" in told().reason  # by a stranger
    lists.write_text(status.with_withdrawal(1, since).signed_text(key_of(1)))
    for trust in ("trust.json", None):
        assert not told(trust).permitted
        assert "Y015" in told(trust).reason
