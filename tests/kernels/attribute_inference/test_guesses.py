"""Guesses by the nearest records equal those from all pairs, and are no better where there is
nothing to learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from policy_engine.kernels.attribute_inference import ReleasedCells, guess_values
from policy_engine.kernels.attribute_inference import guesses as module
from policy_engine.kernels.excess import excess

SMALL = st.integers(0, 3).map(float)
WIDTHS = np.array([2.0, 0.0])


def points(table, widths=WIDTHS):
    return ReleasedCells(table, table, widths)


def best_share(values, truth, tolerance):
    covered = [np.sum(np.abs(values - guess) <= tolerance) for guess in sorted(set(values))]
    best = [
        guess
        for guess, count in zip(sorted(set(values)), covered, strict=True)
        if count == max(covered)
    ]
    return np.mean([abs(guess - truth) <= tolerance for guess in best])


def brute_guesses(known, released, values, truth, tolerance, least):
    """Return what `guess_values` does of the informed, from all pairs."""
    shares = []
    for person, own in zip(known, truth, strict=True):
        away = np.maximum(released.low - person, person - released.high).clip(0)
        away = np.where(released.widths == 0, away > 0, away / np.where(WIDTHS == 0, 1, WIDTHS))
        distance = away.sum(axis=1)
        radius = np.sort(distance)[min(least, len(distance)) - 1]
        shares.append(best_share(values[distance <= radius + 1e-9], own, tolerance))
    return shares


@st.composite
def files(draw):
    rows, persons = draw(st.integers(1, 40)), draw(st.integers(1, 10))
    known = draw(arrays(np.float64, (persons, 2), elements=SMALL))
    low = draw(arrays(np.float64, (rows, 2), elements=SMALL))
    high = low + draw(arrays(np.float64, (rows, 2), elements=st.sampled_from([0.0, 0.0, 1.0])))
    values, truth = (draw(arrays(np.float64, size, elements=SMALL)) for size in (rows, persons))
    cells = ReleasedCells(low, high, WIDTHS)
    return known, cells, values, truth, draw(st.sampled_from([0.0, 1.0])), draw(st.integers(1, 5))


@given(files())
def test_guesses_are_those_from_all_pairs(given_files):
    found = guess_values(*given_files)
    assert found.informed == pytest.approx(brute_guesses(*given_files))
    _, _, values, truth, tolerance, _ = given_files
    assert found.blind == pytest.approx([best_share(values, own, tolerance) for own in truth])


@given(files(), st.randoms(use_true_random=False))
def test_order_of_the_rows_changes_no_guess(given_files, random):
    known, cells, values, *rest = given_files
    order = random.sample(range(len(values)), len(values))
    moved = ReleasedCells(cells.low[order], cells.high[order], cells.widths)
    after = guess_values(known, moved, values[order], *rest)
    before = guess_values(*given_files)
    assert np.array_equal(after.informed, before.informed)
    assert np.array_equal(after.blind, before.blind)


@given(files())
def test_persons_in_parts_are_guessed_as_all_at_once(given_files):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_PAIRS", 2)
        parts = guess_values(*given_files)
    assert np.array_equal(parts.informed, guess_values(*given_files).informed)


def test_value_of_the_class_is_guessed():
    # Two classes: ages 20 - 29 with two of three ill of flu, ages 30 - 39 with one illness.
    low, high = np.array([[20.0]] * 3 + [[30.0]] * 2), np.array([[29.0]] * 3 + [[39.0]] * 2)
    ill = np.array([0.0, 0, 1, 2, 2])
    known = np.array([[21.0], [28], [25], [31], [38]])
    found = guess_values(known, ReleasedCells(low, high, np.array([20.0])), ill, ill)
    assert found.informed.tolist() == [1, 1, 0, 1, 1]
    # Flu and the illness of the older class are the commonest of all.
    assert found.blind.tolist() == [0.5, 0.5, 0, 0.5, 0.5]


def test_number_is_guessed_within_a_tolerance():
    released = points(np.zeros((4, 1)), np.ones(1))
    pay = np.array([10.0, 12, 13, 30])
    found = guess_values(np.zeros((2, 1)), released, pay, np.array([11.0, 30]), tolerance=2)
    # 12 is right for 10, 12 and 13; it is within 2 of 11, too.
    assert found.informed.tolist() == [1, 0]


def test_more_neighbours_guess_better_where_values_are_drawn():
    random = np.random.default_rng(2)
    known = random.random((2_000, 1))
    ill = ((known[:, 0] > 0.5) ^ (random.random(2_000) < 0.3)).astype(float)
    released = points(known[:1_000], np.ones(1))
    one, many = (
        guess_values(known[1_000:], released, ill[:1_000], ill[1_000:], least=least).informed.mean()
        for least in (1, 30)
    )
    assert one < 0.63
    assert many > 0.66


def test_persons_of_the_original_are_not_told_more_than_others_by_what_tells_all():
    random = np.random.default_rng(3)
    table = random.normal(size=(1_500, 2))
    value = (table.sum(axis=1) > 0).astype(float)
    released = points(table[:500] + random.normal(size=(500, 2)), np.ones(2))
    ours, others = (
        guess_values(table[part], released, value[:500], value[part], least=20)
        for part in (slice(500), slice(500, None))
    )
    assert ours.informed.mean() > ours.blind.mean() + 0.2
    found = excess(ours.informed, others.informed)
    assert found.low < 0.05
    assert found.high > 0


def test_persons_whose_records_are_released_as_they_are_are_told_more_than_others():
    random = np.random.default_rng(3)
    table, value = random.normal(size=(600, 3)), random.integers(0, 5, 600).astype(float)
    released = points(table[:300], np.ones(3))
    ours, others = (
        guess_values(table[part], released, value[:300], value[part])
        for part in (slice(300), slice(300, None))
    )
    assert ours.informed.mean() == 1
    assert excess(ours.informed, others.informed).low > 0.9
