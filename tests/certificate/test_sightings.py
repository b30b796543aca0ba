"""Outputs are looked at again whenever somebody asks for them, however they were exchanged."""

import json
import os
import shutil

import pytest
from building import ANALYST, DATASET, OUTPUT, PEOPLE, people_policy
from signing import key_of, trust_text

from policy_engine import apply_policy, attest_output, decider
from policy_engine.api.batch_deciding import decide_batch
from policy_engine.certificate import sightings
from policy_engine.certificate.beside import load_certificate
from policy_engine.certificate.sightings import Sighting
from policy_engine.decision import read_request

E = "http://example.com/"
READING = read_request(ANALYST, "read", [OUTPUT], "marketing")
LINE = json.dumps({"assignee": ANALYST, "target": OUTPUT, "purpose": "marketing"})


@pytest.fixture
def release(tmp_path):
    """A signed release in a folder."""
    (tmp_path / "people.csv").write_text(PEOPLE)
    key_of(1).write(tmp_path / "key")
    data = {DATASET: tmp_path / "people.csv"}
    apply_policy(people_policy(), data, tmp_path / "release", sign=tmp_path / "key")
    return tmp_path / "release"


def compiled(release, trust="", **options):
    if trust:
        options["trust"] = release.parent / "trust.json"
        options["trust"].write_text(trust_text(**{"unsigned-policies": ["*"]}))
    return decider([people_policy()], [release], **options)


def exchange(file, rows=PEOPLE):
    """Write other rows into a file: of the same size, at the same place, with the same time of
    change as far as anybody can set it."""
    state = file.stat()
    file.chmod(0o600)
    with file.open("r+") as stream:
        stream.write(rows[: state.st_size].ljust(state.st_size))
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    file.chmod(state.st_mode & 0o777)
    after = file.stat()
    assert (after.st_size, after.st_mtime_ns) == (state.st_size, state.st_mtime_ns)
    assert after.st_ino == state.st_ino


@pytest.fixture
def settled(monkeypatch):
    """All files count as if they had been there for long."""
    monkeypatch.setattr(sightings, "SETTLED", -60.0)


@pytest.fixture
def hashed(monkeypatch):
    """What is hashed again, as it is."""
    names, original = [], sightings.stored_output

    def noted(certificate, output):
        names.append(output.name)
        return original(certificate, output)

    monkeypatch.setattr(sightings, "stored_output", noted)
    return names


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("trust", ["", "trust"])
def test_an_output_that_is_exchanged_in_its_place_is_denied_until_it_is_back(release, trust):
    asked, file = compiled(release, trust), release / "anonPeople.csv"
    content = file.read_text()
    assert asked.decide(READING).permitted
    exchange(file)
    denied = asked.decide(READING)
    assert not denied.permitted
    assert "V004" in denied.reason
    [answer] = decide_batch(asked, [LINE])
    assert answer["effect"] == "deny"
    exchange(file, content)
    assert asked.decide(READING).permitted


@pytest.mark.usefixtures("settled")
def test_a_batch_notices_what_is_exchanged_while_it_is_answered(release):
    def lines():
        yield LINE
        yield LINE
        exchange(release / "anonPeople.csv")
        yield LINE

    effects = [one["effect"] for one in decide_batch(compiled(release), lines())]
    assert effects == ["permit", "permit", "deny"]


@pytest.mark.usefixtures("settled")
def test_an_output_that_is_gone_or_replaced_by_a_link_is_denied(release, tmp_path):
    asked, file = compiled(release), release / "anonPeople.csv"
    file.rename(tmp_path / "aside.csv")
    assert "Y012" in asked.decide(READING).reason
    (tmp_path / "raw.csv").write_text(PEOPLE)
    file.symlink_to(tmp_path / "raw.csv")
    assert "V004" in asked.decide(READING).reason


@pytest.mark.usefixtures("settled")
def test_an_output_that_is_as_it_was_is_hashed_once(release, hashed):
    asked = compiled(release)
    for _ in range(3):
        assert asked.decide(READING).permitted
    assert hashed == []
    os.utime(release / "anonPeople.csv")
    for _ in range(3):
        assert asked.decide(READING).permitted
    assert hashed == ["anonPeople.csv"]


def test_an_output_that_was_written_just_now_is_hashed_each_time(release, hashed):
    """Two changes within a tick of the clock of a file system have one time."""
    asked = compiled(release)
    for _ in range(2):
        assert asked.decide(READING).permitted
    assert len(hashed) == 2


@pytest.mark.usefixtures("settled")
def test_where_files_have_no_time_of_change_they_are_hashed_each_time(release, monkeypatch):
    certificate, output = load_certificate(release), release / "anonPeople.csv"
    assert Sighting.of(certificate, output, 1e9).is_same() is False
    assert Sighting.of(certificate, output, 1e10).is_same()
    monkeypatch.setattr(sightings, "_HAS_CHANGE_TIMES", False)
    assert not Sighting.of(certificate, output, 1e10).is_same()


def test_a_folder_is_watched_with_all_that_is_in_it(release, tmp_path):
    folder = tmp_path / "table.parquet"
    (folder / "city=Rome").mkdir(parents=True)
    (folder / "city=Rome" / "1.parquet").write_text("1")
    sighting = Sighting.of(load_certificate(release), folder, 1e10)
    assert sighting.is_same()
    (folder / "city=Rome" / "2.parquet").write_text("1")
    assert not sighting.is_same()
    assert "V004" in sighting.refusal()
    shutil.rmtree(folder)
    assert "Y012" in sighting.refusal()


def test_of_what_lies_elsewhere_it_is_said_when_it_was_hashed(release, monkeypatch):
    """Nothing of another machine is read again for each request."""
    sighting = Sighting(load_certificate(release), "s3://bucket/anonPeople.csv", 1e9)
    assert sighting.refusal() == ""
    assert "hashed at 2001-09-09T01:46:40+00:00" in sighting.note()
    asked = compiled(release)
    monkeypatch.setattr(Sighting, "is_watched", property(lambda _: False))
    assert not any("hashed at" in one for one in asked.decide(READING).notes)
    monkeypatch.setattr(sightings, "FRESH", -1.0)
    [note] = [one for one in asked.decide(READING).notes if "hashed at" in one]
    [answer] = decide_batch(asked, [LINE])
    assert answer["notes"] == [note]


@pytest.mark.usefixtures("settled")
def test_the_output_of_an_attestation_is_looked_at_again(tmp_path):
    text = f"""{{"@context": "http://www.w3.org/ns/odrl.jsonld", "@type": "Set", "uid": "{E}p",
      "permission": [{{"uid": "{E}p#sum", "assignee": "{E}Ann", "target": "{E}Visits",
        "action": "aggregate", "output": "{E}Totals"}}]}}"""
    output, word = tmp_path / "totals.csv", tmp_path / "totals.csv.attestation.json"
    output.write_text("Zip,n\n1,20\n")
    attest_output(text, output, f"{E}Eve", file=word)
    request = read_request(f"{E}Ann", "read", [f"{E}Totals"])
    for source in (word, output):
        asked = decider([text], [source])
        assert asked.decide(request).permitted
        exchange(output, "Zip,n\n2,30\n")
        assert "V004" in asked.decide(request).reason
        exchange(output, "Zip,n\n1,20\n")
