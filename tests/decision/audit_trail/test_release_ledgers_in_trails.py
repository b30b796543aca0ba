"""The ledger of releases in an audit trail: what was released before whom, verified offline."""

import json

import pyarrow as pa
import pytest

from policy_engine import apply_policy, short_policy
from policy_engine.api.audit_trails import pack_audit_trail, verify_audit_trail
from policy_engine.data.chain.entries import canonical
from policy_engine.data.chain.hashing import HashChain
from policy_engine.data.chain.verification import Head
from policy_engine.decision.audit_trail import AuditTrail, check_trail
from policy_engine.release.budget import BudgetLedger

DATA = "http://example.com/Patients"
PATIENTS = pa.table({"age": [21, 25, 29, 41, 45, 49], "zip": [10, 20, 21, 11, 12, 22]})
PLACE = "ledgers/1.jsonl"
KEY, OTHER_KEY = b"k" * 32, b"o" * 32


def policy_for(column):
    """Return a policy that releases one column of the patients."""
    document = short_policy(
        policy=f"http://example.com/policy/{column}",
        target=DATA,
        assignee="http://example.com/Reader",
        purpose="http://example.com/Research",
        output=f"http://example.com/By{column}",
        method="k-anonymity",
        k=3,
        quasi_identifier=[column],
    )
    return json.dumps(document)


@pytest.fixture
def pack(tmp_path):
    """Return what releases twice, and packs the ledger of that, of which the report is returned."""

    def packed(key=None):
        ledger = tmp_path / "ledger.sqlite"
        policies = []
        for column in ("age", "zip"):
            policies.append(tmp_path / f"{column}.jsonld")
            policies[-1].write_text(policy_for(column))
            apply_policy(policies[-1], {DATA: PATIENTS}, ledger=ledger, ledger_key=key)
        keys = [] if key is None else [key]
        return pack_audit_trail(tmp_path / "trail", policies, ledgers=[ledger], keys=keys)

    return packed


def packed_lines(tmp_path):
    trail = AuditTrail.read((tmp_path / "trail").read_bytes())
    return trail, trail.files[PLACE].splitlines()


def verdict(tmp_path, lines, **more):
    """Return why the ledger fails in the trail of a folder with other lines; empty if it holds."""
    trail, _ = packed_lines(tmp_path)
    files = {**trail.files, PLACE: b"".join(line + b"\n" for line in lines)}
    report = check_trail(AuditTrail(trail.members, files), **more)
    return " ".join(one.sentence for one in report.checks if one.state == "fails")


def chained_again(lines, key=None):
    """Return entries whose numbers and hashes are made anew, as whoever can write them would."""
    chain, previous, made = HashChain(key), "0" * 64, []
    for number, line in enumerate(lines, start=1):
        entry = json.loads(line) | {"number": number, "previous": previous, "chain": chain.kind}
        del entry["hash"]
        previous = chain.text_hash(canonical(entry))
        made.append(canonical({**entry, "hash": previous}))
    return made


def test_a_ledger_of_releases_is_verified_offline_and_tells_of_no_person(pack, tmp_path):
    report = pack()
    assert report.holds
    head = BudgetLedger(tmp_path / "ledger.sqlite").verify().head
    (tmp_path / "ledger.sqlite").unlink()
    again = verify_audit_trail(tmp_path / "trail", expect=[head])
    [found] = [one for one in again.checks if PLACE in one.about]
    assert (found.state, str(head) in found.sentence) == ("holds", True)
    entries = [json.loads(line) for line in packed_lines(tmp_path)[1]]
    releases = [one["announced"]["release"] for one in entries if one["state"] == "announced"]
    assert releases == ["http://example.com/Byage", "http://example.com/Byzip"]
    kept = {key for one in entries for key in one.get("announced", {})}
    assert "persons" not in kept
    assert "salt" not in kept


@pytest.mark.parametrize("key", [None, KEY], ids=["hashes", "key"])
def test_what_was_changed_cut_out_or_exchanged_in_a_ledger_is_found(pack, tmp_path, key):
    pack(key)
    keys = [] if key is None else [key]
    _, lines = packed_lines(tmp_path)
    assert not verdict(tmp_path, lines, keys=keys)
    number = next(n for n, line in enumerate(lines) if b'"announced":{' in line)
    changed = [*lines]
    changed[number] = lines[number].replace(
        b"http://example.com/Byage", b"http://example.com/Bypage"
    )
    assert "changed" in verdict(tmp_path, changed, keys=keys)
    for forged in (
        lines[:number] + lines[number + 1 :],
        [*lines[:number], lines[number + 1], lines[number], *lines[number + 2 :]],
        [*lines, lines[-1]],
        lines[1:],
    ):
        assert verdict(tmp_path, forged, keys=keys)


def test_a_ledger_that_was_written_anew_is_found_by_its_head_or_its_key(pack, tmp_path):
    """Without either, nobody can tell: whoever has the file can chain what they like."""
    pack()
    _, lines = packed_lines(tmp_path)
    head = Head.of(f"{len(lines)}:{json.loads(lines[-1])['hash']}")
    assert not verdict(tmp_path, lines, expected=[head])
    for forged in (lines[:-1], chained_again(lines[1:]), chained_again(lines[:-2])):
        assert verdict(tmp_path, forged, expected=[head])
    forged = chained_again([*lines[:-2], lines[-1].replace(b'"published"', b'"unpublished"')])
    assert verdict(tmp_path, forged, expected=[head])
    assert verdict(tmp_path, forged, keys=[KEY])


def test_a_ledger_by_another_key_or_by_none_is_not_that_of_a_key(pack, tmp_path):
    pack(KEY)
    _, lines = packed_lines(tmp_path)
    forged = [chained_again(lines, OTHER_KEY), chained_again(lines), []]
    for one in forged:
        assert verdict(tmp_path, one, keys=[KEY])
    report = verify_audit_trail(tmp_path / "trail")
    [found] = [one for one in report.checks if PLACE in one.about]
    assert (found.state, report.holds) == ("unchecked", True)
