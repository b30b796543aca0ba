"""Two implementations of one question: the engine's, and the script that runs without it."""

import json
import shutil
from datetime import UTC, datetime, timedelta

import pytest
from building import DATASET, PEOPLE, people_policy
from mutating import mutants
from signing import NOW, key_of, people_certificate, trust_text

from policy_engine import apply_policy, withdraw_release
from policy_engine.certificate.verifying import verify_certificate
from policy_engine.data import storage
from policy_engine.trust import canonical_json
from policy_engine.trust import verify_certificate as script
from policy_engine.trust.proofs import add_proof
from policy_engine.trust.rotations import sign_rotation

DID = key_of(1).public.did


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = tmp_path_factory.mktemp("verified")
    (folder / "people.csv").write_text(PEOPLE)
    (folder / "policy.jsonld").write_text(people_policy())
    release = apply_policy(
        folder / "policy.jsonld",
        {DATASET: folder / "people.csv"},
        folder / "release",
        sign=key_of(1),
    )
    release.path.rename(folder / "release" / "out.csv")
    (folder / "trust.json").write_text(trust_text())
    return folder


@pytest.fixture
def market(original, tmp_path):
    shutil.copytree(original, tmp_path / "market")
    return tmp_path / "market"


def answers(market, output="release/out.csv", trust="trust.json", now=None):
    """Return the code of each implementation, `valid` where it refuses nothing."""
    parts = [
        market / "release" / "certificate.jsonld",
        output and market / output,
        trust and market / trust,
    ]
    found = verify_certificate(*parts, now=now)
    try:
        script.verify(*parts, now=now)
    except script.RefusedError as error:
        other = error.code
    except OSError:
        other = "Y012"
    else:
        other = "valid"
    return {found.problems[0].code if found.problems else "valid", other}


def change(market, **changes):
    place = market / "release" / "certificate.jsonld"
    document = {**json.loads(place.read_text()), **changes}
    place.write_text(json.dumps({name: one for name, one in document.items() if one is not None}))
    return document


def resign(market, **changes):
    """Sign the changed document as its key would."""
    document = change(market, **changes)
    kept = {name: one for name, one in document.items() if one is not None}
    place = market / "release" / "certificate.jsonld"
    place.write_text(json.dumps(add_proof(kept, key_of(1), datetime.now(UTC))))


def test_what_holds_is_valid(market):
    assert answers(market) == {"valid"}
    assert answers(market, output=None) == {"valid"}


def test_it_says_what_was_checked_and_what_was_not(market):
    found = verify_certificate(
        market / "release" / "certificate.jsonld", None, market / "trust.json"
    )
    assert found.holds
    assert any("nobody saw it" in line for line in found.unchecked)
    assert any(DID in line for line in found.checked)
    assert found.as_json()["valid"]


def test_both_say_that_they_did_not_look_for_a_withdrawal(market):
    withdraw_release(market / "release" / "certificate.jsonld", "an error", key_of(1))
    parts = [market / "release" / "certificate.jsonld", None, market / "trust.json"]
    said = verify_certificate(*parts).unchecked, script.verify(*parts)
    assert all(any("whether it was withdrawn" in line for line in one) for one in said)


def test_the_output_may_have_another_name(market):
    (market / "release" / "out.csv").rename(market / "copy.csv")
    assert answers(market, output="copy.csv") == {"valid"}


def test_another_output_is_refused(market):
    (market / "release" / "out.csv").write_text(PEOPLE)
    assert answers(market) == {"V004"}
    assert answers(market, output="absent.csv") == {"Y012"}
    assert answers(market, output="release") == {"V004"}


def add_file(folder, name):
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("{}")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda _: None, "valid"),
        (lambda folder: add_file(folder, ".part-0.csv.crc"), "valid"),
        (lambda folder: (folder / "more").symlink_to(folder.parent), "Y012"),
        (lambda folder: (folder / "x=1").symlink_to(folder.parent), "Y012"),
        (lambda folder: (folder / "part-1.csv").symlink_to("part-0.csv"), "Y012"),
        (lambda folder: (folder / "part-1.csv").symlink_to("nothing"), "Y012"),
        (lambda folder: add_file(folder, "_delta_log/0.json"), "Y012"),
        (lambda folder: add_file(folder, "x=1/_DELTA_LOG/0.json"), "Y012"),
        (lambda folder: add_file(folder, "_spark_metadata/0"), "Y012"),
        (lambda folder: add_file(folder, ".hoodie/0.commit"), "Y012"),
        (lambda folder: add_file(folder, "metadata/.v1.metadata.json"), "Y012"),
    ],
)
def test_both_refuse_a_folder_in_which_readers_see_other_files(market, change, code):
    folder = market / "release" / "parts"
    folder.mkdir()
    (market / "release" / "out.csv").rename(folder / "part-0.csv")
    place = market / "release" / "certificate.jsonld"
    subject = json.loads(place.read_text())["credentialSubject"]
    digest = storage.digest(folder)
    subject["pe:sha256"] = subject["pe:certificate"]["output_digest"] = digest
    resign(market, credentialSubject=subject)
    change(folder)
    assert answers(market, output="release/parts") == {code}


@pytest.mark.parametrize(("levels", "code"), [(100, "valid"), (101, "Y005"), (300, "Y005")])
def test_both_read_documents_as_deep(market, levels, code):
    place = market / "release" / "certificate.jsonld"
    subject = json.loads(place.read_text())["credentialSubject"]
    # The list is in the certificate, which is in the subject of the document: three levels.
    subject["pe:certificate"]["deep"] = json.loads("[" * (levels - 3) + "]" * (levels - 3))
    resign(market, credentialSubject=subject)
    assert answers(market) == {code}


def test_both_read_documents_as_long(market, monkeypatch):
    limits = canonical_json.MOST_BYTES, canonical_json.MOST_LEVELS
    assert limits == (script.MOST_BYTES, script.MOST_LEVELS)
    size = (market / "release" / "certificate.jsonld").stat().st_size
    for module in (canonical_json, script):
        monkeypatch.setattr(module, "MOST_BYTES", size)
    assert answers(market) == {"valid"}
    (market / "trust.json").write_text(trust_text().ljust(size + 1))
    assert answers(market) == {"Y008"}
    for module in (canonical_json, script):
        monkeypatch.setattr(module, "MOST_BYTES", size - 1)
    assert answers(market) == {"Y005"}


def test_nobody_is_trusted_without_a_trust_file(market):
    assert answers(market, trust=None) == {"Y009"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (trust_text({"key": key_of(2).public.did, "outputs": ["*"]}), "Y009"),
        (trust_text({"key": DID, "policies": ["*"]}), "Y009"),
        (trust_text({"key": DID, "outputs": ["http://other.org/*"]}), "Y009"),
        (trust_text({"key": DID, "datasets": ["http://other.org/*"]}), "Y009"),
        (trust_text({"key": DID, "datasets": [DATASET]}), "valid"),
        (trust_text({"key": DID, "outputs": ["*"], "until": "2020-01-01T00:00:00Z"}), "Y009"),
        (trust_text({"key": DID, "outputs": ["*"], "from": "2999-01-01T00:00:00Z"}), "Y009"),
        (trust_text(revoked=[{"key": DID, "since": "2020-01-01T00:00:00Z"}]), "Y010"),
        (trust_text(revoked=[{"key": DID, "since": "2999-01-01T00:00:00Z"}]), "valid"),
        (trust_text(revoked=[{"key": DID}]), "Y008"),
        ("{", "Y008"),
        (
            trust_text(
                {"key": key_of(2).public.did, "outputs": ["*"]},
                rotations=[sign_rotation(key_of(2), key_of(1).public, NOW)],
            ),
            "valid",
        ),
        (
            trust_text(
                {"key": key_of(2).public.did, "outputs": ["*"]},
                rotations=[sign_rotation(key_of(2), key_of(1).public, NOW)],
                revoked=[{"key": key_of(2).public.did, "since": "2999-01-01T00:00:00Z"}],
            ),
            "Y009",
        ),
        (
            trust_text(
                {"key": key_of(3).public.did, "outputs": ["*"]},
                rotations=[
                    sign_rotation(key_of(3), key_of(2).public, NOW),
                    sign_rotation(key_of(2), key_of(1).public, NOW - timedelta(1)),
                ],
            ),
            "Y009",
        ),
    ],
)
def test_both_know_the_same_trust(market, text, code):
    (market / "trust.json").write_text(text)
    assert answers(market) == {code}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"issuer": key_of(2).public.did}, "Y006"),
        ({"proof": None}, "Y005"),
        ({"proof": []}, "Y005"),
        ({"validFrom": "2999-01-01T00:00:00Z"}, "Y006"),
    ],
)
def test_both_refuse_what_was_changed(market, changes, code):
    change(market, **changes)
    assert answers(market) == {code}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"issuer": key_of(2).public.did}, "Y005"),
        ({"validFrom": "2999-01-01T00:00:00Z"}, "Y007"),
        ({"validUntil": "2020-01-01T00:00:00Z"}, "Y007"),
        ({"validUntil": "2999-01-01T00:00:00Z"}, "valid"),
        ({"type": ["VerifiableCredential", "pe:KeyRotation"]}, "Y005"),
        ({"credentialSubject": {}}, "Y005"),
        ({"credentialSubject": []}, "Y005"),
        ({"credentialStatus": {"type": "BitstringStatusListEntry"}}, "valid"),
        ({"credentialStatus": "x"}, "Y005"),
        ({"evidence": []}, "Y005"),
        ({"evidence": [{"id": "urn:x"}]}, "Y005"),
        ({"evidence": [{"type": "pe:PolicySignature", "more": 1}]}, "Y005"),
        ({"evidence": [{"type": "pe:PolicySignature", "id": "urn:x"}]}, "valid"),
        ({"@context": None}, "Y005"),
        ({"@context": ["https://www.w3.org/ns/credentials/v2", "https://e.org"]}, "Y005"),
    ],
)
def test_both_refuse_what_is_signed_and_not_a_certificate(market, changes, code):
    resign(market, **changes)
    assert answers(market) == {code}


def test_both_refuse_a_proof_that_is_not_of_texts(market):
    proof = json.loads((market / "release" / "certificate.jsonld").read_text())["proof"]
    for name in proof:
        if name != "@context":
            change(market, proof={**proof, name: None})
            assert answers(market) == {"Y005"}


def test_both_refuse_a_time_in_the_future(market):
    assert answers(market, now=datetime(2020, 1, 1, tzinfo=UTC)) == {"Y007"}


def check_mutants(market, count, seed):
    place = market / "release" / "certificate.jsonld"
    for text in mutants(place.read_text(), count, seed):
        mutant = market / "mutant.jsonld"
        mutant.write_bytes(text if isinstance(text, bytes) else text.encode())
        found = verify_certificate(mutant, market / "release/out.csv", market / "trust.json")
        assert not found.holds
        with pytest.raises(script.RefusedError):
            script.verify(mutant, market / "release/out.csv", market / "trust.json")


def test_no_mutant_is_valid(market):
    check_mutants(market, 100, seed=3)


@pytest.mark.nightly
def test_none_of_ten_thousand_mutants_is_valid(market):
    check_mutants(market, 10_000, seed=4)


def test_a_folder_of_files_and_one_of_a_model_have_the_digests_of_the_engine(tmp_path):
    from policy_engine.certificate import verifying

    for name in ("part-0.csv", "_SUCCESS", ".crc", "year=2020/part-1.csv", "a\nb.csv"):
        place = tmp_path / "out" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(name)
    folder = tmp_path / "out"
    expected = {storage.digest(folder)}
    assert {verifying.data_digest(folder), script.data_digest(folder)} == expected
    expected = {storage.tree_digest(folder)}
    assert {verifying.tree_digest(folder), script.tree_digest(folder)} == expected


def test_a_certificate_of_a_release_in_memory_is_verified_too(tmp_path):
    (tmp_path / "release").mkdir()
    (tmp_path / "trust.json").write_text(trust_text())
    text = people_certificate().signed(key_of(1)).to_jsonld()
    (tmp_path / "release" / "certificate.jsonld").write_text(text)
    assert answers(tmp_path, output=None) == {"valid"}
