import numpy as np
import pytest

from policy_engine.kernels.output_checks.population_differences import (
    add_bit_names,
    add_label_names,
    atoms_of,
    bit_fingerprints,
    differing_units,
    label_fingerprints,
    near_populations,
    unit_words,
)


@pytest.mark.parametrize("units", [5, 64, 203])
def test_bits_differ_by_the_units_of_one_population_alone(units):
    draws = np.random.default_rng(units)
    masks = draws.random((9, units)) < 0.5
    bits = np.packbits(masks, axis=1)
    expected = (masks[0] ^ masks).sum(axis=1)
    assert differing_units(bits[0], bits).tolist() == expected.tolist()
    assert differing_units(bits[0], bits[:, ::1][::2]).tolist() == expected[::2].tolist()


def test_fingerprints_of_labels_and_of_bits_are_the_same():
    labels = np.array([0, 1, -1, 1, 2, 0, 0, 3, 3, -1], np.int32)
    words = unit_words(10, 7)
    bits = np.packbits([labels == one for one in range(5)], axis=1)
    prints = label_fingerprints(labels, 5, words)
    assert prints[:, 0].tolist() == [3, 2, 1, 2, 0]
    assert prints.tolist() == bit_fingerprints(bits, words).tolist()
    assert len({tuple(one) for one in prints.tolist()}) == 5


def test_words_begin_alike_for_more_units_and_differ_by_seed():
    assert unit_words(9, 1)[:5].tolist() == unit_words(5, 1).tolist()
    assert not np.intersect1d(unit_words(50, 1), unit_words(50, 2)).size


def test_atoms_are_the_units_that_no_population_tells_apart():
    labels, mask = np.array([0, 0, 1, 1, -1], np.int32), np.array([[1, 0, 0, 0, 1]], bool)
    sums = np.zeros((5, 2), np.uint64)
    add_label_names(labels, unit_words(2, 1), sums)
    add_bit_names(np.packbits(mask, axis=1), unit_words(1, 2), sums)
    atoms = atoms_of(sums, 9)
    assert (atoms.sizes.tolist(), atoms.examples.tolist()) == ([1, 1, 2, 1], [0, 1, 2, 4])
    assert atoms_of(sums, 4).sizes.tolist() == [1, 1, 2, 1]
    assert atoms_of(sums, 3) is None


def test_near_populations_are_those_that_a_comparison_of_all_finds():
    draws = np.random.default_rng(3)
    masks = draws.random((30, 12)) < 0.5
    weights = draws.integers(1, 4, 12)
    members = np.where(masks, np.arange(30)[:, None], -1).astype(np.int32)
    chosen = np.arange(30) % 3 == 0
    near = near_populations(members, weights, masks @ weights, chosen, 6)
    pairs = {
        (one, other)
        for one in np.flatnonzero(chosen)
        for other in range(30)
        if 0 < (masks[one] ^ masks[other]) @ weights < 6
        and not (chosen[other] and other < one)
        and (masks[one] & masks[other]).any()
    }
    assert {*zip(near.first.tolist(), near.second.tolist(), strict=True)} == pairs
    assert pairs


def test_names_are_added_to_the_units_of_each_of_many_populations():
    draws = np.random.default_rng(5)
    masks = draws.random((19, 45)) < 0.5
    names, sums = unit_words(19, 3), np.zeros((45, 2), np.uint64)
    add_bit_names(np.packbits(masks, axis=1), names, sums)
    assert sums.tolist() == (masks.T.astype(np.uint64) @ names).tolist()
