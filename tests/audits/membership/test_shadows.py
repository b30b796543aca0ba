from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pytest

from policy_engine.audits.membership.cache import Form, ModelAnswers, ModelCache, key_of
from policy_engine.audits.membership.learners import learner_of
from policy_engine.audits.membership.learners.learner import NOT_PRIVATE
from policy_engine.audits.membership.memory import check_memory, models_at_once
from policy_engine.audits.membership.observations import CONFIDENCE_ANSWERS
from policy_engine.audits.membership.records import records_of_arrays
from policy_engine.audits.membership.shadows import (
    ModelTrainer,
    Sanitiser,
    ShadowJob,
    _report_progress,
    seed_of,
)
from policy_engine.data.available_memory import available_memory
from policy_engine.errors import AuditError, OutputError
from policy_engine.methods.audits.classifier import Estimator, Layer, Network

FEATURES = np.arange(40, dtype=np.float32).reshape(20, 2)
RECORDS = records_of_arrays(FEATURES, np.array([0, 1] * 10))


@dataclass(frozen=True)
class Summing:
    """A model that says: the record's first feature, and the sum of what it was trained on."""

    sums: tuple[float, ...]
    epsilon = NOT_PRIVATE
    warnings = ("It only sums.",)

    def logits(self, features):
        said = [np.stack([features[:, 0], np.full(len(features), one)], 1) for one in self.sums]
        return np.array(said, np.float32)

    def save(self, path, model=0):
        path.write_text(str(self.sums[model]))
        return Summing((float(path.read_text()) + 100,))


@dataclass
class Learner:
    each: int = 10
    name: str = "sums"
    gives: frozenset = CONFIDENCE_ANSWERS
    trained: list = field(default_factory=list)
    dies_at: int = 99

    def train(self, records, rows, _seeds, progress=print):
        if len(self.trained) + len(rows) > self.dies_at:
            raise KeyboardInterrupt
        self.trained += [tuple(lot.tolist()) for lot in rows]
        progress("epochs", 1, 2)
        return Summing(tuple(float(records.features[lot, 0].sum()) for lot in rows))

    def memory(self, _records, _rows, models):
        return 100 + self.each * models


def workshop(learner=None, folder=None, available=10_000, **more):
    shown = more.pop("shown", RECORDS.features)
    return ModelTrainer(
        learner or Learner(),
        RECORDS,
        shown,
        ModelCache(folder),
        available=lambda: available,
        **more,
    )


def jobs(count, asked=(7, 8)):
    return [
        ShadowJob(np.array([n, n + 1]), np.array(asked), seed_of(0, 1, n)) for n in range(count)
    ]


def test_models_say_what_they_were_asked():
    said = workshop().run(jobs(2), "models")
    assert [one.logits.tolist() for one in said] == [[[14, 2], [16, 2]], [[14, 6], [16, 6]]]
    assert said[0].notes["warnings"] == ["It only sums."]


def test_each_model_is_asked_about_its_own_rows():
    first, second = jobs(1, (19, 3))[0], jobs(1, (0, 5, 12))[0]
    said = workshop().run([first, second], "models")
    assert [one.logits[:, 0].tolist() for one in said] == [[38, 6], [0, 10, 24]]


def test_blocks_of_rows_give_the_same(monkeypatch):
    whole = workshop().run(jobs(2, range(20)), "models")
    monkeypatch.setattr("policy_engine.audits.membership.shadows._BLOCK", 3 * 4 * 2 * 2)
    for one, other in zip(whole, workshop().run(jobs(2, range(20)), "models"), strict=True):
        assert one.logits.tolist() == other.logits.tolist()


def test_models_are_trained_as_many_at_once_as_memory_allows():
    calls = []
    learner = Learner()
    # 90% of 150 bytes: 100 for the first, 10 for each
    workshop(learner, available=150).run(jobs(7), "x", lambda *told: calls.append(told[1:]))
    assert [done for done, _ in calls] == [0, 50, 100, 250, 400, 550, 700]
    assert {total for _, total in calls} == {700}
    assert len(learner.trained) == 7


@pytest.mark.parametrize(
    ("seconds", "sizes"), [(0.0, [1, 10]), (6.0, [1, 3, 3, 3, 1]), (60.0, [1] * 11)]
)
def test_a_chunk_takes_about_twenty_seconds_and_the_first_is_one_model(seconds, sizes):
    kept, now = [], [0.0]

    class Slow(Learner):
        def train(self, records, rows, *given):
            now[0] += seconds * len(rows)
            return super().train(records, rows, *given)

    workshop(Slow(), clock=lambda: now[0], on_chunk=kept.append).run(jobs(11), "models")
    assert [one.models for one in kept] == sizes
    assert [one.seconds for one in kept] == [seconds * size for size in sizes]
    assert (kept[-1].done, kept[-1].total) == (11, 11)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "model",
    [
        Network(layers=(Layer(units=7, dropout=0.1),), epochs=2, batch_size=8),
        Estimator(name="RandomForestClassifier", parameters={"n_estimators": 3}),
    ],
    ids=["network", "forest"],
)
def test_models_say_the_same_whichever_are_trained_and_asked_with_them(model):
    random = np.random.default_rng(1)
    records = records_of_arrays(random.normal(size=(60, 5)), np.arange(60) % 2)
    every = [ShadowJob(np.sort(random.permutation(60)[:30]), np.arange(n, 60), n) for n in range(5)]
    learner = learner_of(model)

    def said(clock, of=every):
        made = ModelTrainer(learner, records, records.features, clock=clock)
        return [one.logits.tolist() for one in made.run(of, "models")]

    together, by_itself = said(lambda: 0.0), said(iter(range(0, 10**6, 1000)).__next__)
    assert together == by_itself
    assert said(lambda: 0.0, every[::-1])[::-1] == together


def test_what_was_trained_is_not_trained_again(tmp_path):
    learner = Learner()
    first = workshop(learner, tmp_path).run(jobs(3), "models")
    again = workshop(learner, tmp_path).run(jobs(4), "models")
    assert len(learner.trained) == 4
    assert learner.trained[3] == (3, 4)
    assert again[0].logits.tolist() == first[0].logits.tolist()
    assert again[0].notes == first[0].notes


def test_an_interrupted_audit_goes_on_where_it_was(tmp_path):
    dying = Learner(dies_at=4)
    with pytest.raises(KeyboardInterrupt):
        workshop(dying, tmp_path, available=135).run(jobs(6), "models")
    assert len(dying.trained) == 3
    learner = Learner()
    said = workshop(learner, tmp_path, available=135).run(jobs(6), "models")
    assert learner.trained == [(3, 4), (4, 5), (5, 6)]
    assert [one.logits[0, 1] for one in said] == [2, 6, 10, 14, 18, 22]


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "other shape", "no archive"])
def test_a_damaged_file_is_trained_anew(tmp_path, damage):
    expected = workshop(Learner(), tmp_path).run(jobs(1), "models")[0].logits
    [path] = tmp_path.glob("*.npz")
    data = path.read_bytes()
    if damage == "other shape":
        ModelCache(tmp_path).keep(path.stem, ModelAnswers({"logits": np.zeros((1, 2), np.float32)}))
    else:
        middle = data.index(expected.tobytes())
        path.write_bytes(
            {
                "cut": data[: len(data) // 2],
                "flip": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
                "empty": b"",
                "no archive": b"{}",
            }[damage]
        )
    learner = Learner()
    assert (
        workshop(learner, tmp_path).run(jobs(1), "models")[0].logits.tolist() == expected.tolist()
    )
    assert len(learner.trained) == 1
    assert path.read_bytes() == data


def test_another_learner_or_other_records_have_a_key_of_their_own(tmp_path):
    workshop(Learner(), tmp_path).run(jobs(1), "models")
    workshop(Learner(name="other"), tmp_path).run(jobs(1), "models")
    workshop(Learner(), tmp_path, shown=FEATURES + 1).run(jobs(1), "models")
    workshop(Learner(), tmp_path).run(jobs(1, (7, 9)), "models")
    assert len(list(tmp_path.iterdir())) == 4


def test_the_first_model_is_saved_even_if_it_was_kept(tmp_path):
    cache, file = tmp_path / "cache", tmp_path / "model"
    learner = Learner()
    workshop(learner, cache).run(jobs(2), "models")
    said = workshop(learner, cache).run(jobs(2), "models", save=file)
    assert file.read_text() == "2.0"
    assert said[0].logits[:, 1].tolist() == [102.0] * len(said[0].logits)  # as it is in the file
    assert len(learner.trained) == 3


def test_a_cache_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="O002"):
        workshop(Learner(), tmp_path / "file" / "cache").run(jobs(1), "models")


def test_a_sanitiser_decides_what_is_learnt(tmp_path):
    def doubled(rows):
        return records_of_arrays(2 * FEATURES[:8], np.array([0, 1] * 4)) if len(rows) else RECORDS

    way = Sanitiser("doubled", doubled)
    said = workshop(Learner(), tmp_path, sanitiser=way).run(jobs(2), "models")
    assert [one.logits[0].tolist() for one in said] == [[14, 112], [14, 112]]
    workshop(Learner(), tmp_path).run(jobs(2), "models")
    assert len(list(tmp_path.iterdir())) == 4


def test_an_estimate_above_what_there_is_is_refused_before_anything_is_trained():
    learner = Learner(each=10**9)
    with pytest.raises(AuditError, match=r"A008.*953.7 MiB.*MiB") as error:
        workshop(learner, available=10**8).check(jobs(2))
    assert "fewer shadow models" in str(error.value)
    assert not learner.trained
    workshop(learner, available=2 * 10**9).check(jobs(2))


@pytest.mark.parametrize(
    ("one", "two", "available", "expected"),
    [(100, 110, 150, 4), (100, 110, 100, 1), (100, 110, 10**6, 16), (100, 100, 1000, 16)],
)
def test_models_at_once(one, two, available, expected):
    assert models_at_once(one, two, available, 16) == expected


def test_available_memory_is_that_of_the_machine_or_its_container(tmp_path, monkeypatch):
    assert 2**20 < available_memory() < 2**50
    for name, text in {
        "memory.max": "5000000\n",
        "memory.current": "4000000\n",
        "memory.stat": "anon 1\ninactive_file 1000000\n",
    }.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr("policy_engine.data.available_memory._GROUPS", tmp_path)
    assert available_memory() == 2_000_000
    (tmp_path / "memory.max").write_text("max\n")
    assert available_memory() > 2_000_000
    check_memory(1000, 2000, "less")


def test_keys_tell_their_parts_apart():
    assert key_of("a", "bc") != key_of("ab", "c")
    assert key_of(1) != key_of("1")


def test_seeds_of_models_differ():
    assert (
        len({seed_of(seed, role, n) for seed in (0, 1) for role in range(3) for n in (0, 1)}) == 12
    )


def test_a_secret_seed_makes_seeds_that_cannot_be_tried_out():
    secret = [seed_of(1 << 127, role, n) for role in range(3) for n in (0, 1)]
    assert len(set(secret)) == 6
    assert max(secret) > 1 << 120
    assert seed_of((1 << 64) - 1, 0) < 1 << 31


def test_what_a_training_says_of_itself_is_passed_on():
    told = []
    progress = partial(_report_progress, lambda *said: told.append(said), "models", (2, 3, 10))
    progress("training, epsilon 1.23 spent", 1, 2)
    progress("training", 2, 2)
    assert told == [("models, epsilon 1.23 spent", 350, 1000), ("models", 500, 1000)]


def test_the_cache_keeps_arrays_by_their_names(tmp_path):
    cache, forms = ModelCache(tmp_path), {"notes": Form((2,)), "scores": Form((3, 1), "float64")}
    said = ModelAnswers(
        {"notes": np.ones(2, np.float32), "scores": np.ones((3, 1))}, {"epsilon": 1}
    )
    cache.keep("k", said)
    found = cache.find("k", forms)
    assert found.notes == {"epsilon": 1}
    assert {name: one.shape for name, one in found.arrays.items()} == {
        "notes": (2,),
        "scores": (3, 1),
    }
    assert cache.find("k", {"scores": Form((3, 1))}) is None
    assert cache.find("k", {"logits": Form((3, 1))}) is None
