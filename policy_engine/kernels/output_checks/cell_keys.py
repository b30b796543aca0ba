"""Noise and rounding that follow from who is counted: the same persons, the same in every table.

Fraser and Wooton: A proposed method for confidentialising tabular output to protect against
differencing, UNECE work session on statistical data confidentiality, 2005; the table of
probabilities is that of Marley and Leaver: A method for confidentialising user-defined tables, ISI
World Statistics Congress, 2011. Totals get noise of their own keys, so that tables do not add up:
that is by design, as sums of noisy cells would average the noise out. It has no bound on what many
tables tell together, as differential privacy has, and whoever has the key can take it away.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.normal import uniforms
from policy_engine.kernels.output_checks.table_system import Floats, Ints
from policy_engine.kernels.random_rounding import round_at_random
from policy_engine.kernels.siphash import Words, derive_key, hash_rows

_UNITS, _CELLS, _ROUNDED = 1, 2, 3
"""Numbers of the keys for units, for noise and for rounding, all derived from the secret one."""
_STEPS = 200
_EXACT, _NEAR, _ROUNDING = 1e-10, 1e-8, 1e-14


@dataclass(frozen=True, eq=False)
class NoiseTable:
    """The probabilities of noise, (most + 1, 2 * most + 1), from -most to most.

    Row i is for cells of i, and the last one for all larger cells as well. Each has mean 0 and the
    variance, but the first: a cell of nobody stays 0.
    """

    most: int
    variance: float
    probabilities: Floats


def noise_table(most: int, variance: float) -> NoiseTable:
    """Return noise of at most so much, without bias, and never below 0 once it is added.

    Of all such noise of that variance it has the largest entropy. Raises ValueError for a variance
    that is not above 0 and below `most`, which is the largest that cells of 1 can have, or of
    which no such distribution is found.
    """
    if most < 1 or not 0 < variance < most:
        raise ValueError(f"Noise up to {most} has a variance above 0 and below {most}.")
    probabilities = np.zeros((most + 1, 2 * most + 1))
    probabilities[0, most] = 1.0
    for count in range(1, most + 1):
        probabilities[count, most - count :] = _widest(np.arange(-count, most + 1), variance)
    return NoiseTable(most, variance, probabilities)


def _widest(noise: Ints, variance: float) -> Floats:
    """Return the probabilities of largest entropy with mean 0 and a variance: exp(a x + b x^2).

    By Newton's method on the convex dual, with steps halved until it falls.
    """
    moments = np.stack([noise, noise**2 - variance]).astype(np.float64)
    factors = np.zeros(2)
    for _ in range(_STEPS):
        shares = _shares(factors @ moments)
        means = moments @ shares
        if np.abs(means).max() < _EXACT:
            return shares
        spread = (moments * shares) @ moments.T - np.outer(means, means)
        step, size = np.linalg.solve(spread + 1e-12 * np.eye(2), means), 1.0
        highest = _dual(factors @ moments) + _ROUNDING
        while _dual((factors - size * step) @ moments) > highest and size > 1e-12:
            size /= 2
        factors = factors - size * step
    # Beside rounding, no step falls any more.
    if np.abs(means).max() < _NEAR:
        return shares
    raise ValueError(f"No noise from {noise[0]} to {noise[-1]} has the variance {variance}.")


def _shares(exponents: Floats) -> Floats:
    weights = np.exp(exponents - exponents.max())
    return np.asarray(weights / weights.sum())


def _dual(exponents: Floats) -> float:
    highest = float(exponents.max())
    return highest + float(np.log(np.exp(exponents - highest).sum()))


def unit_keys(units: Words, secret: Words) -> Words:
    """Return the key of each unit, (units,), by its number, (units,), and a secret key, (2,)."""
    return hash_rows([units], derive_key(secret, _UNITS))[:, 0]


def sums_of_keys(keys: Words, cells: Ints, count: int) -> Words:
    """Return the key of each cell, (count,): the sum modulo 2**64 of the keys of its units.

    `keys` and `cells` are those of each unit in each cell, (entries,): a unit that is in a cell by
    several rows is one entry. So the key of a population does not depend on how it is asked for.
    """
    sums = np.zeros(count, dtype=np.uint64)
    np.add.at(sums, cells, keys)
    return sums


def add_noise(counts: Ints, keys: Words, table: NoiseTable, secret: Words) -> Ints:
    """Return counts of units, (cells,), with the noise that follows from the cells' keys, (cells,).

    The noise is drawn by a keyed hash: without the secret it cannot be told from noise drawn anew.
    """
    hashes = hash_rows([keys], derive_key(secret, _CELLS))[:, 0]
    rows = np.minimum(counts, table.most)
    steps: NDArray[np.float64] = np.cumsum(table.probabilities, axis=1)[:, :-1]
    places = (uniforms(hashes)[:, np.newaxis] >= steps[rows]).sum(axis=1)
    # Rounded probabilities that end before 1, or begin after 0, never lead out of the support.
    return np.asarray(np.maximum(counts + places - table.most, 0))


def round_by_keys(counts: Ints, keys: Words, base: int, secret: Words) -> Ints:
    """Return counts of units, (cells,), rounded without bias to multiples of a base beside them.

    Each is expected to be the count; which multiple it becomes follows from the cells' keys,
    (cells,), drawn by a keyed hash of its own for each base, so that one drawn as noise, or for
    another base, tells nothing of it.
    """
    bases = np.full(len(keys), base, dtype=np.uint64)
    hashes = hash_rows([keys, bases], derive_key(secret, _ROUNDED))[:, 0]
    return round_at_random(counts.astype(np.float64), base, hashes).astype(np.int64)
