import hashlib
import hmac
import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from policy_engine.errors import AuditError, CertificateError, OutputError
from policy_engine.kernels.estimates import Estimate
from policy_engine.methods.audits.membership_inference import (
    AttackBound,
    AttackMeasurement,
    MembershipInference,
)
from policy_engine.release.attempts import AttemptedRelease, attempt_upper_end
from policy_engine.release.ledger import Ledger

AUC = AttackBound(measure="auc", asked=0.6)
ASKED = MembershipInference(bounds=(AUC,), attacks=("rmia",))
MAKING = AttemptedRelease("a forest", "the data", "its rows", 1, (ASKED,), repeats=False)


def attacks(high=0.55):
    reached = Estimate(value=0.5, low=0.45, high=high)
    return [
        AttackMeasurement(attack=name, bound=AUC, reached=reached) for name in ASKED.attacks_run
    ]


def from_seed(seed, **more):
    return replace(MAKING, seed=seed, **more)


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "attempts")


def test_attempts_are_counted_by_their_records_whatever_the_model(ledger):
    assert ledger.begin(MAKING) == 1
    ledger.judge(MAKING, attacks())
    assert ledger.begin(from_seed(2)) == 2
    assert ledger.begin(from_seed(2, audits=(ASKED.model_copy(update={"shadow_models": 5}),))) == 2
    assert ledger.begin(from_seed(2, way="another forest")) == 3
    assert ledger.begin(from_seed(2, data="other data")) == 1


def test_attempts_on_mostly_the_same_records_are_counted_together(ledger):
    def on(*records, seed=2):
        return from_seed(seed, data=str(records), records=tuple(map(tuple, records)))

    assert ledger.begin(on(range(32))) == 1
    assert ledger.begin(on(range(16, 48), seed=3)) == 2
    assert ledger.begin(on(range(17, 49), seed=4)) == 2  # 15 of 32 are those of the first
    assert ledger.begin(on(range(100, 132), range(32), seed=5)) == 3
    assert ledger.begin(on(range(200, 232))) == 1
    assert ledger.begin(on()) == 1
    judged = ledger.judge(on(range(32)), attacks())
    assert {one.records for one in judged.attempts} == {()}  # sketches are for the ledger alone


def test_figures_are_pooled_with_those_of_the_same_way_alone(ledger):
    ledger.judge(MAKING, attacks(0.9))
    other = ledger.judge(from_seed(2, way="another forest"), attacks(0.51))
    assert {one.pooled for one in other.attacks} == {attempt_upper_end(attacks(0.51)[0].reached, 2)}
    same = ledger.judge(from_seed(3), attacks(0.51))
    assert {one.pooled for one in same.attacks} == {0.705}


def test_an_attempt_counts_from_its_beginning(ledger):
    asked = (ASKED.model_copy(update={"attempts": 1}),)
    first = from_seed(1, audits=asked)
    assert ledger.begin(first) == 1
    with pytest.raises(AuditError, match=r"A020 .* allows 1 attempt"):
        ledger.begin(from_seed(2, audits=asked))
    assert ledger.begin(first) == 1  # what was killed may be made again
    assert len(ledger.judge(first, attacks()).attempts) == 1
    assert ledger.begin(from_seed(2)) == 2


def test_runs_at_once_have_a_number_each_in_whatever_order_they_end(ledger):
    assert [ledger.begin(from_seed(seed)) for seed in (1, 2, 3)] == [1, 2, 3]
    last = ledger.judge(from_seed(3), attacks())
    assert len(last.attempts) == 3
    assert {one.pooled for one in last.attacks} == {attempt_upper_end(attacks()[0].reached, 3)}
    first = ledger.judge(from_seed(1), attacks(0.59))
    assert (len(first.attempts), first.attacks) == (1, tuple(attacks(0.59)))
    again = ledger.judge(from_seed(3), attacks())  # whatever was filled in since
    assert (again.attacks, len(again.attempts)) == (last.attacks, 3)


def interrupted(_number):
    raise KeyboardInterrupt


def test_what_cannot_show_its_bounds_is_no_attempt(ledger):
    def fails(number):
        raise AuditError.of("A021", str(number))

    with pytest.raises(AuditError, match="A021"):
        ledger.begin(MAKING, fails)
    assert ledger.begin(from_seed(2)) == 1


def test_an_attempt_is_judged_with_those_before_it(ledger):
    ledger.judge(MAKING, attacks(0.7))
    judged = ledger.judge(from_seed(2), attacks(0.55))
    assert [one.held for one in judged.attempts] == [False, False]
    assert [one.pooled for one in judged.attacks] == [0.625, 0.625]
    third = ledger.judge(from_seed(3), attacks(0.52))
    assert {one.pooled for one in third.attacks} == {0.59}
    assert third.attempts[-1].held


def test_what_was_refused_is_not_made_again_from_the_same_seed(ledger):
    ledger.judge(MAKING, attacks(0.7))
    wrong = r"V007 auc at most 0.6 .* may reach more: 0.5"
    with pytest.raises(CertificateError, match=wrong) as caught:
        ledger.begin(MAKING)
    assert "from this seed, and refused" in caught.value.problems[0].hint
    assert ledger.begin(replace(MAKING, repeats=True)) == 1
    loose = ASKED.model_copy(update={"bounds": (AttackBound(measure="auc", asked=0.8),)})
    assert ledger.begin(replace(MAKING, audits=(loose,))) == 1


def test_the_same_attempt_has_the_same_answer_whatever_came_after_it(ledger):
    first = ledger.judge(MAKING, attacks())
    ledger.judge(from_seed(2), attacks(0.9))
    assert ledger.begin(MAKING) == 1
    assert ledger.judge(MAKING, attacks()) == first
    assert ledger.begin(from_seed(3)) == 3  # it was not a third one


def test_a_model_that_comes_out_otherwise_is_another_attempt(ledger):
    ledger.judge(MAKING, attacks(0.55))
    assert len(ledger.judge(MAKING, attacks(0.56)).attempts) == 1
    assert len(ledger.judge(from_seed(2), attacks(0.55)).attempts) == 3


def test_a_policy_may_allow_so_many_attempts_and_no_more(ledger):
    asked = (ASKED.model_copy(update={"attempts": 2}),)
    for seed in (1, 2):
        ledger.begin(from_seed(seed, audits=asked))
        ledger.judge(from_seed(seed, audits=asked), attacks(0.7))
    with pytest.raises(AuditError, match=r"A020 .* 2 times\. The policy allows 2 attempts"):
        ledger.begin(from_seed(3, audits=asked))
    assert ledger.begin(from_seed(3)) == 3


def test_a_ledger_is_its_owner_s_alone_and_names_neither_data_nor_seed(ledger):
    ledger.judge(from_seed(86_420_531), attacks())
    files = sorted(ledger.folder.iterdir())
    assert [path.name for path in files] == ["attempts.json", "head", "key"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert stat.S_IMODE(ledger.folder.stat().st_mode) == 0o700
    assert not any(word in files[0].read_text() for word in ("86420531", "forest", "the data"))


def replaced(file, old, new):
    file.write_text(file.read_text().replace(old, new))


def emptied(file):
    file.write_text(json.dumps({**json.loads(file.read_text()), "attempts": []}))


CHANGES = {
    "a figure": lambda folder: replaced(folder / "attempts.json", "0.55", "0.51"),
    "an attempt": lambda folder: emptied(folder / "attempts.json"),
    "half of it": lambda folder: os.truncate(folder / "attempts.json", 100),
    "all of it": lambda folder: (folder / "attempts.json").unlink(),
    "the key": lambda folder: (folder / "key").unlink(),
    "another key": lambda folder: (folder / "key").write_text("0" * 64),
    "no key": lambda folder: (folder / "key").write_text("none"),
    "the head": lambda folder: (folder / "head").unlink(),
    "another head": lambda folder: (folder / "head").write_text("0" * 64),
    "no head": lambda folder: (folder / "head").write_bytes(b"\xff"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_ledger_that_was_changed_is_an_error_and_no_fresh_start(ledger, change):
    ledger.judge(MAKING, attacks())
    CHANGES[change](ledger.folder)
    for does in (ledger.begin, lambda making: ledger.judge(making, attacks())):
        with pytest.raises(AuditError, match="A019 The attempts kept in"):
            does(from_seed(2))


def test_an_older_copy_of_a_ledger_is_known_as_one(ledger):
    file = ledger.folder / "attempts.json"
    copies = []
    for seed in (1, 2, 3):
        ledger.begin(from_seed(seed))
        copies.append(file.read_text())
    for copy in copies[:2]:
        file.write_text(copy)
        with pytest.raises(AuditError, match=r"A019 .* it is an older copy"):
            ledger.begin(from_seed(4))
    file.write_text(copies[2])
    assert ledger.begin(from_seed(4)) == 4


def test_a_ledger_whose_run_was_killed_before_its_head_was_written_goes_on(ledger):
    ledger.begin(MAKING)
    head = (ledger.folder / "head").read_text()
    older = (ledger.folder / "attempts.json").read_text()
    ledger.begin(from_seed(2))
    (ledger.folder / "head").write_text(head)
    assert ledger.begin(from_seed(2)) == 2
    (ledger.folder / "attempts.json").write_text(older)
    with pytest.raises(AuditError, match="A019"):
        ledger.begin(from_seed(2))


def of_former_version(ledger, making, kind):
    """Turn a ledger with one attempt into one of a version that knew its records by texts."""
    key = bytes.fromhex((ledger.folder / "key").read_text())

    def mac(*parts):
        return hmac.new(
            key, b"\n".join(part.encode() for part in parts), hashlib.sha256
        ).hexdigest()

    page = json.loads((ledger.folder / "attempts.json").read_text())
    [one] = page["attempts"]
    one["data"] = mac("data", making.former)
    if kind == 2:
        one["way"] = mac("way", one["data"], making.way)
        one["made"] = mac("made", one["way"], one["seed"], making.exactly)
        del one["records"]
    page = {"kind": f"policy-engine attempts {kind}", "attempts": [one]}
    page["mac"] = mac(json.dumps(page, sort_keys=True, separators=(",", ":")))
    (ledger.folder / "attempts.json").write_text(json.dumps(page))
    (ledger.folder / "head").unlink()


@pytest.mark.parametrize("kind", [2, 3])
def test_attempts_of_former_versions_still_count(ledger, kind):
    first = replace(MAKING, former="its texts")
    ledger.judge(first, attacks(0.9))
    of_former_version(ledger, first, kind)
    with pytest.raises(CertificateError, match="V007"):
        ledger.begin(first)
    second = replace(first, seed=2)
    assert ledger.begin(second) == 2
    assert {one.pooled for one in ledger.judge(second, attacks(0.51)).attacks} == {0.705}
    spelt = replace(first, seed=3, former="its texts, otherwise")
    assert ledger.begin(spelt) == 3
    assert ledger.begin(replace(spelt, data="other data")) == 1


def test_a_run_that_was_killed_before_it_had_a_key_has_attempted_nothing(ledger):
    with pytest.raises(KeyboardInterrupt):
        ledger.begin(MAKING, interrupted)
    (ledger.folder / "key").unlink()
    assert ledger.begin(MAKING) == 1
    ledger.judge(MAKING, attacks())
    assert ledger.begin(from_seed(2)) == 2


def test_attempts_of_several_runs_at_once_are_all_kept(ledger):
    with ThreadPoolExecutor(4) as pool:
        judged = list(pool.map(lambda seed: ledger.judge(from_seed(seed), attacks()), range(6)))
    assert sorted(len(one.attempts) for one in judged) == [1, 2, 3, 4, 5, 6]


def test_without_a_place_for_attempts_none_is_made(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=r"O002 Attempts cannot be kept in .*attempts=DIR"):
        Ledger(tmp_path / "file").begin(MAKING)


def test_attempts_are_kept_with_the_state_of_programs(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert Ledger().folder == tmp_path / "policy-engine" / "attempts"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert os.fspath(Ledger().folder).endswith(".local/state/policy-engine/attempts")
