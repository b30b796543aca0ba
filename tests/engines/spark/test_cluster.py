"""A run on a cluster of several processes that lose executors comes to the same release."""

import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from applying import asking
from both import check_same_figures, rows_of
from building import DATASET
from standalone import cluster

from policy_engine import apply_policy
from policy_engine.certificate.beside import load_certificate
from policy_engine.release.staging import CERTIFICATE

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("java")]

ASKED = {"method": "l-diversity", "k": 5, "l": 2, "quasi": ["age", "zip"], "sensitive": ["income"]}
ROWS, FILES = 100_000, 4
JOB = """
import sys, time
from policy_engine import SparkEngine, apply_policy

def told(stage, done, total):
    print(stage, time.time(), flush=True)

master, policy, iri, data, output = sys.argv[1:]
engine = SparkEngine(master=master, conf={"spark.executor.memory": "512m"}, rows_per_task=20_000)
apply_policy(policy, {iri: data}, output, progress=told, engine=engine)
"""


@pytest.fixture(scope="module")
def running():
    with cluster(workers=2) as started:
        yield started


@pytest.fixture(scope="module")
def people():
    random = np.random.default_rng(1)
    columns = {"age": 18 + random.integers(0, 70, ROWS), "income": random.integers(0, 40, ROWS)}
    zips = random.integers(0, 400, ROWS)
    return pa.table({**columns, "zip": [f"{number:05}" for number in zips]})


@pytest.fixture(scope="module")
def expected(people):
    return apply_policy(asking(**ASKED), {DATASET: people})


@pytest.mark.nightly
@pytest.mark.parametrize("stage", ["cutting", "writing"])
def test_a_run_that_loses_an_executor_gives_the_rows_of_the_local_engine(
    stage, people, expected, running, tmp_path
):
    output = tmp_path / "out" / "anonymous.parquet"
    killed, told = submitted(running, stage, written(people, tmp_path), output)
    assert told[stage] < killed < told["verifying"]
    assert rows_of(pa.parquet.read_table(output)) == rows_of(expected.table)
    check_same_figures(load_certificate(output.parent / CERTIFICATE), expected.certificate)
    assert sorted(path.name for path in output.parent.iterdir()) == [output.name, CERTIFICATE]


def written(people, folder):
    """Return a folder with a table in several files, and a policy beside it."""
    (folder / "people.parquet").mkdir()
    for number in range(FILES):
        part = people.slice(number * ROWS // FILES, ROWS // FILES)
        pa.parquet.write_table(part, folder / "people.parquet" / f"{number}.parquet")
    (folder / "policy.jsonld").write_text(asking(**ASKED))
    return folder


def submitted(running, stage, folder, output):
    """Run the job, and kill an executor as soon as a stage has been under way for a moment.

    Returns when it was killed, and when each stage was first told of.
    """
    places = [str(folder / "policy.jsonld"), DATASET, str(folder / "people.parquet"), str(output)]
    command = [sys.executable, "-c", JOB, running.url, *places]
    killed, told = None, {}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        for line in process.stdout:
            said, moment = line.split()
            told.setdefault(said, float(moment))
            if said == stage and not killed:
                time.sleep(0.3)
                running.kill_executor(0)
                killed = time.time()
        assert process.stderr.read() == ""
    assert process.returncode == 0
    return killed, told
