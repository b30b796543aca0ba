"""Made-up rows and the rows of their table as the material of attacks, coded by the whole table."""

from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from policy_engine.audits.generative.material import (
    AuditedColumn,
    Floats,
    Ints,
    RecordSet,
)
from policy_engine.engines.arrays import is_text, to_numpy, unchunk
from policy_engine.engines.distinct_values import index_distinct
from policy_engine.engines.synthesising.equal_cells import joined_columns, numbers_of
from policy_engine.engines.text_types import NUMBER, to_inferred_type

_OTHERS = 5
"""Texts that stand for a missing number, as `unknown` does: there are no more of them."""
_EXACT = Context(prec=100, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])


@dataclass(frozen=True, eq=False)
class CodedRelease:
    """The rows of a table, and behind them those made up, as codes.

    Numbers and times are shares of the way from the least to the greatest one of the table, nan
    where one is missing; others are categories. `exact` (rows, columns) are equal for equal cells,
    whatever floats round, by the rules by which the table was split.
    """

    columns: tuple[AuditedColumn, ...]
    values: Floats
    exact: Ints

    def records(self, name: str, rows: Ints) -> RecordSet:
        """Return some rows as records."""
        return RecordSet(name, self.values[rows], exact=self.exact[rows])


def coded_release(learnt: pa.Table, held_out: pa.Table, made: pa.Table) -> CodedRelease:
    """Return the rows of a table, those learnt first, and the rows made up of it, as read back."""
    joined = joined_columns([learnt, held_out], made)
    exact = numbers_of(joined)
    coded = [_coded(*one) for one in zip(made.column_names, joined, exact.T, strict=True)]
    columns, values = zip(*coded, strict=True)
    return CodedRelease(columns, np.column_stack(values), exact)


def _coded(name: str, cells: pa.ChunkedArray, exact: Ints) -> tuple[AuditedColumn, Floats]:
    shares = _shares(cells)
    if shares is not None:
        return AuditedColumn(name, is_number=True), shares
    codes = np.where(to_numpy(unchunk(cells.is_valid())), exact, -1).astype(np.float64)
    return AuditedColumn(name, is_number=False, texts=(*map(str, range(exact.max() + 1)),)), codes


def _shares(cells: pa.ChunkedArray) -> Floats | None:
    """Return numbers and times as shares of their range, nan where one is missing, (rows,); None of
    other values."""
    kind = cells.type
    if pa.types.is_floating(kind):
        return _shares_of_floats(to_numpy(unchunk(cells.cast(pa.float64())), missing=np.nan))
    if pa.types.is_integer(kind):
        return _shares_of_integers(unchunk(cells))
    if pa.types.is_temporal(kind):
        counts = pa.int32() if kind.bit_width == pa.int32().bit_width else pa.int64()
        return _shares_of_integers(unchunk(cells.cast(counts)))
    if pa.types.is_decimal(kind):
        return _shares_of_texts(cells.cast(pa.string()))
    return _shares_of_texts(cells) if is_text(kind) else None


def _shares_of_floats(numbers: Floats) -> Floats:
    """Infinite numbers lie as far outside of the range as it is wide."""
    finite = numbers[np.isfinite(numbers)]
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 1.0)
    # Halves do not overflow.
    width = high / 2 - low / 2
    inner = np.where(np.isfinite(numbers), numbers, low) / 2 - low / 2
    shares = inner / width if width else np.zeros(len(numbers))
    ends = np.select([numbers == np.inf, numbers == -np.inf], [2.0, -1.0], np.nan)
    return np.where(np.isfinite(numbers), shares, ends)


def _shares_of_integers(integers: pa.Array) -> Floats:
    is_present = to_numpy(integers.is_valid())
    numbers = to_numpy(integers)
    present = numbers[is_present]
    low, high = (present.min(), present.max()) if len(present) else (0, 0)
    # Of 64 bits without a sign, which hold every difference: it wraps around to what it is.
    steps = numbers.astype(np.uint64) - np.array(low).astype(np.uint64)
    width = float(int(high) - int(low)) or 1.0
    return np.where(is_present, steps.astype(np.float64) / width, np.nan)


def _shares_of_texts(column: pa.ChunkedArray) -> Floats | None:
    """Return those of texts that all are numbers or times, or that most are, but for a few that
    stand for a missing one."""
    places, values = index_distinct("", column)
    typed = to_inferred_type(pa.chunked_array([values]))
    if not is_text(typed.type):
        return _shares(typed.take(places))
    texts = pc.utf8_trim_whitespace(values)
    is_number = to_numpy(pc.match_substring_regex(texts, NUMBER))
    rows = to_numpy(places, missing=-1)
    of_numbers = is_number[rows[rows >= 0]]
    if (~is_number).sum() > _OTHERS or of_numbers.sum() * 2 < len(of_numbers):
        return None
    numbers = [
        _EXACT.create_decimal(text) if one else Decimal("nan")
        for text, one in zip(texts.to_pylist(), is_number.tolist(), strict=True)
    ]
    shares = np.append(_shares_of_decimals(numbers), np.nan)
    return np.asarray(shares[rows])


def _shares_of_decimals(numbers: list[Decimal]) -> Floats:
    finite = [one for one in numbers if one.is_finite()]
    low, high = (min(finite), max(finite)) if finite else (Decimal(0), Decimal(0))
    width = _EXACT.subtract(high, low)
    steps = (_EXACT.subtract(one, low) for one in numbers)
    shares = (_EXACT.divide(one, width) if width else one for one in steps)
    return np.array([float(one) for one in shares], np.float64)
