"""Totals and other statistics of a column leave as many unknowns as a total of few must."""

import numpy as np
import pytest
from asking_cells import answer, one_of

from policy_engine.release.output_ledger import (
    OutputCell,
    OutputLedger,
    Populations,
    UnitOwners,
    pair_measure,
    shape_measure,
)

UNITS, LEAST = 30, 3
VARIANCE, SKEWNESS = (shape_measure(["pay"], name) for name in ("VAR_POP(x0)", "SKEWNESS(x0)"))
COVARIANCES = [pair_measure([name, "pay"], "COVAR_POP(x0, x1)") for name in ("age", "tax", "wit")]


@pytest.fixture
def ledger(tmp_path):
    return OutputLedger(tmp_path / "outputs.db")


def has(members):
    is_any = np.isin(np.arange(UNITS), [*members])
    return lambda *_: [is_any]


def asked(ledger, members, *measures, earners=range(UNITS), least=LEAST, **options):
    """Return the measures of some units that are released."""
    cells = [OutputCell(0, measure, None, least) for measure in measures]
    own = answer(one_of(UNITS, members), *cells, contributing=has(earners), **options)
    outcome = ledger.check_and_record(own, partly=True)
    shown = zip(measures, outcome.cells, strict=True)
    return [measure for measure, cell in shown if cell.state == "released"], {*outcome.codes}


@pytest.mark.parametrize("earners", [2, 3])
def test_a_total_and_a_variance_of_a_few_with_pay_are_not_both_told(ledger, earners):
    both = asked(ledger, range(20), "sum:pay", VARIANCE, earners=range(earners), least=2)
    told = {2: ["sum:pay"], 3: ["sum:pay", VARIANCE]}
    assert both[0] == told[earners]


@pytest.mark.parametrize(("spread", "needed"), [("std", 4), ("sem", 4), ("skew", 5)])
@pytest.mark.parametrize("owners", [None, UnitOwners(np.arange(UNITS))])
def test_spreads_of_sessions_are_beside_means_of_enough(ledger, spread, needed, owners):
    measure = f"{spread}:pay:0.5"
    few, enough = range(needed - 1), range(10, 10 + needed)
    assert asked(ledger, few, "mean:pay", measure, owners=owners)[0] == ["mean:pay"]
    assert asked(ledger, enough, "mean:pay", measure, owners=owners)[0] == ["mean:pay", measure]


def test_two_names_of_one_spread_are_one_equation(ledger):
    names = ["mean:pay", "std:pay:0.5", "var:pay:0.5", "sem:pay:0.5"]
    assert asked(ledger, range(4), *names)[0] == names


LINES = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8]]
"""The rows and columns of nine persons who stand in a square."""


def test_lines_of_nine_persons_and_three_covariances_would_tell_nearly_all(ledger):
    """Totals of the lines are five equations, and covariances with known columns three more."""
    known = np.random.default_rng(4).normal(size=(3, 9))
    matrix = np.vstack([*(np.isin(np.arange(9), line) for line in LINES), known])
    assert np.linalg.matrix_rank(matrix) == 8
    assert all(asked(ledger, line, "sum:pay")[0] for line in LINES)
    assert [bool(asked(ledger, range(9), one)[0]) for one in COVARIANCES] == [True, True, False]


def test_covariances_of_nine_persons_with_one_total_are_told(ledger):
    assert asked(ledger, range(9), "sum:pay")[0] == ["sum:pay"]
    assert all(asked(ledger, range(9), one)[0] for one in COVARIANCES)


@pytest.mark.parametrize(("size", "told"), [(17, []), (16, [VARIANCE])])
def test_what_two_variances_differ_by_is_of_enough_unknowns(ledger, size, told):
    """Three persons would have a total and a sum of squares; of four, one is open beside these."""
    for members, measures in ((range(20), ["sum:pay", VARIANCE]), (range(size), ["sum:pay"])):
        assert asked(ledger, members, *measures)[0] == measures
    assert asked(ledger, range(size), VARIANCE)[0] == told


def test_what_follows_from_earlier_answers_alone_does_not_count(ledger):
    assert asked(ledger, range(4), "sum:pay", VARIANCE)[0] == ["sum:pay", VARIANCE]
    more = range(4, 30)
    assert asked(ledger, more, "sum:pay", VARIANCE, least=6)[0] == ["sum:pay", VARIANCE]


def test_totals_alone_are_not_looked_at(ledger):
    parts = Populations.of_masks([np.isin(np.arange(UNITS), line) for line in LINES])
    cells = [OutputCell(place, "sum:pay", None, LEAST) for place in range(6)]
    own = answer(parts, *cells, contributing=has(range(UNITS)))
    assert ledger.check_and_record(own, partly=True).codes == ()
