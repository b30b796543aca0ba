"""Columns as a boosted model takes them: numbers as they are, other values as categories."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.encoding import encode
from policy_engine.engines.field_marks import is_untyped
from policy_engine.engines.generalizations.decimals import is_number
from policy_engine.engines.number_lists import is_array_of_numbers
from policy_engine.engines.reading_back import index_texts
from policy_engine.engines.readings import moment

Floats = NDArray[np.float64]

MOST_CATEGORIES = 254
"""How many values of a column are told apart, the most frequent ones: scikit-learn takes 255."""


@dataclass(frozen=True)
class CategoryPlaces:
    """The numbers of a column's frequent values; all others share the one that follows."""

    places: Mapping[str, int]

    def numbers(self, texts: Sequence[str | None]) -> Floats:
        """Return the feature of every cell, (cells,), nan where it is missing."""
        others = len(self.places)
        return np.array(
            [float(self.places.get(text, others)) if text else np.nan for text in texts]
        )


@dataclass(frozen=True)
class BoostedFeatures:
    """How the columns of a table become features, and which are categories."""

    columns: Mapping[str, CategoryPlaces | None]

    @classmethod
    def fit(cls, table: pa.Table, names: Sequence[str]) -> Self:
        """Return the features of some columns of a table; arrays are not features.

        Raises DataError (C009) for types without equality.
        """
        kept = [name for name in names if not is_array_of_numbers(table.schema.field(name).type)]
        return cls({name: _places(table, name) for name in kept})

    @property
    def are_categories(self) -> list[bool]:
        """Whether each feature is a category."""
        return [one is not None for one in self.columns.values()]

    def apply(self, table: pa.Table) -> Floats:
        """Return the features of rows, (rows, columns), nan where a value is missing."""
        parts = [_feature(table, name, one) for name, one in self.columns.items()]
        return np.column_stack(parts) if parts else np.zeros((table.num_rows, 0))


def _places(table: pa.Table, name: str) -> CategoryPlaces | None:
    """Return the places of a column's values; None for numbers, dates and times."""
    numbers = is_untyped(table.schema.field(name))
    column = encode(name, table.column(name), numbers=numbers, is_generalised=False)
    if column.is_ordered:
        return None
    counts = dict(zip(column.labels.tolist(), column.counts().tolist(), strict=True))
    counts.pop("", None)
    frequent = sorted(counts, key=lambda value: (-counts[value], value))[:MOST_CATEGORIES]
    return CategoryPlaces({value: number for number, value in enumerate(frequent)})


def _feature(table: pa.Table, name: str, places: CategoryPlaces | None) -> Floats:
    rows, texts = index_texts(name, table.column(name))
    numbers = places.numbers(texts) if places else np.array([_number(text) for text in texts])
    return np.asarray(numbers[rows])


def _number(text: str | None) -> float:
    text = (text or "").strip()
    if not text:
        return np.nan
    try:
        return float(text) if is_number(text) else moment(text)
    except ValueError:
        return np.nan
