"""Outputs that are certified by their data alone, where rows are matched with those of the data."""

import numpy as np
import pandas as pd
import pytest
from applying import applied
from building import column
from masked_people import (
    BOTH,
    CAP,
    COST,
    HOME,
    HOURS,
    JOB,
    MASKED,
    PAY,
    RENT,
    SINCE,
    TAX,
    certified,
    people,
    stored,
)

from policy_engine.errors import CertificateError

PLAIN = {"method": "masking", "insensitive": ["id", "age"]}


def copied(release, folder, change):
    """Return the path of a release without its certificate, with its cells changed."""
    table = pd.read_csv(release.path, dtype=str, keep_default_na=False)
    change(table)
    return stored(table, folder / "copy" / "out.csv")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("given", [".csv", ".parquet"])
@pytest.mark.parametrize("made", [".csv", ".parquet"])
def test_all_figures_are_made_again_whatever_the_files(given, made, tmp_path):
    data, asked = stored(people(), tmp_path / f"in{given}"), PLAIN | {"masked": MASKED}
    release = applied(data, tmp_path / "out" / f"a{made}", **asked)
    expected = {one.column: dict(one.figures) for one in release.certificate.maskings}
    assert certified(release.path, data, **asked) == expected
    figures = {name for told in expected.values() for name in told}
    assert figures >= {"largestRankMove", "largestDeviation", "correlation", "informationLoss"}


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "masked", [PAY, CAP, RENT, COST, SINCE, HOME, TAX, BOTH[0]], ids=lambda one: one["pe:masking"]
)
def test_a_column_whose_cells_are_in_other_rows_is_broken(masked, tmp_path):
    data, asked = stored(people(), tmp_path / "in.csv"), PLAIN | {"masked": [masked]}
    release = applied(data, tmp_path / "out" / "a.csv", **asked)
    name = masked["@id"].rpartition("/")[2]

    def turn(table):
        table[name] = table[name].sample(frac=1, random_state=1).to_numpy()

    with pytest.raises(CertificateError, match=f"V001 [0-9]+ cells of '{name}' do not keep"):
        certified(copied(release, tmp_path, turn), data, **asked)


def test_an_order_that_the_columns_given_do_not_explain_is_broken(tmp_path):
    table = people(400)
    table["hours"] = table["age"] + np.arange(400) % 3
    data, asked = stored(table, tmp_path / "in.csv"), PLAIN | {"masked": [HOURS]}
    release = applied(data, tmp_path / "out" / "a.csv", **asked)
    assert certified(release.path, data, **asked)

    def turn(rows):
        rows["hours"] = rows["hours"].sample(frac=1, random_state=1).to_numpy()

    with pytest.raises(CertificateError, match="V001 400 cells of 'hours' do not keep its shuf"):
        certified(copied(release, tmp_path, turn), data, **asked)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("kind", ["int64", "float64", "datetime64[us]", "bool"])
def test_categories_of_a_typed_file_are_found_in_one_of_texts(kind, tmp_path):
    table = people()[["id"]].assign(job=(np.arange(60) % 2).astype(kind))
    data = stored(table, tmp_path / "in.parquet")
    asked = {"method": "masking", "insensitive": ["id"], "masked": [JOB]}
    release = applied(data, tmp_path / "out" / "a.csv", **asked)
    expected = dict(release.certificate.maskings[0].figures)
    assert certified(release.path, data, **asked) == {"job": expected}


def test_cells_that_are_missing_elsewhere_than_before_are_broken(tmp_path):
    data, asked = stored(people(), tmp_path / "in.csv"), PLAIN | {"masked": [JOB]}
    release = applied(data, tmp_path / "out" / "a.csv", **asked)

    def move(table):
        missing = table.index[table["job"] == ""][0]
        table.loc[[missing, 0 if missing else 1], "job"] = ["a", ""]

    with pytest.raises(CertificateError, match="V001 2 cells of 'job' do not keep its pram"):
        certified(copied(release, tmp_path, move), data, **asked)


def test_a_column_that_was_to_be_changed_and_is_not_is_broken(tmp_path):
    data, asked = stored(people(), tmp_path / "in.csv"), PLAIN | {"masked": [PAY]}
    output = stored(people()[["id", "age", "pay"]], tmp_path / "copy" / "out.csv")
    with pytest.raises(CertificateError, match="V001 59 cells of 'pay' do not keep"):
        certified(output, data, **asked)


@pytest.mark.parametrize("unmasked", [{"insensitive": ["age"]}, {}])
def test_rows_that_no_columns_tell_apart_are_not_matched(unmasked, tmp_path):
    data = stored(people(), tmp_path / "in.csv")
    asked = {"method": "masking", "masked": [PAY, SINCE], **unmasked}
    release = applied(data, tmp_path / "out" / "a.csv", **asked)
    figures = certified(release.path, data, **asked)
    assert {name: [*told] for name, told in figures.items()} == {
        "pay": [],
        "since": ["varianceRatio"],
    }


def test_rows_that_are_not_suppressed_are_matched(tmp_path):
    table = people()
    table["age"] = np.where(np.arange(60) < 8, "young", "old")
    asked = {"method": "k-anonymity", "k": 14, "quasi": ["age"], "insensitive": ["id"]}
    asked |= {"algorithm": "full-domain", "maxSuppression": 0.5, "masked": [PAY, JOB, RENT, TAX]}
    data = stored(table, tmp_path / "in.csv")
    release = applied(data, tmp_path / "out" / "a.csv", **asked)
    assert 0 < release.certificate.rows_out < 60
    expected = {one.column: dict(one.figures) for one in release.certificate.maskings}
    assert certified(release.path, data, **asked) == expected


TIED = {"method": "masking", "insensitive": ["age"]}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("masked", [[CAP], [RENT], [RENT, CAP, PAY]], ids=str)
@pytest.mark.parametrize("made", [".csv", ".parquet"])
def test_masked_cells_are_beside_their_rows_where_rows_are_tied(masked, made, tmp_path):
    data, asked = stored(people(), tmp_path / "in.csv"), TIED | {"masked": masked}
    release = applied(data, tmp_path / "out" / f"a{made}", **asked)
    assert certified(release.path, data, **asked)


def test_masked_cells_of_tied_rows_are_not_those_of_others(tmp_path):
    table = pd.DataFrame({"age": [1, 1, 2, 2], "rent": [50, 100, 150, 200], "cap": [0, 0, 9, 9]})
    capped = column("cap", masking="top-coding", threshold=8)
    data, asked = stored(table, tmp_path / "in.csv"), TIED | {"masked": [RENT, capped]}
    release = applied(data, tmp_path / "out" / "a.csv", **asked)

    def turn(rows):
        rows["rent"] = ["100", "150", "50", "200"]

    with pytest.raises(CertificateError, match="V001 2 cells of 'rent' do not keep its rounding"):
        certified(copied(release, tmp_path, turn), data, **asked)


def test_masked_cells_of_one_row_stay_together(tmp_path):
    table = people()
    table["age"] = 30
    data, asked = stored(table, tmp_path / "in.csv"), TIED | {"masked": [RENT, CAP, PAY]}
    release = applied(data, tmp_path / "out" / "a.csv", **asked)

    def mix(rows):
        rows["rent"] = rows["rent"].sample(frac=1, random_state=1).to_numpy()

    with pytest.raises(CertificateError) as told:
        certified(copied(release, tmp_path, mix), data, **asked)
    assert {one.message.partition("'")[2][:3] for one in told.value.problems} == {"ren", "cap"}
