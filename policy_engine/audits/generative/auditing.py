"""Every attack on a generator that the material allows, and what they show together."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.generative.attacks.closest_record import distance_summary
from policy_engine.audits.generative.attacks.exact_copies import copy_rates
from policy_engine.audits.generative.attacks.monte_carlo import NEAREST, MonteCarlo
from policy_engine.audits.generative.by_class import ClassScores, figures_by_class
from policy_engine.audits.generative.comparing import compared_samples
from policy_engine.audits.generative.drawing import DrawnModel, name_of
from policy_engine.audits.generative.material import Floats, Material
from policy_engine.audits.generative.measuring import attack_figures, single_share
from policy_engine.audits.generative.reading import ReadMaterial
from policy_engine.audits.generative.result import (
    AuditedFile,
    ClosestDistances,
    Copies,
    GenerativeAttack,
    GenerativeAudit,
    GrowthPoint,
    OmittedAttack,
    PromisedEpsilon,
)
from policy_engine.audits.generative.risks.inference import InferenceSettings, infer
from policy_engine.audits.generative.risks.linkability import LinkabilitySettings, link
from policy_engine.audits.generative.risks.result import SyntheticRisk
from policy_engine.audits.generative.risks.singling_out import (
    SinglingOutSettings,
    single_out_by_one_column,
    single_out_by_several_columns,
)
from policy_engine.audits.generative.sampling import sampler_of
from policy_engine.audits.generative.scoring import Scored, scored_attacks
from policy_engine.audits.generative.settings import RISKS, GenerativeSettings
from policy_engine.audits.generative.shift import (
    MOST_SHIFT,
    class_shift,
    measured_shift,
    overlap_warnings,
    overlaps,
    uneven_persons,
)
from policy_engine.audits.generative.wording import (
    epsilon_sentences,
    in_clause,
    is_saturated,
    strongest_of,
    verdict,
    warnings,
)
from policy_engine.audits.membership.curves import curve, falling_order
from policy_engine.audits.membership.intervals import widen_for
from policy_engine.audits.membership.learners.scikit import need_sklearn
from policy_engine.audits.membership.record_scores import RecordScores
from policy_engine.audits.privacy.empirical import (
    FEWEST_PAIRS,
    default_delta,
    epsilon_lower,
    pairs_of,
)
from policy_engine.audits.privacy.epsilon import EpsilonLower
from policy_engine.engines.engine import Progress, silent
from policy_engine.engines.versions import version_of
from policy_engine.errors import ArgumentError, AuditError
from policy_engine.kernels.estimates import Estimate, NotApplicable

_PACKAGES = ("numpy", "scikit-learn", "policy-engine")
_FEWEST = 10
_DRAWN = 10


@dataclass(frozen=True, eq=False)
class GenerativeEvidence:
    """What is shown of an audit, and does not belong in its figures: the `scores` of each record,
    `distances` to the closest synthetic one by side, and some `images` by what they are."""

    scores: RecordScores
    distances: Mapping[str, Floats] = field(default_factory=dict)
    images: Mapping[str, NDArray[np.floating]] = field(default_factory=dict)


def audit_generator(
    read: ReadMaterial,
    settings: GenerativeSettings,
    progress: Progress = silent,
    state: Path | None = None,
) -> tuple[GenerativeAudit, GenerativeEvidence]:
    """Return what every attack reaches that the material allows, and what it was seen on.

    The file `state` keeps what samples of a model were compared with; if it is of the same audit,
    the comparison goes on from it.

    Raises DataError (C011) without scikit-learn, ArgumentError (U002) for a negative seed, and
    AuditError for fewer than 10 records of a side (A031), for members and a holdout of two
    distributions (A029) or with the same records (A030), and as attacks do.
    """
    need_sklearn()
    if read.material.seed < 0:
        raise ArgumentError.of("U002", f"A seed is not negative. Given: {read.material.seed}.")
    material = _fitted(read.material)
    _check_sides(material)
    shift = measured_shift(material)
    _check_shift(shift, material, settings)
    compared = compared_samples(read, material, settings, progress, state)
    by_record = [*scored_attacks(material, compared, settings, progress)]
    scored = [one.pooled(material.subjects) for one in by_record]
    attacks = tuple(_figures(one, material, settings) for one in scored if not one.reason)
    risks, risks_not_run = _risks(material.one_each(), settings, progress)
    copies, distances = _copies(scored, material), _distances(scored, material)
    strongest = strongest_of(attacks)
    lower = _epsilon_lower(scored, material)
    promised = _promised(settings)
    growth = tuple(_growth(compared, material))
    best = next((one for one in attacks if one.attack == strongest), None)
    scores = {one.name: one.scores for one in by_record if not one.reason}
    by_class = figures_by_class(best, [ClassScores.of(material, scores)], len(attacks))
    discloses, sentences = verdict(attacks, copies, risks, strongest, by_class)
    saturated = is_saturated(growth)
    fewest = min(material.subjects.members, material.subjects.others)
    resamples = material.model is not None and read.material.synthetic is None
    audit = GenerativeAudit(
        members=_file(read, "members"),
        holdout=_file(read, "holdout"),
        synthetic=_optional_file(read, "synthetic"),
        reference=_optional_file(read, "reference"),
        model=_model_name(material),
        columns=tuple(one.name for one in material.columns),
        unit=material.unit,
        samples=compared.samples if compared else 0,
        seed=material.seed,
        attacks=attacks,
        not_run=(
            *(OmittedAttack(attack=one.name, reason=one.reason) for one in scored if one.reason),
            *risks_not_run,
        ),
        copies=copies,
        distances=distances,
        risks=risks,
        shift=shift,
        epsilon_lower=lower,
        promised=promised,
        growth=growth,
        is_saturated=NotApplicable(reason="the samples were not tripled")
        if saturated is None
        else saturated,
        strongest=strongest,
        discloses=discloses,
        verdict=sentences,
        warnings=(
            *read.warnings,
            *overlap_warnings(material),
            *uneven_persons(material),
            *epsilon_sentences(promised, lower),
            *warnings(
                shift,
                growth,
                resamples=resamples,
                fewest=fewest,
                counted="persons" if material.counts_persons else "records",
            ),
        ),
        by_class=by_class,
        versions={name: version_of(name) for name in _PACKAGES},
    )
    return audit, _evidence(by_record, material, strongest)


def _fitted(material: Material) -> Material:
    """Return the material with some samples of its model as the public records, if there are no
    others: spaces and scales must not be fitted on those audited."""
    is_public = material.synthetic is not None or material.reference is not None
    if is_public or not hasattr(material.model, "sample"):
        return material
    sampler = sampler_of(material)
    assert sampler is not None  # noqa: S101 (it has a model)
    first = next(iter(sampler.batches(_PUBLIC, material.seed + 1)))
    return replace(material, reference=None, synthetic=first)


_PUBLIC = 5_000


def _check_sides(material: Material) -> None:
    subjects = material.subjects
    counted = "persons" if material.counts_persons else "records"
    sizes = (material.members, subjects.members), (material.holdout, subjects.others)
    for side, size in sizes:
        if size < _FEWEST:
            message = f"{side.name} has {size:,} {counted}. Needed are at least {_FEWEST}."
            raise AuditError.of("A031", message)
    if problems := [*overlaps(material)]:
        raise AuditError(*problems)


def _check_shift(shift: Estimate, material: Material, settings: GenerativeSettings) -> None:
    if shift.low > MOST_SHIFT and not settings.allow_shift:
        message = (
            "Members and holdout are of two distributions: a classifier that has seen no synthetic "
            f"record tells them apart with an area of {shift.value:.3f} under the ROC curve "
            f"({shift.low:.3f} to {shift.high:.3f}), so attacks would measure that."
        )
        by_class = class_shift(material)
        if by_class.low > MOST_SHIFT:
            message += f" The label alone tells them apart with an area of {by_class.value:.3f}."
        hint = "Draw both at random from one table, or allow the shift: --allow-shift."
        raise AuditError.of("A029", message, hint)


def _figures(one: Scored, material: Material, settings: GenerativeSettings) -> GenerativeAttack:
    return attack_figures(
        one.name,
        one.scores,
        material.subjects.is_member,
        settings,
        material.seed,
        needs=one.needs,
        space=one.space,
        notes=one.notes,
    )


def _epsilon_lower(scored: Sequence[Scored], material: Material) -> EpsilonLower | NotApplicable:
    """Return the epsilon that the best attack proves if members were drawn at random."""
    attacks = {one.name: one.scores for one in scored if not one.reason}
    if not attacks:
        return NotApplicable(reason="no attack was made")
    is_member, labels = material.subjects.is_member, material.audited.labels
    if labels is None or material.counts_persons:  # the records of a person may be of any class
        labels = np.zeros(len(is_member), np.int64)
    if pairs_of(is_member, labels) < FEWEST_PAIRS:
        return NotApplicable(reason="no class has two members and two others")
    delta = default_delta(material.subjects.members)
    return epsilon_lower(attacks, is_member, labels, delta, members="told", seed=material.seed)


def _promised(settings: GenerativeSettings) -> PromisedEpsilon | NotApplicable:
    if settings.epsilon is None:
        return NotApplicable(reason="no epsilon is promised")
    return PromisedEpsilon(epsilon=settings.epsilon, delta=settings.delta)


def _growth(compared: MonteCarlo | None, material: Material) -> Iterator[GrowthPoint]:
    for one in compared.growth if compared else ():
        scores = material.subjects.pooled(one.scores)
        order = falling_order(scores)
        points = curve(scores[order], material.subjects.is_member[order])
        yield GrowthPoint(samples=one.samples, single=single_share(points), auc=points.area())


# -- tables ----------------------------------------------------------------------------------------


def _risks(
    material: Material, settings: GenerativeSettings, progress: Progress
) -> tuple[tuple[SyntheticRisk, ...], tuple[OmittedAttack, ...]]:
    """Return the risks of a table that were measured, and those that were not, with the reason."""
    names = [one for one in RISKS if not settings.attacks or one in settings.attacks]
    results: list[tuple[str, SyntheticRisk | NotApplicable]] = []
    for done, name in enumerate(names):
        progress("risks", done, len(names))
        results += [(name, one) for one in _measured(name, material)]
    if names:
        progress("risks", len(names), len(names))
    measured = tuple(one for _, one in results if isinstance(one, SyntheticRisk))
    missing = [(name, one.reason) for name, one in results if isinstance(one, NotApplicable)]
    if material.is_table:
        missing += [(name, _NOT_NAMED) for name in RISKS if name not in names]
    return measured, tuple(
        OmittedAttack(attack=name, reason=in_clause(reason))
        for name, reason in dict.fromkeys(missing)
    )


_NOT_NAMED = "only other attacks are named"


def _measured(name: str, material: Material) -> Sequence[SyntheticRisk | NotApplicable]:
    if name == "singling-out":
        own = SinglingOutSettings()
        return (
            single_out_by_one_column(material, own),
            single_out_by_several_columns(material, own),
        )
    if name == "linkability":
        return (link(material, LinkabilitySettings()),)
    secrets = infer(material, InferenceSettings())
    return (secrets,) if isinstance(secrets, NotApplicable) else secrets


def _of(scored: Sequence[Scored], name: str) -> Scored | None:
    return next((one for one in scored if one.name == name and not one.reason), None)


def _copies(scored: Sequence[Scored], material: Material) -> Copies | NotApplicable:
    one = _of(scored, "exact-copies")
    if one is None:
        return NotApplicable(reason="exact copies were not looked for")
    own = Copies(**copy_rates(one.scores, material.subjects.is_member)._asdict())
    across = _of(scored, "exact-copies-any-class")
    if across is None:
        return own
    rates = copy_rates(across.scores, material.subjects.is_member)
    excess = widen_for(rates.excess, 2)  # the better one of two is told
    if excess.low <= own.excess.low:
        return own
    return Copies(members=rates.members, holdout=rates.holdout, excess=excess, any_class=True)


def _distances(scored: Sequence[Scored], material: Material) -> ClosestDistances | NotApplicable:
    one = _of(scored, "closest-record")
    if one is None:
        return NotApplicable(reason="the closest records were not looked for")
    return ClosestDistances(**distance_summary(one.scores, material.subjects.is_member)._asdict())


# -- what was audited ------------------------------------------------------------------------------


def _file(read: ReadMaterial, side: str) -> AuditedFile:
    records = getattr(read.material, side)
    digest = read.digests.get(side, "")
    persons: int | NotApplicable = NotApplicable(reason="no column tells persons apart")
    if records.persons is not None:
        persons = len(np.unique(records.persons))
    return AuditedFile(name=records.name, digest=digest, records=len(records), persons=persons)


def _optional_file(read: ReadMaterial, side: str) -> AuditedFile | NotApplicable:
    if getattr(read.material, side) is None:
        return NotApplicable(reason=f"no {side} records were given")
    return _file(read, side)


def _model_name(material: Material) -> str:
    if material.model is None:
        return ""
    if isinstance(material.model, DrawnModel):
        return material.model.name
    return name_of(material.model)


def _evidence(scored: Sequence[Scored], material: Material, strongest: str) -> GenerativeEvidence:
    is_member = material.is_member
    by_name = {one.name: np.asarray(one.scores, np.float64) for one in scored if not one.reason}
    called = {name: scores > np.median(scores) for name, scores in by_name.items()}
    rows = np.concatenate([np.arange(len(one)) for one in (material.members, material.holdout)])
    closest = _of(scored, "closest-record") or _of(scored, NEAREST)
    distances = (
        {"members": -closest.scores[is_member], "holdout": -closest.scores[~is_member]}
        if closest
        else {}
    )
    exposed = _exposed_images(by_name.get(strongest), material)
    return GenerativeEvidence(
        RecordScores(rows, is_member, by_name, called, strongest), distances, exposed
    )


def _exposed_images(scores: Floats | None, material: Material) -> dict[str, NDArray[np.floating]]:
    """Return samples, and the members that the strongest attack finds first, as images."""
    if scores is None or len(material.shape) < 2:
        return {}
    members = material.members.values[np.argsort(-scores[material.is_member])[:_DRAWN]]
    sets = {"most exposed": members}
    if material.synthetic is not None:
        sets = {"samples": material.synthetic.values[:_DRAWN], **sets}
    return {name: one.reshape(len(one), *material.shape) for name, one in sets.items()}
