"""Categories of columns: how often each occurs, and their places among the labels of a matrix."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from policy_engine.data.transition_matrix import MOST_CATEGORIES
from policy_engine.engines.arrays import from_numpy, to_numpy, unchunk
from policy_engine.engines.masking.numbers import plain_array
from policy_engine.engines.text_types import parse_times_of_day
from policy_engine.errors import DataError, Problem
from policy_engine.methods.perturbation import Perturbation


def check_matrices(categories: Mapping[str, int]) -> None:
    """Raise DataError (R013) where the matrices of some columns, given how many categories each
    has, together are more than a certificate carries."""
    cells, most = sum(number**2 for number in categories.values()), MOST_CATEGORIES**2
    if cells > most:
        numbers = ", ".join(f"{name!r} {number:,}" for name, number in categories.items())
        message = (
            f"The certificate has the matrices of all columns that are drawn by one: {cells:,} "
        )
        message += f"probabilities, of {most:,} that are allowed. The columns have so many "
        message += f"categories: {numbers}."
        raise DataError.of("R013", message, "Give some of them another masking, or another role.")


def add_counts(one: pa.StructArray | None, other: pa.StructArray | None) -> pa.StructArray | None:
    """Return the counts of two parts of a table together, None where neither has any."""
    if one is None or other is None:
        return one or other
    table = pa.concat_tables([pa.Table.from_struct_array(part) for part in (one, other)])
    sums = table.group_by("values").aggregate([("counts", "sum")])
    columns = [unchunk(sums.column(name)) for name in ("values", "counts_sum")]
    return pa.StructArray.from_arrays(columns, names=["values", "counts"])


def with_categories(masking: Perturbation, counts: pa.StructArray) -> pa.StructArray:
    """Return the counts of categories with those that only the matrix of the masking has, as 0.

    Raises DataError (R013) with those that the matrix lacks, and for those that the type of the
    column does not have, or spells otherwise.
    """
    values = counts.field(0)
    categories = values.cast(pa.string()).to_pylist()
    if not masking.categories or not categories:
        return counts
    lacking = sorted({*categories} - {*masking.categories})
    if lacking:
        message = f"The matrix of {masking.name!r} lacks {len(lacking)} of its categories."
        hint = f"Add them to the matrix's file{_spelling(values.type)}."
        raise DataError(Problem("R013", message, hint, values=tuple(lacking)))
    others = pa.array(sorted({*masking.categories} - {*categories}), pa.string())
    labels = pa.concat_arrays([values, _typed(masking.name, others, values.type)])
    zeros = pa.nulls(len(others), counts.field(1).type).fill_null(0)
    times = pa.concat_arrays([counts.field(1), zeros])
    return pa.StructArray.from_arrays([labels, times], names=["values", "counts"])


def _typed(name: str, texts: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return categories of a matrix as values of a column.

    Raises DataError (R013) for those that are not written as the values of the type are.
    """
    try:
        values = (parse_times_of_day(texts) if pa.types.is_time(kind) else texts).cast(kind)
    except pa.ArrowInvalid:
        message = f"The matrix of {name!r} has categories that the type {kind} of the column "
        message += "cannot hold."
        raise DataError.of("R013", message, "Leave them out of the matrix.") from None
    spelled = values.cast(pa.string())
    if not spelled.equals(texts):  # what a file spells in two ways would be one category
        message = f"The matrix of {name!r} spells categories otherwise than the type {kind} of the "
        message += "column does."
        hint = f"Write them in the matrix's file{_spelling(kind)}."
        raise DataError.of("R013", message, hint)
    return values


def _spelling(kind: pa.DataType) -> str:
    """Return how the values of a type are to be spelled, with an example where that depends on its
    unit."""
    spelling = f" as the type {kind} spells them"
    if not (pa.types.is_time(kind) or pa.types.is_timestamp(kind)):
        return spelling
    zero = from_numpy(np.zeros(1, np.int32 if kind.bit_width == 32 else np.int64))
    return f"{spelling}: {zero.cast(kind).cast(pa.string())[0]}"


def sorted_counts(counts: pa.StructArray) -> pa.StructArray:
    """Return counts by the texts of their categories, whatever order they were found in."""
    order = pc.sort_indices(counts.field(0).cast(pa.string()))
    return counts.take(order)


def codes_of(column: pa.ChunkedArray | pa.Array, labels: pa.Array) -> NDArray[np.int64]:
    """Return the place of each value among the labels, -1 where it is missing, (rows,).

    Raises DataError (C010) for a value that was not there when the labels were found.
    """
    encoded = plain_array(column).dictionary_encode()
    places = to_numpy(pc.index_in(encoded.dictionary, value_set=labels), missing=-1)
    if (places < 0).any():
        message = "The data had different values when it was read again."
        raise DataError.of("C010", message, "Write it to storage first, or cache it.")
    codes = np.append(places, -1).astype(np.int64)
    return np.asarray(codes[to_numpy(encoded.indices, missing=len(places))])


def to_labels(codes: NDArray[np.int64], labels: pa.Array) -> pa.ChunkedArray:
    """Return labels by their places, missing where that is -1."""
    is_missing = codes < 0
    indices = from_numpy(np.where(is_missing, 0, codes), is_missing)
    return pa.chunked_array([labels.take(indices)])
