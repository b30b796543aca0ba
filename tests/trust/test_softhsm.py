"""A key in a token of SoftHSM, which signs by PKCS#11 as a token of hardware does.

It needs python-pkcs11 and SoftHSM (Debian: apt-get install softhsm2), and is skipped without.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from building import ANALYST, DATASET, OUTPUT, PEOPLE, people_policy
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

PLACES = (
    "/usr/lib/softhsm/libsofthsm2.so",
    "/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so",
    "/usr/lib64/libsofthsm2.so",
    "/usr/local/lib/softhsm/libsofthsm2.so",
    "/opt/homebrew/lib/softhsm/libsofthsm2.so",
)
MODULE = next((one for one in PLACES if Path(one).exists()), "")
TOOL = shutil.which("softhsm2-util")
URI = f"pkcs11:token=PE;object=signing?module-path={MODULE}"
PIN = "123456"
MAKE_KEY = f"""
import pkcs11
from pkcs11 import Attribute, KeyType, Mechanism
token = pkcs11.lib({MODULE!r}).get_token(token_label="PE")
with token.open(rw=True, user_pin={PIN!r}) as session:
    of_curve = {{Attribute.EC_PARAMS: b"\\x13\\x0cedwards25519"}}
    made = session.create_domain_parameters(KeyType.EC_EDWARDS, of_curve, local=True)
    made.generate_keypair(
        store=True, label="signing", mechanism=Mechanism.EC_EDWARDS_KEY_PAIR_GEN
    )
"""
"""The curve is the printable string "edwards25519" in DER, as PKCS#11 3.0 has it (section 6.3)."""
SIGN = f"""
from policy_engine.trust.signers import read_signer
signer = read_signer({URI!r})
print(signer.public.raw.hex(), signer.sign(b"message").hex())
"""
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not (MODULE and TOOL), reason="SoftHSM is not installed: softhsm2"),
]


@pytest.fixture
def run(tmp_path):
    """Return what runs commands whose token is in a folder of its own."""
    pytest.importorskip("pkcs11", reason="python-pkcs11 is not installed: [tokens]")
    (tmp_path / "tokens").mkdir()
    conf = tmp_path / "softhsm2.conf"
    conf.write_text(f"directories.tokendir = {tmp_path / 'tokens'}\nobjectstore.backend = file\n")
    given = {**os.environ, "SOFTHSM2_CONF": str(conf), "POLICY_ENGINE_PIN": PIN}

    def call(*command, **more):
        done = subprocess.run(
            command,
            env={**given, **more},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    pins = ["--pin", PIN, "--so-pin", PIN]
    for command in (
        [TOOL, "--init-token", "--free", "--label", "PE", *pins],
        [sys.executable, "-c", MAKE_KEY],
    ):
        status, _, said = call(*command)
        assert status == 0, said
    return call


def test_a_token_signs_and_never_gives_its_key(run):
    status, told, said = run(sys.executable, "-c", SIGN)
    assert status == 0, said
    public, signature = (bytes.fromhex(one) for one in told.split())
    Ed25519PublicKey.from_public_bytes(public).verify(signature, b"message")


def test_a_token_with_another_pin_or_key_is_refused_without_a_word_of_the_pin(run):
    status, _, said = run(sys.executable, "-c", SIGN, POLICY_ENGINE_PIN="999999")
    assert status != 0
    assert "Y001" in said
    assert "999999" not in said
    status, _, said = run(sys.executable, "-c", SIGN.replace("object=signing", "object=other"))
    assert status != 0
    assert "Y001" in said


def test_a_release_that_a_token_signs_is_permitted_under_a_trust_file(run, tmp_path):
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "policy.jsonld").write_text(people_policy())
    engine = (sys.executable, "-m", "policy_engine")

    def done(*words):
        status, told, said = run(*engine, *words)
        assert status == 0, said
        return told

    did = done("key", "show", URI, "--public").strip()
    trust = f'{{"trust": 1, "keys": [{{"key": "{did}", "policies": ["*"], "outputs": ["*"]}}]}}'
    (tmp_path / "trust.json").write_text(trust)
    done("sign", "policy.jsonld", "--key", URI)
    data = ("--data", f"{DATASET}=people.csv")
    done("apply", "policy.jsonld", *data, "--output", "out", "--sign", URI)
    asked = ("--assignee", ANALYST, "--target", OUTPUT, "--purpose", "marketing")
    given = ("--policy", "policy.jsonld", "--certificate", "out", "--trust", "trust.json")
    assert done("decide", *given, *asked).startswith("permit")
    table = ("--output", "out/anonPeople.csv", "--trust", "trust.json")
    assert done("verify", "out/certificate.jsonld", *table).startswith("valid")
