"""How well a classifier learns from a release."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.audits.utility.matching import MatchedColumn, encoded, match
from policy_engine.audits.utility.model import Classification
from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines.arrays import from_numpy
from policy_engine.engines.person_spellings import known_persons
from policy_engine.errors import PolicyEngineError
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.spread import Floats, Ints, Spread
from policy_engine.kernels.utility import frequent_bins
from policy_engine.plan.anonymization import Anonymization

Anonymizer = Callable[[pa.Table], pa.Table]
"""Anonymises some rows of the original by themselves, as the policy asks."""

HELD_OUT = 1 / 3
_MOST_VALUES = 20


@dataclass(frozen=True)
class Task:
    """What is to be predicted, and how.

    An empty `target` is the first column kept that has from 2 to 20 values.
    """

    anonymize: Anonymizer | None = None
    target: str = ""
    seed: int = 0


def classification(
    original: pa.Table,
    anonymization: Anonymization,
    taxonomies: Mapping[str, Taxonomy],
    task: Task,
) -> Classification | NotApplicable:
    """Return how well a column is predicted from the quasi-identifiers of rows never seen.

    Gradient boosting on histograms (scikit-learn). A cell is seen as the mean of the values
    that it covers where they have an order, else as the share of each frequent value. See
    `Classification` for which rows are learnt from.
    """
    if task.anonymize is None:
        return NotApplicable(reason="no classifier was asked for")
    if not anonymization.columns.quasi_identifier:
        return NotApplicable(reason="there are no quasi-identifiers to predict from")
    if find_spec("sklearn") is None:
        return NotApplicable(reason="scikit-learn is not installed: 'policy-engine[utility]'")
    target = task.target or _first_target(original, anonymization)
    if target is None:
        return NotApplicable(reason=f"no column that is kept has from 2 to {_MOST_VALUES} values")
    held_out = _held_out(original, anonymization.columns.privacy_unit, task.seed)
    training_rows = original.filter(from_numpy(~held_out))
    try:
        anonymised = task.anonymize(training_rows)
    except PolicyEngineError as error:
        return NotApplicable(reason=f"the rows learnt from cannot be anonymised: {error}")
    columns = {one.name: one for one in match(original, anonymised, anonymization, taxonomies)}
    return _score_models(columns, target, held_out, task.seed)


def _first_target(original: pa.Table, anonymization: Anonymization) -> str | None:
    for name in (*anonymization.columns.sensitive_names, *anonymization.columns.insensitive):
        column = encoded(name, original.schema.field(name), original.column(name))
        if 2 <= len(column.labels) <= _MOST_VALUES:
            return name
    return None


def _held_out(original: pa.Table, unit: str, seed: int) -> NDArray[np.bool_]:
    """Draw the rows held out, (rows,); of one person, all or none."""
    rows = np.arange(original.num_rows)
    if unit:
        persons = known_persons(original.column(unit))
        rows = encoded(unit, original.schema.field(unit), persons).codes
    drawn: NDArray[np.bool_] = np.random.default_rng(seed).random(len(rows)) < HELD_OUT
    return drawn[rows]


def _score_models(
    columns: Mapping[str, MatchedColumn], target: str, held_out: NDArray[np.bool_], seed: int
) -> Classification | NotApplicable:
    truth = columns[target].before.cell_of
    trained, tested = np.flatnonzero(~held_out), np.flatnonzero(held_out)
    known_labels = truth[trained]
    quasi = [one for one in columns.values() if one.role == "quasi-identifier"]
    if not len(tested) or len(np.unique(known_labels)) < 2:
        return NotApplicable(reason=f"{target!r} has one value in the rows learnt from")
    features = _Features(quasi, trained)
    test = features.matrix([one.before.taken(tested) for one in quasi])
    before = features.matrix([one.before.taken(trained) for one in quasi])
    after, labels = features.matrix([one.after for one in quasi]), columns[target].after.cell_of
    majority = np.bincount(known_labels).argmax()
    original = accuracy(before, known_labels, test, truth[tested], seed)
    return Classification(
        target=target,
        values=len(np.unique(truth)),
        rows_learnt=len(trained),
        rows_held_out=len(tested),
        majority=float((truth[tested] == majority).mean()),
        original=original,
        anonymised=accuracy(after, labels, test, truth[tested], seed),
        error=float(np.sqrt(original * (1 - original) / len(tested))),
    )


def accuracy(
    features: Floats,
    labels: NDArray[np.integer],
    test: Floats,
    truth: NDArray[np.integer],
    seed: int,
) -> float:
    """Return the share of the rows tested that a model of the rows learnt gets right."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415 (slow, an extra)
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 (comes with scikit-learn)

    if len(np.unique(labels)) < 2:
        return float((truth == labels[0]).mean())
    model = HistGradientBoostingClassifier(
        max_iter=30, max_leaf_nodes=15, random_state=seed, early_stopping=False
    )
    # With more threads, those that wait for the others take the processors from them.
    with threadpool_limits(1):
        return float((model.fit(features, labels).predict(test) == truth).mean())


class _Features:
    """Turns cells of columns into numbers, the same way before and after."""

    def __init__(self, columns: list[MatchedColumn], training_rows: Ints) -> None:
        self._weights = [_weights(one, one.before.taken(training_rows)) for one in columns]

    def matrix(self, columns: list[Spread]) -> Floats:
        """Return the features of rows, (rows, features)."""
        parts = [
            (one.totals(weights) / _divisor(one, weighed))[one.cell_of]
            for one, pairs in zip(columns, self._weights, strict=True)
            for weights, weighed in pairs
        ]
        return np.stack(parts, axis=1)


def _weights(column: MatchedColumn, training_rows: Spread) -> list[tuple[Floats, Floats]]:
    """Return what each feature adds up over the codes of a cell, and what it divides it by."""
    numbers = column.numbers()
    present = (~np.isnan(numbers)).astype(np.float64)
    if column.is_ordered:
        return [(np.nan_to_num(numbers), present)]
    bins = frequent_bins(training_rows.masses, _MOST_VALUES)
    ones = np.ones(column.size)
    return [((bins == one).astype(np.float64), ones) for one in range(int(bins.max()) + 1)]


def _divisor(column: Spread, weighed: Floats) -> Floats:
    """Return the codes of each cell that count, nan where none does: a missing value."""
    totals = column.totals(weighed)
    return np.where(totals > 0, totals, np.nan)
