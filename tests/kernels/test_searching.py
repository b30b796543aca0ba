"""Links are the same however the persons are divided."""

import numpy as np
import pytest

from policy_engine.kernels.linkage import (
    ColumnLikelihood,
    likelihood_links,
    links,
    links_by_likelihood,
    plant,
    probabilistic_links,
)
from policy_engine.kernels.linkage.fellegi_sunter import PatternPersons
from policy_engine.kernels.linkage.shifts import drawn_by_matrix
from policy_engine.kernels.searching import parts_of, search_here

RANDOM = np.random.default_rng(3)
KNOWN = RANDOM.integers(0, 9, (40, 3)).astype(float)
RELEASED = np.clip(KNOWN + RANDOM.integers(-1, 2, KNOWN.shape), 0, 8)[5:]
OWN = np.arange(40) - 5
OWN[OWN < 0] = -1


def in_parts(rows):
    return lambda index, persons: np.concatenate(
        [index.links(part) for part in parts_of(persons, rows)]
    )


@pytest.mark.parametrize("rows", [1, 7, 40])
def test_links_are_the_same_in_parts(rows):
    tree, box = plant(RELEASED), (KNOWN - 1, KNOWN + 1)
    for ends in ((), box):
        found = links(tree, KNOWN, OWN, *ends, search=in_parts(rows))
        assert found.tolist() == links(tree, KNOWN, OWN, *ends).tolist()
        assert found.any()


@pytest.mark.parametrize("rows", [1, 7, 40])
def test_links_by_likelihood_are_the_same_in_parts(rows):
    matrix = np.full((9, 9), 0.05) + 0.55 * np.eye(9)
    drawn = drawn_by_matrix(KNOWN[:, 0].astype(int), RELEASED[:, 0].astype(int), matrix)
    noisy = ColumnLikelihood("normal", KNOWN[:, 1], RELEASED[:, 1], low=KNOWN[:, 1] - 1)
    found = links_by_likelihood([drawn, noisy], OWN, in_parts(rows))
    assert found.tolist() == likelihood_links([drawn, noisy], OWN).linked.tolist()
    assert found.any()


@pytest.mark.parametrize("rows", [1, 7, 40])
def test_probabilistic_links_are_the_same_in_parts(rows):
    codes, released = KNOWN.astype(int), RELEASED.astype(int)
    found, _ = probabilistic_links(codes, released, OWN, in_parts(rows))
    assert found.tolist() == probabilistic_links(codes, released, OWN, search_here)[0].tolist()
    assert found.any()


def test_nobody_is_one_part():
    assert len(list(parts_of(PatternPersons(np.zeros((0, 2)), np.zeros(0)), 5))) == 1
