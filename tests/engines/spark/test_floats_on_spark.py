"""Floats that a cluster reads in their one form, and finds in another in an output."""

import math

import pyarrow as pa
import pytest
from applying import applied, asking
from building import DATASET, column
from everyday import everyday
from pyarrow import parquet

from policy_engine import certify_output
from policy_engine.engines.spark.reading import read
from policy_engine.errors import CertificateError

pytestmark = pytest.mark.usefixtures("few_rows")
OTHERS = pa.table({"x": [-0.0, math.nan, 1.0], "list": [[-0.0], None, [math.nan]]})
PARTS = {
    "method": "masking",
    "insensitive": ["id", "x", "list"],
    "masked": [column("pay", masking="rounding", base=10)],
}


def test_a_missing_number_is_missing_and_no_zero_has_a_sign_on_a_cluster(spark, tmp_path):
    parquet.write_table(OTHERS, tmp_path / "a.parquet")
    rows = read(spark, str(tmp_path / "a.parquet"), "parquet", ["x", "list"]).toArrow().to_pylist()
    assert [str(row["x"]) for row in rows] == ["0.0", "None", "1.0"]
    assert [str(row["list"]) for row in rows] == ["[0.0]", "None", "[None]"]


def released(folder):
    """Return a table with other floats, and its release, whose floats have their one form."""
    table = OTHERS.append_column("id", pa.array([1, 2, 3]))
    table = table.append_column("pay", pa.array([12, 25, 31]))
    parquet.write_table(table, folder / "in.parquet")
    return table, applied(folder / "in.parquet", folder / "out" / "a.parquet", **PARTS)


@pytest.mark.nightly
def test_an_output_with_floats_in_their_one_form_is_certified_on_a_cluster(cluster, tmp_path):
    _, release = released(tmp_path)
    data = {DATASET: tmp_path / "in.parquet"}
    assert certify_output(release.path, asking(**PARTS), data=data, engine=cluster).holds


@pytest.mark.nightly
@pytest.mark.parametrize("known", everyday(("data", "output"), "output"))
def test_an_output_with_other_floats_holds_more_than_its_values_on_a_cluster(
    cluster, tmp_path, known
):
    table, release = released(tmp_path)
    data = {DATASET: tmp_path / "in.parquet"} if known == "data" else None
    made = parquet.read_table(release.path)
    others = table.select(["x", "list"]).take([one - 1 for one in made.column("id").to_pylist()])
    for name in ("x", "list"):
        made = made.set_column(made.column_names.index(name), name, others.column(name))
    (tmp_path / "other").mkdir()
    parquet.write_table(made, tmp_path / "other" / "a.parquet")
    with pytest.raises(CertificateError, match="V002 The file holds floats in 'x'"):
        certify_output(tmp_path / "other" / "a.parquet", asking(**PARTS), data=data, engine=cluster)


def test_an_output_with_metadata_holds_more_than_its_values_on_a_cluster(cluster, tmp_path):
    table = pa.table({"id": [1, 2], "x": [0.5, 1.5], "list": [[1.0], [2.0]], "pay": [10, 20]})
    parquet.write_table(table.replace_schema_metadata({"note": "Ann"}), tmp_path / "a.parquet")
    with pytest.raises(CertificateError, match="V002 The file holds metadata"):
        certify_output(tmp_path / "a.parquet", asking(**PARTS), engine=cluster)
