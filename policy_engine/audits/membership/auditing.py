"""An audit from end to end: split, train, attack, count, and say what was found."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.membership.attacks import Attack, Judgement
from policy_engine.audits.membership.binning import bins_of
from policy_engine.audits.membership.cache import ModelAnswers, ModelCache
from policy_engine.audits.membership.caveats import (
    MEMBERS_TOLD,
    beyond_epsilon,
    of_alone,
    of_few,
    of_settings,
)
from policy_engine.audits.membership.conduct import (
    Conduct,
    out_models,
    thresholds,
    versions,
)
from policy_engine.audits.membership.figures import StrengthMeasure
from policy_engine.audits.membership.games import play
from policy_engine.audits.membership.gathering import Gathered, gather
from policy_engine.audits.membership.learners.learner import Learner
from policy_engine.audits.membership.measuring import (
    attack_result,
    called_members,
    strongest,
)
from policy_engine.audits.membership.memory import available_memory
from policy_engine.audits.membership.observations import (
    ONLINE_SHADOWS,
    SHADOWS,
    Evidence,
    Observations,
    Terms,
)
from policy_engine.audits.membership.over_targets import (
    OverTargets,
    attack_over_targets,
    spread_of,
)
from policy_engine.audits.membership.predictions import Predictions
from policy_engine.audits.membership.randomized_response import perturb
from policy_engine.audits.membership.record_scores import RecordScores
from policy_engine.audits.membership.records import Records, digest_of
from policy_engine.audits.membership.result import (
    AttackResult,
    AuditSide,
    MembershipAudit,
    SingleAndSet,
)
from policy_engine.audits.membership.settings import (
    BASELINE,
    Settings,
    attacks_of_model,
    attacks_of_predictions,
    skipped_attacks,
)
from policy_engine.audits.membership.shadows import Chunk, ModelTrainer, Sanitiser, unheard
from policy_engine.audits.membership.sides import LabelClasses, of_answers, of_sides
from policy_engine.audits.membership.slices import RecordSlice, parts_of
from policy_engine.audits.membership.soundness import of_data
from policy_engine.audits.membership.splits import ModelCounts, Splits, make_splits
from policy_engine.audits.membership.structure import said_of, structure_of
from policy_engine.audits.membership.verdict import verdict
from policy_engine.audits.privacy.empirical import (
    FEWEST_PAIRS,
    epsilon_lower,
    pairs_of,
    usual_delta,
)
from policy_engine.audits.privacy.epsilon import EpsilonLower, EpsilonUpper, MembersAre
from policy_engine.engines.engine import Progress, silent
from policy_engine.errors import AuditError, DataError, Problem, did_you_mean
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods.audits.classifier import Estimator, Network

_PERTURBED = 65
_ONE_TARGET = NotApplicable(reason="one model was attacked")
_SHOKRI = "shokri"
_FEWEST_TURNS = 4
"""How many online shadows there are to be for each to be a target: its pair is left out."""


@dataclass(frozen=True, eq=False)
class Examined:
    """An audit's report, and what the attacks said of each record, which the report leaves out."""

    report: MembershipAudit
    scores: RecordScores


def audit(
    records: Records,
    learner: Learner,
    settings: Settings,
    *,
    architecture: Network | Estimator | str,
    **how: Any,
) -> MembershipAudit:
    """Return the report of `examine`, which takes the same arguments."""
    return examine(records, learner, settings, architecture=architecture, **how).report


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
    kept: Callable[[Chunk], None] = unheard,
) -> Examined:
    """Train a target and its shadows on parts of the records, and attack the target.

    With `members`, the target is trained on these rows and tested on others of `non_members`, and
    rows of one of the `groups` are one record (see `make_splits`); with `splits`, all models are
    trained and tested as these say. Who gives members or splits says how members were `drawn`;
    otherwise they were told, and no epsilon follows. What models say is kept in the folder `cache`,
    and not asked again; the target is written to the file `model`. A `sanitiser` makes of the rows
    that a model is to learn from what it does learn from; it is asked about the records as they
    are. Each chunk of models is told to `kept`.

    Nothing is trained before all has been checked: raises AuditError for attacks that the model
    does not support (A005), classes too small (A001), too little memory (A008), and whatever the
    learner finds wrong (A009, A013); DataError (C005) for slices by columns that are not there.
    """
    attacks = attacks_of_model(settings, learner.gives)
    is_told = not (members is None and non_members is None and splits is None)
    _check_slices(settings, records.columns)
    splits = splits or splits_of(records, attacks, settings, members, non_members, groups)
    learnt, shown = _domains(records, settings)
    workshop = ModelTrainer(
        learner, learnt, shown, ModelCache(cache), sanitiser, available, kept=kept
    )
    wanted = frozenset[str]().union(*(one.needs for one in attacks))
    further = settings.targets - 1
    gathered = gather(workshop, splits, settings.seed, further, model, progress, wanted)
    target, evidence = gathered.target, gathered.turn.evidence
    columns = {name: records.columns[name][splits.judged] for name in settings.slices}
    parts = parts_of(evidence.target, records.classes, columns)
    found = _attacked(attacks, evidence, splits.is_member, parts, settings, progress)
    on_others = [
        _attacked(attacks, turn.evidence, turn.is_member, (), settings, progress)
        for turn in gathered.further
    ]
    members_of_each = [turn.is_member for turn in (gathered.turn, *gathered.further)]
    upper = _upper(target, sanitiser)
    members_are = drawn or ("told" if is_told else "drawn")
    report = _whole(
        found,
        evidence,
        splits.is_member,
        upper,
        members_are,
        over_targets=_over_targets(attacks, gathered, [found, *on_others], splits),
        games=tuple(_games([found, *on_others], members_of_each, settings.seed)),
        conduct=_conduct(settings, learner.gives, found, evidence),
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
            *of_settings(settings, records, splits, learner),
            *of_data(records, splits),
            *(of_sides(records, splits) if members_are == "told" else ()),
            *(
                beyond_epsilon(records, is_secret=target.notes.get("secret", False))
                if isinstance(upper, EpsilonUpper)
                else []
            ),
        ),
    )
    return Examined(report, _scores(found, splits.judged, splits.is_member, settings.seed))


def splits_of(
    records: Records,
    attacks: Sequence[Attack],
    settings: Settings,
    members: NDArray[np.integer] | None = None,
    non_members: NDArray[np.integer] | None = None,
    groups: NDArray[np.int64] | None = None,
) -> Splits:
    """Return the rows of every model of an audit.

    Where an attack needs online shadows, these serve all the others too, and there are no
    disjoint ones. Errors as `make_splits`; (A007) for more targets than online shadows can stand
    in for, (A011) for several of them where it is told who the members are.
    """
    needed = frozenset[str]().union(*(one.needs for one in attacks))
    online = ONLINE_SHADOWS in needed
    if settings.targets > 1:
        _check_targets(settings, online=online, told=members is not None or non_members is not None)
    wanted = ModelCounts(
        disjoint=settings.shadows if SHADOWS in needed and not online else 0,
        online=settings.shadows if online else 0,
        seed=settings.seed,
        further=0 if online else settings.targets - 1,
    )
    return make_splits(records.labels, records.classes, wanted, members, non_members, groups)


def _check_targets(settings: Settings, *, online: bool, told: bool) -> None:
    problems = []
    if told:
        message = (
            "Several targets are trained on parts drawn by lot. It was told who the members are."
        )
        problems.append(Problem("A011", message, "Audit one target, or leave that out."))
    most = settings.shadows + 1 if settings.shadows >= _FEWEST_TURNS else 1
    if online and settings.targets > most:
        message = (
            f"Each online shadow model takes its turn as a target, the others being its shadows. "
            f"Given: {settings.targets} targets, {settings.shadows} shadow models."
        )
        needed = max(settings.targets - 1, _FEWEST_TURNS)
        problems.append(Problem("A007", message, f"There are to be {needed} or more of them."))
    if problems:
        raise AuditError(*problems)


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
) -> Examined:
    """Attack a model of which nothing is known but what it said of some records.

    With `evidence` the attacker also holds what other models say of these records. `doubts` are
    what is to be said of the records where more is known of them than what stands beside answers.
    Raises AuditError for attacks that need shadow models (A007) or more than was said (A005),
    DataError (C005) for slices by columns that are not there.
    """
    said = Observations(predictions.logits, predictions.labels, predictions.gives)
    evidence = evidence or Evidence(said, (), (), settings.seed, predictions.classes)
    attacks = attacks_of_predictions(settings, evidence.gives)
    _check_slices(settings, predictions.columns)
    columns = {name: predictions.columns[name] for name in settings.slices}
    parts = parts_of(said, predictions.classes, columns)
    found = _attacked(attacks, evidence, predictions.is_member, parts, settings, progress)
    upper = NotApplicable(reason="how the model was trained is not known")
    is_member = predictions.is_member
    report = _whole(
        found,
        evidence,
        is_member,
        upper,
        "told",
        over_targets=_ONE_TARGET,
        games=tuple(_games([found], [is_member], settings.seed)),
        conduct=_conduct(settings, evidence.gives, found, evidence, trains=False),
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
            MEMBERS_TOLD,
            *(doubts if doubts is not None else _beside(predictions)),
            *of_alone(one.notation for one in attacks),
            *of_few(int((~predictions.is_member).sum())),
        ),
    )
    rows = np.arange(len(is_member))
    return Examined(report, _scores(found, rows, is_member, settings.seed))


def _beside(predictions: Predictions) -> Iterator[str]:
    classes = LabelClasses(predictions.labels, predictions.classes)
    yield from of_answers(predictions.columns, classes, predictions.is_member)


@dataclass(frozen=True)
class _Found:
    """What all attacks reached, the scores that each of them gave, and which is the strongest."""

    results: tuple[AttackResult, ...]
    judgements: Mapping[str, Judgement]
    strongest: str
    strongest_by: StrengthMeasure


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


def _attacked(
    attacks: Sequence[Attack],
    evidence: Evidence,
    is_member: NDArray[np.bool_],
    parts: Sequence[RecordSlice],
    settings: Settings,
    progress: Progress,
) -> _Found:
    results, judgements = [], {}
    for done, attack in enumerate(attacks):
        progress("attacks", done, len(attacks))
        judgement = attack.judge(evidence)
        judgements[attack.notation] = judgement
        results.append(attack_result(attack, judgement, evidence, is_member, parts, settings.fprs))
    progress("attacks", len(attacks), len(attacks))
    best = strongest(results, settings.strongest_by)
    return _Found(tuple(results), judgements, best.attack, settings.strongest_by)


def _over_targets(
    attacks: Sequence[Attack],
    gathered: Gathered,
    found: Sequence[_Found],
    splits: Splits,
) -> OverTargets | NotApplicable:
    """Return what the attacks reach on all targets, each in its turn."""
    if not gathered.further:
        return _ONE_TARGET
    turns = (gathered.turn, *gathered.further)
    sides = [(one.evidence.target.is_right, one.is_member) for one in turns]
    return OverTargets(
        targets=len(turns),
        trained_for_it=len(splits.further_train),
        train=spread_of([float(right[inside].mean()) for right, inside in sides]),
        test=spread_of([float(right[~inside].mean()) for right, inside in sides]),
        attacks=tuple(
            attack_over_targets(one.notation, [of.results[n].figures for of in found])
            for n, one in enumerate(attacks)
        ),
    )


def _conduct(
    settings: Settings, gives: Terms, found: _Found, evidence: Evidence, *, trains: bool = True
) -> Conduct:
    run = tuple(found.judgements)
    return Conduct(
        requested=settings.attacks,
        skipped=tuple(skipped_attacks(run, gives, trains=trains)),
        shadows=settings.shadows,
        out_models=out_models(evidence),
        targets=settings.targets if trains else 1,
        slices=settings.slices,
        fprs=settings.fprs,
        local_epsilon=settings.local_epsilon,
        attack_domain=settings.attack_domain,
        thresholds=tuple(thresholds(found.judgements, evidence)),
    )


def _scores(
    found: _Found, rows: NDArray[np.int64], is_member: NDArray[np.bool_], seed: int
) -> RecordScores:
    return RecordScores(
        rows=rows,
        is_member=is_member,
        scores={name: one.scores for name, one in found.judgements.items()},
        called={
            name: called_members(one, is_member, seed) for name, one in found.judgements.items()
        },
        exposed_by=found.strongest,
    )


def _whole(
    found: _Found,
    evidence: Evidence,
    is_member: NDArray[np.bool_],
    upper: EpsilonUpper | NotApplicable,
    drawn: MembersAre,
    **about: Any,
) -> MembershipAudit:
    """Return the audit of what was found; `about` are the fields known before."""
    right, by = evidence.target.is_right, str(found.strongest_by)
    lower = _lower(found, evidence, is_member, upper, drawn)
    structure = structure_of(evidence.target, is_member, about["architecture"], about["features"])
    about["warnings"] = (*about["warnings"], *said_of(structure))
    return MembershipAudit(
        **about,
        structure=structure,
        target_train=_side(right[is_member]),
        target_test=_side(right[~is_member]),
        attacks=found.results,
        baseline=BASELINE,
        strongest=found.strongest,
        strongest_by=by,
        epsilon_upper=upper,
        epsilon_lower=lower,
        verdict=verdict(
            found.results,
            baseline=BASELINE,
            strongest=found.strongest,
            measure=by,
            epsilon_upper=upper,
            epsilon_lower=lower,
        ),
        versions=versions(),
    )


def _side(right: NDArray[np.bool_]) -> AuditSide:
    return AuditSide(records=len(right), accuracy=float(right.mean()))


def _games(
    found: Sequence[_Found], members: Sequence[NDArray[np.bool_]], seed: int
) -> Iterator[SingleAndSet]:
    """Yield both games of the strongest attack and of Shokri's, over all targets."""
    for name in dict.fromkeys((found[0].strongest, _SHOKRI)):
        judged = [one.judgements[name] for one in found if name in one.judgements]
        if judged and not any(one.dead for one in judged):
            scores = [one.scores for one in judged]
            yield play(name, list(zip(scores, members, strict=True)), seed)


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


def _lower(
    found: _Found,
    evidence: Evidence,
    is_member: NDArray[np.bool_],
    upper: EpsilonUpper | NotApplicable,
    drawn: MembersAre,
) -> EpsilonLower | NotApplicable:
    """Return what the best attack with confidences proves, at the accountant's delta."""
    able = [one.attack for one in found.results if one.ranks and not one.degenerate]
    labels = evidence.target.labels
    if not able:
        return NotApplicable(reason="no attack ranks the records by confidence")
    if pairs_of(is_member, labels) < FEWEST_PAIRS:
        return NotApplicable(reason="there are too few members and others of the same class")
    delta = usual_delta(int(is_member.sum()))
    if isinstance(upper, EpsilonUpper):
        delta = upper.substitution_delta
    scores = {name: found.judgements[name].scores for name in able}
    return epsilon_lower(scores, is_member, labels, delta, members=drawn, seed=evidence.seed)
