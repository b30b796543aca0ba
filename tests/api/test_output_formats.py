"""Releases in every format of a file: verified, beside their certificate, found by decisions."""

import hashlib

import pytest
from applying import asking
from building import ANALYST, DATASET, OUTPUT

from policy_engine import Request, apply_policy, certify_output, decide_request
from policy_engine.certificate.beside import load_certificates
from policy_engine.engines.tables import read_table
from policy_engine.errors import CertificateError
from policy_engine.policy.model import READ
from policy_engine.terms import expand_term

ROWS = "age,city,day,ill\n" + "".join(
    f"{20 + row},{'ab'[row % 2]},2020-01-0{1 + row % 3},{'' if row == 5 else 'flu'}\n"
    for row in range(12)
)
POLICY = asking(method="k-anonymity", k=3, quasi=["age", "city"], insensitive=["day", "ill"])
FORMATS = ("jsonl", "arrow")
BY_NIGHT = ("csv", "csv.gz", "parquet", "ndjson", "feather")


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(ROWS)
    return {DATASET: path}


@pytest.mark.parametrize(
    "ending", [*FORMATS, *(pytest.param(one, marks=pytest.mark.nightly) for one in BY_NIGHT)]
)
def test_a_release_is_verified_and_found_in_every_format(tmp_path, data, ending):
    record = tmp_path / "record.json"
    release = apply_policy(POLICY, data, tmp_path / "out" / f"x.{ending}", record=record)
    assert read_table(release.path).num_rows == 12
    assert certify_output(release.path, POLICY, data, record=record).holds
    [found] = load_certificates(release.path)
    assert found.output_digest == hashlib.sha256(release.path.read_bytes()).hexdigest()
    request = Request(
        assignee=ANALYST, action=READ, targets=(OUTPUT,), purpose=expand_term("marketing")
    )
    assert decide_request([POLICY], [release.path], request).permitted


@pytest.mark.parametrize("ending", FORMATS)
def test_a_release_that_was_changed_is_refused(tmp_path, data, ending):
    release = apply_policy(POLICY, data, tmp_path / "out" / f"x.{ending}")
    release.path.write_bytes(release.path.read_bytes() + b"\n")
    with pytest.raises(CertificateError) as caught:
        load_certificates(release.path)
    assert caught.value.problems[0].code == "V004"


def test_the_output_has_the_format_of_the_input(tmp_path):
    path = tmp_path / "people.jsonl"
    path.write_text("".join(f'{{"age": {20 + row}}}\n' for row in range(6)))
    asked = asking(method="k-anonymity", k=3, quasi=["age"])
    assert apply_policy(asked, {DATASET: path}, tmp_path / "out").path.suffix == ".jsonl"
