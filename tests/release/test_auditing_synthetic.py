"""An auditor's test of synthetic tables: runs on neighbours show no more epsilon than is stated.

By night alone: a table takes a hundredth of a second, and few runs show nothing.
"""

from fractions import Fraction

import numpy as np
import pytest
from asking_statistics import VISITS, step_of
from auditing_epsilon import shown_epsilon

from policy_engine.engines.statistics.tallies import Tallies
from policy_engine.release.synthetic import synthetic_codes

TABLES = np.array([[0, 1], [1, 0]]), np.array([[1, 1], [1, 0]])
"""How often each pair of values is in the table, of three rows and of one more."""


def step():
    """Return a step that makes a synthetic table of two columns of two values, at epsilon 1."""
    columns = [
        {"pe:function": "synthetic", "pe:of": f"{VISITS}/{name}", "pe:candidates": ["no", "yes"]}
        for name in ("sick", "old")
    ]
    return step_of(*columns, by=[], query={"pe:rows": 100}, maxRowsPerGroup=1)


def tallies(joint):
    sums = [joint.sum(axis=1), joint.sum(axis=0), joint.ravel()]
    return Tallies(((),), [int(joint.sum())], [one[None, :] for one in sums])


def frequent(asked):
    """Return a mechanism: how many rows of a synthetic table have the first value twice."""

    def mechanism(joint, runs):
        exact = tallies(joint)
        tables = (np.array(synthetic_codes(asked, exact)) for _ in range(runs))
        return [int((codes.sum(axis=0) == 0).sum()) for codes in tables]

    return mechanism


@pytest.mark.nightly
def test_a_synthetic_table_shows_no_more_than_is_stated():
    shown = shown_epsilon(frequent(step()), TABLES, 10_000)
    assert 0.05 < shown <= 1


@pytest.mark.nightly
def test_a_synthetic_table_with_too_little_noise_is_caught():
    def weak(noise):
        return noise.model_copy(update={"scale": str(Fraction(noise.scale) / 10)})

    whole = step()
    figures = [
        one.model_copy(update={"noise": tuple(map(weak, one.noise))}) for one in whole.figures
    ]
    broken = whole.model_copy(
        update={"figures": tuple(figures), "pair_noise": tuple(map(weak, whole.pair_noise))}
    )
    assert shown_epsilon(frequent(broken), TABLES, 10_000) > 1
