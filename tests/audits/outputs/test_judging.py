"""Rules of profiles, each with cells that just pass and that just fail."""

import numpy as np
import pytest

from policy_engine.audits.outputs.judging import RULES, judge, judge_statistic
from policy_engine.audits.outputs.model import (
    CellEvidence,
    Measure,
    ResultTable,
    ShownStatistic,
    Statbarn,
)
from policy_engine.audits.outputs.reasons import CheckOutcome, Reason, reasons_in
from policy_engine.methods.output_checks.parameters import OutputCheck
from policy_engine.methods.output_checks.profiles import PROFILES

S = Statbarn
SACRO, ABS, DWB = PROFILES["sacro"], PROFILES["abs"], PROFILES["dwb-2015"]
WHOLE = ("units", "rows", "left_out", "negatives", "below", "above", "levels")


def evidence(**figures):
    """Return the evidence of one cell."""
    figures = {"units": 50} | figures
    kinds = {name: np.int64 if name in WHOLE else np.float64 for name in figures}
    kinds["is_constant"] = np.bool_
    return CellEvidence(**{name: np.array([one], kinds[name]) for name, one in figures.items()})


def total(largest, second, whole, negatives=0, units=50):
    return evidence(units=units, largest=largest, second=second, total=whole, negatives=negatives)


def codes(statbarn, known, profile=SACRO, **more):
    """Return the codes against a statistic of one cell."""
    [mask] = judge_statistic(ShownStatistic(statbarn, known, **more), profile)
    return [reason.value for reason in reasons_in(int(mask))]


CASES = {
    "nine persons": (S.FREQUENCIES, evidence(units=9), SACRO, ["K002"]),
    "ten persons": (S.FREQUENCIES, evidence(units=10), SACRO, []),
    "nobody, and zeros tell": (S.FREQUENCIES, evidence(units=0), SACRO, ["K002"]),
    "nobody, and zeros do not tell": (S.FREQUENCIES, evidence(units=0), ABS, []),
    "four where five are enough": (
        S.FREQUENCIES,
        evidence(units=4),
        PROFILES["bundesbank"],
        ["K002"],
    ),
    "all but two of the row": (S.FREQUENCIES, evidence(left_out=2), SACRO, ["K002"]),
    "all of the row": (S.FREQUENCIES, evidence(left_out=0), SACRO, []),
    "nine in ten of a line": (S.FREQUENCIES, evidence(group_share=0.9), DWB, []),
    "more of a line": (S.FREQUENCIES, evidence(group_share=0.902), DWB, ["K003"]),
    "none of a line": (S.FREQUENCIES, evidence(group_share=0.0), SACRO, ["K003"]),
    "of no line": (S.FREQUENCIES, evidence(group_share=np.nan), SACRO, []),
    "more of a line, and no such rule": (
        S.FREQUENCIES,
        evidence(group_share=0.99, rest_of_line=70),
        ABS,
        [],
    ),
    "all but ten of a line": (
        S.FREQUENCIES,
        evidence(units=190, group_share=0.95, rest_of_line=10),
        SACRO,
        [],
    ),
    "all but nine of a line": (
        S.FREQUENCIES,
        evidence(units=190, group_share=190 / 199, rest_of_line=9),
        SACRO,
        ["K003"],
    ),
    "all of a line, by any profile": (
        S.FREQUENCIES,
        evidence(group_share=1, rest_of_line=0),
        ABS,
        ["K003"],
    ),
    "few are left of few": (
        S.FREQUENCIES,
        evidence(units=27, group_share=0.9, rest_of_line=3),
        SACRO,
        [],
    ),
    "everybody has one value": (
        S.SHAPE,
        evidence(is_constant=True, degrees_of_freedom=49),
        SACRO,
        ["K003"],
    ),
    "(1, 50): half": (S.LINEAR_AGGREGATIONS, total(50, 10, 100), ABS, []),
    "(1, 50): more": (S.LINEAR_AGGREGATIONS, total(51, 10, 100), ABS, ["K004"]),
    "(2, 67): two thirds": (S.LINEAR_AGGREGATIONS, total(40, 27, 100), ABS, []),
    "(2, 67): more": (S.LINEAR_AGGREGATIONS, total(40, 28, 100), ABS, ["K005"]),
    "p%: a tenth of the largest is left": (
        S.LINEAR_AGGREGATIONS,
        total(100, 80, 190),
        SACRO,
        ["K005"],
    ),
    "p%: a tenth is left, of which two hold less": (
        S.LINEAR_AGGREGATIONS,
        total(100, 0, 112),
        SACRO,
        [],
    ),
    "p%: less is left": (S.LINEAR_AGGREGATIONS, total(100, 80, 189), SACRO, ["K005", "K006"]),
    "negative contributions": (S.LINEAR_AGGREGATIONS, total(9, 8, 100, 1), SACRO, ["K007"]),
    "totals without a rule": (
        S.LINEAR_AGGREGATIONS,
        total(9, 8, 100),
        PROFILES["iab"],
        ["K020"],
    ),
    "totals without evidence": (S.LINEAR_AGGREGATIONS, evidence(), SACRO, ["K016"]),
    "a total that is no number": (
        S.LINEAR_AGGREGATIONS,
        total(9, 8, np.nan),
        SACRO,
        ["K016"],
    ),
    "a maximum": (S.ENDPOINTS, evidence(units=10**6), SACRO, ["K008"]),
    "nine beyond": (S.POSITION, evidence(below=40, above=9), SACRO, ["K009"]),
    "ten beyond": (S.POSITION, evidence(below=40, above=10), SACRO, []),
    "percentiles without a rule": (S.POSITION, evidence(below=25, above=25), DWB, ["K020"]),
    "percentiles without evidence": (S.POSITION, evidence(), SACRO, ["K016"]),
    "nine degrees of freedom": (S.SHAPE, evidence(degrees_of_freedom=9), SACRO, ["K010"]),
    "ten degrees of freedom": (S.SHAPE, evidence(degrees_of_freedom=10), SACRO, []),
    "degrees without a rule": (S.SHAPE, evidence(degrees_of_freedom=10), ABS, ["K020"]),
    "degrees unknown": (S.SHAPE, evidence(), SACRO, ["K016"]),
    "correlation": (S.CORRELATION_COEFFICIENTS, evidence(coefficient=0.5), SACRO, []),
    "correlation of 1": (S.CORRELATION_COEFFICIENTS, evidence(coefficient=1), SACRO, ["K011"]),
    "correlation of -1, almost": (
        S.CORRELATION_COEFFICIENTS,
        evidence(coefficient=-1 + 1e-12),
        SACRO,
        ["K011"],
    ),
    "correlation of 0": (S.CORRELATION_COEFFICIENTS, evidence(coefficient=0), SACRO, ["K011"]),
    "no correlation": (S.CORRELATION_COEFFICIENTS, evidence(coefficient=np.nan), ABS, ["K011"]),
    "slope on two values": (
        S.CORRELATION_COEFFICIENTS,
        evidence(degrees_of_freedom=48, levels=2),
        SACRO,
        ["K013"],
    ),
    "slope": (
        S.CORRELATION_COEFFICIENTS,
        evidence(degrees_of_freedom=48, levels=3),
        SACRO,
        [],
    ),
    "coefficients of nothing known": (S.CORRELATION_COEFFICIENTS, evidence(), SACRO, ["K016"]),
    "a mode of nine in ten": (S.MODE, evidence(mode_share=0.9), DWB, []),
    "a mode of more": (S.MODE, evidence(mode_share=0.91), DWB, ["K012"]),
    "a mode of all but ten": (
        S.MODE,
        evidence(units=200, mode_share=0.95, tied=190),
        SACRO,
        [],
    ),
    "a mode of all but nine": (
        S.MODE,
        evidence(units=199, mode_share=190 / 199, tied=190),
        SACRO,
        ["K012"],
    ),
    "modes without a rule": (S.MODE, evidence(mode_share=0.5), ABS, ["K020"]),
    "modes without evidence": (S.MODE, evidence(), SACRO, ["K016"]),
    "clusters": (S.CLUSTERS, evidence(), SACRO, ["K021"]),
    "what no rule knows": (S.OTHER, evidence(), SACRO, ["K021"]),
    "a test": (S.STATISTICAL_HYPOTHESIS_TESTS, evidence(degrees_of_freedom=10), SACRO, []),
}


@pytest.mark.parametrize(("statbarn", "known", "profile", "expected"), CASES.values(), ids=CASES)
def test_rule(statbarn, known, profile, expected):
    assert codes(statbarn, known, profile) == expected


LADDER = [(0.5, 19, 20), (0.25, 39, 40), (0.1, 79, 80), (0.05, 199, 200), (0.01, 399, 400)]


@pytest.mark.parametrize(("tail", "too_few", "enough"), LADDER)
def test_percentile_further_out_needs_more_units(tail, too_few, enough):
    """The ladder of the IAB."""
    few, many = evidence(units=too_few), evidence(units=enough)
    assert "K009" in codes(S.POSITION, few, PROFILES["iab"], tail=tail)
    assert codes(S.POSITION, many, PROFILES["iab"], tail=tail) == []
    assert codes(S.POSITION, evidence(units=10**9), PROFILES["iab"], tail=0.001) == ["K009"]


def test_coefficients_of_nothing_but_categories_are_a_table():
    known = evidence(degrees_of_freedom=100)
    found = codes(S.CORRELATION_COEFFICIENTS, known, is_implicit_table=True)
    assert found == ["K013"]


def test_every_class_of_statistics_has_a_threshold_of_units():
    assert set(RULES) == set(Statbarn)
    assert all("K002" in codes(one, evidence(units=1)) for one in Statbarn)


def counts(*units, **check):
    """Return the verdict on a table of counts, by SACRO's profile."""
    known = CellEvidence(np.array(units, np.int64))
    measure = Measure("n", (ShownStatistic(Statbarn.FREQUENCIES, known),))
    cells, regions = np.arange(len(units))[:, None], [f"r{one}" for one in range(len(units))]
    values = np.array(units, np.float64)[:, None]
    table = ResultTable(("region",), (regions,), cells, (measure,), values)
    return judge(table, OutputCheck(profile=SACRO, **check))


def test_cells_are_judged_one_by_one():
    verdict = counts(84, 6, 33)
    assert verdict.released[:, 0].tolist() == [True, False, True]
    [cell] = verdict.cells()
    assert (cell.row, cell.measure, cell.keys) == (1, "n", {"region": "r1"})
    assert (cell.outcome, cell.reasons) == (CheckOutcome.SUPPRESSED, (Reason.FEW_UNITS,))
    assert verdict.outcome is CheckOutcome.RELEASED


def test_table_is_released_as_a_whole_or_not_at_all_where_the_policy_denies():
    verdict = counts(84, 6, mitigation="deny")
    assert not verdict.released.any()
    assert [cell.reasons for cell in verdict.cells()] == [
        (Reason.DENIED_WITH_OTHERS,),
        (Reason.FEW_UNITS,),
    ]
    assert verdict.outcome is CheckOutcome.REFUSED
    assert counts(84, 60, mitigation="deny").released.all()


def test_cells_are_for_a_person_to_review_where_the_policy_says_so():
    """The whole table is: a checker decides on all of it."""
    one, other = counts(84, 6, mitigation="review").cells()
    assert (one.outcome, other.outcome) == (CheckOutcome.REVIEW, CheckOutcome.REVIEW)
    assert (one.reasons, other.reasons) == ((Reason.DENIED_WITH_OTHERS,), (Reason.FEW_UNITS,))
    assert counts(6, mitigation="review").outcome is CheckOutcome.REVIEW


def test_measure_needs_every_statistic_that_it_is_computed_from():
    many, few = CellEvidence(np.array([50])), CellEvidence(np.array([3]))
    statistics = tuple(ShownStatistic(Statbarn.FREQUENCIES, one) for one in (many, few))
    empty = np.empty((1, 0), np.int64)
    table = ResultTable((), (), empty, (Measure("share", statistics),), np.ones((1, 1)))
    assert not judge(table, OutputCheck(profile=SACRO)).released.any()


def test_table_without_rows_releases_nothing():
    verdict = counts()
    assert verdict.outcome is CheckOutcome.REFUSED
    assert list(verdict.cells()) == []
