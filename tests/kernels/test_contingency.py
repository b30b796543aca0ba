"""Cells and means of log-linear models, by closed forms and by fitting the whole table."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from policy_engine.kernels import contingency
from policy_engine.kernels.contingency import (
    ContingencyTable,
    fitted_means,
    interactions,
    main_effects,
    two_way_interactions,
)
from policy_engine.kernels.estimates import NotApplicable

RECORDS = arrays(np.int64, st.tuples(st.integers(1, 20), st.just(3)), elements=st.integers(-1, 2))


def fit(codes, margins):
    """Return the fitted means by cell, as a dictionary of the numbered codes."""
    table = ContingencyTable.of(codes, margins)
    means = fitted_means(table, margins, close=1e-9)
    return dict(zip(map(tuple, table.codes.tolist()), means.tolist(), strict=True))


def numbered(codes):
    return np.column_stack([np.unique(one, return_inverse=True)[1] for one in codes.T])


def count(codes, cell, columns):
    """Return the records that agree with a cell in some columns."""
    chosen = list(columns)
    return int((codes[:, chosen] == np.array(cell)[chosen]).all(axis=1).sum())


@given(RECORDS)
def test_means_of_independent_columns_are_products_of_shares(codes):
    codes = numbered(codes)
    for cell, mean in fit(codes, main_effects(3)).items():
        shares = [count(codes, cell, [at]) / len(codes) for at in range(3)]
        assert mean == pytest.approx(len(codes) * np.prod(shares))


@given(RECORDS)
def test_means_of_conditionally_independent_columns_have_a_closed_form(codes):
    codes = numbered(codes)
    means = fit(codes, ((0, 1), (1, 2)))
    for cell in product(*(range(one.max() + 1) for one in codes.T)):
        pairs = count(codes, cell, [0, 1]) * count(codes, cell, [1, 2])
        assert means.get(cell, 0.0) == pytest.approx(pairs / count(codes, cell, [1]))


@given(RECORDS, st.randoms(use_true_random=False))
def test_margins_are_fitted_in_any_order_of_records(codes, random):
    margins = two_way_interactions(3)
    table = ContingencyTable.of(codes, margins)
    means = fitted_means(table, margins)
    assert (table.counts.sum(), len(table.counts)) == (len(codes), len(means))
    assert (table.codes[table.cell_of] == numbered(codes)).all()
    for pair in margins:
        part_of, parts = table.margin(pair)
        sums = [np.bincount(part_of, one, parts) for one in (table.counts, means)]
        # Whichever margin was not fitted last is off by a part of a record.
        assert np.abs(sums[0] - sums[1]).max() < 0.1
    again = ContingencyTable.of(codes[random.sample(range(len(codes)), len(codes))], margins)
    assert (fitted_means(again, margins) == means).all()


def test_cells_that_a_margin_excludes_are_not_laid_out():
    codes = np.array([[0, 0, 0], [1, 1, 1], [0, 1, 2]])
    assert len(ContingencyTable.of(codes, main_effects(3)).counts) == 2 * 2 * 3
    assert ContingencyTable.of(codes, two_way_interactions(3)).codes.tolist() == [
        [0, 0, 0],
        [0, 1, 2],
        [1, 1, 1],
    ]


def test_table_with_too_many_cells_is_not_fitted():
    codes = np.repeat(np.arange(200)[:, None], 3, axis=1)
    found = ContingencyTable.of(codes, main_effects(3))
    assert isinstance(found, NotApplicable)
    assert len(ContingencyTable.of(codes, two_way_interactions(3)).counts) == 200


def test_fit_that_does_not_converge_is_said_to_be_none(monkeypatch):
    monkeypatch.setattr(contingency, "_MOST_ROUNDS", 1)
    codes = np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 1, 1], [0, 0, 0]])
    table = ContingencyTable.of(codes, two_way_interactions(3))
    assert isinstance(fitted_means(table, two_way_interactions(3)), NotApplicable)


def test_interactions_that_the_data_support_come_strongest_first():
    one, two = np.repeat([0, 1], 40), np.tile([0, 1], 40)
    nearly = np.where(np.arange(80) % 8 == 0, 1 - one, one)
    assert interactions(np.column_stack([one, two, one, nearly])) == ((0, 2), (0, 3), (2, 3))
