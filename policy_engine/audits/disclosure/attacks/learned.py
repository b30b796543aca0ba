"""Record linkage by distances that are learned from right links, the worst case for a release.

Abril, Navarro-Arribas and Torra: Improving record linkage with supervised learning for disclosure
risk assessment, Information Fusion 13(4), 2012.
"""

from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.files import TwoFiles
from policy_engine.audits.disclosure.result import LearnedDistance
from policy_engine.audits.disclosure.scales import differences
from policy_engine.audits.disclosure.settings import MOST_PERSONS_UNNAMED, AttackSettings
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.linkage.learned import (
    Distances,
    LearnedLinkage,
    bilinear,
    choquet,
    choquet_of_pairs,
    held_out,
    learn_in_turn,
    ordered_weighted_mean,
    weighted_mean,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEAST_PERSONS = 20
"""From half of fewer, no distance is learned that says anything of the others."""
MOST_CELLS = 1 << 27
"""Differences of every person from every record in every column: a gigabyte."""
MOST_COLUMNS_IN_SETS = 6
"""Of more columns, no weight is learned for every set of them: 2 ** 6 - 1 are 63."""
_SEED = 18


@dataclass(frozen=True)
class LearnedLinks:
    """Whom a distance links that was learned from others, (persons,), and what else is known."""

    linked: Floats
    distance: LearnedDistance


def learned_distance_linkage(
    files: TwoFiles, settings: AttackSettings
) -> tuple[LearnedLinks, ...] | NotApplicable:
    """Return the links by the best distance of each family.

    The intruder knows the right records of half of the persons, learns from them which distance
    links most, and links the other half by it; each half in turn. By default the distances are
    weighted means of squared differences. If the attack is named, they are also those of families
    with more parameters, each of which starts from the best of those before.
    """
    reason = _why_not(files, settings)
    if reason:
        return NotApplicable(reason=reason)
    columns = len(files.columns)
    families = [weighted_mean(columns)]
    if settings.names("learned-distance-linkage"):
        families += _further_families(columns)
    apart = np.stack([differences(one) for one in files.columns], axis=-1)
    return _learned(apart, files.own, families, _halves(files, apart), settings.seconds)


def _further_families(columns: int) -> list[Distances]:
    families = [ordered_weighted_mean(columns)]
    families += [choquet_of_pairs(columns, submodular=is_so) for is_so in (True, False)]
    if columns <= MOST_COLUMNS_IN_SETS:
        families += [choquet(columns, submodular=is_so) for is_so in (True, False)]
    return [*families, bilinear(columns)]


def _learned(
    apart: Floats, own: Ints, families: list[Distances], halves: Ints, seconds: float
) -> tuple[LearnedLinks, ...]:
    # A quarter of the time is for each half of the persons, half of it for all of them together,
    # who are linked no less well than by what was learned from a half.
    others = held_out(apart, own, families, halves, seconds / 4)
    best = learn_in_turn(apart, own, families, seconds / 2, earlier=others.learned)
    return tuple(
        LearnedLinks(links.astype(np.float64), _learned_distance(one))
        for one, links in zip(best, others.links, strict=True)
    )


def _learned_distance(one: LearnedLinkage) -> LearnedDistance:
    return LearnedDistance(
        distance=one.distances,
        in_sample=round(one.linked / one.persons, 5),
        bound=round(one.bound / one.persons, 5),
        is_proven=one.gap == 0,
        stopped=one.stopped,
    )


def _why_not(files: TwoFiles, settings: AttackSettings) -> str:
    persons, columns = len(files.own), len(files.columns)
    paired = int((files.own >= 0).sum())
    if not settings.names("learned-distance-linkage") and persons > MOST_PERSONS_UNNAMED:
        reason = f"it takes long for more than {MOST_PERSONS_UNNAMED:,} persons"
        return f"{reason}, unless it is asked for by name"
    if columns < 2:
        return "with one column known there is nothing to weigh"
    if paired < LEAST_PERSONS:
        return f"it learns from {LEAST_PERSONS} persons at least, and {paired} are in the release"
    cells = persons * files.released * columns
    if cells > MOST_CELLS:
        return f"it compares all pairs, {MOST_CELLS:,} values at most, and there are {cells:,}"
    if find_spec("highspy") is None:
        return "its solver is not installed: install policy-engine[audits]"
    return ""


def _halves(files: TwoFiles, apart: Floats) -> Ints:
    """Return the half, 0 or 1, that each person is in, by chance that no order of rows changes."""
    persons = np.arange(len(files.own))
    mine = np.where(files.own[:, np.newaxis] >= 0, apart[persons, files.own], 0.0)
    order = np.lexsort((files.own < 0, *mine.T, *(one.before for one in files.columns)))
    half = np.empty(len(persons), dtype=np.int64)
    half[order] = np.random.default_rng(_SEED).permutation(len(persons)) % 2
    return half
