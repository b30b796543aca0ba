import numpy as np
import pytest

from policy_engine.audits.files.contents import Contents
from policy_engine.audits.files.figures import count_exact_figures, exact_figures
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


def in_file(numbers):
    """Return how many of 900 figures are told by a file with numbers."""
    exact = np.random.default_rng(1).random(900)
    return count_exact_figures([Contents("m", b"", numbers=(np.asarray(numbers(exact)),))], exact)


def test_among_many_thresholds_some_are_near_a_figure_by_chance():
    thresholds = np.random.default_rng(2).random(60_000)
    assert in_file(lambda exact: np.append(thresholds, exact[0])) == 0
    assert in_file(lambda exact: np.append(thresholds, exact[:40])) >= 40


def test_one_figure_in_a_small_file_is_told():
    assert in_file(lambda exact: exact[:1]) == 1
    assert in_file(lambda exact: exact[:1] * 1.001) == 0
