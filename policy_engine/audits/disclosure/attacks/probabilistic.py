"""Probabilistic record linkage (Fellegi and Sunter, 1969): by the columns in which pairs agree."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.files import KnownColumn, TwoFiles
from policy_engine.audits.disclosure.result import Agreement
from policy_engine.audits.disclosure.settings import DEFAULTS, AttackSettings
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.linkage.fellegi_sunter import (
    MOST_COLUMNS,
    greatest_weights,
    probabilistic_links,
)

Ints = NDArray[np.int64]


def probabilistic_linkage(
    files: TwoFiles, settings: AttackSettings = DEFAULTS
) -> NDArray[np.float64] | NotApplicable:
    """Return for each person the probability of a right link, (persons,).

    Numbers agree by the `agreement` of the settings: in the same of some bins of equal frequency,
    or where they are equal, as categories do, and missing cells with missing ones alone; a cell of
    several values agrees with none.
    """
    if len(files.columns) > MOST_COLUMNS:
        return NotApplicable(reason=f"it compares {MOST_COLUMNS} columns at most")
    compared = _compared(files, settings.agreement)
    return probabilistic_links(*compared, files.own, settings.search)[0]


def probabilistic_taken(
    files: TwoFiles, persons: Ints, settings: AttackSettings = DEFAULTS
) -> NDArray[np.float64]:
    """Return the negative weight of the record linked to each of some persons, (persons,)."""
    known_codes, released = _compared(files, settings.agreement)
    _, agreement = probabilistic_links(known_codes, released, files.own)
    return -greatest_weights(known_codes[persons], released, agreement)


def _compared(files: TwoFiles, agreement: Agreement) -> tuple[Ints, Ints]:
    known_codes, released = zip(*(_codes(one, agreement) for one in files.columns), strict=True)
    return np.column_stack(known_codes), np.column_stack(released)


def _codes(column: KnownColumn, agreement: Agreement) -> tuple[Ints, Ints]:
    if not column.is_number or agreement == "equal":
        return column.before.astype(np.int64), column.released_codes()
    known_values, (released, _) = column.known_numbers(), column.released_numbers()
    present = known_values[column.present]
    present = present[~np.isnan(present)]
    inner = np.arange(1, agreement) / agreement
    ends = np.quantile(present, inner) if len(present) else np.zeros(0)
    return _bin(known_values, ends), _bin(released, ends)


def _bin(values: NDArray[np.float64], ends: NDArray[np.float64]) -> Ints:
    """Return the bin of each value, from 1 on; 0 is that of missing ones."""
    places = np.searchsorted(np.unique(ends), values, side="right")
    return np.where(np.isnan(values), 0, places + 1).astype(np.int64)
