import numpy as np
import pyarrow as pa
import pytest

from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines.reading_back import cell_column, groups
from policy_engine.errors import CertificateError, DataError
from policy_engine.kernels import diversity
from policy_engine.plan.steps import Anonymize


def step(quasi=("x",), sensitive=(), missing="category", unit=""):
    named = [{"name": one} if isinstance(one, str) else one for one in quasi]
    kept = [{"name": one} if isinstance(one, str) else one for one in sensitive]
    return Anonymize(
        columns={"quasi-identifier": named, "sensitive": kept, "privacyUnit": unit},
        methods={"k-anonymity": {"k": 2}},
        recoding={"missing": missing},
    )


def read(columns, *quasi, taxonomies=None, persons=None, **asked):
    one = step(quasi or ("x",), **asked)
    return groups(pa.table(columns), one, taxonomies or {}, persons)


def loss_of(*cells, taxonomies=None, missing="category", **settings):
    """Return what each cell costs, in the order given."""
    asked, taken = {"name": "x", **settings}, {"missing": missing, "taxonomies": taxonomies}
    found = read({"x": pa.array(cells, pa.string())}, asked, **taken)
    return found.loss["x"][found.class_of].tolist()


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


def test_a_cell_is_priced_by_the_generalization_asked_for():
    assert loss_of("{a, b}", "c", generalization="set") == pytest.approx([2 / 3, 0])
    assert loss_of("*", generalization="set") == [1]
    assert loss_of("10**", "1001", generalization="prefix") == [0.5, 0]
    assert loss_of("10##", "1001", generalization="prefix", mask="#") == [0.5, 0]
    assert loss_of("[0 - 5]", "[5 - 10]", "*", generalization="interval") == [0.5, 0.5, 1]
    assert loss_of("2019-01-01", "2010s", generalization="calendar") == [0, 1]
    assert loss_of("*", "b", "c", generalization="taxonomy", **CITIES) == pytest.approx([1, 0, 0])
    assert loss_of("a", "b", generalization="taxonomy", **CITIES)[0] == pytest.approx(2 / 3)


CITIES = {
    "taxonomy": "t",
    "taxonomies": {"t": Taxonomy(("*", "a", "b", "c", "d"), (-1, 0, 1, 1, 0))},
}
"""b and c below a, d beside it."""


def test_missing_as_a_wildcard_costs_nothing():
    cells = ["[0 - 5] or missing", None, "[5 - 10]", "7 or missing"]
    assert loss_of(*cells, missing="wildcard") == pytest.approx([0.5, 0, 0.5, 0])
    assert loss_of("{a, b} or missing", "c", missing="wildcard") == pytest.approx([0.5, 0])


@pytest.mark.parametrize("generalization", ["mean", "median", "mode"])
def test_no_loss_can_be_read_off_representatives(generalization):
    asked = {"name": "x", "generalization": generalization}
    found = read({"x": ["1", "2"]}, asked)
    assert found.loss == {"x": None}
    assert found.class_totals().column_losses() == {}
    assert found.class_totals().certainty_penalty() is None


def test_rows_with_equal_cells_are_one_class():
    table = {"x": ["[1 - 2]", "[1 - 2]", "[1 - 3]"], "y": ["a", "b", "a"]}
    assert read(table).sizes().tolist() == [2, 1]
    assert read(table, "y", "x").count == 3


def test_missing_cells_are_a_class_of_their_own():
    assert read({"x": ["a", None, None]}).sizes().tolist() == [1, 2]


def test_persons_are_counted_once_in_a_class():
    found = read({"x": ["a", "a", "b"]}, unit="who", persons=np.array([7, 7, 7]))
    assert found.units().tolist() == [1, 1]


def test_cells_of_any_kind_of_text_are_read():
    cells, numbers = ["{a, b}", "c", None], [1, 2, None]
    for column in (
        pa.array(cells, pa.large_string()),
        pa.array(cells).dictionary_encode(),
        pa.chunked_array([pa.array([cell], pa.string()).dictionary_encode() for cell in cells]),
    ):
        found = read({"x": column})
        assert found.loss["x"][found.class_of].tolist() == [0.5, 0, 0]
    assert read({"x": numbers}).count == 3


def test_sensitive_values_are_counted_by_what_they_are():
    table = {"x": ["a"] * 4, "s": ["1", "1.0", None, "2"]}
    assert diversity.distinct(read(table, sensitive=["s"]).histogram("s")).tolist() == [2]


def test_a_sensitive_column_stands_in_its_taxonomy():
    asked = {"name": "s", "distance": "hierarchical", "taxonomy": "t"}
    table = {"x": ["a", "a"], "s": ["d", "b"]}
    found = read(table, sensitive=[asked], taxonomies=CITIES["taxonomies"])
    assert found.ancestries["s"].leaf.tolist() == [2, 4]
    with pytest.raises(DataError, match="R007"):
        read({**table, "s": ["d", "e"]}, sensitive=[asked], taxonomies=CITIES["taxonomies"])


def test_losses_stand_by_quasi_identifier_in_their_order():
    found = read({"x": ["{a, b}", "c"], "y": ["d", "d"]}, "y", "x")
    assert list(found.loss) == ["y", "x"]
    assert found.class_totals().column_losses() == {"y": 0, "x": pytest.approx(1 / 3)}


def test_ranges_in_two_columns_are_put_together():
    table = {"x_low": [1, 1, 4, None], "x_high": [3, 3, 4, None], "y": ["a"] * 4}
    found = read(table, "x", "y")
    assert found.sizes().tolist() == [2, 1, 1]
    assert found.class_totals().column_losses()["x"] == pytest.approx((2 / 3 + 2 / 3) / 4)
    assert cell_column(pa.table(table), "x").to_pylist() == ["[1 - 3]", "[1 - 3]", "4", None]


def test_ranges_in_two_columns_cost_what_they_do_in_one():
    written = {"x": ["[1.5 - 3]", "[2 - 9]", "4"]}
    parted = {"x_low": [1.5, 2.0, 4.0], "x_high": [3.0, 9.0, 4.0]}
    assert (
        read(written).class_totals().column_losses() == read(parted).class_totals().column_losses()
    )


def test_a_range_with_one_end_is_refused():
    with pytest.raises(
        CertificateError, match="V002 The column 'x' holds a range with only one end"
    ):
        read({"x_low": [1, None], "x_high": [2, 2]})


@pytest.mark.parametrize("cell", ["{a", "{a}", "{a,b}", '"a', '"a" b', "{a, b} or"])
def test_a_cell_of_no_known_shape_is_refused(cell):
    with pytest.raises(CertificateError, match="V002 The column 'x' holds a cell that is no") as e:
        loss_of("[1 - 2]", cell)
    assert cell not in str(e.value)


@pytest.mark.parametrize("cell", ["a", "{1, b}", "[2020-01-01 - 2020-01-02]", "1970", "[a - b]"])
def test_ranges_beside_what_lies_on_another_axis_are_refused(cell):
    with pytest.raises(CertificateError, match="V002 The column 'x' holds ranges, and cells"):
        loss_of("[08:00 - 09:00]", cell)
