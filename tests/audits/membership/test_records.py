import gzip

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from policy_engine.audits.membership.records import (
    FittedFeatures,
    read_records,
    records_of_arrays,
    source_table,
)
from policy_engine.errors import AuditError, DataError

COLUMNS = {"age": [20, 30, 40, 50] * 2, "sex": ["f", "m"] * 4, "ill": ["no", "yes"] * 4}
CSV = "age,sex,ill\n" + "".join(
    f"{age},{sex},{ill}\n" for age, sex, ill in zip(*COLUMNS.values(), strict=True)
)
BITS = np.tile([[0, 1], [1, 0]], (4, 1))


def written(tmp_path, kind):
    path = tmp_path / f"data.{kind}"
    if kind == "parquet":
        pq.write_table(pa.table(COLUMNS), path)
    else:
        path.write_bytes(gzip.compress(CSV.encode()) if kind == "csv.gz" else CSV.encode())
    return path


SOURCES = {
    "csv": lambda folder: written(folder, "csv"),
    "csv.gz": lambda folder: str(written(folder, "csv.gz")),
    "parquet": lambda folder: written(folder, "parquet"),
    "pandas": lambda _: pd.DataFrame(COLUMNS),
    "polars": lambda _: pl.DataFrame(COLUMNS),
    "pyarrow": lambda _: pa.table(COLUMNS),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_the_same_records(tmp_path, kind):
    found = read_records(SOURCES[kind](tmp_path), "ill")
    expected = read_records(pa.table(COLUMNS), "ill")
    assert found.digest == expected.digest
    assert found.features.shape == (8, 3)
    assert found.labels.tolist() == [0, 1] * 4
    assert found.classes == ("no", "yes")
    assert found.columns["sex"].tolist() == ["f", "m"] * 4
    assert [one.kind for one in found.encoding] == ["number", "one-hot"]


def test_without_a_label_the_last_column_is_it(tmp_path):
    assert read_records(written(tmp_path, "csv")).classes == ("no", "yes")


@pytest.mark.parametrize("names", [("features", "labels"), ("x_train", "y_train"), ("x", "y")])
def test_npz(tmp_path, names):
    path = tmp_path / "data.npz"
    np.savez(path, **dict(zip(names, (BITS, [0, 1] * 4), strict=True)))
    found = read_records(path)
    assert (found.features.dtype, found.name) == (np.uint8, "data.npz")
    assert found.digest == records_of_arrays(BITS, np.array([0, 1] * 4)).digest


def test_npz_with_objects_is_never_unpickled(tmp_path):
    path = tmp_path / "data.npz"
    np.savez(path, features=np.array([{}] * 8), labels=np.zeros(8))
    with pytest.raises(DataError, match="C003"):
        read_records(path)


def test_npz_without_labels_says_what_it_has(tmp_path):
    path = tmp_path / "data.npz"
    np.savez(path, features=BITS, other=BITS)
    with pytest.raises(AuditError, match=r"no labels.*'features' and 'other'|no labels.*other"):
        read_records(path)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no archive"])
def test_a_damaged_npz_is_an_error_of_data(tmp_path, content):
    path = tmp_path / "data.npz"
    path.write_bytes(content)
    with pytest.raises(DataError, match="C003"):
        read_records(path)


@pytest.mark.parametrize("name", ["none.npz", "none.csv"])
def test_a_missing_file(tmp_path, name):
    with pytest.raises(DataError, match="C002"):
        read_records(tmp_path / name)


def test_images_are_laid_flat_and_bytes_stay_bytes():
    images = np.arange(8 * 4, dtype=np.uint8).reshape(8, 2, 2)
    found = records_of_arrays(images, np.array([0, 1] * 4))
    assert (found.features.dtype, found.features.shape) == (np.uint8, (8, 4))
    assert found.encoding[0].kind == "kept"


def test_integers_that_do_not_start_at_0_are_mapped_with_a_warning():
    found = records_of_arrays(BITS, np.array([3, 7] * 4))
    assert found.labels.tolist() == [0, 1] * 4
    assert found.classes == ("3", "7")
    assert "numbered in their order" in found.warnings[0]
    assert not records_of_arrays(BITS, np.array([0, 1] * 4)).warnings


def test_whole_numbers_as_floats_are_classes():
    table = pa.table({"x": [0, 1] * 4, "y": [1.0, 0.0] * 4})
    assert read_records(table, "y").classes == ("0", "1")
    assert records_of_arrays(BITS, np.array([1.0, 0.0] * 4)).classes == ("0", "1")


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        ([1] * 8, "All labels are the same"),
        ([0.5, 1] * 4, "Labels are classes"),
        ([0, np.nan] * 4, "4 labels are missing"),
        (list(range(8)), "8 classes for 8 records"),
        ([0, 1], "shape"),
    ],
)
def test_labels_that_cannot_be_classes(labels, says):
    with pytest.raises(AuditError, match="A002") as error:
        records_of_arrays(BITS, np.array(labels))
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        (["a"] * 8, "All labels"),
        (["a", None] * 4, "4 rows have no label"),
        ([0.5, 1] * 4, "Of 2 values, 1 are no"),
    ],
)
def test_a_label_column_that_cannot_be_classes(labels, says):
    with pytest.raises(AuditError, match="A002") as error:
        read_records(pa.table({"x": [0, 1] * 4, "y": labels}), "y")
    assert says in str(error.value)


def test_an_unknown_label_column():
    with pytest.raises(AuditError, match=r"A002.*Did you mean 'ill'"):
        read_records(pa.table(COLUMNS), "il")


def test_nan_features_name_their_columns():
    features = BITS.astype(float)
    features[2, 1] = np.nan
    with pytest.raises(AuditError, match=r"A003.*1 columns: 1"):
        records_of_arrays(features, np.array([0, 1] * 4))


@pytest.mark.parametrize("features", [np.zeros(8), np.zeros((0, 2)), np.full((8, 2), "a")])
def test_features_of_no_use(features):
    with pytest.raises(AuditError, match="A003"):
        records_of_arrays(features, np.array([0, 1] * 4))


def test_a_table_without_rows():
    with pytest.raises(AuditError, match="no rows"):
        source_table(pa.table({"x": pa.array([], pa.int64()), "y": pa.array([], pa.int64())}))


def test_the_digest_tells_types_values_and_labels_apart():
    labels = np.array([0, 1] * 4)
    base = records_of_arrays(BITS, labels)
    digests = {
        base.digest,
        records_of_arrays(1 - BITS, labels).digest,
        records_of_arrays(BITS, 1 - labels).digest,
        base.with_features(base.features.astype(np.float32)).digest,
    }
    assert len(digests) == 4
    assert records_of_arrays(BITS, labels).digest == base.digest


def test_a_release_is_encoded_as_its_original():
    fitted = FittedFeatures.of(pa.table(COLUMNS), "ill")
    release = {"age": ["[20 - 30]"] * 8, "sex": ["{f, m}"] * 8, "ill": ["yes", "no"] * 4}
    found = fitted.records(pa.table(release), "the release")
    assert found.labels.tolist() == [1, 0] * 4
    assert found.features[0] == pytest.approx([-10 / np.sqrt(125), 0.5, 0.5])


def test_a_class_unknown_to_the_original_is_refused():
    fitted = FittedFeatures.of(pa.table(COLUMNS), "ill")
    release = {**COLUMNS, "ill": ["{no, yes}", "yes"] * 4}
    with pytest.raises(AuditError, match=r"A002.*4 rows"):
        fitted.records(pa.table(release), "the release")
