"""Everything works through Spark Connect, where there is no JVM at hand."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from applying import asking
from both import check_same_figures, rows_of
from building import DATASET
from standalone import connect_server

from policy_engine import apply_policy, audit_disclosure
from policy_engine.certificate.beside import load_certificate
from policy_engine.release.staging import CERTIFICATE

ASKED = {
    "method": "l-diversity",
    "k": 5,
    "l": 2,
    "quasi": ["age", "zip"],
    "sensitive": ["illness"],
}
JOB = """
import sys
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from policy_engine import SparkEngine, apply_policy

url, policy, iri, data, from_frame, from_path = sys.argv[1:]
session = SparkSession.builder.remote(url).getOrCreate()
engine = SparkEngine(session=session, rows_per_task=250)

frame = session.createDataFrame(pq.read_table(data)).repartition(3)
release = apply_policy(policy, {iri: frame}, engine=engine)
pq.write_table(release.table.toArrow(), from_frame)
apply_policy(policy, {iri: data}, from_path, engine=engine)
print(type(session).__module__, session.range(3).count())
"""

ATTACK = """
import sys
from pyspark.sql import SparkSession
from policy_engine import SparkEngine, audit_disclosure

url, data = sys.argv[1:]
engine = SparkEngine(session=SparkSession.builder.remote(url).getOrCreate(), rows_per_task=50)
asked = {"known": ["age", "zip"], "match": ["row"], "attacks": ["distance-linkage"]}
print(audit_disclosure(data, data, engine=engine, **asked).model_dump_json())
"""


def people(rows=1_000):
    random = np.random.default_rng(2)
    numbers = random.integers(0, 90, rows)
    zips = [f"{number:05}" for number in random.integers(0, 50, rows)]
    illnesses = np.array(["flu", "cold", "asthma", None], dtype=object)
    return pa.table(
        {"age": numbers, "zip": zips, "illness": illnesses[random.integers(0, 4, rows)]}
    )


@pytest.mark.usefixtures("java")
@pytest.mark.nightly
def test_frames_and_files_give_the_rows_of_the_local_engine_through_spark_connect(tmp_path):
    data, policy = tmp_path / "people.parquet", tmp_path / "policy.jsonld"
    pa.parquet.write_table(people(), data)
    policy.write_text(asking(**ASKED))
    frame, output = tmp_path / "frame.parquet", tmp_path / "out" / "anonymous.parquet"
    with connect_server() as url:
        said = run_job(JOB, url, policy, DATASET, data, frame, output)
    expected = apply_policy(asking(**ASKED), {DATASET: data})
    assert said == "pyspark.sql.connect.session 3\n"
    assert rows_of(pa.parquet.read_table(frame)) == rows_of(expected.table)
    assert rows_of(pa.parquet.read_table(output)) == rows_of(expected.table)
    check_same_figures(load_certificate(output.parent / CERTIFICATE), expected.certificate)
    assert sorted(path.name for path in output.parent.iterdir()) == [output.name, CERTIFICATE]


@pytest.mark.usefixtures("java")
@pytest.mark.nightly
def test_attacks_reach_what_they_do_locally_through_spark_connect(tmp_path):
    data, rows = tmp_path / "people.parquet", people(200)
    pa.parquet.write_table(rows.append_column("row", pa.array(range(200))), data)
    with connect_server() as url:
        said = run_job(ATTACK, url, data)
    asked = {"known": ["age", "zip"], "match": ["row"], "attacks": ["distance-linkage"]}
    assert said == f"{audit_disclosure(data, data, **asked).model_dump_json()}\n"


def run_job(job, *arguments):
    """Run a job in a process without a session of its own; return what it prints."""
    command = [sys.executable, "-W", "ignore::FutureWarning", "-c", job, *map(str, arguments)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)
    assert ran.stderr == ""
    return ran.stdout
