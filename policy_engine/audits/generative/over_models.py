"""Audits of several models of one generator, as one: its intervals are over models."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from policy_engine.audits.generative.auditing import GenerativeEvidence, audit_generator
from policy_engine.audits.generative.by_class import ClassScores, figures_by_class
from policy_engine.audits.generative.result import (
    AttackedModel,
    AttackOverModels,
    Copies,
    GenerativeAttack,
    GenerativeAudit,
    GrowthPoint,
    OmittedAttack,
    RateOverModels,
)
from policy_engine.audits.generative.risks.result import SyntheticRisk
from policy_engine.audits.generative.runs import (
    GeneratorRun,
    Sides,
    check_apart,
    fingerprints,
    share_records,
)
from policy_engine.audits.generative.spreads import estimate_of, spread_over
from policy_engine.audits.generative.wording import (
    is_inverted,
    is_saturated,
    strongest_of,
    tells_members,
    verdict,
)
from policy_engine.audits.membership.figures import TprAtFpr
from policy_engine.audits.membership.intervals import widen_for
from policy_engine.engines.engine import Progress, silent
from policy_engine.kernels.estimates import Estimate, NotApplicable


def audit_runs(
    runs: Iterable[GeneratorRun], count: int, progress: Progress = silent, out: Path | None = None
) -> tuple[GenerativeAudit, GenerativeEvidence]:
    """Return the audits of so many models as one, and what the first was seen on.

    In the folder `out` it is kept, for each model, what samples were compared with. Raises
    AuditError (A034) where a model is there twice, and as `audit_generator` and the runs do.
    """
    audits: list[GenerativeAudit] = []
    sides: list[Sides] = []
    scored: list[ClassScores] = []
    identities: list[str] = []
    first: GenerativeEvidence | None = None
    own, remaining = progress, iter(runs)
    for place in range(1, count + 1):
        if count > 1:
            own = _progress_of(progress, f"model {place} of {count}")
            own("reading, or fitting", 0, 1)
        run = next(remaining)
        check_apart([*identities, run.identity])
        identities.append(run.identity)
        audit, evidence = audit_generator(run.read, run.settings, own, _state(out, place))
        audits.append(audit)
        scored.append(ClassScores.of(run.read.material, evidence.scores.scores))
        if count > 1 and run.rows is None:
            sides.append(fingerprints(run.read.material))
        first = first or _with_rows(evidence, run)
    whole = audit_over_models(audits, scored, share_records=share_records(sides))
    assert first is not None  # noqa: S101 (there is a model)
    scores = replace(first.scores, exposed_by=_exposed_by(first, whole))
    return whole, replace(first, scores=scores)


def _exposed_by(first: GenerativeEvidence, whole: GenerativeAudit) -> str:
    return whole.strongest if whole.strongest in first.scores.scores else first.scores.exposed_by


def _progress_of(progress: Progress, model: str) -> Progress:
    """Return what tells the stages of one model: behind a comma, they are stages of one stage."""
    return lambda stage, done, total: progress(f"{model}, {stage}", done, total)


def _state(out: Path | None, place: int) -> Path | None:
    """Return the file of what the samples of a model were compared with."""
    if out is None:
        return None
    return out / ("samples.npz" if place == 1 else f"samples-{place}.npz")


def _with_rows(evidence: GenerativeEvidence, run: GeneratorRun) -> GenerativeEvidence:
    """Return what was seen, with the places of the records in the files they were drawn from."""
    if run.rows is None:
        return evidence
    return replace(evidence, scores=replace(evidence.scores, rows=run.rows))


def audit_over_models(
    audits: Sequence[GenerativeAudit],
    scored: Sequence[ClassScores] = (),
    *,
    share_records: bool = False,
) -> GenerativeAudit:
    """Return the audits of several models as one, the first of them where there is only one.

    What is `scored` of each model is for the figures within classes.

    The models `share_records` where who is a member of one is a member of others more often than by
    chance: then what is by chance in the draw of the members is not seen between models.
    """
    first = audits[0]
    if len(audits) == 1:
        return first
    names = dict.fromkeys(one.attack for audit in audits for one in audit.attacks)
    attacks = tuple(
        _attack(name, audits, among=len(names), share_records=share_records) for name in names
    )
    copies, risks = _most_copies(audits), tuple(_most_risks(audits))
    strongest, growth = strongest_of(attacks), tuple(_growth(audits))
    best = next((one for one in attacks if one.attack == strongest), None)
    by_class = figures_by_class(best, scored, len(attacks), share_records=share_records)
    discloses, sentences = verdict(attacks, copies, risks, strongest, by_class)
    saturated = is_saturated(growth)
    update = {
        "attacks": attacks,
        "not_run": tuple(_not_run(audits, names)),
        "copies": copies,
        "risks": risks,
        "growth": growth,
        "is_saturated": first.is_saturated if saturated is None else saturated,
        "strongest": strongest,
        "by_class": by_class,
        "discloses": discloses,
        "verdict": sentences,
        "warnings": tuple(_warnings(audits)),
        "models": tuple(map(_model, audits)),
    }
    return first.model_copy(update=update)


def _attack(
    name: str, audits: Sequence[GenerativeAudit], *, among: int, share_records: bool
) -> GenerativeAttack:
    results = [one for audit in audits for one in audit.attacks if one.attack == name]
    first = results[0]
    if len(results) == 1:
        return first
    rates = [*zip(*(one.tpr_at_fpr for one in results), strict=True)]
    over = AttackOverModels(
        models=len(results),
        auc=spread_over([one.auc for one in results], share_records=share_records),
        single=spread_over([one.games.single for one in results], share_records=share_records),
        set=spread_over([one.games.set for one in results], share_records=share_records),
        tpr_at_fpr=tuple(
            RateOverModels(
                fpr=rate[0].fpr,
                tpr=spread_over([one.tpr for one in rate], share_records=share_records),
            )
            for rate in rates
        ),
        shown_on=sum(tells_members(one, among * len(audits)) for one in results),
        inverted_on=sum(is_inverted(one, among * len(audits)) for one in results),
    )
    games = {
        "models": len(results),
        "single": estimate_of(over.single),
        "set": estimate_of(over.set),
    }
    headline = tuple(
        TprAtFpr(
            fpr=one.fpr,
            tpr=estimate_of(one.tpr),
            randomised=any(model.randomised for model in rate),
        )
        for one, rate in zip(over.tpr_at_fpr, rates, strict=True)
    )
    return first.model_copy(
        update={
            "auc": estimate_of(over.auc),
            "tpr_at_fpr": headline,
            "games": first.games.model_copy(update=games),
            "over_models": over,
        }
    )


def _most_copies(audits: Sequence[GenerativeAudit]) -> Copies | NotApplicable:
    copies = [one.copies for one in audits if isinstance(one.copies, Copies)]
    if not copies:
        return audits[0].copies
    most = max(copies, key=lambda one: one.excess.low)
    return most.model_copy(update={"excess": _among(most.excess, len(audits))})


def _most_risks(audits: Sequence[GenerativeAudit]) -> Iterator[SyntheticRisk]:
    """Yield each risk of the model on which it is shown to be the greatest."""
    risks = [one for audit in audits for one in audit.risks]
    for key in dict.fromkeys((one.risk, one.column) for one in risks):
        own = [one for one in risks if (one.risk, one.column) == key]
        most = max(own, key=lambda one: (one.is_evidence, one.value.low))
        yield most.model_copy(update={"value": _among(most.value, len(audits))})


def _among(one: Estimate, models: int) -> Estimate:
    wide = widen_for(one, models)
    return Estimate(value=wide.value, low=max(wide.low, -1.0), high=min(wide.high, 1.0))


def _growth(audits: Sequence[GenerativeAudit]) -> Iterator[GrowthPoint]:
    """Yield the mean over the models of what so many samples show, where all have as many."""
    by_samples = [{point.samples: point for point in one.growth} for one in audits]
    for samples in by_samples[0]:
        if all(samples in points for points in by_samples):
            points = [one[samples] for one in by_samples]
            yield GrowthPoint(
                samples=samples,
                single=fmean([one.single for one in points]),
                auc=fmean([one.auc for one in points]),
            )


def _not_run(audits: Sequence[GenerativeAudit], names: dict[str, None]) -> Iterator[OmittedAttack]:
    """Yield the attacks that no model allowed, and those that only some did."""
    risks = {one.risk for audit in audits for one in audit.risks}
    for one in audits[0].not_run:
        if one.attack not in names and one.attack not in risks:
            yield one
    for name in names:
        reasons = [one.reason for audit in audits for one in audit.not_run if one.attack == name]
        if reasons:
            made = len(audits) - len(reasons)
            reason = f"it was made on {made} of {len(audits)} models alone: {reasons[0]}"
            yield OmittedAttack(attack=name, reason=reason)


def _warnings(audits: Sequence[GenerativeAudit]) -> Iterator[str]:
    """Yield what is to be said of the first model, and of others what is not the same."""
    yield from audits[0].warnings
    for place, audit in enumerate(audits[1:], 2):
        for one in audit.warnings:
            if one not in audits[0].warnings:
                yield f"Of model {place}: {one}"


def _model(audit: GenerativeAudit) -> AttackedModel:
    return AttackedModel(
        members=audit.members,
        holdout=audit.holdout,
        synthetic=audit.synthetic,
        model=audit.model,
        samples=audit.samples,
    )
