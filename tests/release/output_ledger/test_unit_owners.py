"""How many persons the units of populations are of."""

import numpy as np
import pytest
from asking_cells import counts
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.release.output_ledger import OutputLedger, Populations, UnitOwners
from policy_engine.release.output_ledger.unit_owners import AtomOwners

# Persons 0 and 1 have three units each, 2 has two, 3 and 4 have one.
WHOSE = np.array([0, 0, 0, 1, 1, 1, 2, 2, 3, 4])


@pytest.mark.parametrize(
    ("threshold", "least"), [(1, 1), (2, 2), (4, 2), (5, 3), (7, 3), (8, 4), (9, 4), (10, 5)]
)
def test_as_many_owners_are_enough_as_a_threshold_is_sure_to_have(threshold, least):
    assert UnitOwners(WHOSE).least(threshold) == least


def test_fewer_units_than_the_threshold_may_be_of_enough_owners():
    owners = UnitOwners(WHOSE)
    assert owners.are_enough(np.isin(np.arange(10), [0, 3, 6]), 7)
    assert not owners.are_enough(np.isin(np.arange(10), [0, 1, 2, 3, 4, 5]), 7)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), min_size=1, max_size=30),
    st.integers(1, 5),
    st.sets(st.integers(0, 4)),
)
def test_shares_of_atoms_add_up_to_no_more_than_their_owners(pairs, least, some):
    atoms, whose = (np.array(one) for one in zip(*pairs, strict=True))
    owners = AtomOwners.of_pairs(atoms, whose, 5, least)
    is_in = np.isin(np.arange(5), [*some])
    number = len({owner for atom, owner in pairs if atom in some})
    assert owners.shares[is_in].sum() <= number * owners.parts
    assert owners.are_enough(is_in) is (number >= least)
    merged = owners.merged(np.where(is_in, 0, -1), 1)
    assert merged.sizes.tolist() == [number]


# -- the ledger --------------------------------------------------------------------------------


@pytest.fixture
def ledger(tmp_path):
    return OutputLedger(tmp_path / "ledger")


def of(*members):
    """Return populations of ten units."""
    return Populations.of_masks([np.isin(np.arange(10), [*some]) for some in members])


def codes(ledger, populations, **options):
    found = ledger.check_and_record(
        counts(populations, threshold=7, owners=UnitOwners(WHOSE), **options), partly=False
    )
    return found.codes


def test_population_of_three_units_of_three_owners_may_be_told(ledger):
    assert codes(ledger, of([0, 3, 6])) == ()


def test_population_of_six_units_of_two_owners_may_not(ledger):
    assert codes(ledger, of([0, 1, 2, 3, 4, 5])) == ("K040",)


def test_answers_may_differ_by_three_owners_but_not_by_two(ledger):
    assert codes(ledger, of(range(10))) == ()
    assert codes(ledger, of([1, 2, 4, 5, 7, 8, 9])) == ()
    assert codes(ledger, of([6, 7, 8, 9])) == ("K041",)


@pytest.mark.parametrize(
    ("rest", "found"), [([2, 5, 9], ()), ([2, 6, 9], ("K043",))], ids=["0 3 6", "0 3 5"]
)
def test_all_less_two_others_may_tell_of_three_owners_but_not_of_two(ledger, rest, found):
    assert codes(ledger, of(range(10), [1, 4, 7, 8])) == ()
    assert codes(ledger, of(rest)) == found
