"""Whether two numbers of holders differ by nearly all of some units, or by hardly any.

Whoever is counted in one of two figures, and not in the other, is judged as those of one figure
are: if 111 of 140 are ill, and 72 of 100 of them, 39 of the 40 others are. The one of these who is
not knows it of all others.
"""

from collections.abc import Iterator
from functools import partial
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from policy_engine.release.output_ledger.answers import ToldFigures, is_held
from policy_engine.release.output_ledger.differences import Fault, Trial
from policy_engine.release.output_ledger.knowledge import AtomTable
from policy_engine.release.output_ledger.told_cells import told_cells
from policy_engine.release.output_ledger.whole_counts import TOO_NARROW

MOST_COMPARED = 100
"""How many numbers of the same holders are compared with each other."""
_NEARLY_ALL = 0.9

_Masks = NDArray[np.bool_]


def rest_faults(trial: Trial, table: AtomTable) -> Iterator[Fault]:
    """Yield the fresh cells of how many are some holders that differ from another one by too few
    units that are, or are not: of a key, by nearly all that are."""
    fresh: dict[str, dict[int, list[int]]] = {}
    for place in trial.fresh:
        cell = trial.cells[place]
        if is_held(cell.measure) and cell.measure in trial.holders:
            own = fresh.setdefault(cell.measure, {})
            own.setdefault(trial.numbers[place], []).append(place)
    for measure, places in sorted(fresh.items()):
        numbers = sorted(trial.after.released.get(measure, ()))
        # What a person lets out by itself is told with others, too.
        numbers = [one for one in numbers if trial.after.values.get((measure, one)) is None]
        if not 1 < len(numbers) <= MOST_COMPARED:
            continue
        atoms = {
            number: layer == number
            for layer in table.members
            for number in np.intersect1d(layer, numbers).tolist()
        }
        for one, other in permutations(atoms, 2):
            if {one, other}.isdisjoint(places) or (atoms[other] & ~atoms[one]).any():
                continue
            trial.limit.check()
            rest = (atoms[one] & ~atoms[other])[table.atoms.numbers]
            if _are_few(trial, measure, rest):
                own_places = tuple(at for number in (one, other) for at in places.get(number, ()))
                yield Fault(
                    TOO_NARROW, own_places, partial(_figures, trial, measure, (one, other), rest)
                )


def _are_few(trial: Trial, measure: str, rest: _Masks) -> bool:
    """Return whether too few of some units are holders, or too few are not."""
    holders = trial.holders[measure]
    held, others = rest & holders, rest & ~holders
    count, left = int(held.sum()), int(others.sum())
    if not (count and left):  # That all are, or nobody is, is found by all equations.
        return False
    if measure in trial.one_sided:
        return count > _NEARLY_ALL * (count + left) and _is_small(trial, others)
    return _is_small(trial, held) or _is_small(trial, others)


def _is_small(trial: Trial, members: _Masks) -> bool:
    return int(members.sum()) < trial.after.threshold and not trial.are_enough(members)


def _figures(trial: Trial, measure: str, numbers: tuple[int, int], rest: _Masks) -> ToldFigures:
    units = int(rest.sum())
    owners = units if trial.owners is None else len(np.unique(trial.owners.numbers[rest]))
    cells = told_cells(trial.after, numbers, measure.__eq__)
    return ToldFigures("alike", units, owners, cells=cells)
