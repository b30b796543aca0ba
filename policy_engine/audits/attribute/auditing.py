"""An audit of a secret from end to end: split, train, attack, measure and report."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from policy_engine.audits.attribute.asking import FittedTargetModel, SecretMaterial, TrainedTarget
from policy_engine.audits.attribute.attacking import (
    SecretAttacks,
    SecretSides,
    attack_model,
    check_attackable,
)
from policy_engine.audits.attribute.evidence import Codes
from policy_engine.audits.attribute.result import AttributeAudit, SecretOverTargets, SecretShare
from policy_engine.audits.attribute.secret import Secret, read_secret
from policy_engine.audits.attribute.settings import SecretSettings
from policy_engine.audits.attribute.wording import attribute_verdict, strongest_of
from policy_engine.audits.membership.caveats import MEMBERS_GIVEN
from policy_engine.audits.membership.conduct import versions
from policy_engine.audits.membership.fitted.answers import ask_model, class_numbers
from policy_engine.audits.membership.fitted.questions import Questions, read_questions
from policy_engine.audits.membership.fitted.target import FittedModel, align, open_target
from policy_engine.audits.membership.learners import Learner
from policy_engine.audits.membership.membership_labels import parse_truths
from policy_engine.audits.membership.memory import check_memory
from policy_engine.audits.membership.observations import Bools
from policy_engine.audits.membership.over_targets import spread_of
from policy_engine.audits.membership.records import FittedFeatures, Records, digest_of
from policy_engine.audits.membership.result import FittedTarget
from policy_engine.audits.membership.shadows import TARGET, seed_of
from policy_engine.audits.membership.splits import ModelCounts, make_splits
from policy_engine.data.available_memory import available_memory
from policy_engine.engines.engine import Progress, silent
from policy_engine.engines.reading_back import index_texts
from policy_engine.errors import AuditError, did_you_mean, join_names
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods.audits.classifier import Estimator, Network

_TARGETS = 91
_FITTED = 93


@dataclass(frozen=True)
class AuditedColumns:
    """Which columns of a table are its label, its secret, and who says who is a member.

    Without a label it is the last one; without members these are drawn.
    """

    label: str
    secret: str
    members: str = ""

    def of(self, table: pa.Table) -> "AuditedColumns":
        """Return them with the label of a table."""
        names = [one for one in table.column_names if one != self.members]
        return AuditedColumns(self.label or (names or [""])[-1], self.secret, self.members)


def audit_trained(
    table: pa.Table,
    columns: AuditedColumns,
    learner: Learner,
    settings: SecretSettings,
    *,
    architecture: Network | Estimator | str,
    name: str,
    progress: Progress = silent,
) -> AttributeAudit:
    """Train models on parts of a table, and attack the secrets of those that they learnt from.

    The split of the first is that of `audit_membership` with the same seed. Everything is checked
    before anything is trained: raises AuditError for secrets that cannot be attacked (A035), labels
    (A002), features (A003), classes (A001), members (A011), memory (A008), and whatever the learner
    finds wrong (A009, A013).
    """
    columns = columns.of(table)
    table, is_member = _members_apart(table, columns.members)
    fitted = FittedFeatures.of(table, columns.label)
    records = fitted.records(table, name)
    secret = read_secret(table, columns.secret, columns.label, settings.bins)
    features = table.drop_columns([columns.label])
    material = SecretMaterial.of(features, records.labels, records.classes, secret)
    if is_member is not None and settings.targets > 1:
        message = "Several targets are trained on parts drawn at random. The members were given."
        raise AuditError.of("A011", message, "Audit one target, or leave that out.")
    seeds = [_target_seed(settings.seed, number) for number in range(settings.targets)]
    sides = [_sides(records, is_member, seed) for seed in seeds]
    for one, seed in zip(sides, seeds, strict=True):
        check_attackable(material, one, seed)
    needed = learner.memory(records, max(len(one.members) for one in sides), 1)
    check_memory(needed, available_memory(), "Use fewer records, or a smaller model.")
    attacked, warnings = [], dict.fromkeys(records.warnings)
    for one, seed in zip(sides, seeds, strict=True):
        trained = learner.train(records, [one.members], [seed_of(seed, TARGET)], progress)
        warnings |= dict.fromkeys(getattr(trained, "warnings", ()))
        model = TrainedTarget(trained, learner.gives, fitted.encoding.apply)
        attacked.append(attack_model(material, one, model, settings.requested, seed, progress))
    return _report(
        attacked,
        material,
        settings,
        data=name,
        data_digest=records.digest,
        label=columns.label,
        architecture=architecture,
        fitted=NotApplicable(reason="the model was trained for the audit"),
        splits_digest=digest_of(*(rows for one in sides for rows in (one.members, one.others))),
        warnings=(*warnings, *([MEMBERS_GIVEN] if is_member is not None else [])),
    )


def audit_fitted_secrets(
    data: Any,
    columns: AuditedColumns,
    fitted: FittedModel,
    settings: SecretSettings,
    progress: Progress = silent,
) -> AttributeAudit:
    """Attack the secrets of records that a fitted model was trained on, as `members` says.

    Half of the others are attacked, as many as members at most, and an imputation learns from the
    rest. Raises AuditError as `audit_trained`, and for what is wrong with the model (A014 and
    others) or its answers (A004).
    """
    questions = read_questions(data, columns.label, columns.members, fitted.features)
    table = _table_of(questions)
    secret = read_secret(table, columns.secret, columns.label, settings.bins)
    if settings.targets > 1:
        message = f"A fitted model is one target. Given: {settings.targets} targets."
        raise AuditError.of("A014", message)
    sides = _fitted_sides(questions.is_member, settings.seed)
    with open_target(fitted) as (target, described):

        def select(some: pa.Table) -> Any:
            return align(some, target.description)

        first = ask_model(
            target.ask, target.description, select(table), questions.labels, fitted.reading
        )
        if secret.name not in (target.description.features or table.column_names):
            message = f"{secret.name!r} is not a feature of the model, which takes "
            message += f"{join_names(target.description.features)}."
            raise AuditError.of("A035", message, "Name one of the model's features.")
        labels = class_numbers(questions.labels, first.classes)
        material = SecretMaterial.of(table, labels, first.classes, secret)
        check_attackable(material, sides, settings.seed)
        model = FittedTargetModel(target, first.gives, questions.labels, fitted.reading, select)
        attacked = attack_model(material, sides, model, settings.requested, settings.seed, progress)
        notes = target.description.notes
    described = described.model_copy(update={"gives": tuple(sorted(first.gives))})
    return _report(
        [attacked],
        material,
        settings,
        data=questions.name,
        data_digest=questions.digest,
        label=columns.label,
        architecture=described.text,
        fitted=described,
        splits_digest=digest_of(sides.members, sides.others),
        warnings=(*notes, MEMBERS_GIVEN),
    )


def _table_of(questions: Questions) -> pa.Table:
    if isinstance(questions.features, pa.Table):
        return questions.features
    message = "The records are arrays, whose features have no names."
    raise AuditError.of("A035", message, "Give a table (CSV, Parquet), whose columns are named.")


def _members_apart(table: pa.Table, members: str) -> tuple[pa.Table, Bools | None]:
    """Return a table without the column that says who is a member, and who is."""
    if not members:
        return table, None
    if members not in table.column_names:
        message = f"There is no {members!r} to say who is a member."
        raise AuditError.of("A011", message, did_you_mean(members, table.column_names))
    rows, texts = index_texts(members, table.column(members))
    is_member = parse_truths([texts[row] or "" for row in rows.tolist()], repr(members))
    return table.drop_columns([members]), is_member


def _target_seed(seed: int, number: int) -> int:
    """Return the seed of a target: that of the audit for the first."""
    return seed if number == 0 else seed_of(seed, _TARGETS, number)


def _sides(records: Records, is_member: Bools | None, seed: int) -> SecretSides:
    """Return the split of an audit of membership, and the records that it has left."""
    members, others = (
        (None, None)
        if is_member is None
        else (np.flatnonzero(is_member), np.flatnonzero(~is_member))
    )
    counts = ModelCounts(seed=seed)
    splits = make_splits(records.labels, records.classes, counts, members, others)
    rest = np.setdiff1d(np.arange(len(records)), splits.audited)
    if is_member is not None:
        rest = rest[~is_member[rest]]
    return SecretSides(splits.target_train, splits.target_test, rest)


def _fitted_sides(is_member: Bools, seed: int) -> SecretSides:
    random = np.random.default_rng([seed, _FITTED])
    others = random.permutation(np.flatnonzero(~is_member))
    members = np.flatnonzero(is_member)
    size = min(len(members), len(others) // 2)
    return SecretSides(members, np.sort(others[:size]), np.sort(others[size:]))


def _report(
    attacked: Sequence[SecretAttacks],
    material: SecretMaterial,
    settings: SecretSettings,
    *,
    data: str,
    data_digest: str,
    label: str,
    architecture: Network | Estimator | str,
    fitted: FittedTarget | NotApplicable,
    splits_digest: str,
    warnings: tuple[str, ...],
) -> AttributeAudit:
    first, secret = attacked[0], material.secret
    if not first.attacks:
        reasons = join_names(dict.fromkeys(one.reason for one in first.not_run))
        raise AuditError.of("A005", f"None of the attacks can be made: {reasons}.")
    shares = tuple(_shares(secret))
    advantage, excess, words = attribute_verdict(secret.name, first.attacks, shares)
    return AttributeAudit(
        data=data,
        data_digest=data_digest,
        records=len(material.labels),
        label=label,
        classes=material.classes,
        secret=secret.name,
        says=secret.says,
        values=shares,
        architecture=architecture,
        fitted=fitted,
        train=first.train,
        test=first.test,
        known_records=first.known_records,
        imputed_from=first.imputed_from,
        imputations=first.imputations,
        attacks=first.attacks,
        not_run=first.not_run,
        strongest=strongest_of(first.attacks),
        shows_advantage=advantage,
        shows_excess=excess,
        over_targets=_over_targets(attacked),
        seed=settings.seed,
        splits_digest=splits_digest,
        verdict=words,
        warnings=warnings,
        versions=versions(),
    )


def _shares(secret: Secret) -> Iterator[SecretShare]:
    counts: Codes = np.bincount(secret.codes, minlength=len(secret.values)).astype(np.int64)
    for value, count in zip(secret.values, counts.tolist(), strict=True):
        yield SecretShare(value=value, share=count / len(secret.codes))


def _over_targets(
    attacked: Sequence[SecretAttacks],
) -> tuple[SecretOverTargets, ...] | NotApplicable:
    if len(attacked) < 2:
        return NotApplicable(reason="one model was attacked")
    return tuple(
        SecretOverTargets(
            attack=one.attack,
            advantage=_spread(attacked, place, lambda each: each.members.advantage.value),
            others_advantage=_spread(attacked, place, lambda each: each.others.advantage.value),
            excess=_spread(attacked, place, lambda each: each.excess.value),
        )
        for place, one in enumerate(attacked[0].attacks)
    )


def _spread(attacked: Sequence[SecretAttacks], place: int, figure: Callable[[Any], float]) -> Any:
    return spread_of([figure(one.attacks[place]) for one in attacked])
