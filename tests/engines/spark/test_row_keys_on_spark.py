import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.engines.row_keys import row_keys
from policy_engine.engines.tables import read_table

pytestmark = pytest.mark.usefixtures("few_rows")
KEY = b"a key of 16 byte"
NOON = dt.datetime(2020, 1, 1, 12, microsecond=5000, tzinfo=dt.UTC)
COLUMNS = {
    "place": pa.array(range(4)),
    "text": pa.array(["Zürich", "", None, "b"]).dictionary_encode(),
    "byte": pa.array([0, 200, None, 255], pa.uint8()),
    "great": pa.array([0, 2**64 - 1, None, 2**63], pa.uint64()),
    "float": pa.array([0.1, -0.0, None, float("nan")], pa.float32()),
    "double": pa.array([0.1, -0.0, None, 1e300]),
    "truth": pa.array([True, False, None, True]),
    "day": pa.array([NOON.date(), None, NOON.date(), NOON.date()], pa.date64()),
    "clock": pa.array([NOON.replace(tzinfo=None), None, None, None], pa.timestamp("ms")),
    "moment": pa.array([NOON, None, NOON, NOON], pa.timestamp("us", "Europe/Rome")),
    "price": pa.array([Decimal("1.50"), None, Decimal(-2), Decimal(0)], pa.decimal128(10, 2)),
}
CSV = 'place,text,number\n0,a,1.50\n1,"b ""c""",\n2,,007\n3,ü,1e3\n'


def on_cluster(spark, path, kind, names):
    """The key of every row by its place, made by tasks."""
    from policy_engine.engines.spark.reading import read
    from policy_engine.engines.spark.values import gather_tables, map_in_tasks

    def make(batches):
        for table in gather_tables(batches):
            found = row_keys(table.columns, KEY)
            words = [pa.array(found[:, place].view("int64")) for place in (0, 1)]
            places = table.column("place").cast(pa.int64()).combine_chunks()
            yield pa.record_batch([places, *words], ["place", "first", "second"])

    frame = read(spark, str(path), kind, names).repartition(2)
    rows = map_in_tasks(frame, make, "place long, first long, second long").collect()
    return [(row["first"] % 2**64, row["second"] % 2**64) for row in sorted(rows)]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_keys_made_by_tasks_are_those_made_here(spark, tmp_path, kind):
    path = tmp_path / f"data.{kind}"
    if kind == "csv":
        path.write_text(CSV)
    else:
        pq.write_table(pa.table(COLUMNS), path)
    table = read_table(path)
    here = row_keys(table.columns, KEY).tolist()
    assert on_cluster(spark, path, kind, table.column_names) == [tuple(key) for key in here]
