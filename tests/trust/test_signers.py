import os
import pickle
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from signing import key_of

from policy_engine.errors import OutputError, TrustError
from policy_engine.trust.signers import PrivateKey, read_signer


def refusal(source):
    with pytest.raises(TrustError) as refused:
        read_signer(source)
    return refused.value


def pem_of(key, encryption=None):
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        encryption or serialization.NoEncryption(),
    )


def written(path, content):
    path.write_bytes(content)
    path.chmod(0o600)
    return path


def test_a_key_is_written_for_its_owner_alone_and_read_again(tmp_path):
    key = PrivateKey.new()
    key.write(tmp_path / "key")
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600
    assert read_signer(tmp_path / "key").public == key.public
    assert read_signer(str(tmp_path / "key")).sign(b"x") == key.sign(b"x")


def test_a_key_is_never_overwritten(tmp_path):
    PrivateKey.new().write(tmp_path / "key")
    with pytest.raises(OutputError) as refused:
        PrivateKey.new().write(tmp_path / "key")
    assert refused.value.code == "O001"


def test_a_key_is_written_to_nothing_that_is_open_already(tmp_path, capfd):
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    for path in (Path("/dev/stdout"), tmp_path / "link", tmp_path):
        with pytest.raises(OutputError, match="O001"):
            PrivateKey.new().write(path)
    assert "PRIVATE" not in capfd.readouterr().out


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o620, 0o601])
def test_a_file_that_others_may_open_is_refused(tmp_path, mode):
    key_of(1).write(tmp_path / "key")
    (tmp_path / "key").chmod(mode)
    error = refusal(tmp_path / "key")
    assert error.code == "Y002"
    assert f"{mode:04o}" in str(error)


def test_a_key_comes_from_the_environment_or_a_descriptor(tmp_path, monkeypatch):
    key_of(1).write(tmp_path / "key")
    monkeypatch.setenv("SIGNING", (tmp_path / "key").read_text())
    assert read_signer("env:SIGNING").public == key_of(1).public
    with (tmp_path / "key").open("rb") as file:
        assert read_signer(f"fd:{file.fileno()}").public == key_of(1).public


def test_the_key_that_openssl_makes_is_read(tmp_path):
    made = subprocess.run(
        ["openssl", "genpkey", "-algorithm", "ed25519"], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("there is no openssl")
    assert read_signer(written(tmp_path / "key", made.stdout)).public


@pytest.mark.parametrize("source", ["absent", "env:NOBODY_SETS_THIS", "fd:9999", "fd:x", "fd:-1"])
def test_a_key_that_is_not_there_is_refused(source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert refusal(source).code == "Y001"


def test_other_content_is_refused_and_never_quoted(tmp_path):
    own = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    pem = pem_of(own)
    contents = {
        "nothing": b"",
        "cut": pem[:-20],
        "twice as long": pem * 200,
        "secret words": b"my secret words",
        "passphrase": pem_of(own, serialization.BestAvailableEncryption(b"secret")),
        "rsa": pem_of(rsa.generate_private_key(65537, 1024)),
        "p256": pem_of(ec.generate_private_key(ec.SECP256R1())),
        "public": own.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        ),
        "binary": bytes(range(256)),
    }
    for name, content in contents.items():
        error = refusal(written(tmp_path / name.replace(" ", "-"), content))
        assert error.code == "Y001", name
        assert error.__cause__ is None
        assert error.__suppress_context__
        assert "secret words" not in str(error)
        assert not content or content.decode("latin-1").strip() not in str(error)
    assert refusal(tmp_path).code == "Y001"


def test_no_text_of_a_key_has_anything_of_it():
    key = key_of(7)
    secret = bytes([7]) * 32
    for text in (repr(key), str(key), f"{key}", repr(vars(key).get("public"))):
        assert secret.hex() not in text
        assert "private" not in text.lower().replace("privatekey(", "")
    with pytest.raises(TypeError):
        pickle.dumps(key)


def test_a_traceback_shows_nothing_of_the_key(tmp_path):
    content = pem_of(ed25519.Ed25519PrivateKey.from_private_bytes(bytes([9]) * 32))[:-30]
    path = written(tmp_path / "key", content)
    program = f"from policy_engine.trust.signers import read_signer\nread_signer({str(path)!r})"
    end = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=False, env={**os.environ}
    )
    assert b"Y001" in end.stderr
    assert content.split(b"\n")[1][:20] not in end.stderr + end.stdout


def test_what_signs_may_be_given_itself():
    assert read_signer(key_of(1)).public == key_of(1).public


def test_a_key_that_is_given_itself_is_in_no_message(tmp_path):
    key_of(1).write(tmp_path / "key")
    text = (tmp_path / "key").read_text()
    for given in (text, f"env:{text}", f"fd:{text}", text.replace("\n", "\\n")):
        with pytest.raises(TrustError) as refused:
            read_signer(given)
        assert text.splitlines()[1] not in str(refused.value) + repr(refused.value)
