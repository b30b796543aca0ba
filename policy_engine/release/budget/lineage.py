"""Which datasets tell of the same persons: what is part of what, and what was made of what."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from policy_engine.release.budget.accounts import Charge, Link

_Steps: TypeAlias = dict[str, dict[str, None]]


@dataclass(frozen=True)
class DataLineage:
    """Of each dataset what it is part of, its parts, and what it was made of."""

    wholes: _Steps = field(default_factory=dict)
    parts: _Steps = field(default_factory=dict)
    origins: _Steps = field(default_factory=dict)

    def add(self, links: Iterable[Link]) -> None:
        """Add pairs of a part and the whole."""
        for part, whole in links:
            self.wholes.setdefault(part, {})[whole] = None
            self.parts.setdefault(whole, {})[part] = None

    def add_origins(self, links: Iterable[Link]) -> None:
        """Add pairs of an output, and what it was made of."""
        for output, dataset in links:
            self.origins.setdefault(output, {})[dataset] = None

    def has(self, links: Iterable[Link], origins: Iterable[Link]) -> bool:
        """Tell whether it has all these pairs of parts and wholes, and of outputs and origins."""
        return all(whole in self.wholes.get(part, ()) for part, whole in links) and all(
            dataset in self.origins.get(output, ()) for output, dataset in origins
        )


def related(dataset: str, *lineages: DataLineage) -> tuple[str, ...]:
    """Return a dataset, and all that statistics of it tell something of.

    They tell of all that it was made of, and of each part of these: their persons are in it. What
    has one of those as a part, or was a source of such a whole, has these persons, too; what else
    it has may not, so its other parts are not among them. Neither are outputs that were made of any
    of these: what is told of an original is not charged to them.
    """
    up = [steps for one in lineages for steps in (one.origins, one.wholes)]
    return tuple(_reached(whole_of([dataset], *lineages), up))


def whole_of(datasets: Iterable[str], *lineages: DataLineage) -> tuple[str, ...]:
    """Return datasets and all that they were made of, with the parts of any of these."""
    down = [steps for one in lineages for steps in (one.origins, one.parts)]
    return tuple(_reached(datasets, down))


def stated_by(charge: Charge) -> DataLineage:
    """Return what a charge says of what is part of what, and of what was made of what."""
    lineage = DataLineage()
    lineage.add(charge.links)
    lineage.add_origins(charge.origins)
    return lineage


def spread(charge: Charge, remembered: DataLineage) -> Charge:
    """Return a charge that goes to all datasets that are known to tell of the same persons too."""
    charged = {one.dataset for one in charge.accounts}
    every = related(charge.dataset, remembered, stated_by(charge))
    new = [one for one in every if one not in charged]
    own = [one for one in charge.accounts if one.dataset == charge.dataset]
    more = [replace(account, dataset=dataset) for dataset in new for account in own]
    return replace(charge, accounts=(*charge.accounts, *more)) if more else charge


def _reached(starts: Iterable[str], steps: Iterable[Mapping[str, dict[str, None]]]) -> list[str]:
    """Return all that is reached from some datasets, themselves first."""
    maps = [*steps]

    def after(one: str) -> Iterator[str]:
        for step in maps:
            yield from step.get(one, ())

    gathered = dict.fromkeys(starts)
    queue = [*gathered]
    for one in queue:
        new = [other for other in after(one) if other not in gathered]
        gathered |= dict.fromkeys(new)
        queue += dict.fromkeys(new)
    return queue
