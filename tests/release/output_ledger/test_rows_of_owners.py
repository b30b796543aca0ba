"""One number of rows in a ledger: a person has 20 rows, another 15, and 35 have one each."""

import numpy as np
import pytest
from asking_cells import DATASET

from policy_engine.release.output_ledger import (
    OutputAnswer,
    OutputCell,
    OutputLedger,
    Populations,
    UnitOwners,
    held_measure,
    rows_told_measure,
)
from policy_engine.release.output_ledger.rows_of_owners import SidesAsked

OWNERS = np.array([*range(35), *[35] * 20, *[36] * 15])
UNITS = len(OWNERS)


@pytest.fixture
def ledger(tmp_path):
    return OutputLedger(tmp_path / "outputs.db")


def code_of_rows(ledger, holders, members=None, *, key=None):
    """Return the codes of an answer of how many of some units are holders, the first of whom is
    none; `key` are those who have a value of a key of several."""
    held = held_measure(holders)
    rows = rows_told_measure(held)
    populations = Populations(UNITS).joined(
        Populations.of_masks(np.ones(UNITS, bool) if members is None else members)
    )
    cell = OutputCell(0, rows, None, 1)
    about = (DATASET, "1", ("organisation:x",), populations, (cell,))
    is_key = key is not None
    masks = {rows: holders, held: key if is_key else holders}
    one_sided = frozenset(masks if is_key else ())
    answer = OutputAnswer(*about, holders=masks, owners=UnitOwners(OWNERS), one_sided=one_sided)
    return ledger.check_and_record(answer, partly=True).codes


def some_of(count):
    """Return the rows of the last persons, as many as there are: of 20, 15, one, one and so on."""
    holders = np.zeros(UNITS, bool)
    order = [*np.flatnonzero(OWNERS == 35), *np.flatnonzero(OWNERS == 36), *range(34, -1, -1)]
    holders[order[:count]] = True
    return holders


@pytest.mark.parametrize(("count", "codes"), [(35, ()), (34, ("K045",)), (36, ("K045",))])
def test_holders_and_others_are_as_many_as_two_persons_may_have(ledger, count, codes):
    """Of 70 rows, 35 may be those of the two with most, who know of themselves."""
    assert code_of_rows(ledger, some_of(count)) == codes


def test_who_has_few_rows_is_not_told_of(ledger):
    few = np.arange(UNITS) < 35
    assert code_of_rows(ledger, (OWNERS % 3 == 1), few) == ()


def test_what_two_numbers_of_rows_differ_by_tells_of_who_has_many(ledger):
    """Of 70 rows, 35 are holders, and of the 25 rows of 25 persons, 15. So 20 of 45 others are: of
    those, the two with most have 35."""
    first, holders = np.arange(UNITS) < 25, some_of(20)
    holders[1:16] = True
    assert code_of_rows(ledger, holders) == ()
    assert code_of_rows(ledger, holders, first) == ("K045",)


@pytest.mark.parametrize(("count", "codes"), [(30, ()), (40, ("K045",))])
def test_of_a_key_with_several_values_only_that_one_is_somebodys_is_told(ledger, count, codes):
    """40 of 70 rows have the value: with 30 others, ten rows at least of whoever has 20 may be
    known to whoever has all of his 15 among these. Of 30, it may be known whose are not."""
    holders = some_of(count)
    assert code_of_rows(ledger, holders, key=holders) == codes


def test_the_value_of_a_key_may_be_the_holders_or_the_others(ledger):
    """The first row has the value, so the holders are those of all other values."""
    holders = some_of(30)
    assert code_of_rows(ledger, holders, key=~holders) == ("K045",)


@pytest.mark.parametrize("held", [0, 4])
def test_that_all_or_none_are_holders_is_for_others_to_judge(held):
    assert not SidesAsked().are_told(np.array([3, 1]), held)


@pytest.mark.parametrize("seed", range(20))
def test_nobody_is_told_of_in_a_number_that_is_shown(seed):
    """Whoever knows of himself can think of worlds in which any other has no holder, and of others
    in which he has nothing else."""
    draws = np.random.default_rng(seed)
    sizes = draws.integers(1, draws.choice([3, 9]), draws.integers(3, 9))
    held = int(draws.integers(1, sizes.sum())) if sizes.sum() > 1 else 0
    if SidesAsked().are_told(sizes, held):
        return
    total = int(sizes.sum())
    for one in range(len(sizes)):
        for known in set(range(len(sizes))) - {one}:
            for own in range(int(sizes[known]) + 1):
                rest, left = total - int(sizes[known] + sizes[one]), held - own
                if not 0 <= left <= rest + sizes[one]:
                    continue  # He has more or fewer.
                assert left <= rest
                assert left >= sizes[one]
