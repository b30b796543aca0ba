"""Quasi-identifiers that are permuted within classes."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.arrays import from_numpy, to_numpy
from policy_engine.engines.generalizations import Generalizer
from policy_engine.engines.masking.perturbing import RowKeys
from policy_engine.engines.permuted_source import PermutedSource
from policy_engine.engines.preparation import texts_of_persons
from policy_engine.engines.row_keys import row_keys
from policy_engine.engines.tied_rows import tie_secret
from policy_engine.errors import DataError, format_count
from policy_engine.kernels.class_permutations import permutations
from policy_engine.kernels.mondrian import Partition
from policy_engine.methods.permutation import PERMUTING
from policy_engine.plan.steps import Anonymize

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class PermutedRows:
    """The rows of a table with the values of their classes permuted.

    `order` (rows,) are the rows of the table in the order of the release: that of a hash of what
    is released, so that the place of a row tells nothing of its class, nor of its place before.
    """

    table: pa.Table = field(repr=False)
    order: Ints = field(repr=False)
    source: PermutedSource


def permute(
    table: pa.Table,
    step: Anonymize,
    classes: Partition,
    released: Sequence[str],
    key: bytes | None,
) -> PermutedRows:
    """Return a table with each quasi-identifier permuted at random within classes, by itself.

    What is drawn follows from a secret, the owner's `key` or one that is kept nowhere, and from
    what is `released` of the rows, not from their order.
    """
    names = step.columns.quasi_names
    before = table.select(list(released))
    class_of = classes_by_row(classes)
    keys = RowKeys.of(before, permuting_secret(key))
    unit = step.columns.privacy_unit
    persons = PermutedPersons.of(texts_of_persons(table, unit), keys) if unit else None
    sources = source_rows(class_of, keys, draw_label(step), len(names), persons)
    for place, name in enumerate(names):
        column = table.schema.get_field_index(name)
        values = table.column(column).take(from_numpy(sources[:, place]))
        table = table.set_column(column, table.schema.field(column), values)
    visible_names = [name for name in released if name not in step.columns.hidden]
    order = _order(table.select(visible_names), keys.words(_ORDER, 1)[:, 0])
    before = before.select(visible_names).take(from_numpy(order))
    numbers = None if persons is None else persons.numbers[order]
    return PermutedRows(table, order, PermutedSource(before, class_of[order], numbers))


_ORDER = int.from_bytes(b"of rows.")
"""Tells the words by which rows that are released alike are ordered from those of permutations."""


def permuting_secret(key: bytes | None) -> bytes:
    """Return the secret that permutations follow from, 16 bytes: from the owner's `key`, or one
    that is kept nowhere."""
    return tie_secret(key, PERMUTING)


def classes_by_row(classes: Partition) -> Ints:
    """Return the number of the class of every row, (rows,)."""
    class_of = np.empty(len(classes.order), dtype=np.int64)
    class_of[classes.order] = np.repeat(np.arange(len(classes.starts) - 1), np.diff(classes.starts))
    return class_of


@dataclass(frozen=True)
class PermutedPersons:
    """The person of each row, numbered from 0, (rows,), and of each person a row, (persons,), and
    what tells the person from others."""

    numbers: Ints
    first: Ints
    keys: RowKeys

    @classmethod
    def of(cls, texts: pa.Array, keys: RowKeys) -> "PermutedPersons":
        """Return the persons that texts name, (rows,); all rows without one are of one person.

        The row of a person is that of the least of the `keys`, in whatever order rows are.
        """
        encoded = texts.dictionary_encode()
        codes = to_numpy(encoded.indices, missing=len(encoded.dictionary))
        numbers = np.unique(codes, return_inverse=True)[1].astype(np.int64)
        order = np.lexsort((keys.keys[:, 1], keys.keys[:, 0], numbers))
        first = order[np.unique(numbers[order], return_index=True)[1]]
        names = pa.table({"person": texts.take(from_numpy(first))})
        return cls(numbers, first, RowKeys.of(names, keys.key))


def source_rows(
    class_of: Ints, keys: RowKeys, label: int, columns: int, persons: PermutedPersons | None = None
) -> Ints:
    """Return for every row and column the row of its class whose value it gets, (rows, columns).

    The `keys` of the rows and the `label` decide, and neither the order of the rows nor what is in
    other classes. All rows of one of `persons` get the value of one other.
    """
    if persons is None:
        return permutations(class_of, keys.words(label, columns + 1))
    words = persons.keys.words(label, columns + 1)
    sources: Ints = persons.first[permutations(class_of[persons.first], words)]
    return sources[persons.numbers]


def check_persons(unlike: int, unit: str) -> None:
    """Raise DataError (R020) where `unlike` persons have rows with different quasi-identifiers."""
    if unlike:
        who = f"{format_count(unlike, 'person')} of {unit!r}"
        message = (
            f"{who} {'has' if unlike == 1 else 'have'} rows with different quasi-identifiers. "
        )
        message += "Whoever knows them all may tell by what else they have in common which rows "
        message += "are of one person: that a link has at most the probability 1/k is not shown."
        hint = "Give every row of a person the same quasi-identifiers, or keep one row of each."
        raise DataError.of("R020", message, hint)


def unlike_persons(persons: NDArray[Any], quasi: Sequence[NDArray[Any]]) -> int:
    """Return how many persons have rows with different codes of quasi-identifiers, each (rows,)."""
    order = np.argsort(persons, kind="stable")
    same = persons[order][1:] == persons[order][:-1]
    other = np.any([codes[order][1:] != codes[order][:-1] for codes in quasi], axis=0)
    return len(np.unique(persons[order][1:][same & other]))


def draw_label(step: Anonymize) -> int:
    """Return a number that tells the draws of a step from those of others under the same key."""
    text = "\n".join(one.model_dump_json() for one in (step.columns, step.recoding))
    digest = hashlib.blake2b(f"{step.k}\n{text}".encode(), digest_size=8).digest()
    return int.from_bytes(digest)


def _order(released: pa.Table, words: NDArray[np.uint64]) -> Ints:
    """Return the rows in an order that what is released decides; rows alike in that of words."""
    high, low = row_keys(released.columns, bytes(16)).T
    return np.lexsort((words, low, high))


def doubts_of_extremes(
    quasi: Mapping[str, Generalizer], k: int, persons: NDArray[Any] | None = None
) -> Iterator[str]:
    """Yield the columns with an order of which fewer than k rows have the greatest or least value,
    or fewer than k of the `persons` of rows: whoever knows of them sees in which class they are."""
    # All rows of a person have the same values.
    one_each = None if persons is None else np.unique(persons, return_index=True)[1]
    for name, generalizer in quasi.items():
        column = generalizer.column
        counts = column.counts() if one_each is None else np.bincount(column.codes[one_each])
        if column.is_ordered and is_rare_end(counts[int(column.has_missing) :], k):
            yield doubt_of_extremes(name, k, is_of_persons=persons is not None)


def is_rare_end(counts: Sequence[int] | Ints, k: int) -> bool:
    """Tell whether the first or the last of some values, in order, is in fewer than k rows."""
    return len(counts) > 0 and bool(min(counts[0], counts[-1]) < k)


def doubt_of_extremes(name: str, k: int, *, is_of_persons: bool) -> str:
    """Return the warning about a column that has an extreme value in too few rows, or persons."""
    who = "persons" if is_of_persons else "rows"
    message = f"Fewer than {k} {who} have the least or the greatest value of {name!r}. It is "
    message += "released as it is, and shows whoever knows whose it is the rows of the class. Put "
    return f"{message}a limit in place of values beyond it before: top coding."
