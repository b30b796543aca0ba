"""Quasi-identifiers that are permuted within classes, and the check of what was written of them."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.arrays import from_numpy
from policy_engine.engines.engine import WrittenTable
from policy_engine.engines.generalizations import Generalizer
from policy_engine.engines.masking.perturbing import RowKeys
from policy_engine.engines.row_keys import row_keys
from policy_engine.engines.synthesising.equal_cells import cell_numbers
from policy_engine.engines.tied_rows import tie_secret
from policy_engine.errors import CertificateError, DataError, PolicyEngineError, join_names
from policy_engine.kernels.class_permutations import Unmoved, displaced, permutations, unmoved
from policy_engine.kernels.grouping import Groups
from policy_engine.kernels.mondrian import Partition
from policy_engine.methods.permutation import PERMUTING
from policy_engine.plan.steps import Anonymize

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class PermutedSource:
    """What the rows of a release were made from, in its order, and the class of each, (rows,).

    `before` has the columns that are released, with the quasi-identifiers that the rows had.
    """

    before: pa.Table = field(repr=False)
    class_of: Ints = field(repr=False)


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
    class_of = np.empty(table.num_rows, dtype=np.int64)
    class_of[classes.order] = np.repeat(np.arange(len(classes.starts) - 1), np.diff(classes.starts))
    keys = RowKeys.of(before, tie_secret(key, PERMUTING))
    words = keys.words(draw_label(step), len(names) + 1)
    sources = permutations(class_of, words)
    for place, name in enumerate(names):
        column = table.schema.get_field_index(name)
        values = table.column(column).take(from_numpy(sources[:, place]))
        table = table.set_column(column, table.schema.field(column), values)
    order = _order(table.select(list(released)), words[:, 0])
    before = before.drop_columns([*step.columns.hidden]).take(from_numpy(order))
    return PermutedRows(table, order, PermutedSource(before, class_of[order]))


def draw_label(step: Anonymize) -> int:
    """Return a number that tells the draws of a step from those of others under the same key."""
    text = "\n".join(one.model_dump_json() for one in (step.columns, step.recoding))
    digest = hashlib.blake2b(f"{step.k}\n{text}".encode(), digest_size=8).digest()
    return int.from_bytes(digest)


def _order(released: pa.Table, words: NDArray[np.uint64]) -> Ints:
    """Return the rows in an order that what is released decides; rows alike in that of words."""
    high, low = row_keys(released.columns, bytes(16)).T
    return np.lexsort((words, low, high))


def permuted_groups(
    table: pa.Table, step: Anonymize, written: WrittenTable
) -> tuple[Groups, Unmoved]:
    """Return the classes of a table that was read back, and how many of its rows are unmoved.

    Raises DataError (V006) where another run made it, CertificateError (V003) where its rows are
    not those that were made, or (V001) where a class has other values than before, or where more
    rows are as they were than chance explains.
    """
    source = written.anonymized.engine_state if written.anonymized else None
    if not isinstance(source, PermutedSource):
        raise unknown_classes()
    if table.num_rows != source.before.num_rows:
        raise _other_rows(written)
    names, quasi = source.before.column_names, step.columns.quasi_names
    before, after = cell_numbers([source.before], table.select(names))
    places = [names.index(name) for name in quasi]
    others = [place for place in range(len(names)) if place not in places]
    if (before[:, others] != after[:, others]).any():
        raise _other_rows(written)
    check_permuted(displaced(source.class_of, before[:, places], after[:, places]), quasi)
    moves = unmoved(source.class_of, before[:, places], after[:, places])
    check_moved(moves)
    count = int(source.class_of.max(initial=-1)) + 1
    return Groups(source.class_of, count, {}, dict.fromkeys(quasi)), moves


def check_permuted(is_displaced: Sequence[bool] | NDArray[np.bool_], names: Sequence[str]) -> None:
    """Raise CertificateError (V001) for columns of which some class has other values."""
    wrong = [name for name, one in zip(names, is_displaced, strict=True) if one]
    if wrong:
        message = f"A class of the output has other values of {join_names(wrong)} than it had: "
        raise CertificateError.of("V001", f"{message}they were not permuted within classes.")


def check_moved(moves: Unmoved) -> None:
    """Raise CertificateError (V001) where more rows are as they were than chance explains."""
    if not moves.is_by_chance:
        message = f"{moves.unmoved} of {moves.rows} rows have kept all their quasi-identifiers, "
        message += f"and chance lets expect {moves.expected:.0f}: they were not permuted at random."
        raise CertificateError.of("V001", message)


def _other_rows(written: WrittenTable) -> PolicyEngineError:
    message = "The rows of the output are not those that the input gives."
    return CertificateError.of("V003", message, source=written.stored.location)


def unknown_classes() -> PolicyEngineError:
    """Return the error (V006) of permuted values where only the output is known."""
    message = "Nothing in a table shows within which classes its values were permuted."
    hint = "Give the data and the key that it was made with, or release it again."
    return DataError.of("V006", message, hint)


def doubts_of_extremes(quasi: Mapping[str, Generalizer], k: int) -> Iterator[str]:
    """Yield the columns with an order of which fewer than k rows have the greatest or least value:
    whoever knows of them sees in which class they are."""
    for name, generalizer in quasi.items():
        column = generalizer.column
        counts = column.counts()[int(column.has_missing) :]
        if column.is_ordered and len(counts) and min(counts[0], counts[-1]) < k:
            message = f"Fewer than {k} rows have the least or the greatest value of {name!r}. It "
            message += "is released as it is, and shows whoever knows whose it is the rows of the "
            yield f"{message}class. Put a limit in place of values beyond it before: top coding."
