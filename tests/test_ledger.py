import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from policy_engine.attempts import Making
from policy_engine.errors import AuditError, CertificateError, OutputError
from policy_engine.estimates import Estimate
from policy_engine.ledger import Ledger
from policy_engine.methods.membership_inference import (
    AttackBound,
    AttackMeasurement,
    MembershipInference,
)

AUC = AttackBound(measure="auc", asked=0.6)
ASKED = MembershipInference(bounds=(AUC,), attacks=("rmia",))
MAKING = Making("a forest", "the data", "its rows", 1, (ASKED,), repeats=False)


def attacks(high=0.55):
    reached = Estimate(value=0.5, low=0.45, high=high)
    return [AttackMeasurement(attack=name, bound=AUC, reached=reached) for name in ASKED.run]


def from_seed(seed, **more):
    return replace(MAKING, seed=seed, **more)


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "attempts")


def test_attempts_are_counted_by_training_and_data(ledger):
    assert ledger.begin(MAKING) == 1
    ledger.judge(MAKING, attacks())
    assert ledger.begin(from_seed(2)) == 2
    assert ledger.begin(from_seed(2, asked=(ASKED.model_copy(update={"shadow_models": 3}),))) == 2
    assert ledger.begin(from_seed(2, way="another forest")) == 1
    assert ledger.begin(from_seed(2, data="other data")) == 1


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
    with pytest.raises(CertificateError, match=r"V007 auc at most 0.6 .* reaches 0.5") as caught:
        ledger.begin(MAKING)
    assert "made and refused at" in caught.value.problems[0].hint
    assert ledger.begin(replace(MAKING, repeats=True)) == 1
    loose = ASKED.model_copy(update={"bounds": (AttackBound(measure="auc", asked=0.8),)})
    assert ledger.begin(replace(MAKING, asked=(loose,))) == 1


def test_the_same_attempt_has_the_same_answer_whatever_came_after_it(ledger):
    first = ledger.judge(MAKING, attacks())
    ledger.judge(from_seed(2), attacks(0.9))
    assert ledger.begin(MAKING) == 1
    assert ledger.judge(MAKING, attacks()) == first
    assert ledger.begin(from_seed(3)) == 3  # it was no third one


def test_a_model_that_comes_out_otherwise_is_another_attempt(ledger):
    ledger.judge(MAKING, attacks(0.55))
    assert len(ledger.judge(MAKING, attacks(0.56)).attempts) == 1
    assert len(ledger.judge(from_seed(2), attacks(0.55)).attempts) == 3


def test_a_policy_may_allow_so_many_attempts_and_no_more(ledger):
    asked = (ASKED.model_copy(update={"attempts": 2}),)
    for seed in (1, 2):
        ledger.begin(from_seed(seed, asked=asked))
        ledger.judge(from_seed(seed, asked=asked), attacks(0.7))
    with pytest.raises(AuditError, match=r"A020 .* made and attacked 2 times .* allows 2 attempts"):
        ledger.begin(from_seed(3, asked=asked))
    assert ledger.begin(from_seed(3)) == 3


def test_a_ledger_is_its_owner_s_alone_and_names_neither_data_nor_seed(ledger):
    ledger.judge(from_seed(86_420_531), attacks())
    files = sorted(ledger.folder.iterdir())
    assert [path.name for path in files] == ["attempts.json", "key"]
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
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_ledger_that_was_changed_is_an_error_and_no_fresh_start(ledger, change):
    ledger.judge(MAKING, attacks())
    CHANGES[change](ledger.folder)
    for does in (ledger.begin, lambda making: ledger.judge(making, attacks())):
        with pytest.raises(AuditError, match="A019 The attempts kept in"):
            does(from_seed(2))


def test_a_run_that_was_killed_before_it_had_a_key_has_attempted_nothing(ledger):
    ledger.begin(MAKING)
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
