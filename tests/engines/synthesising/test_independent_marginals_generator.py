import numpy as np
from synthesising import residents

from policy_engine.engines.synthesising.coding import learnt_table
from policy_engine.engines.synthesising.independent_marginals import fit
from policy_engine.methods.synthesisers.independent_marginals import IndependentMarginals

TABLE = learnt_table(residents().select(["age", "town"]))


def test_columns_have_their_values_about_as_often_and_do_not_go_together():
    codes = fit(TABLE, IndependentMarginals()).rows(20_000, 7)
    towns = np.bincount(codes[:, 1], minlength=3) / 20_000
    assert np.abs(towns - TABLE.columns[1].counts / TABLE.rows).max() < 0.02
    assert abs(np.corrcoef(codes.T)[0, 1]) < 0.03
    assert abs(np.corrcoef(TABLE.codes.T)[0, 1]) > 0.3


def test_rows_follow_from_the_seed():
    fitted = fit(TABLE, IndependentMarginals())
    assert (fitted.rows(50, 1) == fitted.rows(50, 1)).all()
    assert (fitted.rows(50, 1) != fitted.rows(50, 2)).any()
