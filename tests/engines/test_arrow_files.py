"""Arrow files of releases: what was where values are missing is not in them."""

import io

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.engines.arrow_files import write_arrow
from policy_engine.engines.carried import check_file_extras
from policy_engine.engines.tables import read_table, write_table
from policy_engine.errors import CertificateError, OutputError


def written(table):
    file = io.BytesIO()
    write_arrow(file, table)
    return file.getvalue()


def hiding(values, secret):
    """Return integers, the second of which is missing and has a secret in its memory."""
    memory = np.array([values[0], secret, values[2]], np.int64)
    bitmap = pa.py_buffer(np.packbits([1, 0, 1], bitorder="little"))
    return pa.Array.from_buffers(pa.int64(), 3, [bitmap, pa.py_buffer(memory)])


def hiding_text(secret):
    """Return texts, the second of which is missing and has a secret in its memory."""
    texts = pa.array(["a", secret, "b"])
    bitmap = pa.py_buffer(np.packbits([1, 0, 1], bitorder="little"))
    return pa.Array.from_buffers(pa.string(), 3, [bitmap, *texts.buffers()[1:]])


ROWS = {
    "age": pa.array([1, None, 3], pa.int16()),
    "pay": pa.array([1.5, None, 2.0]),
    "name": pa.array(["ä", None, ""]),
    "raw": pa.array([b"\0", None, b""]),
    "is": pa.array([True, None, False]),
    "day": pa.array([1, None, 2], pa.date32()),
    "at": pa.array([1, None, 2], pa.timestamp("us", "UTC")),
    "sum": pa.array([1, None, 2]).cast(pa.decimal128(22, 2)),
    "none": pa.nulls(3),
}


def test_what_is_read_back_is_what_was_written(tmp_path):
    table = pa.table(ROWS)
    for path in (tmp_path / "x.arrow", tmp_path / "x.feather"):
        write_table(table, path)
        assert read_table(path) == table
        check_file_extras(path)
        assert pa.ipc.open_file(path).read_all() == table


def test_slices_chunks_and_dictionaries_have_the_bytes_of_their_values():
    table = pa.table(ROWS)
    parts = pa.concat_tables([table.slice(0, 1), table.slice(1)])
    longer = pa.concat_tables([table, table, table]).slice(3, 3)
    assert written(parts) == written(table) == written(longer)


@pytest.mark.parametrize("make", [lambda s: hiding([1, 0, 3], s), lambda s: hiding_text(str(s))])
def test_memory_of_missing_values_is_not_written(make):
    one, other = (pa.table({"x": make(secret)}) for secret in (7_777_777, 8_888_888))
    assert one == other
    assert written(one) == written(other)


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"x": hiding([1, 0, 3], 7_777_777)}),
        pa.table({"x": [1]}).replace_schema_metadata({"who": "Ann"}),
        pa.table({"x": pa.array(["a", "a"]).dictionary_encode()}),
    ],
    ids=["hidden", "metadata", "dictionary"],
)
def test_files_that_hold_more_are_refused(tmp_path, table):
    path = tmp_path / "x.arrow"
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(CertificateError, match="other bytes than its values give"):
        check_file_extras(path)


def test_bytes_behind_the_table_are_refused(tmp_path):
    path = tmp_path / "x.arrow"
    write_table(pa.table({"x": [1, 2]}), path)
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, pa.schema([("x", pa.int64())])) as writer:
        writer.write_table(pa.table({"x": [1, 2]}))
    path.write_bytes(stream.getvalue() + b"Ann")
    with pytest.raises(CertificateError, match="other bytes than its values give"):
        check_file_extras(path)


def test_lists_are_refused():
    with pytest.raises(OutputError, match="cannot hold the column 'x'"):
        written(pa.table({"x": [[1]]}))
