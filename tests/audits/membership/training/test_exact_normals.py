"""Exact normal numbers on a grid, against their distribution and against OpenDP's."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency, chisquare, norm

from policy_engine.audits.membership.training.exact_normals import floored_normals


def _cells(bits, most=3):
    """Return the edges of the cells floor(2**bits X), and their chances, the tails as one each."""
    edges = np.arange(-most * 2**bits, most * 2**bits + 1)
    inner = np.diff(norm.cdf(edges / 2**bits))
    return edges, np.concatenate([[norm.cdf(-most)], inner, [norm.sf(most)]])


def _counts(numbers, edges):
    return np.bincount(np.clip(numbers, edges[0] - 1, edges[-1]) - edges[0] + 1)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("count", "bits", "lead"),
    [(300_000, 3, 31), (300_000, 4, 16), (20_000, 2, 5), (4_000, 1, 1)],
)
def test_every_cell_has_its_chance_however_few_bits_are_drawn_at_first(count, bits, lead):
    """With few of them most decisions hang on those that are drawn later."""
    random = np.random.default_rng([count, lead])
    edges, chances = _cells(bits)
    counts = _counts(floored_normals(count, bits, random.bytes, lead), edges)
    assert chisquare(counts, chances * count).pvalue > 1e-3


def test_on_a_fine_grid_the_moments_are_those_of_a_normal():
    numbers = floored_normals(400_000, 30, np.random.default_rng(4).bytes) / 2.0**30
    for power, moment in ((1, 0), (2, 1), (3, 0), (4, 3), (6, 15)):
        spread = np.std(numbers**power) / np.sqrt(len(numbers))
        assert np.mean(numbers**power) == pytest.approx(moment, abs=4 * spread)
    assert np.abs(np.corrcoef(numbers[1:], numbers[:-1])[0, 1]) < 0.01
    assert len(np.unique(floored_normals(1_000, 30))) == 1_000


def test_the_tails_have_no_end():
    """Bits worth 2**-75 lie between the chances of a whole part of 11 or more and of 10 or more.

    Box and Muller's transform of 32 bits ends at 6.8.
    """

    def entropy(count):
        return (1 << 20).to_bytes(8, "little") if count == 8 else bytes(count)

    assert floored_normals(1, 4, entropy) == [10 * 2**4]


def test_the_system_gives_other_numbers_every_time():
    assert (floored_normals(50, 20) != floored_normals(50, 20)).any()


@pytest.mark.nightly
def test_against_the_discrete_gaussian_of_opendp():
    """On a fine grid both are normal to the eye of a test: OpenDP's, and ours moved by a half."""
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    theirs = np.array(dp.m.make_gaussian(*space, scale=2.0**20)([0] * 100_000))
    ours = floored_normals(400_000, 20)
    edges = np.linspace(-3, 3, 61) * 2**20
    table = [np.bincount(np.searchsorted(edges, side), minlength=62) for side in (theirs, ours)]
    assert chi2_contingency(table).pvalue > 1e-3
