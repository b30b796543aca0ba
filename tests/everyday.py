"""Which cases of a table are run for every change, and which by night alone."""

import pytest


def everyday(cases, *names):
    """Return cases as parameters: those of the names always, all others in the nightly profile."""
    assert set(names) <= set(cases)
    nightly = pytest.mark.nightly
    return [one if one in names else pytest.param(one, marks=nightly) for one in cases]
