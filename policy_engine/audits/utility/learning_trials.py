"""How well a model learns a label from a release: how right it is on rows that were never seen,
and how well an attack tells whom it was trained on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.audits.guiding.features import BoostedFeatures
from policy_engine.audits.guiding.labels import encode_labels, read_labels, values_of
from policy_engine.audits.guiding.teachers import BoostedTeacher, DescribedTeacher, Teacher
from policy_engine.audits.membership.curves import curve, falling_order
from policy_engine.audits.membership.intervals import area_under, rate_at
from policy_engine.audits.membership.learners import learner_of
from policy_engine.audits.membership.observations import Observations
from policy_engine.audits.membership.records import FittedFeatures, plain_number
from policy_engine.audits.utility.matching import encoded
from policy_engine.audits.utility.repeated_splits import SplitFigure
from policy_engine.data.cells import read_cell
from policy_engine.engines.arrays import is_text
from policy_engine.engines.person_spellings import known_persons
from policy_engine.engines.tables import infer_types
from policy_engine.errors import DataError, PlanError
from policy_engine.methods.audits.classifier import Estimator, Network

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
RightMeasure = Literal["accuracy", "R2"]

TESTED = 0.2
"""The share of the rows that models are tested on."""
FPR = 0.01
"""The share of the others that an attack may take for members."""
_FEWEST = 20
"""The fewest rows of which some can be tested."""


class LearningFigures(NamedTuple):
    """How right a model is on each row that was never seen, (tested rows,), the mean of which is
    how right it is; and what an attack on it reaches."""

    right: Floats
    auc: SplitFigure
    tpr: SplitFigure


class RowSplit(NamedTuple):
    """The rows that are released and learnt from, and those that are tested, in rising order."""

    learnt: Ints
    tested: Ints


@dataclass(frozen=True)
class LearningTrial:
    """Models that learn a `label` from some of the columns of a `table`.

    They are gradient-boosted trees, or of an `architecture`. Rows of one person, by the column
    `unit`, are all learnt from, or all tested.
    """

    table: pa.Table
    features: tuple[str, ...]
    label: str
    architecture: Network | Estimator | None = None
    unit: str = ""

    def check(self) -> None:
        """Raise DataError where labels cannot be learnt or predicted (R017, R018), or there are too
        few rows; PlanError (M004) where the model is a classifier and labels are quantities."""
        if self.table.num_rows < _FEWEST:
            message = f"There are {self.table.num_rows:,} rows: too few to test a model on some."
            raise DataError.of("R018", message, f"Give {_FEWEST} or more.")
        if (self._numbers == self._numbers[:1]).all():
            message = f"All rows have one {self.label!r}: there is nothing to predict."
            raise DataError.of("R017", message)
        if self.architecture is not None and not self.classes:
            message = f"{self.label!r} holds quantities, and the model is a classifier."
            hint = "Leave --model out: a boosted regression is the default."
            raise PlanError.of("M004", message, hint)

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """The classes of the label; none where it holds quantities."""
        return read_labels(self.table, self.label).classes

    @property
    def measure(self) -> RightMeasure:
        """What is measured: the share of rows whose class is right, or the share of the variance
        of quantities that is predicted."""
        return "accuracy" if self.classes else "R2"

    @cached_property
    def _numbers(self) -> Floats:
        return self._labels_of(self.table)

    def splits(self, draws: int) -> Iterator[RowSplit]:
        """Yield as many random splits; of each class the same share is tested, if persons have one
        row each."""
        rows = np.arange(self.table.num_rows)
        groups, strata = rows, np.zeros(len(rows), dtype=np.int64)
        if self.unit:
            field = self.table.schema.field(self.unit)
            persons = known_persons(self.table.column(self.unit))
            groups = encoded(self.unit, field, persons).codes.astype(np.int64)
        elif self.classes:
            strata = self._numbers.astype(np.int64)
        for seed in range(draws):
            random = np.random.default_rng([seed, _SPLITS])
            is_tested = np.zeros(len(rows), dtype=np.bool_)
            for stratum in np.unique(strata):
                units = np.unique(groups[strata == stratum])
                drawn = random.permutation(units)[: int(TESTED * len(units))]
                is_tested |= np.isin(groups, drawn) & (strata == stratum)
            yield RowSplit(np.flatnonzero(~is_tested), np.flatnonzero(is_tested))

    def guessed(self, split: RowSplit) -> float:
        """Return how right always saying the most frequent class is, or the mean."""
        learnt, tested = self._numbers[split.learnt], self._numbers[split.tested]
        if not self.classes:
            return float(_share_explained(np.full(len(tested), learnt.mean()), tested).mean())
        usual = np.bincount(learnt.astype(np.int64)).argmax()
        return float((tested == usual).mean())

    def original_figures(self, split: RowSplit) -> LearningFigures:
        """Return what a model shows that learnt from the rows of a split as they are."""
        part = self._part(split.learnt)
        return self._figures(split, self._trained(part, part))

    def figures(
        self, split: RowSplit, release: pa.Table, represented: Sequence[str]
    ) -> LearningFigures:
        """Return what a model shows that learnt from a release of the rows of a split, whose
        columns `represented` hold cells of one value each.

        The attacker asks about rows as they were before the release, and takes for members those
        of which the model is surest (Yeom et al., CSF 2018, adversary 2), or whose number it
        predicts best.
        """
        plain = _without_cells(release, represented)
        return self._figures(split, self._trained(self._part(split.learnt), plain))

    def _figures(self, split: RowSplit, model: Teacher) -> LearningFigures:
        own, others = (self._predicted(model, rows) for rows in split)
        truth = self._numbers[split.tested]
        if self.classes:
            right = (others.argmax(axis=1) == truth).astype(np.float64)
        else:
            right = _share_explained(others[:, 0], truth)
        scores = np.concatenate(
            [self._scores(own, self._numbers[split.learnt]), self._scores(others, truth)]
        )
        is_member = np.arange(len(scores)) < len(own)
        order = falling_order(scores)
        points = curve(scores[order], is_member[order])
        reached = area_under(points), rate_at(points, FPR)
        return LearningFigures(right, *map(SplitFigure.of_estimate, reached))

    def _part(self, rows: Ints) -> pa.Table:
        return self._typed.take(pa.array(rows))

    @cached_property
    def _typed(self) -> pa.Table:
        return infer_types(self.table.select([*self.features, self.label]))

    def _trained(self, original: pa.Table, release: pa.Table) -> Teacher:
        """Return a model of a release. Its features are of the kinds that they are of in the rows
        as they were, whatever the release makes of them."""
        release, rows = release.select([*self.features, self.label]), np.arange(release.num_rows)
        if self.architecture is None:
            numbers = self._labels_of(release)
            fitted = BoostedFeatures.fit(original, self.features)
            return BoostedTeacher.of_features(fitted, release, numbers, self.classes, [rows])
        described = FittedFeatures.of(original, self.label)
        described = replace(described, classes=tuple(map(plain_number, self.classes)))
        records = described.records(release, "a release")
        trained = learner_of(self.architecture).train(records, [rows], [0])
        return DescribedTeacher(described, trained)

    def _predicted(self, model: Teacher, rows: Ints) -> Floats:
        return model.predictions(0, self._part(rows).select(self.features))

    def _labels_of(self, table: pa.Table) -> Floats:
        """Return labels as the numbers of the classes of the whole table, or as quantities."""
        column = encode_labels(table, self.label, "label")
        if not self.classes:
            return values_of(column, self.label)[column.codes]
        place = {name: number for number, name in enumerate(self.classes)}
        numbers = np.array([float(place[name]) for name in column.labels.tolist()])
        return np.asarray(numbers[column.codes])

    def _scores(self, predicted: Floats, truth: Floats) -> Floats:
        if not self.classes:
            return -np.abs(predicted[:, 0] - truth)
        with np.errstate(divide="ignore"):
            logits = np.log(predicted).astype(np.float32)
        return Observations(logits, truth.astype(np.int64)).margin


_SPLITS = 31


def _share_explained(predicted: Floats, truth: Floats) -> Floats:
    """Return what each row adds to the share of the variance that is predicted, their mean."""
    variance = float(truth.var())
    return 1 - (truth - predicted) ** 2 / variance if variance else np.zeros(len(truth))


def _without_cells(release: pa.Table, names: Sequence[str]) -> pa.Table:
    """Return a release with the value of each cell of one value: where a class lacks some, its cell
    says so."""
    for name in names:
        place = release.column_names.index(name)
        column: Any = release.column(place)
        if is_text(column.type):
            column = column.combine_chunks().dictionary_encode()
            column = column if isinstance(column, pa.Array) else column.chunk(0)
            values = [_value(text) for text in column.dictionary.to_pylist()]
            plain = pa.array(values, pa.string()).take(column.indices)
            release = release.set_column(place, name, plain)
    return release


def _value(text: str | None) -> str | None:
    values = read_cell(text).values
    return values[0] if len(values) == 1 else None
