"""Stewards of owners, whom runs are about, and why policies were withdrawn."""

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

from policy_engine.service.store.base import Json, UtcTime

revision = "stewardships"
down_revision = "answers"


def upgrade() -> None:
    """Make the tables, and say of earlier runs whom they are about."""
    op.create_table(
        "stewardships",
        sa.Column("owner_id", sa.String, sa.ForeignKey("people.id"), primary_key=True),
        sa.Column("steward_id", sa.String, sa.ForeignKey("people.id"), primary_key=True),
        sa.Column("created", UtcTime, nullable=False),
    )
    op.create_table(
        "run_subjects",
        sa.Column("run_id", sa.String, sa.ForeignKey("runs.id"), primary_key=True),
        sa.Column("person_id", sa.String, sa.ForeignKey("people.id"), primary_key=True),
    )
    op.create_index("ix_run_subjects_person_id", "run_subjects", ["person_id"])
    with op.batch_alter_table("policy_versions") as table:
        table.add_column(
            sa.Column("withdrawn_by", sa.String, sa.ForeignKey("people.id", name="fk_withdrawn_by"))
        )
        table.add_column(sa.Column("reason", sa.String, nullable=False, server_default=""))
    _add_subjects()


def _add_subjects() -> None:
    """A run is about the owners of what its settings name."""
    connection = op.get_bind()
    owners: dict[str, set[str]] = {}
    for name in ("policies", "datasets"):
        table = sa.table(name, sa.column("id"), sa.column("owner_id"))
        owners |= {row.id: {row.owner_id} for row in connection.execute(sa.select(table))}
    runs = sa.table(
        "runs", sa.column("id"), sa.column("settings", Json), sa.column("created", UtcTime)
    )
    subjects = sa.table("run_subjects", sa.column("run_id"), sa.column("person_id"))
    for run in connection.execute(sa.select(runs).order_by(runs.c.created)).all():
        names = {name for text in _texts(run.settings) for name in owners.get(text, ())}
        owners[run.id] = names
        for person in sorted(names):
            connection.execute(subjects.insert().values(run_id=run.id, person_id=person))


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in a value of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
