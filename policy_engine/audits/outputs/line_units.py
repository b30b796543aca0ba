"""The different units of the lines of tables of microdata, where units have several rows."""

import numpy as np

from policy_engine.audits.outputs.contributions import Contributions
from policy_engine.audits.outputs.lines import LineUnits, line_numbers
from policy_engine.audits.outputs.model import TOTAL, Counts


def known_units(codes: Counts, present: Contributions, *, is_chosen: bool) -> LineUnits | None:
    """Return the different units of the lines of a table, None where none is in several cells.

    `codes` (rows, keys) are those of the table's keys, and what is `present` are the rows of the
    data in its cells. Of rows that are chosen, such as one of each person in a cell, those who
    choose know how many a person has there at most.
    """
    groups, units = present.pairs
    wholes = {}
    for key in range(codes.shape[1]):
        is_part = (codes[:, key] != TOTAL)[groups]
        lines = line_numbers(np.delete(codes, key, axis=1))
        width = int(units.max(initial=0)) + 1
        pairs = np.unique(lines[groups[is_part]] * width + units[is_part])
        if len(pairs) < is_part.sum():
            wholes[key] = np.bincount(pairs // width, minlength=len(codes))[lines]
    if not wholes:
        return None
    most = int(present.sizes.max(initial=0)) if is_chosen else None
    return LineUnits(wholes, present.rows_in, most)
