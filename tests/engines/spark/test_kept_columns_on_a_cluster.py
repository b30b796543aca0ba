"""Columns that are released as they are, which a cluster finds among those of the data."""

import datetime as dt
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pytest
from applying import applied, asking
from building import DATASET, column
from everyday import everyday

from policy_engine import certify_output
from policy_engine.engines.tables import write_table
from policy_engine.errors import CertificateError

pytestmark = pytest.mark.usefixtures("few_rows")
PAY = column("pay", masking="rank-swapping", p=0.3)
KEPT = ["id", "ill", "since", "seen", "cost", "rate"]
SWAPPED = {"method": "masking", "insensitive": KEPT, "masked": [PAY]}
CLASSES = {"method": "k-anonymity", "k": 2, "quasi": ["age"], "insensitive": KEPT}
ACROSS = (".parquet", ".csv")
SAMPLED = {"method": "masking", "insensitive": KEPT, "sampleSize": 9, "stratifiedBy": ["ill"]}
NAMES = ["swapped", "classes", "sample"]
FILES = everyday([(".csv", ".csv"), (".csv", ".parquet"), ACROSS], ACROSS)


def patients(rows=20):
    """Return patients whose columns are of many types, with missing values."""
    first = dt.datetime.fromisoformat("2024-01-01T09:30")
    days = [first + dt.timedelta(number) for number in range(rows)]
    return pa.table(
        {
            "id": range(rows),
            "age": [20 + number % 3 for number in range(rows)],
            "ill": [["flu", "1.0", None][number % 3] for number in range(rows)],
            "since": [day.date() for day in days],
            "seen": pa.array(days, pa.timestamp("us", "UTC")),
            "cost": pa.array([Decimal(one) / 4 for one in range(rows)], pa.decimal128(9, 2)),
            "rate": [None if number % 7 == 1 else number / 3 for number in range(rows)],
            "pay": [number * 37 % 100 for number in range(rows)],
        }
    )


def certified(cluster, path, data, asked):
    return certify_output(path, asking(**asked), data={DATASET: data}, engine=cluster)


@pytest.mark.nightly
@pytest.mark.parametrize("files", FILES, ids="-".join)
@pytest.mark.parametrize("asked", everyday((SWAPPED, CLASSES, SAMPLED), CLASSES), ids=NAMES)
def test_a_release_is_of_its_data_on_a_cluster(cluster, asked, files, tmp_path):
    given, made = files
    data, table = tmp_path / f"in{given}", patients()
    if made == ".parquet":  # times of CSV have nanoseconds there, which Spark does not read (C009)
        table = table.drop_columns("seen")
        asked = asked | {"insensitive": [name for name in KEPT if name != "seen"]}
    write_table(table, data)
    path = applied(data, tmp_path / "out" / f"a{made}", **asked).path
    assert certified(cluster, path, data, asked).holds


@pytest.mark.nightly
def test_values_that_look_like_cells_are_of_the_data_on_a_cluster(cluster, tmp_path):
    data = tmp_path / "in.parquet"
    names = ["", '"', "[1 - 2]", "{a, b}", "a or missing"]
    write_table(pa.table({"id": range(15), "name": names * 3}), data)
    asked = {"k": 2, "quasi": ["name"], "insensitive": ["id"], "algorithm": "local-suppression"}
    asked |= {"method": "k-anonymity", "sampleSize": 14}
    path = applied(data, tmp_path / "out" / "a.csv", **asked).path
    assert certified(cluster, path, data, asked).holds


@pytest.mark.nightly
def test_times_in_several_ways_are_of_the_data_on_a_cluster(cluster, tmp_path):
    data = tmp_path / "in.parquet"
    names = ["10:00", "10:00:00", " 10:00", "11:00"]
    write_table(pa.table({"id": range(8), "at": names * 2}), data)
    asked = {"k": 2, "quasi": ["at"], "insensitive": ["id"], "algorithm": "local-suppression"}
    asked |= {"method": "k-anonymity"}
    path = applied(data, tmp_path / "out" / "a.parquet", **asked).path
    assert certified(cluster, path, data, asked).holds


@pytest.mark.nightly
@pytest.mark.parametrize("asked", everyday((SWAPPED, CLASSES), CLASSES), ids=["swapped", "classes"])
def test_rows_that_are_not_of_the_data_are_refused_on_a_cluster(cluster, asked, tmp_path):
    data = tmp_path / "in.parquet"
    write_table(patients(), data)
    path = applied(data, tmp_path / "out" / "a.csv", **asked).path
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    (tmp_path / "copy").mkdir()
    copy = tmp_path / "copy" / "a.csv"
    table.assign(id=["99", *table["id"][1:]]).iloc[::-1].to_csv(copy, index=False)
    with pytest.raises(CertificateError, match="V002 1 row of the output has values of 'id', '"):
        certified(cluster, copy, data, asked)


@pytest.mark.nightly
@pytest.mark.parametrize("asked", [SWAPPED, CLASSES], ids=["swapped", "classes"])
def test_fewer_rows_than_the_data_are_refused_on_a_cluster(cluster, asked, tmp_path):
    data = tmp_path / "in.parquet"
    write_table(patients(), data)
    path = applied(data, tmp_path / "out" / "a.csv", **asked).path
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    (tmp_path / "copy").mkdir()
    copy = tmp_path / "copy" / "a.csv"
    table.iloc[:-1].to_csv(copy, index=False)
    with pytest.raises(CertificateError, match="V003 The output has 19 rows"):
        certified(cluster, copy, data, asked)
