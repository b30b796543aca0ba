"""Faults of the service, on purpose: what becomes of runs when their processes are killed at random
moments, or the supervisor, or the service; when the database is locked, and the disk full.

    python benchmarks/service_faults.py [--quick] [--database postgresql://USER@HOST/NAME]

Every line says how many runs came to which end, how many results there are, and how long it took
from the last fault to the last end. A run that is lost does not end; one done twice would have two
results. The disk is a small one in memory, which only root can mount; others leave it out.
"""

import argparse
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests")]

from followed import (  # noqa: E402
    PLACES,
    PROGRAM,
    cheap,
    ended,
    kill_some,
    processes_of,
    row,
    steward,
    supervised,
    until,
)
from served import service  # noqa: E402

LEASE = 5.0
SERVICE = """
import sys, time
from policy_engine.service.runs.keeping import SupervisorKeeper
from policy_engine.service.settings import ServiceSettings
SupervisorKeeper(ServiceSettings.model_validate_json(sys.argv[1]), sys.argv[2:]).start()
time.sleep(3600)
"""


@contextmanager
def world(database, **settings):
    with (
        tempfile.TemporaryDirectory() as folder,
        service(Path(folder), database=database, lease=LEASE, **settings) as services,
    ):
        yield services, steward(services), cheap(services)


def start(actor, runs, count, kind="wait", **settings):
    return [runs.create(actor, kind, settings).id for _ in range(count)]


def report(name, services, run_ids, faults, began):
    """Print what became of runs, and check what has to hold of all of them."""
    rows = [ended(services, one, 600) for one in run_ids]
    taken = time.monotonic() - began
    states = Counter(one.state for one in rows)
    results = [one.name for one in (services.settings.folder / "releases").glob("[!.]*")]
    shown = Counter(results)
    print(
        f"{name:28} faults {faults:4}  runs {len(rows):3}  "
        f"{', '.join(f'{state} {count}' for state, count in sorted(states.items()))}  "
        f"attempts {sum(one.attempt for one in rows)}  results {len(results)}  {taken:.1f} s",
        flush=True,
    )
    assert all(shown[one.id] == (one.state == "succeeded") for one in rows)
    assert not any(processes_of(one) for one in run_ids)


def kill_runs(database, kills, draw):
    with world(database, runs_at_once=4, run_attempts=1_000) as (services, actor, runs):
        made = start(actor, runs, max(4, kills // 4), seconds=1.0)
        with supervised(services):
            faults = kill_some(services, made, kills, draw, 3600)
            report("processes of runs", services, made, faults, time.monotonic())


def kill_supervisors(database, kills, draw):
    with world(database, runs_at_once=4, run_attempts=1_000) as (services, actor, runs):
        made = start(actor, runs, 8, seconds=2.0)
        with supervised(services) as keeper:
            for _ in range(kills):
                until(lambda: any(row(services, one).pid for one in made) or None, 60)
                time.sleep(draw.random())
                keeper.process.kill()
                keeper.process.wait()
            report("supervisor", services, made, kills, time.monotonic())


def kill_services(database, kills, draw):
    with world(database, runs_at_once=4) as (services, actor, runs):
        made = start(actor, runs, 8, seconds=2.0)
        command = [sys.executable, "-c", SERVICE, services.settings.model_dump_json(), *PROGRAM]
        environment = {**os.environ, "PYTHONPATH": PLACES}
        for _ in range(kills):
            process = subprocess.Popen(command, env=environment)
            time.sleep(1 + 3 * draw.random())
            process.kill()
            process.wait()
        began = time.monotonic()
        with supervised(services):
            report("service", services, made, kills, began)


def stop_supervisors(database, stops, draw):
    """A supervisor that stands still for longer than its lease goes on as if nothing had been."""
    with world(database, runs_at_once=4) as (services, actor, runs):
        made = start(actor, runs, 4, seconds=2.0)
        with supervised(services) as keeper:
            for _ in range(stops):
                until(lambda: any(row(services, one).pid for one in made) or None, 60)
                keeper.process.send_signal(signal.SIGSTOP)
                time.sleep(LEASE + draw.random())
                keeper.process.send_signal(signal.SIGCONT)
            report("supervisor stands still", services, made, stops, time.monotonic())


def lock_database(seconds):
    with world("", runs_at_once=4) as (services, actor, runs):
        made = start(actor, runs, 4, seconds=2.0)
        with supervised(services):
            until(lambda: any(row(services, one).pid for one in made) or None, 60)
            file = sqlite3.connect(services.settings.folder / "service.db", isolation_level=None)
            file.execute("BEGIN IMMEDIATE")
            time.sleep(seconds)
            file.execute("ROLLBACK")
            file.close()
            report(f"database locked for {seconds} s", services, made, 1, time.monotonic())


def fill_disk():
    with tempfile.TemporaryDirectory() as folder:
        mount = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", folder]
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            print("disk full: not run, for nothing can be mounted here")
            return
        try:
            with service(Path(folder), runs_at_once=1, lease=LEASE) as services:
                actor, runs = steward(services), cheap(services)
                made = start(actor, runs, 2, "fill", megabytes=100) + start(
                    actor, runs, 2, seconds=0.2
                )
                with supervised(services):
                    report("disk full", services, made, 2, time.monotonic())
        finally:
            subprocess.run(["umount", "--lazy", folder], check=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--database", default="", help="of PostgreSQL, in place of SQLite")
    parser.add_argument("--disks", action="store_true", help="what disks do, alone")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    draw, share = random.Random(given.seed), 10 if given.quick else 1
    if given.disks:
        fill_disk()
        return
    kill_runs(given.database, 100 // share, draw)
    kill_supervisors(given.database, 20 // share, draw)
    kill_services(given.database, 20 // share, draw)
    stop_supervisors(given.database, 1, draw)
    if not given.database:
        lock_database(10 // min(share, 5))
        fill_disk()


if __name__ == "__main__":
    main()
