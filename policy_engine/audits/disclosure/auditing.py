"""Every attack that applies to a release, with more and more of its columns known, the most telling
ones first."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
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
from policy_engine.audits.disclosure.presence import links_of_those_there, persons_there
from policy_engine.audits.disclosure.result import Attack, Linkage, NotRun, Windows
from policy_engine.audits.disclosure.settings import DEFAULTS, MOST_PERSONS_IN_STEPS, AttackSettings
from policy_engine.audits.disclosure.telling import most_telling_first
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
OF_NUMBERS: tuple[Attack, ...] = ("mahalanobis-linkage", "intersection-linkage")
"""The attacks that use those of the known columns alone in which they can compare numbers."""
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
    """What an attack reaches, and the probability of a right link by person, (persons,).

    `uses_all` tells whether it was made by every known column that it can use.
    """

    linkage: Linkage
    links: Links
    uses_all: bool


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

    def links(self) -> dict[str, Links]:
        """Return the links of the attacks with all columns known, by their titles."""
        return {one.linkage.title: one.links for one in self.made if one.uses_all}


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
    information = most_telling_first(files.columns, files.own)
    attacker = _Attacker(files, outside, settings, information)
    results: list[Attacked | NotRun] = []
    chosen = settings.named or get_args(Attack)
    for done, name in enumerate(chosen):
        progress(f"attacking by {name}", done, len(chosen))
        results += attacker.in_steps(name) if name in ATTACKS else attacker.learned()
    return Attacks(
        tuple(one for one in results if isinstance(one, Attacked)),
        tuple(one for one in results if isinstance(one, NotRun)),
        tuple(information),
    )


def without_attacks(reason: str, settings: AttackSettings = DEFAULTS) -> Attacks:
    """Return that no attack was run, and why."""
    chosen = settings.named or get_args(Attack)
    return Attacks(not_run=tuple(NotRun(attack=name, reason=reason) for name in chosen))


@dataclass(frozen=True)
class _Attacker:
    """Who attacks files by their columns, of which those that tell most have most `information`.

    They are named in that order. `outside` are the files with persons who were never there.
    """

    files: TwoFiles
    outside: TwoFiles | None
    settings: AttackSettings
    information: Mapping[str, float]

    def in_steps(self, attack: Attack) -> Iterator[Attacked | NotRun]:
        """Yield what an attack reaches with more and more columns known, or why it was not made
        with all."""
        names = self._usable(attack)
        for count in self._counts(names):
            known_files = self.files.known_by(names[:count])
            links = links_of_those_there(
                known_files, lambda files: ATTACKS[attack](files, self.settings)
            )
            is_last = count == len(names)
            if not isinstance(links, NotApplicable):
                yield Attacked(self._linkage(attack, known_files, links), links, is_last)
            elif is_last:
                yield NotRun(attack=attack, reason=links.reason)

    def learned(self) -> Iterator[Attacked | NotRun]:
        """Yield what distances reach that are learned, or why none are."""
        attack: Attack = "learned-distance-linkage"
        linkages = learned_distance_linkage(
            self.files.known_by(tuple(self.information)), self.settings
        )
        if isinstance(linkages, NotApplicable):
            yield NotRun(attack=attack, reason=linkages.reason)
            return
        for one in linkages:
            links, released = one.linked, self.files.released
            linkage = Linkage.of(attack, self.files.names, links, released, one.distance)
            yield Attacked(linkage, links, uses_all=True)

    def _usable(self, attack: Attack) -> tuple[str, ...]:
        """Return the columns that an attack can use, those that tell most first."""
        points = {one.name for one in self.files.columns if one.is_point}
        used = points if attack in OF_NUMBERS else self.information
        return tuple(name for name in self.information if name in used)

    def _counts(self, names: tuple[str, ...]) -> tuple[int, ...]:
        """Return by how many columns attacks are made, those that tell most being the first."""
        every = len(names)
        if self.settings.in_steps and len(self.files.own) <= MOST_PERSONS_IN_STEPS:
            return tuple(range(1, every + 1)) or (0,)
        least = TELLING * max((self.information[name] for name in names), default=0.0)
        telling = sum(self.information[name] >= least for name in names)
        return (telling, every) if telling < every else (every,)

    def _linkage(self, attack: Attack, known_files: TwoFiles, links: Links) -> Linkage:
        names = known_files.names
        holdout = None
        if self.outside:
            holdout = _holdout(attack, self.outside.known_by(names), self.settings)
        windows = _windows(known_files) if attack == "intersection-linkage" else None
        in_order = tuple(name for name in self.files.names if name in names)
        return Linkage.of(
            attack, in_order, links, known_files.released, holdout=holdout, windows=windows
        )


def _windows(files: TwoFiles) -> Windows:
    """Return what windows leave of the records, as shares of all persons."""
    is_there = persons_there(files)
    if is_there is None:
        return windows_left(files)
    left, share = windows_left(files.of_persons(is_there)), float(is_there.mean())
    alone = None if left.alone is None else left.alone * share
    return Windows(contains_own=left.contains_own * share, alone=alone)


def _holdout(name: Attack, outside: TwoFiles, settings: AttackSettings) -> Estimate | None:
    if name not in TAKEN:
        return None
    links = ATTACKS[name](outside, settings)
    if isinstance(links, NotApplicable):
        return None
    return seemingly_found(
        outside, links, lambda files, persons: TAKEN[name](files, persons, settings)
    )
