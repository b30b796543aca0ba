"""Samples in batches: those of a file once each, those of a model checked."""

import numpy as np
import pytest

from policy_engine.audits.generative.material import Material, RecordSet
from policy_engine.audits.generative.sampling import (
    ModelSamples,
    ReleasedSamples,
    marks,
    sampler_of,
)
from policy_engine.errors import AuditError


class Noise:
    """A model of noise around its label, 2 by 3 values a record."""

    def __init__(self):
        self.seeds = []

    def sample(self, n, *, label=None, seed):
        self.seeds.append(seed)
        return (label or 0) + np.random.default_rng(seed).random((n, 2, 3)) / 2


class Gives:
    def __init__(self, values):
        self.values = values

    def sample(self, n, **_):
        return self.values(n)


def file_of(count):
    return RecordSet("file", np.arange(count, dtype=float)[:, None], np.arange(count) % 3)


def test_samples_are_points_as_they_are_drawn():
    samplers = ReleasedSamples(file_of(3000)), ModelSamples(Noise(), (2, 3), classes=3)
    for sampler in samplers:
        whole = [one.values[:, :1] * 2 for one in sampler.batches(3000, 1)]
        batches = sampler.batches(3000, 1, apply=lambda values: values[:, :1] * 2)
        points = [one.values for one in batches]
        assert np.array_equal(np.concatenate(points), np.concatenate(whole))


def test_there_are_marks_after_each_tripling():
    assert marks(30_000) == (1000, 3000, 10_000, 30_000)
    assert marks(20_000) == (1000, 3000, 10_000, 20_000)
    assert marks(7) == (7,)


def test_a_released_record_is_yielded_once():
    batches = [*ReleasedSamples(file_of(4500)).batches(10_000, seed=1)]
    assert [len(one) for one in batches] == [1000, 2000, 1500]
    values = np.concatenate([one.values.ravel() for one in batches])
    assert sorted(values.tolist()) == list(range(4500))
    assert values.tolist() != list(range(4500))
    labels = np.concatenate([one.labels for one in batches])
    assert np.array_equal(labels, values.astype(int) % 3)


def test_batches_go_on_where_others_ended():
    sampler = ReleasedSamples(file_of(4500))
    first, rest = [*sampler.batches(1000, 1)], [*sampler.batches(4500, 1, start=1000)]
    whole = np.concatenate([one.values for one in sampler.batches(4500, 1)])
    assert np.array_equal(np.concatenate([one.values for one in first + rest]), whole)


def test_a_model_draws_each_class_in_equal_number_with_seeds_of_their_own():
    model = Noise()
    batches = [*ModelSamples(model, (2, 3), classes=3).batches(3000, seed=1)]
    assert [len(one) for one in batches] == [1000, 2000]
    values = np.concatenate([one.values for one in batches])
    labels = np.concatenate([one.labels for one in batches])
    assert values.shape == (3000, 6)
    assert np.array_equal(values.mean(axis=1).astype(int), labels)
    assert np.bincount(labels).max() - np.bincount(labels).min() <= 2
    assert len({*model.seeds}) == len(model.seeds) == 6
    other = Noise()
    again = [*ModelSamples(other, (2, 3), classes=3).batches(3000, seed=1)]
    assert np.array_equal(again[1].values, batches[1].values)
    [*ModelSamples(other, (2, 3), classes=3).batches(3000, seed=2)]
    assert len({*other.seeds}) == 12


def test_a_model_without_classes_is_asked_for_no_label():
    class Unlabelled:
        def sample(self, n, *, label, seed):
            assert label is None
            return np.random.default_rng(seed).random((n, 4), np.float32)

    (batch,) = ModelSamples(Unlabelled(), (2, 2)).batches(500, seed=0)
    assert batch.labels is None
    assert batch.values.shape == (500, 4)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (lambda n: np.random.default_rng(0).random((n, 5)), "shape"),
        (lambda n: np.random.default_rng(0).random((n + 1, 4)), "shape"),
        (lambda n: np.full((n, 4), "a"), "shape"),
        (lambda n: np.where(np.arange(4 * n).reshape(n, 4) == 5, np.nan, 1), "1 of 100 samples"),
        (lambda n: np.ones((n, 4)), "all the same"),
        (lambda n: np.tile(np.arange(4), (n, 1)), "all the same"),
    ],
)
def test_samples_that_cannot_be_used_are_refused(values, message):
    with pytest.raises(AuditError, match=message) as refusal:
        [*ModelSamples(Gives(values), (2, 2)).batches(100, seed=0)]
    assert refusal.value.code == "A032"


def test_a_model_that_samples_is_preferred_to_what_was_released():
    sides = file_of(3), file_of(3)
    assert sampler_of(Material(*sides, shape=(1,))) is None
    assert isinstance(sampler_of(Material(*sides, file_of(5), shape=(1,))), ReleasedSamples)
    own = Material(*sides, file_of(5), shape=(1,), classes=("a", "b"), model=Noise())
    assert sampler_of(own) == ModelSamples(own.model, (1,), 2, precision=np.float64)
    assert isinstance(
        sampler_of(Material(*sides, file_of(5), shape=(1,), model=object())), ReleasedSamples
    )


def test_what_a_model_raises_is_coded():
    class Broken:
        def sample(self, n, *, label, seed):  # noqa: ARG002
            raise ZeroDivisionError("no rows")

    told = "raises ZeroDivisionError as it samples"
    with pytest.raises(AuditError, match=told) as refusal:
        [*ModelSamples(Broken(), (2, 2)).batches(100, seed=0)]
    assert refusal.value.code == "A032"
    assert "sample(n, *, label=None, seed)" in str(refusal.value)
    # What a model says may quote a record: it is for the owner.
    assert "no rows" not in str(refusal.value)
    assert "no rows" in refusal.value.problems[0].with_values().message


def test_an_exit_is_coded_and_an_interrupt_is_none():
    class Exits:
        def __init__(self, error):
            self.error = error

        def sample(self, n, *, label, seed):  # noqa: ARG002
            raise self.error

    with pytest.raises(AuditError, match="raises SystemExit as it samples"):
        [*ModelSamples(Exits(SystemExit(0)), (2, 2)).batches(100, seed=0)]
    with pytest.raises(KeyboardInterrupt):
        [*ModelSamples(Exits(KeyboardInterrupt()), (2, 2)).batches(100, seed=0)]


def test_lists_of_several_lengths_are_refused():
    with pytest.raises(AuditError, match="ValueError as it is read"):
        [*ModelSamples(Gives(lambda n: [[1]] * (n - 1) + [[1, 2]]), (2, 2)).batches(9, seed=0)]


def test_a_model_that_ignores_its_seed_is_noticed():
    same = Gives(lambda n: np.random.default_rng(3).random((n, 4)))
    assert len([*ModelSamples(same, (2, 2)).batches(1000, seed=0)]) == 1
    with pytest.raises(AuditError, match="the same samples for other seeds") as refusal:
        [*ModelSamples(same, (2, 2)).batches(3000, seed=0)]
    assert refusal.value.code == "A032"


def test_samples_that_are_mostly_alike_may_be_so_in_two_batches():
    class Rare:
        def sample(self, n, *, label, seed):  # noqa: ARG002
            values = np.zeros((n, 1))
            values[-1 - seed % 5] = 1
            return values

    assert len([*ModelSamples(Rare(), (1,)).batches(3000, seed=0)]) == 3


def test_bytes_of_a_model_are_shares_where_records_are():
    model = Gives(lambda n: np.arange(4 * n).reshape(n, 4).astype(np.uint8))
    (batch,) = ModelSamples(model, (2, 2), are_shares=True).batches(60, seed=0)
    assert batch.values.max() == np.float32(239 / 255)
