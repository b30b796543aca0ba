"""A plan's model: sanitises a share of the records, trains on it, and attacks the result."""

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from policy_engine.audits.membership.learners import Trained
from policy_engine.audits.membership.records import FittedFeatures
from policy_engine.audits.membership.released.files import PICKLE, need_skops
from policy_engine.audits.membership.releases import (
    describe_features,
)
from policy_engine.audits.membership.result import MembershipAudit
from policy_engine.engines.engine import Engine, Progress, WrittenTable, silent
from policy_engine.errors import OutputError
from policy_engine.methods.audits.classifier import Estimator, Network
from policy_engine.methods.audits.membership_inference import AttackMeasurement
from policy_engine.methods.model_secrets import SecretMeasurement
from policy_engine.plan.plan import Plan
from policy_engine.plan.training import FilesMeasured, Modelling
from policy_engine.release.attack_measurements import attempted_model, check_showable, measurements
from policy_engine.release.attempts import AttemptedRelease, AttemptHistory, JudgedAttempts
from policy_engine.release.model_secrets import SecretsOfModel, pooled_secrets
from policy_engine.release.training_table import TrainingTable, group_audits

_SECRET_BITS = 128
"""With fewer bits, all seeds could be tried; members and noise follow from the seed."""


@dataclass(frozen=True, eq=False)
class AuditedModel:
    """A model with its training table, audits and bounds.

    `held_out` rows were kept for the audit; `suppressed` and
    `suppressed_cells` are those of the table. `judged_attempts`
    are the attack figures for every bound, judged with earlier attempts; `secret_attacks` those of
    attacks on columns.
    """

    sanitised: WrittenTable
    held_out: int
    suppressed: int
    suppressed_cells: Mapping[str, int]
    judged_attempts: JudgedAttempts[AttackMeasurement]
    reports: tuple[MembershipAudit, ...]
    files: FilesMeasured
    secret_attacks: tuple[SecretMeasurement, ...] = ()


def release_model(
    plan: Plan,
    engine: Engine,
    table: pa.Table,
    folder: Path,
    *,
    seed: int | None = None,
    progress: Progress = silent,
    history: AttemptHistory | None = None,
    repeats: bool = False,
    allow_pickle: bool = False,
) -> AuditedModel:
    """Train the model of a plan, write it into a new folder, and audit it.

    Without a seed, a secret one is drawn: the noise of differentially private training hides
    nothing from somebody who knows its seed. The `history` keeps the attempt; a refused one is
    repeated only if `repeats` asks for it. With `allow_pickle` an estimator is written by joblib,
    with a warning beside it, else by skops. Raises AuditError if there are too few records for the
    audit, DataError if there are too few for the anonymisation, OutputError if the folder cannot be
    written.
    """
    assert plan.train is not None  # noqa: S101 (the caller asks it)
    suffix = _file_ending(plan.train.architecture, allow_pickle=allow_pickle)
    folder.mkdir(0o700)
    training_table = TrainingTable(plan, plan.train, engine, table, _given_or_drawn_seed(seed))
    attempt = attempted_model(plan, table, training_table.seed, repeats=repeats)
    share, members = plan.train.share, len(training_table.members)
    secrets_of_model = SecretsOfModel(training_table, plan)

    def check(number: int) -> None:
        check_showable(plan.audits, members, share, number)
        training_table.check_sides(plan.audits)
        secrets_of_model.check()

    _begin_attempt(attempt, history, check)
    sanitised, saved_models = training_table.sanitised, list[Trained]()
    file, on_saved = folder / f"model{suffix}", saved_models.append
    reports = (training_table.audit(plan.audits, file, progress, on_saved),)
    secret_attacks = secrets_of_model.measure(saved_models, progress)
    judged = _judge(attempt, tuple(measurements(plan.audits, reports[0])), history)
    _write_descriptions(folder, training_table.fitted, plan.train)
    files = training_table.files(folder, allow_pickle=suffix == PICKLE)
    return AuditedModel(
        sanitised=sanitised,
        held_out=table.num_rows - len(training_table.members),
        suppressed=sanitised.anonymized.suppressed if sanitised.anonymized else 0,
        suppressed_cells=sanitised.anonymized.suppressed_cells if sanitised.anonymized else {},
        judged_attempts=judged,
        reports=reports,
        files=files,
        secret_attacks=tuple(pooled_secrets(secret_attacks, judged.number)),
    )


def audit_table(
    plan: Plan,
    engine: Engine,
    table: pa.Table,
    *,
    seed: int | None = None,
    progress: Progress = silent,
    history: AttemptHistory | None = None,
    repeats: bool = False,
) -> tuple[JudgedAttempts[AttackMeasurement], tuple[MembershipAudit, ...]]:
    """Audit what models of a plan's table would reveal.

    The plan's sanitisation is repeated on a share of the records, a model is trained on the result,
    and attacked with the original records. Returns the measurement of every bound, and the reports,
    one for each way of training that the duties name. History and errors are as for
    `release_model`.
    """
    attacks: list[AttackMeasurement] = []
    reports = []
    attempt = attempted_model(plan, table, _given_or_drawn_seed(seed), repeats=repeats)
    modellings = [(steps, steps[0].modelling) for steps in group_audits(plan.audits)]
    training_tables = [
        (steps, TrainingTable(plan, modelling, engine, table, attempt.seed))
        for steps, modelling in modellings
    ]

    def check(number: int) -> None:
        for steps, training_table in training_tables:
            check_showable(
                steps, len(training_table.members), training_table.modelling.share, number
            )
            training_table.check_sides(steps)

    _begin_attempt(attempt, history, check)
    for steps, training_table in training_tables:
        report = training_table.audit(steps, None, progress)
        reports.append(report)
        attacks += measurements(steps, report)
    return _judge(attempt, tuple(attacks), history), tuple(reports)


def _begin_attempt(
    attempt: AttemptedRelease, history: AttemptHistory | None, check: Callable[[int], None]
) -> None:
    """Begin an attempt that can show its bounds; raises what `check` raises for its number."""
    if history and attempt.audits:
        history.begin(attempt, check)
    else:
        check(1)


def _judge(
    attempt: AttemptedRelease,
    attacks: tuple[AttackMeasurement, ...],
    history: AttemptHistory | None,
) -> JudgedAttempts[AttackMeasurement]:
    return history.judge(attempt, attacks) if history and attacks else JudgedAttempts(attacks, ())


def _file_ending(architecture: Network | Estimator, *, allow_pickle: bool) -> str:
    """Return the suffix of a model's file. Raises DataError (C011) if its library is missing."""
    if isinstance(architecture, Network):
        return ".keras"
    if allow_pickle:
        return PICKLE
    need_skops()
    return ".skops"


def _given_or_drawn_seed(seed: int | None) -> int:
    return secrets.randbits(_SECRET_BITS) if seed is None else seed


def _write_descriptions(folder: Path, fitted: FittedFeatures, modelling: Modelling) -> None:
    """Write a description beside a model: what it is, and how its features are made."""
    architecture: Network | Estimator = modelling.architecture
    files = {
        "encoding.json": describe_features(fitted),
        "architecture.json": architecture.model_dump(mode="json"),
    }
    for name, value in files.items():
        try:
            (folder / name).write_text(
                json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
            )
        except OSError as error:
            message = f"The model cannot be written: {error.strerror or error}."
            raise OutputError.of("O002", message, source=str(folder)) from None
