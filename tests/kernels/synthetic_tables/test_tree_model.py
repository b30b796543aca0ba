"""Trees of columns: beliefs by hand, and counts that are as near as those of a distribution get."""

import numpy as np
import pytest
from scipy.optimize import minimize

from policy_engine.kernels.synthetic_tables.tree_model import (
    NoisyCounts,
    beliefs,
    fitted_tree,
    nearest_shares,
)


def test_beliefs_are_sums_over_the_rows_of_a_chain():
    rng = np.random.default_rng(1)
    own = [rng.normal(size=size) for size in (2, 3, 2)]
    pairs = {(0, 1): rng.normal(size=(2, 3)), (1, 2): rng.normal(size=(3, 2))}
    model = beliefs(own, pairs, [(0, 1), (1, 2)])
    logs = own[0][:, None, None] + own[1][None, :, None] + own[2][None, None, :]
    joint = np.exp(logs + pairs[0, 1][:, :, None] + pairs[1, 2][None, :, :])
    joint /= joint.sum()
    assert np.allclose(model.columns[2], joint.sum(axis=(0, 1)))
    assert np.allclose(model.pairs[0, 1], joint.sum(axis=2))
    assert np.allclose(model.pairs[1, 2], joint.sum(axis=0))


def test_counts_without_noise_are_found_again():
    pair, other = np.array([[30.0, 10.0], [20.0, 40.0]]), np.array([[50.0, 10.0], [0.0, 40.0]])
    counts = NoisyCounts(
        [pair.sum(axis=1), pair.sum(axis=0), other.sum(axis=1)], {(0, 1): pair, (2, 1): other}, 1, 1
    )
    model = fitted_tree(counts)
    assert model.edges == ((0, 1), (1, 2))
    assert np.allclose(100 * model.pairs[0, 1], pair, atol=0.5)
    assert np.allclose(100 * model.pairs[1, 2], other.T, atol=0.5)


def test_noisy_counts_are_met_as_nearly_as_by_any_distribution():
    """A negative count, and a pair that contradicts its columns: least squares on the simplex."""
    pair = np.array([[-9.0, 25.0], [40.0, 31.0]])
    counts = NoisyCounts([np.array([30.0, 60.0]), np.array([44.0, 52.0])], {(0, 1): pair}, 4, 9)
    total = counts.total()

    def loss(shares):
        table = total * shares.reshape(2, 2)
        own = sum(((table.sum(axis=1 - axis) - counts.columns[axis]) ** 2).sum() for axis in (0, 1))
        return own / 8 + ((table - pair) ** 2).sum() / 18

    whole = {"type": "eq", "fun": lambda shares: shares.sum() - 1}
    best = minimize(loss, np.full(4, 0.25), bounds=[(0, 1)] * 4, constraints=whole)
    found = fitted_tree(counts, 2_000).pairs[0, 1]
    assert loss(found.ravel()) == pytest.approx(best.fun, rel=1e-3)


def test_the_number_of_rows_weighs_marginals_by_their_noise():
    counts = NoisyCounts([np.array([10.0, 10.0])], {(0, 1): np.full((2, 2), 7.0)}, 1, 2)
    # Variances 2 x 1 and 4 x 2: (20 / 2 + 28 / 8) / (1 / 2 + 1 / 8).
    assert counts.total() == pytest.approx(21.6)
    assert NoisyCounts([np.array([-5.0, 1.0])], {}, 1, 1).total() == 1


def test_pairs_that_are_no_tree_are_refused():
    own, pair = [np.ones(2)] * 3, np.ones((2, 2))
    for pairs in ({(0, 1): pair}, {(0, 1): pair, (1, 0): pair}):
        with pytest.raises(ValueError, match="not a tree"):
            fitted_tree(NoisyCounts(own, pairs, 1, 1))


@pytest.mark.parametrize(
    ("counts", "shares"),
    [
        ([3, 1], [0.75, 0.25]),
        ([5, -1], [1, 0]),
        ([-1, -1], [0.5, 0.5]),
        ([6, 5, -1], [0.55, 0.45, 0]),
        ([1e18, -1e18, 2000], [1, 0, 0]),
    ],
)
def test_shares_are_the_nearest_of_a_distribution(counts, shares):
    assert nearest_shares(np.array(counts, dtype=float)) == pytest.approx(shares)
