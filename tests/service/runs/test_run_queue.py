import threading
from datetime import timedelta

import pytest
from cheap_kinds import KINDS
from followed import cheap, row, rows, steward
from served import service

from policy_engine.errors import ServiceError
from policy_engine.service.runs import queue as queue_module
from policy_engine.service.runs.queue import LostRunError, RunQueue
from policy_engine.service.runs.states import RunState
from policy_engine.service.store.base import now

ARTEFACT = {"name": "a.txt", "digest": "0" * 64, "size": 1, "media_type": "text/plain"}


@pytest.fixture
def asked(services):
    """Return who asks for runs, and the runs."""
    return steward(services), cheap(services)


@pytest.fixture
def line(services):
    return RunQueue(services.database, "here.1")


def new_run(asked):
    actor, runs = asked
    return runs.create(actor, "wait", {}).id


@pytest.mark.both_databases
def test_runs_are_taken_in_their_order_and_each_once(asked, line):
    made = [new_run(asked) for _ in range(3)]
    assert [line.claim().run_id for _ in made] == made
    assert line.claim() is None


@pytest.mark.one_in(2)
@pytest.mark.both_databases
def test_many_supervisors_never_take_the_same_run(asked, services):
    made = {new_run(asked) for _ in range(20)}
    taken = []

    def take(name):
        own = RunQueue(services.database, f"{name}.1")
        while holding := own.claim():
            taken.append(holding.run_id)

    threads = [threading.Thread(target=take, args=(str(i),)) for i in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(taken) == sorted(made)


@pytest.mark.both_databases
def test_a_result_is_written_down_once(asked, line, services):
    actor, runs = asked
    run_id = new_run(asked)
    holding = line.claim()
    line.succeed(holding, [ARTEFACT], {"rows": 1})
    with pytest.raises(LostRunError):
        line.succeed(holding, [ARTEFACT], {"rows": 2})
    assert row(services, run_id).result == {"rows": 1}
    assert [one.name for one in runs.artefacts(actor, run_id)] == ["a.txt"]


WRITES = [
    lambda line, holding: line.succeed(holding, [ARTEFACT], {}),
    lambda line, holding: line.fail(holding, []),
    lambda line, holding: line.release(holding, "it ended"),
    lambda line, holding: line.note_progress(holding, "reading", 1, 2),
    lambda line, holding: line.note_process(holding, 1, 1),
    lambda line, holding: line.note_remark(holding, "odd"),
]


@pytest.mark.parametrize("write", WRITES)
def test_who_no_longer_has_a_run_writes_nothing(asked, line, services, write):
    run_id = new_run(asked)
    old = line.claim()
    line.release(old, "its supervisor was ended")
    later = RunQueue(services.database, "there.1").claim()
    before = row(services, run_id)
    with pytest.raises(LostRunError):
        write(line, old)
    after = row(services, run_id)
    assert (after.token, after.revision, after.state) == (later.token, before.revision, "running")


@pytest.mark.parametrize("retries", [0, 2])
def test_a_run_is_tried_so_often_and_no_oftener(asked, line, services, retries):
    actor, runs = asked
    run_id = new_run(asked)
    for _ in range(retries + 1):
        attempts = 0
        while holding := line.claim():
            attempts += 1
            state = line.release(holding, "it ended")
        assert (attempts, state) == (3, RunState.FAILED)
        assert row(services, run_id).problems[0]["code"] == "N020"
        runs.retry(actor, run_id)
    assert row(services, run_id).attempt == 3 * (retries + 1)


def test_a_run_beyond_its_attempts_is_never_taken(asked, line, services):
    run_id = new_run(asked)
    with services.database.writing() as session:
        session.get(queue_module.StoredRun, run_id).attempt = 3
    assert line.claim() is None


def test_an_attempt_that_was_stopped_from_outside_does_not_count(asked, line, services):
    run_id = new_run(asked)
    for _ in range(5):
        assert line.release(line.claim(), "stopped", counts=False) is RunState.QUEUED
    assert row(services, run_id).attempt == 0


@pytest.mark.both_databases
def test_what_waits_is_cancelled_at_once_and_what_runs_once_it_has_ended(asked, line, services):
    actor, runs = asked
    waiting, running = new_run(asked), new_run(asked)
    assert line.claim().run_id == waiting
    assert runs.cancel(actor, running).state is RunState.CANCELLED
    assert runs.cancel(actor, waiting).state is RunState.CANCELLING
    assert runs.cancel(actor, waiting).state is RunState.CANCELLING
    [other] = RunQueue(services.database, "there.1").others([])
    assert line.release(other, "it ended") is RunState.CANCELLED
    with pytest.raises(ServiceError, match="N004"):
        runs.cancel(actor, waiting)


def test_a_run_that_is_cancelled_does_not_succeed_any_more(asked, line):
    actor, runs = asked
    run_id = new_run(asked)
    holding = line.claim()
    runs.cancel(actor, run_id)
    with pytest.raises(LostRunError):
        line.succeed(holding, [ARTEFACT], {})
    assert line.release(holding, "it was cancelled") is RunState.CANCELLED
    assert runs.artefacts(actor, run_id) == []


@pytest.mark.parametrize("jump", [timedelta(days=400), timedelta(days=-400)])
def test_clocks_that_jump_lose_no_run_and_take_none_away(asked, line, services, jump, monkeypatch):
    first = new_run(asked)
    holding = line.claim()
    monkeypatch.setattr(queue_module, "now", lambda: now() + jump)
    second = new_run(asked)
    line.beat([holding])
    assert RunQueue(services.database, "there.1").claim().run_id == second
    line.succeed(holding, [], {})
    assert {one.id: one.state for one in rows(services)} == {first: "succeeded", second: "running"}


@pytest.mark.both_databases
def test_a_beat_shows_that_a_supervisor_lives(asked, line, services):
    new_run(asked)
    other = RunQueue(services.database, "there.1")
    holding = line.claim()
    [before] = other.others([])
    line.beat([holding])
    [after] = other.others([])
    assert after.beat == before.beat + 1
    assert line.others([holding]) == []


@pytest.mark.both_databases
def test_progress_is_an_event_and_is_forgotten_at_the_end(asked, line):
    actor, runs = asked
    run_id = new_run(asked)
    holding = line.claim()
    for done in range(3):
        line.note_progress(holding, "reading", done, 3)
    view = runs.read(actor, run_id)
    assert (view.stage, view.done, view.total) == ("reading", 2, 3)
    line.fail(holding, [])
    words = [one.split(" ", 1)[1] for one in runs.log(actor, run_id).splitlines()]
    assert words == ["queued", "attempt 1 began", "reading", "failed"]


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_two_services_that_race_for_one_queue_take_each_run_once(
    asked, services, database_url, tmp_path
):
    made = {new_run(asked) for _ in range(30)}
    taken, ready = [], threading.Barrier(4)

    def take(database, name):
        own = RunQueue(database, name)
        ready.wait()
        while holding := own.claim():
            taken.append((holding.run_id, name))
            own.succeed(holding, [], {})

    with service(tmp_path / "other", database=database_url) as other:
        places = [(services.database, "here"), (other.database, "there")]
        threads = [
            threading.Thread(target=take, args=(database, f"{name}.{i}"))
            for i in range(2)
            for database, name in places
        ]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    assert sorted(run_id for run_id, _ in taken) == sorted(made)
    assert len({name for _, name in taken}) > 1
    assert {one.state for one in rows(services)} == {"succeeded"}


def test_kinds_for_tests_are_not_shipped(services):
    assert not set(KINDS) & set(services.runs.kinds)
