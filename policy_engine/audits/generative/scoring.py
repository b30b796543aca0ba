"""The scores of every attack that is asked for, or the reason why there are none."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from policy_engine.audits.generative.attacks.auxiliary_gan import auxiliary_gan
from policy_engine.audits.generative.attacks.calibrated import calibrated_nearest_sample
from policy_engine.audits.generative.attacks.calibrated_reconstruction import (
    calibrated_reconstruction,
)
from policy_engine.audits.generative.attacks.closest_record import closest_record
from policy_engine.audits.generative.attacks.density_ratio import density_ratio
from policy_engine.audits.generative.attacks.discriminator import discriminator
from policy_engine.audits.generative.attacks.exact_copies import (
    NO_CLASSES,
    exact_copies,
    exact_copies_any_class,
)
from policy_engine.audits.generative.attacks.model_density import (
    calibrated_model_density,
    model_density,
)
from policy_engine.audits.generative.attacks.monte_carlo import (
    NEAREST,
    NEAREST_ANY_CLASS,
    MonteCarlo,
)
from policy_engine.audits.generative.attacks.rare_values import rare_values
from policy_engine.audits.generative.attacks.reconstruction import reconstruction
from policy_engine.audits.generative.attacks.shadow_generators import shadow_generators
from policy_engine.audits.generative.material import Floats, Material, Scores
from policy_engine.audits.generative.settings import (
    OF_ANY_CLASS,
    ON_REQUEST,
    OTHER_BALLS,
    GenerativeSettings,
)
from policy_engine.audits.generative.subjects import Subjects
from policy_engine.audits.generative.wording import in_clause
from policy_engine.engines.engine import Progress
from policy_engine.errors import AuditError, format_count
from policy_engine.kernels.estimates import NotApplicable

Attack = Callable[[Material], Floats | NotApplicable]

_SAMPLES, _REFERENCES, _MODEL = "samples", "records of others", "the model"
_BALLS = ("epsilon-ball", "epsilon-ball-distance")
_BY_REFERENCES: Mapping[str, Callable[[Material, MonteCarlo], Floats | NotApplicable]] = (
    MappingProxyType(
        {"density-ratio": density_ratio, "calibrated-nearest-sample": calibrated_nearest_sample}
    )
)
_OTHERS: Mapping[str, tuple[Attack, tuple[str, ...]]] = MappingProxyType(
    {
        "exact-copies": (exact_copies, ("the released records",)),
        "exact-copies-any-class": (exact_copies_any_class, ("the released records",)),
        "closest-record": (closest_record, ("the released records",)),
        "rare-values": (rare_values, ("the released records",)),
        "reconstruction": (reconstruction, (_MODEL,)),
        "calibrated-reconstruction": (calibrated_reconstruction, (_MODEL, _REFERENCES)),
        "discriminator": (discriminator, (_MODEL,)),
        "model-density": (model_density, (_MODEL,)),
        "calibrated-model-density": (calibrated_model_density, (_MODEL, _REFERENCES)),
        "auxiliary-gan": (auxiliary_gan, (_SAMPLES,)),
        "shadow-generators": (shadow_generators, (_MODEL, _REFERENCES)),
    }
)
"""The attacks that need no pass over the samples, and what the attacker must have."""


_SLOW = "training models for an attack takes minutes: ask for it with --attack NAME"


@dataclass(frozen=True, eq=False)
class Scored:
    """The scores (n,) of an attack, or the `reason` why it was not made."""

    name: str
    needs: tuple[str, ...] = ()
    space: str = ""
    scores: Scores = field(default_factory=lambda: np.empty(0))
    reason: str = ""
    notes: tuple[str, ...] = ()

    def pooled(self, subjects: Subjects) -> "Scored":
        """Return the attack with one score for each subject."""
        return self if self.reason else replace(self, scores=subjects.pooled(self.scores))


def scored_attacks(
    material: Material,
    compared: MonteCarlo | None,
    settings: GenerativeSettings,
    progress: Progress,
) -> Iterator[Scored]:
    """Yield the scores of the attacks that are asked for: all, but those that take minutes."""
    yield from _by_samples(material, compared, settings)
    names = [name for name in _OTHERS if _is_asked(name, settings, material)]
    for done, name in enumerate(names):
        progress("attacks", done, len(names))
        attack, needs = _OTHERS[name]
        yield _scored(name, attack(material), needs)
    progress("attacks", len(names), len(names))
    for name in ON_REQUEST:
        if not _is_asked(name, settings, material):
            yield Scored(name, reason=_SLOW)


def _is_asked(name: str, settings: GenerativeSettings, material: Material) -> bool:
    if settings.attacks:
        return name in settings.attacks
    if name in OF_ANY_CLASS:
        return material.has_classes
    return name not in (*ON_REQUEST, *OTHER_BALLS)


def _by_samples(
    material: Material, compared: MonteCarlo | None, settings: GenerativeSettings
) -> Iterator[Scored]:
    names = [
        name
        for name in (NEAREST, NEAREST_ANY_CLASS, *_BALLS, *OTHER_BALLS, *_BY_REFERENCES)
        if _is_asked(name, settings, material)
    ]
    for name in names:
        if compared is None:
            yield Scored(name, reason="there are neither released records nor a model that samples")
        elif name == NEAREST_ANY_CLASS and not material.has_classes:
            yield Scored(name, (_SAMPLES,), reason=in_clause(NO_CLASSES))
        elif name in _BY_REFERENCES:
            scores = _BY_REFERENCES[name](material, compared)
            yield _scored(name, scores, (_SAMPLES, _REFERENCES), compared.space.notation)
        else:
            scores = compared.scores(name)
            yield _scored(name, scores, (_SAMPLES,), compared.space.notation)


def _scored(
    name: str, scores: Floats | NotApplicable, needs: tuple[str, ...], space: str = ""
) -> Scored:
    if isinstance(scores, NotApplicable):
        return Scored(name, needs, reason=in_clause(scores.reason))
    numbers = np.asarray(scores, np.float64)
    if not np.isfinite(numbers).all():
        bad = format_count(int((~np.isfinite(numbers)).sum()), "record")
        message = f"The attack {name} has no finite score of {bad}: values are too large or small."
        raise AuditError.of("A031", message, "Give them on a scale near 1.")
    return Scored(name, needs, space, numbers)
