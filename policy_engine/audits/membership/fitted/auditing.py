"""An audit of a model that is already fitted."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from policy_engine.audits.membership.attacks import attack_of, notations
from policy_engine.audits.membership.attacks.choosing import auc
from policy_engine.audits.membership.auditing import ScoredAudit, examine_predictions
from policy_engine.audits.membership.fitted.answer_cache import (
    AnswerCache,
    ViewAnswers,
    cached_trainer,
)
from policy_engine.audits.membership.fitted.answers import ClassAnswers, ask_model, class_numbers
from policy_engine.audits.membership.fitted.blocks import Block
from policy_engine.audits.membership.fitted.kinds import fitted_file
from policy_engine.audits.membership.fitted.question_warnings import question_warnings
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
    cache: AnswerCache = _NOWHERE,
) -> ScoredAudit:
    """Attack a fitted model by its answers about members of its training data and others.

    It is attacked by its predictions at least; also against shadow models, where it can be
    retrained or there is a `recipe`, a learner or an unfitted classifier; else against its
    `references`. The answers of models from files and recipes are kept in the `cache`. Raises
    AuditError for what is wrong with the model or its answers, for attacks that need more than it
    gives (A005) or models to compare it with (A007); DataError for files, columns to slice by
    (C005) and packages (C011).
    """
    _check_comparisons(fitted, recipe)
    with open_target(fitted) as (target, described):
        records = align(questions.features, target.description)
        views = _view_count(fitted, settings, records)
        view_facts = views, settings.seed
        answers = _ask_views(target, records, questions, fitted, view_facts, progress)
        first, strengths = answers[0], strengths_of(records, views)
        labels = class_numbers(questions.labels, first.classes)
        observed = observe_views([one.logits for one in answers], strengths, labels, first.gives)
        lesson = ShadowData(records, labels, first.classes, views, settings.seed)
        trainer = _trainer(target, fitted, recipe, lesson)
        shape = views, len(questions), len(first.classes)
        cache = cache.with_facts(
            "fitted", questions.digest, *target.description.features, *first.classes, *view_facts
        )
        if trainer is not None:
            shadow_cache = _shadow_cache(cache, described, recipe)
            count = -(-settings.shadows // 2) * 2
            trainer = cached_trainer(
                trainer, partial(_is_reproducible, target, recipe), shadow_cache, count, shape
            )
        evidence = None
        if trainer is not None and CONFIDENCES in first.gives and _needs_shadows(settings):
            settings_of_shadows, is_member = (settings.shadows, settings.seed), questions.is_member
            evidence = trained_evidence(
                observed, is_member, trainer, settings_of_shadows, first.classes, progress
            )
    notes, digests = target.description.notes, tuple[str, ...]()
    if fitted.references and CONFIDENCES in first.gives:
        digests = tuple(map(_digest, fitted.references))
        _check_different(described.digest, digests)
        references = _ask_references(
            fitted, questions, (shape, first.classes), view_facts, cache, progress
        )
        evidence = reference_evidence(observed, references, settings.seed, first.classes)
        notes = (*notes, *_reference_warnings(evidence, questions.is_member))
    predictions = _predictions(questions, first, labels, notes)
    evidence = evidence or Evidence(observed, (), (), settings.seed, first.classes)
    doubts = tuple(question_warnings(questions, records, labels, first.classes))
    examined = examine_predictions(predictions, settings, progress, evidence, doubts)
    facts = {"gives": tuple(sorted(observed.gives)), "views": views, "references": digests}
    return _add_target(examined, questions.width, described.model_copy(update=facts))


def _add_target(examined: ScoredAudit, width: int, described: FittedTarget) -> ScoredAudit:
    """Return the scored audit with the description of its target."""
    facts = {"architecture": described.text, "features": width, "fitted": described}
    return replace(examined, report=examined.report.model_copy(update=facts))


def _check_comparisons(fitted: FittedModel, recipe: Any) -> None:
    origins = {
        "a recipe": recipe is not None,
        "retrain": fitted.retrain,
        "references": bool(fitted.references),
    }
    names = [name for name, is_given in origins.items() if is_given]
    if len(names) > 1:
        message = (
            f"A fitted model is compared with models of one origin. Given: {' and '.join(names)}."
        )
        raise AuditError.of("A014", message, "Give one of them.")
    if len(fitted.references) == 1:
        message = "An attack that compares needs at least 2 reference models. Given: 1."
        raise AuditError.of("A007", message)


def _ask_views(
    target: Target,
    records: Block,
    questions: Questions,
    fitted: FittedModel,
    way: tuple[int, int],
    progress: Progress = silent,
) -> list[ClassAnswers]:
    """Return what a model says of records in each of their views; `way` is their number and seed.

    The first is of the records themselves.
    """
    return [
        ask_model(target.ask, target.description, view, questions.labels, fitted.reading, progress)
        for view in views_of(records, *way)
    ]


def _view_count(fitted: FittedModel, settings: Settings, records: Block) -> int:
    """Return in how many views records are seen: in all, where an attack that was named asks so."""
    needed = any(VIEWS in attack_of(one).needs for one in settings.attacks)
    return most_views(records) if needed and fitted.views == 1 else fitted.views


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
    """Return whether shadows would be the same again; a recipe's name determines them."""
    return recipe is not None or target.is_reproducible


def _shadow_cache(cache: AnswerCache, target: FittedTarget, recipe: Any) -> AnswerCache:
    """Return where shadows are kept: by the model's file, or their recipe's name, if either is."""
    if recipe is None:
        facts = target.digest, json.dumps(dict(target.versions), sort_keys=True), versions()
        return cache.with_facts("retrain", *facts) if target.digest else cache.without_folder()
    if cache.folder is None:
        return cache
    learner = recipe if isinstance(recipe, Learner) else EstimatorLearner.from_object(recipe)
    return cache.with_facts("recipe", learner.name)


def _digest(model: Any) -> str:
    """Return the digest of a model's file, none of another object."""
    return fitted_file(Path(model)).digest if isinstance(model, str | Path) else ""


def _ask_references(
    fitted: FittedModel,
    questions: Questions,
    expected: tuple[tuple[int, int, int], tuple[str, ...]],
    way: tuple[int, int],
    cache: AnswerCache,
    progress: Progress,
) -> list[list[Logits]]:
    """Return what each of the references says, (n, C), by view.

    `expected` are the shape of that and the classes.
    """
    answers, (shape, classes) = [], expected
    for number, model in enumerate(fitted.references):
        progress("references", number, len(fitted.references))
        reference, digest = replace(fitted, model=model, references=()), _digest(model)
        facts = digest, versions(), fitted.outputs, *fitted.classes
        reference_cache = (
            cache.with_facts("reference", *facts) if digest else cache.without_folder()
        )
        ask = partial(_ask_reference, reference, questions, classes, way, number + 1)
        answers.append(reference_cache.answers(shape, ask, (number + 1, len(fitted.references))))
    return answers


def _ask_reference(
    reference: FittedModel,
    questions: Questions,
    classes: tuple[str, ...],
    way: tuple[int, int],
    number: int,
) -> ViewAnswers:
    with open_target(reference) as (target, _):
        records = align(questions.features, target.description)
        answers = _ask_views(target, records, questions, reference, way)
        is_settled = target.is_reproducible
    if answers[0].classes != classes or CONFIDENCES not in answers[0].gives:
        message = f"Reference {number} does not answer with probabilities of the same classes."
        raise AuditError.of("A014", message)
    return ViewAnswers([one.logits for one in answers], is_settled)


def _check_different(target: str, references: Sequence[str]) -> None:
    files = [one for one in (target, *references) if one]
    if len(set(files)) < len(files):
        message = "The same file is given twice, among the references or as the model itself."
        raise AuditError.of("A014", message, "Give reference models other than the model itself.")


def _reference_warnings(evidence: Evidence, is_member: Bools) -> Iterator[str]:
    """Yield a warning where references, too, answer better about members than about others."""
    knows_members = [
        auc(shadow.audited.signal, is_member).low > _CHANCE for shadow in evidence.shadows
    ]
    if any(knows_members):
        yield (
            f"{sum(knows_members)} of {len(knows_members)} reference models answer better about "
            "the members, too: they were trained on some of them, or members are easier; attacks "
            "that compare with them show less than they could."
        )


_CHANCE = 0.5


def _predictions(
    questions: Questions, answers: ClassAnswers, labels: Rows, notes: tuple[str, ...]
) -> Predictions:
    return Predictions(
        logits=answers.logits,
        labels=labels,
        is_member=questions.is_member,
        classes=answers.classes,
        columns=questions.columns,
        gives=answers.gives,
        name=questions.name,
        digest=questions.digest,
        warnings=(*imbalance_warnings(questions.is_member), *notes),
    )
