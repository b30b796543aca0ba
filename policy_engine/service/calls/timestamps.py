"""Timestamps as calls give them."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime


def in_utc(moment: datetime) -> datetime:
    """Return a moment in UTC; one without a time zone is taken as UTC.

    Raises ValueError for one that UTC puts outside the years 1 to 9999.
    """
    try:
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except OverflowError:
        raise ValueError("is outside the years 1 to 9999") from None


Moment = Annotated[datetime, AfterValidator(in_utc)]
AwareMoment = Annotated[AwareDatetime, AfterValidator(in_utc)]
"""A moment that has to be given with its time zone."""
