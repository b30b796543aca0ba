"""Values permuted within classes: on Spark the rows of the local engine, on any number of
partitions, and measured there."""

import datetime as dt
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from applying import asking
from both import both, check_same, csv_rows, frame_of, released
from building import DATASET
from everyday import everyday

from policy_engine import certify_output
from policy_engine.engines.spark import anonymizing, run
from policy_engine.engines.spark.permuted_rows import before_column
from policy_engine.errors import CertificateError, DataError, OutputError

pytestmark = pytest.mark.usefixtures("few_rows")

KEY = b"k" * 32
PARTITIONS = everyday((1, 3, 8), 3)
ASKED = {
    "method": "probabilistic-k-anonymity",
    "k": 4,
    "quasi": ["age", "job", "born"],
    "sensitive": ["ill"],
    "insensitive": ["pay", "buys"],
}
GUIDED = {**ASKED, "algorithm": "accuracy-guided", "label": f"{DATASET}/buys"}
BY_COLUMN = {**GUIDED, "guide": f"{DATASET}/score"}
DIVERSE = {
    **ASKED,
    "method": ["probabilistic-k-anonymity", "l-diversity", "delta-disclosure"],
    "l": 2,
    "delta": 2,
}
OF_PERSONS = {**ASKED, "privacyUnit": "who", "quasi": ["age", "job"], "insensitive": ["pay"]}
OF_PERSONS |= {"method": ["probabilistic-k-anonymity", "l-diversity"], "l": 2}


def people(rows=300):
    """Return rows with ties, missing values and rows that are equal in every column."""
    draw = np.random.default_rng(5)
    age = np.repeat(draw.integers(18, 80, rows // 2), 2)
    first = dt.date(1950, 1, 1)
    born = [first + dt.timedelta(int(days)) for days in draw.integers(0, 40, rows)]
    score = np.clip((age - 18) / 62 + draw.normal(0, 0.1, rows), 0, 1).round(2)
    table = pa.table(
        {
            "age": pa.array(age, pa.int16(), mask=np.arange(rows) % 11 == 3),
            "job": draw.choice(["a", "b", "c", "d"], rows, p=[0.5, 0.3, 0.1, 0.1]),
            "born": born,
            "pay": draw.integers(0, 9, rows) / 4 - 1,
            "score": score,
            "buys": np.where(draw.random(rows) < score, "yes", "no"),
            "ill": draw.choice(["cold", "flu", "hiv"], rows, p=[0.5, 0.3, 0.2]),
        }
    )
    return pa.concat_tables([table, table.slice(0, 40)])


def visits(persons=90):
    """Return rows of persons, some of several rows, with one age and job each."""
    draw = np.random.default_rng(8)
    who = np.repeat(np.arange(persons), draw.integers(1, 5, persons))
    return pa.table(
        {
            "who": [f"person {number}" for number in who],
            "age": draw.integers(18, 60, persons)[who],
            "job": draw.choice([*"abcd"], persons)[who],
            "pay": draw.integers(0, 9, len(who)),
            "ill": draw.choice(["cold", "flu", "hiv"], len(who)),
        }
    )


def check_alike(runs):
    check_same(runs)
    local, spark = runs.local.record.moves, runs.spark.record.moves
    assert spark.unmoved == local.unmoved
    assert spark.expected == pytest.approx(local.expected)
    assert runs.spark.release.doubts == runs.local.release.doubts


@pytest.mark.parametrize("partitions", PARTITIONS)
@pytest.mark.parametrize("asked", everyday([ASKED, GUIDED, BY_COLUMN, DIVERSE], ASKED))
def test_both_engines_permute_alike(cluster, partitions, asked):
    runs = both(cluster, people(), partitions, key=KEY, **asked)
    check_alike(runs)
    assert runs.spark.table.toArrow().schema.field("age").type == pa.int16()
    if asked is ASKED:
        assert runs.nodes > 1


GUIDED_CASES = [(parts, number) for parts in (GUIDED, BY_COLUMN) for number in (1, 8)]


@pytest.mark.nightly
@pytest.mark.parametrize("case", everyday(GUIDED_CASES, (BY_COLUMN, 8)))
def test_guided_classes_that_are_diverse_are_permuted_alike(cluster, case):
    asked, partitions = case
    diverse = {**asked, "method": ["probabilistic-k-anonymity", "l-diversity"], "l": 3}
    runs = both(cluster, people(), partitions, 60, key=KEY, **diverse)
    check_alike(runs)
    achieved = {one.bound: one.achieved for one in runs.spark.certificate.measurements}
    assert achieved["linkProbability"] <= 1 / 4
    assert achieved["l"] == 3
    assert runs.spark.certificate.label_figures == runs.local.certificate.label_figures
    # Without the bound there are other classes.
    looser = released("local", people(), key=KEY, **asked)
    assert not looser.table.equals(runs.local.table)


@pytest.mark.nightly
@pytest.mark.parametrize("partitions", PARTITIONS)
def test_persons_are_permuted_alike(cluster, partitions):
    runs = both(cluster, visits(), partitions, limit=20, key=KEY, **OF_PERSONS)
    check_alike(runs)
    assert runs.nodes > 1
    table = visits().set_column(1, "age", pa.array([*range(len(visits()))]))
    with pytest.raises(DataError, match="R020") as raised:
        released(cluster, frame_of(cluster.spark, table), **OF_PERSONS)
    with pytest.raises(DataError) as expected:
        released("local", table, **OF_PERSONS)
    assert str(raised.value) == str(expected.value)


@pytest.mark.nightly
def test_a_table_that_hides_everybody_is_alike(cluster):
    table = people().set_column(0, "age", pa.array([1] * 170 + [2] * 170))
    check_alike(both(cluster, table, 3, key=KEY, **{**BY_COLUMN, "quasi": ["age"]}))


@pytest.mark.nightly
def test_files_of_both_engines_hold_the_same_rows(cluster, tmp_path):
    data = tmp_path / "people.csv"
    pacsv.write_csv(people(), data)
    local, spark = tmp_path / "local" / "o.csv", tmp_path / "spark" / "o.csv"
    for engine, place in (("local", local), (cluster, spark)):
        place.parent.mkdir()
        released(engine, data, place, key=KEY, **ASKED)
    assert csv_rows(spark) == csv_rows(local)
    again = certify_output(spark, asking(**ASKED), {DATASET: data}, key=KEY, engine=cluster)
    assert again.holds
    with pytest.raises(DataError, match="V006"):
        certify_output(spark, asking(**ASKED), engine=cluster)


def changed_by(change):
    """Let what Spark has permuted be changed before it is released."""

    def anonymize(*arguments):
        made = anonymizing.anonymize(*arguments)
        return replace(made, frame=change(made.frame))

    return patch.object(run, "anonymize", anonymize)


FAULTS = {
    "kept all": lambda frame: frame.withColumns(
        {"age": frame[before_column(0)], "born": frame[before_column(1)]}
    ),
    "other values of 'age'": lambda frame: frame.withColumn(
        "age", (frame["age"] % 2).cast("short")
    ),
}


@pytest.mark.nightly
@pytest.mark.parametrize("found", [*FAULTS])
def test_what_was_not_permuted_within_classes_is_found(cluster, found):
    frame = frame_of(cluster.spark, people(600))
    asked = {**ASKED, "k": 10, "quasi": ["age", "born"], "insensitive": ["pay", "buys"]}
    with changed_by(FAULTS[found]), pytest.raises(CertificateError, match=found) as raised:
        released(cluster, frame, **asked)
    assert raised.value.code == "V001"


@pytest.mark.nightly
def test_empty_texts_are_not_written_as_csv(cluster, tmp_path):
    frame = frame_of(cluster.spark, pa.table({"job": ["", *"bcdef"], "x": [*"123456"]}))
    asked = {"method": "probabilistic-k-anonymity", "k": 3, "quasi": ["job"], "sensitive": ["x"]}
    with pytest.raises(OutputError, match="empty texts"):
        released(cluster, frame, tmp_path / "out.csv", **asked)


@pytest.mark.nightly
def test_columns_with_too_many_values_for_the_driver_are_permuted(cluster):
    table = people()
    table = table.set_column(3, "pay", pa.array(np.random.default_rng(1).random(len(table))))
    asked = {**ASKED, "quasi": ["pay", "job"], "insensitive": ["buys"]}
    made = released(replace(cluster, most_values=100), frame_of(cluster.spark, table), **asked)
    assert made.certificate.holds
    assert sorted(made.table.toArrow()["pay"].to_pylist()) == sorted(table["pay"].to_pylist())
    assert any("'pay'" in one for one in made.release.doubts)
