"""What whoever has a generator has: rows, and how probable it makes any."""

from datetime import date, time
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from synthesising import residents
from test_generator_files import NOTATIONS, written

from policy_engine.engines.field_marks import untyped_field
from policy_engine.errors import ArgumentError

SMALL = pa.table({"a": [1, 1, 2, 2, 3], "b": ["x", "x", "y", None, "y"]})


def test_rows_follow_from_the_seed(tmp_path):
    generator = written(tmp_path, residents(300).select(["age", "wage", "town"]))
    first, second = (generator.sample(100, seed=7) for _ in range(2))
    assert first.equals(second)
    assert not generator.sample(100).equals(generator.sample(100))
    assert first.column_names == ["age", "wage", "town"]
    assert generator.sample(0).num_rows == 0


@pytest.mark.parametrize("settings", [{"n": -1}, {"n": 1, "seed": -1}, {"n": 1, "label": 0}])
def test_what_cannot_be_drawn_is_refused(settings, tmp_path):
    with pytest.raises(ArgumentError):
        written(tmp_path, SMALL).sample(**settings)


def test_probabilities_are_those_by_hand(tmp_path):
    marginals = written(tmp_path, SMALL, "independent-marginals")
    shares = [2 / 5 * 2 / 5, 2 / 5 * 2 / 5, 2 / 5 * 2 / 5, 2 / 5 * 1 / 5, 1 / 5 * 2 / 5]
    assert np.exp(marginals.log_density(SMALL)) == pytest.approx(shares)
    trees = written(tmp_path, SMALL, leafSize=2)  # the leaf of 1, and that of 2 and 3
    shares = [2 / 5, 2 / 5, 2 / 5 * 2 / 3, 2 / 5 * 1 / 3, 1 / 5 * 2 / 3]
    assert np.exp(trees.log_density(SMALL)) == pytest.approx(shares)


@pytest.mark.parametrize("notation", NOTATIONS)
def test_what_is_never_made_up_has_no_probability(notation, tmp_path):
    generator = written(tmp_path, SMALL, notation)
    others = pa.table({"a": [4.0, 1.0, None], "b": ["x", "z", "x"]})
    assert np.isneginf(generator.log_density(others)).all()
    assert np.isfinite(generator.log_density(SMALL)).all()


@pytest.mark.parametrize("notation", NOTATIONS)
def test_probabilities_are_the_shares_of_rows_that_are_drawn(notation, tmp_path):
    table = residents(400).select(["age", "town"])
    ages = pa.array([one // 20 for one in table["age"].to_pylist()])
    generator = written(tmp_path, table.set_column(0, "age", ages), notation)
    drawn = generator.sample(40_000, seed=1).to_pylist()
    for age in (1, 2, 3):
        row = {"age": age, "town": "Rome"}
        [log] = generator.log_density(pa.Table.from_pylist([row]))
        # A copula's density is that at the middle of a cell: near, and no more than that.
        close = 0.05 if notation == "gaussian-copula" else 0.01
        assert np.exp(log) == pytest.approx(drawn.count(row) / 40_000, abs=close)


def test_cells_are_compared_as_audits_read_them(tmp_path):
    rows = {"a": ["01", "1.5", "x"], "b": [True, False, True]}
    generator = written(tmp_path, pa.table(rows), "independent-marginals")
    given = pa.table({"a": [1.0, 1.5, 2.0], "b": ["true", "false", "true"]})
    assert np.isfinite(generator.log_density(given)).tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("own", "texts", "other"),
    [
        ([date(1990, 1, 2)], ["1990-01-02"], ["1990-01-03"]),
        (pa.array([0], pa.timestamp("s")), ["1970-01-01T00:00:00.000000000"], ["1970-01-01 00:01"]),
        (pa.array([1], pa.timestamp("us", "Europe/Rome")), ["1970-01-01T00:00:00.000001Z"], [""]),
        ([time(3, 4)], ["03:04"], ["03:05"]),
        ([893901000000000001], ["893901000000000001"], ["893901000000000002"]),
        ([Decimal("1.50")], ["1.5"], ["1.51"]),
        (["89390100000000000001"], ["89390100000000000001"], ["89390100000000000002"]),
        ([True], ["TRUE"], ["False"]),
        ([1.5, None], ["1.50", "", "nan"], ["1.6"]),
    ],
)
def test_cells_of_csv_files_are_values_of_every_type(own, texts, other, tmp_path):
    generator = written(tmp_path, pa.table({"a": own}), "independent-marginals")
    for cells, is_made in ((texts, True), (other, False)):
        schema = pa.schema([untyped_field("a", pa.string())])
        answer = generator.log_density(pa.table([pa.array(cells, pa.string())], schema=schema))
        assert np.isfinite(answer).tolist() == [is_made] * len(cells)


def test_texts_that_differ_by_zeros_at_their_end_are_several(tmp_path):
    table = pa.table({"a": ["v", "v\0", "v\0", "v\0\0"]})
    generator = written(tmp_path, table, "independent-marginals")
    shares = np.exp(generator.log_density(table))
    assert shares == pytest.approx([1 / 4, 1 / 2, 1 / 2, 1 / 4])


def test_texts_of_a_type_are_not_numbers(tmp_path):
    """Versions 1.1 and 1.10 are two."""
    generator = written(tmp_path, pa.table({"a": ["1.10"]}), "independent-marginals")
    assert np.isneginf(generator.log_density(pa.table({"a": ["1.1"]}))).all()
