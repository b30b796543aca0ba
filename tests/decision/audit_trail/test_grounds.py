"""What a log says that its permits rested on is looked up in the trail, whatever it says."""

import copy
import hashlib
import json

import pytest
from building import ANALYST, DATASET, OUTPUT, PEOPLE, people_policy
from signing import key_of, trust_text

from policy_engine import apply_policy, decide_request, read_request
from policy_engine.api.audit_trails import pack_audit_trail, verify_audit_trail
from policy_engine.api.signing import sign_policy_files
from policy_engine.data.chain.entries import canonical
from policy_engine.policy.signing import signature_path

MARKETING = "https://www.mosaicrown.eu/ns/mosaicrown/1/marketing"
STRANGER = key_of(2).public.did
COVERED = "1 decision rested on signatures that the trust file named by each covers."


@pytest.fixture(scope="module")
def office(tmp_path_factory):
    """A signed policy and release, a permit in a log, and a trust file of two keys."""
    folder = tmp_path_factory.mktemp("office")
    (folder / "people.csv").write_text(PEOPLE)
    (folder / "policy.jsonld").write_text(people_policy())
    key_of(1).write(folder / "key")
    sign_policy_files([folder / "policy.jsonld"], folder / "key")
    data = {DATASET: folder / "people.csv"}
    apply_policy(folder / "policy.jsonld", data, folder / "release", sign=folder / "key")
    everything = {"policies": ["*"], "outputs": ["*"]}
    keys = ({"key": one.public.did, **everything} for one in (key_of(1), key_of(2)))
    (folder / "trust.json").write_text(trust_text(*keys))
    request = read_request(ANALYST, "read", [OUTPUT], MARKETING)
    places = [folder / "policy.jsonld"], [folder / "release"], request
    trust = folder / "trust.json"
    assert decide_request(*places, log=folder / "log.jsonl", trust=trust).permitted
    return folder


def forged(office, change):
    """Write the log as somebody would who changes its entry, and chains it anew."""
    entry = copy.deepcopy(json.loads((office / "log.jsonl").read_text()))
    change(entry["decision"])
    del entry["hash"]
    whole = {**entry, "hash": hashlib.sha256(canonical(entry)).hexdigest()}
    (office / "forged.jsonl").write_bytes(canonical(whole) + b"\n")
    return office / "forged.jsonl"


def judged(office, change, **more):
    options = {"trusts": [office / "trust.json"], "overwrite": True} | more
    places = [office / "policy.jsonld"], [office / "release"]
    return pack_audit_trail(office / "trail", *places, logs=[forged(office, change)], **options)


def grounds(report):
    return [(one.state, one.sentence) for one in report.checks if "decisions" in one.about][1:]


def without(kind):
    def change(record):
        record["signed_by"] = [one for one in record["signed_by"] if one["kind"] != kind]

    return change


def with_other(number, **changes):
    def change(record):
        record["signed_by"][number] |= changes

    return change


def nothing(record):
    assert record["signed_by"]


def test_a_log_as_it_was_written_holds(office):
    report = judged(office, nothing)
    assert report.holds
    assert grounds(report) == [("holds", COVERED)]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda record: record.pop("signed_by"), "no signature of the policy http://x.org/policy"),
        (lambda record: record.update(signed_by=[]), f"no signed certificate of {OUTPUT}"),
        (without("proof"), f"no signed certificate of {OUTPUT}"),
        (without("policy"), "no signature of the policy http://x.org/policy"),
        (with_other(0, signature="zForged"), "the policy that is here has another"),
        (with_other(1, signature="zForged"), "no certificate or attestation that is here has it"),
        (with_other(0, of="http://x.org/else"), "is of something else"),
        (with_other(1, of="http://x.org/else"), "is of something else"),
        (with_other(0, created="2026-01-01T00:00:00+00:00"), "another time"),
        (with_other(1, created="2026-01-01T00:00:00+00:00"), "another time"),
        (with_other(0, key=STRANGER), "another key"),
        (with_other(1, key=STRANGER), "another key"),
        (with_other(1, key="did:key:zzz"), "The signature of"),
    ],
)
def test_grounds_that_are_dropped_or_made_up_fail(office, change, why):
    report = judged(office, change)
    assert not report.holds
    assert {state for state, _ in grounds(report)} == {"fails"}
    assert any(why in sentence for _, sentence in grounds(report))


def test_a_ground_of_another_version_of_the_policy_fails(office):
    report = judged(office, lambda record: record.update(policy_digests=["0" * 64]))
    assert any("another version of the policy" in one for _, one in grounds(report))
    assert not report.holds


def test_a_policy_may_count_without_a_signature_where_the_trust_file_says_so(office):
    own = office / "unsigned.json"
    own.write_text(trust_text(**{"unsigned-policies": ["http://x.org/*"]}))

    def change(record):
        without("policy")(record)
        record["trust"] = hashlib.sha256(own.read_bytes()).hexdigest()

    assert grounds(judged(office, change, trusts=[own])) == [("holds", COVERED)]


def test_the_signature_of_a_policy_that_the_trail_has_without_any_is_unchecked(office):
    place = signature_path(office / "policy.jsonld")
    aside = place.rename(place.with_suffix(".aside"))
    try:
        [(state, sentence)] = grounds(judged(office, nothing))
    finally:
        aside.rename(place)
    assert (state, "no signature of this policy is here" in sentence) == ("unchecked", True)


def test_the_trust_file_of_whoever_verifies_judges_by_it_if_an_entry_names_it(office):
    judged(office, nothing, trusts=[])
    report = verify_audit_trail(office / "trail", trust=office / "trust.json")
    assert grounds(report) == [("holds", COVERED)]
    judged(office, with_other(1, key=STRANGER), trusts=[])
    report = verify_audit_trail(office / "trail", trust=office / "trust.json")
    assert [state for state, _ in grounds(report)] == ["fails"]
    assert not report.holds
    other = office / "other.json"
    other.write_text(trust_text())
    report = verify_audit_trail(office / "trail", trust=other)
    assert [state for state, _ in grounds(report)] == ["unchecked"]


def test_a_permit_that_names_no_trust_file_is_said_to_be_unchecked(office):
    def change(record):
        del record["trust"], record["signed_by"]

    told = "1 permit named no trust file, as earlier versions and decisions without one do not"
    assert grounds(judged(office, change)) == [("unchecked", f"{told} (entry 1).")]
    assert grounds(judged(office, change, trusts=[])) == []


def test_a_time_without_its_zone_breaks_the_log_and_nothing_else(office):
    report = judged(office, with_other(1, created="2026-01-01T00:00:00"))
    [chain] = [one for one in report.checks if one.about.startswith("the decision log")]
    assert chain.state == "fails"
    assert not report.holds
    report = judged(office, lambda record: record.update(time="2099-01-01T00:00:00"))
    assert grounds(report) == [("holds", COVERED)]
