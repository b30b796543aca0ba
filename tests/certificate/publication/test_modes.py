"""Nobody but its maker reads an output before it is published; then whom the umask lets."""

import os
from pathlib import Path

import pytest
from building import DATASET

from policy_engine import apply_policy
from policy_engine.api import verified_release
from policy_engine.certificate.beside import load_certificate
from policy_engine.certificate.publication import Publication
from policy_engine.data import storage

UMASKS = [0o022, 0o002, 0o027, 0o077, 0o000]


@pytest.fixture
def umask():
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


def mode(path):
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize("mask", UMASKS)
@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_a_release_is_its_makers_alone_until_it_is_verified(people, monkeypatch, umask, mask, name):
    umask(mask)
    seen, certify = [], verified_release.certify

    def watched(release, *given, **more):
        output = Path(release.output.location)
        seen.extend([mode(output.parent), mode(output)])
        return certify(release, *given, **more)

    monkeypatch.setattr(verified_release, "certify", watched)
    out = people / "out"
    apply_policy(people / "policy.jsonld", {DATASET: people / "people.csv"}, out / name)
    assert seen == [0o700, 0o600]
    assert mode(out) == 0o777 & ~mask
    assert {mode(path) for path in out.iterdir()} == {0o666 & ~mask}


@pytest.mark.parametrize("mask", UMASKS)
def test_folders_have_the_modes_of_new_ones_whatever_their_writer_gave_them(released, umask, mask):
    certificate = load_certificate(released / "release")
    umask(mask)
    with Publication(released / "out" / "model", overwrite=False) as place:
        (place.staged / "part=1").mkdir(parents=True)
        (place.staged / "part=1" / "a.csv").write_text("x")
        (place.staged / "b.csv").write_text("x")
        (place.staged / "b.csv").chmod(0o644)
        place.hide()
        paths = [place.staged, *place.staged.rglob("*")]
        assert {mode(path) for path in paths} == {0o700, 0o600}
        facts = {"file": "model", "output_digest": storage.digest(place.staged)}
        place.publish(certificate.model_copy(update=facts))
    paths = [released / "out", *(released / "out").rglob("*")]
    assert len(paths) == 6
    for path in paths:
        assert mode(path) == (0o777 if path.is_dir() else 0o666) & ~mask
