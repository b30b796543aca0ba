"""Statistics of frames: the same exact numbers as on one machine, on any number of partitions."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from asking_statistics import DAYS, MEDIAN, ROWS, UNITS, VISITS, policy_text, step_of, visits

from policy_engine import apply_policy
from policy_engine.engines.spark.statistics import tally_frame
from policy_engine.engines.statistics.tallies import tally_table

SECRET = bytes(range(16))
GENERATOR = np.random.default_rng(7)
PEOPLE = [
    (f"p{person}", str(sex), int(days))
    for person, sex, days in zip(
        GENERATOR.integers(0, 40, 300),
        GENERATOR.choice(["f", "m", "x"], 300),
        GENERATOR.integers(-3, 20, 300),
        strict=True,
    )
]
FIGURES = (UNITS, ROWS, DAYS, MEDIAN)


@pytest.mark.nightly
@pytest.mark.parametrize("public", [(("f",), ("m",)), None])
def test_a_frame_is_counted_as_a_table_is(cluster, public):
    changes = {} if public else {"by": [f"{VISITS}/sex"], "delta": "1e-6"}
    step, table = step_of(*FIGURES, **changes), visits(*PEOPLE, (None, "f", 1))
    frame = cluster.spark.createDataFrame(table).repartition(5)
    on_cluster = tally_frame(frame, step, public, SECRET)
    here = tally_table(table, step, public, SECRET)
    assert on_cluster.keys == here.keys
    assert on_cluster.units == here.units
    for one, other in zip(on_cluster.sums, here.sums, strict=True):
        assert np.array_equal(np.array(one), np.array(other))


@pytest.mark.nightly
def test_a_release_on_a_cluster_is_written_and_replayed_anywhere(cluster, tmp_path):
    file, ledger = tmp_path / "visits.parquet", tmp_path / "ledger.sqlite"
    pq.write_table(visits(*PEOPLE), file)
    text, output = policy_text(*FIGURES), tmp_path / "out.parquet"
    release = apply_policy(text, {VISITS: file}, output, engine=cluster, ledger=ledger)
    table = release.table.toArrow()
    assert table.column_names == ["sex", "persons", "rows", "days", "median"]
    again = apply_policy(text, {VISITS: file}, ledger=ledger)
    assert pa.table(again.table).to_pydict() == table.to_pydict()


@pytest.mark.nightly
def test_a_synthetic_table_on_a_cluster_is_of_the_same_counts(cluster, tmp_path):
    sex = {"pe:function": "synthetic", "pe:of": f"{VISITS}/sex", "pe:candidates": ["f", "m", ""]}
    stay = {**DAYS, "pe:function": "synthetic"}
    changes = {"by": [], "query": {"pe:rows": 50}, "maxRowsPerGroup": 1}
    step, table = step_of(sex, stay, **changes), visits(*PEOPLE, (None, "f", 1))
    frame = cluster.spark.createDataFrame(table).repartition(5)
    on_cluster = tally_frame(frame, step, ((),), SECRET)
    here = tally_table(table, step, ((),), SECRET)
    for one, other in zip(on_cluster.sums, here.sums, strict=True):
        assert np.array_equal(one, other)
    file, ledger = tmp_path / "visits.parquet", tmp_path / "ledger.sqlite"
    pq.write_table(table, file)
    given = {"engine": cluster, "ledger": ledger}
    release = apply_policy(
        policy_text(sex, stay, **changes), {VISITS: file}, tmp_path / "o", **given
    )
    assert release.certificate.rows_out == 50
    assert release.table.columns == ["sex", "days"]
