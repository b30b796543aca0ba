"""By how many units populations differ: packed bits, labels of units, and the atoms of many.

Units are numbers 0 to n - 1. Populations are given as packed bits, (populations, bytes) in the
order of `numpy.packbits`, or as labels, (units,), where the units of a label are one population and
those of a label below 0 are in none. Atoms are the units that no population tells apart.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.compiled import compiled

Bits = NDArray[np.uint8]
Labels = NDArray[np.int32]
Words = NDArray[np.uint64]
Counts = NDArray[np.int64]

_LANES, _TILE = 2, 2_048
_ODD = 0x9E3779B97F4A7C15
_FIRST, _SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def differing_units(one: Bits, others: Bits) -> Counts:
    """Return by how many units one population differs from each of others: (others,)."""
    counts = np.zeros(len(others), np.int64)
    whole = others.shape[1] // 8 * 8
    wide = others[:, :whole]
    if whole and wide.flags.c_contiguous:
        _add_word_differences(one[:whole].view(np.uint64), wide.view(np.uint64), counts)
        _add_byte_differences(one[whole:], others[:, whole:], counts)
    else:
        _add_byte_differences(one, others, counts)
    return counts


class NearPairs(NamedTuple):
    """Pairs of populations, and by how many units they differ: (pairs,) each."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    units: Counts


def near_populations(
    members: Labels, weights: Counts, sizes: Counts, chosen: NDArray[np.bool_], least: int
) -> NearPairs:
    """Return the pairs of a chosen population and another that differ by fewer units than `least`.

    `members` are the populations that each atom is in, -1 for none: (layers, atoms); a population
    is in one layer only. `weights` is the size of each atom, `sizes` that of each population.
    """
    populations = len(sizes)
    layer, atom = np.nonzero(members >= 0)
    names = members[layer, atom]
    is_chosen = chosen[names]
    order = np.argsort(names[is_chosen], kind="stable")
    atoms = atom[is_chosen][order].astype(np.int64)
    starts = np.searchsorted(names[is_chosen][order], np.arange(populations + 1)).astype(np.int64)
    common, touched = np.zeros(populations, np.int64), np.zeros(populations, np.int64)
    by_atom = np.ascontiguousarray(members.T)
    work = (by_atom, weights, sizes, chosen, least, atoms, starts, common, touched)
    pairs = np.zeros((int(_near(*work, np.zeros((0, 3), np.int64))), 3), np.int64)
    _near(*work, pairs)
    return NearPairs(*pairs.T)


def unit_words(units: int, seed: int) -> Words:
    """Return two pseudorandom words of each unit by SplitMix64: (units, 2).

    Whoever does not know the seed cannot choose populations whose sums of words are equal.
    """
    words = np.empty((units, _LANES), np.uint64)
    _fill_words(np.uint64(seed), words)
    return words


def label_fingerprints(labels: Labels, populations: int, words: Words) -> Words:
    """Return the size of each population, and the sums of its units' words: (populations, 3)."""
    fingerprints = np.zeros((populations, 1 + _LANES), np.uint64)
    _add_label_words(labels, words, fingerprints)
    return fingerprints


def bit_fingerprints(bits: Bits, words: Words) -> Words:
    """Return the fingerprints of populations given as bits, as those of labels."""
    fingerprints = np.zeros((len(bits), 1 + _LANES), np.uint64)
    _add_bit_words(bits, words, fingerprints)
    return fingerprints


def add_label_names(labels: Labels, names: Words, sums: Words) -> None:
    """Add the names of populations, (populations, 2), to the sums of the units in them."""
    _add_label_names(labels, names, sums)


def add_bit_names(bits: Bits, names: Words, sums: Words) -> None:
    """Add the names of populations, (populations, 2), to the sums of the units in them."""
    _add_bit_names(bits, names, sums, np.zeros((256, _LANES), np.uint64))


class Atoms(NamedTuple):
    """Units that are not told apart: how many units each atom has, and one of them: (atoms,).

    `numbers` is the atom of each unit: (units,).
    """

    sizes: Counts
    examples: NDArray[np.int64]
    numbers: Labels


def atoms_of(sums: Words, most: int) -> Atoms | None:
    """Return the atoms of units by the sums of the names of the populations that they are in.

    None where there are more than `most`. They are in the order of their first units.
    """
    most = min(most, len(sums))
    size = 1 << max(4, (2 * most + 1).bit_length())
    slots = np.full(size, -1, np.int64)
    sizes, examples = np.zeros(most + 1, np.int64), np.zeros(most + 1, np.int64)
    numbers = np.zeros(len(sums), np.int32)
    count = int(_count_atoms(sums, slots, sizes, examples, numbers))
    return None if count > most else Atoms(sizes[:count], examples[:count], numbers)


@compiled
def _ones(word):  # type: ignore[no-untyped-def]
    # The sum of bits within a word (Warren, Hacker's Delight, 5-1); LLVM makes it popcnt.
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@compiled
def _add_word_differences(one, others, counts):  # type: ignore[no-untyped-def]
    for row in range(others.shape[0]):
        total = np.uint64(0)
        for column in range(others.shape[1]):
            total += _ones(one[column] ^ others[row, column])
        counts[row] += np.int64(total)


@compiled
def _add_byte_differences(one, others, counts):  # type: ignore[no-untyped-def]
    for row in range(others.shape[0]):
        total = np.uint64(0)
        for column in range(others.shape[1]):
            total += _ones(np.uint64(one[column] ^ others[row, column]))
        counts[row] += np.int64(total)


@compiled
def _fill_words(seed, words):  # type: ignore[no-untyped-def]
    state = seed
    for unit in range(words.shape[0]):
        for lane in range(words.shape[1]):
            state = state + np.uint64(_ODD)
            word = (state ^ (state >> np.uint64(30))) * np.uint64(_FIRST)
            word = (word ^ (word >> np.uint64(27))) * np.uint64(_SECOND)
            words[unit, lane] = word ^ (word >> np.uint64(31))


@compiled
def _add_label_words(labels, words, fingerprints):  # type: ignore[no-untyped-def]
    for unit in range(labels.shape[0]):
        label = labels[unit]
        if label >= 0:
            fingerprints[label, 0] += np.uint64(1)
            fingerprints[label, 1] += words[unit, 0]
            fingerprints[label, 2] += words[unit, 1]


@compiled
def _add_bit_words(bits, words, fingerprints):  # type: ignore[no-untyped-def]
    for population in range(bits.shape[0]):
        for place in range(bits.shape[1]):
            byte = bits[population, place]
            bit = 0
            while byte:
                if byte & 128:
                    unit = 8 * place + bit
                    fingerprints[population, 0] += np.uint64(1)
                    fingerprints[population, 1] += words[unit, 0]
                    fingerprints[population, 2] += words[unit, 1]
                byte = np.uint8(byte << 1)
                bit += 1


@compiled
def _add_label_names(labels, names, sums):  # type: ignore[no-untyped-def]
    for unit in range(labels.shape[0]):
        label = labels[unit]
        if label >= 0:
            sums[unit, 0] += names[label, 0]
            sums[unit, 1] += names[label, 1]


@compiled
def _add_bit_names(bits, names, sums, table):  # type: ignore[no-untyped-def]
    # Eight populations at a time: of their bits, transposed, each unit's are the place in a table
    # of the sums of all choices among their names. Sums of a tile stay in the cache.
    for start in range(0, bits.shape[1], _TILE):
        for first in range(0, bits.shape[0], 8):
            rows = min(8, bits.shape[0] - first)
            for choice in range(1, 1 << rows):
                low = 0
                while not (choice >> low) & 1:
                    low += 1
                for lane in range(2):
                    rest = table[choice & (choice - 1), lane]
                    table[choice, lane] = rest + names[first + low, lane]
            for place in range(start, min(start + _TILE, bits.shape[1])):
                word = np.uint64(0)
                for row in range(rows):
                    word |= np.uint64(bits[first + row, place]) << np.uint64(8 * row)
                # Warren, Hacker's Delight, 7-3.
                swap = (word ^ (word >> np.uint64(7))) & np.uint64(0x00AA00AA00AA00AA)
                word ^= swap ^ (swap << np.uint64(7))
                swap = (word ^ (word >> np.uint64(14))) & np.uint64(0x0000CCCC0000CCCC)
                word ^= swap ^ (swap << np.uint64(14))
                swap = (word ^ (word >> np.uint64(28))) & np.uint64(0x00000000F0F0F0F0)
                word ^= swap ^ (swap << np.uint64(28))
                for bit in range(8):
                    own = np.int64((word >> np.uint64(8 * bit)) & np.uint64(255))
                    if own:
                        sums[8 * place + 7 - bit, 0] += table[own, 0]
                        sums[8 * place + 7 - bit, 1] += table[own, 1]


@compiled
def _count_atoms(sums, slots, sizes, examples, numbers):  # type: ignore[no-untyped-def]
    mask = np.uint64(slots.shape[0] - 1)
    count, most = 0, sizes.shape[0] - 1
    for unit in range(sums.shape[0]):
        first, second = sums[unit, 0], sums[unit, 1]
        place = (first ^ (first >> np.uint64(29))) & mask
        while True:
            atom = slots[place]
            if atom < 0:
                if count == most:
                    return count + 1
                slots[place] = count
                sizes[count], examples[count], numbers[unit] = 1, unit, count
                count += 1
                break
            example = examples[atom]
            if sums[example, 0] == first and sums[example, 1] == second:
                sizes[atom] += 1
                numbers[unit] = atom
                break
            place = (place + np.uint64(1)) & mask
    return count


@compiled
def _near(by_atom, weights, sizes, chosen, least, atoms, starts, common, touched, pairs):  # type: ignore[no-untyped-def]
    """Fill in pairs that differ by few units, as far as there is room; return their number."""
    count = 0
    for one in range(sizes.shape[0]):
        if not chosen[one]:
            continue
        last = 0
        for place in range(starts[one], starts[one + 1]):
            atom = atoms[place]
            for layer in range(by_atom.shape[1]):
                other = by_atom[atom, layer]
                if other >= 0:
                    if common[other] == 0:
                        touched[last] = other
                        last += 1
                    common[other] += weights[atom]
        for place in range(last):
            other = touched[place]
            units = sizes[one] + sizes[other] - 2 * common[other]
            common[other] = 0
            # Of two chosen populations, one is enough.
            if 0 < units < least and not (chosen[other] and other < one):
                if count < pairs.shape[0]:
                    pairs[count, 0], pairs[count, 1], pairs[count, 2] = one, other, units
                count += 1
    return count
