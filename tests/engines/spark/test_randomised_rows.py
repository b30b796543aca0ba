"""Randomised records on Spark: the answers of the local engine, drawn once whatever is repeated."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from building import DATASET
from everyday import everyday
from randomising import DAYS, SEX, TOWN, randomising

from policy_engine import apply_policy, estimate_answers
from policy_engine.errors import DataError

pytestmark = pytest.mark.usefixtures("few_rows")

KEY = b"\x07" * 32
ROWS = 600


@pytest.fixture
def place(tmp_path):
    table = pa.table(
        {
            "who": [f"p{row % 200}" for row in range(ROWS - 4)] + [None, "", " ", "\t"],
            "sex": ["F", "M", None] * (ROWS // 3),
            "town": ["a", "b"] * (ROWS // 2),
            "days": np.arange(ROWS) % 20,
        }
    )
    pq.write_table(table, tmp_path / "visits.parquet", row_group_size=100)
    return tmp_path / "visits.parquet"


def rows(table):
    return sorted(map(repr, table.to_pylist()))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("partitions", everyday((1, 3, 8), 3))
@pytest.mark.parametrize("compose", ["sum", "sample-one-attribute"])
def test_persons_answer_as_on_the_local_engine(cluster, place, compose, partitions):
    policy = randomising(SEX, TOWN, DAYS, privacyUnit="who", compose=compose)
    local = apply_policy(policy, {DATASET: place}, key=KEY)
    frame = cluster.spark.read.parquet(str(place)).repartition(partitions)
    spark = apply_policy(policy, {DATASET: frame}, engine=cluster, key=KEY)
    assert spark.certificate.rows_out == 200
    assert rows(spark.table.toArrow()) == rows(local.table)
    assert spark.certificate.measurements == local.certificate.measurements
    assert spark.certificate.randomised == local.certificate.randomised


@pytest.mark.nightly
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_records_are_answered_once_and_found_in_what_was_written(cluster, place, tmp_path, ending):
    data = {DATASET: cluster.spark.read.parquet(str(place))}
    output = tmp_path / f"answers.{ending}"
    policy = randomising(SEX, TOWN, DAYS, epsilon="12")
    release = apply_policy(policy, data, output, engine=cluster)
    assert release.certificate.rows_out == ROWS
    assert rows(release.table.toArrow()) == rows(release.table.toArrow())
    sex = estimate_answers(release, original=place).columns[1]
    for figure in sex.figures:
        assert abs(figure.estimate - figure.truth) < 6 * figure.variance**0.5
    other = apply_policy(policy, data, engine=cluster)
    assert rows(other.table.toArrow()) != rows(release.table.toArrow())


def test_persons_without_a_key_are_refused(cluster, place):
    policy = randomising(SEX, privacyUnit="who")
    data = {DATASET: cluster.spark.read.parquet(str(place))}
    with pytest.raises(DataError, match="C013"):
        apply_policy(policy, data, engine=cluster)


@pytest.mark.nightly
def test_records_that_are_nobodys_are_refused(cluster, tmp_path):
    policy = randomising(SEX, privacyUnit="who")
    table = pa.table({"who": ["", " "], "sex": ["F", "M"]})
    pq.write_table(table, tmp_path / "nobody.parquet")
    data = {DATASET: cluster.spark.read.parquet(str(tmp_path / "nobody.parquet"))}
    with pytest.raises(DataError, match="R001 No row of the table has a person"):
        apply_policy(policy, data, engine=cluster, key=KEY)
