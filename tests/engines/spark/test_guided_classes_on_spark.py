"""Accuracy-guided classes: on Spark the rows of the local engine, on any number of partitions."""

import datetime as dt
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from both import both, check_same, frame_of, released
from building import DATASET, column
from everyday import everyday

from policy_engine.engines.guided_classes import ALREADY
from policy_engine.engines.spark import guided_frames
from policy_engine.engines.spark.guided_nodes import first_guided_cuts
from policy_engine.errors import DataError

pytestmark = pytest.mark.usefixtures("few_rows")

PARTITIONS = everyday((1, 3, 8), 3)
GUIDED = {
    "method": "k-anonymity",
    "k": 3,
    "algorithm": "accuracy-guided",
    "label": f"{DATASET}/buys",
}
BY_COLUMN = {**GUIDED, "guide": f"{DATASET}/score"}
QUASI = ["age", "job", "pay"]


@pytest.fixture(autouse=True)
def far_nodes():
    """Tell into how many nodes Spark cut tables from afar."""
    counts = []

    def counting(*arguments, **named):
        made = first_guided_cuts(*arguments, **named)
        counts.append(len(made.nodes.rows))
        return made

    with patch.object(guided_frames, "first_guided_cuts", counting):
        yield counts


def people(rows=300):
    """Return rows with ties, missing values and rows that are equal in every column."""
    draw = np.random.default_rng(5)
    age = np.repeat(draw.integers(18, 80, rows // 2), 2)
    job = draw.choice(["a", "b", "c", "d"], rows, p=[0.5, 0.3, 0.1, 0.1])
    score = np.clip((age - 18) / 62 + (job == "b") * 0.2 + draw.normal(0, 0.1, rows), 0, 1)
    return pa.table(
        {
            "age": pa.array(age, pa.int16(), mask=np.arange(rows) % 11 == 3),
            "job": job,
            "pay": draw.integers(0, 9, rows) / 4 - 1,
            "score": np.where(draw.random(rows) < 0.02, -0.0, score.round(2)),
            "buys": np.where(draw.random(rows) < score, "yes", "no"),
            "ill": draw.choice(["cold", "flu", "hiv"], rows, p=[0.5, 0.3, 0.2]),
            "who": draw.integers(0, rows // 2, rows),
        }
    )


MODELS = [
    {},
    {"representative": "cell"},
    {"insensitive": ["ill", "who", "score"], "guide": f"{DATASET}/ill"},
    {"method": "t-closeness", "t": 0.3, "sensitive": ["ill"]},
    {"method": "delta-disclosure", "delta": 1.5, "sensitive": ["ill"], "representative": "cell"},
    {"privacyUnit": "who", "representative": "nearest"},
    {"method": "l-diversity", "l": 2, "sensitive": ["buys"], "privacyUnit": "who"},
]


@pytest.mark.nightly
@pytest.mark.parametrize("partitions", PARTITIONS)
@pytest.mark.parametrize(
    "model", everyday(MODELS, MODELS[6]), ids=lambda model: "-".join(map(str, model)) or "k"
)
def test_the_rows_are_those_of_the_local_engine(cluster, far_nodes, model, partitions):
    runs = both(cluster, people(), partitions, 60, quasi=QUASI, **{**BY_COLUMN, **model})
    check_same(runs)
    assert runs.spark.release.doubts == runs.local.release.doubts
    assert far_nodes[0] > 2
    assert runs.local.certificate.utility.classes > 5


@pytest.mark.nightly
def test_a_teacher_on_the_driver_guides_them_as_on_the_local_engine(cluster, far_nodes):
    # Rows stand for their classes: by the labels of the class, and the spread of the whole table.
    runs = both(cluster, people(), 3, 60, quasi=QUASI, representative="nearest", **GUIDED)
    check_same(runs)
    assert far_nodes[0] > 2


GUIDED_CASES = [(parts, number) for parts in (GUIDED, BY_COLUMN) for number in (1, 8)]


@pytest.mark.nightly
@pytest.mark.parametrize("case", everyday(GUIDED_CASES, (GUIDED, 8)))
def test_classes_that_are_diverse_do_not_depend_on_partitions(cluster, far_nodes, case):
    asked, partitions = case
    diverse = {**asked, "method": "l-diversity", "l": 2, "sensitive": ["ill", "buys"]}
    runs = both(cluster, people(), partitions, 60, quasi=QUASI, **diverse)
    check_same(runs)
    assert far_nodes[0] > 1
    found = {(one.bound, one.column): one for one in runs.spark.certificate.measurements}
    assert found.keys() == {("k", ""), ("l", "ill"), ("l", "buys")}
    assert found["k", ""].achieved >= 3
    assert found["l", "buys"].achieved == 2
    assert runs.spark.certificate.label_figures == runs.local.certificate.label_figures


@pytest.mark.nightly
@pytest.mark.parametrize(
    "guide",
    [
        {"guideLabels": "hard"},
        {"guide": "LogisticRegression", "quasi": ["job", "pay"]},
        {"label": f"{DATASET}/pay", "quasi": ["age", "job"]},
        {"label": f"{DATASET}/pay", "quasi": ["age", "job"], "guide": f"{DATASET}/score"},
    ],
    ids=("hard", "described", "regression", "scores"),
)
def test_every_teacher_guides_them_as_on_the_local_engine(cluster, guide):
    check_same(both(cluster, people(), 3, 60, **{"quasi": QUASI, **GUIDED, **guide}))


@pytest.mark.nightly
def test_a_table_that_is_anonymous_already_is_left_as_it_is(cluster, far_nodes):
    table = {
        "age": [20] * 4 + [60] * 4 + [None] * 4,
        "job": ["a", "b"] * 6,
        "score": [one / 12 for one in range(12)],
        "buys": ["no", "no", "yes", "yes"] * 3,
    }
    asked = {**BY_COLUMN, "method": "l-diversity", "l": 2, "k": 2}
    runs = both(cluster, table, 3, 4, quasi=["age", "job"], sensitive=["buys"], **asked)
    check_same(runs)
    assert runs.spark.release.doubts == (ALREADY,)
    assert not far_nodes


@pytest.mark.nightly
@pytest.mark.parametrize("times", [1, 3])
def test_values_that_stand_for_classes_have_the_type_of_the_input(cluster, times):
    # Three times the same rows are anonymous already.
    day, rows = dt.datetime(2020, 2, 28), np.repeat(np.arange(60), times).tolist()  # noqa: DTZ001
    table = {
        "since": pa.array([(day + dt.timedelta(row)).date() for row in rows]),
        "seen": pa.array([day + dt.timedelta(hours=row) for row in rows], pa.timestamp("us")),
        "sent": pa.array([day + dt.timedelta(0, row) for row in rows], pa.timestamp("us", "UTC")),
        "here": [row % 2 == 0 for row in rows],
        "rate": pa.array([row / 8 for row in rows], pa.float32()),
        "score": [row / 60 for row in rows],
        "buys": [str(row > 30) for row in rows],
    }
    runs = both(cluster, table, 3, 20, quasi=["since", "seen", "sent", "here", "rate"], **BY_COLUMN)
    check_same(runs)
    assert (ALREADY in runs.spark.release.doubts) == (times == 3)
    assert runs.spark.table.schema["since"].dataType.typeName() == "date"


@pytest.mark.nightly
def test_a_table_that_is_as_large_but_not_as_diverse_as_asked_is_cut(cluster, far_nodes):
    table = {
        "age": [20] * 4 + [60] * 4,
        "score": [0.1, 0.9] * 4,
        "buys": ["no"] * 4 + ["no", "no", "yes", "yes"],
    }
    asked = {**BY_COLUMN, "method": "l-diversity", "l": 2, "k": 2}
    check_same(both(cluster, table, 3, 4, quasi=["age"], sensitive=["buys"], **asked))
    assert far_nodes


@pytest.mark.nightly
def test_classes_with_equal_cells_that_break_a_bound_together_are_formed_in_one_task(cluster):
    # As one class in the output, some persons have both values and hide no one's.
    table = {
        "person": ["a", "b", "c", "d", "a", "b", "c", "d", "e", "f", "g", "h"],
        "age": [30, 31, 31, 32, 31, 31, 30, 33, 50, 51, 51, 52],
        "job": ["x", "x", "x", "x", "y", "x", "x", "y", "z", "z", "z", "z"],
        "score": [0.1] * 4 + [0.9] * 4 + [0.5] * 4,
        "buys": ["no", "no", "yes", "yes", "yes", "yes", "no", "no", *["no", "yes"] * 2],
    }
    asked = {**BY_COLUMN, "method": "l-diversity", "l": 2, "k": 4, "privacyUnit": "person"}
    check_same(both(cluster, table, 3, 4, quasi=["age", "job"], sensitive=["buys"], **asked))


@pytest.mark.nightly
def test_ends_of_ranges_keep_every_bound_too(cluster):
    table = {
        "age": [None, 1, None, 1, 5, 5, 5, 5],
        "score": [0.1, 0.1, 0.1, 0.1, 0.9, 0.9, 0.9, 0.9],
        "buys": ["no", "yes", "no", "yes", "no", "no", "yes", "no"],
    }
    asked = {**BY_COLUMN, "method": "delta-disclosure", "delta": 2.0, "representative": "cell"}
    quasi = ["age"]
    check_same(both(cluster, table, 3, 4, quasi=quasi, sensitive=["buys"], cells="bounds", **asked))


@pytest.mark.nightly
@pytest.mark.parametrize("score", [[0.5] * 8, [0.1, 0.9] * 4, [0.1, 0.9, 0.2, 0.8] * 2])
@pytest.mark.parametrize("k", [4, 5])
def test_what_does_not_guide_is_doubted_as_on_the_local_engine(cluster, score, k):
    table = {"age": [1, 2, 3, 4, 5, 6, 7, 8], "score": score, "buys": ["no", "yes"] * 4}
    runs = both(cluster, table, 3, 4, quasi=["age"], **{**BY_COLUMN, "k": k})
    check_same(runs)
    assert runs.spark.release.doubts == runs.local.release.doubts


@pytest.mark.nightly
def test_the_rows_of_a_file_are_those_of_the_local_engine(cluster, tmp_path):
    pacsv.write_csv(people(), tmp_path / "people.csv")
    quasi = ["age", column("job", weight=2), "pay"]
    asked = {**GUIDED, "insensitive": ["ill", "who"], "representative": "nearest"}
    check_same(both(cluster, tmp_path / "people.csv", limit=60, quasi=quasi, **asked))


@pytest.mark.nightly
def test_a_driver_that_would_hold_too_much_says_what_guides_instead(cluster):
    frame = frame_of(cluster.spark, people(60))
    for asked, code, match in ((GUIDED, "R018", "60 rows"), (BY_COLUMN, "R011", "Round")):
        small = replace(cluster, most_linked=59, most_values=5)
        with pytest.raises(DataError) as refused:
            released(small, frame, quasi=QUASI, **asked)
        [problem] = refused.value.problems
        assert problem.code == code
        assert match in f"{problem.message} {problem.hint}"
