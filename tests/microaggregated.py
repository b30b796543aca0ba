"""Small tables to microaggregate, and real ones."""

import csv
import gzip
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import strategies as st
from places import SHARED_DATA

IPPS = (
    "Total Discharges",
    "Average Covered Charges",
    "Average Total Payments",
    "Average Medicare Payments",
)


class Table(NamedTuple):
    """Values (rows, columns), random words (rows,), and a least size of classes."""

    values: np.ndarray
    words: np.ndarray
    k: int


_NUMBERS = st.integers(-3, 3).map(float) | st.floats(-1e6, 1e6) | st.just(1e300)


@st.composite
def tables(draw, most=40):
    """Return tables with ties, constant columns and rows that are equal but for their words."""
    rows, columns = draw(st.integers(1, most)), draw(st.integers(1, 3))
    row = st.tuples(*[draw(st.sampled_from([_NUMBERS, st.just(7.0)]))] * columns)
    values = draw(st.lists(row, min_size=rows, max_size=rows))
    return Table(np.array(values), random_words(rows), draw(st.integers(1, 6)))


def random_words(rows, seed=0):
    """Return words of which no two are equal."""
    high = np.random.default_rng(seed).permutation(rows).astype(np.uint64)
    return high << np.uint64(40)


def classes(groups):
    """Return the classes as sets of rows, in the order of their numbers."""
    count = max(groups.tolist(), default=-1) + 1
    return [set(np.flatnonzero(groups == one).tolist()) for one in range(count)]


def shared_table(name, columns=None):
    """Return the values of a real table, or skip the test."""
    path = SHARED_DATA / name
    if not path.exists():
        pytest.skip(f"{path} is not there: nothing is proved on it")
    unpacked = gzip.open if name.endswith(".gz") else open
    with unpacked(path, "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    return np.array([[float(row[name]) for name in columns or row] for row in rows])
