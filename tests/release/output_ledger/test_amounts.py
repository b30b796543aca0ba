"""What combinations of totals tell is of enough units that have something in the column."""

from itertools import permutations

import numpy as np
import pytest
from asking_cells import answer, counts, one_of

from policy_engine.release.output_ledger import OutputCell, OutputLedger, Populations, UnitOwners

UNITS, LEAST = 40, 3
FEW, MANY, MORE, IDLE, LAZY = range(2), range(2, 10), range(10, 18), range(18, 24), range(24, 30)
PARTS = ([*FEW, *MANY, *MORE], [*MANY, *IDLE], [*MORE, *LAZY])
"""The first of these populations less the others is that of few, if the last two have nothing."""


@pytest.fixture
def ledger(tmp_path):
    return OutputLedger(tmp_path / "outputs.db")


def has_something(*parts):
    """Return who has something in any column: those of some parts, and all from 30 on."""
    is_any = np.arange(UNITS) >= 30
    is_any[[unit for part in parts for unit in part]] = True
    return lambda *_: [is_any]


def codes(ledger, contributing, measures=("sum:pay",) * 3, threshold=LEAST, **options):
    """Return the codes against each of three figures."""
    found = []
    for members, measure in zip(PARTS, measures, strict=True):
        cell = OutputCell(0, measure, None, threshold)
        own = answer(one_of(UNITS, members), cell, contributing=contributing, **options)
        found.append(ledger.check_and_record(own).codes)
    return found


EARNERS = FEW, MANY, MORE
SPREAD = "std:pay:0.5"
PAIR = 'pair:["age", "pay"]:COVAR'


@pytest.mark.parametrize("owners", [None, UnitOwners(np.arange(UNITS))])
@pytest.mark.parametrize("measure", ["sum:pay", "mean:pay", SPREAD, PAIR])
def test_three_figures_do_not_tell_of_few_who_have_something(ledger, measure, owners):
    found = codes(ledger, has_something(*EARNERS), (measure,) * 3, owners=owners)
    assert found == [(), (), ("K043",)]


def test_whether_it_is_told_does_not_depend_on_what_the_few_have(ledger):
    assert codes(ledger, has_something(MANY, MORE)) == [(), (), ("K043",)]


@pytest.mark.parametrize("parts", [(*EARNERS, range(18, 19)), (*EARNERS, IDLE, LAZY)])
def test_three_figures_tell_of_enough_who_have_something(ledger, parts):
    assert codes(ledger, has_something(*parts)) == [(), (), ()]


@pytest.mark.parametrize("measures", [("sum:pay", "sum:pay", "sum:age"), ("count",) * 3])
def test_figures_of_others_and_numbers_of_persons_are_told(ledger, measures):
    def contributing(column, parts):  # noqa: ARG001 (of two)
        return has_something(*EARNERS)(column) if column == "pay" else [np.ones(UNITS, np.bool_)]

    assert codes(ledger, contributing, measures) == [(), (), ()]


def test_each_way_of_knowing_counts(ledger):
    [is_any], [is_most] = has_something(*EARNERS)("pay"), has_something(range(30))("pay")
    assert codes(ledger, lambda *_: [is_most, is_any])[2] == ("K043",)


def test_two_rows_of_one_person_are_of_one(ledger):
    """Four units are of three persons or more; of three who have something, two are of one."""
    owners, some = UnitOwners(np.array([0, 0, *range(1, 39)])), has_something(*EARNERS, [18])
    assert codes(ledger, some, threshold=4, owners=owners)[2] == ("K043",)


def test_units_of_enough_persons_are_told(ledger):
    owners, some = UnitOwners(np.array([0, 0, *range(1, 39)])), has_something(*EARNERS, [18, 19])
    assert codes(ledger, some, threshold=4, owners=owners) == [(), (), ()]


def test_nothing_is_asked_where_all_have_something(ledger):
    whole = counts(one_of(UNITS, range(30)), LEAST, measure="sum:pay")
    assert ledger.check_and_record(whole).codes == ()


WHOLE, EARNING, MIXED = range(30), range(10), range(10, 20)
"""What is left of all 30 without the others is of the last ten."""


def codes_of(ledger, parts, *rare):
    """Return the codes against totals of parts; all have something, some rare values."""
    masks = [np.ones(UNITS, np.bool_), np.isin(np.arange(UNITS), [*rare, *range(30, UNITS)])]
    found = []
    for members in parts:
        cell = OutputCell(0, "sum:pay", None, LEAST)
        own = answer(one_of(UNITS, members), cell, contributing=lambda *_: masks)
        found.append(ledger.check_and_record(own).codes)
    return found


@pytest.mark.parametrize("parts", [*permutations([WHOLE, EARNING, MIXED])])
def test_a_figure_of_few_rare_values_does_not_help_to_tell_of_fewer(ledger, parts):
    """Two of the mixed ones have rare values, and one of those that are left."""
    found = codes_of(ledger, parts, *EARNING, 10, 11, 20)
    assert found == [(), (), ("K043",)]


def test_a_figure_of_few_rare_values_is_judged_as_its_cell_is(ledger):
    assert codes_of(ledger, [MIXED, WHOLE], *EARNING, 10, 11) == [(), ()]


def test_figures_of_few_rare_values_tell_nothing_together_where_nobody_is_in_both(ledger):
    assert codes_of(ledger, [WHOLE, MIXED, range(20, 30)], *EARNING, 10, 20) == [()] * 3


def test_figures_of_few_rare_values_of_which_one_is_in_the_other_tell_of_the_rest(ledger):
    found = codes_of(ledger, [MIXED, range(10, 16)], 10, 11, 16)
    assert found == [(), ("K043",)]


@pytest.mark.parametrize(("rare", "expected"), [((), ()), ((10,), ("K043",)), ((10, 11), ())])
def test_a_figure_of_nobody_with_a_rare_value_is_judged_as_its_cell_is_not_one_of_one(
    ledger, rare, expected
):
    units = np.arange(UNITS)
    masks = [np.ones(UNITS, np.bool_), np.isin(units, [*EARNING, *rare])]
    cell = OutputCell(0, "sum:pay", None, LEAST + 1)
    asked = answer(one_of(UNITS, MIXED), cell, contributing=lambda *_: masks)
    assert ledger.check_and_record(asked).codes == expected


@pytest.mark.parametrize("seed", range(8))
def test_what_figures_tell_beside_one_of_few_is_found_in_any_order_of_rows(ledger, seed):
    """Two cells less an earlier one leave three with rare values, and three are in the first."""
    atoms = np.repeat(np.arange(4), [5, 4, 8, 5])  # Of two cells, and in the earlier one or not.
    is_rare = np.concatenate([np.arange(n) < rare for n, rare in ((5, 2), (4, 1), (8, 5), (5, 2))])
    order = np.random.default_rng(seed).permutation(len(atoms))
    atoms, masks = atoms[order], [np.ones(len(atoms), np.bool_), is_rare[order]]
    tables = np.where(atoms % 2 == 0, 0, -1), atoms // 2
    found = []
    for labels in tables:
        count = int(labels.max()) + 1
        cells = [OutputCell(place, "sum:pay", None, LEAST + 1) for place in range(count)]
        own = Populations.of_labels(labels, count)
        asked = answer(own, *cells, contributing=lambda *_: masks)
        found.append(ledger.check_and_record(asked).codes)
    assert found == [(), ("K043",)]
