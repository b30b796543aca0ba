"""Columns that are released as they are, which `certify` with the data finds among those."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from applying import applied, asking
from building import DATASET, column
from everyday import everyday, examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policy_engine import certify_output
from policy_engine.engines.tables import write_table
from policy_engine.errors import CertificateError

PAY = column("pay", masking="rank-swapping", p=0.3)
ROUNDED = column("pay", masking="rounding", base=100)
KEPT = ["id", "ill", "since", "cost", "seen"]
PLAIN = {"method": "masking", "insensitive": KEPT}
CLASSES = {"k": 2, "quasi": ["age"], "insensitive": KEPT[2:]}
DIVERSE = CLASSES | {"l": 2, "sensitive": KEPT[1:2]}
SUPPRESSED = {"k": 6, "quasi": ["age"], "algorithm": "full-domain", "maxSuppression": 0.4}
POLICIES = {
    "swapped": PLAIN | {"masked": [PAY]},
    "rounded": PLAIN | {"masked": [ROUNDED]},
    "classes": {"method": "k-anonymity", **CLASSES},
    "diverse": {"method": "l-diversity", **DIVERSE},
    "both": {"method": ["l-diversity", "masking"], "masked": [PAY], **DIVERSE},
    "means": {"method": "k-anonymity", "algorithm": "microaggregation", **CLASSES},
    "suppressed": {"method": "k-anonymity", "insensitive": KEPT, **SUPPRESSED},
    "left": {"method": "k-anonymity", "insensitive": KEPT, "masked": [PAY], **SUPPRESSED},
    "cells": {"method": "k-anonymity", "algorithm": "local-suppression", **CLASSES},
    "sample": PLAIN | {"sampleShare": 0.7},
    "strata": PLAIN | {"sampleShare": 0.7, "stratifiedBy": ["ill"], "weightColumn": "weight"},
    "persons": PLAIN | {"sampleShare": 0.7, "masked": [ROUNDED]},
}


def patients(rows=30):
    """Return patients of whom some are equal, with missing values and values of many types."""
    random = np.random.default_rng(8)
    first = dt.datetime.fromisoformat("2024-01-01T09:30")
    days = [first + dt.timedelta(int(day)) for day in random.integers(0, 9, rows)]
    numbers = random.integers(0, 9, rows)
    return pa.table(
        {
            "id": [f"p{number // 2}" for number in range(rows)],
            "age": np.where(np.arange(rows) < 4, 99, 20 + numbers % 3),
            "ill": pa.array(random.choice(["flu", "cold", "1.0"], rows), mask=numbers == 3),
            "since": pa.array([day.date() for day in days]),
            "seen": pa.array(days, pa.timestamp("us")),
            "cost": pa.array([Decimal(int(one)) / 4 for one in numbers], pa.decimal128(9, 2)),
            "pay": random.permutation(rows) * 37,
        }
    )


def stored(table, path):
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    write_table(table, path)
    return path


def release(folder, table=None, ending=".csv", made=".csv", **asked):
    """Return the path of a release, and how it is certified with the data and without a key."""
    data = stored(table or patients(), folder / f"in{ending}")
    path = applied(data, folder / "out" / f"a{made}", **asked).path
    return path, lambda one: certify_output(one, asking(**asked), data={DATASET: data})


def copied(path, change):
    """Return the path of a copy of a release, of which the table of texts is changed."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    folder = path.parent.parent / "copy"
    folder.mkdir(exist_ok=True)
    change(table).to_csv(folder / "a.csv", index=False)
    return folder / "a.csv"


FILES = [".csv .csv", ".csv .parquet", ".parquet .csv", ".parquet .parquet"]


@pytest.mark.one_in(24)
@pytest.mark.parametrize("asked", POLICIES.values(), ids=POLICIES)
@pytest.mark.parametrize("files", everyday(FILES, ".csv .parquet", ".parquet .csv"))
def test_every_release_is_of_its_data_whatever_the_files(files, asked, tmp_path):
    ending, made = files.split()
    path, certify = release(tmp_path, ending=ending, made=made, **asked)
    assert certify(path).holds


ODD = ["", '"', "[1 - 2]", "{a, b}", "a or missing"]


@pytest.mark.parametrize("made", [".csv", ".parquet"])
def test_values_that_look_like_cells_are_of_the_data_where_cells_are_suppressed(made, tmp_path):
    table = pa.table({"id": range(15), "name": ODD * 3})
    asked = {"k": 2, "quasi": ["name"], "insensitive": ["id"], "algorithm": "local-suppression"}
    asked |= {"method": "k-anonymity", "sampleSize": 14}
    path, certify = release(tmp_path, table, ".parquet", made, **asked)
    assert certify(path).holds


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    return {name: release(tmp_path_factory.mktemp(name), **POLICIES[name]) for name in POLICIES}


CELLS = st.tuples(st.integers(0, 10), st.integers(0, 99), st.sampled_from(["zz", "1", "1e9"]))


@pytest.mark.nightly
@settings(
    max_examples=examples(30, times=67),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.sampled_from(sorted({*POLICIES} - {"strata"})), CELLS)
def test_a_cell_that_is_not_of_the_data_is_refused(releases, name, cell):
    path, certify = releases[name]
    column_place, row_place, value = cell

    def change(table):
        names = [one for one in KEPT if one in table]
        place = row_place % len(table), table.columns.get_loc(names[column_place % len(names)])
        table.iloc[place] = value
        return table

    with pytest.raises(CertificateError, match="V002 1 row of the output has values of '"):
        certify(copied(path, change))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", ["swapped", "rounded", "classes", "diverse", "both", "means"])
@settings(max_examples=examples(16, times=125))
@given(places=st.lists(st.integers(0, 29), min_size=2, max_size=2, unique=True))
def test_cells_that_changed_places_are_found(releases, name, places):
    path, certify = releases[name]
    before = pd.read_csv(path, dtype=str, keep_default_na=False)
    kept = [one for one in KEPT if one in before]

    def change(table):
        cells = table.loc[places, "cost"].to_numpy()
        table.loc[places, "cost"] = cells[::-1]
        return table

    def rows(table):
        return sorted(table[kept].itertuples(index=False))

    if rows(change(before.copy())) == rows(before):
        return
    with pytest.raises(CertificateError, match=r"V002 [12] rows? of the output"):
        certify(copied(path, change))


def numbered(rows=30):
    return patients(rows).set_column(0, "id", pa.array(range(rows)))


def unmasked(table):
    """Return a released table with the pay of its rows as it was."""
    before = patients().column("pay").to_pylist()
    table["pay"] = [str(before[int(number)]) for number in table["id"]]
    return table


def doubled(table):
    table.loc[1, KEPT] = table.loc[0, KEPT]
    return table


def strange(table):
    table.loc[0, "id"] = "999"
    return table


@pytest.mark.one_in(2)
@pytest.mark.parametrize("change", [doubled, strange])
def test_a_row_number_that_is_not_of_the_data_hides_no_original(change, tmp_path):
    path, certify = release(tmp_path, numbered(), **POLICIES["swapped"])
    assert certify(path).holds
    with pytest.raises(CertificateError, match="V001 30 cells of 'pay'"):
        certify(copied(path, unmasked))
    with pytest.raises(CertificateError, match="V002 1 row of the output has values of 'id', "):
        certify(copied(path, lambda table: change(unmasked(table))))


def test_a_row_that_is_suppressed_is_in_no_output(tmp_path):
    table = numbered()
    path, certify = release(tmp_path, table, **POLICIES["left"])
    kept = pd.read_csv(path)["id"]
    others = table.to_pandas()[~np.isin(np.arange(30), kept)].astype(str)
    assert len(others)

    def change(rows):
        rows.loc[0, KEPT] = others[KEPT].iloc[0]
        return rows

    with pytest.raises(CertificateError, match="V002 1 row"):
        certify(copied(path, change))


@pytest.mark.parametrize("name", ["classes", "suppressed"])
@pytest.mark.parametrize("times", [0, 2])
def test_rows_are_as_many_as_the_data_have(name, times, releases):
    path, certify = releases[name]

    def change(table):
        return pd.concat([table] * times) if times else table[table["age"] != table["age"][0]]

    with pytest.raises(CertificateError, match=r"V003 The output has [0-9]+ rows, and the data 30"):
        certify(copied(path, change))
