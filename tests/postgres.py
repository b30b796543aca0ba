"""A PostgreSQL of the system, started for tests in a folder of its own, without a network."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

MISSING = (
    "no PostgreSQL here: on Debian, apt install postgresql; or set POSTGRES_BIN to the folder of "
    "initdb and postgres"
)
TOMORROW = "of_tomorrow"
"""The version of a database that a test has made a newer one."""
_HASTY = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200")


def folder_of_programs():
    """Return where `initdb` and `postgres` are, the newest of them; None where they are not."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda one: int(one.parts[-2]))
    on_path = shutil.which("initdb")
    given = os.environ.get("POSTGRES_BIN")
    found = [Path(given)] if given else [*debian[::-1]]
    found += [Path(on_path).resolve().parent] if on_path else []
    return next((one for one in found if (one / "initdb").exists()), None)


class PostgresServer:
    """A server that runs, and databases of it, which are emptied and lent again: to make another
    takes a second, and to remove its files one more."""

    def __init__(self, folder):
        self._folder, self._count, self._free = folder, 0, []

    def url(self, name):
        """Return the URL of a database."""
        return f"postgresql://postgres@/{name}?host={self._folder}"

    def run(self, statement, name="postgres"):
        """Carry out statements one by one, in a database that always is or in another."""
        with psycopg.connect(self.url(name), autocommit=True) as connection:
            return connection.execute(statement)

    @contextmanager
    def database(self, prepare):
        """Return the URL of a database whose tables are empty, as `prepare` has made them."""
        name = self._free.pop() if self._free else self._new(prepare)
        yield self.url(name)
        if self._is_emptied(name):
            self._free.append(name)

    def _new(self, prepare):
        self._count += 1
        name = f"test_{self._count}"
        self.run(f"CREATE DATABASE {name}")
        prepare(self.url(name))
        return name

    def _is_emptied(self, name):
        """Empty all tables but that of the version; tell whether that is still the one it was."""
        with psycopg.connect(self.url(name), autocommit=True) as connection:
            [[version]] = connection.execute("SELECT version_num FROM alembic_version")
            tables = connection.execute(
                "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
                " AND tablename != 'alembic_version'"
            ).fetchall()
            names = ", ".join(one for (one,) in tables)
            connection.execute(f"TRUNCATE {names} RESTART IDENTITY")
        return version != TOMORROW


@contextmanager
def postgres_server():
    """Return a server in a folder that is removed at the end; the test is skipped without one."""
    programs = folder_of_programs()
    if programs is None:
        pytest.skip(MISSING)
    folder = Path(tempfile.mkdtemp(prefix="pe-pg-"))  # short: a socket's path has 107 bytes
    who = _own_user()
    if who:
        os.chown(folder, who["user"], who["group"])
    data = folder / "data"
    made = [programs / "initdb", "-D", data, "-A", "trust", "-U", "postgres", "--no-sync"]
    subprocess.run(
        [*made, "--encoding=UTF8", "--locale=C"], check=True, capture_output=True, cwd=folder, **who
    )
    options = [part for one in _HASTY for part in ("-c", one)]
    command = [programs / "postgres", "-D", data, "-k", folder, "-c", "listen_addresses="]
    try:
        with subprocess.Popen(
            [*command, *options], stderr=subprocess.DEVNULL, cwd=folder, **who
        ) as process:
            server = PostgresServer(folder)
            _wait_for(server)
            yield server
            process.send_signal(signal.SIGQUIT)  # at once: nothing of it is kept
    finally:
        shutil.rmtree(folder)


def _own_user():
    """Return whom to run it as: root may not, so that it lends itself somebody else."""
    if os.getuid():
        return {}
    known = {one.pw_name: one for one in pwd.getpwall()}
    someone = known.get("postgres") or known["nobody"]
    return {"user": someone.pw_uid, "group": someone.pw_gid, "extra_groups": ()}


def _wait_for(server, seconds=30.0):
    end = time.monotonic() + seconds
    while True:
        try:
            return server.run("SELECT 1")
        except psycopg.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
