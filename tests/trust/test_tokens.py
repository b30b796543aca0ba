import sys
from types import SimpleNamespace

import pytest
from signing import NOW, key_of

from policy_engine.errors import DataError, TrustError
from policy_engine.trust.proofs import add_proof, verify_proof
from policy_engine.trust.signers import read_signer

URI = "pkcs11:token=PE;object=signing?module-path=/lib/softhsm.so"


class PKCS11Error(Exception):
    pass


class NoSuchKey(PKCS11Error):  # noqa: N818 (the name of the library)
    pass


class UserAlreadyLoggedIn(PKCS11Error):  # noqa: N818 (the name of the library)
    pass


class SmallToken:
    """A token with one pair of keys, as python-pkcs11 gives it."""

    def __init__(self, header):
        self.header, self.logged_in = header, False

    def open(self, user_pin=None):
        if user_pin and self.logged_in:
            raise UserAlreadyLoggedIn
        if user_pin not in (None, "1234"):
            raise PKCS11Error
        self.logged_in = True
        return self

    def get_key(self, object_class, **names):
        if (names["label"], names["id"]) not in {("signing", None), (None, b"\x01")}:
            raise NoSuchKey
        if object_class == "public":
            return {"point": self.header + key_of(3).public.raw}
        return SimpleNamespace(sign=lambda message, **_mechanism: key_of(3).sign(message))


@pytest.fixture
def library(monkeypatch):
    token = SmallToken(b"\x04\x20")
    module = SimpleNamespace(
        PKCS11Error=PKCS11Error,
        UserAlreadyLoggedIn=UserAlreadyLoggedIn,
        Mechanism=SimpleNamespace(EDDSA=1),
        Attribute=SimpleNamespace(EC_POINT="point"),
        ObjectClass=SimpleNamespace(PRIVATE_KEY="private", PUBLIC_KEY="public"),
        lib=lambda _path: SimpleNamespace(get_token=lambda **_names: token),
    )
    monkeypatch.setitem(sys.modules, "pkcs11", module)
    monkeypatch.setenv("POLICY_ENGINE_PIN", "1234")
    return token


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("uri", [URI, URI.replace("object=signing", "id=%01")])
def test_a_token_signs_by_a_key_that_stays_in_it(uri):
    signer = read_signer(uri)
    document = add_proof({"a": 1}, signer, NOW)
    assert verify_proof(document, now=NOW).key == key_of(3).public == signer.public
    assert read_signer(uri).public == signer.public, "a second session needs no PIN"


def test_a_point_may_be_stored_without_its_header(library):
    library.header = b""
    assert read_signer(URI).public == key_of(3).public


@pytest.mark.usefixtures("library")
def test_the_pin_may_be_in_a_file(tmp_path, monkeypatch):
    monkeypatch.delenv("POLICY_ENGINE_PIN")
    (tmp_path / "pin").write_text("1234\n")
    assert read_signer(f"{URI}&pin-source=file:{tmp_path / 'pin'}").public == key_of(3).public


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    "uri",
    [
        "pkcs11:",
        "pkcs11:token=PE",
        "pkcs11:token=PE;object=signing",
        "pkcs11:object=signing;object=other?module-path=/x",
        f"{URI}&pin-value=1234",
        f"{URI}&pin-source=env:NOBODY_SETS_THIS",
        f"{URI}&pin-source=/absent",
        f"{URI}&slot=5",
        URI.replace("signing", "other"),
    ],
)
def test_a_uri_that_names_no_usable_key_is_refused(uri):
    with pytest.raises(TrustError) as refused:
        read_signer(uri)
    assert refused.value.code == "Y001"
    assert "1234" not in str(refused.value)


@pytest.mark.usefixtures("library")
def test_a_wrong_pin_is_refused_and_not_told(monkeypatch):
    monkeypatch.setenv("POLICY_ENGINE_PIN", "998877")
    with pytest.raises(TrustError) as refused:
        read_signer(URI)
    assert "998877" not in str(refused.value)


def test_a_key_of_another_kind_is_refused(library):
    library.header = b"\x04\x41"
    with pytest.raises(TrustError) as refused:
        read_signer(URI)
    assert refused.value.code == "Y001"


def test_without_the_package_it_is_said_which_one(monkeypatch):
    monkeypatch.setitem(sys.modules, "pkcs11", None)
    with pytest.raises(DataError) as refused:
        read_signer(URI)
    assert refused.value.code == "C011"
