import hashlib
import json
from datetime import timedelta

import pytest
from signing import (
    ALUMNI,
    MULTIKEY,
    NOW,
    copied,
    key_of,
    key_of_specification,
    people_certificate,
    signed_note,
)

from policy_engine.certificate.withdrawals import sign_withdrawal
from policy_engine.errors import SignatureError, TrustError
from policy_engine.trust.canonical_json import canonical_bytes
from policy_engine.trust.multikeys import base58, multibase
from policy_engine.trust.proofs import CLOCK_TOLERANCE, add_proof, hash_data, verify_proof
from policy_engine.trust.rotations import sign_rotation
from policy_engine.trust.status_lists import StatusList

OPTIONS = {
    "type": "DataIntegrityProof",
    "cryptosuite": "eddsa-jcs-2022",
    "created": "2023-02-24T23:36:38Z",
    "verificationMethod": f"did:key:{MULTIKEY}#{MULTIKEY}",
    "proofPurpose": "assertionMethod",
    "@context": ALUMNI["@context"],
}
VALUE = "z2HnFSSPPBzR36zdDgK8PbEHeXbR56YF24jwMpt3R1eHXQzJDMWS93FCzpvJpwTWd3GAVFuUfjoJdcnTMuVor51aX"
DRAFT_VALUE = (
    "z63t83Y53KfzJ5ZosfKTnqfMcKB2dmTrfjSaQjeNNjAD5srBowQfmWqeRb8rRjmeEuCBEsddF9LsVogtuTsijJKh4"
)
ORDER = 2**252 + 27742317777372353535851937790883648493


def refusal(document, **options):
    with pytest.raises(SignatureError) as refused:
        verify_proof(document, **{"now": NOW, **options})
    return refused.value.code


def test_hashes_are_those_of_the_specification():
    """W3C vc-di-eddsa, appendix B.2: the canonical forms, and the hash of each."""
    assert hashlib.sha256(canonical_bytes(ALUMNI)).hexdigest() == (
        "59b7cb6251b8991add1ce0bc83107e3db9dbbab5bd2c28f687db1a03abc92f19"
    )
    assert hash_data(ALUMNI, OPTIONS).hex() == (
        "66ab154f5c2890a140cb8388a22a160454f80575f6eae09e5a097cabe539a1db"
        "59b7cb6251b8991add1ce0bc83107e3db9dbbab5bd2c28f687db1a03abc92f19"
    )


def test_the_signature_of_the_specification_is_made_and_verified():
    key = key_of_specification()
    assert key.public.multikey == MULTIKEY
    signature = key.sign(hash_data(ALUMNI, OPTIONS))
    assert f"z{base58(signature)}" == VALUE
    proof = verify_proof({**ALUMNI, "proof": {**OPTIONS, "proofValue": VALUE}}, now=NOW)
    assert (proof.key, proof.created.isoformat()) == (key.public, "2023-02-24T23:36:38+00:00")


def test_the_signature_of_the_drafts_is_made_and_its_method_refused():
    """Their key is named by a page of its issuer, which nobody here would fetch."""
    method = f"https://vc.example/issuers/5678#{MULTIKEY}"
    options = {**OPTIONS, "verificationMethod": method}
    signature = key_of_specification().sign(hash_data(ALUMNI, options))
    assert f"z{base58(signature)}" == DRAFT_VALUE
    assert refusal({**ALUMNI, "proof": {**options, "proofValue": DRAFT_VALUE}}) == "Y003"


def test_what_is_signed_is_verified_whatever_the_order_of_its_keys():
    document = signed_note()
    reordered = json.loads(json.dumps(document, sort_keys=True))
    assert verify_proof(reordered, now=NOW).key == key_of(1).public


@pytest.mark.parametrize("name", [*OPTIONS, "proofValue"])
def test_a_proof_lacks_nothing(name):
    document = signed_note()
    del document["proof"][name]
    assert refusal(document) == "Y005"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"type": "Ed25519Signature2020"}, "Y005"),
        ({"cryptosuite": "eddsa-rdfc-2022"}, "Y005"),
        ({"proofPurpose": "authentication"}, "Y005"),
        ({"proofPurpose": ["assertionMethod"]}, "Y005"),
        ({"created": "2026-03-01T12:00:00"}, "Y005"),
        ({"created": "2026-03-01"}, "Y005"),
        ({"created": "2026-02-30T12:00:00Z"}, "Y005"),
        ({"created": "2026-03-01T12:00:01Z"}, "Y006"),
        ({"created": "2027-03-01T12:00:01Z"}, "Y006"),
        ({"created": 1}, "Y005"),
        ({"verificationMethod": "did:key:zzz"}, "Y003"),
        ({"verificationMethod": key_of(1).public.multikey}, "Y005"),
        ({"verificationMethod": key_of(2).public.verification_method}, "Y006"),
        ({"@context": []}, "Y005"),
        ({"expires": "2030-01-01T00:00:00Z"}, "Y005"),
        ({"previousProof": "urn:x"}, "Y005"),
        ({"proofValue": ""}, "Y005"),
        ({"proofValue": "z"}, "Y005"),
        ({"proofValue": f"z{base58(bytes(63))}"}, "Y005"),
        ({"proofValue": f"z{base58(bytes([1]) * 64)}"}, "Y006"),
    ],
)
def test_another_proof_is_refused(changes, code):
    document = signed_note()
    document["proof"] |= changes
    assert refusal(document) == code


@pytest.mark.parametrize("proof", [None, [], "proof", 1, {}])
def test_something_else_than_one_proof_is_refused(proof):
    assert refusal({**signed_note(), "proof": proof}) == "Y005"


def test_several_proofs_are_refused_even_where_each_holds():
    document = signed_note()
    assert refusal({**document, "proof": [document["proof"], document["proof"]]}) == "Y005"
    assert refusal({**document, "proof": [document["proof"]]}) == "Y005"


def test_a_signature_has_one_form():
    """S + L would be as good to a lax verifier (RFC 8032, section 8.4)."""
    document = signed_note()
    signature = multibase(document["proof"]["proofValue"])
    larger = (int.from_bytes(signature[32:], "little") + ORDER).to_bytes(32, "little")
    document["proof"]["proofValue"] = f"z{base58(signature[:32] + larger)}"
    assert refusal(document) == "Y006"


@pytest.mark.parametrize("change", ["z1", "m", ""])
def test_a_text_has_one_form(change):
    document = signed_note()
    document["proof"]["proofValue"] = change + document["proof"]["proofValue"][1:]
    assert refusal(document) == "Y005"


def test_a_clock_may_be_a_little_ahead():
    document = signed_note()
    assert verify_proof(document, now=NOW - CLOCK_TOLERANCE)
    assert refusal(document, now=NOW - CLOCK_TOLERANCE - timedelta(seconds=1)) == "Y007"


@pytest.mark.parametrize("value", ["43", 42, None, ["42"], {"@value": "42"}])
def test_another_value_is_not_what_was_signed(value):
    document = copied(signed_note())
    document["credentialSubject"]["pe:text"] = value
    assert refusal(document) == "Y006"


def test_a_value_that_has_no_canonical_form_is_refused():
    document = copied(signed_note())
    document["credentialSubject"]["pe:text"] = 2**60
    assert refusal(document) == "Y005"
    with pytest.raises(TrustError):
        add_proof({"a": 2**60}, key_of(1), NOW)


def test_a_device_that_signs_something_else_is_found_out_at_once():
    class Broken:
        public = key_of(1).public

        def sign(self, message):
            return key_of(1).sign(message + b"!")

    with pytest.raises(SignatureError) as refused:
        add_proof({"a": 1}, Broken(), NOW)
    assert refused.value.code == "Y006"


SIGNED = {
    "note": signed_note,
    "certificate": lambda: json.loads(people_certificate().signed(key_of(1)).to_jsonld()),
    "status list": lambda: json.loads(StatusList("urn:x").signed_text(key_of(1))),
    "withdrawal": lambda: json.loads(
        sign_withdrawal(people_certificate(), "an error", key_of(1), NOW)
    ),
    "rotation": lambda: sign_rotation(key_of(1), key_of(2).public, NOW),
}


@pytest.mark.parametrize("document", SIGNED.values(), ids=SIGNED)
def test_signatures_are_those_of_an_independent_implementation(document):
    signing = pytest.importorskip("nacl.signing")
    document = document()
    options = {name: value for name, value in document["proof"].items() if name != "proofValue"}
    unsecured = {name: value for name, value in document.items() if name != "proof"}
    signature = multibase(document["proof"]["proofValue"])
    verifier = signing.VerifyKey(key_of(1).public.raw)
    assert verifier.verify(hash_data(unsecured, options), signature)
    other = signing.SigningKey(bytes([1]) * 32).sign(hash_data(unsecured, options)).signature
    assert other == signature
