import numpy as np
import pytest

from policy_engine.audits.files.figures import exact_figures
from policy_engine.audits.membership.records import records_of_arrays


def told(values):
    """Return the exact figures of one feature, of which every second record is of each class."""
    values = np.asarray(values, float)[:, None]
    return exact_figures(records_of_arrays(values, np.arange(len(values)) % 2)).tolist()


def test_fractions_with_small_denominators_are_there_by_chance():
    # Half of the records have a set of three, 1/3 each: their mean, and every threshold, is 1/6.
    assert not any(one == pytest.approx(1 / 6) for one in told([1 / 3, 1 / 3, 0, 0] * 15))
    assert told([0.2] * 40) == []


def test_a_mean_of_many_values_is_exact():
    values = np.arange(61) ** 1.5
    assert any(one == pytest.approx(values.mean(), rel=1e-7) for one in told(values))
