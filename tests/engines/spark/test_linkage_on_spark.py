"""Spark links the same persons as the local engine, in any number of partitions and tasks."""

import numpy as np
import pandas as pd
import pytest
from applying import asking
from building import DATASET, column
from everyday import everyday

from policy_engine import apply_policy, audit_disclosure
from policy_engine.engines.spark import linking
from policy_engine.engines.spark.engine import SparkEngine
from policy_engine.engines.spark.linking import search_on_cluster
from policy_engine.errors import DataError
from policy_engine.kernels.linkage import links, plant

pytestmark = pytest.mark.usefixtures("few_rows")
ROWS = 120
KEY = b"k" * 32
IN_PARTS = ("distance", "probabilistic", "intersection", "likelihood")
ATTACKS = [f"{name}-linkage" for name in IN_PARTS]
MASKED = [
    column("pay", masking="rank-swapping", p=0.2),
    column("cap", masking="rank-swapping", p=0.1),
    column("job", masking="pram", keep=0.6),
]


@pytest.fixture
def people(tmp_path):
    """A table whose file is named as its folder of several files."""
    random = np.random.default_rng(4)
    table = pd.DataFrame(
        {
            "id": [f"p{row}" for row in range(ROWS)],
            "pay": random.permutation(ROWS) * 10 + 1000,
            "cap": random.normal(size=ROWS).round(3),
            "job": random.choice(["cook", "nurse", "clerk"], ROWS),
        }
    )
    table.to_parquet(tmp_path / "in.parquet", index=False)
    return table


def on_cluster(spark, tmp_path, partitions, people):
    """Return the folder of a table in a number of files, in another order."""
    folder = tmp_path / f"in {partitions}" / "in.parquet"
    frame = spark.createDataFrame(people.sample(frac=1, random_state=partitions))
    frame.repartition(partitions).write.parquet(str(folder))
    return folder


BY_MODEL = ("likelihood-linkage",)


@pytest.mark.nightly
@pytest.mark.parametrize("attacks", everyday(((*ATTACKS,), BY_MODEL), BY_MODEL), ids=len)
@pytest.mark.parametrize("partitions", everyday((1, 3, 8), 3))
def test_attacks_on_masked_columns_reach_the_same(spark, people, tmp_path, partitions, attacks):
    masked = [MASKED[0], MASKED[2]]
    policy = asking(method="masking", masked=masked, insensitive=["id", "cap"])
    data, out = {DATASET: tmp_path / "in.parquet"}, tmp_path / "out" / "a.parquet"
    release = apply_policy(policy, data, out, key=KEY).path
    folder = on_cluster(spark, tmp_path, partitions, people)
    # As many tasks as partitions, or more: at most so many persons in each.
    engine = SparkEngine(spark, rows_per_task=-(-ROWS // partitions) - 1)
    asked = {"match": ["id"], "attacks": attacks}
    local = audit_disclosure(tmp_path / "in.parquet", release, **asked)
    assert audit_disclosure(folder, release, engine=engine, **asked) == local
    made = [(one.attack, one.linked.value > 0) for one in local.attacks if len(one.known) == 2]
    assert made == [(name, True) for name in attacks if name != "intersection-linkage"]


# The others reach the same on numbers of other tools, and beside categories.
BY_NUMBERS = (("intersection-linkage",), (*ATTACKS,))


@pytest.mark.nightly
@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("attacks", everyday(BY_NUMBERS, BY_NUMBERS[0]), ids=len)
def test_attacks_by_numbers_alone_reach_the_same(spark, tmp_path, attacks):
    policy = asking(method="masking", masked=MASKED[:2], insensitive=["id", "job"])
    data, out = {DATASET: tmp_path / "in.parquet"}, tmp_path / "out" / "a.parquet"
    release = apply_policy(policy, data, out, key=KEY).path
    local = audit_disclosure(tmp_path / "in.parquet", release, attacks=attacks)
    engine = SparkEngine(spark, rows_per_task=17)
    found = audit_disclosure(tmp_path / "in.parquet", release, attacks=attacks, engine=engine)
    assert found == local
    assert {one.attack for one in found.attacks} == {*attacks}


@pytest.mark.nightly
def test_files_of_other_tools_have_the_same_figures(spark, people, tmp_path):
    masked = people.assign(pay=people.pay + people.id.str.len() * 7, cap=people.cap.round(1))
    people.to_csv(tmp_path / "in.csv", index=False)
    masked.drop(columns="job").to_csv(tmp_path / "out.csv", index=False)
    files = tmp_path / "in.csv", tmp_path / "out.csv"
    asked = {"known": ["pay", "cap"], "match": ["id"], "attacks": ATTACKS}
    local = audit_disclosure(*files, **asked)
    assert audit_disclosure(*files, engine=SparkEngine(spark, rows_per_task=50), **asked) == local
    assert "interval-disclosure" in {one.measure for one in local.risks}


@pytest.mark.nightly
def test_classes_and_what_is_learned_of_them_are_the_same(spark, people, tmp_path):
    policy = asking(method="k-anonymity", k=5, quasi=["pay", "cap"], sensitive=["job"])
    data, out = {DATASET: tmp_path / "in.parquet"}, tmp_path / "out" / "a.csv"
    release = apply_policy(policy, data, out).path
    people.drop(columns="job").to_csv(tmp_path / "everybody.csv", index=False)
    files = tmp_path / "in.parquet", release
    asked = {"population": tmp_path / "everybody.csv", "attacks": ATTACKS}
    local = audit_disclosure(*files, **asked)
    assert audit_disclosure(*files, engine=SparkEngine(spark), **asked) == local
    assert {"homogeneity", "k-map"} <= {one.measure for one in local.risks}


def test_every_column_that_is_missing_is_named(spark, people, tmp_path):
    people.drop(columns="job").to_csv(tmp_path / "out.csv", index=False)
    with pytest.raises(DataError) as error:
        audit_disclosure(
            tmp_path / "in.parquet",
            tmp_path / "out.csv",
            known=["job", "pai"],
            match=["id"],
            engine=SparkEngine(spark),
        )
    assert [one.code for one in error.value.problems] == ["C005"] * 3


@pytest.mark.nightly
@pytest.mark.parametrize("most_of_a_task", [1, 1 << 20])
def test_persons_are_divided_among_tasks_and_jobs(spark, monkeypatch, most_of_a_task):
    monkeypatch.setattr(linking, "_MOST_OF_A_TASK", most_of_a_task)
    monkeypatch.setattr(linking, "_MOST_OF_A_JOB", 5 * 24)
    known = np.random.default_rng(2).integers(0, 5, (12, 2)).astype(float)
    tree, own = plant(known[2:]), np.arange(12) - 2
    own[:2] = -1
    search = search_on_cluster(SparkEngine(spark, rows_per_task=3))
    assert links(tree, known, own, search=search).tolist() == links(tree, known, own).tolist()
