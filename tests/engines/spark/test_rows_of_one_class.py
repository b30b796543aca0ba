"""Spark gives the rows of the local engine where no privacy model is asked for."""

import pyarrow as pa
import pytest
from applying import asking
from both import both, check_same, csv_rows, released
from building import column

from policy_engine import certify_output
from policy_engine.errors import DataError

pytestmark = pytest.mark.usefixtures("few_rows")
PAY = column("pay", masking="rounding", base=10)
ALONE = {"method": "masking", "masked": [PAY]}
KEY = b"k" * 32
TABLE = pa.table(
    {
        "pay": pa.array([25, -25, None, 1004, 26, 1, 2, 3], pa.int64()),
        "note": ["b", "a", "c", "a", None, "b", "b", "b"],
        "rate": [0.0, -0.0, float("nan"), None, 1.5, 2.0, 0.1, 0.1],
        "card": ["x", "y", "x", None, "z", "z", "z", "u"],
        "blot": [1] * 8,
    }
)


@pytest.mark.nightly
@pytest.mark.parametrize("partitions", [1, 3, 8])
def test_all_rows_are_released_on_any_number_of_partitions(cluster, partitions):
    runs = both(cluster, TABLE, partitions, insensitive=["note", "rate"], **ALONE)
    check_same(runs)
    assert runs.spark.certificate.warning == runs.local.certificate.warning != ""
    assert runs.nodes == 0


@pytest.mark.nightly
def test_identifiers_are_replaced_alike_and_their_order_says_nothing(cluster):
    scope = {"pseudonymize": ["card"], "redact": ["blot"], "pseudonymScope": "all"}
    check_same(both(cluster, TABLE, 3, key=KEY, **scope, **ALONE))


@pytest.mark.nightly
def test_files_have_the_same_cells(cluster, tmp_path):
    (tmp_path / "in.csv").write_text("pay,note,id\n25,b,1\n-25,007,2\n,c,3\n1004,a,4\n")
    parts = {**ALONE, "insensitive": ["note"], "identifier": ["id"]}
    found = [
        released(engine, tmp_path / "in.csv", tmp_path / name / "a.csv", **parts)
        for engine, name in (("local", "local"), (cluster, "spark"))
    ]
    assert csv_rows(found[0].path) == csv_rows(found[1].path)


@pytest.mark.nightly
def test_files_without_classes_are_certified_again(cluster, tmp_path):
    (tmp_path / "in.csv").write_text("pay,note,id\n25,b,1\n-25,007,2\n,c,3\n1004,a,4\n")
    parts = {**ALONE, "insensitive": ["note"], "identifier": ["id"]}
    made = released(cluster, tmp_path / "in.csv", tmp_path / "out" / "a.csv", **parts)
    assert certify_output(made.path, asking(**parts), engine=cluster).warning


@pytest.mark.nightly
def test_what_is_joined_to_a_model_is_the_same(cluster):
    runs = both(
        cluster, TABLE, 3, method=["masking", "k-anonymity"], k=2, quasi=["note"], masked=[PAY]
    )
    check_same(runs)


@pytest.mark.nightly
def test_order_within_tasks_follows_what_is_released(cluster):
    frame = cluster.spark.createDataFrame(TABLE.select(["pay", "note"])).repartition(3)
    one = released(cluster, frame, insensitive=["note"], **ALONE).table.collect()
    other = released(cluster, frame.orderBy("pay").repartition(3), insensitive=["note"], **ALONE)
    assert other.table.collect() == one


def test_a_table_without_rows_is_refused(cluster):
    with pytest.raises(DataError, match="R001"):
        released(cluster, cluster.spark.createDataFrame(TABLE.slice(0, 0)), **ALONE)


def test_columns_of_lists_are_refused_as_by_the_local_engine(cluster):
    table = pa.table({"pay": [1, 2], "tags": [["a"], ["b"]]})
    for engine, given in (("local", table), (cluster, cluster.spark.createDataFrame(table))):
        with pytest.raises(DataError, match="C009"):
            released(engine, given, insensitive=["tags"], **ALONE)
