"""Every attack that applies to a release, with more and more of its columns known."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.disclosure.attacks.distance import distance_linkage
from policy_engine.audits.disclosure.attacks.probabilistic import probabilistic_linkage
from policy_engine.audits.disclosure.attacks.transparency import (
    intersection_linkage,
    likelihood_linkage,
)
from policy_engine.audits.disclosure.files import TwoFiles
from policy_engine.audits.disclosure.result import Attack, Linkage, NotRun
from policy_engine.engines.engine import Progress, silent
from policy_engine.kernels.estimates import NotApplicable

ATTACKS: dict[Attack, Callable[[TwoFiles], NDArray[np.float64] | NotApplicable]] = {
    "distance-linkage": distance_linkage,
    "probabilistic-linkage": probabilistic_linkage,
    "intersection-linkage": intersection_linkage,
    "likelihood-linkage": likelihood_linkage,
}
MOST_PERSONS_IN_STEPS = 50_000
"""Up to so many, attacks are made with the first column known, the first two, and so on."""


def attack(
    files: TwoFiles, progress: Progress = silent
) -> tuple[tuple[Linkage, ...], tuple[NotRun, ...]]:
    """Return what every attack reaches, and why some were not run with all columns known."""
    steps = list(_steps(files))
    results, not_run = [], []
    for done, (name, run) in enumerate(ATTACKS.items()):
        for count in steps:
            progress(f"attacking by {name}", done * len(steps) + count, len(ATTACKS) * len(steps))
            known = files.first(count)
            links = run(known)
            if not isinstance(links, NotApplicable):
                results.append(Linkage.of(name, known.names, links, files.released))
            elif count == steps[-1]:
                not_run.append(NotRun(attack=name, reason=links.reason))
    return tuple(results), tuple(not_run)


def _steps(files: TwoFiles) -> Iterator[int]:
    every = len(files.columns)
    if len(files.own) <= MOST_PERSONS_IN_STEPS:
        yield from range(1, every)
    yield every
