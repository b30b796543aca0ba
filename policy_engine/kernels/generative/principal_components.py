"""The directions in which points vary most."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_BLOCK = 8192


class Components(NamedTuple):
    """The middle of points, (d,), and the directions from it, (d, k), of unit length."""

    middle: NDArray[np.float32]
    directions: NDArray[np.float32]

    def project(self, points: NDArray[Any]) -> NDArray[np.float32]:
        """Return the coordinates of points (n, d), (n, k), not scaled."""
        projected = np.empty((len(points), self.directions.shape[1]), np.float32)
        offset = self.middle @ self.directions
        for start in range(0, len(points), _BLOCK):
            rows = slice(start, start + _BLOCK)
            np.matmul(
                points[rows].astype(np.float32, copy=False), self.directions, out=projected[rows]
            )
            projected[rows] -= offset
        return projected


def principal_components(points: NDArray[Any], count: int) -> Components:
    """Return the `count` directions of the greatest variance of points (n, d), or all d of them.

    They are eigenvectors of the covariance matrix, each with its largest part positive; of very
    many columns they are found by subspace iteration, which is near to them where the variances
    fall, and else as good.
    """
    points = np.asarray(points, np.float64)
    middle = points.mean(axis=0)
    find = _leading if min(points.shape) > count + _MORE and points.shape[1] > _MANY else _all
    directions = find(points - middle, count)
    largest = directions[np.abs(directions).argmax(axis=0), np.arange(directions.shape[1])]
    return Components(
        middle.astype(np.float32), (directions * np.where(largest < 0, -1, 1)).astype(np.float32)
    )


_MANY = 1024
"""Columns of which eigenvectors of the whole covariance matrix would take seconds."""
_MORE = 40
_ITERATIONS = 20


def _all(away: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    if away.shape[1] > _MANY:  # few points: no matrix of all pairs of columns is needed
        rows: NDArray[np.float64] = np.linalg.svd(away, full_matrices=False)[2][:count]
        return rows.T
    _, vectors = np.linalg.eigh(away.T @ away)
    return vectors[:, ::-1][:, :count]


def _leading(away: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    # Halko, Martinsson and Tropp, SIAM Review 2011, algorithm 4.4: more directions than are needed,
    # multiplied by the covariance again and again.
    vectors = np.random.default_rng(0).normal(size=(away.shape[1], count + _MORE))
    for _ in range(_ITERATIONS):
        vectors = np.linalg.qr(away.T @ (away @ vectors))[0]
    rotation = np.linalg.svd(away @ vectors, full_matrices=False)[2]
    leading: NDArray[np.float64] = (vectors @ rotation.T)[:, :count]
    return leading
