"""Nobody but its maker reads an output before it is published; then whom the umask lets."""

import os
from pathlib import Path

import pytest
from building import DATASET

from policy_engine import apply_policy
from policy_engine.api import verified_release
from policy_engine.certificate.beside import load_certificate
from policy_engine.certificate.publication import Publication
from policy_engine.certificate.publication.modes import hide, show
from policy_engine.data import storage

UMASKS = [0o022, 0o002, 0o027, 0o077, 0o000]


@pytest.fixture
def umask():
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


def mode(path):
    return path.stat().st_mode & 0o777


@pytest.mark.one_in(4)
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


def test_a_link_is_left_as_it_is_and_so_is_what_it_leads_to(tmp_path):
    outside, folder = tmp_path / "outside.csv", tmp_path / "folder"
    outside.write_text("x")
    outside.chmod(0o640)
    folder.mkdir()
    (folder / "link.csv").symlink_to(outside)
    (folder / "a.csv").write_text("x")
    hide(folder)
    assert (mode(folder), mode(folder / "a.csv"), mode(outside)) == (0o700, 0o600, 0o640)


def test_a_folder_keeps_the_group_that_its_files_are_given(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    folder.chmod(0o2755)
    hide(folder)
    assert folder.stat().st_mode & 0o7777 == 0o2700


def test_files_of_another_user_keep_their_modes_and_the_others_do_not(tmp_path, monkeypatch):
    for name in ("a.csv", "b.csv", "c.csv"):
        (tmp_path / name).write_text("x")
        (tmp_path / name).chmod(0o644)
    chmod = Path.chmod

    def owned(path, mode):
        if path.name == "b.csv":
            raise PermissionError(1, "Operation not permitted")
        chmod(path, mode)

    monkeypatch.setattr(Path, "chmod", owned)
    hide(tmp_path)
    assert [mode(tmp_path / f"{name}.csv") for name in "abc"] == [0o600, 0o644, 0o600]


def test_all_that_is_shown_is_on_the_disk_before_it_is_published(tmp_path, monkeypatch):
    output, staging_folder = tmp_path / "output", tmp_path / "staging"
    (output / "deep").mkdir(parents=True)
    staging_folder.mkdir()
    for name in ("a.csv", "deep/b.csv"):
        (output / name).write_text("x")
    synced = []
    monkeypatch.setattr(storage, "sync", synced.append)
    show(output, staging_folder)
    assert {*synced} == {output, *output.rglob("*")}
    assert len(synced) == 4
    assert [*staging_folder.iterdir()] == []


def test_modes_of_another_machine_are_its_own(monkeypatch):
    monkeypatch.setattr(storage, "local_path", None)
    hide("s3a://bucket/a.csv")
    show("s3a://bucket/a.csv", "s3a://bucket")
