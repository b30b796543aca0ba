"""Noise is drawn once it is paid for, and what is released is a function of it."""

import json

import numpy as np
import pytest
from asking_statistics import BY_SEX, DAYS, MEDIAN, ROWS, UNITS, VISITS, step_of

from policy_engine.data.group_keys import read_group_keys
from policy_engine.engines.statistics.tallies import Tallies
from policy_engine.errors import DataError
from policy_engine.release.statistics import draw, public_keys, to_table

KEYS = (("f",), ("m",))
NO_NOISE = {"pe:epsilon": "100"}
MEAN = {**DAYS, "pe:function": "mean", "pe:name": "mean"}
VARIANCE = {**DAYS, "pe:function": "variance", "pe:name": "variance"}
HISTOGRAM = {
    "pe:function": "histogram",
    "pe:of": f"{VISITS}/days",
    "pe:candidates": ["1", "2"],
    "pe:name": "histogram",
}
TOP = {**HISTOGRAM, "pe:function": "top-k", "pe:k": 1, "pe:name": "top"}


def drawn(*aggregates, sums, units=(5, 5), **changes):
    """Return the rows of a release at an epsilon with next to no noise."""
    step = step_of(*aggregates, epsilon={"@value": "100", "@type": "xsd:decimal"}, **changes)
    return draw(step, Tallies(KEYS, list(units), sums))


def test_a_row_has_its_key_and_its_figures():
    rows = drawn(UNITS, DAYS, sums=[[10**9, 0], [10**12, -(10**12)]])
    assert [row[0] for row in rows] == ["f", "m"]
    assert abs(rows[0][1] - 10**9) < 100
    assert abs(rows[1][2] + 10**12) < 1000


def test_a_mean_is_within_its_public_bounds_whatever_the_noise():
    rows = drawn(MEAN, sums=[[10**9, -(10**9)], [0, -5]])
    assert [row[1] for row in rows] == [14.0, 0.0]


def test_a_mean_and_a_variance_are_those_of_the_exact_sums():
    # A million rows of 3 days, and as many of 11: in half days from 7, -8 and 8.
    squares = 2 * 10**6 * (2 * 64 - 196)
    [first, _] = drawn(
        MEAN, VARIANCE, sums=[[0, 0], [2 * 10**6] * 2, [0, 0], [squares] * 2, [2 * 10**6] * 2]
    )
    assert first[1] == pytest.approx(7, abs=0.01)
    assert first[2] == pytest.approx(16, abs=0.05)


def test_choices_are_the_best_candidates():
    counts = np.zeros((2, 15), np.int64)
    counts[:, 4] = 10**6
    options = np.array([[1, 10**6], [10**6, 1]])
    rows = drawn(MEDIAN, HISTOGRAM, TOP, sums=[counts, options, options])
    assert [row[1] for row in rows] == [4, 4]
    assert [row[3] for row in rows] == ['["2"]', '["1"]']
    assert abs(json.loads(rows[0][2])[1] - 10**6) < 100


def test_keys_of_few_units_are_not_released():
    step_changes = {"by": [f"{VISITS}/sex"], "delta": "1e-6"}
    rows = drawn(UNITS, sums=[[10**6, 0]], units=(10**6, 0), **step_changes)
    assert [row[0] for row in rows] == ["f"]


def test_figures_beyond_what_files_hold_are_saturated():
    rows = drawn({**DAYS, "pe:grid": 7}, sums=[[2**70, -(2**70)]])
    assert [row[1] for row in rows] == [2**63 - 1, -(2**63 - 1)]
    to_table(step_of({**DAYS, "pe:grid": 7}), rows)


def test_two_draws_differ():
    # Each of 64 figures with a scale of a million.
    far = {**DAYS, "pe:upper": 10**6}
    step = step_of(far)
    some = {tuple(draw(step, Tallies(KEYS, [1, 1], [[0, 0]]))[0]) for _ in range(4)}
    assert len(some) > 1


def test_columns_have_types_that_the_data_do_not_decide():
    step = step_of(ROWS, {**DAYS, "pe:grid": 0.5}, MEDIAN, MEAN, HISTOGRAM)
    assert [str(one) for one in to_table(step, []).schema.types] == [
        *("string", "int64", "double", "int64", "double", "string"),
    ]


def test_public_keys_are_the_product_of_those_of_columns():
    by = [*BY_SEX, {"@id": f"{VISITS}/ward", "pe:keys": ["1", "2"]}]
    assert public_keys(step_of(by=by), {}) == (("f", "1"), ("f", "2"), ("m", "1"), ("m", "2"))
    assert public_keys(step_of(by=()), {}) == ((),)


def test_keys_of_a_file_are_those_that_were_planned_with():
    keys = read_group_keys(b"sex\nm\nf\n")
    name = "http://e.org/keys.csv"
    step = step_of(by=[f"{VISITS}/sex"], query={"pe:keys": {"@id": name}})
    step = step.model_copy(update={"key_table_digest": keys.digest})
    assert public_keys(step, {name: keys}) == (("m",), ("f",))
    with pytest.raises(DataError, match="not those that the plan was made with"):
        public_keys(step, {name: read_group_keys(b"sex\nm\n")})
