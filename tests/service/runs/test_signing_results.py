"""The supervisor signs the certificates of releases, and no run has the key."""

import hashlib

import pytest
from signing import key_of, people_certificate

from policy_engine.certificate.certificate import read_certificate
from policy_engine.errors import CertificateError, ServiceError
from policy_engine.service.runs.results import checked_artefacts, seal
from policy_engine.service.runs.signing_results import sign_results
from policy_engine.trust.canonical_json import MOST_BYTES

NAME = "certificate.jsonld"


def any_of_them(certificate, folder):
    """Find nothing that is not of the run."""


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
    seen = []
    artefacts = sign_results(left, before, key_of(1), lambda *one: seen.append(one), [NAME])
    assert seen == [(people_certificate(), left / "release")]
    assert artefacts == checked_artefacts(left, artefacts) == seal(left)
    assert [one for one in artefacts if one not in before] == [artefacts[0]]
    content = (left / "release" / NAME).read_bytes()
    assert content == (left / "shown" / NAME).read_bytes()
    assert artefacts[0]["digest"] == hashlib.sha256(content).hexdigest()
    certificate = read_certificate(content)
    assert certificate.signature.credential.proof.key == key_of(1).public
    assert certificate.unsigned() == people_certificate()


@pytest.mark.parametrize("number", [1, 2])
def test_more_than_is_read_of_a_certificate_is_not_read_of_all_of_them(left, number):
    for name in range(number):
        with (left / "release" / f"{name}.jsonld").open("wb") as file:
            file.truncate((MOST_BYTES + 1) // number)  # takes no room
    with pytest.raises(OSError, match="too large"):
        sign_results(left, [], key_of(1), any_of_them, [NAME])


def test_what_is_not_a_certificate_or_is_a_link_is_not_signed(left):
    artefacts = seal(left)
    (left / "release" / "more.jsonld").write_text("{}")
    with pytest.raises(CertificateError, match="V005"):
        sign_results(left, artefacts, key_of(1), any_of_them, [NAME])
    (left / "release" / "more.jsonld").unlink()
    (left / "release" / "more.jsonld").symlink_to(left / "shown" / NAME)
    with pytest.raises(OSError, match="not a file"):
        sign_results(left, artefacts, key_of(1), any_of_them, [NAME])
    (left / "aside").mkdir()
    (left / "release").rename(left / "aside" / "release")
    (left / "release").symlink_to(left / "aside" / "release")
    with pytest.raises(OSError, match="link"):
        sign_results(left, artefacts, key_of(1), any_of_them, [NAME])


def test_a_result_without_a_release_is_left_as_it_is(tmp_path):
    assert sign_results(tmp_path, [], key_of(1), any_of_them, [NAME]) == []


def test_where_one_certificate_is_not_of_the_run_nothing_is_signed(left):
    before, content = seal(left), (left / "release" / NAME).read_bytes()
    (left / "release" / "second.jsonld").write_bytes(content)
    seen = []

    def refuse_the_last(certificate, folder):
        seen.append(certificate)
        if len(seen) == 2:
            raise ServiceError.of("N022", f"not of {folder}")

    with pytest.raises(ServiceError, match="N022"):
        sign_results(left, before, key_of(1), refuse_the_last, [NAME])
    assert (left / "release" / NAME).read_bytes() == content
