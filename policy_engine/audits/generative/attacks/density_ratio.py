"""Members are nearer to samples than they are to other records of the population."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.attacks.monte_carlo import MonteCarlo
from policy_engine.audits.generative.material import Material
from policy_engine.audits.generative.spaces.space import RecordSpace
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.generative.nearest_samples import NearestSamples

Floats = NDArray[np.float64]

NEIGHBOURS_IN_TABLES = 1
NEIGHBOURS = 20
"""Which reference record's distance stands for the density: farther ones are smoother, which serves
images, and hides the exact matches of tables."""
_BATCH = 10_000


def density_ratio(material: Material, state: MonteCarlo) -> Floats | NotApplicable:
    """Return log d(reference) - log d(sample) of the audited records, (n,).

    A record that is near to many others is near to samples too, whether the generator has seen it
    or not: the ratio of densities by nearest neighbours (Loftsgaarden and Quesenberry, Annals of
    Mathematical Statistics 1965) takes that away. It is the idea of DOMIAS (van Breugel and
    others, AISTATS 2023) without a density that is fitted.
    """
    references = reference_distances(material, state.space)
    if isinstance(references, NotApplicable):
        return references
    # Rows of tables are often equal. Two categories are 1 apart there, and a reference that is less
    # than a tenth of it away says no more than one that is equal: so an exact copy precedes all
    # others, and a copy of a rare row one of a common row.
    least = (
        (_LEAST_REFERENCE_IN_TABLES, _LEAST_IN_TABLES) if material.is_table else (_LEAST, _LEAST)
    )
    return _logarithms(references, least[0]) - _logarithms(-state.scores(), least[1])


def relative_to_references(
    scores: Floats, material: Material, space: RecordSpace, weight: float = 2.0
) -> Floats | NotApplicable:
    """Return weight * log d(reference) less the logarithms of errors, which are `-scores`, (n,).

    For attacks whose score is the error of a record, such as its reconstruction: that of a squared
    error has weight 2.
    """
    references = reference_distances(material, space)
    if isinstance(references, NotApplicable):
        return references
    return weight * _logarithms(references) - _logarithms(-scores)


def reference_distances(
    material: Material, space: RecordSpace, neighbours: int | None = None
) -> Floats | NotApplicable:
    """Return the distance of audited records to a reference record of their class, (n,).

    That of rows of tables is to the nearest, that of others to the 20th; to the farthest where a
    class has fewer, and as the farthest of all where it has none.
    """
    if material.reference is None:
        return NotApplicable(reason="There are no reference records.")
    audited, reference = material.audited, material.reference
    count = neighbours or (NEIGHBOURS_IN_TABLES if material.is_table else NEIGHBOURS)
    points, most = space.apply(audited.values), min(count, len(reference))
    near = NearestSamples(points, audited.labels, most, ranks=space.ranks)
    for start in range(0, len(reference), _BATCH):
        rows = slice(start, start + _BATCH)
        labels = None if reference.labels is None else reference.labels[rows]
        near.update(space.apply(reference.values[rows]), labels)
    squares = np.where(np.isfinite(near.squares), near.squares, -1).max(axis=1)
    distances: Floats = np.sqrt(np.where(squares < 0, squares.max(), squares))
    return distances


_LEAST = 1e-6
_LEAST_IN_TABLES = 0.01
_LEAST_REFERENCE_IN_TABLES = 0.1


def _logarithms(distances: Floats, least: float = _LEAST) -> Floats:
    logarithms: Floats = np.log(np.maximum(distances, least))
    return logarithms
