"""Identifiers in another form: keyed pseudonyms, or one mark for all."""

import hashlib
import hmac
from collections import Counter

import pytest
from applying import applied, asking, refused, rows_of
from building import DATASET

from policy_engine import apply_policy
from policy_engine.api import plan_policy
from policy_engine.errors import CertificateError, DataError

KEY = b"0123456789abcdef0123456789abcdef"
PEOPLE = {"name": ["Ann", "Bob", "Cid", "Dan"], "age": [1, 2, 8, 9]}
NAMED = {"method": "k-anonymity", "k": 2, "quasi": ["age"], "pseudonymize": ["name"]}


def hmac_of(text, key=KEY):
    """Return HMAC-SHA256 as RFC 2104 has it: H(K ^ opad, H(K ^ ipad, text))."""
    padded = key.ljust(64, b"\0")
    inner = hashlib.sha256(bytes(b ^ 0x36 for b in padded) + text.encode()).digest()
    return hashlib.sha256(bytes(b ^ 0x5C for b in padded) + inner).hexdigest()


@pytest.fixture(autouse=True)
def _no_key(monkeypatch):
    monkeypatch.delenv("POLICY_ENGINE_KEY", raising=False)


def test_pseudonyms_are_the_hmac_of_the_texts():
    table = {"name": ["Ann", "Zoë 李", " x ", "1.50"], "age": [1, 1, 1, 1]}
    found = applied(table, key=KEY, **NAMED).table["name"].to_pylist()
    assert set(found) == {hmac_of(name) for name in table["name"]}
    assert hmac_of("Ann") == hmac.new(KEY, b"Ann", hashlib.sha256).hexdigest()


def test_pseudonyms_stay_with_their_rows():
    found = rows_of(applied(PEOPLE, key=KEY, **NAMED))
    cells = ["[1 - 2]", "[1 - 2]", "[8 - 9]", "[8 - 9]"]
    assert found == sorted(zip(map(hmac_of, PEOPLE["name"]), cells, strict=True), key=repr)


@pytest.mark.parametrize("given", ["bytes", "path", "text", "environment"])
def test_keys_come_from_anywhere(given, tmp_path, monkeypatch):
    file = tmp_path / "key"
    file.write_bytes(KEY + b"\n")
    monkeypatch.setenv("POLICY_ENGINE_KEY", KEY.decode() if given == "environment" else "x" * 32)
    keys = {"bytes": KEY, "path": file, "text": str(file), "environment": None}
    found = applied(PEOPLE, key=keys[given], **NAMED).table["name"].to_pylist()
    assert hmac_of("Ann") in found


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (None, "The policy asks for pseudonyms, and no key is given"),
        (b"", "no key is given"),
        (KEY[:31], "The key has 31 bytes. A key has at least 32"),
        (KEY[:31] + b"\n ", "The key has 31 bytes"),
        ("no such file", "There is no key file 'no such file'"),
    ],
)
def test_a_key_that_is_missing_or_too_short_is_refused(key, message, tmp_path):
    assert refused(PEOPLE, tmp_path, key=key, **NAMED) == ["C013"]
    with pytest.raises(DataError, match=message):
        applied(PEOPLE, key=key, **NAMED)


def test_an_empty_key_is_not_replaced_by_that_of_the_environment(monkeypatch):
    monkeypatch.setenv("POLICY_ENGINE_KEY", KEY.decode())
    with pytest.raises(DataError, match="C013"):
        applied(PEOPLE, key=b"", **NAMED)


def test_the_key_is_nowhere(tmp_path, capfd):
    release = applied(PEOPLE, tmp_path / "out", key=KEY, **NAMED)
    plan = plan_policy(asking(**NAMED), {DATASET: release.table})
    texts = [*(file.read_text() for file in (tmp_path / "out").iterdir()), repr(release)]
    texts += [plan.model_dump_json(), release.certificate.to_jsonld(), *capfd.readouterr()]
    for short in (KEY[:31], KEY):
        with pytest.raises((DataError, CertificateError)) as caught:
            applied({**PEOPLE, "name": ["Ann"] * 4}, key=short, **NAMED)
        texts += [str(caught.value), repr(caught.value)]
    secrets = [KEY.decode(), KEY[:31].decode(), KEY.hex()]
    secrets += [hashlib.new(name, KEY).hexdigest() for name in ("sha256", "sha1", "md5")]
    assert not [secret for secret in secrets if any(secret in text for text in texts)]


def test_one_value_is_one_pseudonym_in_two_tables():
    first = applied(PEOPLE, key=KEY, **NAMED).table["name"].to_pylist()
    again = {"name": ["Bob", "Eve"], "age": [1, 1]}
    second = applied(again, key=KEY, **NAMED).table["name"].to_pylist()
    assert set(first) & set(second) == {hmac_of("Bob")}
    other = applied(again, key=b"y" * 32, **NAMED).table["name"].to_pylist()
    assert not set(first) & set(other)


def test_a_missing_value_stays_missing():
    table = {"name": ["Ann", None, "Cid", None], "age": [1, 2, 8, 9]}
    found = Counter(applied(table, key=KEY, **NAMED).table["name"].to_pylist())
    assert found == {None: 2, hmac_of("Ann"): 1, hmac_of("Cid"): 1}


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_pseudonyms_that_link_two_classes_are_refused(tmp_path, ending):
    table = {**PEOPLE, "name": ["Ann", "Bob", "Ann", "Dan"]}
    assert refused(table, tmp_path, key=KEY, **NAMED) == ["R008"]
    with pytest.raises(CertificateError, match="1 pseudonyms of 'name' stand in more"):
        applied(table, tmp_path / f"out.{ending}", key=KEY, **NAMED)
    assert not list(tmp_path.iterdir())


def test_pseudonyms_that_show_a_class_to_be_one_person_are_refused(tmp_path):
    table = {**PEOPLE, "name": ["Ann", "Ann", "Bob", "Cid"]}
    assert refused(table, tmp_path, key=KEY, **NAMED) == ["V001"]
    with pytest.raises(CertificateError, match="a class has 1 different pseudonyms of 'name'"):
        applied(table, key=KEY, **NAMED)
    by_person = {**table, "who": [1, 2, 3, 4]}  # Ann and Ann are two
    applied(by_person, key=KEY, privacyUnit="who", **NAMED)


def test_pseudonyms_of_numbers_are_those_of_their_texts(tmp_path):
    file = tmp_path / "in.csv"
    file.write_text("name,age\n007,1\n7,1\n7.0,9\n08,9\n")
    found = apply_policy(asking(**NAMED), {DATASET: file}, key=KEY).table["name"].to_pylist()
    assert set(found) == {hmac_of(text) for text in ("007", "7", "7.0", "08")}


def test_redacted_values_are_all_one_mark():
    table = {**PEOPLE, "name": ["Ann", None, "Ann", ""]}
    parts = {"method": "k-anonymity", "k": 2, "quasi": ["age"], "redact": ["name"]}
    release = applied(table, **parts)
    assert release.table["name"].to_pylist() == ["REDACTED"] * 4
    assert release.table["age"].to_pylist() == ["[1 - 2]"] * 2 + ["[8 - 9]"] * 2


def test_redacted_values_leave_no_trace(tmp_path):
    parts = {"method": "k-anonymity", "k": 2, "quasi": ["age"], "redact": ["name"]}
    applied(PEOPLE, tmp_path / "out", **parts)
    reordered = {name: values[::-1] for name, values in PEOPLE.items()}
    renamed = {**reordered, "name": ["Zoe", "Yan", "Xu", "Wim"]}
    applied(renamed, tmp_path / "again", **parts)
    outputs = [(tmp_path / name / "anonPeople.csv").read_bytes() for name in ("out", "again")]
    assert outputs[0] == outputs[1]
    assert b"Ann" not in outputs[0]


def test_the_order_of_rows_follows_the_pseudonyms_and_not_the_names():
    names = [f"name {number:03}" for number in range(40)]
    table = {"name": names, "age": [30] * 40}
    shown = applied(table, key=KEY, **NAMED).table["name"].to_pylist()
    assert shown == sorted(map(hmac_of, names))
    assert shown != [hmac_of(name) for name in names]
