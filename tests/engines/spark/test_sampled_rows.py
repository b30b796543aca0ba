"""Rows and persons that are sampled: on Spark those of the local engine."""

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from applying import rows_of
from both import both, released
from building import column
from everyday import everyday

from policy_engine.errors import DataError

pytestmark = pytest.mark.usefixtures("few_rows")

KEY = b"\x07" * 32
PARTITIONS = everyday((1, 3, 8), 3)
ALONE = {"method": "masking", "insensitive": ["pay", "sex"], "key": KEY}


def people(persons=30):
    """Return two to four rows of each person, some of them equal in every column."""
    random = np.random.default_rng(7)
    ids = np.repeat(np.arange(persons), random.integers(2, 5, persons))
    return pa.table(
        {
            "id": pa.array(ids, mask=ids == 3),
            "age": random.integers(20, 60, len(ids)),
            "sex": np.array(["f", "m", "f"])[ids % 3],
            "pay": pa.array(random.integers(1, 9, len(ids)), mask=np.arange(len(ids)) % 10 == 9),
        }
    )


SAMPLES = {
    "share": {"sampleShare": 0.4, **ALONE},
    "size": {"sampleSize": 25, "weightColumn": "weight", **ALONE},
    "strata": {"sampleShare": 0.3, "stratifiedBy": ["sex"], "weightColumn": "weight", **ALONE},
    "persons": {"sampleShare": 0.5, "privacyUnit": "id", "weightColumn": "weight", **ALONE},
    "personsInStrata": {
        "sampleSize": 9,
        "privacyUnit": "id",
        "stratifiedBy": ["sex"],
        "weightColumn": "weight",
        **ALONE,
    },
    "classes": {
        "method": "k-anonymity",
        "k": 3,
        "quasi": ["age"],
        "insensitive": ["sex"],
        "masked": [column("pay", masking="rank-swapping", p=0.3)],
        "key": KEY,
        "sampleSize": 20,
        "privacyUnit": "id",
        "weightColumn": "weight",
    },
}


def check_same(made):
    assert rows_of(made.local) == [
        tuple(row) for row in sorted(map(tuple, made.spark.table.collect()), key=repr)
    ]
    for name in ("sample", "measurements", "maskings", "rows_out"):
        assert getattr(made.local.certificate, name) == getattr(made.spark.certificate, name)
    figures = [(one.rows_in, one.sampled) for one in (made.local.record, made.spark.record)]
    assert figures[0] == figures[1]


@pytest.mark.nightly
@pytest.mark.parametrize("partitions", PARTITIONS)
@pytest.mark.parametrize("name", everyday(SAMPLES, "personsInStrata"))
def test_sampled_rows_are_those_of_the_local_engine(cluster, name, partitions):
    check_same(both(cluster, people(), partitions, **SAMPLES[name]))


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["size", "personsInStrata"])
def test_sampled_rows_of_a_file_are_those_of_the_local_engine(cluster, tmp_path, name):
    pacsv.write_csv(people(), tmp_path / "people.csv")
    made = both(cluster, tmp_path / "people.csv", **SAMPLES[name])
    assert sorted(made.local.table.to_pylist(), key=repr) == sorted(
        made.spark.table.toArrow().to_pylist(), key=repr
    )
    assert made.local.certificate.sample == made.spark.certificate.sample


@pytest.mark.nightly
def test_the_weights_of_a_written_release_are_measured(cluster, tmp_path):
    made = released(cluster, tmp_people(tmp_path), tmp_path / "out", **SAMPLES["strata"])
    assert made.certificate.sample.strata == 2
    assert made.certificate.sample.rows == made.certificate.rows_out == made.record.sampled


def tmp_people(folder):
    pacsv.write_csv(people(), folder / "people.csv")
    return folder / "people.csv"


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("asked", "message"),
    [
        pytest.param(
            *({"sampleSize": 500}, "R014 The sample has 500 rows, and the table has "),
            marks=pytest.mark.nightly,
        ),
        ({"sampleSize": 1, "stratifiedBy": ["sex"]}, "R014 1 of 2 strata are too small"),
        pytest.param({"sampleShare": 1e-9}, "R014 The sample of ", marks=pytest.mark.nightly),
        ({"sampleSize": 9, "privacyUnit": "id", "stratifiedBy": ["pay"]}, "R014 Persons have "),
    ],
)
def test_a_sample_that_the_rows_do_not_allow_is_refused(cluster, tmp_path, asked, message):
    for engine in ("local", cluster):
        with pytest.raises(DataError, match=message):
            released(engine, tmp_people(tmp_path), **{**ALONE, **asked})
