"""Every attack that applies to a release, with more and more of its columns known."""

from collections.abc import Callable, Iterator
from typing import TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.attacks.assignment import assignment_linkage
from policy_engine.audits.disclosure.attacks.distance import distance_linkage
from policy_engine.audits.disclosure.attacks.learned import learned_distance_linkage
from policy_engine.audits.disclosure.attacks.probabilistic import probabilistic_linkage
from policy_engine.audits.disclosure.attacks.transparency import (
    intersection_linkage,
    likelihood_linkage,
)
from policy_engine.audits.disclosure.files import TwoFiles
from policy_engine.audits.disclosure.result import Attack, Linkage, NotRun
from policy_engine.audits.disclosure.settings import DEFAULTS, Settings
from policy_engine.engines.engine import Progress, silent
from policy_engine.kernels.estimates import NotApplicable

Links: TypeAlias = NDArray[np.float64]
ATTACKS: dict[Attack, Callable[[TwoFiles, Settings], Links | NotApplicable]] = {
    "distance-linkage": lambda files, _: distance_linkage(files),
    "probabilistic-linkage": lambda files, _: probabilistic_linkage(files),
    "intersection-linkage": lambda files, _: intersection_linkage(files),
    "likelihood-linkage": lambda files, _: likelihood_linkage(files),
    "assignment-linkage": assignment_linkage,
}
"""The attacks that are made with more and more columns known."""
MOST_PERSONS_IN_STEPS = 50_000
"""Up to so many, attacks are made with the first column known, the first two, and so on."""


def attack(
    files: TwoFiles, progress: Progress = silent, settings: Settings = DEFAULTS
) -> tuple[tuple[Linkage, ...], tuple[NotRun, ...]]:
    """Return what every attack reaches, and why some were not run with all columns known."""
    results: list[Linkage] = []
    not_run: list[NotRun] = []
    chosen = settings.named or get_args(Attack)
    for done, name in enumerate(chosen):
        progress(f"attacking by {name}", done, len(chosen))
        found = (
            _learned(files, settings) if name not in ATTACKS else _in_steps(name, files, settings)
        )
        for one in found:
            if isinstance(one, NotRun):
                not_run.append(one)
            else:
                results.append(one)
    return tuple(results), tuple(not_run)


def without_attacks(
    reason: str, settings: Settings = DEFAULTS
) -> tuple[tuple[Linkage, ...], tuple[NotRun, ...]]:
    """Return that no attack was run, and why."""
    chosen = settings.named or get_args(Attack)
    return (), tuple(NotRun(attack=name, reason=reason) for name in chosen)


def _in_steps(name: Attack, files: TwoFiles, settings: Settings) -> Iterator[Linkage | NotRun]:
    every = len(files.columns)
    steps = range(1, every + 1) if len(files.own) <= MOST_PERSONS_IN_STEPS else (every,)
    for count in steps:
        known = files.first(count)
        links = ATTACKS[name](known, settings)
        if not isinstance(links, NotApplicable):
            yield Linkage.of(name, known.names, links, files.released)
        elif count == every:
            yield NotRun(attack=name, reason=links.reason)


def _learned(files: TwoFiles, settings: Settings) -> Iterator[Linkage | NotRun]:
    name: Attack = "learned-distance-linkage"
    found = learned_distance_linkage(files, settings)
    if isinstance(found, NotApplicable):
        yield NotRun(attack=name, reason=found.reason)
        return
    for one in found:
        yield Linkage.of(name, files.names, one.linked, files.released, one.distance)
