"""Estimates the cost of a plan's audits by training one model on a few records."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from policy_engine import terms
from policy_engine.audits.membership.observations import ONLINE_SHADOWS, SHADOWS
from policy_engine.engines.engine import Engine
from policy_engine.plan.plan import Plan
from policy_engine.plan.steps import AuditStep
from policy_engine.release.training_table import TrainingTable, group_audits


class Cost(BaseModel):
    """The estimated cost of a plan's audits on this machine, in CPU seconds.

    It is extrapolated from one model of a few `records` to the full number; `models` is the total
    number of models to train.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    models: int
    records: int
    calibrated_on: int
    cpu_seconds: float


def estimate(plan: Plan, engine: Engine, table: pa.Table) -> Cost:
    """Return what the audits of a plan would cost, from training one model on a few records."""
    modelling = plan.train or plan.audits[0].modelling
    training_table = TrainingTable(plan, modelling, engine, table, 0)
    sample = training_table.members[
        np.linspace(0, len(training_table.members) - 1, _CALIBRATED).astype(int)
    ]
    sample = np.unique(sample)
    models = sum(_model_count(steps) for steps in group_audits(plan.audits)) or 1
    seconds, epochs = training_table.seconds(sample)
    per_record = seconds / len(sample) / epochs
    seconds_in_all = per_record * len(training_table.members) * training_table.epochs * models
    return Cost(
        models=models,
        records=len(training_table.members),
        calibrated_on=len(sample),
        cpu_seconds=round(seconds_in_all, 2),
    )


_CALIBRATED = 400


def _model_count(steps: Sequence[AuditStep]) -> int:
    """Return how many models the audits of one model train: the target, and the shadows."""
    attacks = {name for step in steps for name in step.method.attacks_run}
    models_needed = {term for name in attacks for term in terms.attacks()[name].texts("needs")}
    shadows = max(step.method.shadow_models for step in steps)
    if ONLINE_SHADOWS in models_needed:  # shadows come in pairs, and the other attacks use them too
        return 1 + shadows + shadows % 2
    return 1 + (shadows if SHADOWS in models_needed else 0)
