"""What classes disclose of a label, as every engine measures it on what was written."""

from dataclasses import replace

import pyarrow as pa
import pytest
from building import DATASET, OUTPUT, anonymize, permission, policy

from policy_engine.engines.engine import StoredData, WrittenTable
from policy_engine.engines.local import LocalEngine
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.label_disclosure import LabelDisclosure
from policy_engine.plan.making import make_plan
from policy_engine.policy import read_policy

CLASSES = {
    "age": [30, 30, 30, 50, 50, 70, 70, 70],
    "city": ["Rome"] * 3 + ["Oslo"] * 5,
    "label": ["b", "b", "b", "a", "b", None, None, "a"],
}


def step_of(label="label", method="k-anonymity", **parts):
    action = anonymize(
        method=method,
        k=2,
        algorithm="accuracy-guided",
        quasi=["age", "city"],
        label=f"{DATASET}/{label}",
        **parts,
    )
    plan = make_plan(read_policy(policy([permission(action=action, output=OUTPUT)])))
    return plan.anonymize


def in_file(table, folder, name="out.csv"):
    """Return a table as it was written to a file."""
    from pyarrow import csv, parquet

    path = folder / name
    write = csv.write_csv if path.suffix == ".csv" else parquet.write_table
    write(pa.table(table), path)
    return WrittenTable(StoredData.from_file(path))


@pytest.fixture(params=["local", "spark"])
def measure(request, tmp_path):
    """Return a function that measures what the classes of a file disclose, by every engine."""

    def measured(table, name="out.csv", **parts):
        written = in_file(table, tmp_path, name)
        if request.param == "local":
            return LocalEngine().measure(written, step_of(**parts)).label
        from policy_engine.engines.spark.run import SparkRun

        cluster = request.getfixturevalue("cluster")
        return SparkRun(cluster).measure(written, step_of(**parts)).label

    return measured


@pytest.mark.nightly_on_spark
def test_rows_are_counted_class_by_class(measure):
    # Of age and city: three rows of b, two of a and b, three of which two have no label.
    assert measure(CLASSES) == LabelDisclosure(mostly_one=3, all_one=3, by_class=6, overall=4)


@pytest.mark.nightly_on_spark
def test_a_label_of_numbers_is_measured_by_its_value_and_its_variance(measure):
    # 1.0 and 1 are one label; 1, 1 | 3, 5 has the mean 2.5, and 4 of 11 squares within.
    table = {"age": [30, 30, 50, 50], "city": ["Rome"] * 4, "label": ["1.0", "1", "3", "5"]}
    disclosed = measure(table)
    assert (disclosed.all_one, disclosed.by_class, disclosed.overall) == (2, 3, 2)
    assert disclosed.explained == 9 / 11


@pytest.mark.nightly
def test_texts_that_look_like_numbers_are_labels_as_they_are_where_files_have_types(measure):
    table = {"age": [30, 30, 50, 50], "city": ["Rome"] * 4, "label": ["1", "1.0", "1.00", "1.00"]}
    texts, cells = (measure(table, name) for name in ("out.parquet", "out.csv"))
    # Of the first class, one of two is guessed; of the second, both.
    assert texts == LabelDisclosure(mostly_one=2, all_one=2, by_class=3, overall=2)
    # A file of cells does not tell texts from numbers, which are all 1: nothing varies.
    assert cells == LabelDisclosure(mostly_one=4, all_one=4, by_class=4, overall=4)
    # Nor is 01 a number there, but a code.
    assert measure({**table, "label": ["1", "1.0", "01", "01"]}) == texts


@pytest.mark.nightly_on_spark
def test_numbers_are_labels_by_their_value_in_every_file(measure):
    table = {"age": [30, 30, 50, 50], "city": ["Rome"] * 4, "label": [1.0, 1.0, 1.5, 1.5]}
    typed, cells = (measure(table, name) for name in ("out.parquet", "out.csv"))
    assert typed == cells == LabelDisclosure(4, 4, 4, 2, explained=1.0)


@pytest.mark.nightly
def test_a_text_among_numbers_makes_texts_of_all(measure):
    table = {"age": [30, 30, 50, 50], "city": ["Rome"] * 4, "label": ["1.0", "1", "x", "5"]}
    disclosed = measure(table)
    assert (disclosed.all_one, disclosed.overall, disclosed.explained) == (0, 1, None)


def test_dates_are_labels_without_a_variance(measure):
    days = ["2020-01-01", "2020-01-01", "2020-01-02", "2020-01-03"]
    disclosed = measure({"age": [30, 30, 50, 50], "city": ["Rome"] * 4, "label": days})
    assert (disclosed.all_one, disclosed.explained) == (2, None)


@pytest.mark.nightly_on_spark
def test_a_label_is_counted_whatever_its_role_and_beside_bounds_on_values(measure):
    whole = measure(CLASSES)
    assert measure(CLASSES, insensitive=["label"]) == whole
    assert measure(CLASSES, method="l-diversity", l=2) == whole


def test_classes_of_other_algorithms_have_no_label(tmp_path):
    action = anonymize(method="k-anonymity", k=2, quasi=["age", "city"], sensitive=["label"])
    plan = make_plan(read_policy(policy([permission(action=action, output=OUTPUT)])))
    written = in_file(CLASSES, tmp_path)
    assert LocalEngine().measure(written, plan.anonymize).label is None


@pytest.mark.nightly
def test_a_label_of_more_values_than_the_driver_holds_is_not_counted(cluster, tmp_path):
    from policy_engine.engines.spark.run import SparkRun

    run = SparkRun(replace(cluster, most_values=1))
    measured = run.measure(in_file(CLASSES, tmp_path), step_of())
    assert measured.label == NotApplicable(reason="the label has more than 1 values")
    assert measured.rows == 8
