"""What a plan bounds of the columns of its model: the attacks on them, and what they reach."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from policy_engine.audits.attribute.asking import SecretMaterial, TrainedTarget
from policy_engine.audits.attribute.attacking import SecretSides
from policy_engine.audits.attribute.bounded import check_secrets_showable, measure_secrets
from policy_engine.audits.attribute.secret import read_secret
from policy_engine.audits.membership.learners import Trained
from policy_engine.audits.membership.splits import ModelCounts, make_splits
from policy_engine.engines.engine import Progress
from policy_engine.kernels.estimates import Estimate
from policy_engine.methods.model_secrets import ModelSecrets, SecretMeasurement
from policy_engine.plan.plan import Plan
from policy_engine.release.attempts import attempt_upper_end
from policy_engine.release.training_table import TrainingTable


@dataclass(frozen=True, eq=False)
class SecretsOfModel:
    """The columns of a training table that nobody should learn from its model.

    Members and others are those of the audit of membership.
    """

    training_table: TrainingTable
    plan: Plan

    @property
    def methods(self) -> tuple[ModelSecrets, ...]:
        """What the plan bounds."""
        return tuple(step.method for step in self.plan.secret_audits)

    @cached_property
    def sides(self) -> SecretSides:
        """The members, as many others, and the rest, in which no record of these repeats."""
        table = self.training_table
        records, groups = table.audited_records, table.groups
        counts = ModelCounts(seed=table.seed)
        splits = make_splits(records.labels, records.classes, counts, table.members, groups=groups)
        is_elsewhere: NDArray[np.bool_] = np.isin(groups, groups[splits.audited])
        return SecretSides(splits.target_train, splits.target_test, np.flatnonzero(~is_elsewhere))

    @cached_property
    def materials(self) -> dict[str, SecretMaterial]:
        """The table by the name of each secret, as attackers know it and as the model is shown."""
        table, names = self.training_table, dict[str, SecretMaterial]()
        records, modelling = table.audited_records, table.modelling
        columns = [*modelling.features]
        shown_columns = table.shown_table().select(columns)
        for name in dict.fromkeys(one for method in self.methods for one in method.learned):
            secret = read_secret(table.table, name, modelling.label)
            original = table.table.select(columns)
            names[name] = SecretMaterial.of(
                shown_columns, records.labels, records.classes, secret, original
            )
        return names

    def check(self) -> None:
        """Raise AuditError (A021, A035) where there are too few records for what is bounded."""
        if self.methods:
            check_secrets_showable(
                self.methods, self.materials, self.sides, self.training_table.seed
            )

    def measure(
        self, models: Iterable[Trained], progress: Progress
    ) -> tuple[SecretMeasurement, ...]:
        """Return what attacks reach on the model that was written, the only one of `models`."""
        if not self.methods:
            return ()
        table = self.training_table
        [trained] = models
        encoding, leaves = table.fitted.encoding, table.covered.leaves
        model = TrainedTarget(
            trained, table.learner.gives, lambda columns: encoding.apply(columns, leaves)
        )
        return tuple(
            measure_secrets(self.methods, self.materials, self.sides, model, table.seed, progress)
        )


def pooled_secrets(
    measured: Iterable[SecretMeasurement], attempts: int
) -> Iterator[SecretMeasurement]:
    """Yield measurements with the ends that count at so many attempts, this one the last.

    This keeps an owner from trying until a bound holds by chance: see `pool_attempts`.
    """
    for one in measured:
        if attempts > 1 and isinstance(one.reached, Estimate):
            end = attempt_upper_end(one.reached, attempts)
            yield one.model_copy(update={"pooled": end})
        else:
            yield one
