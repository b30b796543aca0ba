"""Every attack that applies to a release, with more and more of its columns known, the most telling
ones first."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.absent import seemingly_found
from policy_engine.audits.disclosure.attacks.assignment import assignment_linkage
from policy_engine.audits.disclosure.attacks.distance import distance_linkage, distance_taken
from policy_engine.audits.disclosure.attacks.learned import learned_distance_linkage
from policy_engine.audits.disclosure.attacks.mahalanobis import (
    mahalanobis_linkage,
    mahalanobis_taken,
)
from policy_engine.audits.disclosure.attacks.probabilistic import (
    probabilistic_linkage,
    probabilistic_taken,
)
from policy_engine.audits.disclosure.attacks.transparency import (
    intersection_linkage,
    intersection_taken,
    likelihood_linkage,
    likelihood_taken,
    windows_left,
)
from policy_engine.audits.disclosure.attacks.value import (
    exact_linkage,
    exact_taken,
    value_linkage,
    value_taken,
)
from policy_engine.audits.disclosure.files import TwoFiles
from policy_engine.audits.disclosure.result import Attack, Linkage, NotRun
from policy_engine.audits.disclosure.settings import DEFAULTS, AttackSettings
from policy_engine.audits.disclosure.telling import best_first
from policy_engine.engines.engine import Progress, silent
from policy_engine.kernels.estimates import Estimate, NotApplicable

Links: TypeAlias = NDArray[np.float64]
ATTACKS: dict[Attack, Callable[[TwoFiles, AttackSettings], Links | NotApplicable]] = {
    "distance-linkage": lambda files, settings: distance_linkage(files, settings.search),
    "value-linkage": lambda files, settings: value_linkage(files, settings.search),
    "exact-linkage": exact_linkage,
    "mahalanobis-linkage": lambda files, settings: mahalanobis_linkage(files, settings.search),
    "probabilistic-linkage": probabilistic_linkage,
    "intersection-linkage": lambda files, settings: intersection_linkage(files, settings.search),
    "likelihood-linkage": lambda files, settings: likelihood_linkage(files, settings.search),
    "assignment-linkage": assignment_linkage,
}
"""The attacks that are made with more and more columns known."""
MOST_PERSONS_IN_STEPS = 50_000
"""Up to so many, attacks are made with the most telling column known, the two most telling ones,
and so on; of more, with those that are `TELLING`, and with all."""
TELLING = 0.5
"""Columns that tell so large a part of what the best one does are attacked alone, too."""


TAKEN: dict[Attack, Callable[[TwoFiles, NDArray[np.int64], AttackSettings], Links]] = {
    "distance-linkage": lambda files, persons, _: distance_taken(files, persons),
    "value-linkage": lambda files, persons, _: value_taken(files, persons),
    "exact-linkage": exact_taken,
    "mahalanobis-linkage": lambda files, persons, _: mahalanobis_taken(files, persons),
    "probabilistic-linkage": probabilistic_taken,
    "intersection-linkage": lambda files, persons, _: intersection_taken(files, persons),
    "likelihood-linkage": lambda files, persons, _: likelihood_taken(files, persons),
}
"""How far the record is that an attack takes for a person, of those that look for one at a time."""


@dataclass(frozen=True)
class Attacked:
    """What an attack reaches, and the probability of a right link by person, (persons,)."""

    linkage: Linkage
    links: Links

    def in_order(self, names: Sequence[str]) -> "Attacked":
        """Return it with the known columns in the order of some names."""
        known_names = tuple(name for name in names if name in self.linkage.known)
        return replace(self, linkage=self.linkage.model_copy(update={"known": known_names}))


@dataclass(frozen=True)
class Attacks:
    """What the attacks `made` reach, and why others were `not_run` with all columns known.

    `order` has the names of the columns, the most telling ones first.
    """

    made: tuple[Attacked, ...] = ()
    not_run: tuple[NotRun, ...] = ()
    order: tuple[str, ...] = ()

    @property
    def linkages(self) -> tuple[Linkage, ...]:
        """What every attack reaches."""
        return tuple(one.linkage for one in self.made)

    def links(self, names: tuple[str, ...]) -> dict[str, Links]:
        """Return the links of the attacks with these columns known, by their titles."""
        return {one.linkage.title: one.links for one in self.made if one.linkage.known == names}


def attack(
    files: TwoFiles, progress: Progress = silent, settings: AttackSettings = DEFAULTS
) -> tuple[tuple[Linkage, ...], tuple[NotRun, ...]]:
    """Return what every attack reaches, and why some were not run with all columns known."""
    attacks = attack_each(files, None, progress, settings)
    return attacks.linkages, attacks.not_run


def attack_each(
    files: TwoFiles,
    outside: TwoFiles | None = None,
    progress: Progress = silent,
    settings: AttackSettings = DEFAULTS,
) -> Attacks:
    """Return what every attack reaches, with its links, or why it was not run.

    Which columns drown others depends on how much is left of them, which an intruder knows who
    knows the method: attacks are made by the most telling ones alone, too, whatever their order.
    `outside` are the same files with persons who were never in the original.
    """
    names = files.names
    files, information = best_first(files)
    outside = outside.known_by(files.names) if outside else None
    counts = _steps(files, information, settings)
    results: list[Attacked | NotRun] = []
    chosen = settings.named or get_args(Attack)
    for done, name in enumerate(chosen):
        progress(f"attacking by {name}", done, len(chosen))
        steps = _run_in_steps(name, files, outside, settings, counts)
        results += steps if name in ATTACKS else _learned(files, settings)
    return Attacks(
        tuple(one.in_order(names) for one in results if isinstance(one, Attacked)),
        tuple(one for one in results if isinstance(one, NotRun)),
        files.names,
    )


def without_attacks(reason: str, settings: AttackSettings = DEFAULTS) -> Attacks:
    """Return that no attack was run, and why."""
    chosen = settings.named or get_args(Attack)
    return Attacks(not_run=tuple(NotRun(attack=name, reason=reason) for name in chosen))


def _steps(
    files: TwoFiles, information: Sequence[float], settings: AttackSettings
) -> Sequence[int]:
    """Return by how many columns attacks are made, those that tell most being the first."""
    every = len(files.columns)
    if settings.in_steps and len(files.own) <= MOST_PERSONS_IN_STEPS:
        return range(1, every + 1)
    telling = sum(one >= TELLING * information[0] for one in information)
    return (telling, every) if telling < every else (every,)


def _run_in_steps(
    name: Attack,
    files: TwoFiles,
    outside: TwoFiles | None,
    settings: AttackSettings,
    counts: Sequence[int],
) -> Iterator[Attacked | NotRun]:
    for count in counts:
        known_files = files.first(count)
        links = ATTACKS[name](known_files, settings)
        if not isinstance(links, NotApplicable):
            holdout = _holdout(name, outside.first(count), settings) if outside else None
            windows = windows_left(known_files) if name == "intersection-linkage" else None
            linkage = Linkage.of(
                name, known_files.names, links, files.released, holdout=holdout, windows=windows
            )
            yield Attacked(linkage, links)
        elif count == len(files.columns):
            yield NotRun(attack=name, reason=links.reason)


def _holdout(name: Attack, outside: TwoFiles, settings: AttackSettings) -> Estimate | None:
    if name not in TAKEN:
        return None
    links = ATTACKS[name](outside, settings)
    if isinstance(links, NotApplicable):
        return None
    return seemingly_found(
        outside, links, lambda files, persons: TAKEN[name](files, persons, settings)
    )


def _learned(files: TwoFiles, settings: AttackSettings) -> Iterator[Attacked | NotRun]:
    name: Attack = "learned-distance-linkage"
    linkages = learned_distance_linkage(files, settings)
    if isinstance(linkages, NotApplicable):
        yield NotRun(attack=name, reason=linkages.reason)
        return
    for one in linkages:
        linkage = Linkage.of(name, files.names, one.linked, files.released, one.distance)
        yield Attacked(linkage, one.linked)
