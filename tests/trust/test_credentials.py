from datetime import timedelta

import pytest
from signing import NOW, copied, key_of, signed_note

from policy_engine.errors import SignatureError
from policy_engine.trust.credentials import check_time, read_credential
from policy_engine.trust.proofs import add_proof

STATUS = {
    "type": "BitstringStatusListEntry",
    "statusPurpose": "revocation",
    "statusListIndex": "94567",
    "statusListCredential": "https://example.com/credentials/status/3",
}


def resigned(**changes):
    """Return the note with other members, signed as they are."""
    document = {**signed_note(), **changes}
    kept = {name: value for name, value in document.items() if value is not None}
    return add_proof(kept, key_of(1), NOW)


def test_a_credential_is_read_as_it_was_signed():
    document = signed_note(valid_until=NOW + timedelta(days=1), status=STATUS, identifier="urn:x:1")
    one = read_credential(document, "pe:Note", now=NOW)
    assert (one.proof.key, one.valid_from) == (key_of(1).public, NOW)
    assert one.valid_until == NOW + timedelta(days=1)
    assert (one.status, one.identifier) == (STATUS, "urn:x:1")
    assert one.subjects == (document["credentialSubject"],)
    assert one.context == {"pe": "https://w3id.org/policy-engine/ns#"}


@pytest.mark.parametrize(
    "changes",
    [
        {"type": ["VerifiableCredential", "pe:Other"]},
        {"type": ["VerifiableCredential"]},
        {"type": "pe:Note"},
        {"issuer": "did:key:z6Mk"},
        {"issuer": key_of(2).public.did},
        {"issuer": {"id": key_of(1).public.did}},
        {"issuer": None},
        {"validFrom": "2026-03-01"},
        {"validFrom": None},
        {"validUntil": "soon"},
        {"validUntil": 5},
        {"credentialSubject": None},
        {"credentialSubject": []},
        {"credentialSubject": "x"},
        {"credentialSubject": [1]},
        {"@context": ["https://www.w3.org/2018/credentials/v1"]},
        {"@context": "https://www.w3.org/ns/credentials/v2"},
        {"@context": ["https://www.w3.org/ns/credentials/v2", "https://e.org/more"]},
        {"@context": ["https://www.w3.org/ns/credentials/v2", {}, {}]},
        {"@context": None},
        {"credentialStatus": [STATUS]},
        {"credentialStatus": {**STATUS, "type": "StatusList2021Entry"}},
        {"credentialStatus": {**STATUS, "statusListIndex": 1}},
        {"evidence": []},
        {"id": 5},
        {"holder": "urn:x"},
    ],
)
def test_another_document_is_refused_though_its_proof_holds(changes):
    with pytest.raises(SignatureError) as refused:
        read_credential(resigned(**changes), "pe:Note", now=NOW)
    assert refused.value.code == "Y005"


def test_a_credential_is_of_the_kind_that_is_meant():
    with pytest.raises(SignatureError):
        read_credential(signed_note(), "pe:Certificate", now=NOW)


def test_several_subjects_are_read_in_their_order():
    subjects = [{"id": "http://e.org/A"}, {"id": "http://e.org/B"}]
    document = resigned(credentialSubject=subjects)
    assert list(read_credential(document, "pe:Note", now=NOW).subjects) == subjects


@pytest.mark.parametrize(
    ("offset", "holds"), [(-1, False), (0, True), (3599, True), (3600, False), (9999, False)]
)
def test_a_credential_is_valid_for_a_time(offset, holds):
    document = signed_note(valid_until=NOW + timedelta(hours=1))
    one = read_credential(copied(document), "pe:Note", now=NOW)
    if holds:
        check_time(one, NOW + timedelta(seconds=offset))
        return
    with pytest.raises(SignatureError) as refused:
        check_time(one, NOW + timedelta(seconds=offset))
    assert refused.value.code == "Y007"
