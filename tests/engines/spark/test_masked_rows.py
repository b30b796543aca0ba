"""Columns that are masked at random or by their ranks: on Spark the rows of the local engine."""

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from applying import applied, asking, measured, rows_of
from both import both, check_same, frame_of, released
from building import DATASET, column
from everyday import everyday

from policy_engine import apply_policy, certify_output
from policy_engine.engines.spark.near_rows import NearRows
from policy_engine.errors import CertificateError, DataError, OutputError
from policy_engine.kernels.microaggregation import blocks

pytestmark = pytest.mark.usefixtures("few_rows")
KEY = b"\x07" * 32
PARTITIONS = everyday((1, 3, 8), 3)
PLAIN = {"method": "k-anonymity", "k": 2, "quasi": ["age"], "insensitive": ["note"], "key": KEY}
ALONE = {"method": "masking", "insensitive": ["age", "note"], "key": KEY}


def people(rows=60):
    """Return rows with ties, missing values and rows that are equal in every column."""
    random = np.random.default_rng(7)
    pay = random.lognormal(8, 1, rows).round(2)
    table = pa.table(
        {
            "age": np.repeat(random.integers(20, 60, rows // 2), 2),
            "note": np.repeat(np.arange(rows // 2), 2),
            "pay": pa.array(np.repeat(pay[: rows // 2], 2), mask=np.arange(rows) % 10 == 9),
            "hours": np.repeat(random.integers(1, 60, rows // 2), 2),
            "job": np.repeat(random.choice(["a", "b", "c"], rows // 2), 2),
            "since": pa.array(np.repeat(random.integers(0, 9000, rows // 2), 2), pa.int32()),
        }
    )
    since = table.column("since").cast(pa.date32())
    return table.set_column(5, "since", since)


MASKED = [
    [column("pay", masking="noise", varianceShare=0.1, distribution="laplace")],
    [
        column("hours", masking="correlated-noise", sdShare=0.2, variant="kim"),
        column("since", masking="correlated-noise", sdShare=0.2, variant="kim"),
    ],
    [column("pay", masking="multiplicative-noise", logSd=0.2)],
    [column("hours", masking="random-rounding", base=7)],
    [
        column("hours", masking="microaggregation", groupSize=4, together="work"),
        column("since", masking="microaggregation", groupSize=4, together="work"),
        column("pay", masking="microaggregation", groupSize=3),
    ],
    [
        column("pay", masking="rank-swapping", p=0.1),
        column("since", masking="rank-swapping", p=0.2, variant="distribution"),
        column("job", masking="rank-swapping", p=0.3, order="lexicographic"),
    ],
    [
        column("pay", masking="top-coding", tail=7, replacement="mean"),
        column("hours", masking="bottom-coding", tail=5, replacement="label"),
    ],
    [column("pay", masking="bottom-coding", tail=4)],
    [column("hours", masking="top-coding", threshold=50, replacement="mean")],
    [column("hours", masking="shuffling", given={"@id": f"{DATASET}/age"})],
    [
        column("job", masking="pram", keep=0.6),
        column("hours", masking="rounding", base=10),
        column("since", masking="rank-swapping", p=0.3, variant="buckets"),
    ],
]


@pytest.mark.nightly
@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_points_in_time_keep_the_decimals_of_their_seconds_on_both_engines(cluster, tmp_path, unit):
    import pyarrow.parquet as pq

    seen = pa.array(np.arange(60) * 7919, pa.timestamp(unit))
    pq.write_table(pa.table({"id": range(60), "seen": seen}), tmp_path / "in.parquet")
    masked = [column("seen", masking="noise", sdShare=0.2)]
    asked = {"method": "masking", "insensitive": ["id"], "masked": masked, "key": KEY}
    made = both(cluster, tmp_path / "in.parquet", **asked)
    check_same(made)
    found = made.local.table.column("seen").cast(pa.timestamp("us")).cast(pa.int64()).to_numpy()
    step = {"s": 1_000_000, "ms": 1000, "us": 1}[unit]
    assert not (found % step).any()


@pytest.mark.nightly
@pytest.mark.parametrize("partitions", PARTITIONS)
@pytest.mark.parametrize("masked", MASKED, ids=lambda masked: masked[0]["pe:masking"])
def test_masked_rows_are_those_of_the_local_engine(cluster, masked, partitions):
    made = both(cluster, people(), partitions, masked=masked, **PLAIN)
    assert made.local.table.num_rows == 60
    assert rows_of(made.local) == [
        tuple(row) for row in sorted(map(tuple, made.spark.table.collect()), key=repr)
    ]
    assert measured(made.local) == measured(made.spark)
    assert made.local.certificate.maskings == made.spark.certificate.maskings


# One column of each masking, several of which one release and its certificate show.
EACH = {
    "noise": column("noise", masking="noise", varianceShare=0.1, distribution="laplace"),
    "kim": column("kim", masking="correlated-noise", sdShare=0.2, variant="kim"),
    "since": column("since", masking="correlated-noise", sdShare=0.2, variant="kim"),
    "times": column("times", masking="multiplicative-noise", logSd=0.2),
    "rounded": column("rounded", masking="random-rounding", base=7),
    "near": column("near", masking="microaggregation", groupSize=4, together="work"),
    "hours": column("hours", masking="microaggregation", groupSize=4, together="work"),
    "swapped": column("swapped", masking="rank-swapping", p=0.2, variant="distribution"),
    "moved": column("moved", masking="rank-swapping", p=0.3, order="lexicographic"),
    "pay": column("pay", masking="top-coding", tail=7, replacement="mean"),
    "low": column("low", masking="bottom-coding", threshold=9, replacement="label"),
    "shuffled": column("shuffled", masking="shuffling", given={"@id": f"{DATASET}/age"}),
    "job": column("job", masking="pram", keep=0.6),
    "drawn": column("drawn", masking="pram", matrix="drawn.csv"),
    "coded": column("coded", masking="recoding", taxonomy="coded.csv", level=1),
    "short": column("short", masking="noise", sdShare=0.3),
    "exact": column("exact", masking="multiplicative-noise", logSd=0.3),
    "empty": column("empty", masking="pram", keep=0.5),
    "seen": column("seen", masking="noise", sdShare=0.2),
    "spelled": column("spelled", masking="pram", keep=0.5),
}
# Points in time cannot be masked in a file without types.
OF_FILES = [one for name, one in EACH.items() if name not in ("short", "exact", "empty", "seen")]
COPIES = {
    **dict.fromkeys(("noise", "times", "swapped"), "pay"),
    **dict.fromkeys(("kim", "rounded", "near", "low", "shuffled", "coded"), "hours"),
    **dict.fromkeys(("moved", "drawn"), "job"),
}


def people_of_each(folder):
    """Return rows with a column for each masking, and the files that those ask for."""
    (folder / "coded.csv").write_text("".join(f"{n};{n // 10}0;*\n" for n in range(1, 60)))
    (folder / "drawn.csv").write_text(",a,b,c\na,0.4,0.4,0.2\nb,0.2,0.6,0.2\nc,0.3,0.3,0.4\n")
    table = people()
    for name, copied in COPIES.items():
        table = table.append_column(name, table[copied])
    prices = np.random.default_rng(5).integers(100, 9000, 60) / 100
    more = {
        "short": pa.array(prices, pa.float32()),
        "exact": pa.array(map(str, prices)).cast(pa.decimal128(9, 2)),
        "empty": pa.nulls(60, pa.decimal128(7, 2)),
        "seen": pa.array(np.arange(60) * 7919, pa.timestamp("s")),
        "spelled": pa.array(["1", "1.0", "2.50", " 3"] * 15),
    }
    for name, values in more.items():
        table = table.append_column(name, values)
    return table, {name: folder / name for name in ("coded.csv", "drawn.csv")}


# Plans of more columns that need all rows take longer than several of a few.
FEW = (("noise", "kim", "since", "times", "rounded", "seen"), ("near", "hours", "swapped", "short"))
FEW += (("moved", "pay", "low", "exact", "empty"), ("shuffled", "job", "drawn", "coded", "spelled"))


TWO = ("swapped", "pay")
GIVEN = [("table", TWO), *((kind, few) for kind in ("table", "file") for few in FEW)]
BY_DAY = [("table", FEW[0]), ("table", TWO), ("file", FEW[3])]


@pytest.mark.one_in(50)
@pytest.mark.parametrize(
    "release", everyday(GIVEN, *BY_DAY), ids=lambda made: "-".join((made[0], *made[1]))
)
@pytest.mark.parametrize("beside", everyday(("classes", "nothing"), "nothing"))
def test_columns_of_each_masking_are_those_of_the_local_engine(cluster, tmp_path, beside, release):
    import pyarrow.csv as pacsv

    given, few = release
    table, files = people_of_each(tmp_path)
    chosen = [EACH[name] for name in few if given == "table" or EACH[name] in OF_FILES]
    table = table.select([*dict.fromkeys(("age", "note", *few))])
    pacsv.write_csv(table, tmp_path / "people.csv")
    read = table if given == "table" else tmp_path / "people.csv"
    used = {name: place for name, place in files.items() if name[:-4] in few}
    asked = PLAIN if beside == "classes" else ALONE
    made = both(cluster, read, 3, masked=chosen, taxonomies=used, **asked)
    assert made.local.table.num_rows == 60
    check_same(made)
    assert measured(made.local) == measured(made.spark)
    assert made.local.certificate.maskings == made.spark.certificate.maskings
    assert made.local.release.doubts == made.spark.release.doubts
    if given == "file" and "spelled" in few:
        [drawn] = [one for one in made.spark.certificate.maskings if one.column == "spelled"]
        assert drawn.categories == ("1", "2.5", "3")


def test_each_masking_has_its_columns_in_one_release():
    assert sorted(name for few in FEW for name in few) == sorted(EACH)


@pytest.mark.nightly
# As many rows as have several blocks, and parts of one block each; by day, blocks are small, and
# two rounds of cuts are enough.
@pytest.mark.parametrize("rows", everyday((200, 40_000), 200))
@pytest.mark.parametrize("partitions", PARTITIONS)
def test_columns_microaggregated_together_in_parts_are_those_of_the_local_engine(
    cluster, monkeypatch, partitions, rows
):
    if rows == 200:
        monkeypatch.setattr(blocks, "_MOST_COMPARISONS", 0)
        monkeypatch.setattr(blocks, "_LEAST_TIMES_K", 30)
    random, spread = np.random.default_rng(2), 0.2 if rows == 200 else 1
    is_missing = np.arange(rows) % 100 == 9
    table = pa.table(
        {
            "id": np.arange(rows),
            "pay": pa.array(random.lognormal(8, spread, rows).round(2), mask=is_missing),
            "hours": pa.array(random.integers(1, 60, rows), mask=is_missing),
        }
    )
    masked = [
        column(name, masking="microaggregation", groupSize=2, together="work")
        for name in ("pay", "hours")
    ]
    asked = {"method": "masking", "insensitive": ["id"], "masked": masked, "key": KEY}
    local = released("local", table, **asked)
    frame = frame_of(cluster.spark, table).repartition(partitions)
    parts, cut = [], NearRows.cut

    def counting(near, limit):
        found = cut(near, limit)
        parts.append(found.count)
        return found

    with patch.object(NearRows, "cut", counting):
        spark = released(replace(cluster, rows_per_task=rows // 40), frame, **asked)
    assert parts[0] > 3
    assert spark.table.toArrow().sort_by("id").equals(local.table.sort_by("id"))
    assert spark.certificate.maskings == local.certificate.maskings
    assert spark.release.doubts == local.release.doubts


@pytest.mark.nightly
def test_masked_rows_of_a_file_are_those_of_the_local_engine(cluster, tmp_path):
    import pyarrow.csv as pacsv

    pacsv.write_csv(people(), tmp_path / "people.csv")
    masked = [part for columns in (MASKED[0], MASKED[3], MASKED[10][:1]) for part in columns]
    swapped = column("since", masking="rank-swapping", p=0.2)
    made = both(cluster, tmp_path / "people.csv", masked=[*masked, swapped], **PLAIN)
    assert sorted(made.local.table.to_pylist(), key=repr) == sorted(
        made.spark.table.toArrow().to_pylist(), key=repr
    )
    assert made.local.certificate.maskings == made.spark.certificate.maskings


@pytest.mark.nightly
def test_an_output_is_certified_on_a_cluster_by_its_data_alone(cluster, tmp_path):
    import pyarrow.csv as pacsv

    pacsv.write_csv(people(), tmp_path / "people.csv")
    masked = [*MASKED[2], *MASKED[7][1:2], column("job", masking="pram", keep=0.6)]
    asked = {"method": "masking", "insensitive": ["note"], "masked": masked}
    made = applied(tmp_path / "people.csv", tmp_path / "out" / "a.csv", **asked)
    data = {DATASET: tmp_path / "people.csv"}
    assert certify_output(made.path, asking(**asked), data=data, engine=cluster).holds
    (made.path.parent / "certificate.jsonld").unlink()
    lines = made.path.read_text().splitlines(keepends=True)
    made.path.write_text("".join(lines[:-1]))
    with pytest.raises(CertificateError, match="V003 The output has 59 rows, and"):
        certify_output(made.path, asking(**asked), data=data, engine=cluster)


@pytest.mark.nightly
@pytest.mark.parametrize("replacement", ["threshold", "label", "mean"])
def test_coded_tails_of_a_file_are_those_of_the_local_engine(cluster, tmp_path, replacement):
    import pyarrow.csv as pacsv

    pacsv.write_csv(people(), tmp_path / "people.csv")
    masked = [
        column("pay", masking="top-coding", tail=4, replacement=replacement),
        column("hours", masking="bottom-coding", threshold=9, replacement=replacement),
    ]
    made = both(cluster, tmp_path / "people.csv", masked=masked, **PLAIN)
    assert sorted(made.local.table.to_pylist(), key=repr) == sorted(
        made.spark.table.toArrow().to_pylist(), key=repr
    )
    assert made.local.certificate.maskings == made.spark.certificate.maskings


@pytest.mark.nightly
@pytest.mark.parametrize("variant", ["plain", "invariant"])
def test_categories_drawn_by_a_given_matrix_are_those_of_the_local_engine(
    cluster, tmp_path, variant
):
    rows = ",a,b,c,d\na,0.4,0.2,0.2,0.2\nb,0,1,0,0\nc,0.1,0.2,0.3,0.4\nd,0,0,0,1\n"
    (tmp_path / "job.csv").write_text(rows)
    masked = [column("job", masking="pram", matrix="job.csv", variant=variant)]
    files = {"job.csv": tmp_path / "job.csv"}
    made = both(cluster, people(), masked=masked, taxonomies=files, **PLAIN)
    assert rows_of(made.local) == sorted(map(tuple, made.spark.table.collect()), key=repr)
    assert made.local.certificate.maskings == made.spark.certificate.maskings
    assert made.local.release.doubts == made.spark.release.doubts


@pytest.mark.nightly
@pytest.mark.parametrize("given", ["table", "file"])
def test_recoded_columns_are_those_of_the_local_engine(cluster, tmp_path, given):
    import pyarrow.csv as pacsv

    ages = "".join(f"{age};{age // 10}0;*\n" for age in range(1, 60))
    (tmp_path / "hours.csv").write_text(ages)
    (tmp_path / "job.csv").write_text("a;x y;*\nb;x y;*\nc;z;*\n")
    pacsv.write_csv(people(), tmp_path / "people.csv")
    masked = [
        column(name, masking="recoding", taxonomy=f"{name}.csv", level=1)
        for name in ("hours", "job")
    ]
    files = {name: tmp_path / name for name in ("hours.csv", "job.csv")}
    table = tmp_path / "people.csv" if given == "file" else people()
    made = both(cluster, table, masked=masked, taxonomies=files, **PLAIN)
    assert sorted(made.local.table.to_pylist(), key=repr) == sorted(
        (row.asDict() for row in made.spark.table.collect()), key=repr
    )
    assert made.local.certificate.maskings == made.spark.certificate.maskings


@pytest.mark.nightly
def test_types_and_spellings_are_those_of_the_local_engine(cluster):
    random, rows = np.random.default_rng(5), 40
    prices = random.integers(100, 9000, rows) / 100
    table = pa.table(
        {
            "age": random.integers(20, 60, rows),
            "note": np.arange(rows),
            "short": pa.array(prices, pa.float32()),
            "exact": pa.array(map(str, prices)).cast(pa.decimal128(9, 2)),
            "empty": pa.nulls(rows, pa.decimal128(7, 2)),
        }
    )
    masked = [
        column("short", masking="noise", sdShare=0.3),
        column("exact", masking="multiplicative-noise", logSd=0.3),
        column("empty", masking="pram", keep=0.5),
    ]
    made = both(cluster, table, masked=masked, **PLAIN)
    assert rows_of(made.local) == sorted(map(tuple, made.spark.table.collect()), key=repr)
    kinds = [made.local.table.schema.field(name).type for name in ("short", "exact", "empty")]
    assert kinds == [pa.float32(), pa.decimal128(9, 2), pa.decimal128(7, 2)]


@pytest.mark.nightly
def test_texts_of_a_file_are_spelled_as_the_local_engine_spells_them(cluster, tmp_path):
    texts = ["1", "1.0", "2.50", " 3"]
    lines = [f"{20 + i % 3},{i},{texts[i % 4]},2020-01-{i % 9 + 1:02}" for i in range(24)]
    text = "\n".join(["age,note,job,since", *lines])
    (tmp_path / "people.csv").write_text(text + "\n")
    masked = [
        column("job", masking="pram", keep=0.5),
        column("since", masking="noise", sdShare=0.5),
    ]
    made = both(cluster, tmp_path / "people.csv", masked=masked, **PLAIN)
    assert sorted(made.local.table.to_pylist(), key=repr) == sorted(
        made.spark.table.toArrow().to_pylist(), key=repr
    )
    [drawn] = [one for one in made.spark.certificate.maskings if one.column == "job"]
    assert drawn.categories == ("1", "2.5", "3")


@pytest.mark.nightly
def test_categories_of_a_file_stay_texts_on_a_cluster_too(cluster, tmp_path):
    (tmp_path / "in.csv").write_text("id,job\n1, 3\n2,+4\n3,2\n4,5.50\n")
    asked = {"method": "masking", "insensitive": ["id"], "key": KEY}
    made = both(
        cluster, tmp_path / "in.csv", masked=[column("job", masking="pram", keep=0.1)], **asked
    )
    assert made.spark.table.toArrow().schema.field("job").type == pa.string()
    assert rows_of(made.local) == sorted(map(tuple, made.spark.table.collect()), key=repr)


@pytest.mark.nightly
def test_a_masking_that_changes_nothing_is_refused_on_a_cluster_too(cluster, tmp_path):
    import pyarrow.parquet as pq

    pq.write_table(people(), tmp_path / "people.parquet")
    masked = [column("pay", masking="noise", sdShare=1e-12)]
    with pytest.raises(DataError, match="R013 No value of the column 'pay' is changed by noise"):
        released(cluster, tmp_path / "people.parquet", masked=masked, **PLAIN)


@pytest.mark.nightly
def test_lists_without_a_value_are_certified_on_a_cluster_too(cluster, tmp_path):
    import pyarrow.parquet as pq

    lists = pa.array([None] * 6, pa.list_(pa.int64()))
    pq.write_table(pa.table({"id": range(6), "pay": lists}), tmp_path / "in.parquet")
    asked = {"method": "masking", "insensitive": ["id"]}
    masked = [column("pay", masking="rounding", base=5)]
    text, data = asking(masked=masked, **asked), {DATASET: tmp_path / "in.parquet"}
    made = apply_policy(text, data, tmp_path / "a.parquet", engine=cluster)
    assert certify_output(made.path, text, data, engine=cluster).holds


SWAPPED = {"masking": "rank-swapping", "p": 0.3}


@pytest.mark.nightly
def test_masked_nanoseconds_are_not_written_to_parquet_on_a_cluster(cluster, tmp_path):
    lines = [f"{n},2020-02-03 04:05:06.0000{n:02}007" for n in range(40)]
    (tmp_path / "in.csv").write_text("\n".join(["id,seen", *lines]) + "\n")
    asked = {"method": "masking", "insensitive": ["id"], "masked": [column("seen", **SWAPPED)]}
    place = tmp_path / "a" / "a.parquet"
    with pytest.raises(OutputError, match="O002 Masked times of 'seen' have nanoseconds"):
        released(cluster, tmp_path / "in.csv", place, key=KEY, **asked)
    assert not (tmp_path / "a").exists() or not [*(tmp_path / "a").iterdir()]


@pytest.mark.nightly
@pytest.mark.parametrize("masking", [SWAPPED, {"masking": "pram"}])
def test_masked_nanoseconds_are_not_written_with_types_on_a_cluster(cluster, tmp_path, masking):
    masking = {"keep": 0.5} | masking if masking["masking"] == "pram" else masking
    lines = [f"{n},2020-02-03 04:05:06.0000{n:02}007" for n in range(40)]
    (tmp_path / "in.csv").write_text("\n".join(["id,seen", *lines]) + "\n")
    asked = {"method": "masking", "insensitive": ["id"], "key": KEY}
    masked = [column("seen", **masking)]
    expected = "O002 Masked times of 'seen' have nanoseconds"
    for output in (tmp_path / "a" / "a.parquet", None):
        with pytest.raises(OutputError, match=expected):
            released(cluster, tmp_path / "in.csv", output, masked=masked, **asked)
    assert not (tmp_path / "a").exists() or not [*(tmp_path / "a").iterdir()]
    made = released(cluster, tmp_path / "in.csv", tmp_path / "b" / "b.csv", masked=masked, **asked)
    assert made.certificate.holds


@pytest.mark.nightly
def test_kept_nanoseconds_stay_as_they_are_on_a_cluster(cluster, tmp_path):
    lines = [f"{n},2020-02-03 04:05:06.0000{n // 4:02}007" for n in range(40)]
    (tmp_path / "in.csv").write_text("\n".join(["id,seen", *lines]) + "\n")
    kept = {"insensitive": ["id", "seen"], "key": KEY}
    asked = {"method": "masking", "sampleShare": 0.5, "stratifiedBy": ["seen"], **kept}
    made = released(cluster, tmp_path / "in.csv", tmp_path / "a" / "a.parquet", **asked)
    found = cluster.spark.read.parquet(str(made.path)).collect()
    assert {f"{row['id']},{row['seen']}" for row in found} <= {*lines}
    assert len({row["seen"] for row in found}) == 10


@pytest.mark.nightly
def test_empty_texts_are_not_masked_into_csv_on_a_cluster(cluster, tmp_path):
    masked = [column("job", masking="pram", keep=0.5)]
    table = cluster.spark.createDataFrame([("",), ("a",), (None,)] * 4, "job string")
    with pytest.raises(OutputError, match="O002 A CSV file cannot tell the empty texts of 'job'"):
        released(cluster, table, tmp_path / "a.csv", method="masking", masked=masked)


@pytest.mark.nightly
def test_empty_texts_are_masked_into_parquet_on_a_cluster(cluster, tmp_path):
    masked = [column("job", masking="pram", keep=0.5)]
    table = cluster.spark.createDataFrame([("",), ("a",), (None,)] * 4, "job string")
    made = released(cluster, table, tmp_path / "a.parquet", method="masking", masked=masked)
    assert made.certificate.holds


@pytest.mark.nightly
def test_what_follows_from_data_and_files_is_certified_on_a_cluster(cluster, tmp_path):
    import pyarrow.csv as pacsv

    pacsv.write_csv(people(), tmp_path / "people.csv")
    (tmp_path / "job.csv").write_text(",a,b,c\na,0.4,0.4,0.2\nb,0.2,0.6,0.2\nc,0.3,0.3,0.4\n")
    (tmp_path / "age.csv").write_text("".join(f"{n};{n // 10}0;*\n" for n in range(20, 60)))
    masked = [
        column("pay", masking="top-coding", tail=4, replacement="mean"),
        column("hours", masking="bottom-coding", tail=4, replacement="label"),
        column("job", masking="pram", matrix="job.csv"),
        column("age", masking="recoding", taxonomy="age.csv", level=1),
    ]
    asked = {"method": "masking", "insensitive": ["note"], "masked": masked}
    files = {name: tmp_path / name for name in ("job.csv", "age.csv")}
    place = tmp_path / "out" / "a.csv"
    made = applied(tmp_path / "people.csv", place, taxonomies=files, **asked)
    again = {"data": {DATASET: tmp_path / "people.csv"}, "taxonomies": files, "engine": cluster}
    found = {
        one.column: one.figures for one in certify_output(place, asking(**asked), **again).maskings
    }
    expected = {one.column: one.figures for one in made.certificate.maskings}
    for name in ("pay", "hours"):
        assert found[name]["rowsCoded"] == expected[name]["rowsCoded"] >= 4
        assert found[name]["extremeLeft"] == expected[name]["extremeLeft"]
    assert found["age"] == expected["age"]


@pytest.mark.nightly
def test_a_label_that_is_none_is_refused_on_a_cluster(cluster, tmp_path):
    import pyarrow.csv as pacsv

    pacsv.write_csv(people(), tmp_path / "people.csv")
    masked = [column("hours", masking="bottom-coding", tail=4, replacement="label")]
    asked = {"method": "masking", "insensitive": ["note"], "masked": masked}
    place = applied(tmp_path / "people.csv", tmp_path / "out" / "a.csv", **asked).path
    (place.parent / "certificate.jsonld").unlink()
    place.write_text(place.read_text().replace(",<", ",-", 1))
    data = {DATASET: tmp_path / "people.csv"}
    with pytest.raises(CertificateError, match="V001"):
        certify_output(place, asking(**asked), data=data, engine=cluster)
