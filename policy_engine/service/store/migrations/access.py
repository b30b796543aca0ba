"""Requests for access."""

import sqlalchemy as sa
from alembic import op

from policy_engine.service.store.base import Json, UtcTime

revision = "access"
down_revision = "datasets"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "access_requests",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("requester_id", sa.String, sa.ForeignKey("people.id"), nullable=False),
        sa.Column("owner_id", sa.String, sa.ForeignKey("people.id"), nullable=False),
        sa.Column("assignee", sa.String, nullable=False),
        sa.Column("targets", Json, nullable=False),
        sa.Column("purpose", sa.String, nullable=False),
        sa.Column("until", UtcTime, nullable=False),
        sa.Column("reason", sa.String, nullable=False),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("decided_by", sa.String, sa.ForeignKey("people.id")),
        sa.Column("decided", UtcTime),
        sa.Column("note", sa.String, nullable=False),
        sa.Column("policy_id", sa.String, sa.ForeignKey("policies.id")),
        sa.Column("created", UtcTime, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
    )
    for column in ("requester_id", "owner_id"):
        op.create_index(f"ix_access_requests_{column}", "access_requests", [column])
