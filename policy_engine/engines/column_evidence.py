"""What the values of a column say of it, as figures and a few of the values themselves."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyarrow import compute, types

from policy_engine.engines.identifier_values import MOST_VALUES, kind_of_identifier

_TEXTS = ("text", "integer")
"""The kinds of columns among whose values numbers and names of persons are looked for."""


@dataclass(frozen=True)
class ColumnEvidence:
    """A column in figures.

    `distinct` counts values, `missing` rows without one, `most_common` the rows of the value that
    most have. `separation` is the share of pairs of rows that the column tells apart (Motwani and
    Xu, Efficient Algorithms for Masking and Finding Quasi-Identifiers, 2007). `identifies` is what
    nearly all values are that names a person, `examples` are some of the distinct values as texts.
    """

    name: str
    kind: str
    rows: int
    distinct: int
    missing: int
    most_common: int
    separation: float
    identifies: str
    examples: tuple[str, ...]

    @property
    def present(self) -> int:
        """How many rows have a value."""
        return self.rows - self.missing

    @property
    def distinction(self) -> float:
        """The share of the rows with a value that the distinct values are, from 0 to 1."""
        return self.distinct / self.present if self.present else 0.0

    @property
    def is_constant(self) -> bool:
        """Whether no two rows differ in the column."""
        return self.distinct + bool(self.missing) <= 1


def gather_evidence(name: str, column: pa.ChunkedArray) -> ColumnEvidence:
    """Return the figures of a column whose type is inferred."""
    kind, rows, missing = kind_of(column.type), len(column), column.null_count
    try:
        counted = column.value_counts()
        is_value = counted.field("values").is_valid().to_numpy(zero_copy_only=False)
    except pa.ArrowNotImplementedError:  # lists, images
        return ColumnEvidence(name, kind, rows, rows - missing, missing, 1, 1.0, "", ())
    values, counts = counted.field("values"), counted.field("counts").to_numpy()
    of_values = counts[is_value]
    examples = _examples(values.filter(is_value))
    return ColumnEvidence(
        name,
        kind,
        rows,
        distinct=int(is_value.sum()),
        missing=missing,
        most_common=int(of_values.max(initial=0)),
        separation=_separation(counts),
        identifies=kind_of_identifier(examples) if kind in _TEXTS else "",
        examples=examples,
    )


def _separation(counts: np.ndarray) -> float:
    """Return the share of pairs of rows that have different values."""
    sizes = counts.astype(float)
    rows = sizes.sum()
    pairs = rows * (rows - 1)
    return float(1 - (sizes * (sizes - 1)).sum() / pairs) if pairs else 0.0


def _examples(values: pa.Array) -> tuple[str, ...]:
    """Return some of the values as texts, spread evenly over all."""
    step = max(1, len(values) // MOST_VALUES)
    some = values.take(pa.array(np.arange(0, len(values), step)))
    try:
        return tuple(compute.cast(some, pa.string()).to_pylist())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # bytes, nested values
        return ()


def kind_of(kind: pa.DataType) -> str:
    """Return a type in a word."""
    value = kind.value_type if types.is_dictionary(kind) else kind
    return next((name for fits, name in _KINDS if fits(value)), "other")


_KINDS = (
    (types.is_boolean, "truth value"),
    (types.is_integer, "integer"),
    (types.is_floating, "number"),
    (types.is_decimal, "number"),
    (types.is_date, "date"),
    (types.is_timestamp, "date and time"),
    (types.is_string, "text"),
    (types.is_large_string, "text"),
    (types.is_null, "empty"),
)
