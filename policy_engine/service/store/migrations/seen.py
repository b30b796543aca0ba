"""When who asked for a review looked at it."""

import sqlalchemy as sa
from alembic import op

from policy_engine.service.store.base import UtcTime

revision = "seen"
down_revision = "removals"


def upgrade() -> None:
    """Add the column; what was decided before it is told is taken to be known."""
    op.add_column("reviews", sa.Column("seen", UtcTime))
    op.execute("UPDATE reviews SET seen = decided")
