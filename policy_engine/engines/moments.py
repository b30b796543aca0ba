"""Dates, points in time and times of day that texts write, in nanoseconds: whole numbers, exact."""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from policy_engine.engines.text_types import STAMP, ZONED

_DATE = re.compile(r"^(\d{4}-\d{2}-\d{2})")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@lru_cache(maxsize=100_000)
def moment(text: str) -> int | None:
    """Return a date, or a point in time, in nanoseconds, None for other texts; UTC where no zone is
    named."""
    if _DATE.match(text) is None:
        return None
    whole = text if len(text) > len("2000-01-01") else f"{text} 00:00"
    if re.match(STAMP, whole) is None:
        return None
    zone = re.search(ZONED, whole)
    clock = whole[: zone.start()] if zone else whole
    start, _, fraction = clock.partition(".")
    try:
        point = datetime.fromisoformat(f"{start}{zone.group() if zone else 'Z'}")
    except ValueError:
        return None
    seconds = (point - _EPOCH) // timedelta(seconds=1)
    return seconds * 10**9 + int((fraction or "0").ljust(9, "0"))


def time_of_day(text: str) -> int:
    """Return a time of day in nanoseconds."""
    clock, _, fraction = text.partition(".")
    hours, minutes, *seconds = map(int, clock.split(":"))
    whole = hours * 3600 + minutes * 60 + sum(seconds)
    return whole * 10**9 + int((fraction or "0").ljust(9, "0"))
