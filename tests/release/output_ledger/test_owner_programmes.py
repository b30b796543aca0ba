"""What numbers of units and of their owners tell together: owners of up to three units each."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from policy_engine.release.output_ledger import owner_programmes
from policy_engine.release.output_ledger.judging_time import TimeLimit
from policy_engine.release.output_ledger.owner_programmes import (
    ChosenOwners,
    OwnerSums,
    told_together,
)
from policy_engine.release.output_ledger.rows_of_owners import SidesAsked


def sums_of(owners, atoms, held, rows, chosen):
    """Return the sums of units, of each of which the owner, the atom and whether it is a holder are
    given: by the atoms of populations of units, and of owners who have a holder, or have not."""
    pairs = sorted({*zip(owners, atoms, strict=True)})
    of_pair = [
        [one for *pair, one in zip(owners, atoms, held, strict=True) if (*pair,) == own]
        for own in pairs
    ]
    width = max(atoms) + 1
    masks = [np.isin(np.arange(width), one) for one in rows]
    some = [
        ChosenOwners(number, of_holders, np.isin(np.arange(width), one))
        for number, (one, of_holders) in enumerate(chosen)
    ]
    whose, where = np.array(pairs).T
    sizes, held_ones = ([f(one) for one in of_pair] for f in (len, sum))
    parts = whose, where, np.array(sizes), np.array(held_ones)
    is_whole = all(len({*own}) == 1 for own in _by_owner(owners, held))
    numbers = tuple(range(len(masks)))
    return OwnerSums(*parts, numbers, np.array(masks).reshape(-1, width), tuple(some), is_whole)


def _by_owner(owners, held):
    pairs = [*zip(owners, held, strict=True)]
    return [[one for own, one in pairs if own == owner] for owner in {*owners}]


def is_told(sums, *, old=()):
    rows = np.zeros(len(sums.row_numbers), bool)
    chosen = np.array([number in old for number in range(len(sums.chosen))], bool)
    return told_together(sums, (rows, chosen), TimeLimit())


def told_by_worlds(owners, atoms, held, rows, chosen):
    """Return whether in all worlds that fit, or in none, a unit is a holder, or an owner counts,
    has a holder or has another unit."""
    is_whole = all(len({*own}) == 1 for own in _by_owner(owners, held))

    def figures(world):
        units = [*zip(owners, atoms, world, strict=True)]
        own = [sum(one for _, atom, one in units if atom in some) for some in rows]
        counting = [
            {owner for owner, atom, one in units if atom in some and one is of_holders}
            for some, of_holders in chosen
        ]
        by_owner = _by_owner(owners, world)
        some = [any(one) for one in by_owner] + [not all(one) for one in by_owner]
        counted = [owner in one for one in counting for owner in {*owners}]
        return own + [len(one) for one in counting], [*world, *counted, *some]

    worlds = [
        world
        for world in product((False, True), repeat=len(owners))
        if not is_whole or all(len({*own}) == 1 for own in _by_owner(owners, world))
    ]
    fits = [figures(one)[1] for one in worlds if figures(one)[0] == figures(held)[0]]
    return any(len({*column}) == 1 for column in zip(*fits, strict=True))


def test_all_who_have_several_units_are_told_by_those_with_and_those_without():
    """Three of five have two units; four have a holder, and four have another unit: all three have
    both."""
    units = [0, 0, 1, 1, 2, 2, 3, 4], [0] * 8, [True, False] * 3 + [True, False]
    both = [([0], True), ([0], False)]
    assert is_told(sums_of(*units, [], both))
    assert not is_told(sums_of(*units, [], both[:1]))
    assert not is_told(sums_of(*units, [], both), old=(0, 1))


def test_two_parts_tell_of_owners_by_what_the_whole_has():
    """Of atom 0, two holders are left for two owners who count there; each has one unit in it."""
    units = [0, 1, 2, 3, 0, 1, 2, 3], [0] * 4 + [1] * 4, [True, True, False, False] * 2
    assert not is_told(sums_of(*units, [[0, 1], [1]], [([0], True)]))
    units = [0, 0, 1, 2, 3, 4, 4], [0, 0, 0, 0, 0, 1, 1], [True] * 3 + [False] * 2 + [True, False]
    assert is_told(sums_of(*units, [[0, 1], [1]], [([0], True)]))


TWO_OF_MANY = [0, 0, 0, 1, 1, 1, 2, 3, 4, 5], [0] * 10
"""Owners 0 and 1 have three units each, all others one."""


@pytest.mark.parametrize(("holders", "told"), [(4, True), (5, False)])
def test_who_has_three_units_has_another_one_where_others_need_the_holders(holders, told):
    """Three owners have four holders: two have one at least, so nobody has three."""
    held = [True] * (holders - 2) + [False] * (8 - holders) + [True, True, False, False]
    sums = sums_of(*TWO_OF_MANY, held, [[0]], [([0], True)])
    assert is_told(sums) is told
    assert not is_told(replace(sums, sides=SidesAsked(others=False)))


def test_numbers_of_units_alone_tell_of_who_has_two_of_four():
    """Three sums of two atoms tell each: of four units of atom 0, three are holders, and owner 0
    has two."""
    owners, atoms = [0, 0, *range(1, 11)], [0] * 4 + [1] * 4 + [2] * 4
    units = owners, atoms, [True, False, True, True] + [True, False] * 4
    assert is_told(sums_of(*units, [[0, 1], [1, 2], [0, 2]], []))
    assert not is_told(sums_of(*units, [[0, 1], [1, 2]], []))


@pytest.mark.parametrize(("holders", "told"), [((0, 1, 2), True), ((0, 1, 3), False)])
def test_all_units_of_three_owners_are_those_of_the_ones_with_two(holders, told):
    """Three of six owners have two units. Who is a holder is so in all: three are, of whom six
    units are in all, or five."""
    owners = [*range(6), *range(3)]
    units = owners, [0] * 6 + [1] * 3, [one in holders for one in owners]
    assert is_told(sums_of(*units, [[0], [0, 1]], [])) is told


def test_numbers_of_units_alone_are_not_looked_at_beyond_the_limit(monkeypatch):
    monkeypatch.setattr(owner_programmes, "MOST_OF_A_KIND", 0)
    owners = [*range(6), *range(3)]
    units = owners, [0] * 6 + [1] * 3, [one < 3 for one in owners]
    assert not is_told(sums_of(*units, [[0], [0, 1]], []))


def test_what_earlier_figures_tell_of_an_owner_is_not_told_by_later_ones():
    held = [True, True, *[False] * 4, True, True, False, False]
    sums = sums_of(*TWO_OF_MANY, held, [[0], [0]], [([0], True), ([0], True)])
    old_rows = np.array([True, False])
    assert not told_together(sums, (old_rows, np.array([True, False])), TimeLimit())
    assert told_together(sums, (old_rows, np.zeros(2, bool)), TimeLimit())


@pytest.mark.parametrize("seed", range(30))
def test_what_is_told_holds_in_all_worlds_that_fit(seed):
    draws = np.random.default_rng(seed)
    owners = np.repeat(np.arange(4), draws.integers(1, 4, 4)).tolist()
    atoms = draws.integers(0, 2, len(owners))
    atoms[0] = 1
    held = draws.random(len(owners) if seed % 2 else 4) < 0.5
    held = (held if seed % 2 else held[owners]).tolist()
    some = [[0], [1], [0, 1]]
    rows = [some[one] for one in draws.permutation(3)[: draws.integers(0, 3)]]
    chosen = [(some[draws.integers(3)], bool(draws.integers(2))) for _ in range(draws.integers(3))]
    units = owners, atoms.tolist(), held, rows, chosen
    assert told_by_worlds(*units) or not is_told(sums_of(*units))


def test_beyond_the_limit_it_counts_as_told(monkeypatch):
    monkeypatch.setattr(owner_programmes, "MOST_TERMS", 0)
    units = [0, 1, 2, 3], [0] * 4, [True, False] * 2
    assert is_told(sums_of(*units, [[0]], [([0], True)]))
