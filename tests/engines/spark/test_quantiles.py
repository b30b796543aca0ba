import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.engines.spark.quantiles import Quantiles, compute_quantiles
from policy_engine.errors import DataError

pytestmark = pytest.mark.usefixtures("few_rows")
FOUR = Quantiles(np.array([10.0, 20.0, 30.0]), "0", "40", pa.int64(), has_missing=True)


def test_a_part_holds_the_values_from_its_first_on():
    values = pa.array([0, 9, 10, 29, 30, 40, None])
    assert FOUR.look_up(values).tolist() == [1, 1, 2, 3, 4, 4, 0]


def test_texts_are_read_as_what_the_column_is():
    assert FOUR.look_up(pa.array(["9", " 10", None])).tolist() == [1, 2, 0]


def test_a_part_stands_where_its_first_value_does():
    axis = FOUR.axis(wildcard=False, weight=2.0)
    assert axis.shape.position.tolist() == [0, 0, 0.25, 0.5, 0.75]
    assert (axis.has_missing, axis.weight, FOUR.parts) == (True, 2.0, 5)


def test_values_of_some_rows_are_placed_on_the_axis_of_all():
    found = FOUR.encode("x", pa.array([30, 10, None, 10]))
    assert found.labels.tolist() == ["", "0", "10", "30", "40"]
    assert found.codes.tolist() == [3, 2, 0, 2]
    assert found.position.tolist() == [0, 0, 0.25, 0.75, 1]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("values", "kind", "low", "high"),
    [
        (range(100), pa.int64(), "0", "99"),
        ([number / 4 for number in range(100)], pa.float64(), "0", "24.75"),
        ([f"{number}" for number in range(100)], pa.int64(), "0", "99"),
        (
            [dt.date(2020, 1, 1) + dt.timedelta(number) for number in range(100)],
            pa.date32(),
            "2020-01-01",
            "2020-04-09",
        ),
    ],
)
def test_quantiles_of_a_column(spark, values, kind, low, high):
    frame = spark.createDataFrame(pa.table({"x": pa.array([*values, None])})).repartition(3)
    found = compute_quantiles(frame, "x", is_csv=True)
    assert (found.kind, found.low, found.high, found.has_missing) == (kind, low, high, True)
    assert found.parts == 101  # fewer values than parts: each is one
    assert (np.diff(found.edges) > 0).all()


@pytest.mark.parametrize("values", [["a", "b"], ["0.12345678901234567", "1"]])
def test_texts_that_no_number_holds_have_no_quantiles(spark, values):
    frame = spark.createDataFrame(pa.table({"x": values}))
    with pytest.raises(DataError, match="R011"):
        compute_quantiles(frame, "x", is_csv=True)
