"""Classes by microaggregation: on Spark the rows of the local engine."""

from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from applying import asking
from both import both, check_same
from building import DATASET, column
from everyday import everyday

from policy_engine import apply_policy, certify_output
from policy_engine.engines import microaggregating
from policy_engine.engines.spark import anonymizing
from policy_engine.engines.spark.near_parts import first_parts

pytestmark = pytest.mark.usefixtures("few_rows")

PARTITIONS = everyday((1, 3, 8), 3)
KEY = b"k" * 32
ASKED = {"method": "k-anonymity", "k": 3, "algorithm": "microaggregation", "key": KEY}
QUASI = ["age", "job", "since"]


@pytest.fixture(autouse=True)
def small_blocks():
    """Let blocks have 30 rows, so that a small table has many; count the parts that Spark cut."""
    parts = []

    def counting(*arguments, **named):
        nodes = first_parts(*arguments, **named)
        parts.append(len(nodes.rows))
        return nodes

    with (
        patch.object(microaggregating, "default_block_size", lambda *_: 30),
        patch.object(anonymizing, "first_parts", counting),
    ):
        yield parts


def people(rows=400):
    """Return rows with ties, missing values and rows that are equal in every column."""
    random = np.random.default_rng(5)
    age = random.lognormal(3.5, 0.4, rows).astype(int)
    since = pa.array(np.repeat(random.integers(0, 9000, rows // 2), 2), pa.int32())
    return pa.table(
        {
            "age": pa.array(age, mask=np.arange(rows) % 11 == 3),
            "job": random.choice(["a", "b", "c"], rows, p=[0.6, 0.3, 0.1]),
            "since": since.cast(pa.date32()),
            "ill": random.choice(["cold", "flu", "hiv"], rows, p=[0.5, 0.3, 0.2]),
            "who": random.integers(0, rows // 2, rows),
        }
    )


MODELS = [
    {},
    {"insensitive": ["ill", "who"]},
    {"method": "l-diversity", "l": 2, "sensitive": ["ill"]},
    {"method": "t-closeness", "t": 0.3, "sensitive": ["ill"]},
    {"method": "delta-disclosure", "delta": 1.5, "sensitive": ["ill"]},
    {"privacyUnit": "who"},
    {"method": "l-diversity", "l": 2, "sensitive": ["ill"], "privacyUnit": "who"},
]


@pytest.mark.nightly
@pytest.mark.parametrize("partitions", PARTITIONS)
@pytest.mark.parametrize(
    "model",
    everyday(MODELS, MODELS[6]),
    ids=lambda model: "-".join(map(str, model)) or "k",
)
def test_the_rows_are_those_of_the_local_engine(cluster, small_blocks, model, partitions):
    runs = both(cluster, people(130), partitions, 60, quasi=QUASI, **{**ASKED, **model})
    check_same(runs)
    assert small_blocks[0] > 2
    assert runs.local.certificate.utility.classes > 5


@pytest.mark.nightly
def test_a_part_that_does_not_hold_alone_is_not_cut_off(cluster, small_blocks):
    # All who are young have one disease: only beside others are they diverse.
    table = {"age": np.arange(100), "ill": np.where(np.arange(100) < 30, "cold", "flu")}
    table["ill"][50::7] = "hiv"
    asked = {**ASKED, "method": "l-diversity", "l": 2}
    check_same(both(cluster, table, 3, 40, quasi=["age"], sensitive=["ill"], **asked))
    assert small_blocks[0] > 1


@pytest.mark.nightly
def test_classes_with_equal_cells_that_break_a_bound_together_are_formed_in_one_task(cluster):
    table = {"job": people()["job"], "ill": people()["ill"]}
    asked = {**ASKED, "method": "delta-disclosure", "delta": 0.05}
    check_same(both(cluster, table, 3, 60, quasi=["job"], sensitive=["ill"], **asked))


@pytest.mark.nightly
def test_the_rows_of_a_file_are_those_of_the_local_engine(cluster, tmp_path):
    pacsv.write_csv(people(), tmp_path / "people.csv")
    quasi = [column("age", generalization="median"), "job", column("since", weight=2)]
    asked = {**ASKED, "insensitive": ["ill", "who"]}
    runs = both(cluster, tmp_path / "people.csv", limit=60, quasi=quasi, **asked)
    check_same(runs)


@pytest.mark.nightly
def test_means_are_numbers_as_on_the_local_engine(cluster):
    table = {"age": list(range(90)), "pay": [one / 4 for one in range(90)]}
    runs = both(cluster, table, 3, 30, quasi=["age", "pay"], **ASKED)
    check_same(runs)
    assert dict(runs.spark.table.dtypes)["pay"] == "double"


@pytest.mark.nightly
def test_one_class_of_long_numbers_loses_all_variance(cluster):
    # As hundredths, the three add up to 9e18, and twice as many to more than 64 bits.
    numbers = [29 * 10**15, 30 * 10**15, 30 * 10**15 - 2]
    runs = both(cluster, {"pay": numbers}, 3, 30, quasi=["pay"], **ASKED)
    check_same(runs)
    for one in (runs.local, runs.spark):
        assert one.certificate.class_figures.information_loss == 100


@pytest.mark.nightly
def test_means_that_one_value_dominates_are_doubted_as_on_the_local_engine(cluster):
    ages = [*range(1, 90), 10_000]
    table = {"debt": range(-9, 81), "age": ages, "pay": ages[::-1]}
    runs = both(cluster, table, 3, 30, quasi=list(table), **ASKED)
    assert len(runs.local.release.doubts) == 3
    assert runs.spark.release.doubts == runs.local.release.doubts
    check_same(runs)


@pytest.mark.nightly
def test_figures_of_classes_are_made_again_from_the_data(cluster, tmp_path):
    pacsv.write_csv(people(), tmp_path / "people.csv")
    asked = {name: value for name, value in ASKED.items() if name != "key"}
    policy, given = asking(quasi=QUASI, **asked), {DATASET: tmp_path / "people.csv"}
    made = apply_policy(policy, given, tmp_path / "out" / "out.csv", engine=cluster)
    again = certify_output(made.path, policy, given, engine=cluster)
    assert again.class_figures == made.certificate.class_figures
    local = apply_policy(policy, given)
    assert local.certificate.class_figures == again.class_figures
