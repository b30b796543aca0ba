"""Signatures of versions of policies."""

import sqlalchemy as sa
from alembic import op

revision = "signatures"
down_revision = "seen"


def upgrade() -> None:
    """Add the column: what was published before is not signed."""
    op.add_column("policy_versions", sa.Column("signature", sa.String))
