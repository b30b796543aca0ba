"""Families of distances learned one from the other, and how they link persons not learned from."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.linkage.learned.distances import Distances, Floats
from policy_engine.kernels.linkage.learned.learning import LearnedLinkage, learn
from policy_engine.kernels.linkage.learned.linked import linked

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def learn_in_turn(
    differences: Floats, own: Ints, families: Sequence[Distances], seconds: float = 10.0
) -> tuple[LearnedLinkage, ...]:
    """Return the linkage by the best distance of each family, in so many seconds each.

    Each starts from the best distances of those before it. So a family that holds another one,
    later in the order, links no fewer.
    """
    found: list[LearnedLinkage] = []
    for distances in families:
        starts = [
            (family, linkage.parameters) for family, linkage in zip(families, found, strict=False)
        ]
        found.append(learn(differences, own, distances, starts, seconds))
    return tuple(found)


def held_out(
    differences: Floats,
    own: Ints,
    families: Sequence[Distances],
    folds: Ints,
    seconds: float = 10.0,
) -> Bools:
    """Return whom distances link that are learned without them, (families, persons).

    For each of the `folds`, (persons,), each family is learned in turn from the persons of the
    others, among all records. That is what an intruder reaches who knows the right links of the
    others, where `learn` tells what the very same persons would tell.
    """
    found = np.zeros((len(families), len(own)), dtype=bool)
    for fold in np.unique(folds):
        inside, outside = folds == fold, folds != fold
        learned = learn_in_turn(differences[outside], own[outside], families, seconds)
        for which, (distances, linkage) in enumerate(zip(families, learned, strict=True)):
            found[which, inside] = linked(
                differences[inside], own[inside], distances, linkage.parameters
            )
    return found
