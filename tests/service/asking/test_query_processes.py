import threading
import time

import pytest

from policy_engine.decision.query.query_limits import QueryStop
from policy_engine.errors import QueryError, ServiceError
from policy_engine.service.asking import query_processes
from policy_engine.service.asking.asked import Told
from policy_engine.service.asking.query_processes import QueryProcesses
from policy_engine.service.identity.actors import Actor
from policy_engine.service.metrics.call_meter import EventTally
from policy_engine.service.settings import ServiceSettings

ADA = Actor(id="ada", name="Ada", roles=())


class SmallProcess:
    """What stands for a process: it answers what is asked, or fails."""

    launched = 0

    def __init__(self):
        self.is_there = True
        self.process = type("Known", (), {"pid": 7})
        type(self).launched += 1

    def ask(self, asked, seconds, _, *, is_patient):
        if "fail" in asked.question:
            raise QueryError.of("Q011", "It takes too long.")
        return Told(answer=[asked.number, seconds, is_patient], effects=[["permit"]])

    def end(self):
        self.is_there = False


@pytest.fixture
def processes(tmp_path, monkeypatch):
    monkeypatch.setattr(query_processes, "_BEAT", 0.01)
    monkeypatch.setattr(SmallProcess, "launched", 0)
    monkeypatch.setattr(QueryProcesses, "_launch", lambda _: SmallProcess())
    processes = QueryProcesses(ServiceSettings(folder=tmp_path, query_seconds=3), 1, 2**30)
    yield processes
    processes.close()


def ask(processes, question=None, tally=None, stop=None, **how):
    asked = ADA, question or {}, stop or QueryStop(), tally or EventTally()
    return processes.ask("query", *asked, **how)


def test_a_process_is_kept_and_what_it_logs_is_counted(processes):
    tally = EventTally()
    assert ask(processes, tally=tally) == [1, 3, False]
    assert ask(processes, tally=tally, is_charged=True) == [2, 30, True]
    assert SmallProcess.launched == 1
    assert tally.totals() == {("permit",): 2}


def test_a_process_that_failed_is_not_asked_again_and_what_it_read_is_let_go(processes, tmp_path):
    (tmp_path / "reading" / "7-ab").mkdir(parents=True)
    with pytest.raises(QueryError, match="Q011"):
        ask(processes, {"fail": True})
    assert [*(tmp_path / "reading").iterdir()] == []
    assert ask(processes)[0] == 2
    assert SmallProcess.launched == 2


def test_who_waits_too_long_for_a_turn_or_leaves_is_not_answered(processes):
    processes.settings = processes.settings.model_copy(update={"query_seconds": 0.05})
    processes._turns.acquire()
    with pytest.raises(ServiceError, match="N013"):
        ask(processes)
    stop = QueryStop()
    threading.Timer(0.03, stop.stop).start()
    with pytest.raises(QueryError, match="Q012"):
        ask(processes, stop=stop, is_charged=True)


def test_for_who_has_left_no_process_is_started(processes):
    stop = QueryStop()
    stop.stop()
    with pytest.raises(QueryError, match="Q012"):
        ask(processes, stop=stop)
    assert SmallProcess.launched == 0


@pytest.mark.parametrize(
    ("memory", "workers", "cpus", "most", "each"),
    [
        (8 * 2**30, 1, 16, 4, 2 * 2**30),
        (8 * 2**30, 1, 2, 2, 4 * 2**30),
        (8 * 2**30, 4, 16, 1, 2 * 2**30),
        (2**29, 1, 16, 1, 2**29),
    ],
)
def test_all_queries_at_once_have_the_memory_that_was_said(
    tmp_path, monkeypatch, memory, workers, cpus, most, each
):
    monkeypatch.setattr(query_processes.os, "cpu_count", lambda: cpus)
    settings = ServiceSettings(folder=tmp_path, query_memory=memory, workers=workers)
    processes = QueryProcesses.of(settings)
    assert (processes.most, processes.memory) == (most, each)


def test_a_process_that_was_prepared_is_asked_and_ends_with_the_service(processes):
    processes.prepare()
    ask(processes)
    assert SmallProcess.launched == 1
    [(_, kept)] = processes._idle
    processes.close()
    assert not kept.is_there


def test_a_process_that_ended_idle_is_replaced_and_what_it_read_is_let_go(processes, tmp_path):
    ask(processes)
    [(_, ended)] = processes._idle
    ended.is_there = False
    (tmp_path / "reading" / "7-ab").mkdir(parents=True)
    assert ask(processes)[0] == 2
    assert SmallProcess.launched == 2
    assert [*(tmp_path / "reading").iterdir()] == []


def test_a_process_that_nobody_asks_for_long_is_ended_and_another_is_started(processes):
    processes.kept_seconds = 0.05
    ask(processes)
    [(_, idle)] = processes._idle
    while processes._idle:
        time.sleep(0.01)
    while idle.is_there:
        time.sleep(0.01)
    assert ask(processes)[0] == 2
    assert SmallProcess.launched == 2


def test_what_was_asked_meanwhile_is_kept_when_the_others_end(processes):
    early, late = SmallProcess(), SmallProcess()
    moment = time.monotonic()
    processes._idle = [(moment - processes.kept_seconds, early), (moment, late)]
    processes._end_idle()
    assert [one for _, one in processes._idle] == [late]
    assert (early.is_there, late.is_there) == (False, True)
    assert processes._timer.interval == pytest.approx(processes.kept_seconds, abs=5)
    processes.close()
    assert not late.is_there
