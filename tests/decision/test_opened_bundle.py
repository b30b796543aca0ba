import pytest

from policy_engine import PolicyEngineError
from policy_engine.decision.bundle import Bundle
from policy_engine.decision.opened_bundle import opened
from policy_engine.decision.package import Member

POLICY = (
    b"policy: http://ex.com/p\ntarget: http://ex.com/T\nassignee: http://ex.com/A\naction: read\n"
)
SMALL = Bundle((Member("policy", "policies/p.yaml"),), {"policies/p.yaml": POLICY})


def test_the_files_are_there_for_a_while():
    with opened(SMALL) as sources:
        [path] = sources.policies
        assert path.read_bytes() == POLICY
        assert (sources.owners, sources.proofs) == (None, ())
    assert not path.exists()


def test_an_error_of_whoever_uses_it_is_left_as_it_is():
    with pytest.raises(BrokenPipeError), opened(SMALL):
        raise BrokenPipeError


def test_a_place_that_takes_no_files_is_told(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "file"))
    with pytest.raises(PolicyEngineError, match="cannot be unpacked"), opened(SMALL):
        raise AssertionError


def test_a_certificate_that_is_none_is_refused():
    members = (*SMALL.members, Member("certificate", "certificates/1/certificate.jsonld"))
    broken = Bundle(members, {**SMALL.files, "certificates/1/certificate.jsonld": b"{}"})
    with pytest.raises(PolicyEngineError, match="V005"), opened(broken):
        raise AssertionError
