"""Spark gives the rows and the figures of the local engine, on any number of partitions."""

import csv
import datetime as dt
import gzip
import warnings

import numpy as np
import pyarrow as pa
import pytest
from both import both, check_same, check_same_figures, csv_rows, released, rows_of
from building import column
from everyday import everyday
from places import SHARED_DATA
from pyarrow import parquet

pytestmark = pytest.mark.usefixtures("few_rows")
DATA = SHARED_DATA
CITIES = ("Rome", "Milan", "Zürich", "李", "b, c", "Oslo", "", None)
ILLS = ("flu", "cold", "angina", "ulcer", "gastritis", None)
KINDS = "flu;airways;*\ncold;airways;*\nangina;airways;*\nulcer;gut;*\ngastritis;gut;*\n"
KEY = b"k" * 32


def people(rows=2000, seed=1):
    """Return a table with a column of every type, most of them with missing values."""
    draw = np.random.default_rng(seed)

    def some(values, weight=None):
        return [values[place] for place in draw.choice(len(values), rows, p=weight)]

    def whole(most, missing=0.03):
        return [None if draw.random() < missing else int(n) for n in draw.integers(0, most, rows)]

    days = draw.integers(0, 3000, rows).tolist()
    first = dt.datetime(2015, 1, 1)  # noqa: DTZ001 (without a zone)
    seen = [first + dt.timedelta(days=day, seconds=day * 7) for day in days]
    return pa.table(
        {
            "age": whole(90),
            "city": some(CITIES),
            "zip": [f"{n:05}" for n in draw.integers(0, 300, rows) * 37],
            "pay": some([0.0, -0.0, 1.5, 1e6, -2.25, float("nan"), None, 0.1]),
            "price": pa.array(whole(500), pa.int64())
            .cast(pa.decimal128(22, 0))
            .cast(pa.decimal128(24, 2)),
            "born": pa.array([moment.date() for moment in seen]),
            "seen": pa.array(seen, pa.timestamp("us")),
            "sent": pa.array(seen, pa.timestamp("us", "UTC")),
            "here": some([True, False, None]),
            "size": pa.array(draw.integers(-5, 9, rows), pa.int8()),
            "rate": pa.array(draw.integers(0, 40, rows) / 8, pa.float32()),
            "ill": some(ILLS, [0.35, 0.3, 0.15, 0.1, 0.05, 0.05]),
            "wage": (draw.integers(1, 8, rows) * 100).tolist(),
            "who": [f"p{n}" for n in draw.integers(0, rows // 2, rows)],
            "row": list(range(rows)),
        }
    )


MODELS = {
    "k": (1, {"method": "k-anonymity"}),
    "l": (3, {"method": "l-diversity", "l": 3}),
    "entropy-l": (8, {"method": "entropy-l-diversity", "l": 2.5, "score": "span"}),
    "recursive": (2, {"method": "recursive-l-diversity", "c": 3.0, "l": 2}),
    "t": (3, {"method": "t-closeness", "t": 0.35, "score": "entropy"}),
    "alpha": (2, {"method": "alpha-k-anonymity", "alpha": 0.7, "missing": "wildcard"}),
    "beta": (33, {"method": "beta-likeness", "beta": 3.0}),
    "enhanced-beta": (2, {"method": "enhanced-beta-likeness", "beta": 1.5, "score": "span"}),
    "delta": (2, {"method": "delta-disclosure", "delta": 2.5, "score": "entropy"}),
}


# Of the others, every distance of t, persons and kept columns have one each below.
@pytest.mark.nightly
@pytest.mark.parametrize("model", MODELS)
def test_every_privacy_model(cluster, model):
    partitions, asked = MODELS[model]
    parts = {"k": 5, "quasi": ["age", "city"], "sensitive": ["ill"], "insensitive": ["row"]}
    limit = 1500 if partitions > 3 else 700
    runs = both(cluster, people(), partitions, limit, **parts, **asked)
    check_same(runs)
    assert runs.nodes > 1


RELAXED = {
    "loss": (3, {"method": "k-anonymity", "k": 4}),
    "span": (8, {"method": "l-diversity", "k": 4, "l": 2, "score": "span"}),
    "entropy": (2, {"method": "t-closeness", "k": 9, "t": 0.4, "score": "entropy"}),
    "wildcards": (1, {"method": "k-anonymity", "k": 4, "missing": "wildcard", "score": "span"}),
    "persons": (3, {"method": "l-diversity", "k": 4, "l": 2, "privacyUnit": "who"}),
}


@pytest.mark.nightly
@pytest.mark.parametrize("how", everyday(RELAXED, "wildcards"))
def test_relaxed_cuts_through_ties(cluster, how):
    partitions, asked = RELAXED[how]
    kept = {"sensitive": ["ill"], "insensitive": ["pay", "seen", "here", "price", "city"]}
    parts = {"partitioning": "relaxed", "quasi": ["size", "rate", "zip"], **kept, **asked}
    runs = both(cluster, people(2500, seed=2), partitions, 1400, **parts)
    check_same(runs)
    assert runs.nodes > 1


UNITS = {
    "l and t": (
        8,
        {"method": ["l-diversity", "t-closeness"], "l": 2, "t": 0.6, "score": "span"},
    ),
    "wildcards of numbers": (
        3,
        {"method": "k-anonymity", "privacyUnit": "age", "missing": "wildcard"},
    ),
    "amounts": (2, {"method": "alpha-k-anonymity", "alpha": 0.8, "privacyUnit": "price"}),
}


@pytest.mark.nightly
@pytest.mark.parametrize("how", UNITS)
def test_persons_are_counted(cluster, how):
    partitions, asked = UNITS[how]
    parts = {"k": 4, "quasi": ["city", "rate"], "sensitive": ["ill"], "privacyUnit": "who"}
    runs = both(cluster, people(), partitions, 1200, insensitive=["row"], **{**parts, **asked})
    check_same(runs)
    assert runs.nodes > 1


def files(folder):
    (folder / "kinds.csv").write_text(KINDS)
    return {"kinds.csv": folder / "kinds.csv"}


DISTANCES = {
    "ordered": ({"@id": "wage", "distance": "ordered"}, 0.2, "strict"),
    "hierarchical": (
        {"@id": "ill", "distance": "hierarchical", "taxonomy": "kinds.csv"},
        0.3,
        "relaxed",
    ),
}


@pytest.mark.nightly
@pytest.mark.parametrize("distance", everyday(DISTANCES, "hierarchical"))
@pytest.mark.parametrize("unit", everyday(("", "who"), ""), ids=["rows", "persons"])
def test_every_distance_of_t(cluster, distance, unit, tmp_path):
    settings, t, how = DISTANCES[distance]
    sensitive = [column(settings["@id"], **dict(list(settings.items())[1:]))]
    parts = {"method": "t-closeness", "k": 3, "t": t, "sensitive": sensitive}
    parts |= {"quasi": ["age", "city"], "insensitive": ["row"], "partitioning": how}
    parts |= {"privacyUnit": unit} if unit else {}
    runs = both(cluster, people(700), 2, 350, taxonomies=files(tmp_path), **parts)
    check_same(runs)


ILL = column("ill", generalization="taxonomy", taxonomy="kinds.csv", unlisted="root")
GENERALISED = {
    "texts": [
        column("city", generalization="set", order="frequency"),
        column("zip", generalization="prefix", mask="#", weight=3),
        ILL,
    ],
    "numbers": [
        column("age", generalization="interval", fanout=3),
        column("rate", generalization="interval", precision=2.5, weight=0.5),
        column("price", generalization="range"),
        column("size", generalization="set"),
    ],
    "times": [
        column("born", generalization="calendar"),
        column("seen", generalization="calendar", weight=0),
        column("sent", generalization="range", weight=2),
    ],
    "representatives": [
        column("age", generalization="mean"),
        column("price", generalization="median"),
        column("born", generalization="median"),
        column("city", generalization="mode"),
        column("rate", generalization="mean"),
    ],
    "one of each": [
        column("zip", generalization="prefix", mask="#", weight=3),
        column("city", generalization="set", order="frequency"),
        column("rate", generalization="interval", precision=2.5, weight=0.5),
        column("seen", generalization="calendar"),
        column("price", generalization="median"),
        ILL,
    ],
    "the usual": ["age", "city", "pay", "price", "born", "seen", "sent", "here", "rate"],
}


@pytest.mark.parametrize("missing", everyday(("category", "wildcard"), "category"))
@pytest.mark.parametrize("kind", everyday(GENERALISED, "one of each"))
def test_every_generalisation(cluster, kind, missing, tmp_path):
    parts = {"method": "k-anonymity", "k": 6, "missing": missing, "quasi": GENERALISED[kind]}
    parts |= {"score": "span" if missing == "wildcard" else "loss"}
    runs = both(cluster, people(500), 3, 300, taxonomies=files(tmp_path), **parts)
    check_same(runs)
    assert runs.nodes > 1


@pytest.mark.nightly
@pytest.mark.parametrize("partitioning", everyday(("strict", "relaxed"), "relaxed"))
def test_columns_of_every_type_are_kept(cluster, partitioning):
    kept = ["price", "born", "seen", "sent", "here", "rate", "size", "city", "row"]
    parts = {"method": "l-diversity", "k": 3, "l": 2, "quasi": ["zip", "age"]}
    parts |= {
        "sensitive": ["ill", "wage", "pay"],
        "insensitive": kept,
        "partitioning": partitioning,
    }
    check_same(both(cluster, people(300), 3, **parts))


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["pay", "price", "here"])
def test_sensitive_values_of_every_type(cluster, name):
    parts = {"method": ["l-diversity", "t-closeness"], "k": 3, "l": 2, "t": 0.6}
    check_same(both(cluster, people(300), 3, **parts, quasi=["zip"], sensitive=[name]))


@pytest.mark.nightly
@pytest.mark.parametrize(
    "quasi", everyday((["age", "city", "born", "pay"], ["age", "city"]), ["age", "city"]), ids=len
)
def test_bounds_pseudonyms_and_redacted_columns(cluster, quasi):
    parts = {"method": "k-anonymity", "k": 4, "quasi": quasi}
    parts |= {"redact": ["ill"], "pseudonymize": ["row"], "pseudonymScope": "both"}
    parts |= {"cells": "bounds", "key": KEY}
    runs = both(cluster, people(500), 3, 300, **parts)
    check_same(runs)
    assert {"row", "ill", "age_low", "age_high"} <= set(runs.local.table.column_names)


@pytest.mark.nightly
def test_columns_of_any_name(cluster):
    table = {
        "a.b": list(range(40)),
        "x y`": [f"p{n % 30}" for n in range(40)],
        "select": ["u", "v"] * 20,
        "naïve": list(range(40)),
    }
    parts = {"method": "l-diversity", "k": 3, "l": 2, "quasi": ["a.b"], "sensitive": ["select"]}
    check_same(both(cluster, table, 2, 10, privacyUnit="x y`", insensitive=["naïve"], **parts))


SKEWED = {
    "a single tie": ({"x": [7] * 3000, "y": ["a"] * 3000}, "relaxed"),
    "a giant tie": ({"x": [7] * 2900 + list(range(100)), "y": ["a"] * 2990 + ["b"] * 10}, "strict"),
    "a giant tie, relaxed": (
        {"x": [7] * 2900 + list(range(100)), "y": ["a"] * 2990 + ["b"] * 10},
        "relaxed",
    ),
    "a heavy end": ({"x": [n**3 // 10**6 for n in range(3000)], "y": list("ab") * 1500}, "strict"),
    "nothing": ({"x": pa.nulls(600, pa.int64()), "y": ["a", None] * 300}, "strict"),
    "two rows": ({"x": [1, 2], "y": ["a", None]}, "relaxed"),
}


@pytest.mark.parametrize("shape", everyday(SKEWED, "nothing"))
def test_skewed_tables(cluster, shape):
    table, partitioning = SKEWED[shape]
    table = {**table, "row": list(range(len(table["x"])))}
    parts = {"method": "k-anonymity", "k": 2, "quasi": ["x", "y"], "insensitive": ["row"]}
    check_same(both(cluster, table, 3, 1600, partitioning=partitioning, **parts))


def real(name, rows=3000):
    """Return the first rows of a table of the benchmark."""
    path = DATA / name
    if not path.exists():
        warnings.warn(f"SKIPPED: {path} is not there", stacklevel=2)
        pytest.skip(f"{path} is not there: nothing is proved on it")
    with gzip.open(path, "rt", newline="") as file:
        read = list(csv.DictReader(file))[:rows]
    return {name: [row[name] for row in read] for name in read[0]}


ADULT8 = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass"]
ADULT4 = ["age", "education-num", "race", "native-country"]
REAL = {
    "adult8": ("adult_arx.csv.gz", ADULT8, {"method": "k-anonymity", "k": 5}),
    "adult8, diverse": (
        "adult_arx.csv.gz",
        [*ADULT8, "occupation"],
        {"method": "l-diversity", "k": 3, "l": 2, "sensitive": ["salary-class"]},
    ),
    "adult4": ("adult.csv.gz", ADULT4, {"method": "k-anonymity", "k": 5, "score": "span"}),
    "adult4, relaxed": (
        "adult.csv.gz",
        ADULT4,
        {"method": "t-closeness", "k": 5, "t": 0.3, "sensitive": ["income"]},
    ),
}


@pytest.mark.nightly
@pytest.mark.filterwarnings("default:SKIPPED")
@pytest.mark.parametrize("table", REAL)
def test_real_tables(cluster, table):
    name, quasi, asked = REAL[table]
    how = "relaxed" if "relaxed" in table else "strict"
    runs = both(cluster, real(name), 3, 1600, quasi=quasi, partitioning=how, **asked)
    check_same(runs)
    assert runs.nodes > 1


# Files


WRITTEN = {
    "age": ["1", "2.50", "2.5", "030", "4e1", ""],
    "zip": ["00100", "00199", "01100", "", "01199", "1"],
    "name": ["Zoë", 'say "hi"', "a,b", "two\nlines", " x ", "李"],
    "pay": ["1.50", "1.5", "2", "-0", "", "1e3"],
    "count": ["1", "-2", "30", "", "5", "66"],
    "day": ["2020-01-01", "2020-02-01", "2021-05-05", "", "2020-02-02", "2021-12-31"],
    "stamp": [f"2020-01-0{n}T10:00:00" for n in range(1, 6)] + [""],
    "zoned": [f"2020-01-0{n} 10:00:00+02:00" for n in range(1, 6)] + ["2020-01-01T00:00:00Z"],
    "long": ["1.2345678901234567", "2", "3.5", "-1", "", "7"],
    "clock": ["10:00", "11:30", "", "23:59:59", "00:00", "12:12"],
}
AS_WRITTEN = {"method": "l-diversity", "k": 4, "l": 2, "quasi": ["age", "zip", "day", "clock"]}
AS_WRITTEN |= {"sensitive": ["pay"], "insensitive": ["name", "count", "stamp", "zoned", "long"]}


def written(folder, times=20):
    """Return a CSV file of many kinds of text."""
    draw, path = np.random.default_rng(5), folder / "in.csv"
    rows = [[str(draw.choice(values)) for values in WRITTEN.values()] for _ in range(6 * times)]
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([list(WRITTEN), *rows])
    return path


AS_CSV = [{}, {"partitioning": "relaxed"}, {"cells": "bounds"}]


@pytest.mark.nightly
@pytest.mark.parametrize("more", everyday(AS_CSV, {"partitioning": "relaxed"}), ids=str)
def test_csv_becomes_the_same_csv(cluster, tmp_path, more):
    path, parts = written(tmp_path), {**AS_WRITTEN, **more}
    local = released("local", path, tmp_path / "local" / "a.csv", **dict(parts))
    spark = released(cluster, path, tmp_path / "spark" / "a.csv", **dict(parts))
    assert csv_rows(spark.path) == csv_rows(local.path)
    check_same_figures(spark.certificate, local.certificate)
    assert spark.record.input == local.record.input


@pytest.mark.nightly
def test_csv_becomes_parquet_of_the_same_types(cluster, tmp_path):
    # Spark has no time of day.
    path, parts = written(tmp_path), {**AS_WRITTEN, "quasi": ["age", "zip", "day"]}
    parts |= {"cells": "bounds"}
    places = {name: tmp_path / name / "a.parquet" for name in ("local", "spark")}
    released("local", path, places["local"], **dict(parts))
    released(cluster, path, places["spark"], **dict(parts))
    local, spark = (in_micros(parquet.read_table(place)) for place in places.values())
    assert rows_of(spark) == rows_of(local)
    assert [(field.name, field.type) for field in spark.schema] == [
        (field.name, field.type) for field in local.schema
    ]


@pytest.mark.nightly
def test_times_finer_than_those_of_spark_stay_texts(cluster, tmp_path):
    rows = [f"{n},2020-01-01T10:00:00.1234560{n}" for n in range(10, 30)]
    (tmp_path / "in.csv").write_text("\n".join(["age,at", *rows, ""]))
    parts = {"method": "k-anonymity", "k": 2, "quasi": ["age"], "insensitive": ["at"]}
    spark = released(cluster, tmp_path / "in.csv", **parts).table.toArrow()
    assert sorted(spark["at"].to_pylist()) == [row.partition(",")[2] for row in rows]


def in_micros(table):
    """Return a table as Spark has its types: times in microseconds, texts without dictionaries."""
    fields = [pa.field(field.name, _of_spark(field.type)) for field in table.schema]
    return table.cast(pa.schema(fields))


def _of_spark(kind):
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    return pa.string() if pa.types.is_dictionary(kind) else kind


@pytest.mark.nightly
@pytest.mark.parametrize("ending", everyday(("parquet", "orc", "json"), "json"))
def test_parquet_becomes_files_of_every_format(cluster, tmp_path, ending):
    table = people(300).drop_columns(["pay"])
    parquet.write_table(table, tmp_path / "in.parquet")
    parts = {"method": "l-diversity", "k": 3, "l": 2, "quasi": ["age", "born", "price"]}
    parts |= {"sensitive": ["ill"], "insensitive": ["row", "rate", "seen", "sent", "city"]}
    local = released("local", tmp_path / "in.parquet", **dict(parts))
    release = released(cluster, tmp_path / "in.parquet", tmp_path / f"a.{ending}", **dict(parts))
    found = cluster.spark.read.format(ending).load(str(release.path))
    expected = rows_of(local.table.select(["row", "age", "born", "ill"]))
    assert rows_of(found.select("row", "age", "born", "ill").toArrow()) == expected
    check_same_figures(release.certificate, local.certificate)
