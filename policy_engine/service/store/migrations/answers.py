"""Answers that are kept for calls that are repeated."""

import sqlalchemy as sa
from alembic import op

from policy_engine.service.store.base import Json, UtcTime

revision = "answers"
down_revision = "withdrawals"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "kept_answers",
        sa.Column("digest", sa.String, primary_key=True),
        sa.Column("person_id", sa.String, sa.ForeignKey("people.id"), nullable=False),
        sa.Column("call", sa.String, nullable=False),
        sa.Column("status", sa.Integer),
        sa.Column("headers", Json, nullable=False),
        sa.Column("content", sa.LargeBinary),
        sa.Column("created", UtcTime, nullable=False),
    )
    for column in ("person_id", "created"):
        op.create_index(f"ix_kept_answers_{column}", "kept_answers", [column])
