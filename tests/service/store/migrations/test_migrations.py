import pkgutil
from importlib import import_module
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from policy_engine.service import store
from policy_engine.service.settings import ServiceSettings
from policy_engine.service.store import migrations, upgrading
from policy_engine.service.store.base import StoredTable
from policy_engine.service.store.database import Database


@pytest.mark.one_in(2)
@pytest.mark.both_databases
def test_the_steps_make_the_tables_that_the_service_has(tmp_path, database_url):
    for module in pkgutil.iter_modules(store.__path__):
        import_module(f"{store.__name__}.{module.name}")
    settings = ServiceSettings(folder=tmp_path, database=database_url)
    database = Database.open(settings.database_url)
    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, StoredTable.metadata) == []
    database.close()


def test_the_newest_step_is_the_one_that_nothing_follows():
    folder = str(Path(migrations.__file__).parent)
    script = ScriptDirectory(folder, version_locations=[folder])
    assert script.get_heads() == [migrations.NEWEST]


def test_a_database_that_is_up_to_date_is_opened_without_looking_for_steps(tmp_path, monkeypatch):
    url = f"sqlite:///{tmp_path}/service.db"
    Database.open(url).close()
    monkeypatch.setattr(upgrading, "upgrade", None)
    Database.open(url).close()
