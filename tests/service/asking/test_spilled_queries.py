"""What a large query wrote to the disk for a while, when everything is killed meanwhile."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager, suppress
from threading import Thread

import pytest
from served import API, service, signed_in

DATA = "http://example.com/Big"
READER = "http://example.com/people/ada"
LARGE = (
    "SELECT x.id, y.id AS other FROM Big AS x JOIN Big AS y ON x.town = y.town "
    "ORDER BY y.id, x.id LIMIT 3000000"
)
POLICY = {
    "@context": ["http://www.w3.org/ns/odrl.jsonld"],
    "@type": "Set",
    "uid": "http://example.com/policy/big",
    "permission": [{"assignee": READER, "target": DATA, "action": "read"}],
}
SPILLED = 8 * 2**20
"""Bytes that are spilled before everything is killed."""


@pytest.fixture
def key(tmp_path):
    """Return the key of who may read a table whose join with itself does not fit into memory."""
    table = "id,town\n" + "".join(f"{one},{one % 20}\n" for one in range(20_000))
    with service(tmp_path) as services:
        owner = signed_in(services, "owner", name="Olga")
        dataset = owner.post(f"{API}/datasets", json={"name": "big", "iri": DATA}).json()
        address = f"{API}/datasets/{dataset['id']}/uploads"
        upload = owner.post(address, json={"name": "big.csv", "size": len(table)}).json()
        headers = {"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
        address = f"{API}/uploads/{upload['id']}"
        owner.patch(address, content=table, headers=headers)
        assert owner.post(f"{address}:complete", json={}).status_code == 200
        made = owner.post(f"{API}/policies", json={"name": "big", "text": json.dumps(POLICY)})
        address = f"{API}/policies/{made.json()['id']}:publish"
        assert owner.post(address, headers={"If-Match": made.headers["etag"]}).status_code == 200
        reader = signed_in(services, "consumer", name="Ada", party=READER)
        return reader.post(f"{API}/keys", json={"name": "all", "roles": ["consumer"]}).json()["key"]


@contextmanager
def running(folder):
    """Return the address of a service whose queries have little memory, and its process."""
    command = [sys.executable, "-m", "policy_engine", "serve", "--port", "0", "--runs", "0"]
    command += ["--query-memory", "0.5", "--folder", folder]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        yield process.stdout.readline().split()[0], process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def ask(address, key):
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    call = urllib.request.Request(
        f"{address.rstrip('/')}{API}/queries", json.dumps({"sql": LARGE}).encode(), headers
    )
    with suppress(OSError, EOFError):
        urllib.request.urlopen(call).close()


def spilled(folder):
    """Return the files that queries have spilled."""
    return [one for one in (folder / "spilled").rglob("*") if one.is_file()]


def size_of(files):
    total = 0
    for one in files:
        with suppress(FileNotFoundError):
            total += one.stat().st_size
    return total


def until(condition):
    for _ in range(600):
        if condition():
            return True
        time.sleep(0.05)
    return False


@pytest.fixture(params=["the service", "all of it"])
def killed(request, tmp_path, key):
    """Kill the service, alone or with the process that answers, while much is spilled."""
    with running(tmp_path) as (address, process):
        thread = Thread(target=ask, args=(address, key))
        thread.start()
        assert until(lambda: size_of(spilled(tmp_path)) > SPILLED)
        private = {stat.S_IMODE(one.stat().st_mode) for one in (tmp_path / "spilled").iterdir()}
        kill = os.kill if request.param == "the service" else os.killpg
        kill(process.pid, signal.SIGKILL)
        process.wait()
        thread.join()
        assert private == {0o700}
        yield request.param


@pytest.mark.nightly
def test_a_kill_within_a_large_spill_leaves_nothing_to_read(tmp_path, killed):
    if killed == "the service":  # the process that answers ends by itself, and takes it along
        assert until(lambda: not spilled(tmp_path) and not [*(tmp_path / "reading").glob("*")])
    else:
        assert spilled(tmp_path)
    with running(tmp_path):
        assert spilled(tmp_path) == []
        assert [*(tmp_path / "reading").glob("*")] == []
