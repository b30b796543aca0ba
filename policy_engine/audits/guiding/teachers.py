"""Models that learn a label from the other columns, to guide how classes are cut."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.audits.guiding.features import BoostedFeatures
from policy_engine.audits.guiding.labels import ReadLabels
from policy_engine.audits.membership.learners import learner_of
from policy_engine.audits.membership.learners.learner import Trained
from policy_engine.audits.membership.learners.scikit import need_sklearn
from policy_engine.audits.membership.records import FittedFeatures
from policy_engine.methods.audits.classifier import Architecture

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_TREES, _RATE = 60, 0.15
"""About as good as 100 trees at a rate of .1, the default of scikit-learn, and faster."""
_ROWS_AT_ONCE = 100_000


class Teacher(Protocol):
    """Models of one kind, each of which learnt from some of the rows."""

    def predictions(self, model: int, table: pa.Table) -> Floats:
        """Return what a model says of rows: the probabilities of the classes, (rows, classes), or
        a quantity, (rows, 1)."""
        ...


@dataclass(frozen=True)
class BoostedTeacher:
    """Gradient-boosted trees, of scikit-learn: the default.

    They need no numbers to be filled in, take categories as they are, and a column of a million
    categories by its frequent ones.
    """

    features: BoostedFeatures
    models: tuple[Any, ...]
    classes: int

    @classmethod
    def train(
        cls, table: pa.Table, names: Sequence[str], labels: ReadLabels, lots: Sequence[Ints]
    ) -> "BoostedTeacher":
        """Return a model for each lot of rows. Raises DataError (C011) without scikit-learn."""
        fitted = BoostedFeatures.fit(table, names)
        return cls.of_features(fitted, table, labels.numbers, labels.classes, lots)

    @classmethod
    def of_features(
        cls,
        fitted: BoostedFeatures,
        table: pa.Table,
        numbers: Floats,
        classes: tuple[str, ...],
        lots: Sequence[Ints],
    ) -> "BoostedTeacher":
        """Return a model for each lot of rows, with features that were fitted on another table.

        `numbers` (rows,) count the classes, or are quantities. Raises DataError (C011) without
        scikit-learn.
        """
        need_sklearn()
        features = fitted.apply(table)
        with one_thread():
            models = [_boosted(fitted, features[rows], classes, numbers[rows]) for rows in lots]
        return cls(fitted, tuple(models), len(classes))

    def predictions(self, model: int, table: pa.Table) -> Floats:
        """Return what a model says of rows."""
        fitted, features = self.models[model], self.features.apply(table)
        with one_thread():
            if not self.classes:
                return np.asarray(fitted.predict(features), dtype=np.float64)[:, None]
            # A class that a model saw no row of has no probability.
            probabilities = np.zeros((table.num_rows, self.classes))
            probabilities[:, fitted.classes_.astype(np.int64)] = fitted.predict_proba(features)
            return probabilities


def one_thread() -> AbstractContextManager[Any]:
    """Return a context in which scikit-learn works in one thread."""
    # Its trees are so small that threads spend most of their time waiting for one another: where
    # others work, too, they take several times the processor time, and more of the clock. Limits
    # are those of libraries that are loaded, so these are loaded first.
    import sklearn.ensemble  # noqa: F401, PLC0415 (slow to import, an extra)
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 (scikit-learn brings it along)

    limits: AbstractContextManager[Any] = threadpool_limits(1, user_api="openmp")
    return limits


def _boosted(
    fitted: BoostedFeatures, features: Floats, classes: tuple[str, ...], own: Floats
) -> Any:
    from sklearn.dummy import DummyClassifier  # noqa: PLC0415 (slow to import, an extra)
    from sklearn.ensemble import (  # noqa: PLC0415
        HistGradientBoostingClassifier,
        HistGradientBoostingRegressor,
    )

    if classes and (own == own[0]).all():
        return DummyClassifier().fit(features, own)
    kind = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    # Without rows held out to stop early: so many trees, and all rows.
    model = kind(
        max_iter=_TREES,
        learning_rate=_RATE,
        early_stopping=False,
        random_state=0,
        categorical_features=fitted.are_categories,
    )
    # It fails on a column without a value.
    return model.fit(np.where(np.isnan(features).all(axis=0), 0.0, features), own)


@dataclass(frozen=True)
class DescribedTeacher:
    """Models that a policy describes, a network or a classifier of scikit-learn, trained as those
    that are audited are."""

    fitted: FittedFeatures
    trained: Trained

    @classmethod
    def train(
        cls, table: pa.Table, label: str, architecture: Architecture, lots: Sequence[Ints]
    ) -> "DescribedTeacher":
        """Return a model for each lot of rows of a table of features and labels.

        Raises AuditError where labels (A002), features (A003) or the description (A009) are not
        usable, DataError (C011) without the library.
        """
        fitted = FittedFeatures.of(table, label)
        records = fitted.records(table, "the table")
        learner = learner_of(architecture)
        return cls(fitted, learner.train(records, lots, list(range(len(lots)))))

    def predictions(self, model: int, table: pa.Table) -> Floats:
        """Return what a model says of rows."""
        features = self.fitted.encoding.apply(table)
        starts = range(0, len(features), _ROWS_AT_ONCE)
        logits = [self.trained.logits(features[at : at + _ROWS_AT_ONCE])[model] for at in starts]
        return _probabilities(np.concatenate(logits).astype(np.float64))


def _probabilities(logits: Floats) -> Floats:
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))
