import pkgutil
from importlib import import_module

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from policy_engine.service import store
from policy_engine.service.settings import ServiceSettings
from policy_engine.service.store.base import StoredTable
from policy_engine.service.store.database import Database


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
