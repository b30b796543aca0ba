"""What people are to review."""

import sqlalchemy as sa
from alembic import op

from policy_engine.service.store.base import UtcTime

revision = "reviews"
down_revision = "stewardships"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "reviews",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("submitter_id", sa.String, sa.ForeignKey("people.id"), nullable=False),
        sa.Column("owner_id", sa.String, sa.ForeignKey("people.id"), nullable=False),
        sa.Column("assignee", sa.String, nullable=False),
        sa.Column("dataset", sa.String, nullable=False),
        sa.Column("request", sa.String, nullable=False),
        sa.Column("purpose", sa.String, nullable=False),
        sa.Column("data", sa.String, nullable=False),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("decided_by", sa.String, sa.ForeignKey("people.id")),
        sa.Column("decided", UtcTime),
        sa.Column("created", UtcTime, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
    )
    for column in ("submitter_id", "owner_id"):
        op.create_index(f"ix_reviews_{column}", "reviews", [column])
