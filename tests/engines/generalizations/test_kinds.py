import pytest
from generalizing import asked, cells, encoded, made, prices

from policy_engine.engines.generalizations import code_finder
from policy_engine.engines.generalizations.ranges import Ranges
from policy_engine.engines.generalizations.sets import Sets
from policy_engine.errors import CertificateError


def test_the_default_is_a_range_where_values_are_ordered_and_else_a_set():
    assert isinstance(made([1, 2]), Ranges)
    assert isinstance(made(["2020-01-01"]), Ranges)
    assert isinstance(made(["a"]), Sets)
    assert isinstance(made([True, False]), Sets)


def test_single_values_by_default_cost_as_ranges_where_they_could_be():
    assert prices(["5 or missing", "6"]) == [1, 0]
    assert prices(["5 or missing", "{6, 7}"]) == [0.5, 0.5]
    assert prices(["a or missing", "b", "c"]) == [0.5, 0, 0]


@pytest.mark.parametrize("cell", ["{a", "{a}", "{a,b}", '"a', '"a" b', "{a, b} or"])
def test_a_cell_of_no_known_shape_is_refused(cell):
    with pytest.raises(CertificateError, match="V002 The column 'x' holds a cell that is no") as e:
        prices(["[1 - 2]", cell])
    assert cell not in str(e.value)
    with pytest.raises(CertificateError, match="V002 The column 'x' holds a cell that is no"):
        code_finder(asked(), encoded([1]))(cell)


def test_covering_tells_of_one_cell_after_the_other():
    covers = code_finder(asked(), encoded([5, 7, None]))
    assert [covers(cell).tolist() for cell in ("[5 - 7]", None, "7")] == [[1, 2], [0], [2]]
    assert code_finder(asked(), encoded([5]))("5 or missing").tolist() == [0]


def test_classes_with_equal_cells_share_one():
    assert cells([1, 2, 1, 2], [[0, 1], [2, 3]]) == ["[1 - 2]"] * 2
