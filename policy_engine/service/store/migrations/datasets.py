"""Datasets, and uploads that are not complete yet."""

import sqlalchemy as sa
from alembic import op

from policy_engine.service.store.base import Json, UtcTime

revision = "datasets"
down_revision = "people_and_policies"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "datasets",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("iri", sa.String, nullable=False),
        sa.Column("owner_id", sa.String, sa.ForeignKey("people.id"), nullable=False),
        sa.Column("file", sa.String),
        sa.Column("size", sa.BigInteger),
        sa.Column("columns", Json, nullable=False),
        sa.Column("rows", sa.BigInteger),
        sa.Column("created", UtcTime, nullable=False),
        sa.Column("deleted", UtcTime),
        sa.Column("revision", sa.Integer, nullable=False),
    )
    op.create_table(
        "uploads",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("dataset_id", sa.String, sa.ForeignKey("datasets.id"), nullable=False),
        sa.Column("owner_id", sa.String, sa.ForeignKey("people.id"), nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("created", UtcTime, nullable=False),
        sa.Column("completed", UtcTime),
    )
    for table, column in (("datasets", "iri"), ("datasets", "owner_id"), ("uploads", "dataset_id")):
        op.create_index(f"ix_{table}_{column}", table, [column])
