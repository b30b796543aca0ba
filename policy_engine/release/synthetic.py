"""Makes a synthetic table: draws noise for counts of columns and of pairs, once, and then rows.

MST (McKenna, Miklau and Sheldon: Winning the NIST Contest, Journal of Privacy and Confidentiality
11(3), 2021): noisy counts of every column, a tree of pairs of columns chosen by them, noisy counts
of these, and the likeliest distribution of that tree. What is read of the data is counts, with
noise, and choices; the rest is a function of both.
"""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from policy_engine.kernels.differential_privacy import selection
from policy_engine.kernels.differential_privacy.noise import discrete_gaussian, discrete_laplace
from policy_engine.kernels.synthetic_tables.drawing_rows import Codes, drawn_rows, expanded
from policy_engine.kernels.synthetic_tables.rare_values import (
    distance_from_independence,
    merged_counts,
    merged_values,
)
from policy_engine.kernels.synthetic_tables.tree_model import (
    Floats,
    NoisyCounts,
    Pair,
    TreeModel,
    fitted_tree,
    nearest_shares,
)
from policy_engine.plan.aggregates.model import AddedNoise
from policy_engine.plan.steps import AggregateStep

if TYPE_CHECKING:
    from policy_engine.engines.statistics.tallies import Tallies

NUMBERS: Mapping[str, Callable[[Sequence[int], Fraction], list[int]]] = {
    "discrete-laplace": discrete_laplace,
    "discrete-gaussian": discrete_gaussian,
}
CHOICES: Mapping[str, Callable[[Sequence[int], Fraction], int]] = {
    "permute-and-flip": selection.permute_and_flip,
    "exponential": selection.exponential,
}
"""How numbers get noise, and how one of several is chosen, by the names of the mechanisms."""


def synthetic_codes(step: AggregateStep, tallies: "Tallies") -> list[list[int]]:
    """Return the cells of a synthetic table, column by column, each as the place of its value.

    Noise is drawn here, so the caller has charged it before.
    """
    measured = measured_tree(step, tallies)
    generator = np.random.default_rng(secrets.randbits(128))
    codes = drawn_rows(measured.fitted(), step.rows or 1, generator)
    return [
        expanded(codes[:, place], classes, nearest_shares(noisy), generator).tolist()
        for place, (classes, noisy) in enumerate(
            zip(measured.classes, measured.columns, strict=True)
        )
    ]


@dataclass(frozen=True)
class MeasuredTree:
    """What is known of a table with noise: counts of the values of its columns, in which classes
    they are merged, and counts of the classes of pairs."""

    columns: Sequence[Floats]
    classes: Sequence[Codes]
    pairs: Mapping[Pair, Floats]
    variance: float
    pair_variance: float

    def counts(self) -> NoisyCounts:
        """Return the noisy counts of classes."""
        merged = [
            merged_counts(noisy, [classes])
            for noisy, classes in zip(self.columns, self.classes, strict=True)
        ]
        return NoisyCounts(merged, self.pairs, self.variance, self.pair_variance)

    def fitted(self) -> TreeModel:
        """Return the likeliest distribution of classes."""
        return fitted_tree(self.counts())


def measured_tree(step: AggregateStep, tallies: "Tallies") -> MeasuredTree:
    """Return noisy counts of the columns of a table, and of a tree of pairs chosen with noise."""
    number = len(step.figures)
    choice, pair_noise = step.pair_noise
    noises = [one.noise[0] for one in step.figures]
    columns = [
        _noisy(noise, np.asarray(tallies.sums[place])[0]) for place, noise in enumerate(noises)
    ]
    variance, pair_variance = _variance(noises[0]), _variance(pair_noise)
    classes = [merged_values(one, variance**0.5) for one in columns]
    exact = {
        (one, other): merged_counts(
            np.asarray(sums)[0].reshape(len(columns[one]), len(columns[other])),
            [classes[one], classes[other]],
        )
        for (one, other), sums in zip(step.pairs, tallies.sums[number:], strict=True)
    }
    unpaired = MeasuredTree(columns, classes, {}, variance, pair_variance)
    tree = chosen_tree(choice, unpaired.counts(), exact)
    pairs = {pair: _noisy(pair_noise, exact[pair]) for pair in tree}
    return MeasuredTree(columns, classes, pairs, variance, pair_variance)


def chosen_tree(
    noise: AddedNoise, counts: NoisyCounts, exact: Mapping[Pair, Codes]
) -> tuple[Pair, ...]:
    """Return pairs of columns that join all of them, chosen one after another.

    Each is one of those that join columns that none before does, and likely one whose counts are
    far from what the noisy counts of both columns alone let expect.
    """
    choose, total = CHOICES[noise.mechanism], counts.total()
    shares = [nearest_shares(one) for one in counts.columns]
    distances = {
        (one, other): distance_from_independence(
            table, total * np.outer(shares[one], shares[other])
        )
        for (one, other), table in exact.items()
    }
    part_of, tree = list(range(len(shares))), []
    for _ in range(noise.cells):
        joining = [(one, other) for one, other in exact if part_of[one] != part_of[other]]
        place = choose([distances[pair] for pair in joining], noise.exact_scale)
        one, other = joining[place]
        tree.append((one, other))
        joined, into = part_of[other], part_of[one]
        part_of = [into if part == joined else part for part in part_of]
    return tuple(tree)


def _noisy(noise: AddedNoise, counts: Codes) -> Floats:
    drawn = NUMBERS[noise.mechanism]([int(one) for one in counts.ravel()], noise.exact_scale)
    return np.array(drawn, dtype=np.float64).reshape(counts.shape)


def _variance(noise: AddedNoise) -> float:
    """Return the variance of the noise of a count, about: that of the continuous distributions."""
    scale = float(noise.exact_scale)
    return (2 if noise.mechanism == "discrete-laplace" else 1) * scale * scale
