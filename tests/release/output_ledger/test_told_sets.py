"""Numbers of units by values of a column: a, b and c in two regions, of 40 and of twelve units."""

from itertools import product

import numpy as np
import pytest
from asking_cells import DATASET

from policy_engine.release.output_ledger import (
    OutputAnswer,
    OutputCell,
    OutputLedger,
    Populations,
    SecretValues,
    ToldSet,
    set_told_measure,
    told_sets,
)

NAMES = ("a", "b", "c")
CODES = np.array([0] * 20 + [1] * 20 + [0] * 12)
"""20 of the first region have a and 20 b; all twelve of the other one have a."""
FIRST = np.arange(len(CODES)) < 40
BOTH = np.ones(len(CODES), bool)


@pytest.fixture
def ledger(tmp_path):
    return OutputLedger(tmp_path / "outputs.db")


def told(*asked, codes=CODES, is_one_sided=False):
    """Return an answer of how many of some units have one of some values, each with these."""
    populations, cells = Populations(len(codes)), []
    for place, (members, values) in enumerate(asked):
        populations = populations.joined(Populations.of_masks(members))
        measure = set_told_measure(ToldSet("d", frozenset(values), is_one_sided))
        cells.append(OutputCell(place, measure, None, 1, figure=place))
    about = (DATASET, "1", ("organisation:x",), populations, tuple(cells))
    return OutputAnswer(*about, secret_values={"d": SecretValues(np.array(codes), NAMES)})


def codes_of(ledger, *answers):
    return [ledger.check_and_record(one, partly=True).codes for one in answers]


@pytest.mark.parametrize("is_swapped", [False, True])
def test_twenty_with_b_leave_no_more_than_twenty_with_a(ledger, is_swapped):
    """Of 32 with a in both regions, twelve are in the second one, which has twelve."""
    asked = [told((BOTH, "a")), told((FIRST, "b"))]
    assert codes_of(ledger, *(asked[::-1] if is_swapped else asked)) == [(), ("K045",)]


def test_one_of_two_figures_of_an_answer_is_withheld(ledger):
    outcome = ledger.check_and_record(told((BOTH, "a"), (FIRST, "b")), partly=True)
    assert sorted(cell.state for cell in outcome.cells) == ["released", "suppressed"]


def test_owners_see_whom_it_would_be_told_of_and_by_which_figures(ledger):
    ledger.check_and_record(told((BOTH, "a")))
    [cell] = ledger.check_and_record(told((FIRST, "b")), partly=True).cells
    assert (cell.told.kind, cell.told.units, cell.told.owners) == ("alike", 12, 12)
    assert sorted((one.units, one.entry) for one in cell.told.cells) == [(40, 0), (52, 2)]


def test_where_one_has_a_third_value_nobody_is_told_of(ledger):
    codes = np.where(np.arange(len(CODES)) == 51, 2, CODES)
    assert codes_of(ledger, told((BOTH, "a"), codes=codes), told((FIRST, "b"), codes=codes)) == [
        (),
        (),
    ]


def test_all_others_of_a_set_are_told_by_the_rest_but_of_a_key(ledger, tmp_path):
    """Of 20 with b or c in both regions, all are in the first one: nobody of the second is."""
    asked = [(BOTH, "bc"), (FIRST, "b")]
    assert codes_of(ledger, *(told(one) for one in asked)) == [(), ("K045",)]
    other = OutputLedger(tmp_path / "others.db")
    keyed = [told(one, is_one_sided=True) for one in asked]
    assert codes_of(other, *keyed) == [(), ()]


def test_one_set_alone_is_for_others_to_judge(ledger):
    assert codes_of(ledger, told((BOTH, "a")), told((FIRST, "a"))) == [(), ()]


def test_who_has_a_value_may_be_known(ledger):
    """Of the twelve of the second region, four have none; of both regions, 28 have a: if it is
    known who has none, eight with a are in the second one, and eight have a value there."""
    codes = np.where(np.arange(len(CODES)) >= 48, -1, CODES)
    asked = [told((BOTH, "a"), codes=codes), told((FIRST, "b"), codes=codes)]
    assert codes_of(ledger, *asked) == [(), ("K045",)]


def test_a_ledger_that_was_closed_knows_the_sets(ledger, tmp_path):
    ledger.check_and_record(told((BOTH, "a")))
    assert codes_of(OutputLedger(tmp_path / "outputs.db"), told((FIRST, "b"))) == [("K045",)]


def test_what_earlier_figures_tell_is_not_told_by_a_later_one(ledger):
    asked = [told((BOTH, "a"), (FIRST, "b")), told((~FIRST, "c"))]
    assert codes_of(ledger, *asked)[1] == ()


def test_beyond_the_limit_it_is_not_looked_at(ledger, monkeypatch):
    monkeypatch.setattr(told_sets, "MOST_ENTRIES", 0)
    assert codes_of(ledger, told((BOTH, "a")), told((FIRST, "b"))) == [(), ()]


def told_by_worlds(codes, figures):
    """Return whether in all worlds that fit, all units of some that no figure tells apart have
    values of one set, or of no value of it."""
    atoms = {}
    for unit in range(len(codes)):
        key = tuple(bool(members[unit]) for members, _ in figures)
        atoms.setdefault(key, []).append(unit)

    def counts(world):
        return [sum(world[unit] in own for unit in np.flatnonzero(m)) for m, own in figures]

    worlds = [one for one in product(range(3), repeat=len(codes)) if counts(one) == counts(codes)]
    sides = [side for _, own in figures for side in ({*own}, {0, 1, 2} - {*own})]
    return any(
        all({one[unit] for unit in units} <= side for one in worlds)
        for key, units in atoms.items()
        if any(key)
        for side in sides
    )


@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", range(40))
def test_what_is_told_holds_in_all_worlds_that_fit(seed, ledger):
    draws = np.random.default_rng(seed)
    codes = draws.integers(0, 3, 6)
    masks = [draws.random(6) < 0.7 for _ in range(3)]
    sets = [(0,), (1,), (0, 1) if seed % 2 else (2,)]
    figures = [(mask, own) for mask, own in zip(masks, sets, strict=True) if mask.any()]
    asked = [(mask, [NAMES[one] for one in own]) for mask, own in figures]
    shown = [told(one, codes=codes) for one in asked]
    if ("K045",) in codes_of(ledger, *shown):
        assert told_by_worlds(codes, figures)
