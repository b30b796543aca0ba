"""An audit from end to end: split, train, attack, measure and report."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.audit_splits import audit_splits
from policy_engine.audits.membership.binning import bins_of
from policy_engine.audits.membership.cache import ModelAnswers, ModelCache
from policy_engine.audits.membership.caveats import (
    MEMBERS_GIVEN,
    epsilon_caveats,
    settings_caveats,
    small_sample_caveats,
    uncalibrated_caveats,
)
from policy_engine.audits.membership.gathering import gather
from policy_engine.audits.membership.learners.learner import Learner, Trained
from policy_engine.audits.membership.member_differences import (
    LabelClasses,
    answer_differences,
    side_differences,
)
from policy_engine.audits.membership.observations import (
    Evidence,
    Observations,
)
from policy_engine.audits.membership.outcomes import (
    ONE_TARGET,
    audit_conduct,
    play_all_games,
    record_scores,
    run_attacks,
    summarise_targets,
)
from policy_engine.audits.membership.predictions import Predictions
from policy_engine.audits.membership.randomized_response import perturb
from policy_engine.audits.membership.record_scores import RecordScores
from policy_engine.audits.membership.records import Records, digest_of
from policy_engine.audits.membership.report import audit_report
from policy_engine.audits.membership.result import (
    MembershipAudit,
)
from policy_engine.audits.membership.settings import (
    Settings,
    attacks_of_model,
    attacks_of_predictions,
)
from policy_engine.audits.membership.shadows import (
    Chunk,
    ModelTrainer,
    Sanitiser,
    ignore_chunk,
    ignore_model,
)
from policy_engine.audits.membership.slices import record_slices
from policy_engine.audits.membership.soundness import data_warnings
from policy_engine.audits.membership.splits import Splits
from policy_engine.audits.privacy.epsilon import EpsilonUpper, MembersAre
from policy_engine.data.available_memory import available_memory
from policy_engine.engines.engine import Progress, silent
from policy_engine.errors import DataError, Problem, did_you_mean
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods.audits.classifier import Estimator, Network

_PERTURBED = 65


@dataclass(frozen=True, eq=False)
class ScoredAudit:
    """An audit's report, and what the attacks said of each record, which the report leaves out."""

    report: MembershipAudit
    scores: RecordScores


def audit(
    records: Records,
    learner: Learner,
    settings: Settings,
    *,
    architecture: Network | Estimator | str,
    **options: Any,
) -> MembershipAudit:
    """Return the report of `examine`, which takes the same arguments."""
    return examine(records, learner, settings, architecture=architecture, **options).report


def examine(
    records: Records,
    learner: Learner,
    settings: Settings,
    *,
    architecture: Network | Estimator | str,
    members: NDArray[np.integer] | None = None,
    non_members: NDArray[np.integer] | None = None,
    groups: NDArray[np.int64] | None = None,
    splits: Splits | None = None,
    drawn: MembersAre | None = None,
    cache: Path | None = None,
    model: Path | None = None,
    sanitiser: Sanitiser | None = None,
    progress: Progress = silent,
    available: Callable[[], int] = available_memory,
    on_chunk: Callable[[Chunk], None] = ignore_chunk,
    on_saved: Callable[[Trained], None] = ignore_model,
) -> ScoredAudit:
    """Train a target and its shadows on parts of the records, and attack the target.

    With `members`, the target is trained on these rows and tested on others of `non_members`, and
    rows of one of the `groups` are one record (see `make_splits`); with `splits`, all models are
    trained and tested as these say. `drawn` says how given members or splits were drawn; without it
    they count as chosen, and no epsilon follows. Answers are kept in the folder `cache` and reused;
    the target is written to the file `model`. A `sanitiser` turns the rows that a model would learn
    from into those that it does learn from; it answers about the records as they are. `on_chunk` is
    called with each chunk of models, `on_saved` with the target as its file has it.

    Nothing is trained before all has been checked: raises AuditError for attacks that the model
    does not support (A005), classes too small (A001), too little memory (A008), and whatever the
    learner finds wrong (A009, A013); DataError (C005) for slices by columns that are not there.
    """
    attacks = attacks_of_model(settings, learner.gives)
    members_given = not (members is None and non_members is None and splits is None)
    _check_slices(settings, records.columns)
    splits = splits or audit_splits(records, attacks, settings, members, non_members, groups)
    training_records, features = _domains(records, settings)
    trainer = ModelTrainer(
        learner,
        training_records,
        features,
        ModelCache(cache),
        sanitiser,
        available,
        on_chunk=on_chunk,
        on_saved=on_saved,
    )
    needed = frozenset[str]().union(*(attack.needs for attack in attacks))
    other_targets = settings.targets - 1
    gathered = gather(trainer, splits, settings.seed, other_targets, model, progress, needed)
    target, evidence = gathered.target, gathered.turn.evidence
    columns = {name: records.columns[name][splits.audited] for name in settings.slices}
    parts = record_slices(evidence.target, records.classes, columns)
    outcomes = run_attacks(attacks, evidence, splits.is_member, parts, settings, progress)
    on_others = [
        run_attacks(attacks, turn.evidence, turn.is_member, (), settings, progress)
        for turn in gathered.other_turns
    ]
    members_of_each = [turn.is_member for turn in (gathered.turn, *gathered.other_turns)]
    upper = _upper(target, sanitiser)
    members_are = drawn or ("told" if members_given else "drawn")
    report = audit_report(
        outcomes,
        evidence,
        splits.is_member,
        upper,
        members_are,
        over_targets=summarise_targets(attacks, gathered, [outcomes, *on_others], splits),
        games=tuple(play_all_games([outcomes, *on_others], members_of_each, settings.seed)),
        conduct=audit_conduct(settings, learner.gives, outcomes, evidence),
        data=records.name,
        data_digest=records.digest,
        records=len(records),
        classes=records.classes,
        features=records.features.shape[1],
        encoding=records.encoding,
        architecture=architecture,
        shadow_models=splits.shadows,
        seed=settings.seed,
        splits_digest=splits.digest,
        warnings=(
            *records.warnings,
            *target.notes.get("warnings", ()),
            *settings_caveats(settings, records, splits, learner),
            *data_warnings(records, splits),
            *(side_differences(records, splits) if members_are == "told" else ()),
            *(
                epsilon_caveats(records, is_secret=target.notes.get("secret", False))
                if isinstance(upper, EpsilonUpper)
                else []
            ),
        ),
    )
    return ScoredAudit(
        report, record_scores(outcomes, splits.audited, splits.is_member, settings.seed)
    )


def audit_predictions(
    predictions: Predictions,
    settings: Settings,
    progress: Progress = silent,
) -> MembershipAudit:
    """Return the report of `examine_predictions`."""
    return examine_predictions(predictions, settings, progress).report


def examine_predictions(
    predictions: Predictions,
    settings: Settings,
    progress: Progress = silent,
    evidence: Evidence | None = None,
    doubts: Sequence[str] | None = None,
) -> ScoredAudit:
    """Attack a model that is known only by its answers about some records.

    With `evidence` the attacker also holds other models' answers about these records. `doubts` are
    warnings about the records, where more is known of them than the columns beside the answers.
    Raises AuditError for attacks that need shadow models (A007) or more than was said (A005),
    DataError (C005) for slices by columns that are not there.
    """
    observations = Observations(predictions.logits, predictions.labels, predictions.gives)
    evidence = evidence or Evidence(observations, (), (), settings.seed, predictions.classes)
    attacks = attacks_of_predictions(settings, evidence.gives)
    _check_slices(settings, predictions.columns)
    columns = {name: predictions.columns[name] for name in settings.slices}
    parts = record_slices(observations, predictions.classes, columns)
    outcomes = run_attacks(attacks, evidence, predictions.is_member, parts, settings, progress)
    upper = NotApplicable(reason="how the model was trained is not known")
    is_member = predictions.is_member
    report = audit_report(
        outcomes,
        evidence,
        is_member,
        upper,
        "told",
        over_targets=ONE_TARGET,
        games=tuple(play_all_games([outcomes], [is_member], settings.seed)),
        conduct=audit_conduct(settings, evidence.gives, outcomes, evidence, trains=False),
        data=predictions.name,
        data_digest=predictions.digest,
        records=len(predictions.labels),
        classes=predictions.classes,
        features=0,
        encoding=(),
        architecture="a model known by its predictions alone",
        shadow_models=max(evidence.counts.values()),
        seed=settings.seed,
        splits_digest=digest_of(predictions.is_member),
        warnings=(
            *predictions.warnings,
            MEMBERS_GIVEN,
            *(doubts if doubts is not None else _answer_differences(predictions)),
            *uncalibrated_caveats(one.notation for one in attacks),
            *small_sample_caveats(int((~predictions.is_member).sum())),
        ),
    )
    rows = np.arange(len(is_member))
    return ScoredAudit(report, record_scores(outcomes, rows, is_member, settings.seed))


def _answer_differences(predictions: Predictions) -> Iterator[str]:
    classes = LabelClasses(predictions.labels, predictions.classes)
    yield from answer_differences(predictions.columns, classes, predictions.is_member)


def _check_slices(settings: Settings, columns: Mapping[str, Any]) -> None:
    problems = [
        Problem("C005", f"There is no column {name!r} to slice by.", did_you_mean(name, columns))
        for name in settings.slices
        if name not in columns
    ]
    if problems:
        raise DataError(*problems)


def _domains(records: Records, settings: Settings) -> tuple[Records, NDArray[Any]]:
    """Return what models learn from, and the features that they are asked about."""
    if settings.local_epsilon is None:
        return records, records.features
    random = np.random.default_rng([settings.seed, _PERTURBED])
    bins = bins_of(records, settings.bins, settings.ranges)
    features = perturb(records.features, records.encoding, settings.local_epsilon, random, bins)
    perturbed = records.with_features(features)
    return perturbed, features if settings.attack_domain == "perturbed" else records.features


def _upper(target: ModelAnswers, sanitiser: Sanitiser | None) -> EpsilonUpper | NotApplicable:
    """Return what the accountant proves of the target, kept as JSON.

    That is of one record more or less among those learnt from. Where these were made of others
    together, as by generalisation, one of the others can change many of them, and no epsilon is
    proved of it.
    """
    proven = target.notes["epsilon"]
    if "reason" in proven:
        return NotApplicable.model_validate(proven)
    upper = EpsilonUpper.model_validate(proven)
    if sanitiser is None:
        return upper
    spent = f"spends epsilon {upper.value:.3g} at delta {upper.delta:.1g}"
    return NotApplicable(
        reason=f"the training {spent} of each row of the sanitised table, and a record has a "
        "part in many of its rows"
    )
