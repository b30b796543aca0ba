"""Which cells are equal: exactly, whatever they are written in."""

import pyarrow as pa
import pytest

from policy_engine.engines.synthesising.equal_cells import cell_numbers, row_numbers
from policy_engine.engines.tables import read_table, write_table


def cells_of_file(path, *cells):
    path.write_text("\n".join(("x", *cells)) + "\n")
    return read_table(path)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (("1", "1.0", "10e-1", "2"), [0, 0, 0, 1]),
        (("10007.5", "10007.50", "10007.51234567890123"), [0, 0, 1]),
        (("10007.5", "10007.50", "unknown", "NaN", "nan"), [0, 0, 1, 2, 2]),
        (("8939010000000000001", "8939010000000000002", "8939010000000000001.0"), [0, 1, 0]),
        (("0.000", "0", "-0", "12345678901234567"), [0, 0, 0, 1]),
        (("1", "01", "001"), [0, 1, 2]),
        (("1e5", "100000", "1e99999999999999999999", "1e999999999999999999999"), [0, 0, 1, 2]),
        (("2020-01-01T00:00:00", "2020-01-01 00:00"), [0, 0]),
    ],
)
def test_numbers_of_a_file_are_equal_however_they_are_written(tmp_path, cells, expected):
    assert row_numbers(cells_of_file(tmp_path / "a.csv", *cells)).tolist() == expected


def test_texts_of_other_tables_are_equal_where_they_are_written_alike():
    texts = pa.table({"x": ["1", "01", "1.0", "1"]})
    assert row_numbers(texts).tolist() == [0, 1, 2, 0]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("cells", [("1.50", "2", "x"), ("7", "8939010000000000001"), ("1.0", "2")])
def test_what_is_written_again_is_equal_to_itself(tmp_path, ending, cells):
    source = cells_of_file(tmp_path / "a.csv", *cells)
    write_table(source, tmp_path / f"b.{ending}")
    own, written = cell_numbers([source], read_table(tmp_path / f"b.{ending}"))
    assert own.tolist() == written.tolist() == [[place] for place in range(len(cells))]


def test_values_beyond_the_digits_of_floats_are_apart():
    large = [2**63 + place for place in range(3)]
    first, second = (pa.table({"x": pa.array(one, pa.uint64())}) for one in (large[:2], large[1:]))
    own, other, written = cell_numbers([first, second], second)
    assert (own.tolist(), other.tolist(), written.tolist()) == ([[0], [1]], [[1], [2]], [[1], [2]])
