"""The supervisor signs the certificates of releases, and no run has the key."""

import hashlib

import pytest
from signing import key_of, people_certificate

from policy_engine.certificate.certificate import read_certificate
from policy_engine.errors import CertificateError
from policy_engine.service.runs.results import checked_artefacts, seal
from policy_engine.service.runs.signing_results import sign_results

NAME = "certificate.jsonld"


@pytest.fixture
def left(tmp_path):
    """What a run leaves: a release, and copies of its certificate and a page that are shown."""
    for name in ("release", "shown"):
        (tmp_path / name).mkdir()
        (tmp_path / name / NAME).write_text(people_certificate().to_jsonld())
    (tmp_path / "release" / NAME).chmod(0o400)
    (tmp_path / "shown" / "page.html").write_text("<p>")
    return tmp_path


def test_the_certificate_and_its_copy_are_signed_and_told_anew(left):
    before = seal(left)
    artefacts = sign_results(left, before, key_of(1))
    assert artefacts == checked_artefacts(left, artefacts) == seal(left)
    assert [one for one in artefacts if one not in before] == [artefacts[0]]
    content = (left / "release" / NAME).read_bytes()
    assert content == (left / "shown" / NAME).read_bytes()
    assert artefacts[0]["digest"] == hashlib.sha256(content).hexdigest()
    certificate = read_certificate(content)
    assert certificate.signature.credential.proof.key == key_of(1).public
    assert certificate.unsigned() == people_certificate()


def test_what_is_not_a_certificate_or_is_a_link_is_not_signed(left):
    artefacts = seal(left)
    (left / "release" / "more.jsonld").write_text("{}")
    with pytest.raises(CertificateError, match="V005"):
        sign_results(left, artefacts, key_of(1))
    (left / "release" / "more.jsonld").unlink()
    (left / "release" / "more.jsonld").symlink_to(left / "shown" / NAME)
    with pytest.raises(OSError, match="not a file"):
        sign_results(left, artefacts, key_of(1))
    (left / "aside").mkdir()
    (left / "release").rename(left / "aside" / "release")
    (left / "release").symlink_to(left / "aside" / "release")
    with pytest.raises(OSError, match="link"):
        sign_results(left, artefacts, key_of(1))


def test_a_result_without_a_release_is_left_as_it_is(tmp_path):
    assert sign_results(tmp_path, [], key_of(1)) == []
