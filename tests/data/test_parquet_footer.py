"""What headers, indexes and the footer of a Parquet file say, which is not what its pages hold."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.data import parquet_footer
from policy_engine.data.parquet_footer import read_notes

TABLE = pa.table({"pay": [900, None, 5, 7], "tags": [[1], [2, 3], None, []]})


def notes_after(folder, monkeypatch, change):
    """Read a file of two pages for each column as if one of its structures were another."""
    path = folder / "a.parquet"
    pq.write_table(TABLE, path, write_page_index=True, max_rows_per_page=2)
    monkeypatch.setattr(parquet_footer.CompactReader, "structure", changed(change))
    return read_notes(path)


def changed(change):
    """Return a reader of structures that changes those of a name once they are read."""
    name, column, fields = change
    read, seen = parquet_footer.CompactReader.structure, []

    def structure(reader, kind):
        values = read(reader, kind)
        seen.append(kind)
        if kind == name and seen.count(name) == column + 1:
            for field, place, value in fields:
                values[field] = replaced(values[field], place, value)
        return values

    return structure


def replaced(values, place, value):
    """Return another value, or a list with another at a place."""
    if place is None:
        return value
    new = {**values[place], **value} if isinstance(value, dict) else value
    return [*values[:place], new, *values[place + 1 :]]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("OffsetIndex", 0, [("pages", 0, {"first_row": 1})]), "an index of other rows"),
        (("OffsetIndex", 0, [("pages", 1, {"first_row": 1})]), "an index of other rows"),
        (("OffsetIndex", 1, [("pages", 1, {"first_row": 99})]), "an index of other rows"),
        (("OffsetIndex", 0, [("pages", 1, {"offset": 4})]), "an index of other places"),
        (("OffsetIndex", 0, [("pages", 1, {"size": 4})]), "an index of other places"),
        (("ColumnIndex", 0, [("null_counts", 0, 3)]), "counts more values"),
        (("ColumnIndex", 0, [("null_counts", 0, -1)]), "counts more values"),
        (("ColumnIndex", 0, [("null_pages", None, [False])]), "an index of other pages"),
        (("ColumnIndex", 0, [("boundary_order", None, 7)]), "an order that there is not"),
        (("ColumnIndex", 1, [("definition_levels", None, [9] * 8)]), "an index of other levels"),
        (("FileMetaData", 0, [("version", None, 41250)]), "a version"),
        (("FileMetaData", 0, [("num_rows", None, 3)]), "other rows than those of its groups"),
    ],
)
def test_indexes_are_those_of_the_pages(tmp_path, monkeypatch, change, told):
    with pytest.raises(ValueError, match=told):
        notes_after(tmp_path, monkeypatch, change)


def test_a_file_that_is_not_changed_is_read(tmp_path, monkeypatch):
    notes = notes_after(tmp_path, monkeypatch, ("OffsetIndex", 0, []))
    assert [len(one.pages) for one in notes.chunks] == [3, 3]
    assert (notes.unknown, notes.chunks[0].counts) == (0, (1, None))
