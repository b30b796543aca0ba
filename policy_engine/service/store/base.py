"""What all tables of the database have in common."""

import secrets
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, DateTime, Dialect, MetaData
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.types import TypeDecorator

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_LENGTH = 20
"""Letters of an identifier: 100 bits, which nobody guesses."""

NAMES = {
    "ix": "ix_%(column_0_label)s",
    "uq": "uq_%(table_name)s_%(column_0_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}


class UtcTime(TypeDecorator[datetime]):
    """A moment, kept and given in UTC, whatever the database makes of zones."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return what is kept of a moment."""
        del dialect
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the moment that was kept."""
        del dialect
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


Json = JSON().with_variant(JSONB(), "postgresql")


class StoredTable(DeclarativeBase):
    """A table of the database, a row of it an object."""

    metadata = MetaData(naming_convention=NAMES)
    type_annotation_map = {  # noqa: RUF012 (as SQLAlchemy has it)
        datetime: UtcTime(),
        dict[str, Any]: Json,
        list[str]: Json,
        list[dict[str, Any]]: Json,
    }


def new_id() -> str:
    """Return an identifier that no other row has, and that nobody guesses."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))


def now() -> datetime:
    """Return the present moment, in UTC."""
    return datetime.now(UTC)
