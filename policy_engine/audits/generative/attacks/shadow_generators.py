"""Generators fitted on other records: what is nearer to the audited one than to them, it saw."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.attacks.asking import mean_square_errors
from policy_engine.audits.generative.attacks.reconstruction import why_not
from policy_engine.audits.generative.material import Material, RecordSet
from policy_engine.audits.generative.models.conditional_vae import VaeSettings, fit_vae
from policy_engine.audits.generative.models.protocols import Reconstructs
from policy_engine.audits.generative.models.shadow_rows import shadow_rows
from policy_engine.audits.generative.sampling import sampler_of
from policy_engine.audits.generative.spaces.choosing import spaces_of
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.generative.nearest_samples import NearestSamples

Fit = Callable[[RecordSet, int], Any]
"""Fits a generator: of records and a seed, to a model or to the records that it releases."""
_SAMPLES = 10_000
_LEAST = 1e-9
_NO_REFERENCE = NotApplicable(reason="There are no reference records to fit other generators on.")
_NO_SAMPLES = NotApplicable(reason="There are neither a model nor samples of it.")
_NO_FIT = NotApplicable(
    reason="For values that are not between 0 and 1, a function that fits other generators has to "
    "be given."
)


def shadow_generators(
    material: Material, fit: Fit | None = None, shadows: int = 1, samples: int = _SAMPLES
) -> NDArray[np.float64] | NotApplicable:
    """Return how much nearer each audited record is to the model than to others, (n,).

    It is the logarithm of a ratio: of the errors of reconstructions where both sides reconstruct,
    otherwise of the squared distances to the nearest of `samples` samples, or of as many as were
    released. Each of the others is fitted on as many records as there are members, drawn from the
    reference. By default they are sequential trees for tables, and variational autoencoders for
    arrays of values from 0 to 1.

    Raises DataError (C011) without TensorFlow, or scikit-learn for tables.
    """
    if material.reference is None:
        return _NO_REFERENCE
    if sampler_of(material) is None and why_not(material) is not None:
        return _NO_SAMPLES
    fit = fit or _default_fit(material, samples)
    if fit is None:
        return _NO_FIT
    others = [fit(_drawn(material, number), number) for number in range(shadows)]
    if why_not(material) is None and all(isinstance(one, Reconstructs) for one in others):
        return _ratio(_errors(material, material.model), [_errors(material, o) for o in others])
    return _NO_SAMPLES if sampler_of(material) is None else _by_distances(material, others, samples)


def _default_fit(material: Material, samples: int) -> Fit | None:
    if material.is_table:
        rows = samples if material.synthetic is None else len(material.synthetic)
        return lambda records, seed: shadow_rows(records, material.columns, rows, seed)
    reference = material.reference
    if reference is None or not (reference.values.min() >= 0 and reference.values.max() <= 1):
        return None
    return lambda records, seed: fit_vae(
        records.values,
        records.labels,
        shape=material.shape,
        classes=len(material.classes),
        settings=VaeSettings(),
        seed=seed,
    )


def _drawn(material: Material, number: int) -> RecordSet:
    """Return reference records, as many as there are members or as there are."""
    records = material.reference
    if records is None:
        raise ValueError("there is no reference")
    random = np.random.default_rng([material.seed, number, len(records)])
    rows = random.permutation(len(records))[: len(material.members)]
    labels = None if records.labels is None else records.labels[rows]
    return RecordSet(records.name, records.values[rows], labels)


def _errors(material: Material, model: Any) -> NDArray[np.float64]:
    audited = material.audited
    arguments = material, model, audited.values, audited.labels
    return mean_square_errors(*arguments, passes=0, seed=material.seed)


def _by_distances(material: Material, others: list[Any], samples: int) -> NDArray[np.float64]:
    own, count = _squares(material, samples)
    shadows = [
        replace(material, model=None, synthetic=one)
        if isinstance(one, RecordSet)
        else replace(material, model=one)
        for one in others
    ]
    return _ratio(own, [_squares(one, count)[0] for one in shadows])


def _squares(material: Material, samples: int) -> tuple[NDArray[np.float64], int]:
    """Return the squared distances to the nearest sample, and how many samples there were."""
    space, audited, sampler = spaces_of(material)[0], material.audited, sampler_of(material)
    if sampler is None:
        raise ValueError("there are no samples")
    points = space.apply(audited.values)
    nearest, count = NearestSamples(points, audited.labels, ranks=space.ranks), 0
    for batch in sampler.batches(samples, material.seed, apply=space.apply):
        nearest.update(batch.values, batch.labels)
        count += len(batch)
    return nearest.squares[:, 0], count


def _ratio(own: NDArray[Any], others: list[NDArray[Any]]) -> NDArray[np.float64]:
    """Return the mean of log(other / own), (n,); what is 0, or infinite, is within bounds."""
    logs = [np.log(np.clip(one, _LEAST, 1 / _LEAST)) for one in (own, *others)]
    scores: NDArray[np.float64] = np.mean(logs[1:], axis=0) - logs[0]
    return scores
