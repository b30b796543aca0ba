import json
from datetime import UTC, datetime, timedelta

import pytest
from mutating import mutants
from signing import key_of, people_certificate

from policy_engine.certificate.certificate import Certificate, read_certificate, readable_text
from policy_engine.errors import CertificateError
from policy_engine.trust.proofs import add_proof

PLAIN = people_certificate()
SIGNED = PLAIN.signed(key_of(1))
DOCUMENT = json.loads(SIGNED.to_jsonld())


def refusal(document):
    with pytest.raises(CertificateError) as refused:
        read_certificate(json.dumps(document))
    return refused.value.code


def test_a_signed_certificate_is_read_as_the_one_that_was_signed():
    again = read_certificate(readable_text(SIGNED))
    assert again == SIGNED != PLAIN
    assert again.unsigned() == PLAIN
    assert again.signature.credential.proof.key == key_of(1).public
    assert again.to_jsonld() == SIGNED.to_jsonld()


def test_it_is_a_credential_about_the_output():
    assert DOCUMENT["type"] == ["VerifiableCredential", "pe:ReleaseCertificate"]
    assert DOCUMENT["issuer"] == key_of(1).public.did
    plain = json.loads(PLAIN.to_jsonld())
    assert DOCUMENT["@context"][1] == plain.pop("@context")
    assert DOCUMENT["credentialSubject"] == plain


def test_it_holds_what_it_binds():
    """The policy's digest, the plan, the output's digest, for whom, for what, when, by what."""
    facts = DOCUMENT["credentialSubject"]["pe:certificate"]
    assert facts["output_digest"] == DOCUMENT["credentialSubject"]["pe:sha256"]
    names = {"policy", "policy_digest", "steps", "assignees", "purposes"}
    assert names <= facts["plan"].keys()
    assert {"commitment", "measurements", "time", "versions", "file"} <= facts.keys()


def test_it_may_be_valid_for_a_time_and_be_withdrawn():
    status = {
        "type": "BitstringStatusListEntry",
        "statusPurpose": "revocation",
        "statusListIndex": "7",
        "statusListCredential": "https://e.org/status",
    }
    until = datetime.now(UTC).replace(microsecond=0) + timedelta(days=1)
    one = read_certificate(PLAIN.signed(key_of(1), valid_until=until, status=status).to_jsonld())
    credential = one.signature.credential
    assert (credential.status, credential.valid_until) == (status, until)


def test_a_refusal_is_not_the_certificate_that_was_signed():
    assert SIGNED.as_refusal().signature is None


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"issuer": key_of(2).public.did}, "Y006"),
        ({"validFrom": "2020-01-01T00:00:00Z"}, "Y006"),
        ({"proof": [DOCUMENT["proof"]]}, "Y005"),
        ({"proof": None}, "Y005"),
        ({"credentialSubject": [DOCUMENT["credentialSubject"]] * 2}, "Y006"),
        ({"pe:certificate": {}}, "Y006"),
    ],
)
def test_another_credential_is_refused(changes, code):
    assert refusal({**DOCUMENT, **changes}) == code


def test_a_signature_does_not_make_a_certificate_of_what_is_none():
    """Whoever signs contradictions gains nothing by it."""
    subject = json.loads(json.dumps(DOCUMENT["credentialSubject"]))
    subject["pe:certificate"]["rows_out"] = -1
    resigned = add_proof({**DOCUMENT, "credentialSubject": subject}, key_of(1), datetime.now(UTC))
    assert refusal(resigned) == "V005"
    subject = {**DOCUMENT["credentialSubject"], "@context": {}}
    resigned = add_proof({**DOCUMENT, "credentialSubject": subject}, key_of(1), datetime.now(UTC))
    assert refusal(resigned) == "Y005"


def check_mutants(count, seed):
    refused = 0
    for text in mutants(SIGNED.to_jsonld(), count, seed):
        with pytest.raises(CertificateError):
            read_certificate(text)
        refused += 1
    assert refused == count


def test_no_mutant_of_a_signed_certificate_is_read():
    check_mutants(200, seed=1)


@pytest.mark.nightly
def test_none_of_ten_thousand_mutants_is_read():
    check_mutants(10_000, seed=2)


def test_facts_never_bring_a_signature_of_their_own():
    facts = json.loads(PLAIN.to_jsonld())["pe:certificate"]
    with pytest.raises(ValueError, match="_signature"):
        Certificate.model_validate_json(json.dumps({**facts, "_signature": {}}))
