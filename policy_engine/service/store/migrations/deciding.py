"""Who is deciding about a review, and since when."""

import sqlalchemy as sa
from alembic import op

from policy_engine.service.store.base import UtcTime

revision = "deciding"
down_revision = "models"


def upgrade() -> None:
    """Add the columns."""
    person = sa.ForeignKey("people.id", name="fk_reviews_deciding_by")
    with op.batch_alter_table("reviews") as table:
        table.add_column(sa.Column("deciding_by", sa.String, person))
        table.add_column(sa.Column("deciding_since", UtcTime))
