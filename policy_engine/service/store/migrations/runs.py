"""Runs, what happened to them, and what they left."""

import sqlalchemy as sa
from alembic import op

from policy_engine.service.store.base import Json, UtcTime
from policy_engine.service.store.runs import SERIAL

revision = "runs"
down_revision = "access"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "runs",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("owner_id", sa.String, sa.ForeignKey("people.id"), nullable=False),
        sa.Column("settings", Json, nullable=False),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("worker", sa.String),
        sa.Column("token", sa.Integer, nullable=False),
        sa.Column("beat", sa.Integer, nullable=False),
        sa.Column("pid", sa.Integer),
        sa.Column("pid_start", sa.BigInteger),
        sa.Column("stage", sa.String, nullable=False),
        sa.Column("done", sa.BigInteger, nullable=False),
        sa.Column("total", sa.BigInteger, nullable=False),
        sa.Column("problems", Json, nullable=False),
        sa.Column("result", Json, nullable=False),
        sa.Column("created", UtcTime, nullable=False),
        sa.Column("started", UtcTime),
        sa.Column("finished", UtcTime),
        sa.Column("revision", sa.Integer, nullable=False),
    )
    op.create_table(
        "run_events",
        sa.Column("id", SERIAL, primary_key=True),
        sa.Column("run_id", sa.String, sa.ForeignKey("runs.id"), nullable=False),
        sa.Column("what", sa.String, nullable=False),
        sa.Column("at", UtcTime, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "artefacts",
        sa.Column("run_id", sa.String, sa.ForeignKey("runs.id"), primary_key=True),
        sa.Column("name", sa.String, primary_key=True),
        sa.Column("digest", sa.String, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("media_type", sa.String, nullable=False),
    )
    op.create_index("ix_runs_state", "runs", ["state", "created"])
    for table, column in (
        ("runs", "kind"),
        ("runs", "owner_id"),
        ("runs", "created"),
        ("run_events", "run_id"),
    ):
        op.create_index(f"ix_{table}_{column}", table, [column])
