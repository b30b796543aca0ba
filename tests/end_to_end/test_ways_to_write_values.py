"""Ways to write the values of an output, none of which may tell more than the values do."""

import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from applying import applied, asking
from building import DATASET, column
from pyarrow import parquet

from policy_engine import certify_output
from policy_engine.errors import CertificateError

ROWS = 40
BLANK = "\u2003"
TABLE = pa.table(
    {
        "id": range(ROWS),
        "all": [1] * ROWS,
        "job": [f"w{number % 20}" for number in range(ROWS)],
        "pay": [number * 37 % 101 + 0.5 for number in range(ROWS)],
        "day": pa.array([f"2024-01-{1 + number % 28:02}" for number in range(ROWS)]).cast("date32"),
        "done": [number % 3 == 0 for number in range(ROWS)],
    }
)
SWAPPED = {
    "job": {"masking": "rank-swapping", "p": 0.5, "order": "lexicographic"},
    "pay": {"masking": "rank-swapping", "p": 0.3},
    "day": {"masking": "pram", "keep": 0.5},
}
ROUNDED = column("pay", masking="rounding", base=10)


def stored(table, path):
    path.parent.mkdir(exist_ok=True)
    frame = table.to_pandas() if isinstance(table, pa.Table) else table
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        kept = table if isinstance(table, pa.Table) else pa.Table.from_pandas(table)
        parquet.write_table(kept.replace_schema_metadata(), path)
    return path


def released(folder, table, ending, made, **parts):
    """Return the path of a release, and how outputs are certified with its data alone."""
    asked = {"method": "masking", **parts}
    data = stored(table, folder / f"in{ending}")
    release = applied(data, folder / "out" / f"a{made}", **asked)
    return release.path, lambda path: certify_output(path, asking(**asked), data={DATASET: data})


def blanks(path, name):
    """Return the path of a copy of a release with blanks behind every other value of a column."""
    if path.suffix == ".csv":
        table = pd.read_csv(path, dtype=str)
        table[name] += np.where(np.arange(len(table)) % 2, BLANK, "")
    else:
        table = parquet.read_table(path)
        texts = table.column(name).cast(pa.string()).to_pylist()
        texts = pa.array([one + BLANK * (place % 2) for place, one in enumerate(texts)])
        table = table.set_column(table.column_names.index(name), name, texts)
    return stored(table, path.parent.parent / "copy" / path.name)


@pytest.mark.one_in(12)
@pytest.mark.parametrize("name", SWAPPED)
@pytest.mark.parametrize("known", ["id", "all"])
@pytest.mark.parametrize("made", [".csv", ".parquet"])
def test_blanks_behind_masked_values_are_refused(name, known, made, tmp_path):
    masked = [column(name, **SWAPPED[name])]
    path, certify = released(tmp_path, TABLE, made, made, insensitive=[known], masked=masked)
    assert certify(path).holds
    with pytest.raises(CertificateError, match=rf"V00[12] .*'{name}'"):
        certify(blanks(path, name))


@pytest.mark.one_in(12)
@pytest.mark.parametrize("name", ["job", "day", "done", "id"])
@pytest.mark.parametrize("files", [(".csv", ".csv"), (".parquet",) * 2, (".parquet", ".csv")])
def test_blanks_behind_kept_values_are_refused(name, files, tmp_path):
    kept = ["id", name] if name != "id" else ["id"]
    path, certify = released(tmp_path, TABLE, *files, insensitive=kept, masked=[ROUNDED])
    assert certify(path).holds
    with pytest.raises(CertificateError, match="V002"):
        certify(blanks(path, name))


NUMBERS = {"noise": {"masking": "noise", "sdShare": 0.2}, "swaps": SWAPPED["pay"]}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("masking", NUMBERS)
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_numbers_that_are_drawn_have_one_spelling(masking, ending, tmp_path):
    masked = [column("pay", **NUMBERS[masking])]
    path, certify = released(tmp_path, TABLE, ending, ".csv", insensitive=["id"], masked=masked)
    assert certify(path).holds
    table = pd.read_csv(path, dtype=str)
    table["pay"] = [
        f"{one}0" if "." in one and place % 2 else one for place, one in enumerate(table["pay"])
    ]
    with pytest.raises(CertificateError, match=r"V001 [0-9]+ cells of 'pay'"):
        certify(stored(table, tmp_path / "copy" / "a.csv"))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("made", [".csv", ".parquet"])
def test_texts_stay_texts_where_all_that_are_drawn_look_like_times(made, tmp_path):
    texts = ["12:00"] * 20 + ["13:00:00"] * 19 + ["noon"]
    table = pa.table({"id": range(ROWS), "job": texts})
    masked = [column("job", masking="pram", keep=0.5)]
    for _ in range(4):  # draws of which some lose the only odd text
        folder = tmp_path / str(_)
        folder.mkdir()
        path, certify = released(folder, table, ".csv", made, insensitive=["id"], masked=masked)
        assert certify(path).holds


TIMES = {
    "times": (
        ["12:00", "12:00:00", "13:30", "14:00:00.50"],
        {"12:00:00", "13:30:00", "14:00:00.5"},
    ),
    "moments": (
        ["2024-01-01T10:00", "2024-01-01 10:00:00", "2024-01-02 09:00:00.250"],
        {"2024-01-01 10:00:00", "2024-01-02 09:00:00.25"},
    ),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("kind", TIMES)
@pytest.mark.parametrize("made", [".csv", ".parquet"])
def test_one_time_that_is_spelled_in_two_ways_is_one_category(kind, made, tmp_path):
    texts, published = TIMES[kind]
    table = pa.table({"id": range(ROWS), "at": [texts[one % len(texts)] for one in range(ROWS)]})
    masked = [column("at", masking="pram", keep=0.6)]
    path, certify = released(tmp_path, table, ".csv", made, insensitive=["id"], masked=masked)
    assert certify(path).holds
    if made == ".csv":
        assert set(pd.read_csv(path, dtype=str)["at"]) <= published


def test_a_zero_with_a_sign_is_the_integer_that_parquet_has_of_it(tmp_path):
    table = pa.table({"kept": ["-0", "5", "7"], "pay": [12, 25, 31]})
    path, certify = released(
        tmp_path, table, ".csv", ".parquet", insensitive=["kept"], masked=[ROUNDED]
    )
    assert certify(path).holds


def test_numbers_too_small_to_be_written_have_a_mean_of_zero(tmp_path):
    table = pa.table({"id": range(4), "pay": [1e-20, 2e-20, 3e-20, 4e-20]})
    masked = [column("pay", masking="microaggregation", groupSize=2)]
    path, certify = released(tmp_path, table, ".csv", ".csv", insensitive=["id"], masked=masked)
    assert set(pd.read_csv(path)["pay"]) == {0}
    assert certify(path).holds


def test_another_time_zone_is_refused(tmp_path):
    moments = pa.array(range(ROWS), pa.timestamp("us", "UTC"))
    table = TABLE.append_column("at", moments)
    path, certify = released(
        tmp_path, table, ".parquet", ".parquet", insensitive=["id", "at"], masked=[ROUNDED]
    )
    made = parquet.read_table(path)
    place = made.column_names.index("at")
    other = made.column("at").cast(pa.timestamp("us", "+07:33"))
    with pytest.raises(CertificateError, match="V002 The column 'at' of the output is of the type"):
        certify(stored(made.set_column(place, "at", other), tmp_path / "copy" / "a.parquet"))


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_a_byte_order_mark_is_refused(ending, tmp_path):
    asked = {"method": "masking", "insensitive": ["id"], "masked": [ROUNDED]}
    path = applied(TABLE, tmp_path / "out" / f"a{ending}", **asked).path
    data = path.read_bytes() if ending == ".csv" else gzip.decompress(path.read_bytes())
    data = b"\xef\xbb\xbf" + data
    (tmp_path / "copy").mkdir()
    copy = tmp_path / "copy" / path.name
    copy.write_bytes(data if ending == ".csv" else gzip.compress(data, mtime=0))
    with pytest.raises(CertificateError, match="V002 The file holds a byte-order mark"):
        certify_output(copy, asking(**asked))
