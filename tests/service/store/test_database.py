import threading

import pytest
from postgres import TOMORROW
from sqlalchemy import select, text
from sqlalchemy.exc import IntegrityError, OperationalError

from policy_engine.errors import ServiceError
from policy_engine.service.settings import ServiceSettings
from policy_engine.service.store import database as database_module
from policy_engine.service.store.database import Database
from policy_engine.service.store.people import Person


@pytest.fixture
def url(tmp_path, database_url):
    return ServiceSettings(folder=tmp_path, database=database_url).database_url


@pytest.fixture
def database(url):
    opened = Database.open(url)
    yield opened
    opened.close()


def ada(**given):
    return Person(name="Ada", roles=["owner"], **given)


@pytest.mark.both_databases
def test_what_is_written_is_there_and_what_fails_is_not(database):
    with database.writing() as session:
        session.add(ada(id="a"))
    with pytest.raises(IntegrityError), database.writing() as session:
        session.add_all([ada(id="b"), ada(id="a")])
    with database.reading() as session:
        assert session.scalars(select(Person.id)).all() == ["a"]


@pytest.mark.both_databases
def test_moments_are_in_utc(database):
    with database.writing() as session:
        session.add(ada(id="a"))
    with database.reading() as session:
        assert session.get(Person, "a").created.utcoffset().total_seconds() == 0


@pytest.mark.one_in(2)
@pytest.mark.both_databases
def test_two_who_write_at_once_wait_for_each_other(database):
    with database.writing() as session:
        session.add(ada(id="a", revision=0))

    def count():
        for _ in range(20):
            with database.writing() as session:
                session.get(Person, "a").revision += 1

    threads = [threading.Thread(target=count) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    with database.reading() as session:
        assert session.get(Person, "a").revision == 80


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_who_waits_too_long_to_write_is_refused(database, monkeypatch):
    monkeypatch.setattr(database_module, "_PATIENCE", 0.1)
    with database.writing() as session:
        session.add(ada(id="a"))
        session.flush()
        with pytest.raises(OperationalError, match="lock timeout"), database.writing() as other:
            other.get(Person, "a")
    with database.reading() as session:
        assert session.get(Person, "a")


@pytest.mark.both_databases
def test_a_database_of_a_newer_version_is_left_alone(database, url):
    with database.writing() as session:
        session.execute(text(f"UPDATE alembic_version SET version_num = '{TOMORROW}'"))
    with pytest.raises(ServiceError, match="N013 The database is of a newer version"):
        Database.open(url)


def test_a_file_that_is_no_database_is_named_as_such(tmp_path):
    (tmp_path / "service.db").write_bytes(b"no database" * 100)
    with pytest.raises(ServiceError, match="N013"):
        Database.open(f"sqlite:///{tmp_path}/service.db")


def test_a_connection_that_cannot_write_is_replaced(database):
    """As one does that SQLite opened while its folder could not be written."""
    with database.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA query_only = ON")
    with pytest.raises(OperationalError, match="readonly"), database.writing() as session:
        session.add(ada(id="a"))
    with database.writing() as session:
        session.add(ada(id="b"))
    with database.reading() as session:
        assert session.scalars(select(Person.id)).all() == ["b"]
