"""Singling out: predicates of synthetic rows that one member satisfies."""

import numpy as np
import pytest
from risk_tables import HOLDOUT, MEMBERS, OTHERS, material

from policy_engine.audits.generative.risks.singling_out import (
    SinglingOutSettings,
    multivariate_predicates,
    single_out_by_one_column,
    single_out_by_several_columns,
    univariate_predicates,
)
from policy_engine.audits.generative.risks.tables import draw_tables
from policy_engine.kernels.generative.predicate_counts import (
    AT_LEAST,
    AT_MOST,
    EQUAL,
    count_rows,
)

SETTINGS = SinglingOutSettings()
BOTH = [single_out_by_one_column, single_out_by_several_columns]
NAN = np.nan


def table(members, holdout, synthetic, **more):
    return material(members, holdout, synthetic, "abcd", **more)


def tables(synthetic, numbers):
    drawn = material(synthetic, synthetic, synthetic, numbers)
    return draw_tables(drawn, np.random.default_rng(0))


def listed(predicates):
    """Return predicates as tuples of comparisons, by column, operator and value, or None."""
    values = np.where(np.isnan(predicates.values), None, predicates.values)
    parts = (one.tolist() for one in (predicates.columns, predicates.operators, values))
    return [tuple(zip(*one, strict=True)) for one in zip(*parts, strict=True)]


def test_values_that_occur_once_and_lone_ends_are_predicates():
    synthetic = [[10, 0], [20, 0], [20, 1], [30, 2], [30, -1]]
    assert set(listed(univariate_predicates(tables(synthetic, "a")))) == {
        ((0, EQUAL, 10.0),),
        ((0, AT_MOST, 10.0),),
        ((1, EQUAL, 1.0),),
        ((1, EQUAL, 2.0),),
        ((1, EQUAL, -1.0),),
    }


@pytest.mark.parametrize(("missing", "expected"), [(1, 1), (2, 0)])
def test_one_missing_number_is_a_predicate(missing, expected):
    synthetic = [[NAN]] * missing + [[1.0], [1.0]]
    predicates = univariate_predicates(tables(synthetic, "a"))
    assert len(predicates) == np.isnan(predicates.values).sum() == expected


@pytest.mark.one_in(2)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_predicates_are_unique_among_synthetic_rows_and_distinct(missing):
    random = np.random.default_rng(4)
    synthetic = np.round(OTHERS[:, :3], 1)
    synthetic[random.random(synthetic.shape) < missing] = NAN
    drawn = tables(np.column_stack([synthetic, random.integers(3, size=300)]), "abc")
    predicates = multivariate_predicates(drawn, SETTINGS, np.random.default_rng(0))
    assert len(predicates) > 100
    assert (count_rows(drawn.synthetic, predicates, most=9) == 1).all()
    assert len(set(listed(predicates))) == len(predicates)


def test_numbers_are_bounded_away_from_the_median():
    synthetic = np.array([[1.0, 0], [2, 0], [3, 0], [4, 1], [NAN, 2]])
    predicates = multivariate_predicates(tables(synthetic, "a"), SETTINGS, np.random.default_rng(0))
    assert set(listed(predicates)) == {
        ((0, AT_MOST, 1.0), (1, EQUAL, 0.0)),
        ((0, AT_LEAST, 3.0), (1, EQUAL, 0.0)),
        ((0, AT_LEAST, 4.0), (1, EQUAL, 1.0)),
        ((0, EQUAL, None), (1, EQUAL, 2.0)),
    }


@pytest.mark.parametrize("single_out", BOTH)
def test_copies_single_their_members_out(single_out):
    risk = single_out(table(MEMBERS, HOLDOUT, MEMBERS), SinglingOutSettings(attacks=250))
    assert (risk.attacks, risk.asked) == (250, 250)
    assert risk.train.value == 1
    assert risk.value.low > 0.95
    assert risk.is_evidence


@pytest.mark.parametrize("single_out", BOTH)
def test_independent_rows_single_members_out_as_often_as_others(single_out):
    risk = single_out(table(MEMBERS, HOLDOUT, OTHERS), SETTINGS)
    assert risk.value.low <= 0 <= risk.value.high


@pytest.mark.parametrize("single_out", BOTH)
def test_copies_of_the_holdout_are_no_risk_of_members(single_out):
    rows = np.concatenate([HOLDOUT[:150], OTHERS[:150]])
    risk = single_out(table(MEMBERS, HOLDOUT, rows), SETTINGS)
    assert risk.value.high < 0


@pytest.mark.parametrize("single_out", BOTH)
def test_as_many_attacks_as_there_are_predicates(single_out):
    synthetic = [[0, 0, 0], [0, 1, 0], [1, 1, 0], [1, 1, 0]]
    risk = single_out(material(MEMBERS[:, :3], HOLDOUT[:, :3], synthetic), SETTINGS)
    one_column = single_out is single_out_by_one_column
    # One value, or both rows by three columns, whatever is drawn more often.
    assert (risk.attacks, risk.asked) == (1 if one_column else 2, 500)
    assert not risk.is_evidence


@pytest.mark.parametrize("single_out", BOTH)
def test_not_applicable_where_every_row_occurs_twice(single_out):
    twice = np.concatenate([OTHERS, OTHERS])
    assert "No predicate" in single_out(table(MEMBERS, HOLDOUT, twice), SETTINGS).reason


def test_several_columns_need_two():
    sides = (side[:, :1] for side in (MEMBERS, HOLDOUT, OTHERS))
    assert "one column" in single_out_by_several_columns(table(*sides), SETTINGS).reason


def test_nobody_looks_at_members_to_find_predicates():
    drawn = tables(OTHERS, "abcd")
    blind = type(drawn)(drawn.columns, None, None, drawn.synthetic, drawn.widths, drawn.secrets)
    for whom in (drawn, blind):
        assert len(univariate_predicates(whom)) == 4 * (300 + 2)
    same = [
        listed(multivariate_predicates(whom, SETTINGS, np.random.default_rng(1)))
        for whom in (drawn, blind)
    ]
    assert same[0] == same[1]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("single_out", BOTH)
def test_same_seed_same_risk(single_out):
    one, same, other = (
        single_out(table(MEMBERS, HOLDOUT, OTHERS, seed=seed), SETTINGS) for seed in (5, 5, 6)
    )
    assert one == same
    assert one != other
