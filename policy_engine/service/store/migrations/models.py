"""Models, and uploads of them."""

import sqlalchemy as sa
from alembic import op

from policy_engine.service.store.base import Json, UtcTime

revision = "models"
down_revision = "reviews"


def upgrade() -> None:
    """Make the table; an upload is to a dataset or to a model."""
    op.create_table(
        "models",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("owner_id", sa.String, sa.ForeignKey("people.id"), nullable=False),
        sa.Column("file", sa.String),
        sa.Column("kind", sa.String),
        sa.Column("size", sa.BigInteger),
        sa.Column("settings", Json, nullable=False),
        sa.Column("created", UtcTime, nullable=False),
        sa.Column("deleted", UtcTime),
        sa.Column("revision", sa.Integer, nullable=False),
    )
    op.create_index("ix_models_owner_id", "models", ["owner_id"])
    with op.batch_alter_table("uploads") as table:
        table.alter_column("dataset_id", existing_type=sa.String, nullable=True)
        table.add_column(
            sa.Column("model_id", sa.String, sa.ForeignKey("models.id", name="fk_uploads_model_id"))
        )
    op.create_index("ix_uploads_model_id", "uploads", ["model_id"])
