"""Numbers of persons by the values of a column with more than two: some have several rows."""

from itertools import combinations, product

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
    UnitOwners,
    persons_set_told_measure,
)

NAMES = ("a", "b", "c")


@pytest.fixture
def ledger(tmp_path):
    return OutputLedger(tmp_path / "outputs.db")


def told(kinds, *values, among=None, threshold=1):
    """Return an answer of how many persons have each of some values; `kinds` are the values of
    each person's rows, as "aab", and `among` the persons whose rows are counted."""
    owners = np.repeat(np.arange(len(kinds)), [len(one) for one in kinds])
    codes = np.array([NAMES.index(one) if one in NAMES else -1 for one in "".join(kinds)])
    mask = np.ones(len(owners), bool) if among is None else np.isin(owners, among)
    sets = [ToldSet("d", frozenset(own), is_one_sided=True) for own in values]
    cells = tuple(
        OutputCell(0, persons_set_told_measure(one), None, threshold, figure=place)
        for place, one in enumerate(sets)
    )
    populations = Populations.of_masks(mask)
    about = (DATASET, "1", ("organisation:x",), populations, cells)
    secret = {"d": SecretValues(codes, NAMES)}
    return OutputAnswer(*about, secret_values=secret, owners=UnitOwners(owners))


def codes_of(ledger, *answers):
    return [ledger.check_and_record(one, partly=True).codes for one in answers]


def test_who_alone_has_three_rows_is_not_told_to_have_three_values(ledger):
    """13, 15 and 14 persons have a, b and c: two more than there are persons."""
    kinds = ["abc"] + ["a"] * 12 + ["b"] * 14 + ["c"] * 13
    assert codes_of(ledger, told(kinds, "a"), told(kinds, "b"), told(kinds, "c")) == [
        (),
        (),
        ("K045",),
    ]


def test_one_value_that_he_may_lack_is_enough(ledger):
    kinds = ["abb"] + ["a"] * 12 + ["b"] * 14 + ["c"] * 13
    assert codes_of(ledger, told(kinds, "a", "b", "c")) == [()]


def test_of_two_with_three_rows_one_may_know_that_it_is_he_who_lacks_one(ledger):
    kinds = ["abc", "abb"] + ["a"] * 12 + ["b"] * 14 + ["c"] * 13
    assert codes_of(ledger, told(kinds, "a", "b", "c")) == [("K045",)]


def test_what_two_populations_differ_by_is_told_as_well(ledger):
    kinds = ["abc", *"aabbcc", *"aaabbbccc"]
    first = [*range(7)]
    alone = told(kinds, "a", "b", "c", among=[*range(7, 16)])
    assert codes_of(ledger, told(kinds, "a", "b", "c"), alone)[0] == ("K045",)
    assert codes_of(ledger, told(kinds, "a", "b", "c", among=first))[0] == ("K045",)


def test_owners_see_of_how_many_it_would_be_told(ledger):
    kinds = ["abc", *"aabbcc"]
    outcome = ledger.check_and_record(told(kinds, "a", "b", "c"), partly=True)
    [cell] = [one for one in outcome.cells if one.told]
    assert (cell.told.kind, cell.told.units, cell.told.owners) == ("alike", 9, 7)
    assert len(cell.told.cells) == 1  # Of each population, one figure stands for all.


def test_if_it_is_known_who_has_a_value_rows_without_one_hide_nothing(ledger):
    kinds = ["ab-", *["a-"] * 5, *["b-"] * 5]
    assert codes_of(ledger, told(kinds, "a", "b")) == [("K045",)]


@pytest.mark.parametrize(("lacking", "codes"), [(2, ("K045",)), (4, ("K045",)), (12, ())])
def test_nearly_all_of_many_are_told_of_as_all_are(ledger, lacking, codes):
    """Of 40 with two rows, one in ten may lack one of two values, and somebody who knows of it."""
    kinds = ["ab"] * (40 - lacking) + ["aa", "bb"] * (lacking // 2)
    assert codes_of(ledger, told(kinds, "a", "b", threshold=9)) == [codes]


def worlds(sizes):
    """Return all sets of values that owners of so many units may have."""
    choices = [
        [set(own) for count in range(1, min(size, 3) + 1) for own in combinations(NAMES, count)]
        for size in sizes
    ]
    return list(product(*choices))


def is_told(world, every):
    """Return whether one of the owners knows of another one that he has all of two values or more
    which are counted, in whatever world is like the real one to him."""
    counts = [sum(name in own for own in world) for name in NAMES]
    alike = [one for one in every if [sum(n in own for own in one) for n in NAMES] == counts]
    several = [set(own) for count in (2, 3) for own in combinations(NAMES, count)]
    for asker in range(len(world)):
        seen = [one for one in alike if one[asker] == world[asker]]
        for other in (place for place in range(len(world)) if place != asker):
            if any(all(some <= one[other] for one in seen) for some in several):
                return True
    return False


@pytest.mark.parametrize("sizes", [(1, 1, 1, 3), (1, 1, 2, 3), (1, 2, 2, 2), (3, 3, 1, 1)])
def test_of_all_worlds_that_fit_what_is_told_agrees(tmp_path, sizes):
    """Of all worlds of four persons, in a new ledger each."""
    every = worlds(sizes)
    generator = np.random.default_rng(sum(sizes))
    for number in generator.choice(len(every), 12, replace=False).tolist():
        world = every[number]
        kinds = [
            "".join(sorted(own)).ljust(size, min(own))
            for own, size in zip(world, sizes, strict=True)
        ]
        ledger = OutputLedger(tmp_path / f"{number}.db")
        outcome = ledger.check_and_record(told(kinds, "a", "b", "c"), partly=False)
        assert (outcome.codes != ()) == is_told(world, every), world
