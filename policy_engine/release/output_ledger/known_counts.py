"""How many units and owners there are in all: what everybody knows, whoever asks for what.

That a registry is of 48,842 persons, and how many of them have a value in a column that is
measured, stands in its description: nobody has to ask for it. So counts of all groups but one tell
the last one.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from policy_engine.release.output_ledger.answers import (
    COUNT,
    DISTINCT_PERSONS,
    EXACT_COUNT,
    PERSONS,
    PERSONS_AND_ROWS,
    OutputAnswer,
    OutputCell,
)
from policy_engine.release.output_ledger.populations import Populations

_Masks = NDArray[np.bool_]


def with_known_counts(
    answer: OutputAnswer,
    everybody: _Masks,
    others: Iterable[_Masks] = (),
    *,
    are_rounded: bool = False,
) -> OutputAnswer:
    """Return an answer beside which everybody knows how many units there are in all, and in other
    populations, such as those who have a value in a column: (units,) each.

    Where it tells of owners who may have several units, how many of these there are is known, too.
    Where counts `are_rounded`, known ones are subtracted from exact ones alone.
    """
    masks, first = [everybody, *others], len(answer.populations)
    measure = EXACT_COUNT if are_rounded else COUNT
    cells = [_cell(measure, first + place, mask) for place, mask in enumerate(masks)]
    kinds = {cell.measure for cell in answer.cells}
    if answer.owners is not None:
        firsts = _first_units(answer.owners.numbers, everybody)
        if not kinds.isdisjoint((PERSONS, PERSONS_AND_ROWS)):
            cells.append(_cell(PERSONS, first, firsts))
        if DISTINCT_PERSONS in kinds:
            cells.append(_cell(DISTINCT_PERSONS, first + len(masks), firsts))
            masks.append(firsts)
    more = Populations.of_masks(np.array(masks))
    return replace(answer, populations=answer.populations.joined(more), known=tuple(cells))


def _cell(measure: str, population: int, counted: _Masks) -> OutputCell:
    return OutputCell(population, measure, float(np.count_nonzero(counted)), 1)


def _first_units(owners: NDArray[np.int64], everybody: _Masks) -> _Masks:
    """Return the first unit of each owner in a population: (units,)."""
    units = np.flatnonzero(everybody)
    _, firsts = np.unique(owners[units], return_index=True)
    mask = np.zeros(len(everybody), np.bool_)
    mask[units[firsts]] = True
    return mask
