"""Which cases are run for every change, and which by night alone."""

import pytest
from hypothesis import settings


def everyday(cases, *names, otherwise=pytest.mark.nightly):
    """Return cases as parameters: those of the names always, all others in the nightly profile."""
    assert all(name in cases for name in names)
    return [one if one in names else pytest.param(one, marks=otherwise) for one in cases]


def everyday_on_spark(cases, *names):
    """Return cases that other engines are tested with always, Spark with all others by night."""
    return everyday(cases, *names, otherwise=pytest.mark.nightly_on_spark)


def examples(number, times=20):
    """Return a quarter of so many random examples, and by night so many times as many."""
    return times * number if settings.get_current_profile_name() == "nightly" else -(-number // 4)
