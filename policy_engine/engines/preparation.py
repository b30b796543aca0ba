"""Encode the columns of a table, and check that the whole table can satisfy the bounds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines import field_marks
from policy_engine.engines.arrays import unchunk
from policy_engine.engines.contents import array_marks, content_order, row_marks
from policy_engine.engines.distinct_values import text_ranks
from policy_engine.engines.encoding import ColumnCodes, ancestry, encode
from policy_engine.engines.generalizations import Generalizer, encode_quasi_identifier, generalizer
from policy_engine.engines.guiding import targets_in
from policy_engine.engines.identified import joint_trees
from policy_engine.engines.number_lists import is_array_of_numbers
from policy_engine.engines.person_spellings import encoded_persons
from policy_engine.engines.persons import person_texts, person_type
from policy_engine.engines.text_types import infer_column_type
from policy_engine.errors import DataError, Problem, format_count
from policy_engine.kernels.axis import Axis, Codes
from policy_engine.kernels.bounds import Ancestry
from policy_engine.kernels.diversity import ValueHistogram, histogram, whole_histogram
from policy_engine.kernels.grouping import distinct
from policy_engine.kernels.layout import SensitiveRows
from policy_engine.methods import Bound
from policy_engine.plan.joint import is_joint
from policy_engine.plan.steps import Anonymize


@dataclass(frozen=True)
class PreparedTable:
    """A table with its columns encoded.

    `kept` holds the ranks of what is written in the columns that are released unchanged; `texts`,
    by which rows are ordered, are those columns and the person of each row. `targets` (rows,
    targets) are those by which classes are cut, and `label` is what a row is to have most often in
    its class in order to stand for it, where rows do. `sensitive` has what is hidden of a
    step made jointly as well, which orders no released rows.
    """

    rows: int
    quasi: Mapping[str, Generalizer]
    sensitive: Mapping[str, ColumnCodes]
    kept: Mapping[str, NDArray[np.integer]]
    ancestries: Mapping[str, Ancestry]
    persons: Codes | None
    texts: list[pa.ChunkedArray]
    targets: NDArray[np.int64] | None = None
    label: ColumnCodes | None = None

    def content_order(self, words: NDArray[np.uint64] | None = None) -> NDArray[np.int64]:
        """Return the rows in an order that depends on their content only, (rows,).

        With random `words`, (rows,), those order the rows with equal quasi-identifiers.
        """
        ranks = [*self.kept.values()]
        ranks += [] if self.persons is None else [self.persons]
        ranks += [one.codes for name, one in self.sensitive.items() if is_joint(name)]
        quasi = [generalizer.column.codes for generalizer in self.quasi.values()]
        marks = row_marks(map(unchunk, self.texts), self.rows)
        return content_order(quasi, marks, ranks, words)

    def sensitive_rows(self) -> SensitiveRows:
        """Return the sensitive values and the persons, which no class may disclose."""
        return SensitiveRows(
            tuple(column.values() for column in self.sensitive.values()), self.persons
        )

    def axes(self, step: Anonymize) -> list[Axis]:
        """Return the quasi-identifiers as axes for the partitioners."""
        wildcard = step.recoding.missing == "wildcard"
        return [
            Axis(
                generalizer.column.codes,
                generalizer.shape(),
                generalizer.column.has_missing,
                wildcard,
                quasi_identifier.weight,
            )
            for generalizer, quasi_identifier in zip(
                self.quasi.values(), step.columns.quasi_identifier, strict=True
            )
        ]


def prepare(
    table: pa.Table,
    step: Anonymize,
    taxonomies: Mapping[str, Taxonomy],
    released: Sequence[str] = (),
) -> PreparedTable:
    """Return a table with its columns encoded by their roles.

    Columns that are `released` without a role stay unchanged. Raises DataError where the values of
    a column do not support its role.
    """
    columns = step.columns
    table = _with_array_marks(table, unbounded_columns(step, released))
    quasi, sensitive = {}, {}
    released_codes: dict[str, NDArray[np.integer]] = {}
    for one in columns.quasi_identifier:
        numbers = field_marks.is_untyped(table.schema.field(one.name))
        column = encode_quasi_identifier(one, table.column(one.name), numbers=numbers)
        taxonomy = taxonomies.get(one.taxonomy)
        quasi[one.name] = generalizer(one.name, column, one, taxonomy)
    sensitive_names = shown_sensitive(step)
    kept = (*sensitive_names, *unbounded_columns(step, released), *columns.pseudonymize)
    table = _with_one_dictionary(table, kept)
    for name in columns.sensitive_names:
        # As the certificate will compare sensitive texts when it reads them back from a file.
        sensitive[name] = _encode_column(table, name, numbers=True)
    for name in (*sensitive_names, *unbounded_columns(step, released)):
        codes = (sensitive[name] if name in sensitive else _encode_column(table, name)).codes
        released_codes[name] = _content_ranks(codes, text_ranks(table.column(name)))
    for name in columns.pseudonymize:
        released_codes[name] = text_ranks(table.column(name))
    return PreparedTable(
        rows=table.num_rows,
        quasi=quasi,
        sensitive=sensitive,
        kept=released_codes,
        ancestries={
            one.name: ancestry(one.name, sensitive[one.name], taxonomies[one.taxonomy])
            for one in columns.sensitive
            if one.taxonomy
        }
        | joint_trees(step, sensitive),
        persons=_persons(table, columns.privacy_unit) if columns.privacy_unit else None,
        texts=[*map(table.column, released_codes), *_person_texts(table, columns.privacy_unit)],
        targets=targets_in(table),
        label=_label(table, step),
    )


def _content_ranks(codes: NDArray[np.int32], texts: NDArray[np.int32]) -> NDArray[np.integer]:
    """Return the ranks of every row by its value and then by its text, (rows,)."""
    if not texts.any():
        return codes
    # A text has one value, and a missing one, which has rank 0, has the code of what is missing.
    code_of_text = np.zeros(int(texts.max()) + 1, dtype=np.int32)
    code_of_text[texts] = codes
    rank = np.empty(len(code_of_text), dtype=np.int32)
    rank[np.argsort(code_of_text, kind="stable")] = np.arange(len(rank), dtype=np.int32)
    return rank[texts]


def _with_one_dictionary(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """Return a table in which some columns are one chunk each: dictionaries, which are used more
    than once, are then unified once only."""
    for name in names:
        place = table.schema.get_field_index(name)
        field, column = table.schema.field(place), table.column(place)
        if pa.types.is_dictionary(field.type):
            table = table.set_column(place, field, pa.chunked_array([unchunk(column)]))
    return table


def _with_array_marks(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """Return a table in which arrays of some columns are texts, by which their rows are ordered."""
    for name in names:
        if is_array_of_numbers(table.schema.field(name).type):
            marks = [array_marks(chunk) for chunk in table.column(name).chunks]
            place = table.schema.get_field_index(name)
            table = table.set_column(place, name, pa.chunked_array(marks, pa.string()))
    return table


def shown_sensitive(step: Anonymize) -> tuple[str, ...]:
    """Return the sensitive columns that are released, without those that a run hides."""
    return tuple(name for name in step.columns.sensitive_names if not is_joint(name))


def unbounded_columns(step: Anonymize, released: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that are released unchanged without a bound: the insensitive ones, and
    those that earlier steps made."""
    with_role = {*step.columns.released, *step.columns.dropped}
    return (*step.columns.insensitive, *(name for name in released if name not in with_role))


def _persons(table: pa.Table, name: str) -> Codes:
    """Return the number of each row's person, (rows,); all rows without one are of person 0."""
    place = table.schema.get_field_index(name)
    persons = encoded_persons(table.column(place))
    numbers = field_marks.is_untyped(table.schema.field(place))
    return encode(name, persons, numbers=numbers, is_generalised=False).values() + np.int32(1)


def _label(table: pa.Table, step: Anonymize) -> ColumnCodes | None:
    names = label_by_which_rows_stand(step)
    return _encode_column(table, names[0]) if names else None


def label_by_which_rows_stand(step: Anonymize) -> tuple[str, ...]:
    """Return the label that the row that stands for a class has in common with most of it; nothing
    where no row does."""
    guide = step.recoding.guide
    return (guide.label,) if guide is not None and guide.representative == "nearest" else ()


def _person_texts(table: pa.Table, name: str) -> Iterator[pa.ChunkedArray]:
    if name:
        yield pa.chunked_array([texts_of_persons(table, name)])


def texts_of_persons(table: pa.Table, name: str) -> pa.Array:
    """Return a text for each row's person, missing where a row names nobody, (rows,).

    Other tables know persons again by it. Raises DataError (C009) for a type that has no text.
    """
    field, column = table.schema.field(name), unchunk(table.column(name))
    return person_texts(column, infer_column_type(column, numbers=field_marks.is_untyped(field)))


def type_of_persons(table: pa.Table, name: str) -> str:
    """Return a word for the type by which `texts_of_persons` tells persons apart."""
    field, column = table.schema.field(name), unchunk(table.column(name))
    kind = infer_column_type(column, numbers=field_marks.is_untyped(field))
    return person_type(field.type, kind)


def _encode_column(table: pa.Table, name: str, *, numbers: bool = False) -> ColumnCodes:
    numbers = numbers or field_marks.is_untyped(table.schema.field(name))
    return encode(name, table.column(name), numbers=numbers, is_generalised=False)


@dataclass(frozen=True)
class Overview:
    """The figures of a table as a single class: its rows, its persons if it has a privacy unit, and
    how often each sensitive value occurs."""

    rows: int
    persons: int | None
    histograms: Mapping[str, ValueHistogram]
    ancestries: Mapping[str, Ancestry]


def overview(prepared: PreparedTable) -> Overview:
    """Return the figures of a prepared table as a single class."""
    persons = None if prepared.persons is None else prepared.persons.astype(np.int64)
    histograms = {
        name: _whole_histogram(column.values(), persons)
        for name, column in prepared.sensitive.items()
    }
    count = None if persons is None else len(distinct(persons))
    return Overview(prepared.rows, count, histograms, prepared.ancestries)


def _whole_histogram(codes: NDArray[np.int32], persons: NDArray[np.int64] | None) -> ValueHistogram:
    if persons is None:
        return whole_histogram(codes)
    return histogram(np.zeros(len(codes), dtype=np.int64), 1, codes, persons)


def check_feasible(table: Overview, step: Anonymize) -> None:
    """Raise DataError (R002, R003) with every bound that the table as a whole does not satisfy."""
    # If the classes of a table all satisfy a bound, so does the table as a whole.
    problems = list(_violations(table, step))
    if problems:
        raise DataError(*problems)


def _violations(table: Overview, step: Anonymize) -> Iterator[Problem]:
    units = table.rows if table.persons is None else table.persons
    if units < step.k:
        counted = format_count(units, "row" if table.persons is None else "person")
        message = f"The table has {counted}, fewer than k, which is {step.k}."
        yield Problem("R002", message)
    for name, counts in table.histograms.items():
        for method, parameters in step.models_about(name):
            bound = method.bound(parameters)
            [figure] = method.figures(counts, parameters, table.ancestries.get(name)).tolist()
            if not bound.holds(figure):
                yield _violation(bound, figure, counts)


def _violation(bound: Bound, figure: float, counts: ValueHistogram) -> Problem:
    relation = {"at least": "below", "at most": "above", "below": "not below"}[bound.sense]
    rounded = _round_figure(figure, up=bound.sense != "at least")
    if not counts.members[0]:
        message = f"The sensitive column {bound.column!r} has no values."
        return Problem("R003", message)
    message = (
        f"{bound.name} of {bound.column!r} is {bound.asked:g}. The table as a whole reaches "
        f"{rounded:g}, {relation} that."
    )
    most = "at most" if bound.sense == "at least" else "at least"
    if bound.sense == "below":
        most = "above"
    # With a single value, or fewer than l values, no allowed bound can be satisfied.
    is_feasible = np.isfinite(figure) and figure != 1
    hint = f"On this table, {bound.parameter} can be {most} {rounded:g}." if is_feasible else ""
    return Problem("R003", message, hint)


def _round_figure(figure: float, *, up: bool) -> float:
    """Return a figure with four digits, rounded to the side on which a bound can be satisfied."""
    if not np.isfinite(figure) or float(figure).is_integer():
        return figure
    step = 10.0 ** (np.floor(np.log10(abs(figure))) - 3)
    return float(np.ceil(figure / step) * step if up else np.floor(figure / step) * step)
