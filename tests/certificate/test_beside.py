"""Certificates beside outputs: the one that names a file is of it, whatever it is called."""

import json
from datetime import UTC, datetime

import pytest
from building import DATASET, OUTPUT, people_policy
from places import POLICIES

from policy_engine import apply_policy
from policy_engine.certificate.attestation import ATTESTATION, Attestation
from policy_engine.certificate.beside import (
    certificate_location,
    certificate_names,
    check_readable,
    find_certificate,
    folder_certificates,
    load_certificate,
    load_certificates,
    load_proofs,
    single_output,
    stored_output,
)
from policy_engine.certificate.publication import Publication, sharing
from policy_engine.certificate.publication.journal import (
    CertifiedPair,
    Journal,
    JournalPart,
    find_journal,
)
from policy_engine.data import storage
from policy_engine.errors import (
    CertificateError,
    DataError,
    OutputError,
    PolicyEngineError,
    Problem,
)
from policy_engine.plan.making import make_plan
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
        assert told.value.problems[0].hint == "Only one of them can be right. Remove the others."
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
        pytest.raises(OutputError) as told,
        Publication(out / "b.csv", overwrite=True, assets=assets),
    ):
        pass
    why = f"certifies another file of {OUTPUT}, 'anonPeople.csv'"
    if what == "no certificate":
        why = "certifies another file, or is not a certificate"
    hint = "Give each release a folder of its own."
    assert told.value.problems == (Problem("O001", f"'{out}/{CERTIFICATE}' {why}.", hint),)
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
    several = r"V015 '.*out' contains 2 certificates, for 'anonPeople2\.csv' and 'anonPeople\.csv'"
    with pytest.raises(CertificateError, match=several) as told:
        load_certificate(out)
    assert told.value.problems[0].hint == "Give the file of one of them."


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
    with pytest.raises(OutputError) as told:
        sharing.check_shared(out, [], [])
    why = "is for 'anonPeople.csv', and a released model needs a folder of its own"
    hint = "Give each release a folder of its own."
    assert told.value.problems == (Problem("O001", f"'{out}/{CERTIFICATE}' {why}.", hint),)
    sharing.check_shared(out, [out / CERTIFICATE], [])


def test_nothing_was_kept_under_a_name_that_no_file_system_holds(tmp_path):
    (tmp_path / "a.csv").write_text("released")
    part = JournalPart(tmp_path / "s", tmp_path / "a.csv", tmp_path / ("o" * 300), replaces=True)
    part.put_back()
    assert (tmp_path / "a.csv").read_text() == "released"


def test_what_two_certificates_name_is_told_with_both(out):
    (out / OWN).write_bytes((out / CERTIFICATE).read_bytes())
    message = f"Several certificates name 'anonPeople.csv': '{OWN}' and '{CERTIFICATE}'."
    problem = Problem("V015", message, "Only one of them can be right. Remove the others.")
    for look in (find_certificate, load_certificates, certificate_location):
        with pytest.raises(CertificateError) as told:
            look(out / "anonPeople.csv")
        assert (told.value.problems, told.value.source) == ((problem,), str(out))
    with pytest.raises(CertificateError) as told:
        load_certificates(out)
    assert (told.value.problems, told.value.source) == ((problem,), str(out))


@pytest.mark.parametrize(
    ("path", "missing"), [("", "/certificate.jsonld"), ("/x.jsonld", "/x.jsonld"), ("/x", "/x")]
)
def test_a_certificate_that_is_not_there_is_told_by_its_place(tmp_path, path, missing):
    with pytest.raises(DataError) as told:
        load_certificates(f"{tmp_path}{path}")
    message = f"There is no certificate '{tmp_path}{missing}'."
    assert told.value.problems == (Problem("C002", message),)


def test_what_is_no_certificate_is_left_out_and_the_others_are_found(out):
    (out / f"a.csv.{CERTIFICATE}").write_text("{}")
    (out / f"z.csv.{CERTIFICATE}").write_text("{}")
    assert [*folder_certificates(out)] == [CERTIFICATE]
    assert certificate_names(out) == [f"a.csv.{CERTIFICATE}", CERTIFICATE, f"z.csv.{CERTIFICATE}"]
    assert certificate_names(out / "anonPeople.csv") == []
    with pytest.raises(CertificateError, match=f"^{out}/a.csv.{CERTIFICATE}: V005"):
        load_certificates(out)


LIKE = ["anonPeople", *(f"anonPeople.{ending}" for ending in ("csv.gz", "parquet", "orc", "json"))]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", LIKE)
@pytest.mark.parametrize("file", ["anonPeople.csv", ""])
def test_an_output_of_which_no_certificate_speaks_is_not_taken_for_the_certified_one(
    out, name, file
):
    own = load_certificate(out)
    (out / CERTIFICATE).write_text(own.model_copy(update={"file": file}).to_jsonld())
    (out / "anonPeople.csv").rename(out / name)
    with pytest.raises(CertificateError) as told:
        load_certificates(out)
    subject = f"for '{file}'" if file else "for a table in memory"
    message = f"The certificate is {subject}, not for the output beside it."
    assert told.value.problems == (Problem("V004", message),)
    assert told.value.source == str(out / name)
    other = own.model_copy(update={"file": name})
    (out / f"{name}.{CERTIFICATE}").write_text(other.to_jsonld())
    assert load_certificates(out / CERTIFICATE)[0].file == file
    (out / CERTIFICATE).rename(out / "elsewhere.jsonld")  # named so, it speaks of no folder
    (out / f"{name}.{CERTIFICATE}").unlink()
    assert load_certificates(out / "elsewhere.jsonld")[0].file == file


def test_a_refused_release_says_nothing_of_what_lies_beside_it(out):
    told = load_certificate(out).as_refusal().model_copy(update={"file": ""})
    (out / CERTIFICATE).write_text(told.to_jsonld())
    assert load_certificates(out) == (told,)


def test_a_certificate_of_no_output_is_told_by_the_place_of_the_output(out):
    told = load_certificate(out).as_refusal()
    (out / CERTIFICATE).write_text(told.to_jsonld())
    with pytest.raises(CertificateError) as error:
        load_certificates(out)
    assert error.value.source == str(out / "anonPeople.csv")
    assert error.value.problems == (
        Problem("V004", "The certificate beside the output says that nothing was released."),
    )


def test_a_folder_of_data_is_its_own_output_unless_it_holds_certificates(out, tmp_path):
    for name in ("data.csv", "data.orc"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "part-0.csv").touch()
        assert single_output(folder) == folder
    (tmp_path / "plain").mkdir()
    with pytest.raises(DataError, match="C002"):
        single_output(tmp_path / "plain")
    assert single_output(out) == out / "anonPeople.csv"
    assert single_output(tmp_path / "nowhere.csv") == tmp_path / "nowhere.csv"
    own = out.rename(tmp_path / "out.csv")
    assert single_output(own) == own / "anonPeople.csv"
    assert load_certificates(own) == (load_certificate(own / CERTIFICATE),)


def test_a_folder_that_is_an_output_is_found_by_its_certificate(out, tmp_path):
    folder = tmp_path / "spark" / "a.parquet"
    folder.mkdir(parents=True)
    (folder / "part-0.csv").write_text("x")
    facts = {"file": folder.name, "output_digest": storage.digest(folder)}
    made = load_certificate(out).model_copy(update=facts)
    (folder.parent / CERTIFICATE).write_text(made.to_jsonld())
    for path in (folder, folder.parent, folder.parent / CERTIFICATE):
        assert load_certificates(path) == (made,)
    (folder / "part-1.csv").write_text("y")
    with pytest.raises(CertificateError, match="V004"):
        load_certificates(folder)


def attestation(file):
    """Return somebody's word for a file or folder."""
    return Attestation(
        policy="http://x.org/policy",
        policy_digest="d",
        asset="http://x.org/sums",
        actions=("http://x.org/sum",),
        file=file.name,
        output_digest=storage.digest(file),
        by="http://x.org/ann",
        time=datetime(2026, 1, 1, tzinfo=UTC),
    )


def test_what_vouches_for_an_output_is_its_attestation_and_its_certificate(out):
    sums, own = out / "sums.csv", load_certificate(out)
    sums.write_text("n\n1\n")
    word, own_word = attestation(sums), attestation(out / "anonPeople.csv")
    (out / f"sums.csv{ATTESTATION}").write_text(word.to_jsonld())
    assert load_proofs(sums) == load_proofs(out / f"sums.csv{ATTESTATION}") == (word,)
    assert load_proofs(out / "anonPeople.csv") == load_proofs(out / CERTIFICATE) == (own,)
    assert load_proofs(out) == (word, own)
    (out / f"anonPeople.csv{ATTESTATION}").write_text(own_word.to_jsonld())
    assert load_proofs(out / "anonPeople.csv") == (own_word, own)
    assert load_proofs(out) == (own_word, word, own)
    for path in (out / "anonPeople.csv", out / CERTIFICATE):
        path.unlink()
    assert load_proofs(out) == (own_word, word)
    with pytest.raises(DataError, match="C002"):
        load_proofs(out / "anonPeople.csv")


def test_an_attestation_of_another_file_vouches_for_nothing(out):
    sums, others = out / "sums.csv", out / "others.csv"
    sums.write_text("n\n1\n")
    others.write_text("n\n2\n")
    (out / f"others.csv{ATTESTATION}").write_text(attestation(sums).to_jsonld())
    with pytest.raises(CertificateError) as told:
        load_proofs(others)
    message = f"It is not the output that was attested: its sha-256 is {storage.digest(others)}."
    assert told.value.problems == (Problem("V004", message),)
    assert told.value.source == str(others)


def test_no_proof_lies_in_a_folder_that_has_none(tmp_path):
    (tmp_path / "a.csv").touch()
    with pytest.raises(DataError, match=f"C002 There is no certificate '{tmp_path}/"):
        load_proofs(tmp_path)


@pytest.mark.parametrize(
    ("look", "step", "at"),
    [
        (load_certificates, "is_folder", "anonPeople.csv"),
        (load_certificates, "read_bytes", ""),
        (load_certificates, "read_bytes", "anonPeople.csv"),
        (find_certificate, "names", "anonPeople.csv"),
        (single_output, "is_folder", ""),
        (certificate_location, "read_bytes", "anonPeople.csv"),
    ],
)
def test_what_cannot_be_read_is_told_by_the_location_that_was_given(
    out, monkeypatch, look, step, at
):
    def unreadable(_location):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(storage, step, unreadable)
    with pytest.raises(DataError) as told:
        look(out / at)
    problem = Problem("C003", "The file cannot be read: Permission denied.")
    assert (told.value.problems, told.value.source) == ((problem,), str(out / at))


@pytest.mark.parametrize(
    ("text", "is_refused"),
    [
        ('{"pe:certificate": {"file": "a.csv"}}', True),
        ('{"pe:certificate": {"file": "b.csv"}}', False),
        ('{"pe:certificate": {}}', False),
        ('{"pe:certificate": 1}', False),
        ("[]", False),
        ("{", False),
    ],
)
def test_what_names_an_output_as_a_certificate_does_has_to_be_one(tmp_path, text, is_refused):
    file = tmp_path / CERTIFICATE
    file.write_text(text)
    check_readable(tmp_path / "b.csv" if is_refused else tmp_path / "a.csv")
    if is_refused:
        with pytest.raises(CertificateError, match="V005") as caught:
            check_readable(tmp_path / "a.csv")
        assert caught.value.source == str(file)


@pytest.mark.parametrize("log", ["_delta_log", "x=1/_spark_metadata", ".hoodie", "metadata"])
def test_a_folder_that_says_which_files_are_its_table_is_no_output(out, log):
    certificate, parts = load_certificate(out / "anonPeople.csv"), out / "parts"
    parts.mkdir()
    (out / "anonPeople.csv").rename(parts / "part-0.csv")
    assert stored_output(certificate, parts).digest == storage.digest(parts)
    (parts / log).mkdir(parents=True)
    with pytest.raises(CertificateError, match=f"V004 The output holds '{log}', by which"):
        stored_output(certificate, parts)
