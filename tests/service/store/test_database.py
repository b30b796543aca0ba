import threading

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import IntegrityError, OperationalError

from policy_engine.errors import ServiceError
from policy_engine.service.store.database import Database
from policy_engine.service.store.people import Person


@pytest.fixture
def database(tmp_path):
    opened = Database.open(f"sqlite:///{tmp_path}/service.db")
    yield opened
    opened.close()


def ada(**given):
    return Person(name="Ada", roles=["owner"], **given)


def test_what_is_written_is_there_and_what_fails_is_not(database):
    with database.writing() as session:
        session.add(ada(id="a"))
    with pytest.raises(IntegrityError), database.writing() as session:
        session.add_all([ada(id="b"), ada(id="a")])
    with database.reading() as session:
        assert session.scalars(select(Person.id)).all() == ["a"]


def test_moments_are_in_utc(database):
    with database.writing() as session:
        session.add(ada(id="a"))
    with database.reading() as session:
        assert session.get(Person, "a").created.utcoffset().total_seconds() == 0


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


def test_a_database_of_a_newer_version_is_left_alone(database, tmp_path):
    with database.writing() as session:
        session.execute(text("UPDATE alembic_version SET version_num = 'of_tomorrow'"))
    with pytest.raises(ServiceError, match="N013 The database is of a newer version"):
        Database.open(f"sqlite:///{tmp_path}/service.db")


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
