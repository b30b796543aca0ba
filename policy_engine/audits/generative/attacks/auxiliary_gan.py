"""A GAN of the attacker's own, trained on samples of the model, whose discriminator is asked."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.attacks.discriminator import discriminator
from policy_engine.audits.generative.material import Material, RecordSet
from policy_engine.audits.generative.models.dcgan import GanSettings, fit_gan
from policy_engine.audits.generative.sampling import sampler_of
from policy_engine.engines.engine import Progress, silent
from policy_engine.kernels.estimates import NotApplicable

_SAMPLES = 2_000
_NO_SAMPLES = NotApplicable(reason="There are no samples to train a GAN of one's own on.")
_NO_IMAGES = NotApplicable(reason="The GAN of this attack is for images.")
_OTHER_RANGE = NotApplicable(
    reason="The GAN of this attack is for images whose values are from 0 to 1."
)


def auxiliary_gan(
    material: Material,
    settings: GanSettings | None = None,
    samples: int = _SAMPLES,
    progress: Progress = silent,
) -> NDArray[np.float64] | NotApplicable:
    """Return what the attacker's discriminator says of each audited record, (n,).

    The black-box attack of Hayes et al., "LOGAN: Membership Inference Attacks Against Generative
    Models", PoPETs 2019: where the model has overfitted, its samples are like its members, and so
    is what the attacker's discriminator takes for real. Raises DataError (C011) without TensorFlow.
    """
    sampler = sampler_of(material)
    if sampler is None:
        return _NO_SAMPLES
    if len(material.shape) not in (2, 3):
        return _NO_IMAGES
    drawn = _joined(list(sampler.batches(samples, material.seed)))
    if not (_are_shares(drawn) and _are_shares(material.audited)):
        return _OTHER_RANGE
    own = fit_gan(
        drawn.values,
        drawn.labels,
        shape=material.shape,
        classes=len(material.classes),
        settings=settings or GanSettings(),
        seed=material.seed,
        progress=progress,
    )
    return discriminator(replace(material, model=own))


def _joined(batches: list[RecordSet]) -> RecordSet:
    labels = [one.labels for one in batches if one.labels is not None]
    values = np.concatenate([one.values for one in batches])
    return RecordSet("samples", values, np.concatenate(labels) if labels else None)


def _are_shares(records: RecordSet) -> bool:
    return bool(records.values.min() >= 0 and records.values.max() <= 1)
