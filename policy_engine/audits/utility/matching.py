"""The columns of two tables over one domain of values each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from policy_engine.audits.utility.model import Kind
from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines import generalizations
from policy_engine.engines.arrays import from_numpy, is_text, to_numpy, unchunk, value_type
from policy_engine.engines.encoding import ColumnCodes, encode
from policy_engine.engines.field_marks import is_untyped
from policy_engine.engines.reading_back import cell_column
from policy_engine.errors import CertificateError, DataError, PolicyEngineError
from policy_engine.kernels.spread import Spread, exact, spread
from policy_engine.kernels.utility import ValueDomain
from policy_engine.methods.columns import PERTURBATIVE, QuasiIdentifier
from policy_engine.plan.anonymization import Anonymization


@dataclass(frozen=True)
class MatchedColumn:
    """A column before and after, over one domain.

    `labels` and `position` (size,) are those of its values, see `ColumnCodes`. Of pseudonyms the
    domain is the ranks of their frequencies.
    """

    name: str
    role: str
    kind: Kind
    labels: NDArray[np.object_]
    position: NDArray[np.float64]
    is_ordered: bool
    has_missing: bool
    before: Spread
    after: Spread

    @property
    def size(self) -> int:
        """How many values there are."""
        return len(self.labels)

    @property
    def is_changed(self) -> bool:
        """Whether cells say other than what the values were."""
        return self.kind in ("generalised", "representative", "masked")

    @property
    def has_labels(self) -> bool:
        """Whether some cells of a masked column are labels instead of values."""
        return self.kind == "masked" and len(self.after.starts) > self.size + 1

    @property
    def tells_values(self) -> bool:
        """Whether some cell stands for fewer than all values."""
        covered = self.after.totals(np.ones(self.size))[self.after.cell_of]
        return self.size == 1 or bool((covered < self.size).any())

    def numbers(self) -> NDArray[np.float64]:
        """Return the place of every value on the axis, nan for missing, (size,)."""
        placed = self.position.astype(np.float64).copy()
        placed[: int(self.has_missing)] = np.nan
        return placed

    def domain(self) -> ValueDomain:
        """Return what may be asked of the column."""
        return ValueDomain(self.size, self.is_ordered, self.has_missing, self.is_changed)


def match(
    original: pa.Table,
    release: pa.Table,
    anonymization: Anonymization,
    taxonomies: Mapping[str, Taxonomy],
    masked: Sequence[str] = (),
) -> Iterator[MatchedColumn]:
    """Yield every column of a release beside that of its original; blackened ones have none.

    Raises CertificateError (V002) where a cell covers no value of the original: the release
    was made from another table. Raises DataError as `encode` does.
    """
    columns = anonymization.columns
    for one in columns.quasi_identifier:
        if one.generalization in PERTURBATIVE:
            yield match_values(one.name, "quasi-identifier", "representative", original, release)
        else:
            yield _generalised(one, original, release, taxonomies.get(one.taxonomy))
    for role in ("sensitive", "insensitive"):
        names = columns.sensitive_names if role == "sensitive" else columns.insensitive
        for name in names:
            if not holds_arrays(release, name):
                yield match_values(name, role, "kept", original, release)
    for name in columns.pseudonymize:
        yield _pseudonyms(name, original, release)
    for name in masked:
        if not holds_arrays(release, name):
            yield _match_masked(name, original, release)


def holds_arrays(table: pa.Table, name: str) -> bool:
    """Tell whether a column holds arrays, such as images, which are not compared."""
    return name in table.column_names and pa.types.is_nested(table.schema.field(name).type)


def _generalised(
    quasi_identifier: QuasiIdentifier,
    original: pa.Table,
    release: pa.Table,
    taxonomy: Taxonomy | None,
) -> MatchedColumn:
    name = quasi_identifier.name
    values = _quasi_encoded(quasi_identifier, original)
    cells = encode(name, cell_column(release, name), numbers=False, is_generalised=False)
    codes_of = generalizations.code_finder(quasi_identifier, values, taxonomy)
    codes = [codes_of(label or None) for label in cells.labels]
    if not all(map(len, codes)):
        raise _foreign_release(name)
    after = spread(cells.codes, codes, len(values.labels))
    return _matched_column(name, "quasi-identifier", "generalised", values, _exact(values), after)


def _foreign_release(name: str) -> PolicyEngineError:
    message = f"A cell of {name!r} matches no value of the original."
    hint = "Compare the release with the table that it was made from."
    return CertificateError.of("V002", message, hint)


def match_values(
    name: str, role: str, kind: Kind, original: pa.Table, release: pa.Table
) -> MatchedColumn:
    """Match a column whose cells are values, over those of both tables.

    Raises DataError (C009) where these are of types that cannot be compared, or as `encode` does.
    """
    field, rows = original.schema.field(name), original.num_rows
    columns = [original.column(name), release.column(name)]
    held = columns[0].type
    if held != columns[1].type or pa.types.is_dictionary(held) or pa.types.is_null(held):
        try:
            columns = [column.cast(pa.string()) for column in columns]
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            message = f"The values of {name!r} are {held} in the original, and {columns[1].type} "
            hint = "Give both tables texts or numbers."
            raise DataError.of("C009", f"{message}in the release.", hint) from None
    values = encoded(name, field, pa.chunked_array([c for one in columns for c in one.chunks]))
    size = len(values.labels)
    before, after = exact(values.codes[:rows], size), exact(values.codes[rows:], size)
    return _matched_column(name, role, kind, values, before, after)


_LABEL = r"^[<>]-?[0-9]+(\.[0-9]+)?$"


def _match_masked(name: str, original: pa.Table, release: pa.Table) -> MatchedColumn:
    """Match a masked column; a label such as `>64` stands for the values on that side of it.

    Raises CertificateError (V002) where there are none.
    """
    texts = release.column(name)
    if is_text(value_type(texts.type)):
        texts = texts.cast(pa.string())
        is_label = to_numpy(unchunk(pc.match_substring_regex(texts, _LABEL)))
        labels = unchunk(texts.filter(from_numpy(is_label))).dictionary_encode()
        values = original.column(name).drop_null()
        if len(labels) and len(values):
            some = unchunk(values.slice(0, 1).cast(pa.string()))[0]
            numbers = pc.if_else(from_numpy(is_label), some, unchunk(texts))
            place = release.schema.get_field_index(name)
            without = release.set_column(place, name, pa.chunked_array([numbers]))
            matched = match_values(name, "masked", "masked", original, without)
            if matched.is_ordered:
                return _with_labels(matched, is_label, labels)
    return match_values(name, "masked", "masked", original, release)


def _with_labels(
    column: MatchedColumn, is_label: NDArray[np.bool_], labels: pa.DictionaryArray
) -> MatchedColumn:
    """Return a column some rows of which have a label instead of the value that they are given."""
    first = int(column.has_missing)
    values = column.labels[first:].astype(np.float64)
    low, high = [*range(column.size)], [*range(1, column.size + 1)]
    for text in labels.dictionary.to_pylist():
        at_least, bound = text[0] == ">", float(text[1:])
        low.append(first + int(np.searchsorted(values, bound, "right")) if at_least else first)
        end = column.size if at_least else first + int(np.searchsorted(values, bound, "left"))
        high.append(end)
    if not (np.array(low) < np.array(high)).all():
        raise _foreign_release(column.name)
    cells = column.after.cell_of.astype(np.int64)
    cells[is_label] = column.size + to_numpy(labels.indices)
    starts = np.arange(len(low) + 1, dtype=np.int64)
    after = Spread(cells, starts, np.array(low), np.array(high), column.size)
    return replace(column, after=after)


def _pseudonyms(name: str, original: pa.Table, release: pa.Table) -> MatchedColumn:
    """Match names that say nothing but that they are the same, by how often each occurs."""
    before, after = (_ranks(name, table.column(name)) for table in (original, release))
    size = int(max(before.max(initial=0), after.max(initial=0))) + 1
    labels = np.array([f"number {rank + 1}" for rank in range(size)], dtype=object)
    values = ColumnCodes(
        before, labels, np.linspace(0, 1, size), is_ordered=True, has_missing=False
    )
    return _matched_column(
        name, "pseudonymize", "pseudonym", values, _exact(values), exact(after, size)
    )


def _ranks(name: str, column: pa.ChunkedArray) -> NDArray[np.int32]:
    codes = encode(name, column, numbers=False, is_generalised=False).codes
    counts = np.bincount(codes)
    rank = np.empty(len(counts), dtype=np.int32)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return rank[codes]


def _quasi_encoded(quasi_identifier: QuasiIdentifier, original: pa.Table) -> ColumnCodes:
    column, numbers = (
        original.column(quasi_identifier.name),
        _has_numbers(original.schema.field(quasi_identifier.name)),
    )
    try:
        return generalizations.encode_quasi_identifier(quasi_identifier, column, numbers=numbers)
    except DataError:  # infinite values have a rank, but no place
        return generalizations.encode_quasi_identifier(
            quasi_identifier, column, numbers=numbers, is_generalised=False
        )


def encoded(name: str, field: pa.Field, column: pa.ChunkedArray) -> ColumnCodes:
    """Return a column of the original encoded, numbers placed by their value where they can be.

    Numbers in a text are read as such where the field is of a file without types, or of numbers.
    """
    numbers = _has_numbers(field)
    try:
        return encode(name, column, numbers=numbers, is_generalised=True)
    except DataError:  # infinite values have a rank, but no place
        return encode(name, column, numbers=numbers, is_generalised=False)


def _has_numbers(field: pa.Field) -> bool:
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    return is_untyped(field) or not is_text(kind)


def _exact(values: ColumnCodes) -> Spread:
    return exact(values.codes, len(values.labels))


def _matched_column(
    name: str, role: str, kind: Kind, values: ColumnCodes, before: Spread, after: Spread
) -> MatchedColumn:
    facts: dict[str, Any] = {
        "labels": values.labels,
        "position": values.position,
        "is_ordered": values.is_ordered,
        "has_missing": values.has_missing,
    }
    return MatchedColumn(name=name, role=role, kind=kind, before=before, after=after, **facts)
