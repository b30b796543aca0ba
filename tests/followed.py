"""Runs that are carried out by processes, and waited for."""

import asyncio
import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from cheap_kinds import KINDS
from served import person
from sqlalchemy import select

from policy_engine.service.identity.actors import Actor
from policy_engine.service.identity.roles import Role
from policy_engine.service.runs.keeping import SupervisorKeeper
from policy_engine.service.runs.processes import MARK
from policy_engine.service.runs.states import ENDED
from policy_engine.service.store.runs import StoredRun

HERE = Path(__file__).parent
PROGRAM = (sys.executable, "-P", str(HERE / "cheap_kinds.py"))
PLACES = f"{HERE}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
"""Where a supervisor and its runs find cheap kinds."""


def apart(coroutine):
    """Return what a coroutine returns, run in a thread of its own: that of the tests may have a
    loop already, as it has where a browser is driven."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


def cheap(services):
    """Return the runs of a service, of cheap kinds."""
    return replace(services.runs, kinds=KINDS)


def steward(services):
    """Return somebody who may start runs."""
    return Actor(id=person(services, "steward"), name="Sue", roles=(Role.STEWARD,))


@contextmanager
def supervised(services):
    """Have a supervisor carry out runs of cheap kinds."""
    os.environ["PYTHONPATH"], before = PLACES, os.environ.get("PYTHONPATH", "")
    keeper = SupervisorKeeper(services.settings, PROGRAM)
    keeper.start()
    try:
        yield keeper
    finally:
        keeper.close()
        os.environ["PYTHONPATH"] = before


def row(services, run_id):
    """Return a run as the database has it."""
    with services.database.reading() as session:
        return session.get(StoredRun, run_id)


def rows(services):
    """Return all runs as the database has them."""
    with services.database.reading() as session:
        return session.scalars(select(StoredRun).order_by(StoredRun.created)).all()


def until(condition, seconds=60.0):
    """Return what a condition is, once it is something; a busy machine is given its time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    message = "It did not come to that in time."
    raise AssertionError(message)


def ended(services, run_id, seconds=60.0):
    """Return a run once it has ended."""

    def look():
        run = row(services, run_id)
        return run if run.state in ENDED else None

    return until(look, seconds)


def at_work(services, run_id):
    """Return a run once its process tells how far it is."""

    def look():
        run = row(services, run_id)
        return run if run.stage and run.pid else None

    return until(look)


def processes_of(run_id):
    """Return the processes that are of a run, by what they were started with."""
    mark = f"{MARK}={run_id}.".encode()
    numbers = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            numbers += [int(folder.name)] * (mark in (folder / "environ").read_bytes())
    return numbers


def kill_some(services, run_ids, count, draw, seconds=120.0):
    """Kill so many processes of runs, each at a random moment; return how many there were."""
    killed, end = 0, time.monotonic() + seconds
    while killed < count and time.monotonic() < end:
        runs = [row(services, one) for one in run_ids]
        numbers = [one.pid for one in runs if one.pid]
        if all(one.finished for one in runs):
            break
        time.sleep(draw.random() * 0.3)
        if numbers:
            with suppress(ProcessLookupError):
                os.kill(draw.choice(numbers), signal.SIGKILL)
                killed += 1
    return killed
