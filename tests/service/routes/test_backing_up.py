import sqlite3
import stat
import tarfile
from concurrent.futures import ThreadPoolExecutor

import pytest
from served import API, browser, service, signed_in
from test_dataset_routes import TABLE, uploaded
from test_release_routes import released

from policy_engine.errors import ServiceError
from policy_engine.release.budget import BudgetLedger
from policy_engine.service.backing_up import back_up
from policy_engine.service.files.keys import key_file
from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.roles import Role
from policy_engine.service.services import Services
from policy_engine.service.settings import ServiceSettings

AUDITOR = Actor(id="auditor", name="Aud", roles=(Role.AUDITOR,))


def restored(archive, folder):
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return Services.open(ServiceSettings(folder=folder))


def test_a_service_goes_on_from_a_backup_in_an_empty_folder(tmp_path):
    (tmp_path / "first").mkdir()
    with service(tmp_path / "first") as services:
        owner = signed_in(services, "owner", "steward", name="Owner")
        release = released(services, owner, tmp_path)
        dataset = uploaded(owner, TABLE).json()
        reader = signed_in(services, "consumer", party="http://example.com/people/ada")
        reader.post(f"{API}/decisions", json={"target": ["http://example.com/Visit"]})
        ledger = BudgetLedger(services.budgets.path, key_file(tmp_path / "first", "budgets"))
        services.budgets.path.parent.mkdir()
        ledger.list_uncovered(["http://example.com/Visit"], "http://example.com/Out")
        head = services.decisions.verify(AUDITOR).head
        back_up(tmp_path / "first", tmp_path / "backup.tar")
    again = restored(tmp_path / "backup.tar", tmp_path / "second")
    client = browser(again)
    client.cookies, client.headers = owner.cookies, owner.headers
    assert client.get(f"{API}/me").json()["name"] == "Owner"
    assert client.post(f"{API}/releases/{release}:verify").json()["holds"]
    path = again.datasets.path(dataset["id"])
    assert path.read_bytes() == TABLE
    log = again.decisions.verify(AUDITOR)
    assert (log.intact, log.head) == (True, head)
    assert again.budgets.verify(AUDITOR).intact
    question = {"target": [dataset["iri"]], "assignee": "http://example.com/people/bob"}
    assert client.post(f"{API}/decisions", json=question).json()["effect"] == "deny"
    assert again.decisions.verify(AUDITOR).entries == log.entries + 1
    again.close()


def test_a_backup_while_changes_are_made_is_of_one_moment(tmp_path):
    (tmp_path / "first").mkdir()
    with service(tmp_path / "first") as services:
        client = signed_in(services, "owner")

        def change(number):
            return client.post(f"{API}/policies", json={"name": str(number), "text": "{}"})

        with ThreadPoolExecutor(2) as threads:
            changes = [threads.submit(change, number) for number in range(30)]
            back_up(tmp_path / "first", tmp_path / "backup.tar")
            assert all(one.result().status_code == 201 for one in changes)
    again = restored(tmp_path / "backup.tar", tmp_path / "second")
    again.close()
    with sqlite3.connect(tmp_path / "second" / "service.db") as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        [[policies]] = database.execute("SELECT count(*) FROM policies")
        [[versions]] = database.execute("SELECT count(*) FROM policy_versions")
    database.close()
    assert policies == versions


def test_a_backup_is_for_its_owner_alone_and_replaces_nothing(services, tmp_path):
    signed_in(services, "owner")
    key_file(tmp_path, "decisions")
    archive = tmp_path / "backup.tar"
    back_up(tmp_path, archive)
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600
    content = archive.read_bytes()
    with pytest.raises(ServiceError, match="N013"):
        back_up(tmp_path, archive)
    assert archive.read_bytes() == content
    with pytest.raises(ServiceError, match="N013"):
        back_up(tmp_path, tmp_path / "nowhere" / "backup.tar")
    with pytest.raises(ServiceError, match="is not the folder of a service"):
        back_up(tmp_path / "nothing", tmp_path / "other.tar")
    assert not (tmp_path / "other.tar").exists()
