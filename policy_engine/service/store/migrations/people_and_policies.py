"""People, what they sign in by, and policies."""

import sqlalchemy as sa
from alembic import op

from policy_engine.service.store.base import Json, UtcTime

revision = "people_and_policies"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "people",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("roles", Json, nullable=False),
        sa.Column("party", sa.String, nullable=False),
        sa.Column("issuer", sa.String),
        sa.Column("subject", sa.String),
        sa.Column("is_active", sa.Boolean, nullable=False),
        sa.Column("created", UtcTime, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.UniqueConstraint("issuer", "subject", name="uq_people_issuer"),
    )
    op.create_table(
        "sign_in_links",
        sa.Column("digest", sa.String, primary_key=True),
        sa.Column("person_id", sa.String, sa.ForeignKey("people.id"), nullable=False),
        sa.Column("expires", UtcTime, nullable=False),
        sa.Column("used", UtcTime),
    )
    op.create_table(
        "sign_ins",
        sa.Column("digest", sa.String, primary_key=True),
        sa.Column("person_id", sa.String, sa.ForeignKey("people.id"), nullable=False),
        sa.Column("created", UtcTime, nullable=False),
        sa.Column("seen", UtcTime, nullable=False),
        sa.Column("expires", UtcTime, nullable=False),
        sa.Column("ended", UtcTime),
    )
    op.create_table(
        "api_keys",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("person_id", sa.String, sa.ForeignKey("people.id"), nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("prefix", sa.String, nullable=False),
        sa.Column("digest", sa.String, nullable=False),
        sa.Column("roles", Json, nullable=False),
        sa.Column("created", UtcTime, nullable=False),
        sa.Column("expires", UtcTime, nullable=False),
        sa.Column("ended", UtcTime),
        sa.UniqueConstraint("prefix", name="uq_api_keys_prefix"),
    )
    op.create_table(
        "policies",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("owner_id", sa.String, sa.ForeignKey("people.id"), nullable=False),
        sa.Column("uid", sa.String),
        sa.Column("published", sa.Integer),
        sa.Column("created", UtcTime, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
    )
    op.create_table(
        "policy_versions",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("policy_id", sa.String, sa.ForeignKey("policies.id"), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("text", sa.String, nullable=False),
        sa.Column("digest", sa.String, nullable=False),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("author_id", sa.String, sa.ForeignKey("people.id"), nullable=False),
        sa.Column("approver_id", sa.String, sa.ForeignKey("people.id")),
        sa.Column("created", UtcTime, nullable=False),
        sa.Column("published", UtcTime),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.UniqueConstraint("policy_id", "number", name="uq_policy_versions_policy_id"),
    )
    for table, column in (
        ("sign_ins", "person_id"),
        ("api_keys", "person_id"),
        ("policies", "owner_id"),
        ("policies", "uid"),
    ):
        op.create_index(f"ix_{table}_{column}", table, [column])
