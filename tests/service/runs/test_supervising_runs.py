"""Processes that are killed, stopped and disobedient: each run comes to one end."""

import os
import random
import sqlite3
import subprocess
import sys
import time

import pytest
from followed import (
    PLACES,
    PROGRAM,
    at_work,
    cheap,
    ended,
    kill_some,
    processes_of,
    row,
    steward,
    supervised,
    until,
)
from served import service

from policy_engine.service.runs.landlock import CONFINED
from policy_engine.service.runs.processes import start_of


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Return services with a supervisor, who asks for runs, and the runs."""
    os.environ["SOME_PASSWORD"] = "secret"
    limits = {"run_file": 1_000_000, "run_memory": 2_000_000_000, "runs_at_once": 5}
    folder = tmp_path_factory.mktemp("service")
    with service(folder, lease=3, **limits) as services, supervised(services) as keeper:
        yield services, steward(services), cheap(services), keeper
    del os.environ["SOME_PASSWORD"]


@pytest.fixture(scope="module")
def first(world):
    """Return runs of the kinds that do what runs should not, by kind: they begin together."""
    secret = world[0].settings.folder / "secret.txt"
    secret.write_text("secret")
    prying = {"pry": {"path": str(secret)}, "link": {"path": str(secret)}}
    kinds = ("wait", "stubborn", "crash", "refuse", "fill", "hunger", *prying)
    return {kind: start(world, kind, **prying.get(kind, {})) for kind in kinds}


def start(world, kind, **settings):
    _, actor, runs, _ = world
    return runs.create(actor, kind, settings).id


def test_a_run_succeeds_and_leaves_what_it_shows(world, first):
    services, actor, runs, _ = world
    run_id = first["wait"]
    assert ended(services, run_id).state == "succeeded"
    [one] = runs.artefacts(actor, run_id)
    assert (one.name, one.size, one.media_type) == ("result.txt", 4, "text/plain")
    _, path = runs.artefact(actor, run_id, "result.txt")
    assert path.read_text() == "done"
    folder = services.settings.folder / "runs" / run_id
    assert [one.name for one in folder.iterdir()] == ["output.txt"]


@pytest.mark.parametrize(
    ("kind", "code", "attempts"),
    [("refuse", "R002", 1), ("fill", "N021", 1), ("hunger", "N021", 1), ("crash", "N020", 3)],
)
def test_a_run_that_cannot_succeed_fails_and_leaves_nothing(world, first, kind, code, attempts):
    services, actor, runs, _ = world
    run = ended(services, first[kind])
    assert (run.state, run.problems[0]["code"], run.attempt) == ("failed", code, attempts)
    assert runs.artefacts(actor, run.id) == []
    assert not (services.settings.folder / "results" / run.id).exists()


def test_a_run_has_no_network_no_secrets_and_no_files_of_others(world, first):
    services, actor, runs, _ = world
    result = ended(services, first["pry"]).result
    assert result["secrets"] == []
    assert result["connection"] in ("OSError", "PermissionError")
    if CONFINED in runs.log(actor, first["pry"]):
        refusals = [result[one] for one in ("reading", "listing", "writing")]
        assert refusals == ["PermissionError"] * 3


def test_a_link_is_not_a_result(world, first):
    services, actor, runs, _ = world
    run = ended(services, first["link"])
    assert runs.artefacts(actor, run.id) == []


def test_cancelling_ends_even_what_does_not_want_to_end(world, first):
    services, actor, runs, _ = world
    run_id = first["stubborn"]
    runner = at_work(services, run_id)
    assert len(processes_of(run_id)) == 2
    begun = time.monotonic()
    runs.cancel(actor, run_id)
    assert ended(services, run_id).state == "cancelled"
    assert time.monotonic() - begun < 10
    assert processes_of(run_id) == []
    assert start_of(runner.pid) is None


@pytest.mark.nightly
def test_runs_whose_processes_are_killed_succeed_once(world):
    services, actor, runs, _ = world
    made = [start(world, "wait", seconds=0.6) for _ in range(4)]
    kill_some(services, made, 6, random.Random(1))
    for run_id in made:
        run = ended(services, run_id)
        assert run.state == "succeeded" or run.problems[0]["code"] == "N020"
        assert run.attempt <= 3
        assert len(runs.artefacts(actor, run_id)) == (run.state == "succeeded")


@pytest.mark.nightly
def test_a_hundred_killed_processes_lose_no_run_and_do_none_twice(tmp_path):
    settings = {"runs_at_once": 4, "run_attempts": 1_000, "lease": 3}
    with service(tmp_path, **settings) as services, supervised(services):
        actor, runs = steward(services), cheap(services)
        made = [runs.create(actor, "wait", {"seconds": 1}).id for _ in range(20)]
        assert kill_some(services, made, 100, random.Random(1), 3600) == 100
        assert {ended(services, one, 600).state for one in made} == {"succeeded"}
        assert [len(runs.artefacts(actor, one)) for one in made] == [1] * 20


@pytest.mark.nightly
def test_a_supervisor_that_is_killed_is_followed_by_another_one(world):
    services, _, _, keeper = world
    run_id = start(world, "wait", seconds=1)
    before = at_work(services, run_id)
    keeper.process.kill()
    run = ended(services, run_id)
    assert (run.state, run.attempt) == ("succeeded", 2)
    assert start_of(before.pid) != before.pid_start


@pytest.mark.nightly
def test_a_database_that_is_locked_is_waited_for(world):
    services = world[0]
    run_id = start(world, "wait", seconds=1)
    at_work(services, run_id)
    with sqlite3.connect(services.settings.folder / "service.db", isolation_level=None) as file:
        file.execute("BEGIN IMMEDIATE")
        time.sleep(2)
        file.execute("ROLLBACK")
    file.close()
    assert ended(services, run_id).state == "succeeded"


def test_a_folder_for_results_that_cannot_be_written_is_a_failure(world):
    services = world[0]
    (services.settings.folder / "results").rename(services.settings.folder / "aside")
    (services.settings.folder / "results").touch()
    try:
        run = ended(services, start(world, "pry", path="/"))
    finally:
        (services.settings.folder / "results").unlink()
        (services.settings.folder / "aside").rename(services.settings.folder / "results")
    assert (run.state, run.problems[0]["code"]) == ("failed", "N021")


KEEPING = """
import sys, time
from policy_engine.service.runs.keeping import SupervisorKeeper
from policy_engine.service.settings import ServiceSettings
SupervisorKeeper(ServiceSettings.model_validate_json(sys.argv[1]), sys.argv[2:]).start()
time.sleep(600)
"""


@pytest.mark.nightly
def test_with_a_service_that_is_killed_its_runs_end_and_wait_for_the_next_one(tmp_path):
    with service(tmp_path) as services:
        run_id = cheap(services).create(steward(services), "wait", {"seconds": 1}).id
        given = [services.settings.model_dump_json(), *PROGRAM]
        command = [sys.executable, "-c", KEEPING, *given]
        process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": PLACES})
        at_work(services, run_id)
        process.kill()
        process.wait()
        until(lambda: row(services, run_id).state == "queued")
        assert processes_of(run_id) == []
        assert row(services, run_id).attempt == 0  # it was not its fault
