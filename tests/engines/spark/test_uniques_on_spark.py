"""Unique rows are counted on a cluster as they are here."""

from itertools import combinations

import pyarrow as pa
import pyarrow.parquet as pq

from policy_engine.engines.counting_uniques import unique_rows

TABLE = {
    "a.b": [0.0, -0.0, None, None, 1.5, 2.0],
    "c": ["x", "x", "x", "y", "y", None],
    "d": [1, 1, 2, 2, 3, 3],
}


def test_counts_are_those_of_the_local_engine(spark, tmp_path):
    from policy_engine.engines.spark import unique_counts
    from policy_engine.engines.spark.reading import read

    table = pa.table(TABLE)
    pq.write_table(table, tmp_path / "data.parquet")
    frame = read(spark, str(tmp_path / "data.parquet"), "parquet", tuple(TABLE))
    sets = [one for size in (1, 2, 3) for one in combinations(TABLE, size)]
    counts = unique_counts.unique_rows(frame, [*sets, sets[0]])
    assert counts == unique_rows(table, [*sets, sets[0]])
    assert counts[:3] == (2, 1, 0)
    widest, unique_counts._WIDEST = unique_counts._WIDEST, 2  # the last set on its own
    try:
        assert unique_counts.unique_rows(frame, sets) == counts[:-1]
    finally:
        unique_counts._WIDEST = widest
