import pytest
from building import people_policy
from signing import key_of

from policy_engine.api.signing import sign_policy_files
from policy_engine.errors import ArgumentError, OutputError


def test_each_file_gets_a_signature_beside_it(tmp_path):
    for name in ("a", "b"):
        text = people_policy(uid=f"http://x.org/{name}").replace("anonPeople", f"anon{name}")
        (tmp_path / f"{name}.jsonld").write_text(text)
    signed = sign_policy_files([tmp_path], key_of(1))
    assert {path.name: uids for path, uids in signed.items()} == {
        "a.jsonld.signature": ("http://x.org/a",),
        "b.jsonld.signature": ("http://x.org/b",),
    }
    with pytest.raises(OutputError):
        sign_policy_files([tmp_path], key_of(1))
    assert sign_policy_files([tmp_path], key_of(1), overwrite=True) == signed


def test_policies_without_a_file_are_refused(tmp_path, monkeypatch):
    import io
    import sys
    from types import SimpleNamespace

    stream = SimpleNamespace(buffer=io.BytesIO(people_policy().encode()))
    monkeypatch.setattr(sys, "stdin", stream)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ArgumentError):
        sign_policy_files(["-"], key_of(1))
