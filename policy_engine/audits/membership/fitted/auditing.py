"""An audit of a model that is fitted already, as it is."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from policy_engine.audits.membership.attacks import attack_of, notations
from policy_engine.audits.membership.attacks.choosing import auc
from policy_engine.audits.membership.auditing import Examined, examine_predictions
from policy_engine.audits.membership.fitted.answers import ClassAnswers, ask_model, class_numbers
from policy_engine.audits.membership.fitted.blocks import Block
from policy_engine.audits.membership.fitted.doubts import question_warnings
from policy_engine.audits.membership.fitted.keeping import AnswerCache, ViewAnswers, cached_trainer
from policy_engine.audits.membership.fitted.kinds import fitted_file
from policy_engine.audits.membership.fitted.questions import Questions
from policy_engine.audits.membership.fitted.shadowing import (
    Rows,
    Trainer,
    reference_evidence,
    trained_evidence,
)
from policy_engine.audits.membership.fitted.target import (
    FittedModel,
    Target,
    align,
    open_target,
)
from policy_engine.audits.membership.fitted.training import (
    ShadowData,
    estimator_trainer,
    learner_trainer,
    refit_trainer,
)
from policy_engine.audits.membership.fitted.views import (
    Logits,
    most_views,
    observe_views,
    strengths_of,
    views_of,
)
from policy_engine.audits.membership.installed import versions
from policy_engine.audits.membership.learners import Learner
from policy_engine.audits.membership.learners.scikit import EstimatorLearner
from policy_engine.audits.membership.membership_labels import imbalance_warnings
from policy_engine.audits.membership.observations import (
    CONFIDENCES,
    VIEWS,
    Bools,
    Evidence,
)
from policy_engine.audits.membership.predictions import Predictions
from policy_engine.audits.membership.result import FittedTarget
from policy_engine.audits.membership.settings import Settings, needs_shadows
from policy_engine.engines.engine import Progress, silent
from policy_engine.errors import AuditError

_NOWHERE = AnswerCache()


def audit_fitted(
    questions: Questions,
    fitted: FittedModel,
    settings: Settings,
    recipe: Learner | Any = None,
    progress: Progress = silent,
    kept: AnswerCache = _NOWHERE,
) -> Examined:
    """Attack a fitted model with what it says of members of its training data and of others.

    By its predictions at least; against shadow models where it is to be trained anew, or by a
    `recipe`, a learner or an unfitted classifier; against its `references` otherwise; what
    those of files and recipes say is `kept`. Raises
    AuditError for what is wrong with the model or its answers, for attacks that need more than it
    gives (A005) or models to compare it with (A007); DataError for files, columns to slice by
    (C005) and packages (C011).
    """
    _check_comparisons(fitted, recipe)
    with open_target(fitted) as (target, described):
        given = align(questions.given, target.about)
        views = _view_count(fitted, settings, given)
        way = views, settings.seed
        every = _ask_views(target, given, questions, fitted, way, progress)
        said, strengths = every[0], strengths_of(given, views)
        labels = class_numbers(questions.labels, said.classes)
        observed = observe_views([one.logits for one in every], strengths, labels, said.gives)
        lesson = ShadowData(given, labels, said.classes, views, settings.seed)
        trainer = _trainer(target, fitted, recipe, lesson)
        shape = views, len(questions), len(said.classes)
        kept = kept.of("fitted", questions.digest, *target.about.features, *said.classes, *way)
        if trainer is not None:
            others = _shadow_cache(kept, described, recipe)
            count = -(-settings.shadows // 2) * 2
            trainer = cached_trainer(
                trainer, partial(_is_reproducible, target, recipe), others, count, shape
            )
        evidence = None
        if trainer is not None and CONFIDENCES in said.gives and _needs_shadows(settings):
            drawn, inside = (settings.shadows, settings.seed), questions.is_member
            evidence = trained_evidence(observed, inside, trainer, drawn, said.classes, progress)
    notes, digests = target.about.notes, tuple[str, ...]()
    if fitted.references and CONFIDENCES in said.gives:
        digests = tuple(map(_digest, fitted.references))
        _check_different(described.digest, digests)
        heard = _ask_references(fitted, questions, (shape, said.classes), way, kept, progress)
        evidence = reference_evidence(observed, heard, settings.seed, said.classes)
        notes = (*notes, *_reference_warnings(evidence, questions.is_member))
    predictions = _predictions(questions, said, labels, notes)
    evidence = evidence or Evidence(observed, (), (), settings.seed, said.classes)
    doubts = tuple(question_warnings(questions, given, labels, said.classes))
    found = examine_predictions(predictions, settings, progress, evidence, doubts)
    about = {"gives": tuple(sorted(observed.gives)), "views": views, "references": digests}
    return _with_target(found, questions.width, described.model_copy(update=about))


def _with_target(found: Examined, width: int, described: FittedTarget) -> Examined:
    """Return what was found with what was attacked."""
    about = {"architecture": described.text, "features": width, "fitted": described}
    return replace(found, report=found.report.model_copy(update=about))


def _check_comparisons(fitted: FittedModel, recipe: Any) -> None:
    given = {
        "a recipe": recipe is not None,
        "retrain": fitted.retrain,
        "references": bool(fitted.references),
    }
    both = [name for name, is_given in given.items() if is_given]
    if len(both) > 1:
        message = (
            f"A fitted model is compared with models of one origin. Given: {' and '.join(both)}."
        )
        raise AuditError.of("A014", message, "Give one of them.")
    if len(fitted.references) == 1:
        message = "An attack that compares needs at least 2 reference models. Given: 1."
        raise AuditError.of("A007", message)


def _ask_views(
    target: Target,
    given: Block,
    questions: Questions,
    fitted: FittedModel,
    way: tuple[int, int],
    progress: Progress = silent,
) -> list[ClassAnswers]:
    """Return what a model says of records in each of their views; `way` is their number and seed.

    The first is of the records themselves.
    """
    return [
        ask_model(target.ask, target.about, view, questions.labels, fitted.reading, progress)
        for view in views_of(given, *way)
    ]


def _view_count(fitted: FittedModel, settings: Settings, given: Block) -> int:
    """Return in how many views records are seen: in all, where an attack that was named asks so."""
    needed = any(VIEWS in attack_of(one).needs for one in settings.attacks)
    return most_views(given) if needed and fitted.views == 1 else fitted.views


def _trainer(
    target: Target, fitted: FittedModel, recipe: Any, lesson: ShadowData
) -> Trainer | None:
    """Return what trains shadow models, None where nothing says how."""
    if fitted.retrain:
        return refit_trainer(target, lesson)
    if recipe is None:
        return None
    return (
        learner_trainer(recipe, lesson)
        if isinstance(recipe, Learner)
        else estimator_trainer(recipe, lesson)
    )


def _needs_shadows(settings: Settings) -> bool:
    names = settings.attacks or notations()
    return any(needs_shadows(attack_of(one)) for one in names)


def _is_reproducible(target: Target, recipe: Any) -> bool:
    """Return whether shadows would be the same again; a recipe's name tells all that they are."""
    return recipe is not None or target.is_settled


def _shadow_cache(kept: AnswerCache, target: FittedTarget, recipe: Any) -> AnswerCache:
    """Return where shadows are kept: by the model's file, or their recipe's name, if either is."""
    if recipe is None:
        facts = target.digest, json.dumps(dict(target.versions), sort_keys=True), versions()
        return kept.of("retrain", *facts) if target.digest else kept.nowhere()
    if kept.folder is None:
        return kept
    known = recipe if isinstance(recipe, Learner) else EstimatorLearner.of_object(recipe)
    return kept.of("recipe", known.name)


def _digest(model: Any) -> str:
    """Return the digest of a model's file, none of another object."""
    return fitted_file(Path(model)).digest if isinstance(model, str | Path) else ""


def _ask_references(
    fitted: FittedModel,
    questions: Questions,
    wanted: tuple[tuple[int, int, int], tuple[str, ...]],
    way: tuple[int, int],
    kept: AnswerCache,
    progress: Progress,
) -> list[list[Logits]]:
    """Return what each of the references says, (n, C), by view.

    `wanted` are the shape of that and the classes.
    """
    heard, (shape, classes) = [], wanted
    for number, model in enumerate(fitted.references):
        progress("references", number, len(fitted.references))
        reference, digest = replace(fitted, model=model, references=()), _digest(model)
        way_of_it = digest, versions(), fitted.outputs, *fitted.classes
        known = kept.of("reference", *way_of_it) if digest else kept.nowhere()
        ask = partial(_ask_reference, reference, questions, classes, way, number + 1)
        heard.append(known.said(shape, ask, (number + 1, len(fitted.references))))
    return heard


def _ask_reference(
    reference: FittedModel,
    questions: Questions,
    classes: tuple[str, ...],
    way: tuple[int, int],
    number: int,
) -> ViewAnswers:
    with open_target(reference) as (target, _):
        given = align(questions.given, target.about)
        every = _ask_views(target, given, questions, reference, way)
        is_settled = target.is_settled
    if every[0].classes != classes or CONFIDENCES not in every[0].gives:
        message = f"Reference {number} does not answer with probabilities of the same classes."
        raise AuditError.of("A014", message)
    return ViewAnswers([one.logits for one in every], is_settled)


def _check_different(target: str, references: Sequence[str]) -> None:
    files = [one for one in (target, *references) if one]
    if len(set(files)) < len(files):
        message = "A file is given twice, among the references or as the model itself."
        raise AuditError.of("A014", message, "A model is compared with others than itself.")


def _reference_warnings(evidence: Evidence, is_member: Bools) -> Iterator[str]:
    """Yield what is to be said of references that know members better than others, too."""
    known = [auc(shadow.judged.signal, is_member).low > _CHANCE for shadow in evidence.shadows]
    if any(known):
        yield (
            f"{sum(known)} of {len(known)} reference models answer better about the members, too: "
            "they saw some of them, or members are easier; what compares with them shows less "
            "than it might."
        )


_CHANCE = 0.5


def _predictions(
    questions: Questions, said: ClassAnswers, labels: Rows, notes: tuple[str, ...]
) -> Predictions:
    return Predictions(
        logits=said.logits,
        labels=labels,
        is_member=questions.is_member,
        classes=said.classes,
        columns=questions.columns,
        gives=said.gives,
        name=questions.name,
        digest=questions.digest,
        warnings=(*imbalance_warnings(questions.is_member), *notes),
    )
