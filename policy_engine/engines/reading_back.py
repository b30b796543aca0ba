"""Read a release back: parse its cells, form its classes, price each cell."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.data import cells
from policy_engine.data.cells import ALL
from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines.arrays import from_numpy, from_texts, to_numpy, unchunk
from policy_engine.engines.encoding import ancestry, encode
from policy_engine.errors import CertificateError
from policy_engine.kernels.bounds import Ancestry
from policy_engine.kernels.grouping import Groups, classes_of, first_rows
from policy_engine.kernels.match_counts import match_counts
from policy_engine.plan.steps import Anonymize


def range_end(cell: cells.Cell, place: int) -> str | None:
    """Return the low (0) or high (-1) end of a range; None for a cell that may be missing, or any
    value."""
    is_known = cell.values and not cell.may_be_missing and cell.values != (ALL,)
    return cell.values[place] if is_known else None


def end_columns(name: str) -> tuple[str, str]:
    """Return the names of the two columns that hold the ends of a column's ranges."""
    return f"{name}_low", f"{name}_high"


def cell_columns(name: str, names: Collection[str]) -> tuple[str, ...]:
    """Return the name of a quasi-identifier's column among `names`, or of its two end columns."""
    return (name,) if name in names else end_columns(name)


def groups(
    table: pa.Table,
    step: Anonymize,
    taxonomies: Mapping[str, Taxonomy],
    persons: NDArray[np.int64] | None = None,
) -> Groups:
    """Group the rows of a release by their cells, and price every cell.

    `persons` (rows,) are in the order of the rows. Raises CertificateError (V002) where a cell is
    not a range, set or value, DataError where a sensitive value is not in its taxonomy.
    """
    columns, wildcard = step.columns, step.recoding.missing == "wildcard"
    from policy_engine.engines.generalizations import losses  # noqa: PLC0415 (loads numba)

    indexed = {
        column.name: index_texts(column.name, cell_column(table, column.name))
        for column in columns.quasi_identifier
    }
    # Without quasi-identifiers, all rows are one class.
    one_class = [np.zeros(table.num_rows, dtype=np.int32)]
    class_of, count = classes_of([codes for codes, _ in indexed.values()] or one_class)
    first = first_rows(class_of, count)
    matched = None
    if step.recoding.has_overlapping_classes:
        cells = np.column_stack([_present(*index)[first] for index in indexed.values()])
        matched = match_counts(cells, np.bincount(class_of), "wildcard")
    loss = {}
    for quasi_identifier in columns.quasi_identifier:
        codes, texts = indexed[quasi_identifier.name]
        taxonomy = taxonomies.get(quasi_identifier.taxonomy)
        cell_loss = losses(
            quasi_identifier.name, texts, quasi_identifier, taxonomy, wildcard=wildcard
        )
        loss[quasi_identifier.name] = None if cell_loss is None else cell_loss[codes[first]]
    sensitive, ancestries = coded_sensitive(table, step, taxonomies)
    return Groups(
        class_of=class_of,
        count=count,
        sensitive=sensitive,
        loss=loss,
        ancestries=ancestries,
        persons=persons,
        matched=matched,
        mark=class_mark(step, list(indexed.values()), first, np.bincount(class_of)),
    )


def coded_sensitive(
    table: pa.Table, step: Anonymize, taxonomies: Mapping[str, Taxonomy]
) -> tuple[dict[str, NDArray[np.int32]], dict[str, Ancestry]]:
    """Return the codes of the sensitive columns of a release, (rows,) each, and the taxonomies of
    those that have one. Raises DataError where a value is not in its taxonomy."""
    columns = {
        name: encode(name, table.column(name), numbers=True, is_generalised=False)
        for name in step.columns.sensitive_names
    }
    ancestries = {
        one.name: ancestry(one.name, columns[one.name], taxonomies[one.taxonomy])
        for one in step.columns.sensitive
        if one.taxonomy
    }
    return {name: column.values() for name, column in columns.items()}, ancestries


def class_mark(
    step: Anonymize,
    indexed: Sequence[tuple[NDArray[np.int32], list[str | None]]],
    first: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> int | None:
    """Return the mark of classes by microaggregation, of which the `first` rows are given; None for
    other classes.

    `indexed` are the cells of every quasi-identifier, as from `index_texts`.
    """
    if step.recoding.algorithm != "microaggregation":
        return None
    columns = ((codes[first].astype(np.int64), texts) for codes, texts in indexed)
    from policy_engine.engines.class_evidence import cells_mark  # noqa: PLC0415 (loads numba)

    return cells_mark(columns, sizes)


def present_codes(table: pa.Table, name: str) -> NDArray[np.int32]:
    """Return the index of each row's cell of a quasi-identifier, -1 where it is missing, (rows,).

    Raises the errors of `index_texts`.
    """
    return _present(*index_texts(name, cell_column(table, name)))


def _present(codes: NDArray[np.int32], texts: list[str | None]) -> NDArray[np.int32]:
    """Return the index of each row's text, -1 where it is missing, (rows,)."""
    return np.where(np.array([text is None for text in texts])[codes], np.int32(-1), codes)


def cell_column(table: pa.Table, name: str) -> pa.ChunkedArray:
    """Return a column of cells; where two columns hold the ends of its ranges, joined from them."""
    if name in table.column_names or end_columns(name)[0] not in table.column_names:
        return table.column(name)
    ends = [index_texts(name, table.column(end)) for end in end_columns(name)]
    pairs, count = classes_of([codes for codes, _ in ends])
    first = first_rows(pairs, count)
    (low_of, lows), (high_of, highs) = ends
    texts = [
        _join_ends(name, lows[low], highs[high])
        for low, high in zip(low_of[first].tolist(), high_of[first].tolist(), strict=True)
    ]
    missing = np.array([text is None for text in texts])
    dictionary = from_texts([text or "" for text in texts])
    rows = from_numpy(pairs.astype(np.int32), missing[pairs])
    return pa.chunked_array([pa.DictionaryArray.from_arrays(rows, dictionary)])


def _join_ends(name: str, low: str | None, high: str | None) -> str | None:
    if (low is None) != (high is None):
        message = f"The column {name!r} holds a range with only one end."
        raise CertificateError.of("V002", message)
    return None if low is None or high is None else cells.write_range(low, high)


def index_texts(name: str, column: pa.ChunkedArray) -> tuple[NDArray[np.int32], list[str | None]]:
    """Return the index of each row's text, (rows,), and the distinct texts, missing included.

    Raises CertificateError (V002) where the column's type cannot be written as text.
    """
    if not pa.types.is_dictionary(column.type):
        try:
            column = column.cast(pa.string()).dictionary_encode()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            message = f"The column {name!r} is of type {column.type}, which holds no cells."
            raise CertificateError.of("V002", message) from None
    dictionary = unchunk(column)
    texts = dictionary.dictionary.cast(pa.string()).to_pylist()
    rows = to_numpy(dictionary.indices, missing=len(texts))
    missing = [None] if dictionary.null_count else []
    return rows.astype(np.int32), [*texts, *missing]
