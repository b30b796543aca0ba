"""Statistics of a column: no more of them than the units that they are about allow."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from asking_cells import counts, one_of
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.release.output_ledger import (
    OutputCell,
    OutputLedger,
    Populations,
    UnitOwners,
    pair_measure,
    shape_measure,
)
from policy_engine.release.output_ledger.answers import statistic_columns

UNITS, LEAST = 24, 3
VARIANCE = shape_measure(["pay"], "VAR")
COVARIANCES = [pair_measure([name, "pay"], "COVAR") for name in "abcdefgh"]


@pytest.fixture
def ledger(tmp_path):
    return OutputLedger(tmp_path / "outputs.db")


def asked(ledger, members, *measures, units=UNITS, owners=None, threshold=LEAST):
    """Return which statistics of some units are released, and the codes against the others."""
    populations = one_of(units, members)
    answer = counts(populations)
    cells = tuple(OutputCell(0, measure, None, threshold) for measure in measures)
    outcome = ledger.check_and_record(replace(answer, cells=cells, owners=owners), partly=True)
    return [cell.state == "released" for cell in outcome.cells], set(outcome.codes)


def test_columns_of_statistics_are_those_of_their_measures():
    assert statistic_columns(pair_measure(["a", "pay"], "CORR")) == {"a", "pay"}
    assert statistic_columns(VARIANCE) == {"pay"}
    others = ("count", "sum:pay", "mean:pay", "held:ab", "COUNT(DISTINCT x0) | pay")
    assert not any(map(statistic_columns, others))


def test_seven_persons_have_two_statistics_of_a_column(ledger):
    own = asked(ledger, range(7), VARIANCE, *COVARIANCES)
    assert own == ([True, True, *[False] * 7], {"K043"})
    assert asked(ledger, range(7), "sum:pay", shape_measure(["age"], "VAR")) == ([True] * 2, set())


def test_earlier_statistics_count_and_so_do_those_of_larger_groups(ledger):
    assert asked(ledger, range(3), VARIANCE) == ([True], set())
    assert asked(ledger, range(12), VARIANCE) == ([False], {"K043"})
    assert asked(ledger, range(12, 24), VARIANCE) == ([True], set())


def test_one_unit_in_common_is_no_obstacle(ledger):
    assert asked(ledger, range(5), VARIANCE) == ([True], set())
    assert asked(ledger, range(4, 9), VARIANCE) == ([True], set())


def test_several_statistics_of_two_groups_are_not_about_the_few_between_them(ledger):
    """Of 18 and of 22 units there may be six statistics, but by the difference of two of them, the
    four units have two equations."""
    assert asked(ledger, range(18), COVARIANCES[0]) == ([True], set())
    assert asked(ledger, range(22), COVARIANCES[0]) == ([True], set())
    assert asked(ledger, range(18), COVARIANCES[1]) == ([False], {"K043"})
    assert asked(ledger, range(22), COVARIANCES[1]) == ([False], {"K043"})


def test_several_statistics_of_groups_that_differ_by_enough_are_released(ledger):
    for measure in COVARIANCES[:2]:
        assert asked(ledger, range(12), measure) == ([True], set())
        assert asked(ledger, range(20), measure) == ([True], set())


def test_groups_that_others_leave_over_have_no_more_equations_than_units_allow(ledger):
    """All 24 less five groups of four are four: they may have one statistic, not two."""
    labels = np.arange(UNITS) // 4
    groups = Populations.of_labels(np.where(labels < 5, labels, -1))
    assert asked(ledger, range(UNITS), *COVARIANCES[:2]) == ([True, True], set())
    one = ledger.check_and_record(counts(groups, measure=COVARIANCES[0]))
    assert (one.state, one.codes) == ("refused", ("K043",))


def test_persons_with_several_rows_count_once(tmp_path):
    """Two persons have seven rows each, the ten others one: 15 rows are surely of three persons."""
    rows = UnitOwners(np.array([0] * 7 + [1] * 7 + [*range(2, 12)]))

    def released(members):
        ledger = OutputLedger(tmp_path / f"{len(members)} rows")
        options = {"owners": rows, "threshold": 15}
        return sum(asked(ledger, members, *COVARIANCES[:5], **options)[0])

    parts = (range(24), range(14, 20), range(14, 19), range(15), range(14))
    assert [*map(released, parts)] == [4, 2, 1, 1, 0]


_POPULATIONS = st.sets(st.integers(0, 11), min_size=LEAST)


@pytest.mark.nightly
@settings(max_examples=25, deadline=None)
@given(questions=st.lists(st.tuples(_POPULATIONS, st.integers(0, 3)), min_size=2, max_size=8))
def test_any_statistics_are_of_enough_units_together(tmp_path_factory, questions):
    ledger = OutputLedger(tmp_path_factory.mktemp("loads") / "outputs.db")
    known = {
        (frozenset(members), number)
        for members, number in questions
        if asked(ledger, members, COVARIANCES[number], units=12)[0] == [True]
    }
    for size in range(1, len(known) + 1):
        for some in combinations(known, size):
            assert len(frozenset().union(*(one for one, _ in some))) >= size * LEAST


@pytest.mark.parametrize("owners", [None, UnitOwners(np.arange(UNITS))])
@pytest.mark.parametrize(("some", "count"), [(7, 2), (24, 8)])
def test_units_that_have_nothing_in_the_column_bear_no_statistics(ledger, owners, some, count):
    measures, is_counted = (VARIANCE, *COVARIANCES), np.arange(UNITS) < some
    cells = tuple(OutputCell(0, measure, None, LEAST) for measure in measures)
    own = counts(one_of(UNITS, range(24)), contributing=lambda *_: [is_counted])
    outcome = ledger.check_and_record(replace(own, cells=cells, owners=owners), partly=True)
    assert [cell.state == "released" for cell in outcome.cells] == [n < count for n in range(9)]
