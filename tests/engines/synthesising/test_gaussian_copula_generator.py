import numpy as np
import pyarrow as pa
import pytest
from synthesising import residents

from policy_engine.engines.synthesising.coding import learnt_table
from policy_engine.engines.synthesising.gaussian_copula import fit
from policy_engine.methods.synthesisers.gaussian_copula import GaussianCopula

SETTINGS = GaussianCopula()


def test_columns_have_their_values_as_often_and_their_ranks_go_together():
    table = learnt_table(residents().select(["age", "wage"]))
    codes = fit(table, SETTINGS).rows(20_000, 3)
    ages = np.bincount(codes[:, 0], minlength=len(table.columns[0].values)) / 20_000
    assert np.abs(ages - table.columns[0].counts / table.rows).max() < 0.01
    drawn, true = (np.corrcoef(one.T)[0, 1] for one in (codes, table.codes))
    assert drawn == pytest.approx(true, abs=0.05)


def test_a_column_of_one_value_has_no_correlation():
    table = learnt_table(pa.table({"x": [5] * 10, "y": list(range(10))}))
    codes = fit(table, SETTINGS).rows(100, 1)
    assert (codes[:, 0] == 0).all()
    assert len(set(codes[:, 1])) == 10


def test_columns_that_are_the_same_stay_so():
    """Their correlation is 1, which only rounding could take beyond what a matrix may have."""
    table = learnt_table(pa.table({"x": [1, 2, 3, 4], "y": [1, 2, 3, 4]}))
    codes = fit(table, SETTINGS).rows(1_000, 1)
    assert (codes[:, 0] == codes[:, 1]).mean() > 0.99


def test_rows_follow_from_the_seed():
    fitted = fit(learnt_table(residents().select(["age", "town"])), SETTINGS)
    assert (fitted.rows(50, 1) == fitted.rows(50, 1)).all()
    assert (fitted.rows(50, 1) != fitted.rows(50, 2)).any()
