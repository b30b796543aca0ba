import json
from hashlib import sha256
from pathlib import Path

import pytest
from applying import applied
from building import DATASET, PEOPLE, column

from policy_engine import apply_policy, certify_output
from policy_engine.certificate.beside import load_certificate
from policy_engine.certificate.record import (
    absolute_name,
    find_opening_record,
    load_record,
    read_record,
)
from policy_engine.data.commitment import Commitment
from policy_engine.errors import CertificateError, DataError, Problem


@pytest.fixture
def recorded(people):
    """The folder of `people`, with a release in `release/` and its record in `record.json`."""
    data = {DATASET: people / "people.csv"}
    apply_policy(people / "policy.jsonld", data, people / "release", record=people / "record.json")
    return people


def certified(folder, data="people.csv", **more):
    given = {DATASET: folder / data} if data else None
    record = folder / "record.json"
    return certify_output(
        folder / "release", folder / "policy.jsonld", data=given, record=record, **more
    )


def test_a_record_says_what_the_certificate_commits_to(recorded):
    record, certificate = (
        load_record(recorded / "record.json"),
        load_certificate(recorded / "release"),
    )
    assert record.opens(certificate.commitment)
    assert record.release == certificate.output_digest
    assert record.place == str(recorded / "release" / "anonPeople.csv")
    assert (record.input.location, record.input.rows) == (str(recorded / "people.csv"), 6)
    assert record.input.unmentioned == ("phone",)
    assert record.seed is None
    assert (record.joined, record.rows_joined, record.rows_in) == ((), None, 6)


def without(text, *names):
    return {name: value for name, value in json.loads(text).items() if name not in names}


def test_what_is_committed_to_is_all_of_a_record_but_its_nonce_and_those_before(recorded):
    alone = load_record(recorded / "record.json")
    absent = ("joined", "rows_joined", "sampled", "suppressed_cells", "moves", "gain")
    absent += ("composition",)
    facts = without(alone.to_json(), "nonce", "earlier", *absent)
    assert alone.commitment == Commitment.make(facts, alone.nonce)
    joined = {"joined": (alone.input,), "rows_joined": 5, "earlier": (alone,)}
    both = alone.model_copy(update=joined)
    assert both.commitment == Commitment.make(
        without(both.to_json(), "nonce", "earlier", *absent[2:]), both.nonce
    )
    sampled = alone.model_copy(update={"sampled": 2})
    assert sampled.commitment == Commitment.make({**facts, "sampled": 2}, alone.nonce)
    nulled = alone.model_copy(update={"suppressed_cells": {"age": 2}})
    facts |= {"suppressed_cells": {"age": 2}}
    assert nulled.commitment == Commitment.make(facts, alone.nonce)
    assert (alone.rows_used, sampled.rows_used) == (alone.rows_in, 2)


@pytest.mark.parametrize("change", [{"joined": ()}, {"rows_joined": 4}, {"rows_joined": None}])
def test_a_record_of_a_join_that_was_changed_opens_nothing(recorded, change):
    alone = load_record(recorded / "record.json")
    both = alone.model_copy(update={"joined": (alone.input,), "rows_joined": 5})
    assert both.opens(both.commitment)
    assert (both.rows_in, both.inputs) == (5, (alone.input, alone.input))
    assert not both.model_copy(update=change).opens(both.commitment)


def test_a_record_comes_back_from_its_json_and_shows_its_nonce_nowhere_else(recorded):
    record = load_record(recorded / "record.json")
    assert read_record(record.to_json()) == record
    assert record.nonce not in repr(record)
    assert record.nonce not in (recorded / "release" / "certificate.jsonld").read_text()


@pytest.mark.parametrize(
    "change",
    [
        {"nonce": "0" * 64},
        {"seed": 1},
        {"suppressed": 1},
        {"input": {"digest": "0" * 64}},
        {"input": {"location": "elsewhere"}},
    ],
    ids=str,
)
def test_a_record_that_was_changed_opens_nothing(recorded, change):
    file = recorded / "record.json"
    text = json.loads(file.read_text())
    for name, value in change.items():
        text[name] = {**text[name], **value} if isinstance(value, dict) else value
    file.write_text(json.dumps(text))
    with pytest.raises(CertificateError, match="V008 The record does not open the certificate"):
        certified(recorded)


def test_the_record_of_another_release_of_the_same_data_opens_nothing(recorded):
    data = {DATASET: recorded / "people.csv"}
    apply_policy(recorded / "policy.jsonld", data, recorded / "release", overwrite=True)
    with pytest.raises(CertificateError, match="V008"):
        certified(recorded)


@pytest.mark.parametrize("write", [False, True])
def test_an_output_that_was_replaced_is_not_the_recorded_one(recorded, write):
    output, file = recorded / "release" / "anonPeople.csv", recorded / "release/certificate.jsonld"
    digest = load_certificate(output).output_digest
    header, *rows = output.read_text().splitlines(keepends=True)
    output.write_text("".join([header, *rows[::-1]]))
    forged = file.read_text().replace(digest, sha256(output.read_bytes()).hexdigest())
    file.write_text(forged)
    with pytest.raises(CertificateError, match=r"V004 .*but its record says that .* was released"):
        certified(recorded, write=write)
    assert file.read_text() == forged


def test_the_input_is_the_one_that_was_committed_to_or_another(recorded):
    assert certified(recorded).commitment == load_certificate(recorded / "release").commitment
    assert certified(recorded, data="").holds
    (recorded / "other.csv").write_text(PEOPLE.replace("Ann", "Amy"))
    with pytest.raises(CertificateError, match="V009 The data given are not the input"):
        certified(recorded, data="other.csv")


def test_a_record_opens_no_output_without_its_certificate(recorded):
    (recorded / "release" / "certificate.jsonld").unlink()
    with pytest.raises(DataError, match=r"C002 There is no certificate beside .*"):
        certify_output(
            recorded / "release" / "anonPeople.csv",
            recorded / "policy.jsonld",
            record=recorded / "record.json",
        )


def test_no_record_is_told(recorded):
    (recorded / "record.json").unlink()
    with pytest.raises(DataError) as told:
        certified(recorded)
    message = f"There is no record '{recorded}/record.json'."
    assert told.value.problems == (Problem("C002", message),)
    (recorded / "record.json").mkdir()
    with pytest.raises(DataError, match=r"^.*/record\.json: C003"):
        certified(recorded)


def test_a_certificate_that_commits_to_nothing_is_opened_by_nobody(recorded):
    record = load_record(recorded / "record.json")
    with pytest.raises(CertificateError) as told:
        find_opening_record(record, None)
    message = "The certificate commits to no input, so no record opens it."
    assert told.value.problems == (Problem("V008", message),)
    assert not record.opens(None)


def test_a_place_is_named_by_its_path_from_the_root_or_as_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert absolute_name(Path("a.csv")) == absolute_name("a.csv") == str(tmp_path / "a.csv")
    for place in ("memory", "table:people", "s3a://bucket/a.csv"):
        assert absolute_name(place) == place
    assert absolute_name(None) == ""


def test_a_record_has_the_digests_of_the_taxonomies(tmp_path):
    cities = tmp_path / "cities.csv"
    cities.write_text("Rome,Italy\nMilan,Italy\nOslo,Norway\n")
    quasi = [column("city", generalization="taxonomy", taxonomy="cities.csv")]
    found = applied(
        {"city": ["Rome", "Milan", "Oslo", "Oslo"]},
        method="k-anonymity",
        k=2,
        quasi=quasi,
        taxonomies={"cities.csv": cities},
    )
    assert found.record.taxonomies == found.plan.anonymize.taxonomies
    assert found.record.taxonomies.keys() == {"cities.csv"}


def test_of_several_records_in_a_file_the_one_that_opens_is_taken(recorded):
    earlier = load_record(recorded / "record.json")
    later = earlier.model_copy(update={"nonce": "1" * 64, "earlier": (earlier,)})
    assert find_opening_record(later, earlier.commitment) == earlier
    assert find_opening_record(later, later.commitment).nonce == "1" * 64
    with pytest.raises(CertificateError, match="V008") as told:
        find_opening_record(later, Commitment(value="2" * 64), "record.json")
    message = "The record does not open the certificate: it is for another release, or was changed."
    assert (told.value.problems, told.value.source) == ((Problem("V008", message),), "record.json")


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "null", "3", "NaN", b"\xff", "[" * 9999, '{"a": 1, "a": 1}']
)
def test_what_is_no_record_is_refused(text, tmp_path):
    file = tmp_path / "r.json"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    message = "The text is not a release record of this version."
    for read in (lambda: read_record(text, str(file)), lambda: load_record(file)):
        with pytest.raises(CertificateError) as told:
            read()
        assert told.value.problems == (Problem("V005", message),)
        assert told.value.source == str(file)


def test_records_are_kept_one_beside_the_other_and_not_within(recorded):
    record = load_record(recorded / "record.json")
    beside = record.model_copy(update={"earlier": (record, record)})
    assert read_record(beside.to_json()) == beside
    assert [*beside.with_earlier()] == [record] * 3
    assert beside.without_earlier() == record
    within = record.model_copy(update={"earlier": (beside,)})
    with pytest.raises(CertificateError, match="V005"):
        read_record(within.to_json())


def test_a_record_without_a_nonce_is_none(recorded):
    text = json.loads((recorded / "record.json").read_text())
    del text["nonce"]
    with pytest.raises(CertificateError, match="V005"):
        read_record(json.dumps(text))


def test_a_seed_that_was_given_is_recorded_and_certified_to_nobody(people):
    data = {DATASET: people / "people.csv"}
    made = apply_policy(people / "policy.jsonld", data, seed=981_273)
    assert made.record.seed == 981_273
    assert "981273" not in made.certificate.to_jsonld()
