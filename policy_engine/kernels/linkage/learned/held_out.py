"""Families of distances learned one from the other, and how they link persons not learned from."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.linkage.learned.distances import Distances, Floats
from policy_engine.kernels.linkage.learned.learning import LearnedLinkage, learn
from policy_engine.kernels.linkage.learned.linked import linked

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class HeldOutLinks:
    """Whom distances link that are learned without them, (families, persons), and these distances:
    for each fold, those learned from the persons of the others, by family."""

    links: Bools
    learned: tuple[tuple[LearnedLinkage, ...], ...]


def learn_in_turn(
    differences: Floats,
    own: Ints,
    families: Sequence[Distances],
    seconds: float = 10.0,
    earlier: Sequence[Sequence[LearnedLinkage]] = (),
) -> tuple[LearnedLinkage, ...]:
    """Return the linkage by the best distance of each family, in so many seconds each.

    Each starts from the best distances of those before it. So a family that holds another one,
    later in the order, links no fewer. Of `earlier` linkages by the same families, such as those
    learned from some of the persons, each distance is a start, too, and links no more.
    """
    own_linkages: list[LearnedLinkage] = []
    for number, distances in enumerate(families):
        starts = [(families[at], linkage.parameters) for at, linkage in enumerate(own_linkages)]
        starts += [(distances, linkages[number].parameters) for linkages in earlier]
        own_linkages.append(learn(differences, own, distances, starts, seconds))
    return tuple(own_linkages)


def held_out(
    differences: Floats,
    own: Ints,
    families: Sequence[Distances],
    folds: Ints,
    seconds: float = 10.0,
) -> HeldOutLinks:
    """Return whom distances link that are learned without them.

    For each of the `folds`, (persons,), each family is learned in turn from the persons of the
    others, among all records. That is what an intruder reaches who knows the right links of the
    others, where `learn` tells what the very same persons would tell.
    """
    is_linked = np.zeros((len(families), len(own)), dtype=bool)
    by_fold = []
    for fold in np.unique(folds):
        inside, outside = folds == fold, folds != fold
        learned = learn_in_turn(differences[outside], own[outside], families, seconds)
        by_fold.append(learned)
        for which, (distances, linkage) in enumerate(zip(families, learned, strict=True)):
            is_linked[which, inside] = linked(
                differences[inside], own[inside], distances, linkage.parameters
            )
    return HeldOutLinks(is_linked, tuple(by_fold))
