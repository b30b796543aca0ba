"""Tables whose keys lie in each other, held against an attacker who knows that they do.

The attacker is written here, of linear programmes over the groups of the finest keys: nothing of it
is shared with what it attacks.
"""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from policy_engine.audits.outputs.judging import judge
from policy_engine.audits.outputs.model import (
    TOTAL,
    CellEvidence,
    Measure,
    ResultTable,
    ShownStatistic,
    Statbarn,
)
from policy_engine.audits.outputs.reasons import Reason
from policy_engine.audits.outputs.suppressing import suppress_totals
from policy_engine.methods.output_checks.parameters import OutputCheck
from policy_engine.methods.output_checks.profiles import PROFILES

LEAST = 10
ROLLUP = [(0, 1), (0,), ()]
"""Regions are key 0, and districts key 1."""


def summed(groups, sets):
    """Return the cells of a table by sets of keys, in order: what is said of each, and its sum."""
    width = len(next(iter(groups)))
    cells = {}
    for keys in sets:
        for names, count in groups.items():
            place = tuple(name if key in keys else None for key, name in enumerate(names))
            cells[place] = cells.get(place, 0) + count
    assert all(len(one) == width for one in cells)
    return cells


def suppressed(groups, sets, *, are_told=True, **check):
    """Return the verdict on a table of counts, and its cells."""
    cells = summed(groups, sets)
    labels = [sorted({names[key] for names in groups}) for key in range(len(next(iter(groups))))]
    codes = np.array([codes_of(place, labels) for place in cells])
    joint = np.array([codes_of(names, labels) for names in groups]) if are_told else None
    units = np.array([*cells.values()])
    measure = Measure("n", (ShownStatistic(Statbarn.FREQUENCIES, CellEvidence(units)),))
    names = tuple(f"k{key}" for key in range(len(labels)))
    figures = units[:, None].astype(float)
    table = ResultTable(names, tuple(labels), codes, (measure,), figures, joint)
    judged = judge(table, OutputCheck(profile=PROFILES["abs"], **check))
    return suppress_totals(judged), [*cells]


def codes_of(place, labels):
    return [
        TOTAL if name is None else some.index(name)
        for name, some in zip(place, labels, strict=True)
    ]


def withheld(groups, sets, **options):
    verdict, cells = suppressed(groups, sets, **options)
    return {cells[row] for row in np.flatnonzero(verdict.reasons[:, 0])}


# -- by hand -----------------------------------------------------------------------------------

TWO_REGIONS = {("A", "a1"): 4, ("A", "a2"): 30, ("A", "a3"): 50, ("B", "b1"): 40, ("B", "b2"): 60}


@pytest.mark.parametrize("secondary", ["exact", "interval"])
def test_a_small_district_is_hidden_by_another_one_of_its_region(secondary):
    assert withheld(TWO_REGIONS, ROLLUP, secondary=secondary) == {("A", "a1"), ("A", "a2")}


def test_districts_and_regions_that_are_not_shown_together_are_one_hierarchy_all_the_same():
    """Nobody has to see that a1 is in A to know it: A less a2 and a3 would be a1."""
    sets = [(0,), (1,), ()]
    assert withheld(TWO_REGIONS, sets) == {(None, "a1"), (None, "a2")}


def test_districts_below_the_total_alone_are_hidden_by_any():
    """Regions are not shown: the cheapest district hides a1, wherever it lies."""
    groups = TWO_REGIONS | {("B", "b1"): 20}
    assert withheld(groups, [(1,), ()]) == {(None, "a1"), (None, "b1")}


def test_the_only_district_of_a_region_needs_another_region_and_a_district_of_that():
    """A is a1. Without A, the total less B and C would be A; without B, b1 and b2 would be B."""
    regions = {("B", "b1"): 10, ("B", "b2"): 11, ("C", "c1"): 150, ("C", "c2"): 150}
    expected = {("A", "a1"), ("A", None), ("B", None), ("B", "b1")}
    assert withheld({("A", "a1"): 4} | regions, ROLLUP) == expected


def test_a_cell_by_district_and_sex_needs_partners_within_the_district_and_across():
    """The rectangle of a1 and a2 leaves all totals of the region as they are."""
    groups = {
        ("A", "a1", "f"): 4,
        ("A", "a1", "m"): 20,
        ("A", "a2", "f"): 30,
        ("A", "a2", "m"): 25,
        ("B", "b1", "f"): 11,
        ("B", "b1", "m"): 12,
        ("B", "b2", "f"): 80,
        ("B", "b2", "m"): 90,
    }
    sets = [(0, 1, 2), (0, 1), (0, 2), (0,), (2,), ()]
    expected = {("A", one, sex) for one in ("a1", "a2") for sex in "fm"}
    assert withheld(groups, sets) == expected


def test_a_total_under_two_names_is_withheld_under_both():
    """Each district is shown with its region and without it."""
    sets = [(0, 1), (1,), (0,), ()]
    expected = {("A", "a1"), ("A", "a2"), (None, "a1"), (None, "a2")}
    assert withheld(TWO_REGIONS, sets) == expected


def test_districts_of_regions_and_of_kinds_are_hidden_in_both():
    """a1 is a town of A: its partner in A, a2, is a village, and the town that hides it, b1, is in
    B; b2 hides both of these."""
    groups = {
        ("A", "a1", "town"): 4,
        ("A", "a2", "village"): 30,
        ("B", "b1", "town"): 40,
        ("B", "b2", "village"): 50,
    }
    sets = [(1,), (0,), (2,), ()]
    assert withheld(groups, sets) == {(None, one, None) for one in ("a1", "a2", "b1", "b2")}


def test_a_skipped_level_is_no_way_to_a_small_cell():
    """Villages and regions are shown, districts are not: v1 is hidden by v2 or v3."""
    groups = {
        ("A", "a1", "v1"): 4,
        ("A", "a1", "v2"): 40,
        ("A", "a2", "v3"): 30,
        ("B", "b1", "v4"): 12,
        ("B", "b1", "v5"): 60,
    }
    expected = {("A", None, "v1"), ("A", None, "v3")}
    assert withheld(groups, [(0, 2), (0,), ()]) == expected


def test_nesting_is_read_off_the_rows_of_the_table_where_these_have_all_keys():
    assert withheld(TWO_REGIONS, ROLLUP, are_told=False) == {("A", "a1"), ("A", "a2")}


def test_cells_of_nobody_are_hidden_from_who_does_not_know_the_districts():
    """That nobody of b1 is in A is a cell as well, for who believes that somebody could be."""
    groups = {("A", "a1"): 40, ("A", "a2"): 30, ("B", "b1"): 40, ("B", "b2"): 60}
    labels = [["A", "B"], ["a1", "a2", "b1", "b2"]]
    cells = summed(groups, [(0, 1), (0,), (1,), ()])
    cells = dict.fromkeys(itertools.product(*labels), 0) | cells
    units = np.array([*cells.values()])
    codes = np.array([codes_of(place, labels) for place in cells])
    measure = Measure("n", (ShownStatistic(Statbarn.FREQUENCIES, CellEvidence(units)),))
    table = ResultTable(("k0", "k1"), tuple(labels), codes, (measure,), units[:, None] * 1.0)
    check = OutputCheck(profile=PROFILES["sacro"])
    verdict = suppress_totals(judge(table, check))
    is_zero = units == 0
    assert (verdict.reasons[is_zero] > 0).all()
    shown = {one: n for one, n, mask in zip(cells, units, verdict.reasons, strict=True) if not mask}
    for place in (one for one, n in cells.items() if n == 0):
        low, high = interval(place, shown, [*itertools.product(*labels)])
        assert high - low > 0.5


# -- an independent attacker -------------------------------------------------------------------


def interval(place, shown, groups, known=()):
    """Return the least and the largest count that a cell may have, by all that is shown, where only
    some groups of the finest keys may have anybody; some of these are known."""
    rows = np.array([members(one, groups) for one in shown] or np.zeros((0, len(groups))))
    bounds = [(known[one], known[one]) if one in known else (0, None) for one in groups]
    ends = []
    for sign in (1, -1):
        found = linprog(
            sign * members(place, groups),
            A_eq=rows,
            b_eq=np.array([*shown.values()], float),
            bounds=bounds,
        )
        assert found.status in (0, 3)  # Solved, or unbounded.
        ends.append(sign * found.fun if found.status == 0 else np.inf)
    return ends


def members(place, groups):
    return np.array(
        [
            all(one in (None, own) for one, own in zip(place, group, strict=True))
            for group in groups
        ],
        float,
    )


def nested_groups(random, *, has_kinds, has_sex):
    """Return counts of villages in districts in regions, which may be of kinds, too."""
    groups = {}
    for region in range(random.integers(2, 4)):
        for district in range(random.integers(1, 4)):
            kind = f"kind{random.integers(2)}"
            for village in range(random.integers(1, 4)):
                names = f"{region}", f"{region}.{district}", f"{region}.{district}.{village}"
                for sex in "fm" if has_sex else "f":
                    more = ((kind,) if has_kinds else ()) + ((sex,) if has_sex else ())
                    # Every fifth has few, and some of these one.
                    count = random.integers(1, 10) if random.random() < 0.2 else 12
                    groups[*names, *more] = int(count + (count > 9) * random.integers(60))
    return groups


GROUPINGS = {
    "rollup": lambda keys: [tuple(range(size)) for size in range(keys + 1)],
    "cube": lambda keys: [
        one for n in range(keys + 1) for one in itertools.combinations(range(keys), n)
    ],
    "skipping": lambda keys: [(), (0,), (2,), *([(0, 3), (2, 3), (3,)] if keys > 3 else [])],
}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("has_kinds", "has_sex"), [(False, False), (False, True), (True, False)])
@pytest.mark.parametrize("grouping", GROUPINGS)
def test_no_attacker_who_knows_what_lies_in_what_comes_closer_than_promised(
    grouping, has_kinds, has_sex, seed
):
    groups = nested_groups(np.random.default_rng(seed), has_kinds=has_kinds, has_sex=has_sex)
    sets = GROUPINGS[grouping](3 + has_kinds + has_sex)
    verdict, cells = suppressed(groups, sets)
    counts = summed(groups, sets)
    masks = verdict.reasons[:, 0]
    shown = {one: counts[one] for one, mask in zip(cells, masks, strict=True) if not mask}
    primary = [one for one, mask in zip(cells, masks, strict=True) if mask & Reason.FEW_UNITS.bit]
    assert {one for one in cells if counts[one] < LEAST} == {*primary}
    assert verdict.suppressions or not primary
    lone = [{}, *({one: n} for one, n in groups.items() if n == 1)]
    for place, known in itertools.product(primary, lone):
        own = members(place, [*groups])
        if known and counts[place] == own @ [known.get(one, 0) for one in groups]:
            continue  # The attacker's own.
        low, high = interval(place, shown, [*groups], known)
        reach = max(0.1 * counts[place], 1) - 1e-5
        assert low <= max(counts[place] - reach, 0) + 1e-5
        assert high >= counts[place] + reach
