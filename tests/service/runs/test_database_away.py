"""What a process told is not lost while nothing can be written down."""

import pytest
from followed import cheap, row, steward
from sqlalchemy.exc import OperationalError

from policy_engine.service.runs.folders import RunFolders
from policy_engine.service.runs.jobs import PROBLEMS, REMARK
from policy_engine.service.runs.limits import RunLimits
from policy_engine.service.runs.preparing import Preparation
from policy_engine.service.runs.queue import RunQueue
from policy_engine.service.runs.supervising import RunAttempt, Supervisor


class EndedProcess:
    """A process that has ended, after it told something."""

    has_ended, how_it_ended, began = True, "it ended", 1e18

    def __init__(self, *told):
        self.told = list(told)

    def answers(self):
        told, self.told = self.told, []
        return told

    def finish(self):
        """There is nothing left of it."""


def fail(*_):
    raise OperationalError("UPDATE", {}, Exception("database or disk is full"))


def test_an_answer_is_written_down_when_the_database_is_back(services, monkeypatch):
    actor, runs = steward(services), cheap(services)
    run_id = runs.create(actor, "refuse", {}).id
    queue = RunQueue(services.database, "here.1")
    holding = queue.claim()
    folders = RunFolders(services.settings.folder)
    folder = folders.attempt(run_id, holding.token)
    folder.mkdir(parents=True)
    limits = RunLimits(memory=1, file=1, seconds=60)
    preparation = Preparation(services.database, folders, fail, limits, "cheap_kinds")
    problem = {"code": "R002", "message": "Too few rows."}
    process = EndedProcess((REMARK, "no network"), (PROBLEMS, [problem]))
    # What it was to do is asked of a run that has a result alone.
    supervisor = Supervisor(queue, preparation, 1, 30, [RunAttempt(holding, process, job=None)])
    with monkeypatch.context() as patch:
        patch.setattr(RunQueue, "note_remark", fail)
        for _ in range(2):
            with pytest.raises(OperationalError):
                supervisor.tick()
    assert not folder.exists()  # which makes room on a disk that is full
    assert row(services, run_id).state == "running"
    supervisor.tick()
    run = row(services, run_id)
    assert (run.state, run.problems, run.attempt) == ("failed", [problem], 1)
    assert "no network" in runs.log(actor, run_id)
