"""Probabilistic linkage equals that of all pairs, and estimates what made the files."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from policy_engine.kernels.linkage.fellegi_sunter import (
    Agreement,
    estimate_agreement,
    greatest_weights,
    probabilistic_links,
)


def codes(rows, columns=3):
    return arrays(np.int64, (rows, columns), elements=st.integers(-1, 2))


@st.composite
def files(draw):
    rows = draw(st.integers(1, 12))
    own = draw(st.lists(st.integers(-1, rows - 1), min_size=1, max_size=8))
    return draw(codes(len(own))), draw(codes(rows)), np.array(own)


def pattern_of(one, other):
    return sum(1 << j for j, (a, b) in enumerate(zip(one, other, strict=True)) if a == b >= 0)


@given(files())
def test_links_are_those_of_all_pairs(given_files):
    known, released, own = given_files
    linked, agreement = probabilistic_links(known, released, own)
    weights = agreement.weights()
    for person, record in enumerate(own):
        found = np.array([weights[pattern_of(known[person], row)] for row in released])
        best = np.abs(found - found.max()) < 1e-6
        expected = 1 / best.sum() if record >= 0 and best[record] else 0
        assert linked[person] == pytest.approx(expected)


@given(files(), st.randoms(use_true_random=False))
def test_order_of_the_rows_changes_no_link(given_files, random):
    known, released, own = given_files
    order = np.array(random.sample(range(len(released)), len(released)))
    places = np.append(np.argsort(order), -1)
    moved, _ = probabilistic_links(known, released[order], places[own])
    assert moved == pytest.approx(probabilistic_links(known, released, own)[0])


def test_agreement_that_made_the_counts_is_estimated():
    truth = Agreement(np.array([0.95, 0.9, 0.8, 0.7]), np.array([0.1, 0.2, 0.3, 0.1]))
    patterns = np.arange(16)[:, None] >> np.arange(4) & 1 == 1
    one, two = (
        np.where(patterns, of, 1 - of).prod(axis=1) for of in (truth.matched, truth.unmatched)
    )
    estimated = estimate_agreement(1e6 * (0.05 * one + 0.95 * two), 20)
    assert estimated.matched == pytest.approx(truth.matched, abs=1e-3)
    assert estimated.unmatched == pytest.approx(truth.unmatched, abs=1e-3)


def test_untouched_file_is_linked_but_for_equal_records():
    table = np.array([[0, 0, 0], [1, 1, 1], [2, 2, 2], [2, 2, 2]])
    linked, _ = probabilistic_links(table, table, np.arange(4))
    assert linked.tolist() == [1, 1, 0.5, 0.5]


def test_weight_of_agreement_is_the_log_of_the_ratio():
    weights = Agreement(np.array([0.9]), np.array([0.1])).weights()
    assert weights == pytest.approx([np.log(1 / 9), np.log(9)])


@given(files())
def test_the_greatest_weight_is_that_of_all_pairs(given_files):
    known, released, _ = given_files
    agreement = Agreement(np.array([0.9, 0.8, 0.7]), np.array([0.5, 0.3, 0.2]))
    weights = agreement.weights()
    best = [max(weights[pattern_of(one, other)] for other in released) for one in known]
    assert greatest_weights(known, released, agreement).tolist() == best
