"""Columns whose tails are coded: what the input tells of them, and what the output shows."""

import sys
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from policy_engine.engines.arrays import from_numpy, to_numpy
from policy_engine.engines.masking.cells import (
    count_published,
    count_values,
    exact_arithmetic,
    result_type_error,
)
from policy_engine.engines.masking.numbers import plain_array
from policy_engine.errors import DataError, PolicyEngineError
from policy_engine.methods.masking import Number, exactly
from policy_engine.methods.tail_coding import Tail, TailCode, TailCoding, TailSurvey


@dataclass(frozen=True)
class TailEvidence:
    """What an input tells of a column whose tail is coded: its `rows` with a value, the tail, and
    how it is coded."""

    rows: int
    tail: Tail
    code: TailCode


@dataclass(frozen=True)
class CodedCells:
    """What a part of a published column shows: how many `values` it has, how many of them are the
    substitute, and the `extreme` that is left, None where nothing is."""

    values: int = 0
    coded: int = 0
    extreme: Number | None = None


def survey_tail(
    column: pa.ChunkedArray, kind: pa.DataType | None, coding: TailCoding
) -> TailSurvey:
    """Return what a part of a column tells of its tail. Raises DataError as `mask_column` does."""
    rows = len(column) - column.null_count
    with exact_arithmetic():
        return coding.survey(rows, count_values(_outer(column, coding), coding, kind).items())


def _outer(column: pa.ChunkedArray, coding: TailCoding) -> pa.ChunkedArray | pa.Array:
    """Return the values that can be in the tail, or next to it, and perhaps others.

    Exact numbers are slow, and the nearest floats of numbers are never in another order.
    """
    array = plain_array(column)
    try:
        is_exact = pa.types.is_integer(array.type) or pa.types.is_floating(array.type)
        texts = array if is_exact else pc.utf8_trim_whitespace(array.cast(pa.string()))
        floats = to_numpy(texts.cast(pa.float64(), safe=False), missing=np.nan)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return column  # not numbers, as is told when they are read
    sizes = floats if coding.is_top else -floats
    if coding.threshold is not None:
        least = coding.threshold if coding.is_top else -coding.threshold
    else:
        distinct = np.unique(sizes[~np.isnan(sizes)])
        least = distinct[-min(len(distinct), (coding.tail or 0) + 2)] if len(distinct) else 0.0
    return array.filter(from_numpy(sizes >= least))


def merge_surveys(coding: TailCoding, one: TailSurvey, other: TailSurvey) -> TailSurvey:
    """Return the survey of two parts of a column together, sums being exact."""
    with exact_arithmetic():
        return coding.merge(one, other)


def tail_evidence(coding: TailCoding, seen: TailSurvey, kind: pa.DataType) -> TailEvidence:
    """Return how the tail of a whole column is coded, its values being of a type.

    Raises DataError (R013) where nothing is coded, too few rows are, or their mean is one value.
    """
    with exact_arithmetic():
        tail = coding.tail_of(seen)
        if tail is None and seen.rows:
            raise _too_few(coding, seen.rows)
        tail = tail or coding.empty_tail()
        if tail.rows == 1 and coding.replacement == "mean":
            message = f"One value of the column {coding.name!r} is {coding.side} the threshold, "
            message += "and would be published as its own mean."
            raise DataError.of("R013", message, "Choose another threshold, or replacement.")
        return TailEvidence(
            seen.rows, tail, coding.code(tail, lambda mean: _fit(mean, kind, coding))
        )


def _too_few(coding: TailCoding, rows: int) -> PolicyEngineError:
    if coding.threshold is not None:
        message = f"No value of the column {coding.name!r} is {coding.side} the threshold "
        message += f"{exactly(coding.threshold)}: {coding.masking} would leave it as it is."
        return DataError.of("R013", message, "Choose another threshold, or give it another role.")
    message = f"No value of the column {coding.name!r} has {coding.tail:,} rows or more "
    message += f"{coding.side} it. {rows:,} rows have a value."
    return DataError.of("R013", message, "Let tail be smaller.")


def _fit(mean: Fraction, kind: pa.DataType, coding: TailCoding) -> Number:
    """Return the number of a type that is nearest to a mean, of two the one further from zero."""
    if pa.types.is_integer(kind):
        return _rounded(mean)
    if pa.types.is_decimal(kind):
        return Decimal(_rounded(mean * 10**kind.scale)).scaleb(-kind.scale)
    try:
        nearest = pa.array([float(mean)], pa.float64())
    except OverflowError:
        raise result_type_error(kind, coding) from None
    published = nearest.cast(kind) if pa.types.is_floating(kind) else nearest
    return Decimal(published.cast(pa.string())[0].as_py())


def _rounded(mean: Fraction) -> int:
    nearest = int(abs(mean) + Fraction(1, 2))
    return -nearest if mean < 0 else nearest


def look_at_coded(column: pa.ChunkedArray | pa.Array, code: TailCode) -> CodedCells:
    """Return what a part of a published column shows."""
    with exact_arithmetic():
        numbers, texts = count_published(plain_array(column))
        values = sum(numbers.values()) + sum(texts.values())
        substitute = code.substitute
        coded = (
            texts.get(code.label, 0) if isinstance(substitute, str) else numbers.get(substitute, 0)
        )
        left = [value for value in numbers if code.leaves(value)]
        return CodedCells(values, coded, _outermost(left, code))


def merge_coded(code: TailCode, one: CodedCells, other: CodedCells) -> CodedCells:
    """Return what two parts of a published column show together."""
    ends = [part.extreme for part in (one, other) if part.extreme is not None]
    return CodedCells(one.values + other.values, one.coded + other.coded, _outermost(ends, code))


def _outermost(values: list[Number], code: TailCode) -> Number | None:
    return (max if code.coding.is_top else min)(values, default=None)


def public_code(coding: TailCoding) -> TailCode:
    """Return the code that any output has to have.

    Raises DataError (V006) where it depends on the input.
    """
    if coding.is_public:
        return coding.public_code()
    message = f"The output alone does not show whether columns were masked by {coding.masking}."
    raise DataError.of("V006", message, "Give the input as well: data={IRI: PATH}.")


def judge_coded(
    code: TailCode, seen: CodedCells, broken: int, evidence: TailEvidence | None
) -> tuple[int, dict[str, float]]:
    """Return how many cells of a published column break its masking, and its other figures.

    `broken` are those whose value may not be published. As many have to be coded as the input says;
    more than that may have been equal to the threshold before.
    """
    if evidence is not None:
        lacking = evidence.tail.rows - seen.coded
        is_threshold = code.substitute == code.threshold
        broken = max(broken, lacking if is_threshold else abs(lacking))
        broken = max(broken, abs(evidence.rows - seen.values))
    figures = {} if evidence is None else {"rowsCoded": float(evidence.tail.rows)}
    if seen.extreme is not None and -_GREATEST <= seen.extreme <= _GREATEST:
        figures["extremeLeft"] = float(seen.extreme)
    return broken, figures


_GREATEST = int(sys.float_info.max)
"""Up to here every number is a float."""


FEWEST_CODED = 3
"""Fewer coded rows are warned of where no k is asked for: of two, each knows the other."""


def tail_doubts(one: TailEvidence, k: int) -> list[str]:
    """Return what the owner should know of a column whose tail is coded, classes having k rows, or
    1 where no k is asked for."""
    coding, tail, doubts = one.code.coding, one.tail, []
    least, named = (k, f"k, {k:,},") if k > 1 else (FEWEST_CODED, f"{FEWEST_CODED}")
    if 0 < tail.rows < least:
        doubts.append(
            f"{coding.masking} codes {tail.rows:,} of the values of {coding.name!r}: fewer rows "
            f"than {named} have a value {coding.side} its threshold."
        )
    if tail.rows and tail.rows == one.rows:
        doubts.append(f"Every value of {coding.name!r} is {coding.side} its threshold, and coded.")
    if tail.rows and coding.replacement == "mean" and tail.is_dominated:
        doubts.append(
            f"The mean of the values that {coding.masking} codes in {coding.name!r} is dominated "
            "by one of them, being larger than all others together, without signs."
        )
    return doubts
