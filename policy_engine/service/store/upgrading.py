"""Brings the tables of a database up to date, by Alembic."""

from pathlib import Path
from typing import Any

from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from policy_engine.errors import ServiceError
from policy_engine.service.store import migrations


def upgrade(connection: Connection) -> None:
    """Bring the tables up to date, within a transaction.

    Raises ServiceError (N013) for a database that only a newer version understands.
    """
    script = _script()
    _check_version(connection, script)

    def steps(revision: Any, _context: Any) -> Any:
        return script._upgrade_revs("head", revision)  # noqa: SLF001 (as Alembic's own)

    with EnvironmentContext(Config(), script, fn=steps) as environment:
        environment.configure(connection=connection, render_as_batch=True)
        environment.run_migrations()


def _script() -> ScriptDirectory:
    folder = str(Path(migrations.__file__).parent)
    return ScriptDirectory(folder, version_locations=[folder])


def _check_version(connection: Connection, script: ScriptDirectory) -> None:
    current = MigrationContext.configure(connection).get_current_revision()
    if current is not None and current not in {one.revision for one in script.walk_revisions()}:
        message = f"The database is of a newer version of the service. Its tables are {current!r}."
        raise ServiceError.of("N013", message, "Upgrade policy-engine, or restore a backup.")
