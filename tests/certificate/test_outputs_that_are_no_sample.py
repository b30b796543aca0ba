"""Outputs that cannot be the sample that their policy asks for, with the data and without."""

import json
from hashlib import sha256

import pandas as pd
import pytest
from applying import applied, asking
from building import DATASET, column

from policy_engine import certify_output
from policy_engine.errors import CertificateError

KEY = b"\x05" * 32
ALONE = {"method": "masking", "insensitive": ["id", "sex"]}
TABLE = {"id": range(100), "sex": ["a"] * 60 + ["b"] * 30 + ["c"] * 10}
SIZED = {**ALONE, "sampleSize": 20}
STRATIFIED = {**ALONE, "sampleShare": 0.2, "stratifiedBy": ["sex"], "weightColumn": "w"}
DRAWN = {**ALONE, "sampleShare": 0.1}


@pytest.fixture
def sampled(tmp_path):
    """Makes a release by what is asked, and returns how it is certified after a change of it."""

    def release(asked, change=None, figures=None):
        pd.DataFrame(TABLE).to_csv(tmp_path / "in.csv", index=False)
        path = applied(tmp_path / "in.csv", tmp_path / "out" / "a.csv", key=KEY, **asked).path
        beside = path.parent / "certificate.jsonld"
        digest = sha256(path.read_bytes()).hexdigest()
        if change is not None:
            change(pd.read_csv(path)).to_csv(path, index=False)
        document = json.loads(
            beside.read_text().replace(digest, sha256(path.read_bytes()).hexdigest())
        )
        document["pe:certificate"]["rows_out"] = len(pd.read_csv(path))
        document["pe:certificate"]["sample"].update(figures or {})
        beside.write_text(json.dumps(document, indent=2) + "\n")
        if change is not None and figures is None:
            beside.unlink()
        data = {DATASET: tmp_path / "in.csv"}
        return lambda **more: certify_output(path, asking(**asked), **{"data": data, **more})

    return release


def of(number):
    return lambda _: pd.DataFrame(TABLE).iloc[:number]


def with_column(name, make):
    return lambda table: table.assign(**{name: make(table)})


@pytest.mark.one_in(3)
@pytest.mark.parametrize("asked", [SIZED, STRATIFIED, DRAWN])
def test_a_sample_is_certified_with_the_data_and_without(sampled, asked):
    certify = sampled(asked)
    for more in ({}, {"data": None}, {"key": KEY}):
        assert certify(**more).sample.rows == certify().rows_out


@pytest.mark.parametrize("rows", [1, 19, 21, 100])
def test_a_size_is_counted_in_the_output(sampled, rows):
    certify = sampled(SIZED, of(rows))
    for more in ({}, {"data": None}):
        message = f"V003 The output has {rows} rows, but the policy samples 20"
        with pytest.raises(CertificateError, match=message):
            certify(**more)


@pytest.mark.parametrize("rows", [60, 100])
def test_a_share_that_is_not_drawn_is_refused_with_the_data(sampled, rows):
    certify = sampled(DRAWN, of(rows))
    with pytest.raises(CertificateError, match=r"V003 .* cannot be a sample with the share 0\.1"):
        certify()


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda table: table.w * 2, "V001 20 rows of 'w' cannot have the weight"),
        (lambda table: table.w * 1.01, "V001"),
        (lambda table: table.w.to_numpy()[::-1] + table.id / 7, "V001"),
    ],
    ids=["doubled", "longer", "of rows"],
)
def test_weights_of_other_strata_are_refused(sampled, make, code):
    with pytest.raises(CertificateError, match=code):
        sampled(STRATIFIED, with_column("w", make))()


def test_weights_within_a_stratum_are_one_weight_even_without_the_data(sampled):
    certify = sampled(STRATIFIED, with_column("w", lambda table: 5.0 + (table.id % 2)))
    with pytest.raises(CertificateError, match="V001"):
        certify(data=None)


def test_rows_that_are_not_of_the_data_are_refused(sampled):
    certify = sampled(SIZED, with_column("id", lambda table: table.id + 1000))
    said = "V002 20 rows of the output have values of 'id' and 'sex' that the data do not"
    with pytest.raises(CertificateError, match=said):
        certify()
    assert certify(data=None).holds


def test_rows_of_other_strata_are_refused(sampled):
    certify = sampled(STRATIFIED, lambda table: of(20)(table).assign(w=5.0))
    with pytest.raises(CertificateError, match="V003 3 strata of the output have other numbers"):
        certify()


@pytest.mark.parametrize(
    ("figures", "message"),
    [
        ({"share": 20 / 104}, "The share of its sample is 0.19"),
        ({"strata": 9}, "Its sample has 9 strata"),
    ],
    ids=str,
)
def test_false_figures_are_refused_and_not_renewed(sampled, figures, message):
    certify = sampled(STRATIFIED, figures=figures)
    for more in ({}, {"data": None}, {"write": True}):
        with pytest.raises(CertificateError, match=f"V005 .*{message}"):
            certify(**more)
    with pytest.raises(CertificateError, match=r"V005 .*Made again, it has other figures"):
        certify(key=KEY, write=True)


def test_a_certificate_that_contradicts_itself_is_not_passed_over(sampled):
    certify = sampled(SIZED, figures={"sampled": 7})
    with pytest.raises(CertificateError, match="V005 The certificate contradicts itself"):
        certify()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("given", [["1", "1.0", "01", "1"], ["nan", "1e3", "1000", "-0"]])
def test_a_sample_is_certified_however_its_values_are_written(tmp_path, ending, given):
    rows = pd.DataFrame({"id": [*given] * 3, "sex": [*"aabb"] * 3})
    rows.to_csv(tmp_path / "in.csv", index=False)
    for by in ("id", "sex"):
        asked = {**ALONE, "sampleSize": 8, "stratifiedBy": [by], "weightColumn": "w"}
        path = applied(tmp_path / "in.csv", tmp_path / by / f"a.{ending}", **asked).path
        for data in (None, {DATASET: tmp_path / "in.csv"}):
            assert certify_output(path, asking(**asked), data).rows_out == 8


@pytest.mark.parametrize("key", [None, KEY])
def test_buckets_of_sampled_rows_are_certified_without_the_key(tmp_path, key):
    buckets = {"method": "l-diversity", "k": 2, "l": 2, "quasi": ["id"], "sensitive": ["sex"]}
    asked = {**buckets, "algorithm": "bucketization", "buckets": "distinct-l", "sampleSize": 40}
    pd.DataFrame(TABLE).to_csv(tmp_path / "in.csv", index=False)
    path = applied(tmp_path / "in.csv", tmp_path / "out" / "a.csv", key=key, **asked).path
    data = {DATASET: tmp_path / "in.csv"}
    assert certify_output(path, asking(**asked), data).sample.rows == 40


STRATA = {
    "spelled": ["1", "1.0", "2", "02"],
    "blanks": ["a", " a", "b", "b"],
    "long": [str(2**53), str(2**53 + 1), str(2**53 + 2), "7"],
    "decimals": ["0.10000000000000000001", "0.10000000000000000002", "1.5", "2"],
    "moments": [f"2020-01-01 00:00:00.00000000{one}" for one in range(4)],
}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", STRATA)
@pytest.mark.parametrize("kinds", [("csv", "parquet"), ("parquet", "csv"), ("csv", "csv")])
def test_strata_are_the_same_in_files_of_any_format(tmp_path, name, kinds):
    table = pd.DataFrame({"id": range(100), "sex": STRATA[name] * 25})
    source, made = (tmp_path / one / f"a.{kind}" for one, kind in zip("io", kinds, strict=True))
    source.parent.mkdir()
    table.to_csv(source, index=False) if kinds[0] == "csv" else table.to_parquet(source)
    path = applied(source, made, key=KEY, **STRATIFIED).path
    for data in (None, {DATASET: source}):
        assert certify_output(path, asking(**STRATIFIED), data=data).sample.rows == 20


def test_weights_of_another_format_are_those_of_the_strata(tmp_path):
    table = pd.DataFrame({"id": range(100), "sex": ["1", "1.0", "2", "3"] * 25})
    table.to_parquet(tmp_path / "in.parquet")
    path = applied(tmp_path / "in.parquet", tmp_path / "out" / "a.csv", **STRATIFIED).path
    pd.read_csv(path, dtype=str).assign(w="6").to_csv(path, index=False)
    path.with_name("certificate.jsonld").unlink()
    with pytest.raises(CertificateError, match="V001 20 rows of 'w'"):
        certify_output(path, asking(**STRATIFIED), data={DATASET: tmp_path / "in.parquet"})


MASKED = {
    "method": "masking",
    "insensitive": ["id"],
    "masked": [
        column("pay", masking="rounding", base=10),
        column("age", masking="top-coding", threshold=60, replacement="label"),
    ],
    "sampleSize": 20,
}


def test_masked_cells_of_a_sample_are_those_of_their_rows(tmp_path):
    pay = [7 * n for n in range(100)]
    table = pd.DataFrame({"id": [n // 2 for n in range(100)], "pay": pay, "age": range(100)})
    table.to_csv(tmp_path / "in.csv", index=False)
    path = applied(tmp_path / "in.csv", tmp_path / "a.csv", key=KEY, **MASKED).path
    data = {DATASET: tmp_path / "in.csv"}
    assert certify_output(path, asking(**MASKED), data).rows_out == 20
    made = pd.read_csv(path)
    made.assign(pay=made.pay + 100).to_csv(path, index=False)
    (path.parent / "certificate.jsonld").unlink()
    with pytest.raises(CertificateError, match="V001 20 cells of 'pay' cannot be what the masking"):
        certify_output(path, asking(**MASKED), data)
