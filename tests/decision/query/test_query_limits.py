"""Limits of queries as they are written."""

import pytest

from policy_engine.decision.query.query_limits import current_limits, memory_size, query_limits
from policy_engine.errors import QueryError


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("", 0),
        (0, 0),
        ("2GB", 2_000_000_000),
        ("1.5 GiB", 3 * 2**29),
        ("64mib", 2**26),
        (2**27, 2**27),
    ],
)
def test_memory_is_a_number_and_a_unit(text, size):
    assert memory_size(text) == size


@pytest.mark.parametrize("text", ["2", "much", "1KB", -1, "63MiB", "nan GB"])
def test_memory_that_is_no_size_is_refused(text):
    with pytest.raises(QueryError, match="Q011"):
        memory_size(text)


@pytest.mark.parametrize("seconds", [0, -1.0, float("inf"), float("nan")])
def test_time_that_is_none_is_refused(seconds):
    with pytest.raises(QueryError, match="Q011"), query_limits(seconds=seconds):
        pass


def test_limits_end_with_their_context():
    with query_limits("2GB", 5.0):
        assert current_limits().memory == 2_000_000_000
        assert 0 < current_limits().seconds() <= 5
    assert (current_limits().memory, current_limits().deadline) == (0, None)
