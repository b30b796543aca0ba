import subprocess
import sys
from contextlib import closing

import pytest
from sqlalchemy import select

from policy_engine.service.settings import ServiceSettings
from policy_engine.service.store.database import Database
from policy_engine.service.store.people import Person

_WRITES = """
import sys
from policy_engine.service.store.database import Database
from policy_engine.service.store.people import Person
database = Database.open(sys.argv[1])
with database.writing() as session:
    session.add(Person(id="b", name="Bob", roles=[]))
database.close()
"""


@pytest.fixture
def url(tmp_path, database_url):
    return ServiceSettings(folder=tmp_path, database=database_url).database_url


@pytest.fixture
def database(url):
    with closing(Database.open(url)) as opened:
        yield opened


def write(database, name):
    with database.writing() as session:
        session.add(Person(id=name, name=name, roles=[]))


@pytest.mark.both_databases
def test_a_version_is_the_same_until_something_is_written(database):
    version = database.version()
    with database.reading() as session:
        session.scalars(select(Person)).all()
    assert database.version() == version
    write(database, "a")
    assert database.version() != version


@pytest.mark.nightly
@pytest.mark.both_databases
def test_what_another_process_writes_makes_another_version(database, url):
    version = database.version()
    subprocess.run([sys.executable, "-c", _WRITES, url], check=True)
    assert database.version() != version


@pytest.mark.both_databases
def test_what_is_written_is_seen_by_who_asks_for_the_version_first(database):
    with database.writing() as session:
        session.add(Person(id="a", name="a", roles=[]))
        session.flush()
        before = database.version()
    after = database.version()
    assert before != after
    with database.reading() as session:
        assert session.get(Person, "a") is not None
    assert database.version() == after


def test_a_database_that_does_not_answer_has_no_version(database, monkeypatch):
    version = database.version()
    database._versions.close()

    def away():
        raise database.engine.dialect.loaded_dbapi.OperationalError("it is away")

    with monkeypatch.context() as patched:
        patched.setattr(database.engine, "raw_connection", away)
        assert database.version() != database.version()
    assert database.version() not in (version, None)
    assert database.version() == database.version()
