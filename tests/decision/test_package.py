import io
import json
import zipfile

import pytest

from policy_engine import PolicyEngineError
from policy_engine.decision.bundle import Bundle
from policy_engine.decision.package import Member

LIST = Bundle.list_name()
SMALL = Bundle((Member("policy", "policies/a.jsonld"),), {"policies/a.jsonld": b"{}"})


def archive(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        for name, content in files:
            packed.writestr(name, content)
    return buffer.getvalue()


def refused(content, digest=""):
    with pytest.raises(PolicyEngineError) as caught:
        Bundle.read(content, "x.bundle", digest)
    assert caught.value.code == "C018"
    return str(caught.value)


def test_what_is_packed_is_read_again():
    assert Bundle.read(SMALL.packed()) == SMALL
    assert Bundle.read(SMALL.packed(), digest=SMALL.digest.upper()) == SMALL


def test_the_same_content_is_packed_into_the_same_bytes():
    files = {"policies/b": b"1", "policies/a": b"2"}
    members = (Member("policy", "policies/a"), Member("policy", "policies/b"))
    turned = dict(reversed(files.items()))
    assert Bundle(members, files).packed() == Bundle(members, turned).packed()


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ([(LIST, SMALL.manifest)], "lacks its file 'policies/a.jsonld'"),
        (
            [(LIST, SMALL.manifest), ("policies/a.jsonld", "[]")],
            "'policies/a.jsonld' is not the file that was packed",
        ),
        (
            [(LIST, SMALL.manifest), ("policies/a.jsonld", "{}"), ("policies/b", "")],
            "'policies/b' is in the bundle, and not in its manifest",
        ),
        (
            [(LIST, SMALL.manifest + b" "), ("policies/a.jsonld", "{}")],
            "is not as it was packed",
        ),
        ([("policies/a.jsonld", "{}")], "is not a bundle"),
        ([(LIST, "[]")], "cannot be understood"),
        ([(LIST, '{"bundle": 2, "members": []}')], "of format 2"),
        ([(LIST, '{"bundle": 1, "members": [{"kind": "spell", "path": "a"}]}')], "'spell'"),
        ([(LIST, "{}"), ("../a", "")], "'../a'"),
        ([(LIST, "{}"), ("/etc/passwd", "")], "'/etc/passwd'"),
        ([(LIST, "{}"), ("c:a", "")], "'c:a'"),
        ([(LIST, "{}"), ("policies/", "")], "'policies/'"),
    ],
)
def test_a_bundle_with_other_files_than_were_packed_is_refused(files, words):
    assert words in refused(archive(files))


def test_a_file_twice_is_refused():
    with pytest.warns(UserWarning, match="Duplicate name"):
        content = archive([("a", "1"), ("a", "2")])
    assert "one name" in refused(content)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"{}", SMALL.packed()[:-30]])
def test_what_is_not_an_archive_is_refused(content):
    assert "is not a bundle" in refused(content)


def test_an_encrypted_archive_is_refused():
    content = bytearray(SMALL.packed())
    content[6] |= 1  # the flag of the first file, and of its entry in the directory
    content[content.index(b"PK\x01\x02") + 8] |= 1
    assert "is not a bundle" in refused(bytes(content))


def test_a_member_outside_of_the_bundle_is_refused():
    listed = {"bundle": 1, "members": [{"kind": "owners", "path": "../x"}], "files": {}}
    assert "'../x'" in refused(archive([(LIST, json.dumps(listed))]))


def test_another_digest_is_refused():
    assert SMALL.digest in refused(SMALL.packed(), "0" * 64)


def test_a_bomb_is_refused_unread(monkeypatch):
    monkeypatch.setattr("policy_engine.decision.package.MOST_BYTES", 100)
    assert "Given: 2 of" in refused(archive([(LIST, "{}"), ("a", "0" * 1000)]))
    with pytest.raises(PolicyEngineError, match="Given: 1 of 101 bytes"):
        Bundle((), {"a": b"0" * 101}).packed()


def manifest(*members):
    """Return a manifest with members that the bundle lacks."""
    listed = json.loads(SMALL.manifest)
    listed["members"] += members
    return (json.dumps(listed, indent=1) + "\n").encode()


@pytest.mark.parametrize("kind", ["certificate", "attestation", "context"])
def test_a_member_without_its_file_is_refused(kind):
    named = manifest({"kind": kind, "path": f"{kind}/a", "name": ""})
    files = [(LIST, named), ("policies/a.jsonld", "{}")]
    assert f"lacks its file '{kind}/a'" in refused(archive(files))


@pytest.mark.parametrize("half", [("\ud800", ""), ("a", "\udfff")])
def test_half_a_letter_is_no_name(half):
    named = manifest({"kind": "policy", "path": half[0], "name": half[1]})
    message = refused(archive([(LIST, named), ("policies/a.jsonld", "{}")]))
    assert "a name that is not text" in message


def test_an_archive_of_damaged_lzma_is_refused():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_LZMA) as packed:
        packed.writestr(LIST, SMALL.manifest * 9)
    content = bytearray(buffer.getvalue())
    place = 30 + len(LIST)
    content[place + 4 : place + 9] = b"\xff" * 5
    assert "The file is not a bundle" in refused(bytes(content))
