from datetime import UTC, datetime

import pytest

from policy_engine.service.calls.timestamps import in_utc


@pytest.mark.parametrize(
    "text", ["2020-01-01T12:00:00", "2020-01-01T12:00:00Z", "2020-01-01T14:00:00+02:00"]
)
def test_a_moment_is_in_utc_or_is_taken_as_utc(text):
    assert in_utc(datetime.fromisoformat(text)) == datetime(2020, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"])
def test_a_moment_outside_the_calendar_is_refused(text):
    with pytest.raises(ValueError, match="outside the years"):
        in_utc(datetime.fromisoformat(text))
