"""Local suppression: on Spark the rows of the local engine, whatever the partitions."""

import csv
import datetime as dt
import gzip
import warnings
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from applying import asking
from both import both, check_same, check_same_figures, csv_rows, frame_of, released
from building import DATASET, column
from everyday import everyday
from places import SHARED_DATA

from policy_engine import certify_output
from policy_engine.errors import PolicyEngineError

pytestmark = pytest.mark.usefixtures("few_rows")

SENSES = ["category", "wildcard"]
KEY = b"k" * 32
ASKED = {"method": "k-anonymity", "k": 4, "algorithm": "local-suppression", "key": KEY}
QUASI = ["sex", "job", "since", "pay"]


def people(rows=300):
    """Return rows with ties, missing values and rows that are equal in every column."""
    random = np.random.default_rng(7)
    since = [dt.date(2000 + int(year), 1, 1) for year in random.integers(0, 3, rows)]
    pay = [Decimal(int(one)) / 2 for one in random.integers(0, 3, rows)]
    return pa.table(
        {
            "sex": random.choice(["f", "m"], rows),
            "job": pa.array(random.choice(list("abcde"), rows), mask=np.arange(rows) % 17 == 2),
            "since": since,
            "pay": pa.array(pay, pa.decimal128(8, 1)),
            "ill": random.choice(["cold", "flu"], rows),
        }
    )


def check(found):
    """Check that both releases have the same rows, figures and counts of suppressed cells."""
    check_same(found)
    assert found.spark.record.suppressed_cells == found.local.record.suppressed_cells


@pytest.mark.nightly
@pytest.mark.parametrize("partitions", [1, 3, 8])
@pytest.mark.parametrize("missing", SENSES)
def test_both_engines_release_the_same_rows(cluster, missing, partitions):
    asked = {**ASKED, "quasi": QUASI, "insensitive": ["ill"], "missing": missing}
    found = both(cluster, people(), partitions, **asked)
    assert sum(found.local.record.suppressed_cells.values()) > 0
    check(found)
    kinds = {"sex": "string", "job": "string", "since": "date", "pay": "decimal(8,1)"}
    assert dict(found.spark.table.dtypes) == {**kinds, "ill": "string"}


@pytest.mark.nightly
def test_caps_weights_and_hidden_columns_are_as_on_the_local_engine(cluster):
    quasi = ["sex", column("job", maxSuppression=0.2), column("since", weight=3)]
    parts = {"pseudonymize": ["pay"], "pseudonymScope": "x", "redact": ["ill"]}
    table = people().set_column(3, "pay", pa.array([str(n) for n in range(300)]))
    check(both(cluster, table, 3, quasi=quasi, **parts, **ASKED))


@pytest.mark.nightly
def test_masked_columns_and_samples_are_beside_it(cluster):
    noisy = column("score", masking="noise", sdShare=0.1)
    table = people().append_column("score", pa.array(np.linspace(0, 9, 300)))
    parts = {"masked": [noisy], "sampleShare": 0.8, "weightColumn": "weight"}
    methods = {"method": ["k-anonymity", "masking"]}
    check(both(cluster, table, 3, quasi=QUASI, **parts, **{**ASKED, **methods}))


@pytest.mark.nightly
@pytest.mark.parametrize("missing", SENSES)
def test_files_without_types_are_read_and_measured_alike(cluster, missing, tmp_path):
    pacsv.write_csv(people(), tmp_path / "people.csv")
    asked = {**ASKED, "quasi": QUASI, "insensitive": ["ill"], "missing": missing}
    local = released("local", tmp_path / "people.csv", **asked)
    made = released(cluster, tmp_path / "people.csv", tmp_path / "out" / "people.csv", **asked)
    policy = asking(**{name: value for name, value in asked.items() if name != "key"})
    again = certify_output(made.path, policy, engine=cluster)
    assert again.measurements == made.certificate.measurements
    assert again.utility == local.certificate.utility
    assert made.record.suppressed_cells == local.record.suppressed_cells
    check_same_figures(made.certificate, local.certificate)


@pytest.mark.nightly
def test_caps_that_cannot_be_kept_are_refused(cluster):
    quasi = [column(name, maxSuppression=0) for name in ("job", "pay")]
    frame = frame_of(cluster.spark, people(20))
    with pytest.raises(PolicyEngineError, match="R009"):
        released(cluster, frame, quasi=quasi, **ASKED)


@pytest.mark.nightly
def test_more_rows_than_there_are_in_a_class_are_refused(cluster):
    with pytest.raises(PolicyEngineError, match="R002"):
        released(cluster, frame_of(cluster.spark, people()), quasi=QUASI, **{**ASKED, "k": 301})


def test_more_tuples_than_the_driver_holds_are_refused(cluster):
    few = replace(cluster, most_values=20)
    with pytest.raises(PolicyEngineError, match="R011 The quasi-identifiers have more than 20"):
        released(few, frame_of(cluster.spark, people()), quasi=QUASI, **ASKED)


WILDCARDS = ("f,cook\n,cook\nm,cook\n", "f,\n,cook\n")


@pytest.mark.nightly
@pytest.mark.parametrize("text", everyday(WILDCARDS, WILDCARDS[0]))
def test_wildcards_are_counted_on_the_output(cluster, text, tmp_path):
    (tmp_path / "release.csv").write_text(f"sex,job\n{text}", encoding="utf-8")
    asked = {**ASKED, "k": 2, "missing": "wildcard", "quasi": ["sex", "job"]}
    policy = asking(**{name: value for name, value in asked.items() if name != "key"})
    found = certify_output(tmp_path / "release.csv", policy, engine=cluster)
    assert found.measurements[0].achieved == 2
    again = policy.replace('"rightOperand": 2', '"rightOperand": 3')
    with pytest.raises(PolicyEngineError, match="V001 k must be at least 3, but is 2"):
        certify_output(tmp_path / "release.csv", again, engine=cluster)


ODD = {
    "age": ["1", "2.50", "2.5", "030", "4e1", ""],
    "code": ["00100", '"{a"', "[1 - 2]", "", " x ", "a,b"],
    "day": ["2020-01-01", "2020-02-01", "", "2021-05-05", "2020-02-01", "2020-01-01"],
    "zoned": [
        "2020-01-01 10:00:00+02:00",
        "2020-01-01T08:00:00Z",
        "",
        *["2021-01-01T00:00:00Z"] * 3,
    ],
}


@pytest.mark.nightly
@pytest.mark.parametrize("missing", everyday(SENSES, "category"))
def test_odd_texts_are_written_alike(cluster, missing, tmp_path):
    draw = np.random.default_rng(3)
    rows = [[str(draw.choice(values)) for values in ODD.values()] for _ in range(60)]
    with (tmp_path / "in.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([list(ODD), *rows])
    asked = {**ASKED, "k": 2, "quasi": list(ODD), "missing": missing}
    local = released("local", tmp_path / "in.csv", tmp_path / "local" / "a.csv", **asked)
    spark = released(cluster, tmp_path / "in.csv", tmp_path / "spark" / "a.csv", **asked)
    assert csv_rows(spark.path) == csv_rows(local.path)


@pytest.mark.nightly
def test_moments_floats_and_truths_are_kept(cluster):
    moments = [dt.datetime(2020, 1, 1, 12, 30, 0, 500, dt.UTC)] * 3
    table = {
        "when": pa.array([*moments, None], pa.timestamp("us", "UTC")),
        "real": pa.array([0.1, 0.1, float("nan"), -0.0]),
        "truth": pa.array([True, True, None, False]),
    }
    check(both(cluster, table, 2, quasi=list(table), **{**ASKED, "k": 2}))


@pytest.mark.nightly
@pytest.mark.filterwarnings("default:SKIPPED")
@pytest.mark.parametrize("missing", SENSES)
def test_adult8_is_as_on_the_local_engine(cluster, missing):
    path = SHARED_DATA / "adult_arx.csv.gz"
    if not path.exists():
        warnings.warn(f"SKIPPED: {path} is not there", stacklevel=2)
        pytest.skip(f"{path} is not there: nothing is proved on it")
    with gzip.open(path, "rt", newline="") as file:
        quasi = [name for name in next(csv.reader(file)) if name != "salary-class"]
    asked = {**ASKED, "k": 5, "quasi": quasi, "insensitive": ["salary-class"], "missing": missing}
    found = both(cluster, path, **asked)
    check(found)
    assert (
        sum(found.spark.record.suppressed_cells.values())
        <= {"category": 31_926, "wildcard": 11_641}[missing]
    )


ZONES = {"sex": [*"ffffmm"] * 5, "zone": ["q", *["a"] * 28, None]}
CAPPED = {**ASKED, "k": 2, "quasi": ["sex", column("zone", maxSuppression=0.05)]}


@pytest.mark.nightly
def test_a_cap_is_measured_as_by_the_local_engine(cluster):
    found = both(cluster, ZONES, 3, **CAPPED)
    check(found)
    assert found.spark.certificate.measurements == found.local.certificate.measurements


@pytest.mark.parametrize("known", everyday(("data", "output"), "output"))
def test_a_cap_is_measured_on_the_output(cluster, tmp_path, known):
    path = tmp_path / "nulled.parquet"
    cluster.spark.createDataFrame(
        pa.table({"sex": ZONES["sex"], "zone": pa.nulls(30, pa.string())})
    ).write.parquet(str(path))
    policy = asking(**{name: part for name, part in CAPPED.items() if name != "key"})
    data = {DATASET: frame_of(cluster.spark, pa.table(ZONES))} if known == "data" else None
    told = {
        "data": r"V001 0\.9667 of the cells of 'zone'",
        "output": "V006 30 of 30 cells of 'zone' are missing",
    }
    with pytest.raises(PolicyEngineError, match=told[known]):
        certify_output(path, policy, data, engine=cluster)
