"""A release read back: its cells parsed, its classes formed, the loss of each cell."""

from collections.abc import Collection, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.data import cells
from policy_engine.data.cells import ALL
from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines.arrays import from_numpy, from_texts, to_numpy, unchunk
from policy_engine.engines.encoding import ancestry, encode
from policy_engine.errors import CertificateError
from policy_engine.kernels.grouping import Groups, classes_of, first_rows
from policy_engine.plan.steps import Anonymize


def end_of(cell: cells.Cell, place: int) -> str | None:
    """Return the low (0) or high (-1) end of a range; none where the value may be missing, or
    be any."""
    is_known = cell.values and not cell.may_be_missing and cell.values != (ALL,)
    return cell.values[place] if is_known else None


def ends_of(name: str) -> tuple[str, str]:
    """Return the names of the two columns in which the ends of a column's ranges stand."""
    return f"{name}_low", f"{name}_high"


def columns_of(name: str, found: Collection[str]) -> tuple[str, ...]:
    """Return the column of a quasi-identifier among those found, or the two of its ranges' ends."""
    return (name,) if name in found else ends_of(name)


def groups(
    table: pa.Table,
    step: Anonymize,
    taxonomies: Mapping[str, Taxonomy],
    persons: NDArray[np.int64] | None = None,
) -> Groups:
    """Group the rows of a release by their cells, and price every cell.

    `persons` are those of the rows as they stand. Raises CertificateError (V002) where a cell
    has no shape known, DataError where a sensitive value is not in its taxonomy.
    """
    columns, wildcard = step.columns, step.recoding.missing == "wildcard"
    from policy_engine.engines.generalizations import losses  # noqa: PLC0415 (loads numba)

    read = {
        one.name: texts_of(one.name, cell_column(table, one.name))
        for one in columns.quasi_identifier
    }
    class_of, count = classes_of([codes for codes, _ in read.values()])
    first = first_rows(class_of, count)
    loss = {}
    for asked in columns.quasi_identifier:
        codes, texts = read[asked.name]
        taxonomy = taxonomies.get(asked.taxonomy)
        of_cell = losses(asked.name, texts, asked, taxonomy, wildcard=wildcard)
        loss[asked.name] = None if of_cell is None else of_cell[codes[first]]
    encoded = {
        name: encode(name, table.column(name), numbers=True, generalised=False)
        for name in columns.sensitive_names
    }
    return Groups(
        class_of=class_of,
        count=count,
        sensitive={name: column.values() for name, column in encoded.items()},
        loss=loss,
        ancestries={
            one.name: ancestry(one.name, encoded[one.name], taxonomies[one.taxonomy])
            for one in columns.sensitive
            if one.taxonomy
        },
        persons=persons,
    )


def cell_column(table: pa.Table, name: str) -> pa.ChunkedArray:
    """Return a column of cells, put together where its ranges stand in two columns of ends."""
    if name in table.column_names or ends_of(name)[0] not in table.column_names:
        return table.column(name)
    ends = [texts_of(name, table.column(end)) for end in ends_of(name)]
    pairs, count = classes_of([codes for codes, _ in ends])
    first = first_rows(pairs, count)
    (low_of, lows), (high_of, highs) = ends
    texts = [
        _joined(name, lows[low], highs[high])
        for low, high in zip(low_of[first].tolist(), high_of[first].tolist(), strict=True)
    ]
    missing = np.array([text is None for text in texts])
    dictionary = from_texts([text or "" for text in texts])
    rows = from_numpy(pairs.astype(np.int32), missing[pairs])
    return pa.chunked_array([pa.DictionaryArray.from_arrays(rows, dictionary)])


def _joined(name: str, low: str | None, high: str | None) -> str | None:
    if (low is None) != (high is None):
        message = f"The column {name!r} holds a range with one end."
        raise CertificateError.of("V002", message)
    return None if low is None or high is None else cells.write_range(low, high)


def texts_of(name: str, column: pa.ChunkedArray) -> tuple[NDArray[np.int32], list[str | None]]:
    """Return the number of each row's text, and the distinct ones; missing is one of them.

    Raises CertificateError (V002) where a column's type has no text.
    """
    if not pa.types.is_dictionary(column.type):
        try:
            column = column.cast(pa.string()).dictionary_encode()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            message = f"The column {name!r} is of type {column.type}, which holds no cells."
            raise CertificateError.of("V002", message) from None
    encoded = unchunk(column)
    texts = encoded.dictionary.cast(pa.string()).to_pylist()
    rows = to_numpy(encoded.indices, missing=len(texts))
    missing = [None] if encoded.null_count else []
    return rows.astype(np.int32), [*texts, *missing]
