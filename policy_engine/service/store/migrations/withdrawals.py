"""Releases that were withdrawn."""

import sqlalchemy as sa
from alembic import op

from policy_engine.service.store.base import UtcTime

revision = "withdrawals"
down_revision = "runs"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "withdrawals",
        sa.Column("release_id", sa.String, primary_key=True),
        sa.Column("by_id", sa.String, sa.ForeignKey("people.id"), nullable=False),
        sa.Column("reason", sa.String, nullable=False),
        sa.Column("at", UtcTime, nullable=False),
    )
