"""What the driver decides: which columns it counts, which it cuts at quantiles, what it refuses."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from applying import asking
from building import DATASET

from policy_engine import SparkEngine, apply_policy
from policy_engine.engines.spark import coded_frames
from policy_engine.errors import DataError
from policy_engine.kernels import summary

pytestmark = pytest.mark.usefixtures("few_rows")
DIVERSE = {"method": "l-diversity", "k": 4, "l": 2, "sensitive": ["ill"]}


@pytest.fixture
def engine(spark, monkeypatch):
    monkeypatch.setattr(coded_frames, "WORTH_SHARING", 200)
    return SparkEngine(spark, is_checked=True)


def table(rows=2_000):
    draw = np.random.default_rng(5)
    where = draw.normal(size=rows).round(3)
    return pa.table(
        {
            "where": pa.array(np.where(draw.random(rows) < 0.02, np.nan, where), from_pandas=True),
            "age": draw.integers(0, 60, rows),
            "ill": draw.choice(["flu", "cold", "none"], rows),
        }
    )


def losses(release):
    return release.certificate.utility.global_certainty_penalty


@pytest.mark.nightly
def test_columns_of_more_values_than_the_driver_holds_are_first_cut_at_quantiles(engine):
    rows, policy = table(), asking(quasi=["where", "age"], **DIVERSE)
    few = replace(engine, most_values=500)
    release = apply_policy(policy, {DATASET: engine.session.createDataFrame(rows)}, engine=few)
    assert release.certificate.approximated == ("where",)
    assert release.certificate.holds
    assert losses(release) < 1.2 * losses(apply_policy(policy, {DATASET: rows}))


@pytest.mark.nightly
def test_columns_of_more_values_than_a_brief_holds_are_first_cut_at_quantiles(engine, monkeypatch):
    monkeypatch.setattr(summary, "_MOST_CELLS", 3_000)
    monkeypatch.setattr(coded_frames, "PARTS", 80)
    monkeypatch.setattr(coded_frames, "WORTH_SHARING", 900)  # a few jobs of Spark are enough
    rows, policy = table(), asking(quasi=["where", "age"], **DIVERSE)
    release = apply_policy(policy, {DATASET: engine.session.createDataFrame(rows)}, engine=engine)
    assert release.certificate.approximated == ("where",)
    assert release.certificate.holds
    assert losses(release) < 1.2 * losses(apply_policy(policy, {DATASET: rows}))


@pytest.mark.nightly
def test_a_table_that_one_task_holds_is_cut_exactly_whatever_its_values(engine):
    rows, policy = table(150), asking(quasi=["where", "age"], **DIVERSE)
    few = replace(engine, most_values=80)
    release = apply_policy(policy, {DATASET: engine.session.createDataFrame(rows)}, engine=few)
    assert release.certificate.approximated == ()
    assert losses(release) == losses(apply_policy(policy, {DATASET: rows}))


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("quasi", "sensitive"),
    [
        pytest.param(["age"], "where", marks=pytest.mark.nightly),
        pytest.param(["name"], "ill", marks=pytest.mark.nightly),
        (["name", "where"], "ill"),
    ],
)
def test_too_many_values_that_cannot_be_cut_at_quantiles_are_refused(engine, quasi, sensitive):
    rows = table().append_column("name", pa.array([f"n{number % 900}" for number in range(2_000)]))
    few = replace(engine, most_values=500)
    policy = asking(**{**DIVERSE, "quasi": quasi, "sensitive": [sensitive]})
    with pytest.raises(DataError, match="R011"):
        apply_policy(policy, {DATASET: engine.session.createDataFrame(rows)}, engine=few)


def test_a_frame_without_rows_is_refused(engine):
    frame = engine.session.createDataFrame(table()).where("age > 1000")
    with pytest.raises(DataError, match="R001"):
        apply_policy(asking(quasi=["age"], **DIVERSE), {DATASET: frame}, engine=engine)
