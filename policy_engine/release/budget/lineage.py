"""Which datasets tell of the same persons: what is part of what, and what was made of what."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from policy_engine.release.budget.accounts import Charge, Link

_Steps: TypeAlias = dict[str, dict[str, None]]


@dataclass(frozen=True)
class DataLineage:
    """Of each dataset the wider ones, which it is part of or made of, and its parts."""

    wholes: _Steps = field(default_factory=dict)
    parts: _Steps = field(default_factory=dict)

    def add(self, links: Iterable[Link]) -> None:
        """Add pairs of a part, or of what was made of something, and the whole."""
        for part, whole in links:
            self.add_origin(part, whole)
            self.parts.setdefault(whole, {})[part] = None

    def add_origins(self, links: Iterable[Link]) -> None:
        """Add pairs of an output, and what it was made of."""
        for output, dataset in links:
            self.add_origin(output, dataset)

    def add_origin(self, output: str, dataset: str) -> None:
        """Add what an output was made of. What the dataset tells is not charged to it."""
        self.wholes.setdefault(output, {})[dataset] = None


def related(dataset: str, *lineages: DataLineage) -> tuple[str, ...]:
    """Return a dataset, its parts, and all that any of these are part of or made of.

    What statistics of the dataset tell, they tell of each part, and so of whatever has that part.
    Other parts of what the dataset is part of are not among them.
    """
    parts = _reached([dataset], [one.parts for one in lineages])
    return tuple(dict.fromkeys([dataset, *_reached(parts, [one.wholes for one in lineages])]))


def spread(charge: Charge, remembered: DataLineage) -> Charge:
    """Return a charge that goes to all datasets that are known to tell of the same persons too."""
    stated = DataLineage()
    stated.add(charge.links)
    stated.add_origins(charge.origins)
    charged = {one.dataset for one in charge.accounts}
    new = [one for one in related(charge.dataset, remembered, stated) if one not in charged]
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
