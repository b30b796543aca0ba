"""Categories that share features are told apart all the same."""

import numpy as np
import pytest

from policy_engine.kernels.generative.ball_counts import BallCounts, pooled_quantiles
from policy_engine.kernels.generative.folded_categories import (
    FEATURES,
    feature_of,
    hidden_square,
    hidden_squares,
)
from policy_engine.kernels.generative.nearest_samples import NearestSamples

RANKS = np.random.default_rng(0).integers(0, 500, (2, 60, 3))
COUNTS = (RANKS[0][:, None] != RANKS[1]).sum(axis=2)
"""In how many columns two records differ."""


def points_of(ranks):
    """The features of ranks, two of which are 1 apart, and the ranks."""
    one_hot = np.sqrt(0.5) * np.eye(FEATURES)[feature_of(ranks)]
    return np.concatenate([one_hot.reshape(len(ranks), -1), ranks], axis=1)


def test_the_commonest_have_a_feature_each_and_others_share_some():
    features = feature_of(np.arange(1000))
    assert features[:64].tolist() == [*range(64)]
    assert {*features[64:].tolist()} == {*range(64, 128)}


def test_features_and_hidden_squares_are_all_differences():
    features = np.linalg.norm(
        points_of(RANKS[0])[:, None, :-3] - points_of(RANKS[1])[:, :-3], axis=2
    )
    hidden = hidden_squares(*RANKS)
    assert np.allclose(features**2 + hidden, COUNTS)
    pairs = [[hidden_square(one, other) for other in RANKS[1]] for one in RANKS[0]]
    assert np.array_equal(pairs, hidden)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("nearest", [1, 3])
def test_the_nearest_are_those_that_differ_in_the_fewest_columns(nearest):
    near = NearestSamples(points_of(RANKS[0]), nearest=nearest, ranks=3)
    near.update(points_of(RANKS[1]))
    assert np.allclose(near.squares, np.sort(COUNTS, axis=1)[:, :nearest])


def test_balls_have_those_that_differ_in_so_many_columns():
    radii = np.array([1.0, np.sqrt(2), np.sqrt(3)])
    balls = BallCounts(points_of(RANKS[0]), None, radii, ranks=3)
    balls.update(points_of(RANKS[1]))
    expected = [(most >= COUNTS).mean(axis=1) for most in (1, 2, 3)]
    assert np.allclose(balls.shares(), np.transpose(expected))
    ends = pooled_quantiles(
        *(points_of(RANKS[0]), None, points_of(RANKS[1]), None), np.array([0.0, 1.0]), ranks=3
    )
    assert np.allclose(ends**2, [COUNTS.min(), COUNTS.max()])
