"""Files of what was deleted, which a storage does not let go of at once."""

import logging
import time
from datetime import timedelta

import pytest
import sqlalchemy as sa
from served import API, service, signed_in
from test_dataset_routes import TABLE, begun, send, uploaded

from policy_engine.errors import ServiceError
from policy_engine.service.resources.removals import FileRemovals, RemovalWorker
from policy_engine.service.store.base import now
from policy_engine.service.store.database import Database
from policy_engine.service.store.datasets import Upload

OTHER = "http://example.com/other"
ROWS = b"Cy,1\n", b"Di,2\n"


@pytest.fixture
def world(tmp_path):
    """Return services that keep files in a storage, an owner, and the folder of these files."""
    (tmp_path / "far").mkdir()
    with service(tmp_path / "here", storage=f"file://{tmp_path}/far") as services:
        yield services, signed_in(services, "owner"), tmp_path / "far" / "files"


def deleted(owner, view):
    return owner.delete(f"{API}/datasets/{view['id']}").status_code


def away(far):
    """Take a storage away, as a disk that is not mounted is; return what brings it back."""
    place = far.rename(far.with_name("away"))
    return lambda: place.rename(far)


def test_a_file_that_a_storage_did_not_let_go_of_is_removed_later(world, caplog):
    services, owner, far = world
    view = uploaded(owner, TABLE).json()
    bring_back = away(far)
    assert deleted(owner, view) == 202
    assert owner.get(f"{API}/datasets/{view['id']}").status_code == 404
    with pytest.raises(ServiceError, match="N013"):
        services.removals.work_off()
    bring_back()
    assert len([*far.iterdir()]) == 1
    assert services.removals.work_off() == 0
    assert [*far.iterdir()] == []
    assert services.removals.work_off() == 0
    assert "could not be removed" in caplog.text
    assert view["digest"] not in caplog.text


@pytest.mark.nightly
def test_what_has_a_file_again_meanwhile_keeps_it(world):
    services, owner, far = world
    view = uploaded(owner, TABLE).json()
    bring_back = away(far)
    assert deleted(owner, view) == 202
    bring_back()
    again = uploaded(owner, TABLE, iri=OTHER).json()
    assert services.removals.work_off() == 0
    assert [one.read_bytes() for one in far.iterdir()] == [TABLE]
    assert deleted(owner, again) == 204
    assert [*far.iterdir()] == []


def test_a_file_of_two_datasets_goes_with_the_last_one(world):
    _, owner, far = world
    views = [uploaded(owner, TABLE, iri=one).json() for one in (OTHER, f"{OTHER}/2")]
    assert deleted(owner, views[0]) == 204
    assert len([*far.iterdir()]) == 1
    assert deleted(owner, views[1]) == 204
    assert [*far.iterdir()] == []


def test_copies_in_the_folder_of_another_machine_go_as_well(world):
    services, owner, _ = world
    view = uploaded(owner, TABLE).json()
    copies = services.settings.folder / "files"
    [copy] = copies.iterdir()
    assert deleted(owner, view) == 204
    copy.write_bytes(TABLE)  # as a folder has it that another service removed the file from
    stranger = copy.with_name("notes.txt")
    stranger.touch()
    services.removals.work_off()
    assert [*copies.iterdir()] == [stranger]


def test_a_folder_that_is_not_there_has_not_let_go_of_a_file(tmp_path):
    with service(tmp_path) as services:
        owner = signed_in(services, "owner")
        view = uploaded(owner, TABLE).json()
        bring_back = away(tmp_path / "files")
        assert deleted(owner, view) == 202
        bring_back()
        services.removals.work_off()
        assert [*(tmp_path / "files").iterdir()] == []


def test_a_thread_tries_again_until_the_storage_is_back(world):
    services, owner, far = world
    view = uploaded(owner, TABLE).json()
    bring_back = away(far)
    assert deleted(owner, view) == 202
    worker = RemovalWorker(services.removals, pause=0.05)
    worker.start()
    time.sleep(0.2)
    bring_back()
    end = time.monotonic() + 20
    while [*far.iterdir()] and time.monotonic() < end:
        time.sleep(0.05)
    worker.close()
    assert [*far.iterdir()] == []


def test_a_database_that_fails_stops_no_thread(world, monkeypatch, caplog):
    services, _, _ = world
    caplog.set_level(logging.WARNING)
    tries = []

    def refuse(_):
        tries.append(1)
        raise ServiceError.of("N013", "The database cannot be used.")

    monkeypatch.setattr(Database, "reading", refuse)
    worker = RemovalWorker(services.removals, pause=0.01)
    worker.start()
    time.sleep(0.2)
    worker.close()
    assert len(tries) > 1


@pytest.mark.nightly
def test_what_an_earlier_version_left_of_deleted_datasets_is_removed(tmp_path):
    with service(tmp_path) as services:
        owner = signed_in(services, "owner")
        gone, other = (uploaded(owner, TABLE + one, iri=f"{OTHER}/{one}").json() for one in ROWS)
        kept = tmp_path / "files" / f"{gone['digest']}.csv"
        assert deleted(owner, gone) == 204
        kept.write_bytes(TABLE + ROWS[0])
        with services.database.writing() as session:
            session.execute(sa.text("DROP TABLE file_removals"))
            session.execute(sa.text("ALTER TABLE reviews DROP COLUMN seen"))
            session.execute(sa.text("UPDATE alembic_version SET version_num = 'deciding'"))
    with service(tmp_path) as services:
        services.removals.work_off()
        left = [one.name for one in (tmp_path / "files").iterdir()]
    assert left == [f"{other['digest']}.csv"]


@pytest.mark.nightly
def test_an_upload_whose_process_is_killed_while_it_is_completed_is_not_lost(tmp_path, monkeypatch):
    with service(tmp_path / "here") as services:
        owner, files = signed_in(services, "owner"), services.uploads.files
        upload = begun(owner, TABLE)
        send(owner, upload, TABLE)
        with monkeypatch.context() as killed:
            killed.setattr(FileRemovals, "forgive", lambda *_: 1 / 0)
            assert owner.post(f"{upload}:complete", json={}).status_code == 500
        [kept] = files.blobs.names()
        view = owner.post(f"{upload}:complete", json={}).json()
        assert (view["digest"], files.parts()) == (kept.partition(".")[0], set())
        assert services.removals.work_off() == 0
        assert files.blobs.names() == {kept}


def test_what_nothing_has_is_removed_when_the_service_starts(tmp_path):
    with service(tmp_path / "here") as services:
        owner, files = signed_in(services, "owner"), services.uploads.files
        view = uploaded(owner, TABLE).json()
        goes_on = begun(owner, b"a\n", iri=OTHER)
        send(owner, goes_on, b"a\n")
        (files.root / "files" / f"{'0' * 64}.csv").write_bytes(b"secret")
        (files.root / "uploads" / "abc").write_bytes(b"secret")
        services.removals.sweep()
        assert services.removals.work_off() == 0
        assert files.blobs.names() == {f"{view['digest']}.csv"}
        assert files.parts() == {goes_on.rpartition("/")[2]}


@pytest.mark.nightly
def test_an_upload_that_is_refused_is_over_and_does_not_count(tmp_path):
    with service(tmp_path / "here") as services:
        owner, files = signed_in(services, "owner"), services.uploads.files
        for _ in range(21):
            upload = begun(owner, b"PK\x03\x04", "t.parquet")
            send(owner, upload, b"PK\x03\x04")
            assert owner.post(f"{upload}:complete", json={}).status_code == 422
            assert owner.get(upload).status_code == 404
        assert files.parts() == set()


def test_uploads_end_with_what_they_are_to(tmp_path):
    with service(tmp_path / "here") as services:
        owner, files = signed_in(services, "owner"), services.uploads.files
        view = uploaded(owner, TABLE).json()
        model = owner.post(f"{API}/models", json={"name": "m"}).headers["location"]
        new = owner.post(f"{model}/uploads", json={"name": "m", "size": 2}).json()
        uploads = [begun(owner, TABLE), f"{API}/uploads/{new['id']}"]
        for one in uploads:
            send(owner, one, b"a\n")
        assert deleted(owner, view) == 204
        assert files.parts() == {new["id"]}
        assert owner.delete(model).status_code == 204
        assert files.parts() == set()
        assert [owner.get(one).status_code for one in uploads] == [404, 404]


@pytest.mark.nightly
def test_too_many_uploads_are_named_and_those_given_up_end_after_a_day(tmp_path):
    with service(tmp_path / "here") as services:
        owner, files = signed_in(services, "owner"), services.uploads.files
        uploads = [begun(owner, TABLE).rpartition("/")[2] for _ in range(20)]
        send(owner, f"{API}/uploads/{uploads[0]}", TABLE)
        dataset = owner.get(f"{API}/datasets").json()["items"][0]["id"]
        body = {"name": "t.csv", "size": 2}
        refusal = owner.post(f"{API}/datasets/{dataset}/uploads", json=body)
        assert refusal.status_code == 413
        assert all(one in refusal.json()["detail"] for one in uploads)
        assert services.removals.work_off() == 0
        assert files.parts() == {uploads[0]}
        with services.database.writing() as session:
            session.execute(sa.update(Upload).values(created=now() - timedelta(hours=25)))
        assert services.removals.work_off() == 0
        assert files.parts() == set()
        assert owner.get(f"{API}/uploads/{uploads[1]}").status_code == 404
        assert owner.post(f"{API}/datasets/{dataset}/uploads", json=body).status_code == 201
