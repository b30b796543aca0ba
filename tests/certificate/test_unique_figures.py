"""What a certificate says of unique rows, and what no true one says."""

import json

import pyarrow as pa
import pytest
from applying import applied, asking
from building import column
from rich.console import Console

from policy_engine import certify_output
from policy_engine.certificate.certificate import read_certificate
from policy_engine.certificate.unique_figures import emptied_columns, remaining_risks
from policy_engine.cli.tables.certificates import certificate_table
from policy_engine.errors import CertificateError
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.plan.exact_columns import IN_BUCKETS

PEOPLE = {
    "age": [20, 21, 30, 31],
    "job": list("aabb"),
    "pay": [1, 1, 2, 3],
    "town": list("xyxx"),
}
ASKED = {"method": "k-anonymity", "k": 2, "quasi": ["age"], "insensitive": ["pay", "town"]}


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    path = tmp_path_factory.mktemp("out") / "a" / "out.csv"
    return applied(PEOPLE, path, sensitive=["job"], **ASKED)


def test_what_is_kept_exact_is_counted_on_the_output(release):
    figures = release.certificate.unique_rows
    assert {one.columns[0]: one.rows for one in figures.alone} == {"job": 0, "pay": 2, "town": 1}
    assert figures.pair.rows == 4
    assert (figures.together.rows, figures.quasi_identifiers.rows) == (4, 0)
    assert read_certificate(release.certificate.to_jsonld()) == release.certificate


def test_suppressed_rows_are_not_counted_and_ranges_may_be_two_columns():
    recoding = {"algorithm": "full-domain", "maxSuppression": 0.3}
    ages = {"age": [20, 20, 20, 90], "pay": [1, 1, 2, 3]}
    made = applied(ages, cells="bounds", **{**ASKED, "k": 3, "insensitive": ["pay"], **recoding})
    figures = made.certificate.unique_rows
    assert (figures.rows, figures.together.rows) == (made.certificate.rows_out, 1)
    assert figures.quasi_identifiers.columns in (("age_low", "age_high"), ("age",))


def test_tails_are_masked_and_all_else_is_kept():
    table = {"pay": [1, 2, 90, 95], "tax": [1, 2, 3, 4]}
    pay = column("pay", masking="top-coding", threshold=50)
    tax = column("tax", masking="rounding", base=10)
    figures = applied(table, method="masking", masked=[pay, tax]).certificate.unique_rows
    assert figures.columns == ("pay",)
    assert figures.together.rows == 2


def test_rows_in_buckets_are_not_counted():
    made = applied(
        {"age": [1, 2, 3, 4], "job": list("abab")},
        method="l-diversity",
        k=2,
        l=2,
        algorithm="bucketization",
        quasi=["age"],
        sensitive=["job"],
    )
    assert made.certificate.unique_rows == NotApplicable(reason=IN_BUCKETS)


def printed(table):
    console = Console(width=200)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def test_figures_are_shown_and_warned_of(release):
    text = printed(certificate_table(release.certificate))
    assert "unique on what is kept exact" in text
    assert "4 of 4 rows (100.00%)" in text
    [warning] = remaining_risks(release.certificate)
    assert warning.startswith("4 of 4 rows are unique on")


def test_quasi_identifiers_that_lost_everything_are_named():
    table = {"age": [1, 2, 1, 2], "town": list("xxyz"), "same": [5, 5, 5, 5]}
    asked = {"method": "k-anonymity", "k": 2, "quasi": ["age", "town", "same"]}
    made = applied(table, algorithm="full-domain", **asked)
    assert emptied_columns(made.certificate) == ("town",)
    [warning] = remaining_risks(made.certificate)
    assert warning.startswith("The quasi-identifier 'town' tells nothing any more: every released")


def test_certificates_without_figures_are_read_and_verified(release):
    beside = release.path.parent / "certificate.jsonld"
    text = beside.read_text()
    document = json.loads(text)
    del document["pe:certificate"]["unique_rows"]
    beside.write_text(json.dumps(document, indent=2) + "\n")
    try:
        measured = certify_output(release.path, asking(sensitive=["job"], **ASKED))
    finally:
        beside.write_text(text)
    assert measured.unique_rows.together.rows == 4


def changed(release, **changes):
    document = json.loads(release.certificate.to_jsonld())
    document["pe:certificate"]["unique_rows"] |= changes
    return document


@pytest.mark.parametrize(
    "changes",
    [
        {"rows": 5},
        {"together": {"columns": ["job", "pay", "town"], "rows": 3}},  # then all four
        {"together": {"columns": ["job", "pay", "town"], "rows": 2}},  # fewer than on a pair
        {"together": None},
        {"pair": None},
        {"pair": {"columns": ["pay", "age"], "rows": 4}},
        {"pair": {"columns": ["job", "town"], "rows": 1}},  # fewer than on one
        {"alone": []},
        {"quasi_identifiers": {"columns": ["age"], "rows": 9}},
    ],
)
def test_figures_that_no_output_has_are_refused(release, changes):
    with pytest.raises(CertificateError, match=r"V005 .*unique"):
        read_certificate(json.dumps(changed(release, **changes)))


def test_figures_that_are_not_those_of_the_output_are_refused(release):
    beside = release.path.parent / "certificate.jsonld"
    text = beside.read_text()
    alone = [{"columns": [name], "rows": 0} for name in ("job", "pay", "town")]
    document = changed(release, alone=alone)
    order = release.certificate.unique_rows.columns
    document["pe:certificate"]["unique_rows"]["alone"].sort(
        key=lambda one: order.index(one["columns"][0])
    )
    beside.write_text(json.dumps(document, indent=2) + "\n")
    try:
        with pytest.raises(CertificateError, match=r"V018 .*0 rows are unique on 'pay'; .* are 2"):
            certify_output(release.path, asking(sensitive=["job"], **ASKED))
    finally:
        beside.write_text(text)


def test_the_same_rows_are_counted_in_memory_and_in_files(release, tmp_path):
    table = pa.table(PEOPLE)
    made = applied(table, sensitive=["job"], **ASKED)
    stored = made.write(tmp_path / "b" / "out.parquet")
    assert made.certificate.unique_rows == stored.certificate.unique_rows
    assert made.certificate.unique_rows == release.certificate.unique_rows
