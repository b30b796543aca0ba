"""Tables of microdata against pandas, and their evidence against what is counted by hand."""

import numpy as np
import pandas as pd
import pytest

from policy_engine.audits.outputs.judging import judge
from policy_engine.audits.outputs.microdata import Microdata, coded, numbers_of
from policy_engine.audits.outputs.model import TOTAL, Statbarn
from policy_engine.audits.outputs.tabulating import (
    FUNCTIONS,
    ShownAggregate,
    TableRows,
    tabulate,
)
from policy_engine.errors import RequestError
from policy_engine.methods.output_checks.parameters import OutputCheck
from policy_engine.methods.output_checks.profiles import PROFILES


def rows_of(frame, keys, sets=None, *, fills=False):
    data = Microdata.of(frame, "person")
    columns = tuple(coded(key, data.column(key)) for key in keys)
    values = {"pay": numbers_of("pay", data.column("pay"))}
    return TableRows(columns, data.units, values, sets or (tuple(range(len(keys))),), fills)


def figures_of(made):
    return made.table.values[:, 0].tolist()  # noqa: PD011 (of no frame)


def aggregates(*functions):
    return [ShownAggregate(one, one, "" if one == "size" else "pay") for one in functions]


def drawn(rows=600):
    random = np.random.default_rng(7)
    pay = random.lognormal(3, 1, rows)
    pay[random.random(rows) < 0.05] = np.nan
    return pd.DataFrame(
        {
            "person": np.arange(rows) // 2,
            "region": random.choice(list("ABC"), rows),
            "sex": random.choice(["f", "m"], rows),
            "pay": pay,
        }
    )


def test_every_aggregate_is_what_pandas_computes():
    frame = drawn()
    functions = [one for one in FUNCTIONS if one != "quantile"]
    made = tabulate(rows_of(frame, ["region", "sex"]), aggregates(*functions))
    expected = frame.groupby(["region", "sex"])["pay"].agg(functions).to_numpy(float)
    np.testing.assert_allclose(made.table.values, expected, rtol=1e-10)


def test_quantiles_are_those_of_pandas():
    frame = drawn()
    made = tabulate(rows_of(frame, ["region"]), [ShownAggregate("q", "quantile", "pay", 0.9)])
    expected = frame.groupby("region")["pay"].quantile(0.9)
    np.testing.assert_allclose(figures_of(made), expected)
    assert made.table.measures[0].statistics[0].tail == pytest.approx(0.1)


PAYROLL = pd.DataFrame(
    {
        "person": ["ann", "ann", "bob", "cyd", "cyd", "dan"],
        "region": ["A", "A", "A", "A", "B", "B"],
        "pay": [10.0, 5.0, -4.0, np.nan, 7.0, 0.0],
    }
)


def test_contributions_are_those_of_persons_and_not_of_rows():
    made = tabulate(rows_of(PAYROLL, ["region"]), aggregates("sum"))
    evidence = made.table.measures[0].statistics[0].evidence
    assert evidence.figures(0) == {
        "units": 2,
        "rows": 3,
        "left_out": 0,
        "largest": 15.0,
        "second": 4.0,
        "total": 19.0,
        "negatives": 1,
        "is_constant": False,
    }
    assert evidence.units[1] == 1, "who contributes 0 to a total contributes nothing"


def test_counts_tell_of_those_who_are_left_out():
    made = tabulate(rows_of(PAYROLL, ["region"]), aggregates("count"))
    evidence = made.table.measures[0].statistics[0].evidence
    assert (evidence.units.tolist(), evidence.left_out.tolist()) == ([2, 2], [1, 0])


def test_a_total_of_yes_and_no_is_a_count_of_those_who_say_so():
    frame = PAYROLL.assign(pay=[1, 1, 0, 0, 1, 0])
    made = tabulate(rows_of(frame, ["region"]), aggregates("mean"))
    statistic = made.table.measures[0].statistics[0]
    assert statistic.statbarn is Statbarn.FREQUENCIES
    assert statistic.evidence.units.tolist() == [1, 1]
    assert statistic.evidence.left_out.tolist() == [2, 1]


def test_units_beside_a_median_are_those_beyond_it():
    made = tabulate(rows_of(PAYROLL, ["region"]), aggregates("median"))
    evidence = made.table.measures[0].statistics[0].evidence
    assert figures_of(made) == [5.0, 3.5]
    assert (evidence.below[0], evidence.above[0]) == (1, 0), "ann is on both sides of her 5"


def test_totals_are_parts_of_their_own_and_filled_tables_have_every_combination():
    frame = drawn(40)[lambda rows: ~((rows.region == "C") & (rows.sex == "f"))]
    rows = rows_of(frame, ["region", "sex"], ((0, 1), (0,), (1,), ()), fills=True)
    made = tabulate(rows, aggregates("size"))
    assert len(made.table.codes) == 6 + 3 + 2 + 1
    assert made.table.codes[-1].tolist() == [TOTAL, TOTAL]
    assert [figures_of(made)[row] for row in (4, -1)] == [0, len(frame)]
    assert made.units[-1] == frame.person.nunique()
    assert set(made.sets) == {0, 1, 2, 3}


def test_rows_without_a_key_or_a_person_are_in_no_cell():
    frame = PAYROLL.assign(region=["A", None, "A", "B", "B", "B"], person=[*"aabcd", None])
    made = tabulate(rows_of(frame, ["region"]), aggregates("size"))
    assert figures_of(made) == [2, 2]


def test_an_aggregate_that_is_not_understood_is_refused():
    with pytest.raises(RequestError, match=r"K025.*'kurtosis'"):
        ShownAggregate("x", "kurtosis", "pay")


@pytest.mark.parametrize("function", ["std", "var", "sem", "skew"])
@pytest.mark.parametrize(("values", "few"), [((0, 1), 6), ((1, 0), 6), ((3, 8), 6), ((0, 1), 30)])
def test_a_spread_of_two_values_is_a_count_of_the_fewer(function, values, few):
    frame = pd.DataFrame({"person": range(100), "region": ["A"] * 80 + ["B"] * 20})
    frame["pay"] = np.where(frame.person < few, values[1], values[0]).astype(float)
    frame.loc[frame.person >= 80, "pay"] = np.arange(20.0)
    made = tabulate(rows_of(frame, ["region"]), aggregates(function))
    assert made.table.measures[0].statistics[0].evidence.left_out.tolist() == [few, 19]
    verdict = judge(made.table, OutputCheck(profile=PROFILES["sacro"]))
    assert verdict.released[:, 0].tolist() == [few >= 10, True]


@pytest.mark.parametrize("function", ["mean", "sum"])
@pytest.mark.parametrize("codes", [(0, 1), (1, 2), (0, 5), (-1, 1), (2, 1)])
@pytest.mark.parametrize(("few", "third"), [(6, False), (30, False), (6, True)])
def test_a_mean_of_two_values_is_a_count_whatever_their_codes(function, codes, few, third):
    frame = pd.DataFrame({"person": range(100), "region": ["A"] * 80 + ["B"] * 20})
    frame["pay"] = np.where(frame.person < few, codes[1], codes[0]).astype(float)
    frame.loc[frame.person >= 90, "pay"] = codes[1]
    if third:  # Of region B alone: in A, the mean is still one of two values.
        frame.loc[frame.person >= 80, "pay"] = np.arange(20.0) + 100
    made = tabulate(rows_of(frame, ["region"]), aggregates(function))
    verdict = judge(made.table, OutputCheck(profile=PROFILES["sacro"]))
    assert bool(verdict.released[0, 0]) == (few >= 10)
