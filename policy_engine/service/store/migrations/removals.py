"""Files that are to be removed, among them those that earlier versions may have left."""

import sqlalchemy as sa
from alembic import op

from policy_engine.service.store.base import UtcTime, now

revision = "removals"
down_revision = "deciding"


def upgrade() -> None:
    """Make the table, with the files of all that was deleted as far as nothing has them."""
    op.create_table(
        "file_removals",
        sa.Column("name", sa.String, primary_key=True),
        sa.Column("owed", UtcTime, nullable=False),
        sa.Column("removed", UtcTime),
    )
    names = _names(is_deleted=True) - _names(is_deleted=False)
    table = sa.table("file_removals", sa.column("name"), sa.column("owed", UtcTime))
    for name in sorted(names):
        op.get_bind().execute(table.insert().values(name=name, owed=now()))


def _names(*, is_deleted: bool) -> set[str]:
    """Return the names of the files of datasets and models that are deleted, or are not."""
    names: set[str] = set()
    for one in ("datasets", "models"):
        table = sa.table(one, sa.column("file"), sa.column("deleted"))
        is_wanted = table.c.deleted.is_not(None) if is_deleted else table.c.deleted.is_(None)
        rows = sa.select(table.c.file).where(is_wanted, table.c.file.is_not(None))
        names.update(op.get_bind().scalars(rows))
    return names
