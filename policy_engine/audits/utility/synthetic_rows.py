"""How far made-up rows are from those of the original, and what a classifier learns from them."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from policy_engine.audits.utility.model import Classification, TableSide
from policy_engine.audits.utility.prediction import HELD_OUT, Task, accuracy
from policy_engine.audits.utility.sharing import MOST_BINS
from policy_engine.audits.utility.synthetic import SyntheticComparison, SyntheticDistance
from policy_engine.data.catalog import Dataset
from policy_engine.data.column_names import missing_columns
from policy_engine.engines import tables
from policy_engine.engines.arrays import from_numpy, to_numpy
from policy_engine.engines.engine import StoredData
from policy_engine.engines.synthesising.coding import LearntColumn, learnt_table
from policy_engine.errors import DataError
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.kernels.spread import Floats, Ints
from policy_engine.kernels.utility import even_bins, frequent_bins, shares, total_variation
from policy_engine.plan.synthesis import Synthesis

_MOST_VALUES = 20
"""A column of more values than this is not predicted unless it is named."""


@dataclass(frozen=True, eq=False)
class ComparedColumn:
    """A column of two tables, as codes of the values that either has.

    `numbers` (values,) are those of a column of numbers or times, in their order, NaN for the
    missing value; None for categories.
    """

    name: str
    before: Ints
    after: Ints
    size: int
    numbers: Floats | None

    def masses(self, codes: Ints) -> Floats:
        """Return how many of the codes are of each value, (values,)."""
        return np.bincount(codes, minlength=self.size).astype(np.float64)

    @property
    def bins(self) -> Ints:
        """The bin of each value, (values,): of numbers, those with about as many rows of the
        original; of categories, each frequent one and all others."""
        masses = self.masses(self.before)
        many = self.numbers is not None
        return even_bins(masses, MOST_BINS) if many else frequent_bins(masses, MOST_BINS)

    def distance(self) -> SyntheticDistance:
        """Return how far the two tables are apart in this column: numbers in bins."""
        groups = np.arange(self.size) if self.numbers is None else self.bins
        return SyntheticDistance(
            columns=(self.name,),
            total_variation=_distance(groups[self.before], groups[self.after]),
            kolmogorov=None if self.numbers is None else self._kolmogorov(self.numbers),
        )

    def _kolmogorov(self, numbers: Floats) -> float:
        """Return the greatest difference of the shares of present numbers up to any of them."""
        present = ~np.isnan(numbers)
        ups = [np.cumsum(shares(self.masses(one)[present])) for one in (self.before, self.after)]
        return float(np.abs(ups[0] - ups[1]).max()) if present.any() else 0.0

    def features(self, codes: Ints) -> Floats:
        """Return what a classifier learns a column by, (rows, features): its numbers, or which
        of its frequent categories it is."""
        if self.numbers is not None:
            return self.numbers[codes][:, None]
        bins = self.bins
        return np.eye(int(bins.max()) + 1)[bins[codes]]


def compare_synthetic_rows(
    release: Path, original: Path, synthesis: Synthesis, task: Task
) -> SyntheticComparison:
    """Return how far made-up rows are from the original, and how well a classifier learns from such
    rows what it is tested on in others.

    Of columns and of pairs, the total variation, of numbers in bins; of numbers, Kolmogorov's
    distance as well. Raises DataError where a table cannot be read or lacks a column (C005).
    """
    names = synthesis.columns
    (after, release_side), (before, original_side) = (
        _read(one, names) for one in (release, original)
    )
    columns = compared_columns(before, after, names)
    return SyntheticComparison(
        release=release_side,
        original=original_side,
        columns=tuple(one.distance() for one in columns),
        pairs=tuple(_pair_distances(columns)),
        classification=classification_of_rows(before, columns, task),
    )


def _read(path: Path, names: tuple[str, ...]) -> tuple[pa.Table, TableSide]:
    table: pa.Table = tables.read_table(path)
    dataset = Dataset(
        iri=path.name, location=path.name, format="memory", columns=tuple(table.column_names)
    )
    if problems := list(missing_columns(names, dataset)):
        raise DataError(*problems)
    side = TableSide(name=path.name, digest=StoredData.from_file(path).digest, rows=table.num_rows)
    return table.select(list(names)), side


def compared_columns(
    before: pa.Table, after: pa.Table, names: tuple[str, ...]
) -> tuple[ComparedColumn, ...]:
    """Return some columns of two tables with common codes. Raises DataError (C009) for columns of a
    type that no rows are made up of."""
    pairs = (learnt_table(one.select(list(names))).columns for one in (before, after))
    return tuple(_compared(one, other) for one, other in zip(*pairs, strict=True))


def _compared(before: LearntColumn, after: LearntColumn) -> ComparedColumn:
    sides = before, after
    if before.numbers is not None and after.numbers is not None:
        own = np.concatenate([before.numbers, after.numbers])
        own[np.concatenate([_missing(one) for one in sides])] = np.nan
        numbers, places = np.unique(own, return_inverse=True)
    else:
        texts = pa.concat_arrays([one.values.cast(pa.string()) for one in sides])
        encoded = pc.dictionary_encode(texts, null_encoding="encode")
        numbers, places = None, to_numpy(encoded.indices).astype(np.int64)
    first = len(before.values)
    return ComparedColumn(
        before.field.name,
        places[:first][before.codes],
        places[first:][after.codes],
        int(places.max()) + 1,
        numbers,
    )


def _missing(column: LearntColumn) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    return ~to_numpy(column.values.is_valid())


def _pair_distances(columns: tuple[ComparedColumn, ...]) -> Iterator[SyntheticDistance]:
    binned = [(one.name, one.bins[one.before], one.bins[one.after]) for one in columns]
    for (first, *one), (second, *other) in combinations(binned, 2):
        width = int(max(map(np.max, other))) + 1
        before, after = (a * width + b for a, b in zip(one, other, strict=True))
        yield SyntheticDistance(columns=(first, second), total_variation=_distance(before, after))


def _distance(before: Ints, after: Ints) -> float:
    size = int(max(before.max(), after.max())) + 1
    counts = (np.bincount(one, minlength=size).astype(np.float64) for one in (before, after))
    return total_variation(*map(shares, counts))


def classification_of_rows(
    original: pa.Table, columns: tuple[ComparedColumn, ...], task: Task
) -> Classification | NotApplicable:
    """Return how well a column is predicted from the others in rows that no model saw.

    One model learns from rows of the original, one from rows that are made up of these alone, as
    the policy asks: the rows tested are in neither.
    """
    if task.anonymize is None:
        return NotApplicable(reason="no classifier was asked for")
    if find_spec("sklearn") is None:
        return NotApplicable(reason="scikit-learn is not installed: 'policy-engine[utility]'")
    target = task.target or next((one.name for one in columns if _is_label(one)), "")
    if not target or len(columns) < 2:
        return NotApplicable(reason=f"no column has from 2 to {_MOST_VALUES} categories")
    held_out = np.random.default_rng(task.seed).random(original.num_rows) < HELD_OUT
    training_rows = original.filter(from_numpy(~held_out))
    if not held_out.any() or not training_rows.num_rows:
        return NotApplicable(reason="there are too few rows to hold some out")
    made = task.anonymize(training_rows)
    names = tuple(one.name for one in columns)
    learnt = compared_columns(original, made.select(list(names)), names)
    return _score(learnt, names.index(target), held_out, task.seed)


def _is_label(column: ComparedColumn) -> bool:
    return column.numbers is None and 2 <= len(np.unique(column.before)) <= _MOST_VALUES


def _score(
    columns: tuple[ComparedColumn, ...],
    target: int,
    held_out: np.ndarray[tuple[int, ...], np.dtype[np.bool_]],
    seed: int,
) -> Classification | NotApplicable:
    label = columns[target]
    others = [one for place, one in enumerate(columns) if place != target]
    before = np.concatenate([one.features(one.before) for one in others], axis=1)
    after = np.concatenate([one.features(one.after) for one in others], axis=1)
    truth, labels = label.before[held_out], label.before[~held_out]
    if len(np.unique(labels)) < 2:
        return NotApplicable(reason=f"{label.name!r} has one value in the rows learnt from")
    original = accuracy(before[~held_out], labels, before[held_out], truth, seed)
    return Classification(
        target=label.name,
        values=len(np.unique(label.before)),
        rows_learnt=len(labels),
        rows_held_out=len(truth),
        majority=float((truth == np.bincount(labels).argmax()).mean()),
        original=original,
        anonymised=accuracy(after, label.after, before[held_out], truth, seed),
        error=float(np.sqrt(original * (1 - original) / len(truth))),
    )
