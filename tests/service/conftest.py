import pytest
from postgres import postgres_server
from served import service

from policy_engine.service.settings import ServiceSettings
from policy_engine.service.store.database import Database

KINDS = ("sqlite", "postgresql")


def pytest_generate_tests(metafunc):
    """Run what is marked so on both kinds of database."""
    is_marked = metafunc.definition.get_closest_marker("both_databases")
    if is_marked and "database_url" in metafunc.fixturenames:
        metafunc.parametrize("database_kind", KINDS)


@pytest.fixture
def database_kind():
    return KINDS[0]


@pytest.fixture(scope="session")
def postgres():
    """A server of PostgreSQL, for as long as the tests run."""
    with postgres_server() as server:
        yield server


@pytest.fixture
def database_url(request, database_kind):
    """The URL of a database of its own, as settings have it: empty for a file in the folder."""
    if database_kind == KINDS[0]:
        yield ""
        return
    with request.getfixturevalue("postgres").database(_bring_up_to_date) as url:
        yield url


def _bring_up_to_date(url):
    Database.open(ServiceSettings(folder=".", database=url).database_url).close()


@pytest.fixture
def services(tmp_path, database_url):
    with service(tmp_path, database=database_url) as opened:
        yield opened
