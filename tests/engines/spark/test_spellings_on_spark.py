"""A person in two spellings is one on Spark as on the local engine."""

import numpy as np
import pyarrow as pa
import pytest
from applying import measured, refused, rows_of
from asking_statistics import ROWS, UNITS, step_of, visits
from both import both

from policy_engine.engines.spark.statistics import tally_frame
from policy_engine.engines.statistics.tallies import tally_table

pytestmark = pytest.mark.usefixtures("few_rows")
SECRET = bytes(range(16))
SPELT = ["996", "996 ", "\u3000996", "e\u0301a", "\u00e9a\t", "x"]
"""Three persons."""
BY_PERSON = {"method": "k-anonymity", "quasi": ["age"], "privacyUnit": "who"}


def people(rows=60):
    """Return ages of persons of three rows each, in different spellings."""
    ages = np.random.default_rng(2).integers(20, 30, rows).tolist()
    return pa.table({"age": ages, "who": [f"p{one // 3}{' ' * (one % 3)}" for one in range(rows)]})


def test_classes_of_persons_in_several_spellings_are_those_of_the_local_engine(cluster, tmp_path):
    made = both(cluster, people(), k=4, **BY_PERSON)
    assert rows_of(made.local) == sorted(map(tuple, made.spark.table.collect()), key=repr)
    assert measured(made.spark) == measured(made.local)
    assert refused({"age": [1] * 6, "who": SPELT}, tmp_path, k=4, **BY_PERSON) == ["R002"]


@pytest.mark.nightly
def test_samples_of_persons_in_several_spellings_are_those_of_the_local_engine(cluster):
    asked = {"method": "masking", "insensitive": ["age"], "sampleShare": 0.5, "privacyUnit": "who"}
    made = both(cluster, people(), key=b"k" * 32, **asked)
    assert rows_of(made.local) == sorted(map(tuple, made.spark.table.collect()), key=repr)
    assert made.spark.certificate.sample == made.local.certificate.sample
    assert made.local.certificate.rows_out % 3 == 0  # all rows of a person, or none


def test_persons_in_several_spellings_are_counted_once_in_statistics_of_a_cluster(cluster):
    step, table = step_of(UNITS, ROWS), visits(*[(who, "f", 1) for who in SPELT])
    frame = cluster.spark.createDataFrame(table).repartition(3)
    on_cluster = tally_frame(frame, step, None, SECRET)
    here = tally_table(table, step, None, SECRET)
    assert list(on_cluster.units) == list(here.units) == [3]
    assert [[*map(int, one)] for one in on_cluster.sums] == [[*map(int, one)] for one in here.sums]
