"""Principal components of points."""

import numpy as np
import pytest

from policy_engine.kernels.generative.principal_components import principal_components


def test_the_first_direction_is_that_of_the_greatest_variance():
    points = np.array([[1.0, 1], [3, 3], [5, 5], [2, 4], [4, 2]])
    components = principal_components(points, 1)
    assert components.middle.tolist() == [3.0, 3.0]
    assert np.allclose(components.directions.ravel(), [np.sqrt(0.5)] * 2)
    expected = np.array([-2, 0, 2, 0, 0]) * np.sqrt(2)
    assert np.allclose(components.project(points).ravel(), expected, atol=1e-6)


def test_distances_are_kept_by_all_components():
    points = np.random.default_rng(0).normal(5, 2, (30, 4))
    projected = principal_components(points, 40).project(points)
    assert projected.shape == (30, 4)
    pairs = np.linalg.norm(points[:, None] - points, axis=2)
    assert np.allclose(np.linalg.norm(projected[:, None] - projected, axis=2), pairs, atol=1e-4)


def test_components_are_those_of_singular_values():
    points = np.random.default_rng(1).normal(size=(50, 6)) * [5, 4, 3, 2, 1, 0.5]
    projected = principal_components(points, 3).project(points)
    away = points - points.mean(axis=0)
    _, values, directions = np.linalg.svd(away)
    assert np.allclose(np.abs(projected), np.abs(away @ directions[:3].T), atol=1e-4)
    assert np.allclose((projected**2).sum(axis=0), values[:3] ** 2, rtol=1e-4)


def test_components_of_very_many_columns_are_the_same():
    random = np.random.default_rng(3)
    factors = random.normal(size=(120, 60)) * 0.8 ** np.arange(60)
    points = factors @ np.linalg.qr(random.normal(size=(1100, 60)))[0].T
    points += random.normal(0, 1e-4, points.shape)
    projected = principal_components(points, 10).project(points)
    _, values, directions = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    expected = (points - points.mean(axis=0)) @ directions[:10].T
    assert np.allclose((projected**2).sum(axis=0), values[:10] ** 2, rtol=1e-4)
    assert np.allclose(np.abs(projected), np.abs(expected), atol=1e-3)


def test_components_of_few_points_with_very_many_columns_are_found_at_once():
    points = np.random.default_rng(4).normal(size=(30, 6_000))
    projected = principal_components(points, 40).project(points)
    pairs = np.linalg.norm(points[:, None] - points, axis=2)
    assert np.allclose(np.linalg.norm(projected[:, None] - projected, axis=2), pairs, rtol=1e-4)


@pytest.mark.parametrize("count", [1, 8193, 20_000])
def test_points_are_projected_one_as_many(count):
    points = np.random.default_rng(2).normal(size=(20_000, 3))
    components = principal_components(points, 2)
    assert np.allclose(components.project(points)[:count], components.project(points[:count]))
