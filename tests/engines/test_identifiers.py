"""Identifiers in another form: keyed pseudonyms, or one mark for all."""

import hashlib
import hmac
from collections import Counter
from pathlib import Path

import pytest
from applying import applied, asking, refused, rows_of
from building import DATASET

from policy_engine import apply_policy
from policy_engine.api.planning import plan_policy
from policy_engine.cli.tables.plans import plan_table
from policy_engine.errors import CertificateError, DataError

KEY = b"0123456789abcdef0123456789abcdef"
PEOPLE = {"name": ["Ann", "Bob", "Cid", "Dan"], "age": [1, 2, 8, 9]}
NAMED = {"method": "k-anonymity", "k": 2, "quasi": ["age"], "pseudonymize": ["name"]}


def hmac_of(text, key):
    """Return HMAC-SHA256 as RFC 2104 has it: H(K ^ opad, H(K ^ ipad, text))."""
    padded = key.ljust(64, b"\0")
    inner = hashlib.sha256(bytes(b ^ 0x36 for b in padded) + text).digest()
    return hashlib.sha256(bytes(b ^ 0x5C for b in padded) + inner).digest()


def pseudonym_of(text, release, key=KEY):
    """Return a value's pseudonym in a release, whose salt is in its record."""
    about = b"salt\n" + bytes.fromhex(release.record.salt)
    own = hmac_of(b"\xffpolicy-engine pseudonyms 1\n" + about, key)
    return hmac_of(text.encode(), own).hex()


def in_scope(text, scope, key=KEY):
    """Return a value's pseudonym in all releases of a scope."""
    own = hmac_of(b"\xffpolicy-engine pseudonyms 1\nscope\n" + scope.encode(), key)
    return hmac_of(text.encode(), own).hex()


@pytest.fixture(autouse=True)
def _no_key(monkeypatch):
    monkeypatch.delenv("POLICY_ENGINE_KEY", raising=False)


def test_pseudonyms_are_the_hmac_of_the_texts():
    table = {"name": ["Ann", "Zoë 李", " x ", "1.50"], "age": [1, 1, 1, 1]}
    release = applied(table, key=KEY, **NAMED)
    found = release.table["name"].to_pylist()
    # Blanks around a text do not make another person of it.
    assert set(found) == {pseudonym_of(name.strip(), release) for name in table["name"]}
    assert hmac_of(b"Ann", KEY) == hmac.new(KEY, b"Ann", hashlib.sha256).digest()


def test_pseudonyms_stay_with_their_rows():
    release = applied(PEOPLE, key=KEY, **NAMED)
    cells = ["[1 - 2]", "[1 - 2]", "[8 - 9]", "[8 - 9]"]
    shown = [pseudonym_of(name, release) for name in PEOPLE["name"]]
    assert rows_of(release) == sorted(zip(shown, cells, strict=True), key=repr)


@pytest.mark.parametrize("given", ["bytes", "path", "text", "environment"])
def test_keys_come_from_anywhere(given, tmp_path, monkeypatch):
    file = tmp_path / "key"
    file.write_bytes(KEY + b"\n")
    monkeypatch.setenv("POLICY_ENGINE_KEY", KEY.decode() if given == "environment" else "x" * 32)
    keys = {"bytes": KEY, "path": file, "text": str(file), "environment": None}
    release = applied(PEOPLE, key=keys[given], **NAMED)
    assert pseudonym_of("Ann", release) in release.table["name"].to_pylist()


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (None, "The policy asks for pseudonyms, and no key is given"),
        (b"", "no key is given"),
        (KEY[:31], "The key has 31 bytes. A key has at least 32"),
        (KEY[:31] + b"\n ", "The key has 31 bytes"),
        ("no such file", "The key file 'no such file' does not exist"),
        (Path(), "The key file '.' is not a file"),
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


AGAIN = {"name": ["Bob", "Eve"], "age": [1, 1]}


def test_pseudonyms_of_two_releases_join_nothing():
    first, second = (
        applied(table, key=KEY, **NAMED).table["name"].to_pylist() for table in (PEOPLE, PEOPLE)
    )
    assert len({*first, *second}) == 8


def test_one_value_is_one_pseudonym_in_all_columns_of_a_release():
    table = {**PEOPLE, "sent by": ["Bob", "Cid", "Dan", "Ann"]}
    release = applied(table, key=KEY, **{**NAMED, "pseudonymize": ["name", "sent by"]})
    found = release.table.to_pydict()
    assert {*found["name"]} == {*found["sent by"]}


def test_releases_of_one_scope_have_the_same_pseudonyms():
    linked = {**NAMED, "pseudonymScope": "cohort"}
    first = applied(PEOPLE, key=KEY, **linked)
    found = first.table["name"].to_pylist()
    assert set(found) == {in_scope(name, "cohort") for name in PEOPLE["name"]}
    assert first.record.salt is None
    second = applied(AGAIN, key=KEY, **linked).table["name"].to_pylist()
    assert set(found) & set(second) == {in_scope("Bob", "cohort")}
    for key, scope in ((b"y" * 32, "cohort"), (KEY, "another")):
        other = applied(AGAIN, key=key, **{**NAMED, "pseudonymScope": scope})
        assert not set(found) & set(other.table["name"].to_pylist())


def test_a_plan_shows_the_scope_of_its_pseudonyms():
    asked = asking(**NAMED, pseudonymScope="cohort")
    rows = zip(*(column.cells for column in plan_table(plan_policy(asked)).columns), strict=True)
    assert ("", "in all releases of", "cohort") in rows


def test_a_scope_is_the_text_that_is_written():
    texts = ["7", "007", "7.0", "http://x.org/cohort"]
    found = [
        applied(PEOPLE, key=KEY, **NAMED, pseudonymScope=text).table["name"][0].as_py()
        for text in texts
    ]
    assert len(set(found)) == len(texts)
    assert all(
        any(in_scope(name, text) == one for name in PEOPLE["name"])
        for one, text in zip(found, texts, strict=True)
    )


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"pseudonymScope": " "}, "M003"),
        ({"pseudonymScope": 7}, "M003"),
        ({"pseudonymScope": "x" * 1001}, "M003"),
        ({"pseudonymScope": "x", "pseudonymize": [], "insensitive": ["name"]}, "M004"),
    ],
)
def test_a_scope_that_says_nothing_is_refused(changed, code, tmp_path):
    parts = {name: value for name, value in {**NAMED, **changed}.items() if value != []}
    assert refused(PEOPLE, tmp_path, key=KEY, **parts) == [code]


def test_the_salt_is_in_the_record_alone(tmp_path, capfd):
    release = applied(PEOPLE, tmp_path / "out", key=KEY, **NAMED)
    texts = [*(file.read_text() for file in (tmp_path / "out").iterdir()), repr(release)]
    texts += [repr(release.release), repr(release.record), *capfd.readouterr()]
    assert not any(release.record.salt in text for text in texts)
    assert release.write(tmp_path / "again").record.salt == release.record.salt


def test_a_missing_value_stays_missing():
    table = {"name": ["Ann", None, "Cid", None], "age": [1, 2, 8, 9]}
    release = applied(table, key=KEY, **NAMED)
    found = Counter(release.table["name"].to_pylist())
    assert found == {None: 2, pseudonym_of("Ann", release): 1, pseudonym_of("Cid", release): 1}


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_pseudonyms_that_link_two_classes_are_refused(tmp_path, ending):
    table = {**PEOPLE, "name": ["Ann", "Bob", "Ann", "Dan"]}
    assert refused(table, tmp_path, key=KEY, **NAMED) == ["R008"]
    with pytest.raises(CertificateError, match="1 pseudonyms of 'name' are in more"):
        applied(table, tmp_path / f"out.{ending}", key=KEY, **NAMED)
    assert not list(tmp_path.iterdir())


def test_pseudonyms_that_show_a_class_to_be_one_person_are_refused(tmp_path):
    table = {**PEOPLE, "name": ["Ann", "Ann", "Bob", "Cid"]}
    assert refused(table, tmp_path, key=KEY, **NAMED) == ["V001"]
    with pytest.raises(CertificateError, match="a class has only 1 different pseudonyms of 'name'"):
        applied(table, key=KEY, **NAMED)
    by_person = {**table, "who": [1, 2, 3, 4]}  # Ann and Ann are two
    applied(by_person, key=KEY, privacyUnit="who", **NAMED)


def test_pseudonyms_of_numbers_are_those_of_their_texts(tmp_path):
    file = tmp_path / "in.csv"
    file.write_text("name,age\n007,1\n7,1\n7.0,9\n08,9\n")
    release = apply_policy(asking(**NAMED), {DATASET: file}, key=KEY)
    texts = ("007", "7", "7.0", "08")
    found = release.table["name"].to_pylist()
    assert set(found) == {pseudonym_of(text, release) for text in texts}


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
    release = applied(table, key=KEY, **NAMED)
    shown, made = release.table["name"].to_pylist(), [pseudonym_of(one, release) for one in names]
    assert shown == sorted(made)
    assert shown != made
