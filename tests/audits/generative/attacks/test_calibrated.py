"""Errors set against those that references lead to expect."""

from dataclasses import replace

import numpy as np

from policy_engine.audits.generative.attacks.calibrated import (
    calibrated,
    calibrated_nearest_sample,
)
from policy_engine.audits.generative.attacks.monte_carlo import MonteCarlo
from policy_engine.audits.generative.material import Material, RecordSet
from policy_engine.audits.generative.spaces.images import Pixels
from policy_engine.audits.membership.curves import curve, falling_order
from policy_engine.kernels.estimates import NotApplicable


def records(name, count, seed):
    random = np.random.default_rng(seed)
    labels = random.integers(0, 2, count)
    # Records of class 1, and those far out, are far from all others.
    return RecordSet(name, random.normal(size=(count, 3)) * (1 + 9 * labels[:, None]), labels)


def material(**more):
    sides = {"members": records("members", 150, 1), "holdout": records("holdout", 150, 2)}
    reference = records("reference", 500, 3)
    return Material(**sides, reference=reference, shape=(3,), classes=("near", "far"), **more)


def area(scores, is_member):
    order = falling_order(scores)
    return curve(scores[order], is_member[order]).area()


def test_a_hard_record_is_told_from_one_that_was_not_seen():
    own = material()
    random = np.random.default_rng(4)
    hardness, reference_hardness = (
        np.linalg.norm(one.values, axis=1) for one in (own.audited, own.reference)
    )
    # Members have four fifths of the error that others of their hardness have.
    errors = hardness * np.where(own.is_member, 0.8, 1) * np.exp(random.normal(0, 0.1, 300))
    reference_errors = reference_hardness * np.exp(random.normal(0, 0.1, 500))
    scores = calibrated(own, Pixels(), errors, reference_errors)
    assert area(-errors, own.is_member) < 0.65
    assert area(scores, own.is_member) > 0.85
    # A scale of the errors says nothing, and who the members are changes nothing.
    assert np.allclose(calibrated(own, Pixels(), 7 * errors, 7 * reference_errors), scores)
    swapped = replace(own, members=own.holdout, holdout=own.members)
    order = np.roll(np.arange(300), 150)
    again = calibrated(swapped, Pixels(), errors[order], reference_errors)
    assert np.allclose(again, scores[order])


def test_samples_near_to_members_are_set_against_those_near_to_references():
    own = material()
    noise = np.random.default_rng(5).normal(0, 0.3, (150, 3))
    samples = RecordSet("samples", own.members.values + noise, own.members.labels)
    state = MonteCarlo(own, Pixels(), percentiles=(), with_references=True)
    state.update(samples)
    scores = calibrated_nearest_sample(own, state)
    assert area(scores, own.is_member) > area(state.scores(), own.is_member) + 0.05


def test_distances_of_references_are_saved_and_merged():
    own = material()
    batches = [records("samples", 80, seed) for seed in (6, 7)]
    whole, first, second = (
        MonteCarlo(own, Pixels(), percentiles=(), with_references=True) for _ in range(3)
    )
    for batch in batches:
        whole.update(batch)
    first.update(batches[0])
    second.update(batches[1])
    saved = MonteCarlo.from_arrays(own, Pixels(), first.arrays())
    saved.merge(second)
    assert np.array_equal(saved.reference_distances, whole.reference_distances)
    assert np.array_equal(
        calibrated_nearest_sample(own, saved), calibrated_nearest_sample(own, whole)
    )


def test_an_error_without_end_counts_as_the_greatest():
    own = material()
    errors, reference_errors = np.ones(300), np.ones(500)
    errors[0], reference_errors[:2] = np.inf, (np.inf, 3)
    assert np.isfinite(calibrated(own, Pixels(), errors, reference_errors)).all()


def test_it_needs_references():
    own = material()
    few = replace(own, reference=records("reference", 199, 3))
    none = replace(own, reference=None)
    for one, count in ((few, 199), (none, 0)):
        answer = calibrated(one, Pixels(), np.ones(300), np.ones(count))
        assert answer == NotApplicable(
            reason=f"There are {count} reference records; 200 are needed."
        )
    state = MonteCarlo(own, Pixels(), percentiles=())
    assert isinstance(calibrated_nearest_sample(own, state), NotApplicable)
