"""Columns to features: fitted once on a table, applied to it, or to a release of it."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.audits.membership.coarsening import Levels, levels_of
from policy_engine.audits.membership.result import EncodedColumn
from policy_engine.data import cells
from policy_engine.data.cells import ALL
from policy_engine.engines.arrays import is_text, to_numpy, unchunk
from policy_engine.engines.encoding import ColumnCodes, encode
from policy_engine.engines.field_marks import is_untyped
from policy_engine.engines.reading_back import cell_column, cell_columns, index_texts
from policy_engine.engines.readings import TRUTHS, moment, truth
from policy_engine.errors import AuditError, Problem, did_you_mean, join_names

MOST_VALUES = 200
"""How many values of a text column get a feature each; the others share one."""

Leaves = Mapping[str, Mapping[str, tuple[str, ...]]]
"""The values of each generalised label of a column, by column, then by label."""


class _Rule(Protocol):
    @property
    def name(self) -> str:
        """The name of the column."""
        ...

    def vector(self, text: str | None, leaves: Mapping[str, tuple[str, ...]]) -> list[float]:
        """Return the features of one cell; nan where a number is missing."""
        ...

    def summary(self) -> EncodedColumn:
        """Return how the column is encoded."""
        ...

    def parameters(self) -> dict[str, Any]:
        """Return all that is needed to encode a cell, as JSON has it."""
        ...


@dataclass(frozen=True)
class Encoding:
    """How the columns of a table become features.

    Fitted on the original, it is also applied to a release of it: a range becomes its midpoint,
    a set equal shares of its values, and a label that stands for no value known is spread over
    all of them. So a model of the release can be shown original records.
    """

    rules: tuple[_Rule, ...]
    warnings: tuple[str, ...] = ()

    @classmethod
    def fit(cls, columns: pa.Table, fewest: int = 1) -> "Encoding":
        """Return the encoding of all columns of a table.

        Columns of 0 and 1 stay bits; numbers, dates and times are standardised; others are one
        feature per value, and one for all other values. Each value of a feature then occurs in at
        least `fewest` rows: numbers become levels (see `coarsening`), and rarer texts share the
        feature of the others. Raises AuditError (A003) with all columns of numbers in
        which some are missing or infinite, DataError (C009) for a type without equality.
        """
        rules = [_rule(field, columns.column(field.name), fewest) for field in columns.schema]
        problems = [one for one in rules if isinstance(one, Problem)]
        if problems:
            raise AuditError(*problems)
        kept = tuple(one for one in rules if not isinstance(one, Problem))
        return cls(kept, tuple(_identifier_warnings(kept, columns.num_rows)))

    def apply(self, columns: pa.Table, leaves: Leaves | None = None) -> NDArray[np.generic]:
        """Return the features of a table's rows, (rows, width): uint8 where all are 0 or 1, else
        float32.

        Raises AuditError (A003) with all columns that lack numbers, or that are not there.
        """
        self._check(columns)
        parts = [
            _ColumnFeatures.of(rule, columns, (leaves or {}).get(rule.name, {}))
            for rule in self.rules
        ]
        missing = [part.name for part in parts if not np.isfinite(part.vectors).all()]
        if missing:
            raise AuditError(*[_missing_problem(name) for name in missing])
        return _join_features(parts, columns.num_rows)

    def summaries(self) -> tuple[EncodedColumn, ...]:
        """Return how each column is encoded."""
        return tuple(rule.summary() for rule in self.rules)

    def _check(self, columns: pa.Table) -> None:
        names = columns.column_names
        problems = [
            Problem("A003", f"There is no column {rule.name!r}.", did_you_mean(rule.name, names))
            for rule in self.rules
            if not set(cell_columns(rule.name, names)) <= set(names)
        ]
        if problems:
            raise AuditError(*problems)


@dataclass(frozen=True)
class _ColumnFeatures:
    """The features of one column: those of its distinct cells, and which each row has."""

    name: str
    rows: NDArray[np.integer]
    vectors: NDArray[np.float64]

    @classmethod
    def of(
        cls, rule: _Rule, columns: pa.Table, leaves: Mapping[str, tuple[str, ...]]
    ) -> "_ColumnFeatures":
        column = cell_column(columns, rule.name)
        numbers = (
            _plain_numbers(column)
            if isinstance(rule, _Number) and rule.parse is _parse_number
            else None
        )
        if isinstance(rule, _Number) and numbers is not None:
            return cls(rule.name, np.arange(len(numbers)), rule.scale.apply(numbers)[:, None])
        rows, texts = index_texts(rule.name, column)
        used = np.unique(rows)
        width = rule.summary().width
        vectors = np.zeros((len(texts), width))
        for one in used.tolist():
            vectors[one] = rule.vector(texts[one], leaves)
        return cls(rule.name, rows, vectors)


def _plain_numbers(column: pa.ChunkedArray) -> NDArray[np.float64] | None:
    """Return a column of numbers, or of texts that are all numbers; None where it is neither."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or is_text(kind)):
        return None
    try:
        return to_numpy(unchunk(column.cast(kind).cast(pa.float64(), safe=False)), missing=math.nan)
    except pa.ArrowInvalid:
        return None


def _join_features(parts: list[_ColumnFeatures], rows: int) -> NDArray[np.generic]:
    are_bits = all(np.isin(part.vectors, (0.0, 1.0)).all() for part in parts)
    kind = np.uint8 if are_bits else np.float32
    features = np.zeros((rows, sum(part.vectors.shape[1] for part in parts)), dtype=kind)
    start = 0
    for part in parts:
        end = start + part.vectors.shape[1]
        features[:, start:end] = part.vectors.astype(kind)[part.rows]
        start = end
    return features


@dataclass(frozen=True)
class Standardised:
    """Numbers less their mean, over their deviation."""

    mean: float
    deviation: float

    def apply(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return numbers with the fitted mean 0 and deviation 1."""
        return (values - self.mean) / self.deviation


@dataclass(frozen=True)
class _Number:
    """A column of numbers, dates or times, on a scale; what is not a number known is 0 on it."""

    name: str
    scale: Standardised | Levels
    parse: Callable[[str], float]
    is_bits: bool = False

    def vector(self, text: str | None, leaves: Mapping[str, tuple[str, ...]]) -> list[float]:
        if text and text in leaves:
            return [
                float(np.mean([self._scale_mean(self._numbers(leaf)) for leaf in leaves[text]]))
            ]
        return [self._scale_mean(self._numbers(text))]

    def _scale_mean(self, values: list[float]) -> float:
        """Return the mean place on the scale; of no number known, the middle."""
        if not values:
            return 0.5 if self.is_bits else 0.0
        return float(np.mean(self.scale.apply(np.array(values))))

    def _numbers(self, text: str | None) -> list[float]:
        """Return the numbers of a cell, whose mean is its feature; none for '*'."""
        with suppress(ValueError):
            return [self.parse(text or "nan")]
        with suppress(ValueError):
            cell = cells.read_cell(text)
            return [np.nan] if cell.may_be_missing else [self.parse(value) for value in cell.values]
        return []

    def summary(self) -> EncodedColumn:
        if self.is_bits:
            return EncodedColumn(name=self.name, kind="bits", width=1, says="0 or 1, as it is")
        unit = "" if self.parse is _parse_number else " (seconds)"
        if isinstance(self.scale, Levels):
            says = f"{len(self.scale.levels)} levels{unit}"
            return EncodedColumn(name=self.name, kind="levels", width=1, says=says)
        says = f"standardised: mean {self.scale.mean:.6g}, "
        says += f"deviation {self.scale.deviation:.6g}{unit}"
        return EncodedColumn(name=self.name, kind="number", width=1, says=says)

    def parameters(self) -> dict[str, Any]:
        return {} if self.is_bits else asdict(self.scale)


@dataclass(frozen=True)
class _OneHot:
    """A column of texts: one feature per frequent value, one for all others, one for missing."""

    name: str
    values: tuple[str, ...]
    others: frozenset[str]
    has_missing: bool
    place: Mapping[str, int] = field(compare=False, repr=False)

    @classmethod
    def of(cls, name: str, column: ColumnCodes, fewest: int) -> "_OneHot":
        counts = Counter(dict(zip(column.labels.tolist(), column.counts().tolist(), strict=True)))
        has_missing = counts[""] >= fewest
        missing = 0 if has_missing else counts[""]
        frequent = sorted(set(counts) - {""}, key=lambda value: (-counts[value], value))
        own = [value for value in frequent[:MOST_VALUES] if counts[value] >= fewest]
        while own and 0 < sum(counts[one] for one in frequent[len(own) :]) + missing < fewest:
            own.pop()
        values, others = tuple(sorted(own)), frozenset(frequent[len(own) :])
        others |= {""} if missing else set()
        place = {value: number for number, value in enumerate(values)}
        place |= dict.fromkeys(others, len(values))
        return cls(name, values, others, has_missing, place)

    @property
    def known_width(self) -> int:
        """The number of features for values that are not missing."""
        return len(self.values) + bool(self.others)

    def vector(self, text: str | None, leaves: Mapping[str, tuple[str, ...]]) -> list[float]:
        shares = np.zeros(self.known_width + self.has_missing)
        for value in self._cell_values(text, leaves):
            places = self._places(value)
            shares[places] += 1 / len(places) if len(places) else 0
        total = shares.sum()
        return (shares / total if total else shares).tolist()

    def _cell_values(
        self, text: str | None, leaves: Mapping[str, tuple[str, ...]]
    ) -> tuple[str | None, ...]:
        """Return the values that a cell covers, None for the missing one."""
        if text in self.place or not text:
            return (text or None,)
        try:
            cell = cells.read_cell(text)
        except ValueError:
            cell = cells.Cell((text,))
        values = [leaf for value in cell.values for leaf in leaves.get(value, (value,))]
        return (*values, *([None] if cell.may_be_missing else []))

    def _places(self, value: str | None) -> NDArray[np.int64]:
        """Return the features of a value: of one unknown, that of the others, else all."""
        if (value or "") in self.place:
            return np.array([self.place[value or ""]])
        if value is None:
            return np.arange(self.known_width, self.known_width + self.has_missing)
        if self.others and value != ALL:
            return np.array([len(self.values)])
        return np.arange(self.known_width)

    def summary(self) -> EncodedColumn:
        says = f"one feature for each of {len(self.values)} values"
        says += f", one for the {len(self.others)} others" if self.others else ""
        says += ", one for missing" if self.has_missing else ""
        width = self.known_width + self.has_missing
        return EncodedColumn(name=self.name, kind="one-hot", width=width, says=says)

    def parameters(self) -> dict[str, Any]:
        """Return the values to publish; the number of the others is not published."""
        has = {"has_others": bool(self.others), "has_missing": self.has_missing}
        return {"values": self.values, **has}


def _rule(
    schema_field: pa.Field, column: pa.ChunkedArray, fewest: int
) -> _Number | _OneHot | Problem:
    numbers = is_untyped(schema_field)
    encoded = encode(schema_field.name, column, numbers=numbers, is_generalised=False)
    labels = [label for label in encoded.labels.tolist() if label]
    if not encoded.is_ordered and not (labels and {one.lower() for one in labels} <= set(TRUTHS)):
        if numbers and any(map(_is_infinite, labels)) and all(map(_is_number, labels)):
            return _missing_problem(schema_field.name)
        return _OneHot.of(schema_field.name, encoded, fewest)
    reader = _reader(labels[0])
    values = np.array([reader(label) for label in labels])
    if encoded.has_missing or not np.isfinite(values).all():
        return _missing_problem(schema_field.name)
    counts = encoded.counts()[-len(labels) :]
    if fewest > 1:
        scale = levels_of(np.repeat(values, counts), fewest)
        is_bits = scale == Levels((0.5,), (0.0, 1.0)) and reader in (_parse_number, truth)
        return _Number(schema_field.name, scale, reader, is_bits=is_bits)
    if set(values.tolist()) <= {0.0, 1.0} and reader in (_parse_number, truth):
        return _Number(schema_field.name, Standardised(0.0, 1.0), reader, is_bits=True)
    mean = float(np.average(values, weights=counts))
    deviation = float(np.sqrt(np.average((values - mean) ** 2, weights=counts)))
    return _Number(schema_field.name, Standardised(mean, deviation or 1.0), reader)


def _reader(label: str) -> Callable[[str], float]:
    """Return what reads the texts of a column: truth values, numbers, dates and times."""
    if label.lower() in TRUTHS:
        return truth
    with suppress(ValueError):
        float(label)
        return _parse_number
    return moment


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_infinite(text: str) -> bool:
    return _is_number(text) and math.isinf(float(text))


def _parse_number(text: str) -> float:
    return float(text)


def _missing_problem(name: str) -> Problem:
    message = f"The column {name!r} holds numbers, and some of them are missing or infinite."
    return Problem("A003", message, "Fill them in, leave these rows out, or leave the column out.")


def _identifier_warnings(rules: tuple[_Number | _OneHot, ...], rows: int) -> Iterator[str]:
    """Yield a warning for all columns that seem to tell records apart by name."""
    names = [
        rule.name
        for rule in rules
        if isinstance(rule, _OneHot) and len(rule.values) + len(rule.others) > max(rows / 2, 2)
    ]
    if names:
        yield (
            f"Most records have a value of their own in {join_names(names)}: "
            "an identifier teaches a model nothing but its records."
        )
