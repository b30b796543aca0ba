"""What a schema of a Parquet file says besides its columns."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from thrift import taken_apart

from policy_engine.data.parquet_schema import LeafColumn, leaf_columns
from policy_engine.data.parquet_thrift import CompactReader

DECIMAL = {"scale": 2, "precision": 9}


def schema(**fields):
    """Return a schema of two whole numbers, of which the first has more fields."""
    elements = [{"type": 2, "name": name, "repetition": 1} for name in (b"a", b"b")]
    elements[0] |= fields
    return [{"name": b"schema", "num_children": 2}, *elements]


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"scale": 0, "precision": 0, "type_length": -1},
        {"converted_type": 18},
        {"converted_type": 18, "logical_type": {"integer": {"bits": 64, "is_signed": True}}},
        {"logical_type": {"timestamp": {"is_utc": True, "unit": {"nanos": {}}}}},
        {"converted_type": 10, "logical_type": {"timestamp": {"unit": {"micros": {}}}}},
        {"converted_type": 5, "logical_type": {"decimal": DECIMAL}, **DECIMAL},
        {"converted_type": 5, **DECIMAL},
    ],
)
def test_an_element_says_its_type(fields):
    paths = [(one.path, one.missing) for one in leaf_columns(schema(**fields))]
    assert paths == [(("a",), 1), (("b",), 1)]


@pytest.mark.parametrize(
    "fields",
    [
        {"scale": 1},
        {"precision": 41250},
        {"type_length": 41250},
        {"repetition": 3},
        {"converted_type": 41250},
        {"converted_type": 17, "logical_type": {"integer": {"bits": 64, "is_signed": True}}},
        {"converted_type": 10, "logical_type": {"timestamp": {"unit": {"nanos": {}}}}},
        {"converted_type": 5, "logical_type": {"decimal": DECIMAL}, "scale": 2, "precision": 41250},
    ],
)
def test_an_element_says_nothing_besides_its_type(fields):
    with pytest.raises(ValueError, match=r"a type without|repeated|another type"):
        leaf_columns(schema(**fields))


@pytest.mark.parametrize("name", ["type", "type_length", "scale", "precision", "converted_type"])
def test_the_table_has_no_type(name):
    with pytest.raises(ValueError, match=r"a type of a table|a type without"):
        leaf_columns([schema()[0] | {name: 1}, *schema()[1:]])


@pytest.mark.parametrize(
    ("ids", "is_allowed"),
    [((0, 1), True), ((1, 2), True), ((-1, -1), True)]
    + [(ids, False) for ids in ((2, 1), (1, 3), (7, 8), (-1, -7), (1, 1))],
)
def test_numbers_of_columns_count_them(ids, is_allowed):
    root, *columns = schema()
    numbered = [one | {"field_id": number} for one, number in zip(columns, ids, strict=True)]
    if is_allowed:
        assert len(leaf_columns([root, *numbered])) == 2
        return
    with pytest.raises(ValueError, match="numbers of columns"):
        leaf_columns([root, *numbered])


def test_what_is_in_lists_and_structures_is_a_column(tmp_path):
    table = pa.table({"a": pa.array([[1], None], pa.list_(pa.int8())), "b": [{"x": 1.5}, None]})
    pq.write_table(table, tmp_path / "a.parquet")
    content = (tmp_path / "a.parquet").read_bytes()
    body, _ = taken_apart(content)
    meta = CompactReader(content[len(body) : -8]).structure("FileMetaData")
    assert leaf_columns(meta["schema"]) == [
        LeafColumn(("a", "list", "element"), 1, 0, 3, 1, (-128, 127)),
        LeafColumn(("b", "x"), 5, 0, 2, 0),
    ]
