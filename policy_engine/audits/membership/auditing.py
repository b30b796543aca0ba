"""An audit from end to end: split, train, attack, count, and say what was found."""

import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.architecture import Estimator, Network
from policy_engine.audits.membership.attacks import Attack, Judgement
from policy_engine.audits.membership.cache import ModelCache, Said
from policy_engine.audits.membership.caveats import (
    MEMBERS_TOLD,
    beyond_epsilon,
    of_few,
    of_settings,
)
from policy_engine.audits.membership.games import play
from policy_engine.audits.membership.learners.learner import Learner
from policy_engine.audits.membership.measuring import attack_result
from policy_engine.audits.membership.memory import available_memory
from policy_engine.audits.membership.observations import (
    ONLINE_SHADOWS,
    SHADOWS,
    Evidence,
    Observations,
    Peers,
    Shadow,
)
from policy_engine.audits.membership.predictions import Predictions
from policy_engine.audits.membership.records import Records, digest_of
from policy_engine.audits.membership.result import (
    AttackResult,
    EpsilonLower,
    EpsilonUpper,
    MembersAre,
    MembershipAudit,
    Side,
    SingleAndSet,
)
from policy_engine.audits.membership.settings import (
    BASELINE,
    Settings,
    attacks_of_model,
    attacks_of_predictions,
)
from policy_engine.audits.membership.shadows import (
    ONLINE,
    SHADOW,
    TARGET,
    Job,
    Sanitiser,
    Workshop,
    seed_of,
)
from policy_engine.audits.membership.slices import Part, parts_of
from policy_engine.audits.membership.splits import Rows, Splits, Wanted, make_splits
from policy_engine.audits.membership.verdict import verdict
from policy_engine.audits.privacy.empirical import (
    FEWEST_PAIRS,
    epsilon_lower,
    pairs_of,
    usual_delta,
)
from policy_engine.audits.privacy.randomized_response import perturb
from policy_engine.engines.engine import Progress, silent
from policy_engine.errors import DataError, Problem, did_you_mean
from policy_engine.estimates import NotApplicable
from policy_engine.versions import version_of

_PERTURBED = 65
_COMPARED = 8
"""How many shadows are compared with the others, as if each were the target."""
_SHOKRI = "shokri"
_PACKAGES = (
    *("policy-engine", "numpy", "scipy", "scikit-learn"),
    *("tensorflow", "tensorflow-cpu", "keras"),
)


def audit(
    records: Records,
    learner: Learner,
    settings: Settings,
    *,
    architecture: Network | Estimator | str,
    members: NDArray[np.integer] | None = None,
    non_members: NDArray[np.integer] | None = None,
    splits: Splits | None = None,
    drawn: MembersAre | None = None,
    cache: Path | None = None,
    model: Path | None = None,
    sanitiser: Sanitiser | None = None,
    progress: Progress = silent,
    available: Callable[[], int] = available_memory,
) -> MembershipAudit:
    """Train a target and its shadows on parts of the records, and attack the target.

    With `members`, the target is trained on these rows and tested on others of `non_members`
    (see `make_splits`); with `splits`, all models are trained and tested as these say. Who gives
    either says how members were `drawn`; otherwise they were told, and no epsilon follows. What
    models say is kept in the folder `cache`, and not asked again; the target is written to the
    file `model`. A `sanitiser` makes of the rows that a model is to learn from what it does learn
    from; it is asked about the records as they are.

    Nothing is trained before all has been checked: raises AuditError for attacks that the model
    does not bear (A005), classes too small (A001), too little memory (A008), and whatever the
    learner finds wrong (A009, A013); DataError (C005) for slices by columns that are not there.
    """
    attacks = attacks_of_model(settings, learner.gives)
    is_told = not (members is None and non_members is None and splits is None)
    _check_slices(settings, records.columns)
    splits = splits or splits_of(records, attacks, settings, members, non_members)
    learnt, shown = _domains(records, settings)
    workshop = Workshop(learner, learnt, shown, ModelCache(cache), sanitiser, available)
    target, evidence = _evidence(workshop, splits, settings.seed, model, progress)
    columns = {name: records.columns[name][splits.judged] for name in settings.slices}
    parts = parts_of(evidence.target, records.classes, columns)
    found = _attacked(attacks, evidence, splits.is_member, parts, settings.fprs, progress)
    upper = _upper(target, sanitiser)
    return _whole(
        found,
        evidence,
        splits.is_member,
        upper,
        drawn or ("told" if is_told else "drawn"),
        data=records.name,
        data_digest=records.digest,
        records=len(records),
        classes=records.classes,
        features=records.features.shape[1],
        encoding=records.encoding,
        architecture=architecture,
        shadow_models=len(splits.shadow_train) + len(splits.online_train),
        seed=settings.seed,
        splits_digest=splits.digest,
        warnings=(
            *records.warnings,
            *target.notes.get("warnings", ()),
            *of_settings(settings, records, splits, learner),
            *(beyond_epsilon(records) if isinstance(upper, EpsilonUpper) else []),
        ),
    )


def splits_of(
    records: Records,
    attacks: Sequence[Attack],
    settings: Settings,
    members: NDArray[np.integer] | None = None,
    non_members: NDArray[np.integer] | None = None,
) -> Splits:
    """Return the rows of every model of an audit; errors as `make_splits`."""
    needed = frozenset[str]().union(*(one.needs for one in attacks))
    wanted = Wanted(
        disjoint=settings.shadows if SHADOWS in needed else 0,
        online=settings.shadows if ONLINE_SHADOWS in needed else 0,
        seed=settings.seed,
    )
    return make_splits(records.labels, records.classes, wanted, members, non_members)


def audit_predictions(
    predictions: Predictions, settings: Settings, progress: Progress = silent
) -> MembershipAudit:
    """Attack a model of which nothing is known but what it said of some records.

    Raises AuditError for attacks that need shadow models (A007) or more than was said (A005),
    DataError (C005) for slices by columns that are not there.
    """
    attacks = attacks_of_predictions(settings, predictions.gives)
    _check_slices(settings, predictions.columns)
    said = Observations(predictions.logits, predictions.labels, predictions.gives)
    evidence = Evidence(said, (), (), settings.seed)
    columns = {name: predictions.columns[name] for name in settings.slices}
    parts = parts_of(said, predictions.classes, columns)
    found = _attacked(attacks, evidence, predictions.is_member, parts, settings.fprs, progress)
    upper = NotApplicable(reason="how the model was trained is not known")
    return _whole(
        found,
        evidence,
        predictions.is_member,
        upper,
        "told",
        data=predictions.name,
        data_digest=predictions.digest,
        records=len(predictions.labels),
        classes=predictions.classes,
        features=0,
        encoding=(),
        architecture="a model known by its predictions alone",
        shadow_models=0,
        seed=settings.seed,
        splits_digest=digest_of(predictions.is_member),
        warnings=(
            *predictions.warnings,
            MEMBERS_TOLD,
            *of_few(int((~predictions.is_member).sum())),
        ),
    )


@dataclass(frozen=True)
class _Found:
    """What all attacks reached, and the scores that each of them gave."""

    results: tuple[AttackResult, ...]
    judgements: Mapping[str, Judgement]

    @property
    def strongest(self) -> AttackResult:
        """The attack with the highest accuracy; of equals one other than the baseline."""
        return max(
            self.results, key=lambda one: (one.figures.accuracy.value, one.attack != BASELINE)
        )


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
    features = perturb(records.features, records.encoding, settings.local_epsilon, random)
    perturbed = records.with_features(features)
    return perturbed, features if settings.attack_domain == "perturbed" else records.features


def _evidence(
    workshop: Workshop, splits: Splits, seed: int, model: Path | None, progress: Progress
) -> tuple[Said, Evidence]:
    """Train all models, and return what the target said and all that the attacker holds."""
    judged = splits.judged
    asked = np.unique(np.concatenate([judged, *splits.shadow_train, *splits.shadow_test]))
    jobs = [
        Job(splits.target_train, judged, seed_of(seed, TARGET)),
        *(Job(r, asked, seed_of(seed, SHADOW, n)) for n, r in enumerate(splits.shadow_train)),
        *(Job(r, judged, seed_of(seed, ONLINE, n)) for n, r in enumerate(splits.online_train)),
    ]
    workshop.check(jobs)
    target, *others = workshop.run(jobs, "models", progress, model)
    labels, gives = workshop.records.labels, workshop.learner.gives
    shadows, online = others[: len(splits.shadow_train)], others[len(splits.shadow_train) :]
    return target, Evidence(
        target=Observations(target.logits, labels[judged], gives),
        shadows=_shadows(shadows, asked, splits, labels),
        online=tuple(
            (Observations(said.logits, labels[judged], gives), np.isin(judged, rows))
            for said, rows in zip(online, splits.online_train, strict=True)
        ),
        seed=seed,
        names=workshop.records.classes,
    )


def _shadows(
    said: Sequence[Said], asked: Rows, splits: Splits, labels: NDArray[np.int64]
) -> tuple[Shadow, ...]:
    """Return the disjoint shadows; the first of them also with what the others say."""
    if not said:
        return ()
    every = [Observations(one.logits, labels[asked]) for one in said]
    trained = [np.isin(asked, rows) for rows in splits.shadow_train]
    at = np.searchsorted(asked, splits.judged)
    found = []
    for number, sides in enumerate(zip(splits.shadow_train, splits.shadow_test, strict=True)):
        own = np.searchsorted(asked, np.concatenate(sides))
        others = [n for n in range(len(said)) if n != number]
        peers = Peers(
            np.stack([every[n].signal[own] for n in others]),
            np.stack([trained[n][own] for n in others]),
        )
        found.append(
            Shadow(
                own=Observations(said[number].logits[own], labels[asked[own]]),
                is_member=trained[number][own],
                judged=Observations(said[number].logits[at], labels[splits.judged]),
                peers=peers if number < _COMPARED else None,
            )
        )
    return tuple(found)


def _attacked(
    attacks: Sequence[Attack],
    evidence: Evidence,
    is_member: NDArray[np.bool_],
    parts: Sequence[Part],
    fprs: Sequence[float],
    progress: Progress,
) -> _Found:
    results, judgements = [], {}
    for done, attack in enumerate(attacks):
        progress("attacks", done, len(attacks))
        judgement = attack.judge(evidence)
        judgements[attack.notation] = judgement
        results.append(attack_result(attack, judgement, evidence, is_member, parts, fprs))
    progress("attacks", len(attacks), len(attacks))
    return _Found(tuple(results), judgements)


def _whole(
    found: _Found,
    evidence: Evidence,
    is_member: NDArray[np.bool_],
    upper: EpsilonUpper | NotApplicable,
    drawn: MembersAre,
    **about: Any,
) -> MembershipAudit:
    """Return the audit of what was found; `about` are the fields known before."""
    strongest, right = found.strongest.attack, evidence.target.is_right
    lower = _lower(found, evidence, is_member, upper, drawn)
    return MembershipAudit(
        **about,
        target_train=_side(right[is_member]),
        target_test=_side(right[~is_member]),
        attacks=found.results,
        games=tuple(_games(found, is_member, evidence.seed)),
        baseline=BASELINE,
        strongest=strongest,
        epsilon_upper=upper,
        epsilon_lower=lower,
        verdict=verdict(
            found.results,
            baseline=BASELINE,
            strongest=strongest,
            epsilon_upper=upper,
            epsilon_lower=lower,
        ),
        versions=dict(_versions()),
    )


def _side(right: NDArray[np.bool_]) -> Side:
    return Side(records=len(right), accuracy=float(right.mean()))


def _games(found: _Found, is_member: NDArray[np.bool_], seed: int) -> Iterator[SingleAndSet]:
    """Yield both games of the strongest attack and of Shokri's."""
    for name in dict.fromkeys((found.strongest.attack, _SHOKRI)):
        if name in found.judgements:
            yield play(name, found.judgements[name].scores, is_member, seed)


def _upper(target: Said, sanitiser: Sanitiser | None) -> EpsilonUpper | NotApplicable:
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
    able = [one.attack for one in found.results if one.ranks]
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


def _versions() -> Iterator[tuple[str, str]]:
    yield "python", platform.python_version()
    for name in _PACKAGES:
        found = version_of(name)
        if found != "not installed":
            yield name, found
