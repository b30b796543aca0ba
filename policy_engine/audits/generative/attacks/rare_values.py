"""Members' rare values occur among synthetic ones: each column by itself, exact values."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.attacks.rows import labelled_cells
from policy_engine.audits.generative.material import Material
from policy_engine.kernels.estimates import NotApplicable

Floats = NDArray[np.float64]


def rare_values(material: Material) -> Floats | NotApplicable:
    """Return how surprising the values of audited records are that occur in synthetic ones, (n,).

    The surprise at a value is -log of its frequency among the public records. It counts by whether
    the value occurs in the synthetic column, less how probable that is by chance, and is summed
    over the columns: common values, which occur anyway, say nothing. A generator that writes the
    values of its table as they are shows each of them, whatever it does to what goes together.
    """
    if not material.is_table:
        return NotApplicable(reason="Columns are of tables, and these are arrays.")
    if material.synthetic is None:
        return NotApplicable(reason="There are no released records.")
    audited, synthetic, public = (
        labelled_cells(material, one).T
        for one in (material.audited, material.synthetic, material.public)
    )
    surprises = map(_surprise, audited, synthetic, public)
    scores: Floats = np.sum([*surprises], axis=0)
    return scores


def _surprise(values: Floats, synthetic: Floats, public: Floats) -> Floats:
    """Return the surprise at each value of a column, (n,); what is missing is a value, too."""
    # Half an occurrence more: a value that is not public is rarer than any that is.
    frequencies = (_counts(values, public) + 0.5) / (len(public) + 1)
    by_chance = -np.expm1(len(synthetic) * np.log1p(-frequencies))
    occurs = _counts(values, synthetic) > 0
    surprises: Floats = (occurs - by_chance) * -np.log(frequencies)
    return surprises


def _counts(values: Floats, others: Floats) -> NDArray[np.int64]:
    """Return how often each value occurs among others, (n,)."""
    distinct, numbers = np.unique(others, return_counts=True)
    places = np.minimum(np.searchsorted(distinct, values), len(distinct) - 1)
    is_equal = (distinct[places] == values) | (np.isnan(distinct[places]) & np.isnan(values))
    return np.where(is_equal, numbers[places], 0)
