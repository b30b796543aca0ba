"""Files to link by learned distances: small random ones, and stand-ins for published ones."""

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from microaggregated import shared_table

from policy_engine.kernels.linkage.learned import (
    bilinear,
    choquet,
    choquet_of_pairs,
    ordered_weighted_mean,
    weighted_mean,
)
from policy_engine.kernels.microaggregation import class_means, mdav

FAMILIES = {
    "weighted mean": weighted_mean,
    "ordered": ordered_weighted_mean,
    "pairs": choquet_of_pairs,
    "submodular pairs": lambda columns: choquet_of_pairs(columns, submodular=True),
    "choquet": choquet,
    "submodular": lambda columns: choquet(columns, submodular=True),
    "bilinear": bilinear,
}


class Files(NamedTuple):
    """Differences (persons, records, columns), and each person's own record, (persons,)."""

    differences: np.ndarray
    own: np.ndarray


@st.composite
def files(draw, persons=5, records=6, columns=3):
    """Return small files with ties, duplicates and persons without a record."""
    people, rows = draw(st.integers(1, persons)), draw(st.integers(1, records))
    width = draw(st.integers(1, columns))
    known, released = (
        draw(arrays(np.int64, (size, width), elements=st.integers(0, 6))) for size in (people, rows)
    )
    own = draw(st.lists(st.integers(-1, rows - 1), min_size=people, max_size=people))
    return Files((known[:, None] - released[None]).astype(float), np.array(own))


# The recipe's stand-ins for the instances of Abril, Navarro-Arribas and Torra: columns of Census
# and classes of so many rows for each block, since the published 400 records are not recorded.
_COLUMNS = ("FEDTAX", "STATETAX", "PEARNVAL", "INTVAL", "AFNLWGT", "POTHVAL")
_BLOCKS = {
    "M4-33": ((2, 3), (2, 3)),
    "M4-28": ((2, 2), (2, 8)),
    "M4-82": ((2, 8), (2, 2)),
    "M5-38": ((3, 3), (2, 8)),
    "M6-385": ((2, 3), (2, 8), (2, 5)),
    "M6-853": ((2, 8), (2, 5), (2, 3)),
}


def census_instance(name):
    """Return 400 records of Census and their blockwise microaggregation, standardised."""
    blocks = _BLOCKS[name]
    width = sum(columns for columns, _ in blocks)
    values = shared_table("census_casc.csv", _COLUMNS[:width])[:400]
    masked, first = np.empty_like(values), 0
    for columns, k in blocks:
        block = values[:, first : first + columns]
        groups = mdav(
            block, np.arange(len(values), dtype=np.uint64), k
        )  # ties: the first in the file
        masked[:, first : first + columns] = class_means(block, groups)
        first += columns
    known, released = ((table - table.mean(0)) / table.std(0) for table in (values, masked))
    return Files(known[:, None] - released[None], np.arange(len(values)))
