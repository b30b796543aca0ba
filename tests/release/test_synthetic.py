"""Synthetic tables are made of noisy counts of columns, and of a tree of pairs of them."""

import itertools

import numpy as np
import pytest
from asking_statistics import VISITS, step_of

from policy_engine.engines.statistics.tallies import Tallies
from policy_engine.release.statistics import synthetic_table
from policy_engine.release.synthetic import chosen_tree, measured_tree, synthetic_codes


def column(name, *values):
    """Return a column of a synthetic table, of the values of a column of visits."""
    of = {"pe:function": "synthetic", "pe:of": f"{VISITS}/{name}"}
    return {**of, "pe:candidates": list(values)}


SEX = column("sex", "f", "m")
AGE = column("age", "old", "young", "")
DAYS = {
    "pe:function": "synthetic",
    "pe:of": f"{VISITS}/days",
    "pe:lower": -1,
    "pe:upper": 1,
    "pe:grid": 1,
}
ONE_ROW = {"by": [], "maxRowsPerGroup": 1}


def synthetic_step(*columns, rows=100, epsilon="100", **changes):
    """Return a step that makes a synthetic table, at an epsilon with next to no noise."""
    exact = {"@value": epsilon, "@type": "xsd:decimal"}
    return step_of(*columns, query={"pe:rows": rows}, epsilon=exact, **{**ONE_ROW, **changes})


def tallies_of(joint):
    """Return the counts of all columns and pairs of a table, given how often each row is in it."""
    places = range(joint.ndim)
    own = [joint.sum(axis=tuple(other for other in places if other != one)) for one in places]
    pairs = [
        joint.sum(axis=tuple(other for other in places if other not in pair)).ravel()
        for pair in itertools.combinations(places, 2)
    ]
    return Tallies(((),), [int(joint.sum())], [one[None, :] for one in (*own, *pairs)])


# Of 1,000 rows, sex goes with days and age is by itself.
JOINT = np.zeros((2, 3, 3), dtype=np.int64)
JOINT[0, :, 0] = JOINT[1, :, 2] = 200, 200, 100


def test_columns_that_go_together_are_a_pair_and_have_their_counts():
    step = synthetic_step(SEX, AGE, DAYS)
    measured = measured_tree(step, tallies_of(JOINT))
    assert len(measured.pairs) == 2
    assert (0, 2) in measured.pairs
    assert measured.pairs[0, 2].shape == (2, 3)
    assert np.abs(measured.pairs[0, 2] - JOINT.sum(axis=1)).max() < 20
    assert np.abs(measured.columns[1] - [400, 400, 200]).max() < 20


def test_a_synthetic_table_has_the_pairs_of_values_of_its_original():
    step = synthetic_step(SEX, AGE, DAYS, rows=500)
    sex, age, days = synthetic_codes(step, tallies_of(JOINT))
    assert abs(sex.count(0) - 250) < 10
    assert abs(age.count(2) - 100) < 10
    together = sum((one == 0) == (other == 0) for one, other in zip(sex, days, strict=True))
    assert together > 480


def test_two_tables_of_the_same_counts_differ():
    step = synthetic_step(SEX, AGE, epsilon="0.1")
    first, second = (synthetic_codes(step, tallies_of(JOINT.sum(axis=2))) for _ in range(2))
    assert first != second


@pytest.mark.parametrize("epsilon", ["0.01", "0.000000001"])
@pytest.mark.parametrize("joint", [np.zeros((2, 3), dtype=np.int64), np.eye(2, 3, dtype=np.int64)])
def test_a_table_of_nobody_has_as_many_rows_and_the_same_values(joint, epsilon):
    codes = synthetic_codes(synthetic_step(SEX, AGE, epsilon=epsilon), tallies_of(joint))
    assert [len(one) for one in codes] == [100, 100]
    assert {*codes[0]} <= {0, 1}
    assert {*codes[1]} <= {0, 1, 2}


def test_a_tree_joins_all_columns_by_the_greatest_distances():
    step = synthetic_step(SEX, AGE, DAYS)
    exact = {
        (one, other): np.asarray(JOINT.sum(axis=({0, 1, 2} - {one, other}).pop()))
        for one, other in step.pairs
    }
    counts = measured_tree(step, tallies_of(JOINT)).counts()
    tree = chosen_tree(step.pair_noise[0], counts, exact)
    assert tree[0] == (0, 2)
    assert len(tree) == 2
    assert {*tree[0], *tree[1]} == {0, 1, 2}


def test_cells_are_public_values_and_empty_texts_are_missing():
    step = synthetic_step(AGE, DAYS)
    table = synthetic_table(step, [[0, 2, 1], [0, 1, 2]])
    assert table.to_pydict() == {"age": ["old", None, "young"], "days": [-1, 0, 1]}
    halves = synthetic_step(SEX, {**DAYS, "pe:grid": 0.5})
    assert synthetic_table(halves, [[0], [3]]).to_pydict() == {"sex": ["f"], "days": [0.5]}
