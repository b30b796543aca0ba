import gc
import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import uvicorn
from followed import until
from served import API, service
from sqlalchemy import func, select

from policy_engine.decision.log import verify_log
from policy_engine.service.identity.secrets import digest_of, new_key
from policy_engine.service.store.base import now
from policy_engine.service.store.people import ApiKey, Person, SignIn
from policy_engine.service.workers.answering import CallServer

ADA = "http://example.com/people/ada"
COUNTED = 'policy_engine_decisions_total{effect="deny"} 40'


@contextmanager
def running(folder, database, *options):
    """Return the address of a service of two processes, its link, and its process."""
    command = [sys.executable, "-m", "policy_engine", "serve", "--port", "0", "--workers", "2"]
    command += ["--runs", "0", "--folder", folder]
    command += ["--database", database] if database else []
    process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)
    try:
        words = process.stdout.readline().split()
        yield words[0].rstrip("/"), words[-1], process
    finally:
        process.terminate()
        process.communicate(timeout=30)


def answers_calls(number):
    """Tell whether a process is one of those that answer calls."""
    with suppress(OSError):
        return b"policy_engine.service.workers" in Path(f"/proc/{number}/cmdline").read_bytes()
    return False


def workers_of(process):
    """Return the other processes that answer calls, once there is one."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    for _ in range(300):
        # A thread starts them, and so they are children of that thread.
        tasks = children.parent.parent.glob("*/children")
        children_now = {int(one) for task in tasks for one in task.read_text().split()}
        numbers = {one for one in children_now if answers_calls(one)}
        if numbers:
            return numbers
        time.sleep(0.1)
    return set()


def keyed(folder, database):
    """Return a key of a consumer, made beside the service."""
    prefix, key = new_key()
    with service(folder, database=database) as services, services.database.writing() as session:
        ada = Person(name="Ada", roles=["consumer", "auditor"], party=ADA)
        session.add(ada)
        session.flush()
        expires = now().replace(year=now().year + 1)
        row = {"person_id": ada.id, "name": "all", "roles": ada.roles, "expires": expires}
        session.add(ApiKey(**row, prefix=prefix, digest=digest_of(key)))
    return {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}


def ask(address, path, headers, body=None):
    sent = None if body is None else json.dumps(body).encode()
    call = urllib.request.Request(f"{address}{path}", sent, headers)
    with urllib.request.urlopen(call) as answer:
        return answer.read().decode()


@pytest.mark.one_in(2)
@pytest.mark.both_databases
def test_several_processes_log_decisions_in_one_chain_and_count_together(tmp_path, database_url):
    with running(tmp_path, database_url) as (address, _, process):
        workers = workers_of(process)
        headers = keyed(tmp_path, database_url)
        body = {"target": ["http://example.com/Visit"]}
        with ThreadPoolExecutor(8) as pool:
            asked = pool.map(lambda _: ask(address, f"{API}/decisions", headers, body), range(40))
            assert all('"deny"' in one for one in asked)
        state = verify_log(tmp_path / "decisions.sqlite", tmp_path / "keys/decisions.key")
        assert (state.intact, state.entries) == (True, 40)
        time.sleep(1.5)  # until each has written down what it counted
        assert COUNTED in ask(address, "/metrics", headers)
    assert process.returncode in (0, 143, -15)
    assert workers
    assert until(lambda: not any(Path(f"/proc/{one}").exists() for one in workers))


def test_garbage_of_calls_is_collected_before_there_is_much_of_it(tmp_path, monkeypatch):
    seen = []
    note = lambda *_: seen.append((gc.get_threshold()[0], gc.get_freeze_count()))  # noqa: E731
    monkeypatch.setattr(uvicorn.Server, "run", note)
    earlier = gc.get_threshold()
    gc.set_threshold(100_000, *earlier[1:])  # as commands do
    try:
        with service(tmp_path) as services:
            CallServer.of(services).run()
    finally:
        gc.set_threshold(*earlier)
        gc.unfreeze()
    [(young, kept)] = seen
    assert young < 5_000
    assert kept > 10_000


@pytest.fixture(scope="module")
def together(tmp_path_factory):
    """A service of two processes, in which tests go on where the last one ended."""
    folder = tmp_path_factory.mktemp("together")
    with running(folder, "") as (address, link, process):
        yield folder, address, link, process


def follow(link):
    call = urllib.request.Request(link, headers={"Accept": "application/json"})
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    try:
        with opener.open(call) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


@pytest.mark.nightly
def test_a_link_signs_in_once_whichever_process_is_asked(together):
    folder, _, link, process = together
    assert workers_of(process)
    with ThreadPoolExecutor(6) as pool:
        statuses = [*pool.map(lambda _: follow(link), range(12))]
    assert statuses.count(200) == 1
    with service(folder) as services, services.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(SignIn)) == 1


@pytest.mark.nightly
def test_a_process_that_is_killed_is_started_again(together):
    _, address, _, process = together
    first = workers_of(process)
    subprocess.run(["kill", "-9", *map(str, first)], check=True)
    assert all(follow(f"{address}/healthz") == 200 for _ in range(5))
    time.sleep(1.5)
    again = workers_of(process)
    assert again
    assert not again & first


@pytest.mark.nightly
def test_where_the_service_is_killed_its_processes_end(together):
    *_, process = together
    workers = workers_of(process)
    process.kill()
    process.wait()
    assert workers
    assert are_gone(workers)


def are_gone(processes):
    """Tell whether processes end within some seconds."""
    for _ in range(200):
        if not any(Path(f"/proc/{one}").exists() for one in processes):
            return True
        time.sleep(0.1)
    return False
