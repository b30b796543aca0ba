"""Certificates beside outputs: the one that names a file is of it, whatever it is called."""

import json

import pytest
from building import DATASET, OUTPUT, people_policy
from places import POLICIES

from policy_engine import apply_policy
from policy_engine.certificate.beside import (
    certificate_location,
    find_certificate,
    load_certificate,
    load_certificates,
    load_proofs,
    single_output,
)
from policy_engine.certificate.publication import Publication, sharing
from policy_engine.certificate.publication.journal import (
    CertifiedPair,
    Journal,
    JournalPart,
    find_journal,
)
from policy_engine.errors import CertificateError, OutputError, PolicyEngineError
from policy_engine.plan.plan import make_plan
from policy_engine.policy import load_policy
from policy_engine.release.staging import CERTIFICATE, JOURNAL, STAGING

OWN = f"anonPeople.csv.{CERTIFICATE}"


@pytest.fixture
def out(people):
    apply_policy(people_policy(), {DATASET: people / "people.csv"}, people / "out")
    return people / "out"


def renamed(out, name):
    (out / CERTIFICATE).rename(out / name)


@pytest.mark.parametrize("name", [CERTIFICATE, OWN, f"x.{CERTIFICATE}"])
def test_a_certificate_is_found_by_what_it_names(out, name):
    renamed(out, name)
    file = out / "anonPeople.csv"
    place, found = find_certificate(file)
    assert place == out / name
    assert load_certificate(out) == load_certificate(file) == load_certificate(place) == found
    assert single_output(out) == single_output(file) == file


def test_a_folder_with_a_certificate_is_not_taken_for_what_one_beside_it_names(out):
    own = load_certificate(out)
    other = own.model_copy(update={"file": out.name})
    (out.parent / CERTIFICATE).write_text(other.to_jsonld())
    assert load_certificate(out) == own


def test_a_certificate_of_another_file_and_what_is_none_is_not_that_of_an_output(out):
    other = out / "other.csv"
    other.write_bytes((out / "anonPeople.csv").read_bytes())
    (out / f"other.csv.{CERTIFICATE}").write_text("{}")
    assert find_certificate(other) is None
    with pytest.raises(CertificateError, match="V005"):
        load_certificates(out)
    assert load_certificate(out / CERTIFICATE).holds


def test_where_two_certificates_name_an_output_neither_is_believed(out):
    (out / OWN).write_bytes((out / CERTIFICATE).read_bytes())
    for look in (find_certificate, load_certificates):
        with pytest.raises(CertificateError, match="V015") as told:
            look(out / "anonPeople.csv")
        assert told.value.problems[0].hint == "Only one of them is of it. Take the others away."
    for path in (out, out / OWN, out / CERTIFICATE):
        with pytest.raises(CertificateError, match="V015"):
            load_certificates(path)


def test_an_output_that_was_changed_is_told_by_whatever_certificate_names_it(out):
    renamed(out, OWN)
    (out / "anonPeople.csv").write_text("age\n1\n")
    with pytest.raises(CertificateError, match="V004"):
        load_certificates(out)


def test_the_first_certificate_of_a_folder_has_the_usual_name(out, tmp_path):
    assert certificate_location(out / "anonPeople.csv") == out / CERTIFICATE
    assert certificate_location(out / "b.csv") == out / f"b.csv.{CERTIFICATE}"
    assert certificate_location(tmp_path / "new" / "b.csv") == tmp_path / "new" / CERTIFICATE
    shared = certificate_location(tmp_path / "new" / "b.csv", shares=True)
    assert shared == tmp_path / "new" / f"b.csv.{CERTIFICATE}"


@pytest.mark.parametrize("what", ["no certificate", "the same asset"])
def test_a_folder_is_not_shared_with_what_could_be_mistaken(out, what):
    assets = [OUTPUT if what == "the same asset" else "http://x.org/other"]
    if what == "no certificate":
        (out / CERTIFICATE).write_text("{}")
    before = sorted(one.name for one in out.iterdir())
    with (
        pytest.raises(OutputError, match="O001"),
        Publication(out / "b.csv", overwrite=True, assets=assets),
    ):
        pass
    assert sorted(one.name for one in out.iterdir()) == before


def test_a_journal_of_the_version_before_is_read(tmp_path):
    stage = f"{STAGING}{'0' * 32}"
    facts = {"stage": stage, "file": "a.csv", "replaced": ["a.csv"]}
    (tmp_path / JOURNAL).write_text(json.dumps(facts))
    found = find_journal(tmp_path, tmp_path)
    assert found == Journal(tmp_path, stage, (CertifiedPair(CERTIFICATE, "a.csv"),), ["a.csv"])


@pytest.mark.parametrize("certificate", [CERTIFICATE, OWN])
def test_a_journal_of_any_certificate_is_read(tmp_path, certificate):
    stage, pair = f"{STAGING}{'0' * 32}", {"certificate": certificate, "file": "a.csv"}
    facts = {"stage": stage, "pairs": [pair, {"certificate": f"b.{CERTIFICATE}"}], "replaced": []}
    (tmp_path / JOURNAL).write_text(json.dumps(facts))
    pairs = CertifiedPair(certificate, "a.csv"), CertifiedPair(f"b.{CERTIFICATE}")
    assert find_journal(tmp_path, tmp_path) == Journal(tmp_path, stage, pairs)


def test_a_certificate_of_several_in_a_folder_is_to_be_named(out, people):
    second = people_policy().replace(OUTPUT, f"{OUTPUT}2")
    apply_policy(second, {DATASET: people / "people.csv"}, out)
    own = load_certificate(out / "anonPeople.csv")
    assert load_proofs(out) == load_proofs(str(out)) == load_certificates(out)
    assert own in load_certificates(out)
    several = r"V015 '.*out' holds 2 certificates, of 'anonPeople2\.csv' and 'anonPeople\.csv'"
    with pytest.raises(CertificateError, match=several) as told:
        load_certificate(out)
    assert told.value.problems[0].hint == "Name the file of one of them."


@pytest.mark.parametrize(
    "pairs",
    [
        [],
        [{"certificate": f"...{CERTIFICATE}", "file": "b.csv"}],
        [{"certificate": "a.csv", "file": "b.csv"}],
        [{"certificate": f"../{CERTIFICATE}", "file": "b.csv"}],
        [{"certificate": CERTIFICATE, "file": "../b.csv"}],
        [{"certificate": CERTIFICATE, "file": "a.csv"}] * 2,
        [{"certificate": CERTIFICATE, "file": CERTIFICATE}],
    ],
    ids=str,
)
def test_a_journal_that_moves_what_no_release_has_is_refused(tmp_path, pairs):
    facts = {"stage": f"{STAGING}{'0' * 32}", "pairs": pairs, "replaced": []}
    (tmp_path / JOURNAL).write_text(json.dumps(facts))
    with pytest.raises(PolicyEngineError, match="O002"):
        find_journal(tmp_path, tmp_path)


def test_nothing_is_published_beside_a_released_model(out, monkeypatch):
    plan = make_plan(load_policy(POLICIES / "model-release.jsonld"))
    model = load_certificate(out).model_copy(update={"plan": plan})
    monkeypatch.setattr(sharing, "folder_certificates", lambda _folder: {CERTIFICATE: model})
    with pytest.raises(OutputError, match="a released model has a folder of its own") as told:
        sharing.check_shared(out, [], [])
    assert told.value.problems[0].hint == "Give each release a folder of its own."


def test_nothing_was_kept_under_a_name_that_no_file_system_holds(tmp_path):
    (tmp_path / "a.csv").write_text("released")
    part = JournalPart(tmp_path / "s", tmp_path / "a.csv", tmp_path / ("o" * 300), replaces=True)
    part.put_back()
    assert (tmp_path / "a.csv").read_text() == "released"
