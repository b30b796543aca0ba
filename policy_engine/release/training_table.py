"""A table for training a model: its members, their sanitised records, and the features."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.audits.files.auditing import TrainingInputs, audit_files
from policy_engine.audits.membership.audit_splits import audit_splits
from policy_engine.audits.membership.auditing import audit
from policy_engine.audits.membership.figures import ACCURACY, StrengthMeasure
from policy_engine.audits.membership.learners import Learner, Trained, learner_of
from policy_engine.audits.membership.records import FittedFeatures, Records, plain_number
from policy_engine.audits.membership.releases import (
    CoveredValues,
    check_nodes,
    fit_for_release,
    fit_on_release,
    leaves_of,
    mask_like_release,
    spread_cells,
)
from policy_engine.audits.membership.repeats import codes_of, draw_groups, quota_of
from policy_engine.audits.membership.result import MembershipAudit
from policy_engine.audits.membership.settings import Settings, attacks_of_model
from policy_engine.audits.membership.shadows import Sanitiser, ignore_model
from policy_engine.audits.membership.soundness import (
    accuracy_warning,
    check_informative,
    constant_feature_warning,
)
from policy_engine.audits.membership.splits import TOO_REPEATED, summarise_problems
from policy_engine.data.catalog import MEMORY
from policy_engine.engines.engine import (
    AnonymizedTable,
    Engine,
    Progress,
    StoredData,
    WrittenTable,
)
from policy_engine.engines.readings import record_marks
from policy_engine.engines.tables import infer_types, table_digest
from policy_engine.errors import AuditError, Problem
from policy_engine.methods.audits.classifier import Network
from policy_engine.plan.lineage import Generalised
from policy_engine.plan.plan import Plan
from policy_engine.plan.steps import AuditStep
from policy_engine.plan.training import FEWEST, FilesMeasured, Modelling
from policy_engine.release.guiding import guide_rows

_MEMBERS = 77


_EPOCHS = 2


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """A table for training a model: its members, their sanitised records, and the features."""

    plan: Plan
    modelling: Modelling
    engine: Engine
    table: pa.Table
    seed: int

    @cached_property
    def members(self) -> NDArray[np.int64]:
        """The rows that the model is trained on, each class's share, in order."""
        names, codes = np.unique(self._labels(), return_inverse=True)
        sizes = np.bincount(codes)
        self._check_sizes(names.tolist(), sizes)
        random = np.random.default_rng([self.seed, _MEMBERS])
        share, groups, member_rows = self.modelling.share, self.groups, []
        for number in range(len(names)):
            rows = np.flatnonzero(codes == number)
            _, repeats = np.unique(groups[rows], return_counts=True)
            member_rows.append(draw_groups(rows, groups, quota_of(repeats, share), random))
        self._check_drawn(names.tolist(), sizes, member_rows)
        return np.sort(np.concatenate(member_rows)).astype(np.int64)

    @cached_property
    def groups(self) -> NDArray[np.int64]:
        """For every row, the first row that is the same record in everything the model sees.

        Features are the same if they mean the same, however they are written; labels are if they
        are one class.
        """
        marks = record_marks(self.table, self.modelling.features)
        names, classes = np.unique(self._labels(), return_inverse=True)
        _, features = np.unique(marks, return_inverse=True)
        return codes_of(features * len(names) + classes)

    def _check_drawn(
        self, names: list[str], sizes: NDArray[np.int64], member_rows: Sequence[NDArray[np.int64]]
    ) -> None:
        """Raise AuditError (A001) if so many records are repeated that too few are drawn."""
        problems = []
        for name, size, drawn in zip(names, sizes.tolist(), member_rows, strict=True):
            expected = int(size * self.modelling.share)
            if 2 * len(drawn) < expected or len(drawn) < self._fewest_per_class:
                message = f"The class {name!r} has {size:,} records, but a few of them repeat so "
                message += f"often that {len(drawn):,} of {expected:,} can be trained on: equal "
                message += "records are trained on together, or kept for the audit together."
                problems.append(Problem("A001", message, TOO_REPEATED))
        different = len(np.unique(self.groups[np.concatenate(member_rows)]))
        if not problems and different < min(FEWEST, sum(map(len, member_rows))):
            message = (
                f"There are only {different:,} different records to train on, the others repeat "
            )
            message += f"them: an audit needs {FEWEST}."
            problems.append(Problem("A001", message, TOO_REPEATED))
        if problems:
            raise AuditError(*problems)

    def _check_sizes(self, names: list[str], sizes: NDArray[np.int64]) -> None:
        least, fewest = (
            math.ceil(one / self.modelling.share) for one in (1, self._fewest_per_class)
        )
        if least * len(names) > self.table.num_rows:
            message = f"{len(names):,} classes for {self.table.num_rows:,} records are too many: "
            message += f"each class needs at least {fewest}."
            raise AuditError.of("A002", message, "Is this the column of labels?")
        problems = [
            Problem(
                "A001",
                f"The class {name!r} has {size:,} records, but needs {fewest:,}: "
                f"{self.modelling.share:g} of them are trained on, {self._fewest_per_class} of "
                "each class.",
                "Leave the class out, merge it with another, or give more records.",
            )
            for name, size in zip(names, sizes.tolist(), strict=True)
            if size < fewest
        ]
        if problems:
            raise AuditError(*summarise_problems(problems, len(names)))

    @cached_property
    def sanitised(self) -> WrittenTable:
        """The table that the model learns from, held by the engine, which measures it."""
        if self.plan.anonymize is None:
            table = self.table.take(pa.array(self.members))
            return WrittenTable(
                StoredData(MEMORY, table_digest(table), len(self.members)), table=table
            )
        return self.engine.write(self._anonymized(self.members), None)

    @cached_property
    def fitted(self) -> FittedFeatures:
        """How columns become features, using only data that the model may know."""
        if self.is_released:
            released = self.shown_table().take(pa.array(self.members))
            return fit_for_release(self._as_values(released), self.modelling.label, self.fewest)
        return fit_on_release(self._released_table(), self.modelling.label, self.covered)

    @property
    def _fewest_per_class(self) -> int:
        """The fewest records of each class that are trained on."""
        return self.fewest if self.is_released else 1

    @property
    def is_released(self) -> bool:
        """Whether the model itself is released, and so must not reveal single records."""
        return self.plan.train is not None

    @property
    def fewest(self) -> int:
        """The fewest records that any part of a released model may represent."""
        return self.plan.fewest

    @property
    def epochs(self) -> int:
        """How often the model passes over its records."""
        architecture = self.modelling.architecture
        return architecture.epochs if isinstance(architecture, Network) else 1

    def audit(
        self,
        steps: Sequence[AuditStep],
        model: Path | None,
        progress: Progress,
        on_saved: Callable[[Trained], None] = ignore_model,
    ) -> MembershipAudit:
        """Train the model and attack it in all ways that the steps ask for, together.

        `on_saved` is called with the model that is written, as its file has it.
        """
        report = audit(
            self.audited_records,
            self.learner,
            self._settings(steps),
            architecture=self.modelling.architecture,
            members=self.members,
            groups=self.groups,
            drawn="drawn-first",
            model=model,
            sanitiser=self._sanitiser(),
            progress=progress,
            on_saved=on_saved,
        )
        on_others = report.target_test
        warnings = (
            *constant_feature_warning(self._training_records),
            *accuracy_warning(self.audited_records, on_others),
        )
        warnings = (*report.warnings, *warnings)
        return report.model_copy(update={"warnings": warnings})

    def check_sides(self, steps: Sequence[AuditStep]) -> None:
        """Raise AuditError if there are too few records for the models that an audit trains.

        As `audit_splits`, and also if labels or features are useless (A022): before any attempt
        begins.
        """
        check_informative(self._training_records)
        settings, groups = self._settings(steps), self.groups
        attacks = attacks_of_model(settings, self.learner.gives)
        audit_splits(self.audited_records, attacks, settings, self.members, groups=groups)

    def _settings(self, steps: Sequence[AuditStep]) -> Settings:
        attacks = dict.fromkeys(name for step in steps for name in step.method.attacks_run)
        bounds = [bound for step in steps for bound in step.method.bounds]
        fprs = sorted({b.fpr for b in bounds if b.fpr}, reverse=True)
        return Settings(
            attacks=tuple(attacks) or ("label-only",),
            shadows=max((step.method.shadow_models for step in steps), default=2),
            seed=self.seed,
            fprs=tuple(dict.fromkeys((0.01, 0.001, *fprs))),
            strongest_by=StrengthMeasure(bounds[0].measure, bounds[0].fpr) if bounds else ACCURACY,
        )

    @cached_property
    def audited_records(self) -> Records:
        """The records as an attacker shows them to the model."""
        return self._records(self.shown_table(), "the input")

    @cached_property
    def learner(self) -> Learner:
        """What trains the model."""
        return learner_of(self.modelling.architecture, self.fewest if self.is_released else 0)

    def files(self, folder: Path, *, allow_pickle: bool) -> FilesMeasured:
        """Return what the files of the model reveal about its training records."""
        bounds, members = self.plan.file_bounds, pa.array(self.members)
        assert bounds is not None  # noqa: S101 (a model is released)
        shown_table = self._as_values(self.shown_table().take(members))
        inputs = TrainingInputs(
            tables=(self._as_values(self.table.take(members)), shown_table, self._released_table()),
            records=self._training_records,
            original=self._records(shown_table, "the records learnt from"),
            architecture=self.modelling.architecture,
        )
        return audit_files(folder, inputs, bounds, allow_pickle=allow_pickle)

    def seconds(self, rows: NDArray[np.int64]) -> tuple[float, int]:
        """Return the CPU seconds for sanitising some rows and training on them, and the epochs."""
        architecture, epochs = self.modelling.architecture, 1
        if isinstance(architecture, Network):
            epochs = min(architecture.epochs, _EPOCHS)
            architecture = architecture.model_copy(update={"epochs": epochs})
        learner = learner_of(architecture)
        for _ in range(2):  # the first run compiles
            start = time.process_time()
            records = self._sanitised_records(rows)
            learner.train(records, [np.arange(len(records))], [0])
            spent = time.process_time() - start
        return spent, epochs

    def _labels(self) -> NDArray[Any]:
        """Return the class of every row by name, shape (n,)."""
        column = self.table.column(self.modelling.label).cast(pa.string())
        return np.array([plain_number(text or "") for text in column.to_pylist()])

    @property
    def _columns(self) -> list[str]:
        return [*self.modelling.features, self.modelling.label]

    def _released_table(self) -> pa.Table:
        return _select_columns(self.sanitised.table, self._columns)

    def shown_table(self) -> pa.Table:
        """Return the original records as they are shown to the model."""
        original = self.table.select(self._columns)
        if self.plan.anonymize is None:
            return original
        return mask_like_release(original, self.sanitised.table, self.covered)

    @cached_property
    def _training_records(self) -> Records:
        """The records as the audited model learns from them."""
        return self._sanitised_records(self.members)

    def _as_values(self, table: pa.Table) -> pa.Table:
        """Return records by values where an earlier release holds cells: nobody has them here."""
        return spread_cells(table, self._generalised, self.covered)

    def _records(self, table: pa.Table, name: str) -> Records:
        return self.fitted.records(table, name, self.covered.leaves)

    def _anonymized(self, rows: NDArray[np.int64]) -> AnonymizedTable:
        # A guide learns from these rows alone, since its classes are made of them.
        step, output = self.plan.require_anonymize(), self.plan.publish
        part = guide_rows(step, output, self.engine, self.table.take(pa.array(rows)))
        return self.engine.anonymize(part, step, output)

    def _sanitised_records(self, rows: NDArray[np.int64]) -> Records:
        if self.plan.anonymize is None:
            return self._records(self.table.take(pa.array(rows)).select(self._columns), "a share")
        if np.array_equal(rows, self.members):
            return self._records(self._released_table(), "the model's table")
        table = infer_types(self._anonymized(rows).table)
        return self._records(_select_columns(table, self._columns), "a shadow's table")

    def _sanitiser(self) -> Sanitiser | None:
        if self.plan.anonymize is None:
            return None
        return Sanitiser(self.plan.anonymize.model_dump_json(), self._sanitised_records)

    @property
    def _generalised(self) -> list[Generalised]:
        """The features that an earlier release generalised."""
        generalised = self.plan.read.generalised
        return [one for one in generalised if one.name in self.modelling.features]

    @cached_property
    def covered(self) -> CoveredValues:
        """The original values that generalised cells cover."""
        columns = self.plan.anonymize.columns.quasi_identifier if self.plan.anonymize else ()
        taxonomy_of_column = {one.name: one.taxonomy for one in columns if one.taxonomy}
        taxonomy_of_column |= {one.name: one.taxonomy for one in self._generalised if one.taxonomy}
        masks = {one.name: one.mask or "*" for one in columns if one.generalization == "prefix"}
        leaves = leaves_of(self.engine.taxonomies, taxonomy_of_column)
        check_nodes(self.table, self._generalised, leaves)
        return CoveredValues(leaves, masks)


def _select_columns(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """Return the columns of a release, ranges in two columns as both."""
    present = table.column_names
    columns = [
        one
        for name in names
        for one in ((name,) if name in present else (f"{name}_low", f"{name}_high"))
    ]
    return table.select(columns)


def group_audits(steps: Sequence[AuditStep]) -> list[tuple[AuditStep, ...]]:
    """Return the audits grouped by model; those of one model run together."""
    ways = dict.fromkeys(step.modelling for step in steps)
    return [tuple(step for step in steps if step.modelling == way) for way in ways]
