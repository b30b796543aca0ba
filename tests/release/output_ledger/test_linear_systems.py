"""What atoms have of something, by the values of units."""

import numpy as np
import pytest

from policy_engine.release.output_ledger.answers import COUNT, DISTINCT_PERSONS, PERSONS
from policy_engine.release.output_ledger.linear_systems import OPAQUE, AtomContents, is_row


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_contents_by_holders_are_those_by_their_values(share):
    draws = np.random.default_rng(3)
    atoms = draws.integers(0, 8, 20).astype(np.int32)
    holders, sizes = draws.random(20) < share, np.bincount(atoms, minlength=9)
    whole = AtomContents.of_units(atoms, 9, holders.astype(np.float64))
    own = AtomContents.of_holders(atoms, sizes, holders)
    for name in ("units", "sums", "are_least", "are_most"):
        assert getattr(own, name).tolist() == getattr(whole, name).tolist()


@pytest.mark.parametrize(
    ("system", "is_told"),
    [(COUNT, True), ("sum:pay", True), (OPAQUE, True), (PERSONS, False), (DISTINCT_PERSONS, False)],
)
def test_a_statistic_may_tell_of_how_many_rows_it_is_but_not_of_how_many_persons(system, is_told):
    assert is_row(system, "CORR(age, pay)") == is_told
