import gzip

import pyarrow as pa
import pytest
from pyarrow import parquet
from stored_tables import file_of, problem_of

from policy_engine.engines import tables
from policy_engine.engines.tables import (
    infer_types,
    plain_texts,
    read_table,
    table_digest,
    write_table,
)
from policy_engine.errors import DataError, OutputError

ENDINGS = ["csv", "csv.gz", "parquet"]
AWKWARD = ["plain", 'say "hi"', "a,b", "two\nlines", "cr\rlf\r\n", " blanks ", "é", None]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_table_comes_back_as_it_was(tmp_path, ending):
    table = pa.table({"text": AWKWARD, "number": [*range(7), None], 'a "name", odd': AWKWARD})
    write_table(table, tmp_path / f"data.{ending}")
    assert infer_types(read_table(tmp_path / f"data.{ending}")).to_pydict() == table.to_pydict()


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_table_of_one_column_keeps_its_missing_rows(tmp_path, ending):
    table = pa.table({"only": ["a", None, None, "b", None]})
    write_table(table, tmp_path / f"data.{ending}")
    assert read_table(tmp_path / f"data.{ending}").to_pydict() == table.to_pydict()


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_table_without_rows_keeps_its_columns(tmp_path, ending):
    write_table(pa.table({"a": pa.array([], pa.string()), "b": []}), tmp_path / f"data.{ending}")
    read = read_table(tmp_path / f"data.{ending}")
    assert (read.column_names, read.num_rows) == (["a", "b"], 0)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_table_written_twice_has_the_same_bytes(tmp_path, ending):
    table = pa.table({"a": AWKWARD})
    for name in ("one", "other"):
        write_table(table, tmp_path / f"{name}.{ending}")
    one, other = [(tmp_path / f"{name}.{ending}").read_bytes() for name in ("one", "other")]
    assert one == other


@pytest.mark.parametrize("ending", ENDINGS)
def test_read_table_gives_the_columns_asked_for_in_their_order(tmp_path, ending):
    write_table(pa.table({"a": ["1"], "b": ["2"], "c": ["3"]}), tmp_path / f"data.{ending}")
    read = read_table(tmp_path / f"data.{ending}", ("c", "a"))
    assert read.to_pydict() == {"c": ["3"], "a": ["1"]}


def test_write_table_never_overwrites(tmp_path):
    path = file_of(tmp_path, "mine")
    with pytest.raises(OutputError, match="O002 The output cannot be written"):
        write_table(pa.table({"a": [1]}), path)
    assert path.read_text() == "mine"


def test_as_typed_gives_csv_text_its_type_and_no_other_text(tmp_path):
    read = infer_types(read_table(file_of(tmp_path, "n,d,t\n1,2020-01-01,007\n,,x\n")))
    assert read.schema.types == [pa.int64(), pa.date32(), pa.string()]
    plain = infer_types(pa.table({"n": pa.array(["1", "2"]).dictionary_encode()}))
    assert plain.schema.types == [pa.string()]


def test_read_table_tells_of_a_truncated_gzip(tmp_path):
    packed = gzip.compress(b"a\n" + b"".join(b"secret%d\n" % n for n in range(9999)))
    problem = problem_of(file_of(tmp_path, packed[:-99], "data.csv.gz"), "secret")
    assert problem.code == "C003"


def test_read_table_tells_of_a_gzip_that_is_none(tmp_path):
    problem = problem_of(file_of(tmp_path, "secret\n1\n", "data.csv.gz"), "secret")
    assert problem.code == "C003"


@pytest.mark.parametrize("damage", [slice(4, 40), slice(-40, -8), slice(-4, None), slice(0, -1)])
def test_read_table_tells_of_a_damaged_parquet_file(tmp_path, damage):
    path = tmp_path / "data.parquet"
    parquet.write_table(pa.table({"a": [f"secret{n}" for n in range(999)]}), path)
    content = bytearray(path.read_bytes())
    content[damage] = b"\xff" * len(content[damage])
    path.write_bytes(content)
    assert problem_of(path, "secret").code in {"C003", "C010"}


def test_read_table_tells_of_a_missing_file(tmp_path):
    for name in ("none", "none.csv", "none.parquet"):
        assert problem_of(tmp_path / name).code == "C002"


def test_read_table_tells_of_an_empty_file(tmp_path):
    problem = problem_of(file_of(tmp_path, ""))
    assert (problem.code, problem.message) == ("C010", "The file is empty.")


def test_table_digest_is_that_of_the_values_not_of_the_chunks():
    whole, other = pa.table({"a": [1, 2, 3]}), pa.table({"a": [1, 2, 4]})
    parts = pa.concat_tables([whole.slice(0, 1), whole.slice(1)])
    assert table_digest(whole) == table_digest(parts)
    assert table_digest(whole) != table_digest(other)


BYTES = pa.array([b"Ann\xff", b"b"])
NO_UTF8 = {
    "string": BYTES.view(pa.string()),
    "large string": BYTES.cast(pa.large_binary()).view(pa.large_string()),
    "dictionary": pa.DictionaryArray.from_arrays([0, 1], BYTES.view(pa.string())),
}


@pytest.mark.parametrize("layout", NO_UTF8)
def test_texts_that_are_not_utf8_are_refused(tmp_path, layout):
    table = pa.table({"name": NO_UTF8[layout], "other": [1, 2]})
    parquet.write_table(table, tmp_path / "a.parquet")
    problem = problem_of(tmp_path / "a.parquet", "Ann")
    assert problem.code == "C008"
    assert read_table(tmp_path / "a.parquet", ("other",)).num_rows == 2
    with pytest.raises(DataError, match="C008 The column 'name' holds text that is not UTF-8"):
        plain_texts(table)


def test_texts_that_no_one_array_holds_are_written_out_in_several(monkeypatch):
    class Short:
        """An array that is written out only where it has at most two values."""

        def __init__(self, values):
            self.values = values

        def __len__(self):
            return len(self.values)

        def __getitem__(self, part):
            return Short(self.values[part])

        def dictionary_decode(self):
            if len(self) > 2:
                raise pa.ArrowInvalid("Take operation overflowed binary array capacity")
            return self.values.dictionary_decode()

    texts = pa.array(["a", "b", "a", "c", "c"]).dictionary_encode()
    assert pa.chunked_array(tables._decoded_parts(Short(texts))).to_pylist() == texts.to_pylist()
    monkeypatch.setattr(tables, "_LEAST_HALVED", 9)
    with pytest.raises(pa.ArrowInvalid):
        tables._decoded_parts(Short(texts))
