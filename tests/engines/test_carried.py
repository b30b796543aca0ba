import gzip
import json
import struct
import zlib
from os import mkfifo
from pathlib import Path

import pyarrow as pa
import pytest
from applying import asking
from building import DATASET
from pyarrow import parquet

from policy_engine import apply_policy, certify_output
from policy_engine.engines.carried import check_file_extras
from policy_engine.engines.tables import write_table
from policy_engine.errors import CertificateError

TABLE = pa.table({"age": [1, 1, 9], "disease": ["flu", "cold", "flu"]})
SPARK = "org.apache.spark.sql.parquet.row.metadata"


def spark(**metadata):
    fields = [
        {"name": name, "type": "string", "nullable": True, "metadata": metadata}
        for name in TABLE.column_names
    ]
    return {SPARK: json.dumps({"type": "struct", "fields": fields}, separators=(",", ":"))}


def with_field(**metadata):
    field = TABLE.schema.field("age").with_metadata(metadata)
    return TABLE.cast(TABLE.schema.set(0, field))


def coded(*values):
    column = pa.DictionaryArray.from_arrays([0, 1, 0], ["flu", "cold", *values])
    return TABLE.set_column(1, "disease", column)


@pytest.mark.parametrize(
    "table",
    [TABLE, coded(), TABLE.slice(0, 0)],
    ids=["plain", "coded", "empty"],
)
def test_a_table_alone_passes(tmp_path, table):
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=2)
    check_file_extras(tmp_path / "a.parquet")


def test_what_spark_writes_of_the_types_passes(tmp_path):
    table = TABLE.replace_schema_metadata({**spark(), "org.apache.spark.version": "4.0.1"})
    parquet.write_table(table, tmp_path / "a.parquet", store_schema=False)
    check_file_extras(tmp_path / "a.parquet")


@pytest.mark.parametrize(
    ("table", "what"),
    [
        (TABLE.replace_schema_metadata({"note": "Ann is the first"}), "metadata"),
        (TABLE.replace_schema_metadata({"pandas": "{}"}), "metadata"),
        (TABLE.replace_schema_metadata({"org.apache.spark.version": "Ann"}), "metadata"),
        (TABLE.replace_schema_metadata(spark(note="Ann")), "metadata"),
        (with_field(note="Ann"), "metadata"),
        (coded("Ann"), "values in the dictionary of 'disease'"),
    ],
)
def test_a_parquet_file_that_holds_more_is_refused(tmp_path, table, what):
    parquet.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(CertificateError, match=f"V002 The file holds {what}") as caught:
        check_file_extras(tmp_path / "a.parquet")
    assert "Ann" not in str(caught.value)


def test_a_schema_of_arrow_that_is_not_of_the_columns_is_refused(tmp_path):
    other = pa.table({"Ann": [1]})
    parquet.write_table(other, tmp_path / "other.parquet")
    own = parquet.read_metadata(tmp_path / "other.parquet").metadata
    with parquet.ParquetWriter(tmp_path / "a.parquet", TABLE.schema, store_schema=False) as file:
        file.write_table(TABLE)
        file.add_key_value_metadata(own)
    with pytest.raises(CertificateError, match="V002 The file holds metadata"):
        check_file_extras(tmp_path / "a.parquet")


@pytest.mark.parametrize("name", ["Ann", "data.csv"])
def test_a_gzip_header_holds_no_name_but_the_files_own(tmp_path, name):
    path = tmp_path / "data.csv.gz"
    with path.open("wb") as raw:
        for named, content in (("", b"age\n1\n"), (name, b"2\n")):
            with gzip.GzipFile(named, "wb", fileobj=raw, mtime=1) as member:
                member.write(content)
    if name == "data.csv":
        check_file_extras(path)
    else:
        with pytest.raises(CertificateError, match="V002 The file holds a name or a comment"):
            check_file_extras(path)


@pytest.mark.parametrize(
    ("content", "time", "what"),
    [(b"", 1, "gzip headers without rows"), (b"2\n", 8011, "several times or systems in its gzip")],
)
def test_gzip_headers_hold_nothing_of_their_own(tmp_path, content, time, what):
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress(b"age\n1\n", mtime=1) + gzip.compress(content, mtime=time))
    with pytest.raises(CertificateError, match=f"V002 The file holds {what}"):
        check_file_extras(path)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_what_is_released_carries_nothing(tmp_path, ending):
    given = coded("Ann").replace_schema_metadata({"note": "Ann"})
    asked = asking(method="k-anonymity", k=3, quasi=["age"], sensitive=["disease"])
    made = apply_policy(asked, {DATASET: given}, tmp_path / "out" / f"a.{ending}")
    assert certify_output(made.path, asked).holds
    assert b"Ann" not in made.path.read_bytes()
    write_table(coded("Ann"), tmp_path / f"b.{ending}")
    check_file_extras(tmp_path / f"b.{ending}")


def test_an_output_that_carries_more_is_not_certified(tmp_path):
    asked = asking(method="k-anonymity", k=3, quasi=["age"], sensitive=["disease"])
    made = apply_policy(asked, {DATASET: TABLE}).table
    parquet.write_table(made.replace_schema_metadata({"note": "Ann"}), tmp_path / "a.parquet")
    with pytest.raises(CertificateError, match="V002 The file holds metadata"):
        certify_output(tmp_path / "a.parquet", asked)


LAYOUTS = {
    "list": pa.list_,
    "large list": pa.large_list,
    "list of one size": lambda field: pa.list_(field, 1),
    "list of lists": lambda field: pa.large_list(pa.field("Ann", pa.list_(field))),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("is_stored", [True, False])
def test_the_types_of_lists_carry_nothing(tmp_path, layout, is_stored):
    field = pa.field("Ann", pa.int8(), nullable=False, metadata={"note": "Ann"})
    image = [[1]] if layout == "list of lists" else [1]
    given = TABLE.append_column("image", pa.array([image] * 3, LAYOUTS[layout](field)))
    parquet.write_table(given, tmp_path / "a.parquet")
    asked = asking(method="k-anonymity", k=3, quasi=["age"], insensitive=["image"])
    source = tmp_path / "a.parquet" if is_stored else given
    made = apply_policy(asked, {DATASET: source}, tmp_path / "out" / "b.parquet")
    kind = parquet.read_schema(made.path).field("image").type
    while pa.types.is_nested(kind):
        assert (kind.value_field.name, kind.value_field.metadata) == ("element", None)
        kind = kind.value_type
    assert certify_output(made.path, asked).holds
    assert "Ann" not in str(apply_policy(asked, {DATASET: source}).table.schema)


@pytest.mark.parametrize(
    "field", [pa.field("Ann", pa.int8()), pa.field("item", pa.int8(), metadata={"note": "Ann"})]
)
def test_metadata_within_a_list_is_refused(tmp_path, field):
    table = pa.table({"image": pa.array([[[1]]], pa.large_list(pa.field("item", pa.list_(field))))})
    parquet.write_table(table, tmp_path / "a.parquet", use_compliant_nested_type=False)
    with pytest.raises(CertificateError, match=r"V002 The file holds (metadata|parts)"):
        check_file_extras(tmp_path / "a.parquet")


def in_two_parts(folder):
    folder.mkdir()
    parquet.write_table(TABLE, folder / "part-00000-1f-c000.snappy.parquet")
    parquet.write_table(TABLE.slice(0, 0), folder / "part-00001.parquet")
    return folder


def test_a_folder_holds_parts_and_what_hadoop_leaves_beside_them(tmp_path):
    folder = in_two_parts(tmp_path / "a.parquet")
    (folder / "_SUCCESS").write_bytes(b"")
    (folder / "._SUCCESS.crc").write_bytes(b"crc\0\0\0\2\0")
    content = (folder / "part-00001.parquet").read_bytes()
    sums = [zlib.crc32(content[place : place + 512]) for place in range(0, len(content), 512)]
    checksums = folder / ".part-00001.parquet.crc"
    checksums.write_bytes(b"crc\0\0\0\2\0" + struct.pack(f">{len(sums)}I", *sums))
    check_file_extras(folder)
    for changed in (b"crc\0\0\0\2\1", checksums.read_bytes()[:-3] + b"Ann"):
        checksums.write_bytes(changed + checksums.read_bytes()[len(changed) :])
        with pytest.raises(CertificateError, match=r"V002 The folder holds '\.part-00001"):
            check_file_extras(folder)


@pytest.mark.parametrize(
    "make",
    [
        Path.mkdir,
        mkfifo,
        lambda path: path.symlink_to("nowhere"),
        lambda path: path.symlink_to(path.parent.parent),
    ],
)
def test_a_folder_holds_no_empty_folders_links_or_pipes(tmp_path, make):
    folder = in_two_parts(tmp_path / "a.parquet")
    make(folder / "Ann")
    with pytest.raises(CertificateError, match="V002 The folder holds 'Ann'"):
        check_file_extras(folder)


def test_a_folder_may_hold_folders_with_parts_in_them(tmp_path):
    parts = in_two_parts(tmp_path / "parts")
    (tmp_path / "a.parquet").mkdir()
    parts.rename(tmp_path / "a.parquet" / "age=1")
    check_file_extras(tmp_path / "a.parquet")


@pytest.mark.parametrize(
    "name", ["_SUCCESS", ".ann", "_ann.parquet", "_ann/a.parquet", ".part-00001.parquet.crc"]
)
def test_a_folder_holds_nothing_that_readers_pass_over(tmp_path, name):
    folder = in_two_parts(tmp_path / "a.parquet")
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(b"Ann is the first")
    with pytest.raises(CertificateError, match=f"V002 The folder holds '{name}'"):
        check_file_extras(folder)


def test_a_part_without_rows_has_no_name_of_its_own(tmp_path):
    folder = in_two_parts(tmp_path / "a.parquet")
    parquet.write_table(TABLE.slice(0, 0), folder / "part-Ann.parquet")
    with pytest.raises(CertificateError, match=r"V002 The part 'part-Ann\.parquet' has no rows"):
        check_file_extras(folder)
