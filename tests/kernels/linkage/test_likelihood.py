"""Linkage by likelihood by a tree equals that by all pairs, whatever the shapes of the columns."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.kernels.linkage import (
    CellTransitions,
    ColumnLikelihood,
    greatest_likelihoods,
    likelihood_links,
    log_likelihoods,
)

SHAPES = ["even", "normal", "laplace", "triangle", "transitions"]


def density(shape, distance):
    if shape == "triangle":
        return math.log(1 - distance) if distance < 1 else -math.inf
    return {"even": 0.0, "normal": -(distance**2) / 2, "laplace": -distance}[shape]


def cell_likelihood(table, person, cell):
    row = table.row[person]
    place, end = table.begins[row] + cell - table.start[person], table.begins[row + 1]
    inside = table.begins[row] <= place < end
    return math.exp(table.logs[place] if inside else table.beyond[row])


def log_likelihood(column, person, record):
    point = column.released[record]
    if column.low is not None and not column.low[person] <= point <= column.high[person]:
        return -math.inf
    bonus = 0 if column.bonus is None else column.bonus[record]
    table = column.transitions
    if table is None:
        return bonus + density(column.shape, abs(point - column.known[person]))
    cells = range(table.first[record], table.last[record] + 1)
    mean = sum(cell_likelihood(table, person, cell) for cell in cells) / len(cells)
    return bonus + (math.log(mean) if mean > 0 else -math.inf)


def brute_links(columns, own):
    shares = []
    for person, record in enumerate(own):
        records = range(len(columns[0].released))
        found = [sum(log_likelihood(one, person, row) for one in columns) for row in records]
        mine = found[record] if record >= 0 else -math.inf
        ties = sum(one > mine - 1e-9 for one in found)
        is_best = mine > -math.inf and max(found) < mine + 1e-9
        shares.append(1 / ties if is_best else 0.0)
    return shares


@st.composite
def transitions(draw, persons, cells):
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    chances = st.sampled_from([0.0, 0.1, 0.5, 1.0])
    rows = [[*draw(st.lists(chances, min_size=size, max_size=size)), 1.0] for size in sizes]
    with np.errstate(divide="ignore"):
        logs = np.log(np.concatenate(rows))
        beyond = np.log([draw(chances) / 2 for _ in rows])
    begins = np.cumsum([0, *map(len, rows)])
    row, start = (
        np.array(draw(st.lists(one, min_size=persons, max_size=persons)))
        for one in (st.integers(0, len(rows) - 1), st.integers(-2, 4))
    )
    width = draw(st.integers(1, 3))
    return CellTransitions(
        logs, begins, beyond, row, start, cells * width, cells * width + width - 1
    )


@st.composite
def masked_columns(draw, persons, records):
    shape = draw(st.sampled_from(SHAPES))
    values = st.integers(0, 4).map(float)
    known, released, low, high = (
        np.array(draw(st.lists(values, min_size=size, max_size=size)))
        for size in (persons, records, persons, persons)
    )
    ends = (low, low + high) if draw(st.booleans()) else (None, None)
    scale = 4 if shape == "triangle" else 1
    cells = released.astype(np.int64)
    table = draw(transitions(persons, cells)) if shape == "transitions" else None
    bonus = np.log(1 + np.arange(records) % 3) if draw(st.booleans()) else None
    ends = tuple(end if end is None else end / scale for end in ends)
    return ColumnLikelihood(shape, known / scale, released / scale, *ends, table, bonus)


@st.composite
def files(draw):
    records = draw(st.integers(1, 50))
    own = np.array(draw(st.lists(st.integers(-1, records - 1), min_size=1, max_size=8)))
    made = masked_columns(len(own), records)
    return draw(st.lists(made, min_size=1, max_size=3)), own


def taken(column, order):
    """Return a column with its records in another order."""
    table, bonus = column.transitions, column.bonus
    if table is not None:
        first, last = table.first[order], table.last[order]
        table = CellTransitions(
            table.logs, table.begins, table.beyond, table.row, table.start, first, last
        )
    bonus = None if bonus is None else bonus[order]
    released = column.released[order]
    return ColumnLikelihood(
        column.shape, column.known, released, column.low, column.high, table, bonus
    )


@given(files())
def test_links_are_those_of_all_pairs(given_files):
    columns, own = given_files
    assert likelihood_links(columns, own).linked.tolist() == pytest.approx(
        brute_links(columns, own)
    )


@given(files())
def test_log_likelihoods_of_all_pairs_differ_as_the_densities_do(given_files):
    columns, own = given_files
    found = log_likelihoods(columns)
    for person in range(len(own)):
        records = range(found.shape[1])
        sums = [sum(log_likelihood(one, person, row) for one in columns) for row in records]
        shifts = {round(a - b, 9) for a, b in zip(found[person], sums, strict=True) if a > -np.inf}
        assert len(shifts) <= 1
        assert np.array_equal(np.isfinite(sums), np.isfinite(found[person]))


@given(files(), st.randoms(use_true_random=False))
def test_order_of_the_rows_changes_no_link(given_files, random):
    columns, own = given_files
    order = np.array(random.sample(range(len(columns[0].released)), len(columns[0].released)))
    places = np.append(np.argsort(order), -1)
    moved = likelihood_links([taken(column, order) for column in columns], places[own])
    before = likelihood_links(columns, own)
    assert np.array_equal(moved.linked, before.linked)


def test_log_likelihood_is_that_of_the_own_record():
    columns = [
        ColumnLikelihood("normal", np.array([0.0, 0.0]), np.array([2.0, 3.0])),
        ColumnLikelihood("laplace", np.array([1.0, 1.0]), np.array([2.0, 1.0])),
    ]
    found = likelihood_links(columns, np.array([0, 1]))
    assert found.log_likelihood.tolist() == [-3, -4.5]
    assert found.linked.tolist() == [1, 0]


def test_record_that_cannot_be_the_persons_is_not_linked():
    column = ColumnLikelihood("even", np.zeros(1), np.array([5.0]), np.zeros(1), np.ones(1))
    found = likelihood_links([column], np.zeros(1, dtype=np.int64))
    assert (found.linked[0], found.log_likelihood[0]) == (0, -math.inf)


def test_many_equal_records_are_one_place():
    column = ColumnLikelihood("normal", np.zeros(2_000), np.ones(100_000))
    assert likelihood_links([column], np.arange(2_000)).linked.tolist() == [1e-5] * 2_000


@pytest.mark.nightly
@settings(max_examples=30, deadline=None)
@given(files())
def test_the_likeliest_record_is_that_of_all_pairs(given_files):
    columns, own = given_files
    found = greatest_likelihoods(columns, np.arange(len(own)))
    assert np.allclose(found, log_likelihoods(columns).max(axis=1))
