import json

import pytest
from building import ANALYST, DATASET, OUTPUT

from policy_engine.certificate import (
    Certificate,
    check,
    load_certificate,
    read_certificate,
)
from policy_engine.errors import CertificateError, DataError


@pytest.fixture
def certificate(released):
    return load_certificate(released / "release")


def test_a_certificate_holds_what_was_measured(certificate):
    assert certificate.holds
    found = [(m.bound, m.column, m.asked, m.achieved) for m in certificate.measurements]
    assert found == [("k", "", 2, 3), ("l", "disease", 2, 2)]
    assert (certificate.rows_in, certificate.rows_out) == (6, 6)
    assert certificate.utility.classes == 2
    assert certificate.utility.average_class_ratio == 1.5
    assert certificate.utility.discernability == 9 + 9


def test_the_loss_of_a_release_can_be_checked_by_hand(certificate):
    # Ages 20-40 and 41-61 of 20-61, and two cities of three: 20/41 for age, 2/3 for city.
    expected = (20 / 41 + 2 / 3) / 2
    assert certificate.utility.global_certainty_penalty == pytest.approx(expected)


def test_a_certificate_comes_back_from_its_json_ld(certificate):
    assert read_certificate(certificate.to_jsonld()) == certificate


def test_provenance_names_what_was_used_and_what_was_made(certificate):
    document = json.loads(certificate.to_jsonld())
    assert document["@id"] == OUTPUT
    activity = document["prov:wasGeneratedBy"]
    assert activity["used"] == ["http://x.org/policy", DATASET]
    assert activity["@type"] == "prov:Activity"


def test_provenance_is_valid_json_ld(certificate):
    from pyld import jsonld

    dropped = []
    [node] = jsonld.expand(json.loads(certificate.to_jsonld()), on_property_dropped=dropped.append)
    [activity] = node["http://www.w3.org/ns/prov#wasGeneratedBy"]
    assert {"@id": DATASET} in activity["http://www.w3.org/ns/prov#used"]
    assert dropped == []


def test_check_names_the_class_and_the_bound_that_broke(certificate):
    broken = certificate.measurements[0].model_copy(update={"achieved": 1, "worst": 7})
    short = certificate.model_copy(update={"measurements": (broken,)})
    with pytest.raises(CertificateError) as caught:
        check(short)
    assert str(caught.value) == "V001 k is 2, but class 7 of the output holds 1 rows."


def test_check_counts_rows(certificate):
    with pytest.raises(CertificateError, match="V003"):
        check(certificate.model_copy(update={"rows_out": 5}))


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"pe:certificate": {}}', "\xff", "[" * 9999])
def test_what_is_no_certificate_is_refused(text):
    with pytest.raises(CertificateError, match="V005"):
        read_certificate(text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"@id": "http://x.org/anonPeople"', '"@id": "http://x.org/other"'),
        ('"file": "anonPeople.csv"', '"file": "../../people.csv"'),
        ('"rows_in": 6', '"rows_in": 6, "rows_in": 7'),
        ('"pe:certificate": {', '"pe:more": 1, "pe:certificate": {'),
    ],
    ids=["outside-and-inside", "path", "twice", "more"],
)
def test_a_certificate_that_contradicts_itself_is_refused(certificate, old, new):
    text = certificate.to_jsonld()
    assert old in text
    with pytest.raises(CertificateError, match="V005"):
        read_certificate(text.replace(old, new, 1))


def test_a_certificate_gives_away_no_path(released):
    text = (released / "release" / "certificate.jsonld").read_text()
    assert str(released) not in text
    assert '"location": "people.csv"' in text


def test_a_certificate_of_another_file_is_refused(released):
    output = released / "release" / "anonPeople.csv"
    output.write_text(output.read_text().replace("flu", "cold", 1))
    with pytest.raises(CertificateError, match="V004"):
        load_certificate(released / "release")


def test_no_certificate_is_told(tmp_path):
    with pytest.raises(DataError, match="C002"):
        load_certificate(tmp_path)


def test_who_asked_is_in_the_plan(certificate):
    assert isinstance(certificate, Certificate)
    assert certificate.plan.assignees == (ANALYST,)
