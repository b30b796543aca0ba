"""Keys and documents of the specifications, and small ones of our own, for tests of signatures."""

import json
from datetime import UTC, datetime
from functools import cache
from io import BytesIO

from building import DATASET, PEOPLE, people_policy
from cryptography.hazmat.primitives.asymmetric import ed25519
from pyarrow.csv import read_csv

from policy_engine import apply_policy, load_policy
from policy_engine.trust.credentials import sign_credential
from policy_engine.trust.multikeys import multibase
from policy_engine.trust.signers import PrivateKey

MULTIKEY = "z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2"
SECRET = "z3u2en7t5LR2WtQH5PfFqMqwVHBeXouLzo6haApm8XHqvjxq"
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ALUMNI = {
    "@context": [
        "https://www.w3.org/ns/credentials/v2",
        "https://www.w3.org/ns/credentials/examples/v2",
    ],
    "id": "urn:uuid:58172aac-d8ba-11ed-83dd-0b3aef56cc33",
    "type": ["VerifiableCredential", "AlumniCredential"],
    "name": "Alumni Credential",
    "description": "A minimum viable example of an Alumni Credential.",
    "issuer": "https://vc.example/issuers/5678",
    "validFrom": "2023-01-01T00:00:00Z",
    "credentialSubject": {"id": "did:example:abcdefgh", "alumniOf": "The School of Examples"},
}
"""The unsecured document of W3C vc-di-eddsa, appendix B.2."""


def key_of(number):
    """Return the key of a number: always the same."""
    raw = bytes([number]) * 32
    return PrivateKey.of(ed25519.Ed25519PrivateKey.from_private_bytes(raw))


def key_of_specification():
    raw = multibase(SECRET)[2:]
    return PrivateKey.of(ed25519.Ed25519PrivateKey.from_private_bytes(raw))


def signed_note(key=None, **options):
    """Return a small credential."""
    options = {"time": NOW, "context": {"pe": "https://w3id.org/policy-engine/ns#"}, **options}
    subjects = [{"id": "http://e.org/Note", "pe:text": "42", "pe:share": 0.25}]
    return sign_credential("pe:Note", subjects, key or key_of(1), **options)


@cache
def people_certificate():
    """Return the certificate of a release in memory."""
    table = read_csv(BytesIO(PEOPLE.encode()))
    return apply_policy(load_policy(people_policy()), {DATASET: table}).certificate


def trust_text(*entries, **parts):
    """Return a trust file of entries, by default of one key that may sign everything."""
    everything = {"key": key_of(1).public.did, "policies": ["*"], "outputs": ["*"]}
    return json.dumps({"trust": 1, "keys": list(entries) or [everything], **parts})


def copied(document):
    return json.loads(json.dumps(document))
