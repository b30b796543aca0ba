"""Figures of a released model, rounded so that they do not reveal a few records."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.coarsening import round_step_up

Floats = NDArray[np.float64]
_SHARE = 0.01
"""The step of shares in leaves: how many records there are in a leaf does not show."""


def round_to_steps(values: Any, steps: Any) -> Floats:
    """Return each value as the nearest multiple of its step; unchanged where the step is 0."""
    numbers, step = np.broadcast_arrays(
        np.asarray(values, np.float64), np.asarray(steps, np.float64)
    )
    safe = np.where(step > 0, step, 1.0)
    # Divided by a whole number where a step is below 1: 3 / 10 is .3, and 3 * .1 is not.
    parts = np.round(1 / safe)
    is_part = (safe < 1) & np.isclose(parts * safe, 1)
    multiples = np.round(numbers / safe)
    rounded = np.where(is_part, multiples / np.where(is_part, parts, 1.0), multiples * safe)
    return np.where(step > 0, rounded, numbers) + 0.0


def steps_of(shifts: Any) -> Floats:
    """Return the least 1, 2 or 5 times a power of ten that is not below each shift."""
    steps = np.vectorize(round_step_up, otypes=[np.float64])(np.asarray(shifts, np.float64))
    return np.asarray(steps, np.float64)


def round_leaf_shares(values: Floats, step: float = _SHARE) -> Floats:
    """Return shares (..., C) in whole steps that sum to 1, the largest remainders rounded up."""
    units = round(1 / step)
    exact = values * units
    floor = np.floor(exact + 1e-9)
    remaining = np.round(units - floor.sum(axis=-1, keepdims=True))
    order = np.argsort(-(exact - floor), axis=-1, kind="stable")
    rank = np.argsort(order, axis=-1, kind="stable")
    return np.asarray((floor + (rank < remaining)) / units)


def round_priors(values: Floats, records: int, fewest: int) -> Floats:
    """Return shares of classes (C,), of which so few records more or less change nothing.

    None is 0, and they sum to 1.
    """
    step = round_step_up(min(fewest / records, 1.0))
    units = np.maximum(np.round(values / step), 1.0)
    return np.asarray(units / units.sum())


def round_shares(values: Floats, records: Any, fewest: int) -> Floats:
    """Return shares of records, in steps of `fewest` records, and never 0 or 1."""
    step = steps_of(np.minimum(fewest / np.asarray(records, np.float64), 1.0))
    return np.clip(round_to_steps(values, step), step / 2, 1 - step / 2)
