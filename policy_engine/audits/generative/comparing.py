"""Samples compared with the audited records, kept in a file to go on from."""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from policy_engine.audits.generative.attacks.monte_carlo import (
    BALLS,
    MOST_ANY_CLASS,
    NEAREST_ANY_CLASS,
    PERCENTILES,
    MonteCarlo,
    compare_samples,
)
from policy_engine.audits.generative.fitting import sample_misfits
from policy_engine.audits.generative.material import Material
from policy_engine.audits.generative.reading import ReadMaterial
from policy_engine.audits.generative.sampling import Sampler, first_samples, sampler_of
from policy_engine.audits.generative.settings import BY_SAMPLES, OTHER_BALLS, GenerativeSettings
from policy_engine.audits.generative.spaces.choosing import spaces_of
from policy_engine.audits.generative.spaces.space import RecordSpace
from policy_engine.audits.membership.records import digest_of, read_npz
from policy_engine.data.atomic_file import write_file
from policy_engine.engines.engine import Progress
from policy_engine.errors import AuditError, PolicyEngineError, did_you_mean, join_names

_KEY = "audit"
_NARROW = 256


def compared_samples(
    read: ReadMaterial,
    material: Material,
    settings: GenerativeSettings,
    progress: Progress,
    state: Path | None,
) -> MonteCarlo | None:
    """Return what samples say of the audited records, or None where no attack needs any.

    Released records are compared once, samples of a model up to the number that is asked for. If
    the file `state` has what was compared before in the same audit, it goes on from there. Raises
    AuditError (A012) where distances are not to be had in the space that is asked for.
    """
    sampler = sampler_of(material)
    if sampler is None or not _needs_samples(settings):
        return None
    space = _space(material, settings.space)
    model_key = "" if sampler.is_limited else _model_key(sampler, material)
    sides = [dict(read.digests), *_columns_key(material)]
    key = json.dumps([_FORM, sides, space.notation, material.seed, model_key])
    before = None if sampler.is_limited else _known(state, key, material, space)
    wanted = len(material.synthetic or ()) if sampler.is_limited else settings.samples
    most = _most_any_class(settings, sampler, wanted)
    compared = _continued(before, material, space, settings, wanted, any_class=most)
    progress("samples", compared.samples, wanted)
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 (comes with scikit-learn)

    # Of narrow records, threads that wait for one another take longer than one alone.
    narrow = len(space.apply(material.members.values[:1])[0]) < _NARROW
    with threadpool_limits(1 if narrow else None):
        compare_samples(compared, sampler, wanted, settings.seconds)
    progress("samples", compared.samples, wanted)
    is_more = before is None or compared.samples >= before.samples
    if state is not None and not sampler.is_limited and is_more:
        buffer = io.BytesIO()
        arrays: dict[str, Any] = {**compared.arrays(), _KEY: np.array(key)}
        np.savez_compressed(buffer, **arrays)
        write_file(state, buffer.getvalue(), private=True)
    return compared


def _space(material: Material, name: str) -> RecordSpace:
    spaces = {one.notation: one for one in spaces_of(material)}
    if name and name not in spaces:
        message = f"There is no space {name!r} for these records. There are {join_names(spaces)}."
        raise AuditError.of("A012", message, did_you_mean(name, spaces))
    return spaces[name] if name else next(iter(spaces.values()))


def _needs_samples(settings: GenerativeSettings) -> bool:
    by_samples = {*BY_SAMPLES, *OTHER_BALLS, NEAREST_ANY_CLASS}
    return not settings.attacks or bool(by_samples & {*settings.attacks})


def _most_any_class(settings: GenerativeSettings, sampler: Sampler, wanted: int) -> int:
    """Return how many samples are compared across classes: of released records all."""
    if settings.attacks and NEAREST_ANY_CLASS not in settings.attacks:
        return 0
    return wanted if sampler.is_limited else MOST_ANY_CLASS


def _calibrates(settings: GenerativeSettings) -> bool:
    return not settings.attacks or _CALIBRATED in settings.attacks


_CALIBRATED = "calibrated-nearest-sample"


def _columns_key(material: Material) -> Sequence[Any]:
    """Return what is compared of the files: columns, persons, and the class of each record."""
    sides = (material.members, material.holdout, material.reference)
    labels = [one.labels for one in sides if one is not None and one.labels is not None]
    columns = [one.name for one in material.columns]
    return columns, material.unit, material.classes, digest_of(*labels)


def _model_key(sampler: Sampler, material: Material) -> str:
    """Return what tells a model from another one: its first batch, by its sha-256.

    So what was compared is used again for the same model alone. Raises
    AuditError (A032) where the samples are on another scale than the records.
    """
    first = first_samples(sampler, material.seed)
    if problems := [*sample_misfits(material, first)]:
        raise AuditError(*problems)
    return digest_of(first.values, *([] if first.labels is None else [first.labels]))


_FORM = 4
"""Of what is kept, and of how records are compared: what is of another form is not gone on from."""


def _known(
    state: Path | None, key: str, material: Material, space: RecordSpace
) -> MonteCarlo | None:
    """Return what was compared before, None if that was of another audit or cannot be read."""
    if state is None or not state.is_file():
        return None
    try:
        arrays = read_npz(state)
        if str(arrays.pop(_KEY, "")) != key:
            return None
        kept = MonteCarlo.from_arrays(material, space, arrays)
    except (PolicyEngineError, KeyError, ValueError):
        return None
    return kept if kept.growth else None


def _continued(
    before: MonteCarlo | None,
    material: Material,
    space: RecordSpace,
    settings: GenerativeSettings,
    wanted: int,
    *,
    any_class: int,
) -> MonteCarlo:
    """Return what was compared before, or nothing yet: where that was of more samples than are
    wanted, or without the references, the classes or the balls that an attack needs."""
    calibrates, percentiles = _calibrates(settings), _percentiles(settings)
    if before is not None and before.samples <= wanted:
        has_references = before.reference_distances is not None
        counted = 0 if before.radii is None else len(before.radii)
        is_calibrated = has_references or not calibrates or material.fitting is None
        is_across = before.compares_any_class or not (any_class and material.has_classes)
        if is_calibrated and is_across and counted >= len(percentiles):
            return before
    return MonteCarlo(
        material, space, percentiles=percentiles, with_references=calibrates, any_class=any_class
    )


def _percentiles(settings: GenerativeSettings) -> Sequence[float]:
    """Return the percentiles up to the greatest of a ball that an attack needs."""
    places = [BALLS[one][0] for one in settings.attacks or BY_SAMPLES if one in BALLS]
    return PERCENTILES[: max(places, default=-1) + 1]
