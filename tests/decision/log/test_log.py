import errno
import json
import os
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import pytest
from everyday import everyday, examples
from hypothesis import given, settings
from hypothesis import strategies as st
from places import ROOT
from typer.testing import CliRunner

from policy_engine.cli.logs import logs
from policy_engine.data.chain.table import ChainTable
from policy_engine.decision.conditions import Verdict
from policy_engine.decision.log import (
    DecisionLog,
    Head,
    last_entries,
    last_number,
    latest_entries,
    lines,
    read_log,
    verify_log,
)
from policy_engine.decision.model import (
    Counted,
    Decision,
    DerivationStep,
    Match,
    NearMiss,
    OutstandingDuty,
    Request,
    World,
)
from policy_engine.errors import DataError, LogError, OutputError, PolicyEngineError
from policy_engine.policy.model import Constraint, LogicalConstraint, Value

ODRL = "http://www.w3.org/ns/odrl/2/"
NAMES = ["log.jsonl", "log.sqlite"]
KEY = b"k" * 32
OTHER_KEY = b"o" * 32
ASKED = Request(
    assignee="http://x.org/ann",
    action=f"{ODRL}read",
    targets=("http://x.org/People", "http://x.org/Pets"),
    purpose="http://x.org/research",
)


def decision(effect="permit", **more):
    return Decision(effect=effect, request=ASKED, reason="Because.", **more)


def logged(path, count=5, key=None):
    log = DecisionLog.open(path, key)
    entries = [log.append(decision("permit" if n % 2 else "deny")) for n in range(count)]
    return log.path, entries


def rewritten(path, change):
    """Have the lines of a log changed."""
    found = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(change(found)))
    return path


def told(path, **how):
    return [(one.place.line, one.message) for one in verify_log(path, **how).problems]


# -- what is written --------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_what_is_appended_is_read_again(tmp_path, name):
    path, entries = logged(tmp_path / name)
    assert list(read_log(path)) == entries
    assert [one.number for one in entries] == [1, 2, 3, 4, 5]
    assert entries[0].request == ASKED


def test_a_line_is_canonical_json_that_holds_the_hash_of_all_its_rest(tmp_path):
    path, _ = logged(tmp_path / "log.jsonl", 2)
    first, second = map(json.loads, path.read_bytes().splitlines())
    assert second["previous"] == first["hash"]
    own = second.pop("hash")
    text = json.dumps(second, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert sha256(text.encode()).hexdigest() == own


def test_file_and_table_hold_the_same_texts(tmp_path):
    path, entries = logged(tmp_path / "log.db", 3)
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT number, entry, hash FROM decisions").fetchall()
    connection.close()
    assert rows == [(one.number, one.text().decode(), one.hash) for one in entries]


def test_what_a_permit_is_an_execution_of_is_logged_where_it_is_another_rule(tmp_path):
    named = Counted(policy="urn:p", rule="urn:r", targets=ASKED.targets)
    other = Counted(policy="urn:p", rule="urn:other", targets=ASKED.targets)
    log = DecisionLog.open(tmp_path / "log.jsonl")
    for counted in ((named,), (named, other), (other,)):
        log.append(decision(policy="urn:p", rule="urn:r", counted=counted))
    found = [one.decision.counted for one in read_log(log.path)]
    assert [one and [count.rule for count in one] for one in found] == [
        None,
        ["urn:r", "urn:other"],
        ["urn:other"],
    ]


def test_an_entry_is_of_the_moment_that_its_decision_is_for(tmp_path):
    moment = datetime(2026, 5, 1, 12, tzinfo=UTC)
    log = DecisionLog.open(tmp_path / "log.jsonl")
    entry = log.append(decision(time=moment, time_by="caller"))
    [again] = read_log(log.path)
    assert again.time == moment == entry.time
    assert again.decision.time_by == "caller"
    assert log.append(decision()).time is None


def test_only_the_owner_may_read_a_new_log(tmp_path):
    for name in NAMES:
        path, _ = logged(tmp_path / name, 1)
        assert path.stat().st_mode & 0o077 == 0


# -- what is not written ----------------------------------------------------------------------


def constraint(number):
    return Constraint(
        left_operand=f"http://x.org/People/c{number}",
        operator=f"{ODRL}eq",
        right_operands=(Value(f"canary{number}a", settings={"s": Value(f"canary{number}b")}),),
        references=(f"canary:{number}c",),
        data_type=f"canary{number}d",
        unit=f"canary{number}e",
        status=Value(f"canary{number}f"),
        uid=f"canary{number}g",
    )


def verdict(number, state="unsatisfied"):
    return Verdict(constraint(number), state, (f"canary{number}h",))


def full_of_canaries():
    """A decision that holds a canary wherever one holds a value or a free text."""
    world = World(
        values={"http://x.org/People/c8": "canary8v"},
        of={"http://x.org/ann": {"http://x.org/age": "canary8w"}},
    )
    both = LogicalConstraint(f"{ODRL}and", (constraint(1), constraint(2)), "canary:both")
    parts = (verdict(1), verdict(2, "unknown"))
    whole = Verdict(both, "unknown", ("canary9",), parts=parts)
    unseen = Verdict(both, "unknown", world.values["http://x.org/People/c8"])
    return Decision(
        effect="deny",
        request=ASKED,
        reason="canary10 was seen.",
        policy="http://x.org/policy",
        rule="http://x.org/rule",
        derivation=("canary11", str(world.of)),
        matches=(
            Match(
                policy="http://x.org/policy",
                rule="http://x.org/rule",
                kind="permission",
                applies=False,
                steps=(DerivationStep(part="asset", path=("canary:12", "canary:13")),),
                conditions=(verdict(3), whole, unseen),
            ),
        ),
        near_misses=(NearMiss(policy="http://x.org/p2", rule="r2", missing=("canary14",)),),
        duties=(
            OutstandingDuty(
                policy="http://x.org/policy",
                rule="http://x.org/rule",
                duty="http://x.org/duty",
                actions=(f"{ODRL}inform",),
                by=("http://x.org/ann",),
                state="violated",
            ),
        ),
        strategy="prohibit",
        policy_digests=("d" * 64,),
    )


@pytest.mark.parametrize("name", NAMES)
def test_no_value_and_no_free_text_is_logged(tmp_path, name):
    made = full_of_canaries()
    assert repr(made).count("canary") > 40
    log = DecisionLog.open(tmp_path / name)
    log.append(made)
    assert [b"canary" in path.read_bytes() for path in tmp_path.iterdir()] == [False]
    assert b"http://x.org/duty" in log.path.read_bytes()


def test_just_these_fields_are_logged(tmp_path):
    entry = DecisionLog.open(tmp_path / "log.jsonl").append(full_of_canaries())
    kept = json.loads(entry.text())["decision"]
    assert sorted(kept) == [
        *("duties", "effect", "matches", "near_misses", "policy", "policy_digests"),
        *("request", "rule", "strategy", "time", "time_by"),
    ]
    assert sorted(kept["matches"][0]) == ["applies", "conditions", "kind", "policy", "rule"]
    assert sorted(kept["near_misses"][0]) == ["policy", "rule"]
    assert sorted(kept["duties"][0]) == ["actions", "by", "duty", "policy", "rule", "state"]
    assert sorted(kept["request"]) == ["action", "assignee", "purpose", "targets"]


def test_conditions_are_logged_by_their_operands_and_states(tmp_path):
    entry = DecisionLog.open(tmp_path / "log.jsonl").append(full_of_canaries())
    [match] = entry.decision.matches
    assert [(one.operand.rpartition("/")[2], one.state) for one in match.conditions] == [
        *(("c3", "unsatisfied"), ("c1", "unsatisfied"), ("c2", "unknown"), ("and", "unknown"))
    ]


def test_a_name_that_utf_8_cannot_write_is_refused(tmp_path):
    log = DecisionLog.open(tmp_path / "log.jsonl")
    odd = decision().model_copy(update={"rule": "a\ud800"})
    with pytest.raises(OutputError, match=r"O002 .*cannot be encoded as UTF-8"):
        log.append(odd)
    assert log.path.read_bytes() == b""


# -- what verification sees -------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "keyed"])
def test_a_log_as_it_was_written_is_intact(tmp_path, name, key):
    path, entries = logged(tmp_path / name, key=key)
    found = verify_log(path, key)
    assert found.intact
    assert found.entries == 5
    assert found.head == Head(5, entries[-1].hash)


@pytest.mark.parametrize("name", NAMES)
def test_a_log_without_entries_is_intact_and_its_head_is_0(tmp_path, name):
    path, _ = logged(tmp_path / name, 0)
    found = verify_log(path)
    assert (found.intact, found.entries, str(found.head)) == (True, 0, f"0:{'0' * 64}")
    assert verify_log(path, expect=str(found.head)).intact
    assert not verify_log(path, expect=1).intact


def test_a_changed_line_is_named(tmp_path):
    path, _ = logged(tmp_path / "log.jsonl")
    rewritten(path, lambda ls: [*ls[:2], ls[2].replace(b'"deny"', b'"permit"'), *ls[3:]])
    changed = "Entry 3: it was changed: its hash does not match its content."
    assert told(path) == [(3, changed)]


def test_a_changed_line_with_its_hash_made_anew_shows_at_the_next(tmp_path):
    path, _ = logged(tmp_path / "log.jsonl")

    def forged(ls):
        entry = json.loads(ls[2])
        entry["decision"]["effect"] = "permit"
        del entry["hash"]
        text = json.dumps(entry, sort_keys=True, separators=(",", ":"))
        entry["hash"] = sha256(text.encode()).hexdigest()
        ls[2] = json.dumps(entry, sort_keys=True, separators=(",", ":")).encode() + b"\n"
        return ls

    rewritten(path, forged)
    assert told(path) == [(4, "Entry 4 was written after a different entry 3.")]


@pytest.mark.parametrize(
    ("order", "problems"),
    [
        ([0, 1, 3, 4], [(3, "Entry 3 is missing before entry 4.")]),
        ([3, 4], [(1, "Entries 1 to 3 are missing before entry 4.")]),
        (
            [0, 1, 1, 2, 3, 4],
            [(3, "Entry 2 is where entry 3 should be: it was inserted, moved or")],
        ),
        (
            [1, 0, 2, 3, 4],
            [(1, "Entry 1 is missing"), (2, "Entry 1 is where"), (3, "Entry 2 is miss")],
        ),
    ],
    ids=["missing", "start-cut", "repeated", "swapped"],
)
def test_lines_that_are_not_in_their_places_are_named(tmp_path, order, problems):
    path, _ = logged(tmp_path / "log.jsonl")
    rewritten(path, lambda ls: [ls[place] for place in order])
    found = told(path)
    assert len(found) == len(problems)
    for (line, words), due in zip(found, problems, strict=True):
        assert (line, words[: len(due[1])]) == due


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"hello\n", "This is not an entry: it is not JSON."),
        (b"\n", "This is not an entry: it is not JSON."),
        (b'{"number":1}\n', "This is not an entry: 'chain' is wrong."),
        (b"[" * 100_000 + b"\n", "This is not an entry: it is not JSON."),
        (b"\xff\xfe\n", "This is not an entry: it is not JSON."),
    ],
    ids=["words", "empty", "parts-missing", "deep", "not-utf-8"],
)
def test_a_line_that_is_no_entry_is_named_and_not_quoted(tmp_path, text, says):
    path, _ = logged(tmp_path / "log.jsonl")
    rewritten(path, lambda ls: [*ls[:2], text, *ls[3:]])
    assert told(path) == [(3, says)]


def test_a_second_value_under_one_key_is_no_way_around(tmp_path):
    path, _ = logged(tmp_path / "log.jsonl")
    twice = b'"effect":"permit","effect":"deny"'
    rewritten(path, lambda ls: [ls[0].replace(b'"effect":"deny"', twice), *ls[1:]])
    assert told(path) == [(1, "This is not an entry: it is not written as the log writes it.")]


def test_many_problems_are_told_up_to_a_limit(tmp_path):
    path, _ = logged(tmp_path / "log.jsonl", 3)
    rewritten(path, lambda _: [b"x\n"] * 1_000)
    found = told(path)
    assert len(found) == 100
    assert found[-1] == (100, "There are more problems, which are not listed.")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path, _ = logged(tmp_path_factory.mktemp("log") / "log.jsonl", 6)
    return path, path.read_bytes()


@settings(max_examples=examples(60), deadline=None)
@given(data=st.data())
def test_any_changed_byte_shows(whole, data):
    path, text = whole
    place = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.integers(0, 255).filter(lambda byte: byte != text[place]))
    path.write_bytes(text[:place] + bytes([other]) + text[place + 1 :])
    assert not verify_log(path).intact


@settings(max_examples=examples(60), deadline=None)
@given(chosen=st.lists(st.integers(0, 5), max_size=8))
def test_any_choice_of_lines_shows_but_the_first_ones_in_order(whole, chosen):
    path, text = whole
    every = text.splitlines(keepends=True)
    path.write_bytes(b"".join(every[place] for place in chosen))
    assert verify_log(path).intact == (chosen == [*range(len(chosen))])


# -- heads that were kept ---------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_cut_end_shows_against_a_head_that_was_kept(tmp_path, name):
    path, entries = logged(tmp_path / name)
    if name.endswith("jsonl"):
        rewritten(path, lambda ls: ls[:3])
    else:
        sql(path, "DELETE FROM decisions WHERE number > 3")
    assert verify_log(path).intact
    kept = str(Head(5, entries[-1].hash))
    [problem] = verify_log(path, expect=kept).problems
    assert problem.message.startswith(f"The log does not contain the head {kept}; it ends at 3:")


@pytest.mark.parametrize("how", ["3:{}", "{}", "3"])
def test_a_log_that_went_on_still_holds_an_older_head(tmp_path, how):
    path, entries = logged(tmp_path / "log.jsonl")
    assert verify_log(path, expect=how.format(entries[2].hash)).intact


def test_a_head_with_the_number_of_another_entry_is_not_held(tmp_path):
    path, entries = logged(tmp_path / "log.jsonl")
    assert not verify_log(path, expect=f"4:{entries[2].hash}").intact
    assert not verify_log(path, expect=6).intact
    assert verify_log(path, expect=5).intact


def test_a_log_made_anew_shows_against_a_head_that_was_kept(tmp_path):
    path, entries = logged(tmp_path / "log.jsonl")
    path.unlink()
    logged(path)
    assert verify_log(path).intact
    assert not verify_log(path, expect=entries[-1].hash).intact


@pytest.mark.parametrize("text", ["", "x", "5:", ":ab", "5:ab", "-1", "1" * 30])
def test_what_is_no_head_is_refused(tmp_path, text):
    path, _ = logged(tmp_path / "log.jsonl", 1)
    with pytest.raises(PolicyEngineError, match="U001 A head is NUMBER:HASH"):
        verify_log(path, expect=text)


# -- keys -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_chain_made_anew_without_the_key_shows(tmp_path, name):
    path, _ = logged(tmp_path / name, 2)
    assert "its chain is 'sha-256', but 'hmac-sha-256' is expected" in told(path, key=KEY)[0][1]


def test_a_chain_made_with_another_key_shows(tmp_path):
    path, _ = logged(tmp_path / "log.jsonl", 2, OTHER_KEY)
    assert [line for line, words in told(path, key=KEY) if "another key" in words] == [1, 2]


def test_a_keyed_chain_is_not_judged_or_gone_on_with_without_its_key(tmp_path):
    path, _ = logged(tmp_path / "log.jsonl", 2, KEY)
    for attempt in (verify_log, DecisionLog.open):
        with pytest.raises(DataError, match="C013 The log is chained with a key") as told:
            attempt(path)
        assert told.value.problems[0].hint == "Give the key that the log is chained with."


@pytest.mark.parametrize(("first", "then"), [(None, KEY), (KEY, OTHER_KEY)])
def test_a_chain_is_not_gone_on_with_under_another_key(tmp_path, first, then):
    path, _ = logged(tmp_path / "log.jsonl", 2, first)
    with pytest.raises(LogError, match=r"G002 Nothing can be appended to the log"):
        DecisionLog.open(path, then)
    assert len(list(read_log(path))) == 2


def test_the_key_of_pseudonyms_is_not_taken_for_that_of_a_log(tmp_path, monkeypatch):
    monkeypatch.setenv("POLICY_ENGINE_KEY", "p" * 32)
    _, [entry] = logged(tmp_path / "log.jsonl", 1)
    assert entry.chain == "sha-256"


@pytest.mark.parametrize("text", [b"", b"  \n", b"short"])
def test_a_short_key_is_refused(tmp_path, text):
    (tmp_path / "key").write_bytes(text)
    for key in (text, tmp_path / "key"):
        with pytest.raises(DataError, match="C013 The key has") as told:
            DecisionLog.open(tmp_path / "log.jsonl", key)
        assert told.value.problems[0].hint == "Make one: openssl rand -hex 32 > key."
    assert not (tmp_path / "log.jsonl").exists()


def test_a_key_is_not_shown(tmp_path):
    assert "kkkk" not in repr(DecisionLog.open(tmp_path / "log.jsonl", KEY))


# -- crashes, other writers, full disks -------------------------------------------------------


@pytest.mark.parametrize("cut", [1, 40])
def test_a_torn_last_line_is_named_and_nothing_is_appended_to_it(tmp_path, cut):
    path, _ = logged(tmp_path / "log.jsonl", 3)
    torn = path.read_bytes()[:-cut]
    path.write_bytes(torn)
    assert told(path) == [
        (3, "This is not an entry: the file ends in the middle of it, as after a crash.")
    ]
    with pytest.raises(LogError, match=r"G002 .*the file ends in the middle of it.*Keep a copy"):
        DecisionLog.open(path)
    assert path.read_bytes() == torn


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_appended_to_a_changed_entry(tmp_path, name):
    path, _ = logged(tmp_path / name, 3)
    log = DecisionLog.open(path)
    if name.endswith("jsonl"):
        rewritten(path, lambda ls: [*ls[:2], ls[2].replace(b'"deny"', b'"permit"')])
    else:
        sql(path, """UPDATE decisions SET entry = replace(entry, '"deny"', '"permit"')""")
    with pytest.raises(LogError, match=r"G002 .*it was changed"):
        log.append(decision())
    assert verify_log(path).entries == 3


@pytest.mark.parametrize("name", NAMES)
def test_threads_append_one_after_the_other(tmp_path, name):
    log = DecisionLog.open(tmp_path / name)
    with ThreadPoolExecutor(4) as pool:
        entries = list(pool.map(lambda _: log.append(decision()), range(40)))
    found = verify_log(log.path)
    assert (found.intact, found.entries) == (True, 40)
    assert sorted(one.number for one in entries) == [*range(1, 41)]


PROCESS = """
import sys
from policy_engine.decision.model import Decision, Request
from policy_engine.decision.log import DecisionLog
asked = Request(assignee="http://x.org/ann", action="http://x.org/read", targets=("http://x.org/t",))
for path in sys.argv[1:]:
    log = DecisionLog.open(path)
    for _ in range(30):
        log.append(Decision(effect="deny", request=asked, reason="No."))
"""


@pytest.mark.nightly
def test_processes_append_one_after_the_other(tmp_path):
    paths = [tmp_path / name for name in NAMES]
    command = [sys.executable, "-c", PROCESS, *map(str, paths)]

    started = [subprocess.Popen(command, cwd=ROOT) for _ in range(2)]
    assert [one.wait(60) for one in started] == [0, 0]
    assert [(found.intact, found.entries) for found in map(verify_log, paths)] == [(True, 60)] * 2


@pytest.mark.parametrize("written", [0, 100])
def test_a_full_disk_leaves_the_log_as_it_was(tmp_path, monkeypatch, written):
    path, _ = logged(tmp_path / "log.jsonl", 2)
    log, before, real = DecisionLog.open(path), path.read_bytes(), os.write

    def full(number, data):
        if not written:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(number, data[:written])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OutputError, match=r"O002 .* No space left on device"):
        log.append(decision())
    assert path.read_bytes() == before


def test_a_lock_that_is_held_is_waited_for_and_not_for_ever(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    path, _ = logged(tmp_path / "log.jsonl", 2)
    monkeypatch.setattr("policy_engine.decision.log.locks.PATIENCE", 0.01)
    with path.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(OutputError, match=r"O002 .*another process holds its lock"):
            DecisionLog.open(path)
        with pytest.raises(LogError, match=r"G001 .*another process holds its lock"):
            verify_log(path)


def test_the_last_line_is_found_behind_lines_longer_than_a_block(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "_BLOCK", 16)
    path, entries = logged(tmp_path / "log.jsonl", 4)
    assert verify_log(path).intact
    assert entries[-1].number == 4


def test_an_entry_that_is_too_long_is_refused(tmp_path, monkeypatch):
    log = DecisionLog.open(tmp_path / "log.jsonl")
    monkeypatch.setattr(lines, "LONGEST", 200)
    with pytest.raises(OutputError, match=r"O002 .*too long"):
        log.append(decision())
    assert log.path.read_bytes() == b""


def test_a_line_without_end_is_not_taken_into_memory(tmp_path, monkeypatch):
    path, _ = logged(tmp_path / "log.jsonl", 2)
    monkeypatch.setattr(lines, "LONGEST", 2_000)
    rewritten(path, lambda ls: [*ls, b"x" * 9_000, b"\n"])
    assert [line for line, words in told(path) if "longer than" in words] == [3]
    monkeypatch.setattr(lines, "_BLOCK", 16)
    with pytest.raises(LogError, match=r"G002 .*longer than"):
        DecisionLog.open(path)


# -- places that are none ---------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_and_a_missing_folder_are_no_logs(tmp_path, name):
    (tmp_path / name).mkdir()
    for path in (tmp_path / name, tmp_path / "missing" / name):
        with pytest.raises(OutputError, match="O002 The decision log cannot be written"):
            DecisionLog.open(path)
        with pytest.raises(LogError, match="G001 The decision log cannot be read"):
            verify_log(path)


@pytest.mark.parametrize("name", NAMES)
def test_a_symbolic_link_is_not_written_through(tmp_path, name):
    target = tmp_path / "elsewhere"
    target.write_bytes(b"")
    (tmp_path / name).symlink_to(target)
    with pytest.raises(OutputError, match=r"O002 .*symbolic link"):
        DecisionLog.open(tmp_path / name)
    assert target.read_bytes() == b""


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "log.jsonl")
    with pytest.raises(OutputError, match=r"O002 .*not a regular file"):
        DecisionLog.open(tmp_path / "log.jsonl")
    with pytest.raises(LogError, match=r"G001 .*not a regular file"):
        verify_log(tmp_path / "log.jsonl")


@pytest.mark.parametrize("name", NAMES)
def test_a_log_that_may_not_be_written_is_refused(tmp_path, monkeypatch, name):
    path, _ = logged(tmp_path / name, 1)

    def forbidden(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", forbidden)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(OutputError, match=r"O002 .*Permission denied"):
        DecisionLog.open(path)


def test_another_ending_is_refused(tmp_path):
    for attempt in (DecisionLog.open, read_log, verify_log):
        with pytest.raises(DataError, match=r"C004 .*Allowed are '.jsonl', '.ndjson'"):
            attempt(tmp_path / "log.txt")


def test_a_path_with_a_zero_in_it_is_refused():
    for name in NAMES:
        with pytest.raises(LogError, match="G001"):
            verify_log(f"a\0{name}")


# -- tables -----------------------------------------------------------------------------------


def sql(path, *statements):
    connection = sqlite3.connect(path)
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("DELETE FROM decisions WHERE number = 2", (3, "Entry 2 is missing before entry 3.")),
        (
            "UPDATE decisions SET hash = 'x' WHERE number = 2",
            (2, "This is not an entry: the columns"),
        ),
        (
            "UPDATE decisions SET hash = NULL WHERE number = 2",
            (2, "This is not an entry: its columns"),
        ),
        (
            "UPDATE decisions SET hash = x'ff' WHERE number = 2",
            (2, "This is not an entry: the columns"),
        ),
        (
            "UPDATE decisions SET hash = '' WHERE number = 2",
            (2, "This is not an entry: the columns"),
        ),
        (
            "UPDATE decisions SET entry = '' WHERE number = 2",
            (2, "This is not an entry: it is not"),
        ),
        (
            "UPDATE decisions SET number = 9 WHERE number = 5",
            (9, "This is not an entry: the columns"),
        ),
        (
            "UPDATE decisions SET number = 0 WHERE number = 1",
            (0, "This is not an entry: the columns"),
        ),
    ],
)
def test_a_change_of_a_table_shows(tmp_path, change, says):
    path, _ = logged(tmp_path / "log.sqlite")
    sql(path, change)
    [(line, words)] = told(path)
    assert (line, words[: len(says[1])]) == says


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TABLE people(name TEXT)"],
        ["CREATE TRIGGER t AFTER INSERT ON decisions BEGIN DELETE FROM decisions; END"],
        ["DROP TABLE decisions", "CREATE VIEW decisions AS SELECT 1 number, 2 entry, 3 hash"],
        ["DROP TABLE decisions", "CREATE TABLE decisions(number, entry, hash)"],
    ],
    ids=["other-table", "trigger", "view", "other-columns"],
)
def test_a_database_of_something_else_is_no_log(tmp_path, statements):
    path, _ = logged(tmp_path / "log.sqlite", 2)
    sql(path, *statements)
    with pytest.raises(LogError, match=r"G001 .*more than one decision log"):
        verify_log(path)
    with pytest.raises(OutputError, match=r"O002 .*more than one decision log"):
        DecisionLog.open(path)


def test_statistics_of_a_table_do_no_harm(tmp_path):
    path, _ = logged(tmp_path / "log.sqlite", 2)
    sql(path, "ANALYZE")
    DecisionLog.open(path).append(decision())
    assert verify_log(path).entries == 3


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "log.db").write_bytes(b"no database, but long enough to look like one" * 30)
    with pytest.raises(LogError, match=r"G001 .*not a database"):
        verify_log(tmp_path / "log.db")
    with pytest.raises(OutputError, match=r"O002 .*not a database"):
        DecisionLog.open(tmp_path / "log.db")


# -- reading ----------------------------------------------------------------------------------


def test_reading_stops_at_what_is_no_entry_and_looks_at_no_chain(tmp_path):
    path, entries = logged(tmp_path / "log.jsonl")
    rewritten(path, lambda ls: [ls[3], ls[0], b"x\n", ls[1]])
    found = read_log(path)
    assert [next(found), next(found)] == [entries[3], entries[0]]
    with pytest.raises(
        LogError, match=r"log.jsonl:3:1: G001 This is not an entry: it is not JSON\."
    ):
        next(found)


@pytest.mark.parametrize("name", NAMES)
def test_the_last_entries_are_in_order(tmp_path, name):
    path, entries = logged(tmp_path / name)
    assert last_entries(path, 2) == entries[3:]
    assert last_entries(path, 9) == entries


@pytest.mark.parametrize("name", NAMES)
def test_the_latest_entries_come_backwards_from_below_a_number(tmp_path, name):
    path, entries = logged(tmp_path / name)
    assert [*latest_entries(path, bool)] == entries[::-1]
    assert [*latest_entries(path, bool, before=3)] == entries[1::-1]
    assert [*latest_entries(path, bool, before=4, after=1)] == entries[2:0:-1]
    assert last_number(path) == entries[-1].number
    assert [*latest_entries(path, lambda one: one["number"] % 2 == 0)] == entries[3::-2]


@pytest.mark.parametrize("name", NAMES)
def test_the_latest_entries_have_the_texts_that_are_wanted_as_values(tmp_path, name):
    log = DecisionLog.open(tmp_path / name)
    entries = [log.append(decision(effect)) for effect in ("permit", "deny", "permit")]
    assert [*latest_entries(log.path, bool, texts=["deny"])] == [entries[1]]
    assert [*latest_entries(log.path, bool, texts=["permit", "http://x.org/ann"])] == entries[::-2]
    assert [*latest_entries(log.path, bool, texts=["http://x.org/an"])] == []


def test_the_latest_entries_of_a_table_are_read_no_further_than_they_are_taken(tmp_path):
    path, entries = logged(tmp_path / "log.sqlite")
    with sqlite3.connect(path) as table:
        table.execute("UPDATE decisions SET entry = '{' WHERE number = 2")
    table.close()
    found = latest_entries(path, bool)
    assert [next(found) for _ in range(3)] == entries[:1:-1]
    with pytest.raises(LogError, match=r"G001 .*not JSON"):
        next(found)


def test_an_entry_that_cannot_be_judged_is_shown_to_nobody(tmp_path):
    path, _ = logged(tmp_path / "log.sqlite")
    with pytest.raises(LogError, match=r"G001 .*Entry 5 does not say"):
        [*latest_entries(path, lambda entry: entry["decision"]["reason"] == "Because.")]


@pytest.mark.parametrize("field", ["time", "effect", "time_by"])
def test_an_entry_of_another_shape_is_none(tmp_path, field):
    path, _ = logged(tmp_path / "log.jsonl", 1)
    entry = json.loads(path.read_bytes())
    entry["decision"][field] = "noon"
    path.write_bytes(json.dumps(entry, sort_keys=True, separators=(",", ":")).encode() + b"\n")
    assert told(path) == [(1, f"This is not an entry: 'decision.{field}' is wrong.")]


def test_the_longest_entry_is_that_of_both_places():
    assert ChainTable(Path("log.db"), "entries", "log", 1).longest == lines.LONGEST


# -- the command line -------------------------------------------------------------------------


def run(*arguments):
    return CliRunner().invoke(logs, [*map(str, arguments)])


def test_verify_prints_a_head_that_it_takes_again(tmp_path):
    path, entries = logged(tmp_path / "log.jsonl")
    result = run("verify", path)
    assert (result.exit_code, result.stdout.splitlines()[1]) == (0, f"head: 5:{entries[-1].hash}")
    assert run("verify", path, "--expect", result.stdout.split()[-1]).exit_code == 0
    rewritten(path, lambda ls: ls[:4])
    cut = run("verify", path, "--expect", result.stdout.split()[-1])
    assert (cut.exit_code, "It was truncated or replaced" in cut.stdout) == (1, True)


def test_verify_names_file_and_line_of_what_is_broken(tmp_path):
    path, _ = logged(tmp_path / "log.jsonl", 3)
    rewritten(path, lambda ls: [ls[0], ls[2]])
    result = run("verify", path)
    expected = f"{path}:2:1: G002 Entry 2 is missing before entry 3.\n"
    assert (result.exit_code, result.stdout) == (1, expected)


def test_verify_takes_the_key_from_a_file(tmp_path):
    (tmp_path / "key").write_bytes(KEY + b"\n")
    path, _ = logged(tmp_path / "log.jsonl", 2, KEY)
    assert run("verify", path, "--key", tmp_path / "key").exit_code == 0
    assert run("verify", path).exception.exit_code == 2


def test_verify_answers_machines(tmp_path):
    path, entries = logged(tmp_path / "log.jsonl", 2)
    found = json.loads(run("verify", path, "--format", "json").stdout)
    head = {"number": 2, "hash": entries[-1].hash}
    assert found == {"intact": True, "entries": 2, "head": head, "problems": []}


def test_show_prints_the_last_decisions(tmp_path):
    path, entries = logged(tmp_path / "log.jsonl", 3)
    result = run("show", path, "--last", 2)
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["2", "3"]
    shown = json.loads(run("show", path, "--last", "1", "--format", "json").stdout)
    assert shown == [json.loads(entries[2].text())]


def test_show_does_not_steer_the_terminal(tmp_path):
    log = DecisionLog.open(tmp_path / "log.jsonl")
    asked = ASKED.model_copy(update={"assignee": "ann\x1b[2J\u202e\n1 permit"})
    log.append(decision().model_copy(update={"request": asked}))
    result = run("show", log.path)
    assert "ann\\x1b[2J\\u202e\\n1 permit" in result.stdout
    assert result.stdout.count("\n") == 1


KILLED = """
import os, signal, sys
from policy_engine.data.chain.table import OpenTable
from policy_engine.decision.log import DecisionLog
from test_log import decision

log = DecisionLog.open(sys.argv[1])
add = OpenTable.add

def cut_off(table, entry):
    connection = table.connection
    connection.execute("PRAGMA cache_size = 1")  # what is not committed goes to the disk as well
    add(table, entry)
    for number in range(int(sys.argv[2])):
        connection.execute("INSERT INTO decisions VALUES (?, ?, '')", (9 + number, "x" * 3000))
    os.kill(os.getpid(), signal.SIGKILL)

OpenTable.add = cut_off
log.append(decision())
"""


def cut_off(path, rows=50):
    """Have a process killed within a transaction, with as many rows in it besides."""
    found = subprocess.run(
        [sys.executable, "-c", KILLED, path, str(rows)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        check=False,
    )
    assert found.returncode == -9
    assert path.with_name(f"{path.name}-journal").stat().st_size > 0


@pytest.mark.nightly
@pytest.mark.skipif(os.name == "nt", reason="Windows has no signals")
@pytest.mark.parametrize("rows", everyday((0, 50), 50))
def test_a_table_whose_writer_was_killed_is_read_and_goes_on(tmp_path, rows):
    path, entries = logged(tmp_path / "log.sqlite", 3)
    cut_off(path, rows)
    assert verify_log(path).intact
    assert [*read_log(path)] == last_entries(path, 9) == entries
    DecisionLog.open(path).append(decision())
    assert (verify_log(path).intact, verify_log(path).entries) == (True, 4)


@pytest.mark.nightly
@pytest.mark.skipif(os.name == "nt", reason="Windows has no signals")
def test_what_a_killed_writer_left_is_told_of_where_a_reader_may_not_undo_it(tmp_path, monkeypatch):
    path, entries = logged(tmp_path / "log.sqlite", 3)
    cut_off(path)
    kept = path.read_bytes()
    connected = ChainTable._connected
    monkeypatch.setattr(ChainTable, "_connected", lambda self, _mode: connected(self, "ro"))
    with pytest.raises(LogError, match=r"G001 .*'log.sqlite-journal'.* copy both files") as caught:
        verify_log(path)
    assert caught.value.exit_code == 2
    assert path.read_bytes() == kept
    monkeypatch.undo()
    copies = tmp_path / "copies"
    copies.mkdir()
    for one in (path, path.with_name(f"{path.name}-journal")):
        (copies / one.name).write_bytes(one.read_bytes())
    assert [*read_log(copies / path.name)] == entries
    assert path.read_bytes() == kept
