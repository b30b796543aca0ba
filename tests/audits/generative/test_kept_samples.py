"""What samples of a model were compared with is gone on from where it is what is wanted."""

from dataclasses import replace

import numpy as np
import pytest

from policy_engine.audits.generative.attacks.monte_carlo import MonteCarlo
from policy_engine.audits.generative.comparing import compared_samples
from policy_engine.audits.generative.material import AuditedColumn, Material, RecordSet
from policy_engine.audits.generative.reading import ReadMaterial
from policy_engine.audits.generative.settings import GenerativeSettings
from policy_engine.engines.engine import silent

ROWS = np.random.default_rng(0).normal(size=(3, 60, 5))


class Plain:
    notation, ranks = "plain", 0

    def apply(self, values):
        return values


class Noise:
    def __init__(self):
        self.drawn = 0

    def sample(self, n, *, label, seed):  # noqa: ARG002
        self.drawn += n
        return np.random.default_rng(seed).normal(size=(n, 5))


@pytest.fixture
def compare(tmp_path):
    def run(samples, *attacks, labels=None, **changes):
        model = Noise()
        sets = [RecordSet(str(place), one, labels) for place, one in enumerate(ROWS)]
        material = Material(sets[0], sets[1], reference=sets[2], shape=(5,), model=model)
        material = replace(material, **changes)
        settings = GenerativeSettings(attacks=attacks, samples=samples)
        read = ReadMaterial(material, {}, ())
        compared = compared_samples(read, material, settings, silent, tmp_path / "samples.npz")
        return compared, model.drawn

    return run


def test_a_second_run_goes_on(compare):
    compare(3_000)
    compared, drawn = compare(6_000)
    assert compared.samples == 6_000
    assert drawn == 1_000 + 3_000  # the first thousand tell the model
    once, _ = compare(6_000)
    np.testing.assert_array_equal(compared.scores(), once.scores())


def test_an_attack_that_needs_more_begins_anew(compare):
    compare(2_000, "nearest-sample")
    compared, drawn = compare(2_000)
    assert compared.reference_distances is not None
    assert drawn == 3_000
    assert compare(2_000, "nearest-sample")[1] == 1_000


def test_fewer_samples_are_compared_anew_and_the_others_kept(compare):
    compare(6_000)
    assert compare(1_000)[0].samples == 1_000
    assert compare(6_000)[1] == 1_000


EVEN, HALVES = np.arange(60) % 2, np.arange(60) // 30
COLUMNS = tuple(AuditedColumn(name, is_number=True) for name in "abcde")
OTHERS = {
    "another label": {"labels": HALVES, "classes": ("a", "b")},
    "other classes": {"labels": EVEN, "classes": ("a", "c")},
    "no label": {"labels": None, "classes": ()},
    "persons": {"labels": EVEN, "classes": ("a", "b"), "unit": "who"},
    "columns": {"labels": EVEN, "classes": ("a", "b"), "columns": COLUMNS},
}


@pytest.mark.parametrize("other", OTHERS)
def test_what_was_compared_within_other_classes_is_not_gone_on_from(compare, other):
    audit = {"labels": EVEN, "classes": ("a", "b")}
    compare(2_000, **audit)
    first = 1_000  # they tell the model
    assert compare(2_000, **audit)[1] == first
    compared, drawn = compare(2_000, **OTHERS[other])
    assert drawn > first
    assert compared.samples == 2_000


KEPT = ("growth_scores", "squares", "radii", "samples", "compared", "copied", "rings", "logarithms")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("lack", KEPT)
def test_what_is_damaged_is_compared_anew(compare, tmp_path, lack):
    compare(1_000)
    arrays = dict(np.load(tmp_path / "samples.npz"))
    np.savez(tmp_path / "samples.npz", **{k: v for k, v in arrays.items() if k != lack})
    assert compare(1_000)[1] == 2_000


@pytest.mark.one_in(24)
@pytest.mark.parametrize("name", [*KEPT, "reference_squares", "growth_samples"])
@pytest.mark.parametrize(
    "damage",
    [
        lambda _: np.array(["a"]),
        lambda one: np.full_like(one, -1, dtype=np.int64),
        lambda one: np.full(one.shape, np.nan),
        lambda one: np.full(one.shape, np.inf),
        lambda one: one.ravel()[:0],
        lambda one: np.stack([one, one]),
        lambda _: np.array(1.0),
    ],
    ids=["texts", "negative", "nan", "inf", "empty", "twice", "scalar"],
)
def test_arrays_that_cannot_be_are_compared_anew(compare, tmp_path, name, damage):
    compare(1_000)
    arrays = dict(np.load(tmp_path / "samples.npz"))
    np.savez(tmp_path / "samples.npz", **{**arrays, name: damage(arrays[name])})
    compared, drawn = compare(1_000)
    assert drawn == 2_000
    assert compared.samples == 1_000


def test_a_class_without_a_sample_is_gone_on_from():
    labels = EVEN
    audited = RecordSet("audited", ROWS[0], labels)
    state = MonteCarlo(Material(audited, audited, shape=(5,)), Plain(), percentiles=())
    state.update(RecordSet("samples", ROWS[1][:10], np.zeros(10, np.int64)))
    state.snapshot()
    again = MonteCarlo.from_arrays(state.material, Plain(), state.arrays())
    np.testing.assert_array_equal(again.scores(), state.scores())
    arrays = state.arrays()
    arrays["squares"] = arrays["squares"].copy()
    arrays["squares"][0] = np.inf
    with pytest.raises(ValueError, match="squares"):
        MonteCarlo.from_arrays(state.material, Plain(), arrays)


def test_a_run_that_was_stopped_shows_what_one_run_shows(compare, tmp_path):
    def growth(one):
        return [point.samples for point in one.growth]

    once, _ = compare(12_000)
    (tmp_path / "samples.npz").unlink()
    for samples in (2_000, 6_000, 9_000):
        compared, _ = compare(samples)
        assert growth(compared)[-1] == samples
    again, _ = compare(12_000)
    assert growth(again) == growth(once) == [1_000, 3_000, 10_000, 12_000]
    for one, other in zip(again.growth, once.growth, strict=True):
        np.testing.assert_array_equal(one.scores, other.scores)
