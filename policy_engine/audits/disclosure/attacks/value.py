"""Record linkage by values themselves: what was not changed is found, whatever became of others.

Where cells are suppressed or coded, or rows left out, the mean and the standard deviation of a file
move, and values that stayed as they were no longer coincide on the scale of each file by itself.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.attacks.probabilistic import (
    probabilistic_linkage,
    probabilistic_taken,
)
from policy_engine.audits.disclosure.files import TwoFiles
from policy_engine.audits.disclosure.scales import are_points, distance_columns, points
from policy_engine.audits.disclosure.settings import MOST_EXACT, AttackSettings
from policy_engine.audits.disclosure.text_orders import in_order_of_codes
from policy_engine.errors import format_count
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.linkage.column_likelihood import ColumnLikelihood
from policy_engine.kernels.linkage.likelihood import greatest_likelihoods, links_by_likelihood
from policy_engine.kernels.linkage.nearest import links, nearest_distances
from policy_engine.kernels.linkage.tree import plant
from policy_engine.kernels.searching import Search, search_here

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def value_linkage(files: TwoFiles, search: Search = search_here) -> Floats:
    """Return for each person the probability of a right link, (persons,).

    The nearest record is taken, the numbers of both files being in the standard deviations of the
    original, so that equal ones are at the distance 0; codes such as S00123 are compared by their
    ranks, other columns as by distance. `search` says where records are looked for.
    """
    in_order = _in_order(files)
    if are_points(in_order):
        known_values, released = points(in_order, scale_by_original=True)
        return links(plant(released), known_values, files.own, search=search)
    return links_by_likelihood(_compared(in_order), files.own, search)


def value_taken(files: TwoFiles, persons: Ints) -> Floats:
    """Return the distance of the record linked to each of some persons, (persons,)."""
    in_order = _in_order(files)
    if are_points(in_order):
        known_values, released = points(in_order, scale_by_original=True)
        return nearest_distances(plant(released), known_values, persons)
    return -greatest_likelihoods(_compared(in_order), persons)


def exact_linkage(files: TwoFiles, settings: AttackSettings) -> Floats | NotApplicable:
    """Return for each person the probability of a right link, (persons,).

    The record is taken that has the very values of the most telling columns, as `probabilistic`
    linkage weighs them.
    """
    persons = len(files.own)
    most = MOST_EXACT >> len(files.columns)
    if persons > most:
        by = format_count(len(files.columns), "column")
        reason = f"it compares {most:,} persons at most by {by}, and there are {persons:,}"
        return NotApplicable(reason=reason)
    return probabilistic_linkage(files, replace(settings, agreement="equal"))


def exact_taken(files: TwoFiles, persons: Ints, settings: AttackSettings) -> Floats:
    """Return the negative weight of the record linked to each of some persons, (persons,)."""
    return probabilistic_taken(files, persons, replace(settings, agreement="equal"))


def _in_order(files: TwoFiles) -> TwoFiles:
    return replace(files, columns=tuple(map(in_order_of_codes, files.columns)))


def _compared(files: TwoFiles) -> list[ColumnLikelihood]:
    parts = (distance_columns(one, scale_by_original=True) for one in files.columns)
    return [part for one in parts for part in one]
