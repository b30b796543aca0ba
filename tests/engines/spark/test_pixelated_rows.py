"""Pixelated images: on Spark the rows of the local engine."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from applying import asking, measured
from building import DATASET, column
from everyday import everyday
from pictures import faces

from policy_engine import apply_policy, certify_output
from policy_engine.errors import (
    CertificateError,
    DataError,
    OutputError,
    PlanError,
    PolicyEngineError,
)

pytestmark = pytest.mark.usefixtures("few_rows")

KEY = b"\x07" * 32
PARTITIONS = everyday((1, 3, 8), 3)
MASKED = [
    column("face", masking="pixelation", blockSize=4, padding=9),
    column("flat", masking="pixelation", blockSize=2, height=5, width=6),
    column("light", masking="pixelation", blockSize=3),
]
ALONE = {"method": "masking", "insensitive": ["id"], "masked": MASKED}
CLASSES = {"method": "k-anonymity", "k": 2, "quasi": ["age"], "masked": MASKED}


def lists(table):
    """Return the rows of a table whose arrays may be of any width."""
    return sorted(map(repr, table.to_pylist()))


@pytest.fixture
def place(tmp_path):
    """Return a file of images in several row groups."""
    pq.write_table(faces(), tmp_path / "faces.parquet", row_group_size=5)
    return tmp_path / "faces.parquet"


@pytest.mark.nightly
@pytest.mark.parametrize("partitions", PARTITIONS)
@pytest.mark.parametrize("parts", everyday((ALONE, CLASSES), CLASSES), ids=["alone", "classes"])
def test_pixelated_rows_are_those_of_the_local_engine(cluster, place, parts, partitions):
    local = apply_policy(asking(**parts), {DATASET: place})
    frame = cluster.spark.read.parquet(str(place)).repartition(partitions)
    spark = apply_policy(asking(**parts), {DATASET: frame}, engine=cluster)
    assert lists(spark.table.toArrow()) == lists(pa.table(local.table))
    assert measured(local) == measured(spark)
    assert local.certificate.maskings == spark.certificate.maskings


@pytest.mark.nightly
def test_images_beside_noise_in_sampled_rows_are_those_of_the_local_engine(cluster, place):
    noise = column("age", masking="noise", sdShare=0.5)
    policy = asking(**ALONE | {"masked": [*MASKED, noise], "sampleSize": 7})
    local = apply_policy(policy, {DATASET: place}, key=KEY)
    spark = apply_policy(policy, {DATASET: place}, engine=cluster, key=KEY)
    assert lists(spark.table.toArrow()) == lists(pa.table(local.table))
    assert local.certificate.maskings == spark.certificate.maskings


@pytest.fixture(scope="module")
def made(cluster, few_rows, tmp_path_factory):  # noqa: ARG001
    """Return where the images are, and their release on Spark, made once."""
    folder = tmp_path_factory.mktemp("faces")
    pq.write_table(faces(), folder / "faces.parquet", row_group_size=5)
    output, data = folder / "out" / "faces.parquet", {DATASET: folder / "faces.parquet"}
    return data[DATASET], apply_policy(asking(**ALONE), data, output, engine=cluster)


def check_certified_again(cluster, place, release, parts):
    policy = asking(**parts)
    local = apply_policy(policy, {DATASET: place})
    assert lists(pq.read_table(release.path)) == lists(pa.table(local.table))
    alone = certify_output(release.path, policy, engine=cluster)
    beside = certify_output(release.path, policy, data={DATASET: place}, engine=cluster)
    for found in (release.certificate, alone, beside):
        told = [one.achieved for one in found.measurements if one.bound == "pixelation"]
        assert told == [0, 0, 0]
    assert beside.maskings == release.certificate.maskings


@pytest.mark.nightly
def test_pixelated_images_of_files_are_certified_again_on_spark(cluster, made):
    check_certified_again(cluster, *made, ALONE)


@pytest.mark.nightly
def test_pixelated_images_beside_classes_are_certified_again_on_spark(cluster, place, tmp_path):
    output = tmp_path / "out" / "faces.parquet"
    release = apply_policy(asking(**CLASSES), {DATASET: place}, output, engine=cluster)
    check_certified_again(cluster, place, release, CLASSES)


ONE = ALONE | {"masked": MASKED[:1]}
ROWS = {"one column": (ONE, range(12)), "apart": (ALONE, range(12)), "tied": (ALONE, [0] * 12)}


@pytest.mark.nightly
@pytest.mark.parametrize("rows", everyday(ROWS, "one column"))
def test_images_of_other_means_are_refused_on_spark(cluster, tmp_path, rows):
    asked, numbers = ROWS[rows]
    output, policy = tmp_path / "out" / "faces.parquet", asking(**asked)
    table = faces().set_column(0, "id", pa.array(numbers))
    apply_policy(policy, {DATASET: other_file(table, tmp_path)}, output)
    other = table.set_column(2, "face", table["face"].take(pa.array([2, *range(1, 12)])))
    data = {DATASET: other_file(other, tmp_path)}
    with pytest.raises(CertificateError, match="V001"):
        certify_output(output, policy, data=data, engine=cluster)


@pytest.mark.nightly
def test_images_of_other_rows_are_refused_on_spark(cluster, made, tmp_path):
    other = faces().set_column(0, "id", pa.array(range(100, 112)))
    data = {DATASET: other_file(other, tmp_path)}
    with pytest.raises(CertificateError, match="V002 12 rows of the output have values of 'id'"):
        certify_output(made[1].path, asking(**ALONE), data=data, engine=cluster)


def other_file(table, folder):
    pq.write_table(table, folder / "other.parquet")
    return folder / "other.parquet"


REFUSED = {
    "C009": CLASSES | {"quasi": ["age", "face"], "masked": MASKED[1:]},
    "R013": ALONE | {"masked": [column("face", masking="rounding", base=2)]},
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("code", REFUSED)
def test_images_in_other_roles_are_refused_on_spark(cluster, place, code):
    with pytest.raises(PolicyEngineError, match=code):
        apply_policy(asking(**REFUSED[code]), {DATASET: place}, engine=cluster)


@pytest.mark.nightly
def test_images_are_not_written_to_csv_files_on_spark(cluster, place, tmp_path):
    with pytest.raises(OutputError, match="O002 A CSV file cannot hold the arrays of 'face'"):
        apply_policy(asking(**ALONE), {DATASET: place}, tmp_path / "out.csv", engine=cluster)
    assert sorted(tmp_path.iterdir()) == [place]


@pytest.mark.nightly
def test_images_of_two_shapes_in_two_tasks_are_refused(cluster):
    rows = [(1, [[1] * 4] * 4), (2, [[1] * 4] * 5)]
    frame = cluster.spark.createDataFrame(rows, "id int, face array<array<int>>").repartition(
        2, "id"
    )
    with pytest.raises(DataError, match="differ in their shape"):
        apply_policy(asking(**ALONE | {"masked": MASKED[:1]}), {DATASET: frame}, engine=cluster)


@pytest.mark.nightly
@pytest.mark.parametrize("ending", ["npy", "npz"])
def test_files_of_arrays_are_refused_on_spark_when_the_policy_is_planned(
    cluster, place, tmp_path, ending
):
    policy, file = asking(**ALONE), tmp_path / f"a.{ending}"
    np.save(file, np.zeros((1, 2, 2))) if ending == "npy" else np.savez(file, id=np.arange(2))
    for data, output in ((file, None), (place, tmp_path / f"out.{ending}")):
        with pytest.raises(PlanError, match=f"M009 The spark engine has no .{ending} files"):
            apply_policy(policy, {DATASET: data}, output, engine=cluster)
    assert sorted(tmp_path.iterdir()) == [file, place]
