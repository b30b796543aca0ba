"""Masked numbers that are written more finely than their masking writes them, found by the data."""

import datetime as dt

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from applying import applied
from building import column
from everyday import everyday
from masked_people import certified, stored

from policy_engine.errors import CertificateError

NOISE = column("pay", masking="noise", sdShare=0.3)
KIM = [
    column(name, masking="correlated-noise", sdShare=0.3, variant="kim") for name in ("pay", "b")
]
FACTORS = column("pay", masking="multiplicative-noise", logSd=0.2)
MEANS = column("pay", masking="microaggregation", groupSize=3)
OTHER_TYPE = "V002 The column 'pay' of the output is of the type"
MASKED = [[NOISE], KIM, [FACTORS], [MEANS]]


def asking(masked, *, unmatched=False):
    return {"method": "masking", "insensitive": ["age" if unmatched else "id"], "masked": masked}


def workers(rows=60):
    random = np.random.default_rng(2)
    pay, other = (random.choice(10**5, rows, replace=False) for _ in range(2))
    return pd.DataFrame({"id": range(rows), "age": 30, "pay": pay, "b": other})


def with_decimals(path, change):
    """Write other values of `pay` in an output, without its certificate and metadata."""
    table = pd.read_csv(path, dtype=str) if path.suffix == ".csv" else pd.read_parquet(path)
    table["pay"] = [change(one) for one in table["pay"]]
    copy = path.parent / "copy" / path.name
    if path.suffix == ".csv":
        return stored(table, copy)
    copy.parent.mkdir()
    plain = pa.Table.from_pandas(table, preserve_index=False)
    pq.write_table(plain.replace_schema_metadata(), copy)
    return copy


@pytest.mark.one_in(16)
@pytest.mark.parametrize("masked", MASKED, ids=lambda one: one[0]["pe:masking"])
@pytest.mark.parametrize("unmatched", [False, True])
@pytest.mark.parametrize("kind", [".csv", ".parquet"])
def test_decimals_of_masked_integers_are_refused(masked, unmatched, kind, tmp_path):
    data, asked = stored(workers(), tmp_path / f"in{kind}"), asking(masked, unmatched=unmatched)
    release = applied(data, tmp_path / "out" / f"a{kind}", **asked)
    changed = with_decimals(
        release.path, lambda pay: f"{pay}.008011" if kind == ".csv" else pay + 0.25
    )
    said = "V001 60 cells of 'pay' do not keep its" if kind == ".csv" else OTHER_TYPE
    with pytest.raises(CertificateError, match=said):
        certified(changed, data, **asked)


@pytest.mark.parametrize("tail", ["001", "00000000000000000001"])
def test_more_decimals_than_those_of_the_data_are_refused(tail, tmp_path):
    table = workers().assign(pay=workers()["pay"] + 0.25)
    data, asked = stored(table, tmp_path / "in.csv"), asking([NOISE])
    release = applied(data, tmp_path / "out" / "a.csv", **asked)
    changed = with_decimals(release.path, lambda pay: f"{float(pay):.2f}{tail}")
    with pytest.raises(CertificateError, match="V001 60 cells of 'pay' do not keep its noise"):
        certified(changed, data, **asked)


def test_digits_beyond_those_of_floats_are_refused(tmp_path):
    table = workers().assign(pay=np.sqrt(workers()["pay"]))
    data, asked = stored(table, tmp_path / "in.parquet"), asking([NOISE])
    release = applied(data, tmp_path / "out" / "a.csv", **asked)
    assert certified(release.path, data, **asked)
    changed = with_decimals(release.path, lambda pay: f"{float(pay):.17f}0012345")
    with pytest.raises(CertificateError, match="V001 60 cells of 'pay' do not keep its noise"):
        certified(changed, data, **asked)


def day_table(unit=None):
    days = pa.array(workers()["pay"].to_numpy() % 9000, pa.int32()).cast(pa.date32())
    table = pa.table({"id": range(60), "pay": days})
    return table if unit is None else table.set_column(1, "pay", days.cast(pa.timestamp(unit)))


@pytest.mark.parametrize(
    ("before", "unit", "step"),
    [
        (None, "us", {"hours": 7}),
        ("us", "us", {"milliseconds": 1}),
        ("s", "ns", {"microseconds": 5}),
    ],
)
def test_finer_times_than_those_of_the_data_are_refused(before, unit, step, tmp_path):
    pq.write_table(day_table(before), tmp_path / "in.parquet")
    release = applied(tmp_path / "in.parquet", tmp_path / "out" / "a.parquet", **asking([NOISE]))
    made = pq.read_table(release.path)
    times = made.column("pay").cast(pa.timestamp("us")).to_pylist()
    finer = pa.array([one + dt.timedelta(**step) for one in times], pa.timestamp(unit))
    (tmp_path / "copy").mkdir()
    pq.write_table(made.set_column(1, "pay", finer), tmp_path / "copy" / "a.parquet")
    said = "V001 60 cells of 'pay' do not keep its noise" if before else OTHER_TYPE
    with pytest.raises(CertificateError, match=said):
        certified(tmp_path / "copy" / "a.parquet", tmp_path / "in.parquet", **asking([NOISE]))


KINDS = {
    "float": np.sqrt,
    "tiny": lambda pay: np.round(np.sqrt(pay) * 1e-9, 15),
    "huge": lambda pay: pay * 1e9 + 0.5,
    "cents": lambda pay: pay / 100,
    "short": lambda pay: (pay / 7).astype(np.float32),
    "half": lambda pay: (pay / 1e4).astype(np.float16),
    "small": lambda pay: (pay % 9000).astype(np.int32),
    "decimal": lambda pay: [
        pa.scalar(f"{10**8 + one}.25").cast(pa.decimal128(13, 3)).as_py() for one in pay
    ],
}


FILES = [".csv .csv", ".csv .parquet", ".parquet .csv", ".parquet .parquet"]


@pytest.mark.one_in(12)
@pytest.mark.parametrize("files", everyday(FILES, ".csv .parquet"))
@pytest.mark.parametrize("kind", KINDS)
def test_what_a_masking_writes_is_never_too_fine(kind, files, tmp_path):
    given, made = files.split()
    for place, masked in enumerate(MASKED):
        table = workers().assign(pay=KINDS[kind](workers()["pay"]))
        data, asked = stored(table, tmp_path / f"in{given}"), asking(masked)
        release = applied(data, tmp_path / f"out{place}" / f"a{made}", **asked)
        assert certified(release.path, data, **asked)
