"""Persons that are known again in other releases: who each row is of, in hidden columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from policy_engine.engines.arrays import from_numpy, to_numpy, unchunk
from policy_engine.engines.encoding import ColumnCodes, encode
from policy_engine.engines.origins import WORD
from policy_engine.engines.persons import person_type, respelt_texts
from policy_engine.engines.reading_back import cell_column, index_texts
from policy_engine.engines.row_keys import row_keys
from policy_engine.engines.text_types import infer_column_type
from policy_engine.kernels.bounds import Ancestry
from policy_engine.kernels.grouping import classes_of
from policy_engine.kernels.intersections import PersonClasses, are_among, distinct_words
from policy_engine.plan.joint import EARLIER, is_joint, within_name
from policy_engine.plan.steps import Anonymize

Words = NDArray[np.uint64]
Ints = NDArray[np.int64]
Respelt = tuple[Words, Words]


@dataclass(frozen=True, eq=False)
class ReleasedPersons:
    """Who is in which class of a release, and with which values, row by row of the output.

    `persons` (rows,) are words that are the same for a person in every release, `classes` (rows,)
    the numbers of classes, and `values` the codes of the sensitive columns with what each code
    stands for, and `types` words for the types of these.
    """

    persons: Words
    classes: Ints
    values: Mapping[str, ColumnCodes]
    types: Mapping[str, str] = field(default_factory=dict)

    def person_classes(self, everybody: Words) -> PersonClasses:
        """Return the classes of all persons of the input, also of those in none."""
        everybody = distinct_words(everybody)
        others = everybody[~are_among(everybody, distinct_words(self.persons))]
        persons = np.concatenate([self.persons, others])
        outside = np.full(len(others), -1, np.int64)
        return PersonClasses.of(persons, np.concatenate([self.classes, outside]))

    def numbered(self) -> Ints:
        """Return the persons, numbered from 0 on, (rows,)."""
        return np.unique(self.persons, return_inverse=True)[1].astype(np.int64)


def words_of_persons(persons: pa.Array, key: bytes) -> Words:
    """Return the words of the persons of rows, given a text for each, (rows,)."""
    return row_keys([persons.cast(pa.string())], key)[:, 0].copy()


def respelt_words(persons: pa.Array, key: bytes) -> Respelt:
    """Return the words of the persons that may be written another way, and those of what all such
    ways have in common, given the texts by which persons are known again."""
    return tuple(words_of_persons(texts, key) for texts in respelt_texts(persons))  # type: ignore[return-value]


def words_of_rows(keys: Words, repeats: Ints) -> Words:
    """Return the words of rows that are each a person's, by the keyed hash of their whole content,
    (rows, 2), and a number among the rows with equal content, (rows,)."""
    factor = (2 * repeats + 1).astype(np.uint64)
    words: Words = keys[:, 0] ^ (keys[:, 1] * factor)
    return words


def with_words(table: pa.Table, words: Words, names: Sequence[str]) -> pa.Table:
    """Return some columns of a table, and the words of its rows in a hidden one."""
    return table.select(list(names)).append_column(WORD, from_numpy(words.view(np.int64).copy()))


def words_in(table: pa.Table) -> Words:
    """Return the words of the rows of a table that has them, (rows,)."""
    return to_numpy(unchunk(table.column(WORD))).astype(np.int64).view(np.uint64)


def with_earlier(
    table: pa.Table, persons: Words, cells: Ints, valued: Sequence[tuple[int, str]]
) -> pa.Table:
    """Return a table with the intersection of the classes of earlier releases that each row's
    person is in, and its pairs with sensitive values, in hidden columns.

    `persons` (persons,), in order, are those of the whole input and `cells` their intersections;
    `valued` are the places and the names of the sensitive columns.
    """
    own = cells[np.searchsorted(persons, words_in(table))].astype(np.int32)
    return with_intersections(table, own, valued)


def with_intersections(
    table: pa.Table, own: NDArray[np.int32], valued: Sequence[tuple[int, str]]
) -> pa.Table:
    """Return a table with the intersection of each row, (rows,), and its pairs with values."""
    groups = from_numpy(own)
    texts = groups.cast(pa.string())
    made = table.append_column(EARLIER, groups)
    for place, name in valued:
        pairs = pc.binary_join_element_wise(texts, _value_texts(unchunk(table.column(name))), "|")
        made = made.append_column(within_name(place), pairs)
    return made


def _value_texts(column: pa.Array) -> pa.Array:
    """Return the texts of values, missing for what is none."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    missing = pa.scalar(None, pa.string())
    texts = column.cast(pa.string())
    if pa.types.is_floating(column.type):
        texts = pc.if_else(pc.is_nan(column), missing, texts)
    return pc.if_else(pc.equal(texts, ""), missing, texts)


def joint_trees(step: Anonymize, columns: Mapping[str, ColumnCodes]) -> dict[str, Ancestry]:
    """Return the groups of the pairs of intersections and values, as trees, by hidden column."""
    return {
        one.name: _tree(columns[one.name])
        for one in step.columns.sensitive
        if is_joint(one.name) and one.name != EARLIER and one.name in columns
    }


def _tree(column: ColumnCodes) -> Ancestry:
    """Return a tree with a node for every group of pairs, and below it the pairs."""
    count = int(column.values().max(initial=-1)) + 1
    labels = column.labels[len(column.labels) - count :].tolist()
    _, group_of = np.unique([text.partition("|")[0] for text in labels], return_inverse=True)
    groups = int(group_of.max(initial=-1)) + 1
    parent = np.concatenate([[-1], np.zeros(groups), group_of.astype(np.int64) + 1])
    height = np.concatenate([[2], np.ones(groups), np.zeros(count)])
    leaf = np.arange(count, dtype=np.int64) + groups + 1
    return Ancestry(parent.astype(np.int64), height.astype(np.int64), leaf)


def released_persons(table: pa.Table, persons: Words, step: Anonymize) -> ReleasedPersons:
    """Return who is in which class of an output that was read back, given each row's person.

    Rows with equal cells are one class. Raises CertificateError (V002) for cells without a text.
    """
    columns = [index_texts(name, cell_column(table, name))[0] for name in step.columns.quasi_names]
    class_of, _ = classes_of(columns)
    values = {
        name: encode(name, table.column(name), numbers=True, is_generalised=False)
        for name in step.columns.sensitive_names
    }
    types = {name: _type_of_values(table.column(name)) for name in values}
    return ReleasedPersons(persons, class_of.astype(np.int64), values, types)


def _type_of_values(column: pa.ChunkedArray) -> str:
    return person_type(column.type, infer_column_type(unchunk(column), numbers=True))
