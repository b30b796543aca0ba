"""Members have a smaller error than a record like them would have, had nobody seen it."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.attacks.monte_carlo import MonteCarlo
from policy_engine.audits.generative.material import Ints, Material, RecordSet
from policy_engine.audits.generative.spaces.space import RecordSpace
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.generative.nearest_samples import NearestSamples

Floats = NDArray[np.float64]

_NEIGHBOURS = (1, 5, 20)
FEWEST_REFERENCES = 200
"""How many references expectations are fitted on at least."""
_BATCH = 10_000
_LEAST = 1e-6
_LEAST_IN_TABLES = 0.01


def calibrated_nearest_sample(material: Material, state: MonteCarlo) -> Floats | NotApplicable:
    """Return by how much nearer a sample is than it should be to a record not seen, (n,).

    The state has compared samples `with_references`. See `calibrated`.
    """
    references = state.reference_distances
    if references is None:
        return NotApplicable(
            reason="There are no reference records that samples were compared with."
        )
    return calibrated(material, state.space, -state.scores(), references)


def calibrated(
    material: Material, space: RecordSpace, errors: Floats, reference_errors: Floats
) -> Floats | NotApplicable:
    """Return the logarithm of the error that a record is expected to have, less that of its own.

    `errors` (n,) are those of the audited records by any attack, such as distances or squared
    errors of reconstruction, and `reference_errors` (f,) those of the references for `fitting`.
    What is expected is fitted on these alone, by least squares on how far other references of the
    class are, how far the record is from the middle, how much there is of it, and its class: so
    records that are hard for every generator are told from those that it has not seen. Errors that
    are not finite count as the greatest.
    """
    reference, fitting = material.reference, material.fitting
    if reference is None or fitting is None or len(reference) < FEWEST_REFERENCES:
        count = 0 if reference is None else len(reference)
        return NotApplicable(
            reason=f"There are {count} reference records; {FEWEST_REFERENCES} are needed."
        )
    least = _LEAST_IN_TABLES if material.is_table else _LEAST
    features = _features(material, space, reference, material.audited, least)
    own = _features(material, space, reference, fitting, least)
    weights = np.linalg.lstsq(own, _logarithms(reference_errors, least), rcond=None)[0]
    scores: Floats = features @ weights - _logarithms(errors, least)
    return scores


def _logarithms(errors: Floats, least: float) -> Floats:
    is_finite = np.isfinite(errors)
    known_errors = np.where(is_finite, errors, errors[is_finite].max(initial=least))
    logarithms: Floats = np.log(np.maximum(known_errors, least))
    return logarithms


def _features(
    material: Material, space: RecordSpace, reference: RecordSet, records: RecordSet, least: float
) -> Floats:
    """Return what the error of records should follow from, (n, features)."""
    points, others = (
        one[:, : one.shape[1] - space.ranks]
        for one in (space.apply(records.values), space.apply(reference.values))
    )
    middle = others.mean(axis=0)
    columns = [np.ones(len(records)), np.linalg.norm(points - middle, axis=1)]
    if not material.is_table:
        values = records.values.astype(np.float64)
        away = values - reference.values.mean(axis=0, dtype=np.float64)
        columns += [np.linalg.norm(away, axis=1), np.abs(values).mean(axis=1)]
    logarithms = np.log(np.maximum(np.column_stack(columns), least))
    classes = (
        np.eye(len(material.classes))[records.labels] * (records.labels >= 0)[:, None]
        if records.labels is not None and material.classes
        else np.zeros((len(records), 0))
    )
    skipped = int(records is material.fitting)
    neighbours = _neighbour_distances(space, reference, records, skipped)
    return np.column_stack([np.log(np.maximum(neighbours, least)), logarithms, classes, columns[0]])


def _neighbour_distances(
    space: RecordSpace, reference: RecordSet, records: RecordSet, skipped: int
) -> Floats:
    """Return the distances to the 1st, 5th and 20th reference of the class, after those skipped."""
    points, most = space.apply(records.values), _NEIGHBOURS[-1] + skipped
    near = NearestSamples(points, records.labels, most, ranks=space.ranks)
    for start in range(0, len(reference), _BATCH):
        rows = slice(start, start + _BATCH)
        near.update(space.apply(reference.values[rows]), _part(reference.labels, rows))
    squares = near.squares[:, skipped:]
    farthest = squares[np.isfinite(squares)].max(initial=0.0)
    chosen = squares[:, np.array(_NEIGHBOURS) - 1]
    return np.sqrt(np.where(np.isfinite(chosen), chosen, farthest))


def _part(labels: Ints | None, rows: slice) -> Ints | None:
    return None if labels is None else labels[rows]
