import numpy as np
import pyarrow as pa
import pytest

from policy_engine.engines.reading_back import groups
from policy_engine.errors import CertificateError


def loss_of(*cells):
    found = groups(pa.table({"x": pa.array(cells, pa.string())}), ("x",), ())
    return found.loss[:, 0].tolist()


def test_a_range_costs_its_width_over_that_of_the_column():
    assert loss_of("[0 - 10]", "[10 - 15]", "40") == pytest.approx([0.25, 0.125, 0])


def test_a_range_of_dates_costs_its_days():
    cells = ["[2020-01-01 - 2020-01-02]", "[2020-01-03 - 2020-01-11]", "2020-01-05"]
    assert loss_of(*cells) == pytest.approx([0.1, 0.8, 0])


def test_a_range_of_times_costs_its_hours():
    assert loss_of("[08:00 - 10:00:00]", "[12:00:00.0 - 18:00]") == pytest.approx([0.2, 0.6])


def test_a_range_of_moments_costs_its_minutes():
    cells = ["[2020-01-01 00:00 - 2020-01-01 00:10]", "2020-01-01 00:50", "2020-01-01T00:40:00"]
    assert loss_of(*cells) == pytest.approx([0.2, 0, 0])


def test_a_set_costs_its_members_over_those_of_the_column():
    assert loss_of("{a, b}", "{a, c, d}", "e") == pytest.approx([0.4, 0.6, 0])


def test_a_value_that_may_be_missing_costs_as_much_as_a_set_of_both():
    assert loss_of("a or missing", "b", "{c, d} or missing") == pytest.approx([0.4, 0, 0.6])


def test_missing_costs_nothing_alone_and_all_beside_a_range():
    cells = [None, "", "[0 - 5] or missing", "[5 - 10]", "7 or missing", "7"]
    assert loss_of(*cells) == pytest.approx([0, 0, 1, 0.5, 1, 0])


def test_nothing_is_lost_where_every_cell_is_one_value():
    assert loss_of("1", "2", "a", None) == [0, 0, 0, 0]
    assert loss_of(None, None) == [0, 0]
    assert loss_of("a") == [0]


def test_rows_with_equal_cells_are_one_class():
    table = pa.table({"x": ["[1 - 2]", "[1 - 2]", "[1 - 3]"], "y": ["a", "b", "a"]})
    assert groups(table, ("x",), ()).sizes().tolist() == [2, 1]
    assert groups(table, ("y", "x"), ()).count == 3


def test_missing_cells_are_a_class_of_their_own():
    assert groups(pa.table({"x": ["a", None, None]}), ("x",), ()).sizes().tolist() == [1, 2]


def test_cells_of_any_kind_of_text_are_read():
    cells, numbers = ["{a, b}", "c", None], [1, 2, None]
    for column in (
        pa.array(cells, pa.large_string()),
        pa.array(cells).dictionary_encode(),
        pa.chunked_array([pa.array([cell], pa.string()).dictionary_encode() for cell in cells]),
    ):
        assert groups(pa.table({"x": column}), ("x",), ()).loss[0, 0] == 0.5
    assert groups(pa.table({"x": numbers}), ("x",), ()).count == 3


def test_sensitive_values_are_counted_by_what_they_are():
    table = pa.table({"x": ["a"] * 4, "s": ["1", "1.0", None, "2"]})
    assert groups(table, ("x",), ("s",)).distinct("s").tolist() == [2]


def test_losses_stand_in_the_order_of_the_quasi_identifiers():
    table = pa.table({"x": ["{a, b}", "c"], "y": ["d", "d"]})
    assert groups(table, ("y", "x"), ()).loss.tolist() == [[0, 2 / 3], [0, 0]]
    assert groups(table, ("x",), ()).loss.dtype == np.float64


@pytest.mark.parametrize("cell", ["{a", "{a}", "{a,b}", '"a', '"a" b', "{a, b} or"])
def test_a_cell_of_no_known_shape_is_refused(cell):
    with pytest.raises(CertificateError, match="V002 The column 'x' holds a cell that is no") as e:
        loss_of("[1 - 2]", cell)
    assert cell not in str(e.value)


@pytest.mark.parametrize("cell", ["a", "{1, b}", "[2020-01-01 - 2020-01-02]", "1970", "[a - b]"])
def test_ranges_beside_what_lies_on_another_axis_are_refused(cell):
    with pytest.raises(CertificateError, match="V002 The column 'x' holds ranges, and cells"):
        loss_of("[08:00 - 09:00]", cell)
