"""Sums of clipped gradients in whole numbers: what one record can do to them, exactly."""

from fractions import Fraction
from typing import get_args

import numpy as np
import pytest
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.audits.membership.training.fixed_point import Grids, summed_gradients
from policy_engine.audits.membership.training.parameters import Design, first_parameters, logits_of
from policy_engine.errors import AuditError
from policy_engine.methods.audits.classifier import Activation

ACTIVATIONS = get_args(Activation)


def _design(activation="tanh", widths=(7, 5, 4, 3)):
    hidden = len(widths) - 2
    return Design(widths, (activation,) * hidden, (0.0,) * hidden)


def _weights(design, seed=0, scale=3.0):
    first = first_parameters(design, np.random.default_rng(seed))
    return [scale * one.astype(np.float64) for one in first]


def _records(count, design, seed=1):
    random = np.random.default_rng(seed)
    features = random.normal(0, 2, (count, design.widths[0])).astype(np.float32)
    return features, random.integers(0, design.widths[-1], count)


def _flat(sums):
    return np.concatenate([one.ravel() for one in sums])


def _of(rows, records, design, weights, grids):
    return _flat(summed_gradients(design, weights, (records[0][rows], records[1][rows]), grids))


@settings(max_examples=examples(30), deadline=None)
@given(
    activation=st.sampled_from(ACTIVATIONS),
    rows=st.lists(st.integers(0, 39), min_size=1, max_size=40, unique=True),
    norm=st.sampled_from([0.01, 1.0, 100.0]),
    seed=st.integers(0, 5),
)
def test_a_record_adds_the_same_whole_numbers_to_any_batch_and_no_more_than_its_norm(
    activation, rows, norm, seed
):
    design = _design(activation)
    weights, records = _weights(design, seed), _records(40, design, seed)
    grids = Grids.of(design, 40, 1.5, norm)
    rows = np.array(rows)
    every = _of(rows, records, design, weights, grids)
    alone = _of(rows[:1], records, design, weights, grids)
    without = _of(rows[1:], records, design, weights, grids)
    assert (every - without == alone).all()
    assert (every == np.trunc(every)).all()
    length = sum(int(one) ** 2 for one in alone)
    assert length <= Fraction(grids.longest) ** 2


@pytest.mark.parametrize("width", [3, 300, 3_000])
def test_a_record_clipped_to_the_norm_is_as_long_as_that_but_for_the_grid(width):
    design = _design("relu", (width, 16, 2))
    grids = Grids.of(design, 10, 2.0, 0.001)
    weights = _weights(design, scale=0.2)
    own = _of(np.arange(1), _records(1, design), design, weights, grids)
    assert 0.99 < np.linalg.norm(own) / grids.longest <= 1


def test_hostile_records_add_no_more_than_the_norm():
    design = _design("relu")
    features = np.array([[3e38] * 7, [np.inf] * 7, [np.nan] * 7, [-3e38] * 7], np.float32)
    grids = Grids.of(design, 4, 1.0, 1.0)
    weights = [1e9 * one for one in _weights(design)]
    for row in range(4):
        own = _of(np.array([row]), (features, np.zeros(4, int)), design, weights, grids)
        assert sum(int(one) ** 2 for one in own) <= Fraction(grids.longest) ** 2


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_gradients_are_those_of_the_loss(activation):
    """By differences of the mean cross-entropy, where nothing is clipped."""
    design = _design(activation)
    weights, (features, labels) = _weights(design, scale=1.0), _records(20, design)
    grids = Grids.of(design, 20, 1.0, 20.0)
    sums = summed_gradients(design, weights, (features, labels), grids)

    def loss(changed):
        logits = logits_of(tuple(changed), design.activations, features.astype(np.float64))
        raised = np.exp(logits - logits.max(axis=1, keepdims=True))
        return -np.log(raised[np.arange(20), labels] / raised.sum(axis=1)).sum()

    for place, array in enumerate(weights):
        for cell in (0, array.size - 1):
            sides = [[one.copy() for one in weights] for _ in range(2)]
            for side, step in zip(sides, (1e-3, -1e-3), strict=True):
                side[place].flat[cell] += step
            slope = (loss(sides[0]) - loss(sides[1])) / 2e-3
            assert sums[place].flat[cell] * grids.step == pytest.approx(slope, abs=0.02)


def test_a_thousand_records_that_all_pull_one_way_are_summed_without_an_error():
    design = _design("linear", (40, 20, 2))
    features, labels = np.ones((1_000, 40), np.float32), np.zeros(1_000, int)
    grids = Grids.of(design, 1_000, 0.5, 1.0)
    own = _of(np.arange(1), (features, labels), design, _weights(design), grids)
    every = _of(np.arange(1_000), (features, labels), design, _weights(design), grids)
    assert [int(one) for one in every] == [1_000 * int(one) for one in own]


def test_so_little_noise_that_sums_would_be_coarse_is_refused():
    with pytest.raises(AuditError, match="A006 A noise multiplier of 1e-09 on 1,000,000 records"):
        Grids.of(_design(), 1_000_000, 1e-9, 1.0)
