import math

import numpy as np
import pyarrow as pa
import pytest
from applying import applied, asking
from building import DATASET, column
from pyarrow import parquet

from policy_engine import certify_output
from policy_engine.engines.carried import check_file_extras
from policy_engine.engines.plain_floats import has_other_floats, plain_floats
from policy_engine.engines.tables import plain_texts, write_table
from policy_engine.errors import CertificateError

NAN = math.nan
HALVES = np.array([0x8000, 0x7E01, 0x3C00], np.uint16).view(np.float16)  # -0, a NaN, 1
OTHERS = {
    "double": (pa.array([-0.0, NAN, 1.0]), [0.0, None, 1.0]),
    "half": (pa.array(HALVES), [0.0, None, 1.0]),
    "list": (pa.array([[-0.0, 1.0], None, [NAN], []]), [[0.0, 1.0], None, [None], []]),
    "fixed list": (pa.array([[-0.0], None, [NAN]], pa.list_(pa.float32(), 1)), [[0], None, [None]]),
    "struct": (pa.array([{"a": -0.0}, None]), [{"a": 0.0}, None]),
    "dictionary": (pa.array([-0.0, NAN, 0.0]).dictionary_encode(), [0.0, None, 0.0]),
    "map": (pa.array([[("a", NAN)]], pa.map_(pa.string(), pa.float64())), [[("a", None)]]),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_a_missing_number_is_missing_and_no_zero_has_a_sign(kind):
    values, expected = OTHERS[kind]
    plain = plain_floats(values)
    plain.validate(full=True)
    assert plain.to_pylist() == expected
    assert has_other_floats(values)
    assert not has_other_floats(plain)
    assert plain_floats(values.slice(1)).to_pylist() == expected[1:]


def test_floats_of_a_dictionary_are_values_of_their_type():
    table = plain_texts(pa.table({"x": OTHERS["dictionary"][0]}))
    assert table.schema.field("x").type == pa.float64()


@pytest.mark.parametrize("kind", [kind for kind in OTHERS if kind != "dictionary"])
def test_a_file_with_other_floats_holds_more_than_its_values(tmp_path, kind):
    parquet.write_table(pa.table({"x": OTHERS[kind][0]}), tmp_path / "a.parquet")
    with pytest.raises(CertificateError, match="V002 The file holds floats in 'x' that are NaN"):
        check_file_extras(tmp_path / "a.parquet")
    write_table(plain_texts(pa.table({"x": OTHERS[kind][0]})), tmp_path / "b.parquet")
    check_file_extras(tmp_path / "b.parquet")


def test_arrays_with_other_bits_of_the_same_values_hold_more(tmp_path):
    numbers = np.array([NAN, 1.0]).view(np.uint64)
    write_table(pa.table({"x": pa.array([None, 1.0])}), tmp_path / "a.npz")
    check_file_extras(tmp_path / "a.npz")
    data = (tmp_path / "a.npz").read_bytes()
    (tmp_path / "b.npz").write_bytes(data)
    np.savez(tmp_path / "b.npz", x=(numbers | np.uint64(7)).view(np.float64))
    with pytest.raises(CertificateError, match="V002"):
        check_file_extras(tmp_path / "b.npz")


@pytest.mark.parametrize("kind", ["half", "list"])
def test_the_order_of_the_input_is_not_published_by_bits(tmp_path, kind):
    signs = [-0.0, 0.0, 0.0, -0.0]
    kept = np.array(signs, np.float16) if kind == "half" else [[one] for one in signs]
    table = pa.table({"kept": pa.array(kept), "pay": [float(one) for one in (10, 10, 20, 20)]})
    parts = {"method": "masking", "insensitive": ["kept"]}
    noise = column("pay", masking="noise", sdShare=0.3)
    made = []
    for order in ([0, 1, 2, 3], [3, 2, 1, 0]):
        path = tmp_path / str(order[0]) / "a.parquet"
        applied(table.take(order), path, masked=[noise], key=b"k" * 32, **parts)
        made.append(path.read_bytes())
    assert made[0] == made[1]


def test_numbers_that_are_nan_in_a_csv_file_are_missing_in_parquet(tmp_path):
    (tmp_path / "a.csv").write_text("kept,pay\nnan,12\n-0.0,25\n1.5,31\n")
    parts = {"method": "masking", "insensitive": ["kept"]}
    parts["masked"] = [column("pay", masking="rounding", base=10)]
    release = applied(tmp_path / "a.csv", tmp_path / "out" / "a.parquet", **parts)
    stored = parquet.read_table(release.path).column("kept")
    assert not has_other_floats(stored.combine_chunks())
    certify_output(release.path, asking(**parts), data={DATASET: tmp_path / "a.csv"})
