"""Symmetric bilinear forms of the differences: distances that weigh columns and pairs of them."""

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.linkage.learned.distances import Distances, Floats, singletons


def bilinear(columns: int) -> Distances:
    """Return the forms with a positive semidefinite matrix of trace 1.

    The parameters are the upper triangle of the matrix, row by row. The weighted means are the
    diagonal matrices, the Mahalanobis distance an inverse covariance (Abril, Torra and
    Navarro-Arribas: Supervised learning using a symmetric bilinear function for record linkage,
    Information Fusion 26, 2015).
    """
    one, two = np.triu_indices(columns)
    twice = np.where(one == two, 1.0, 2.0)
    diagonal = (one == two).astype(np.float64)

    def features(differences: Floats) -> Floats:
        products: Floats = differences[..., one] * differences[..., two] * twice
        return products

    def from_sets(values: Floats) -> Floats:
        parameters = np.zeros(len(one))
        parameters[one == two] = values[singletons(columns)]
        member: Floats = parameters / parameters.sum()
        return member

    return Distances(
        name="symmetric bilinear form",
        columns=columns,
        features=features,
        constraints=features(_directions(columns)),
        total=diagonal,
        inner=diagonal / columns,
        corners=np.eye(len(one))[one == two],
        from_sets=from_sets,
        ordered=None,
    )


def matrix_of(parameters: Floats) -> Floats:
    """Return the matrix, (columns, columns), of which the parameters are the upper triangle."""
    columns = int(np.sqrt(2 * len(parameters)))
    matrix = np.zeros((columns, columns))
    matrix[np.triu_indices(columns)] = parameters
    whole: Floats = matrix + np.triu(matrix, 1).T
    return whole


def semidefinite(parameters: Floats) -> Floats:
    """Return the parameters of the matrix without its negative eigenvalues, of trace 1."""
    values, vectors = np.linalg.eigh(matrix_of(parameters))
    values = np.maximum(values, 0)
    matrix = (vectors * (values / values.sum())) @ vectors.T
    upper: Floats = matrix[np.triu_indices(len(matrix))]
    return upper


def negative_directions(parameters: Floats) -> Floats:
    """Return the differences, (directions, columns), of which the form is negative."""
    values, vectors = np.linalg.eigh(matrix_of(parameters))
    directions: Floats = vectors.T[values < -_NEGATIVE]
    return directions


_NEGATIVE = 1e-9
"""Eigenvalues down to minus this count as non-negative."""


def _directions(columns: int) -> Floats:
    """Return directions of which no such form is negative: columns, their sums and differences."""
    one, two = np.triu_indices(columns, 1)
    eye: NDArray[np.float64] = np.eye(columns)
    return np.vstack([eye, eye[one] + eye[two], eye[one] - eye[two]])
