"""Spark tells the same risks of classes of tables with more rows than its driver holds."""

import numpy as np
import pandas as pd
import pytest
from applying import asking
from building import DATASET

from policy_engine import apply_policy, audit_disclosure
from policy_engine.engines.spark.engine import SparkEngine
from policy_engine.errors import DataError, PlanError

pytestmark = pytest.mark.usefixtures("few_rows")
KNOWN = ["age", "city"]


@pytest.fixture
def files(tmp_path):
    random = np.random.default_rng(9)
    everybody = pd.DataFrame(
        {
            "age": random.integers(20, 50, 400),
            "city": random.choice(["Bern", "Oslo", None], 400),
            "weight": random.choice([1.5, 2.25, 0.1], 400),
        }
    )
    everybody.to_csv(tmp_path / "everybody.csv", index=False)
    everybody.iloc[::2].to_csv(tmp_path / "in.csv", index=False)
    everybody.iloc[::2].to_parquet(tmp_path / "in.parquet", index=False)
    return tmp_path


def both(spark, original, release, **asked):
    local = audit_disclosure(original, release, **asked)
    counting = SparkEngine(spark, most_linked=0)
    return local, audit_disclosure(original, release, engine=counting, **asked)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_of_any_tool_have_the_same_risks(spark, files, kind):
    table = files / f"in.{kind}"
    asked = {"known": KNOWN, "weights": "weight", "population": files / "everybody.csv"}
    local, cluster = both(spark, table, table, **asked)
    assert cluster.risks == tuple(one for one in local.risks if not one.column)
    assert cluster.distributions == local.distributions
    assert {"k-map", "individual-mean"} <= {one.measure for one in cluster.risks}
    assert (cluster.rows, cluster.released) == (local.rows, local.released)
    reasons = {one.reason for one in cluster.not_run}
    assert reasons == {"the tables have 800 rows, and the driver holds 0"}


@pytest.mark.nightly
def test_generalised_cells_have_the_same_risks(spark, files):
    policy = asking(method="k-anonymity", k=5, quasi=KNOWN)
    release = apply_policy(policy, {DATASET: files / "in.csv"}, files / "out" / "a.csv").path
    asked = {"population": files / "everybody.csv"}
    local, cluster = both(spark, files / "in.csv", release, **asked)
    assert cluster.risks == local.risks
    assert cluster.known == local.known


@pytest.mark.nightly
def test_a_population_without_the_release_is_refused(spark, files):
    with pytest.raises(DataError, match="A024 The population does not contain the release"):
        audit_disclosure(
            files / "everybody.csv",
            files / "everybody.csv",
            known=KNOWN,
            population=files / "in.csv",
            engine=SparkEngine(spark),
        )


@pytest.mark.nightly
def test_columns_that_are_missing_are_named(spark, files):
    with pytest.raises(DataError, match="C005"):
        audit_disclosure(
            files / "in.csv", files / "in.csv", known=["agee"], engine=SparkEngine(spark)
        )


def test_what_a_cluster_does_not_do_is_refused_before_it_is_started(files):
    table = files / "in.csv"
    with pytest.raises(PlanError) as error:
        audit_disclosure(table, table, engine="spark", holdout=table, also=[table])
    assert [one.code for one in error.value.problems] == ["M009", "M009"]
