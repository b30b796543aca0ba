"""Monte Carlo attacks: their invariants, merging, budgets and snapshots."""

import numpy as np
import pytest

from policy_engine.audits.generative.attacks.monte_carlo import (
    ATTACKS,
    BALLS,
    MonteCarlo,
    Snapshot,
    compare_samples,
    last_tripling,
)
from policy_engine.audits.generative.material import AuditedColumn, Material, RecordSet
from policy_engine.audits.generative.sampling import ReleasedSamples
from policy_engine.audits.generative.spaces.encoded_rows import EncodedRows
from policy_engine.audits.generative.spaces.images import Pixels
from policy_engine.errors import AuditError


def records(name, count, seed, classes=2):
    random = np.random.default_rng(seed)
    return RecordSet(name, random.normal(size=(count, 4)), random.integers(0, classes, count))


def material(samples=4000):
    return Material(
        members=records("members", 30, 1),
        holdout=records("holdout", 30, 2),
        synthetic=records("samples", samples, 3),
        shape=(4,),
        classes=("a", "b"),
    )


@pytest.fixture(scope="module")
def state():
    own = material()
    return compare_samples(MonteCarlo(own, Pixels()), ReleasedSamples(own.synthetic), 4000)


def test_the_score_is_the_distance_to_the_nearest_sample_of_the_class(state):
    own = state.material
    audited, samples = own.audited, own.synthetic
    away = np.linalg.norm(audited.values[:, None] - samples.values, axis=2)
    away[audited.labels[:, None] != samples.labels] = np.inf
    assert np.allclose(state.scores(), -away.min(axis=1), atol=1e-5)


def test_there_are_snapshots_after_each_tripling_and_at_the_end(state):
    assert [one.samples for one in state.growth] == [1000, 3000, 4000]
    assert np.array_equal(state.growth[-1].scores, state.scores())
    assert (state.growth[0].scores <= state.growth[1].scores).all()


def test_the_last_tripling_ends_with_all_samples():
    growth = [Snapshot(samples, np.zeros(1)) for samples in (1000, 3000, 4000)]
    assert last_tripling(growth) == (growth[0], growth[2])
    assert last_tripling(growth[:2]) == (growth[0], growth[1])
    assert last_tripling(growth[1:]) is None
    assert last_tripling([]) is None


def test_there_is_an_attack_for_each_percentile(state):
    shares = [np.count_nonzero(state.scores(name)) for name in BALLS if "distance" not in name]
    assert shares == sorted(shares)
    assert shares[0] < shares[-1] == 60
    assert "epsilon-ball" in ATTACKS
    assert "epsilon-ball-distance-10%" in ATTACKS
    # Of the distances of pairs, a tenth lies within the radius of 10%.
    assert abs(state.scores("epsilon-ball-10%").mean() - 0.1) < 0.01


def test_balls_that_are_not_counted_have_no_scores():
    own = material(1000)
    state = compare_samples(
        MonteCarlo(own, Pixels(), percentiles=()), ReleasedSamples(own.synthetic), 1000
    )
    with pytest.raises(KeyError, match="epsilon-ball"):
        state.scores("epsilon-ball")


def test_two_runs_merged_are_one(state):
    own = state.material
    parts = [MonteCarlo(own, Pixels(), radii=state.radii) for _ in range(2)]
    for part, rows in zip(parts, (slice(0, 700), slice(700, 4000)), strict=True):
        samples = own.synthetic
        part.update(RecordSet("part", samples.values[rows], samples.labels[rows]))
    parts[0].merge(parts[1])
    assert parts[0].samples == 4000
    for attack in ATTACKS:
        assert np.allclose(parts[0].scores(attack), state.scores(attack), atol=1e-9)
    with pytest.raises(ValueError, match="radii"):
        parts[0].merge(MonteCarlo(own, Pixels(), radii=np.array([1.0, 2, 3, 4])))


def test_a_run_that_was_saved_goes_on_to_the_same_end(state):
    own = state.material
    sampler = ReleasedSamples(own.synthetic)
    half = compare_samples(MonteCarlo(own, Pixels()), sampler, 1000)
    resumed = MonteCarlo.from_arrays(own, Pixels(), half.arrays())
    assert resumed.samples == 1000
    compare_samples(resumed, sampler, 4000)
    assert resumed.samples == 4000
    assert [one.samples for one in resumed.growth] == [1000, 3000, 4000]
    for attack in ATTACKS:
        assert np.allclose(resumed.scores(attack), state.scores(attack), atol=1e-9)


def test_released_samples_are_compared_once_or_not_at_all():
    own = material()
    with pytest.raises(AuditError, match="0 of 4,000 samples") as refusal:
        compare_samples(MonteCarlo(own, Pixels()), ReleasedSamples(own.synthetic), 4000, seconds=0)
    assert refusal.value.code == "A033"


def test_a_model_is_sampled_until_the_time_is_over():
    class Endless(ReleasedSamples):
        """Of which one batch may be enough."""

    own = material()
    sampler = Endless(own.synthetic, is_limited=False)
    begun = compare_samples(MonteCarlo(own, Pixels()), sampler, 1000)
    compare_samples(begun, sampler, 4000, seconds=0)
    assert begun.samples == 1000
    with pytest.raises(AuditError, match="Allow more time"):
        compare_samples(MonteCarlo(own, Pixels()), sampler, 4000, seconds=0)


def test_a_record_whose_class_has_no_sample_is_as_far_as_the_farthest():
    own = material()
    samples = RecordSet("samples", own.synthetic.values, np.zeros(4000, int))
    state = compare_samples(MonteCarlo(own, Pixels()), ReleasedSamples(samples), 4000)
    without = own.audited.labels == 1
    assert np.isfinite(state.scores()).all()
    assert (state.scores()[without] == state.scores().min()).all()


def test_radii_are_those_of_the_reference_where_there_is_one():
    own = material()
    reference = RecordSet("reference", own.synthetic.values[:100] * 3, own.synthetic.labels[:100])
    other = Material(own.members, own.holdout, own.synthetic, reference, shape=(4,))
    states = [MonteCarlo(one, Pixels()) for one in (own, other)]
    for state in states:
        state.update(own.synthetic)
    assert (states[0].radii < states[1].radii).all()
    swapped = MonteCarlo(
        Material(reference, own.holdout, own.synthetic, reference, shape=(4,)), Pixels()
    )
    swapped.update(own.synthetic)
    assert np.array_equal(swapped.radii, states[1].radii)


def rows_of(*values):
    return RecordSet("rows", np.array(values, float))


@pytest.mark.nightly
def test_an_exact_copy_precedes_whatever_a_space_rounds():
    """Numbers far out, and nearer to one another than its points are, and many categories."""
    members, holdout = rows_of([1e6, 3], [1e9, 700]), rows_of([1e6 + 1e-9, 3], [2e9, 700])
    public = rows_of(*([number, number] for number in range(800)))
    texts = tuple(f"{one:04}" for one in range(800))
    columns = (
        AuditedColumn("x", is_number=True),
        AuditedColumn("y", is_number=False, texts=texts),
    )
    own = Material(members, holdout, members, reference=public, columns=columns)
    state = compare_samples(
        MonteCarlo(own, EncodedRows.fit(own)), ReleasedSamples(own.synthetic), 2
    )
    scores = state.scores()
    assert scores[:2].tolist() == [0, 0]
    assert scores[2:].max() < 0
    again = MonteCarlo.from_arrays(own, state.space, state.arrays())
    assert np.array_equal(again.scores(), scores)
