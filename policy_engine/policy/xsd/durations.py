"""Arithmetic of moments and durations (XSD 1.1 part 2, appendix E.3.3)."""

from calendar import monthrange
from datetime import datetime, timedelta

from policy_engine.policy.xsd.values import Duration


def add_duration(moment: datetime, span: Duration) -> datetime:
    """Return a moment plus a duration, on the last day of a month that is too short.

    Outside the years that there are, it is the first or the last moment that there is.
    """
    try:
        years, month = divmod(moment.month - 1 + span.months, 12)
        year = moment.year + years
        day = min(moment.day, monthrange(year, month + 1)[1])
        moved = moment.replace(year=year, month=month + 1, day=day)
        return moved + timedelta(seconds=float(span.seconds))
    except (ValueError, OverflowError):
        is_past = span.months < 0 or span.seconds < 0
        zone = moment.tzinfo
        return datetime.min.replace(tzinfo=zone) if is_past else datetime.max.replace(tzinfo=zone)


def subtract_duration(moment: datetime, span: Duration) -> datetime:
    """Return a moment minus a duration, as `add_duration` does."""
    return add_duration(moment, Duration(-span.months, -span.seconds))
