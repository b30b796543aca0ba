"""Tables with totals, in which no suppressed cell may be computed from the others."""

import numpy as np
import pytest

from policy_engine.audits.outputs import suppressing
from policy_engine.audits.outputs.judging import judge
from policy_engine.audits.outputs.model import (
    TOTAL,
    CellEvidence,
    Measure,
    ResultTable,
    ShownStatistic,
    Statbarn,
)
from policy_engine.audits.outputs.suppressing import suppress_totals
from policy_engine.kernels.output_checks.recoverability import determined_in_two_way
from policy_engine.methods.output_checks.parameters import OutputCheck
from policy_engine.methods.output_checks.profiles import PROFILES

COUNTS = np.array([[20, 6, 30], [25, 40, 35], [50, 45, 60]])


def with_totals(counts):
    rows = np.vstack([counts, counts.sum(axis=0)])
    return np.column_stack([rows, rows.sum(axis=1)])


def verdict_on(counts, **check):
    """Return the verdict on a table of counts with all its totals, and its shape."""
    whole = with_totals(counts)
    codes = np.indices(whole.shape).reshape(2, -1).T
    codes = np.where(codes == np.array(counts.shape), TOTAL, codes)
    units = whole.ravel()
    measure = Measure("n", (ShownStatistic(Statbarn.FREQUENCIES, CellEvidence(units)),))
    labels = tuple(range(size) for size in counts.shape)
    table = ResultTable(("a", "b"), labels, codes, (measure,), units[:, None].astype(float))
    judged = judge(table, OutputCheck(profile=PROFILES["abs"], **check))
    return suppress_totals(judged), whole.shape


@pytest.mark.parametrize("secondary", ["exact", "interval"])
def test_suppressed_cell_cannot_be_computed(secondary):
    """A lone cell of 6 needs a rectangle of suppressed cells."""
    verdict, shape = verdict_on(COUNTS, secondary=secondary)
    is_suppressed = ~verdict.released.reshape(shape)
    assert is_suppressed[0, 1]
    assert is_suppressed.sum() >= 4
    assert not determined_in_two_way(is_suppressed).any()
    assert {cell.public_reason.value for cell in verdict.cells()} == {"K049"}
    assert {one.value for cell in verdict.cells() for one in cell.reasons} == {"K002", "K014"}


def test_nothing_more_is_suppressed_where_the_policy_asks_for_nothing_more():
    verdict, _ = verdict_on(COUNTS, secondary="none")
    assert (~verdict.released).sum() == 1


def line_of(counts, is_nested):
    """Return the verdict on counts in a line with their total; or by hundreds, with theirs."""
    hundreds = np.arange(len(counts)) // 100 if is_nested else np.zeros(len(counts), np.int64)
    sums = np.bincount(hundreds, counts).astype(np.int64)
    every = np.concatenate([counts, sums, *([[counts.sum()]] if is_nested else [])])
    codes = np.full((len(every), 2), TOTAL)
    codes[: len(counts)] = np.column_stack([hundreds, np.arange(len(counts))])
    codes[len(counts) : len(counts) + len(sums), 0] = np.arange(len(sums))
    measure = Measure("n", (ShownStatistic(Statbarn.FREQUENCIES, CellEvidence(every)),))
    labels = range(len(sums)), range(len(counts))
    table = ResultTable(("a", "b"), labels, codes, (measure,), every[:, None] * 1.0)
    return suppress_totals(judge(table, OutputCheck(profile=PROFILES["abs"])))


def test_what_is_not_shown_in_time_to_protect_is_for_a_person_to_decide(monkeypatch):
    """All totals are: the cells that pass tell nothing without them."""
    monkeypatch.setattr(suppressing, "_MOST_SECONDS", 0.0)
    verdict, shape = verdict_on(COUNTS)
    is_shown = verdict.released.reshape(shape)
    assert is_shown[:3, :3].sum() == 8
    assert not is_shown[3].any()
    assert not is_shown[:, 3].any()
    totals = [cell for cell in verdict.cells() if len(cell.keys) < 2]
    assert {(cell.public_reason.value, cell.outcome.value) for cell in totals} == {
        ("K048", "review")
    }
    [way] = verdict.suppressions
    assert (way.method, way.cells) == ("none in time", 7)


def test_the_verdict_says_how_cells_that_protect_others_were_found():
    verdict, _ = verdict_on(COUNTS)
    [way] = verdict.suppressions
    assert (way.measure, way.method, way.cells, way.gap) == ("n", "optimal", 3, 0)
    assert verdict_on(COUNTS + 10)[0].suppressions == ()


@pytest.mark.parametrize("is_nested", [pytest.param(False, marks=pytest.mark.nightly), True])
def test_a_table_of_more_cells_than_are_searched_at_once_is_protected_by_its_parts(is_nested):
    """In a line of 12,099 and their total, or in districts of a hundred in regions."""
    counts = 20 + np.arange(12_100) % 40
    counts[7] = 4
    verdict = line_of(counts, is_nested)
    assert (verdict.reasons[:, 0] != 0).sum() == 2
    [way] = verdict.suppressions
    assert (way.method, way.cells) == ("sub-tables", 1)
    assert way.gap < 1


def test_table_without_small_cells_stays_as_it_is():
    verdict, _ = verdict_on(COUNTS + 10)
    assert verdict.released.all()


# -- whoever is alone in a cell ------------------------------------------------------------------


def suppressed_sums(sizes, *, unit_of=None, profile="bundesbank", **thresholds):
    """Return which cells of a line of totals are suppressed, and which by the rules alone.

    `sizes` has the contributions to each cell; `unit_of` numbers who is alone in cells, by place.
    """
    columns = [np.sort(np.array(one))[::-1] for one in sizes]
    columns.append(np.sort(np.concatenate(columns))[::-1])
    evidence = CellEvidence(
        units=np.array([len(one) for one in columns]),
        largest=np.array([one[0] for one in columns]),
        second=np.array([one[1] if len(one) > 1 else 0.0 for one in columns]),
        total=np.array([one.sum() for one in columns]),
        negatives=np.zeros(len(columns), np.int64),
    )
    lone = None
    if unit_of is not None:
        lone = np.array([unit_of.get(place, -1) for place in range(len(columns))])
    statistic = ShownStatistic(Statbarn.LINEAR_AGGREGATIONS, evidence)
    measure = Measure("sum", (statistic,), lone)
    codes = np.array([*range(len(sizes)), TOTAL])[:, None]
    labels = (tuple(range(len(sizes))),)
    table = ResultTable(("a",), labels, codes, (measure,), evidence.total[:, None])
    own = PROFILES[profile].model_copy(update=thresholds)
    judged = judge(table, OutputCheck(profile=own))
    suppressed = suppress_totals(judged)
    return tuple(np.flatnonzero(one.reasons).tolist() for one in (suppressed, judged))


MANY, MORE = [10.0] * 50, [10.0] * 60


@pytest.mark.parametrize("unit_of", [None, {0: 7, 1: 8}])
def test_pair_of_lone_units_in_a_line_needs_a_third_cell(unit_of):
    """The other is what is left: 300 + 200 less one's own."""
    suppressed, primary = suppressed_sums(
        [[300.0], [200.0], MANY, MORE], unit_of=unit_of, min_units=2
    )
    assert primary == [0, 1]
    assert suppressed == [0, 1, 2]


def test_one_unit_alone_in_two_cells_needs_no_third():
    suppressed, _ = suppressed_sums(
        [[300.0], [200.0], MANY, MORE], unit_of={0: 7, 1: 7}, min_units=2
    )
    assert suppressed == [0, 1]


def test_one_unit_alone_in_two_cells_attacks_with_both():
    cells = [[300.0], [200.0], [250.0], MANY, MORE]
    suppressed, primary = suppressed_sums(cells, unit_of={0: 7, 1: 7, 2: 8}, min_units=2)
    assert primary == [0, 1, 2]
    assert suppressed == [0, 1, 2, 3]
    others = {0: 7, 1: 9, 2: 8}
    assert suppressed_sums(cells, unit_of=others, min_units=2)[0] == [0, 1, 2]


def test_lone_unit_does_not_learn_a_dominated_total_of_many():
    """Ten and more are in it; whoever is alone in the other cell knows what the rest is."""
    dominated = [90.0, *[1.0] * 14]
    suppressed, primary = suppressed_sums([[100.0], dominated, MANY, MORE])
    assert primary == [0, 1]
    assert suppressed == [0, 1, 2]


def test_second_contributor_of_a_dominated_cell_is_no_closer_to_the_first_than_the_rule_says():
    """The 900 and 100 may seem to be 1,176 or more, by a rule of 85%: 120 others are not enough."""
    cells = [[900.0, 100.0], [60.0, 60.0], MANY, MORE]
    suppressed, primary = suppressed_sums(cells, min_units=2)
    assert primary == [0, 1]
    assert len(suppressed) > 2


def test_too_many_lone_units_show_no_totals(monkeypatch):
    monkeypatch.setattr(suppressing, "_MOST_ATTACKS", 9)
    suppressed, _ = suppressed_sums([[300.0], [200.0], MANY, MORE], min_units=2)
    assert suppressed == [0, 1, 4]
