import duckdb
import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import dataset as ds

from policy_engine.data.catalog import make_catalog
from policy_engine.data.places.frames import computed
from policy_engine.errors import DataError

IRI = "http://x.org/People"
ROWS = {"name": ["Ann", "Ben"], "age": [20, 30]}
TABLE = pa.table(ROWS)


def reader():
    return pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches(max_chunksize=1))


def relation():
    table = TABLE
    return duckdb.connect().from_arrow(table)


@pytest.mark.parametrize(
    "make",
    [
        lambda: pl.LazyFrame(ROWS),
        lambda: ds.dataset(TABLE),
        lambda: ds.dataset([ds.dataset(TABLE)]),
        lambda: ds.dataset(TABLE).scanner(),
        reader,
        relation,
        lambda: nw.from_native(pl.LazyFrame(ROWS)),
        lambda: nw.from_native(pl.DataFrame(ROWS)),
        lambda: nw.from_native(pd.DataFrame(ROWS)),
        lambda: nw.from_native(relation()),
    ],
)
def test_what_is_lazy_is_computed_once_for_the_catalog(make):
    table = make_catalog({IRI: make()}).tables[IRI]
    assert isinstance(table, pa.Table)
    assert table.to_pydict() == ROWS


def test_a_dataset_of_files_is_read(tmp_path):
    ds.write_dataset(TABLE, tmp_path / "rows", format="parquet")
    files = ds.dataset(tmp_path / "rows")
    assert make_catalog({IRI: files}).tables[IRI].to_pydict() == ROWS


def test_a_query_that_fails_says_which_kind_and_none_of_its_values():
    broken = pl.LazyFrame({"age": ["Ann"]}).select(pl.col("age").cast(pl.Int64))
    with pytest.raises(DataError, match=r"C010 A LazyFrame could not be computed") as caught:
        make_catalog({IRI: broken})
    assert "Ann" not in str(caught.value)


def test_anything_else_is_left_as_it_is():
    assert computed(TABLE) is TABLE
    assert computed(3) == 3
