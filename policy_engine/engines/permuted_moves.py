"""The check of permuted values that were read back: that they are of their class, and have moved.

It shares no code with what permutes them.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines.engine import WrittenTable
from policy_engine.engines.permuted_source import PermutedSource
from policy_engine.engines.reading_back import coded_sensitive
from policy_engine.engines.synthesising.equal_cells import cell_numbers
from policy_engine.errors import CertificateError, DataError, PolicyEngineError, join_names
from policy_engine.kernels.class_permutations import Unmoved, displaced, unmoved
from policy_engine.kernels.grouping import Groups
from policy_engine.plan.steps import Anonymize

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class ClassMoves:
    """Of the classes of a table, or of a task: whether some class has other values than before, by
    column, and how many rows have all values as before. Where persons are counted, so many of them,
    a person of several classes in each."""

    is_displaced: tuple[bool, ...]
    unmoved: Unmoved

    @classmethod
    def of(
        cls, class_of: Ints, before: Ints, after: Ints, persons: Ints | None = None
    ) -> "ClassMoves":
        """Return them; `class_of` (rows,) are the classes, and `before` and `after` (rows, columns)
        number the values of every column. Rows of one of the `persons`, (rows,), are as one, and a
        column in which they differ has other values."""
        split = np.zeros(before.shape[1], dtype=np.bool_)
        if persons is not None:
            width = int(persons.max(initial=0)) + 1
            _, first, own = np.unique(
                class_of * width + persons, return_index=True, return_inverse=True
            )
            for numbers in (before, after):
                split |= (numbers != numbers[first[own]]).any(axis=0)
            class_of, before, after = class_of[first], before[first], after[first]
        moved = displaced(class_of, before, after) | split
        return cls(tuple(moved.tolist()), unmoved(class_of, before, after))

    def to_json(self) -> str:
        """Return them as a text."""
        return json.dumps([self.is_displaced, self.unmoved])

    @classmethod
    def from_json(cls, text: str) -> "ClassMoves":
        """Return those that a text tells."""
        is_displaced, facts = json.loads(text)
        return cls(tuple(is_displaced), Unmoved(*facts))


def checked_moves(
    parts: Sequence[ClassMoves], step: Anonymize, persons: int | None = None
) -> Unmoved:
    """Return how many rows, or of so many `persons`, are as they were in all parts.

    Raises CertificateError (V001) where a class has other values than before, where more rows are
    as they were than chance explains, or where a person has rows in several classes.
    """
    columns = zip(*(one.is_displaced for one in parts), strict=True)
    _check_permuted([*map(any, columns)], step.columns.quasi_names)
    rows, stayed, expected, variance = zip(*(one.unmoved for one in parts), strict=True)
    moves = Unmoved(sum(rows), sum(stayed), math.fsum(expected), math.fsum(variance))
    _check_moved(moves, "rows" if persons is None else "persons")
    if persons is not None and persons != moves.rows:
        message = f"Rows of one of the {persons} persons are in several classes: values were not "
        raise CertificateError.of("V001", f"{message}permuted among persons.")
    return moves


def permuted_groups(
    table: pa.Table,
    step: Anonymize,
    written: WrittenTable,
    taxonomies: Mapping[str, Taxonomy],
) -> tuple[Groups, Unmoved]:
    """Return the classes of a table that was read back, and how many of its rows are unmoved.

    Raises DataError (V006) where another run made it, CertificateError (V003) where its rows are
    not those that were made, or as `checked_moves` does.
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
    persons = source.persons
    made = ClassMoves.of(source.class_of, before[:, places], after[:, places], persons)
    moves = checked_moves([made], step, None if persons is None else len(np.unique(persons)))
    count = int(source.class_of.max(initial=-1)) + 1
    sensitive, ancestries = coded_sensitive(table, step, taxonomies)
    loss: dict[str, None] = dict.fromkeys(quasi)
    return Groups(source.class_of, count, sensitive, loss, ancestries, persons), moves


def _check_permuted(is_displaced: Sequence[bool], names: Sequence[str]) -> None:
    """Raise CertificateError (V001) for columns of which some class has other values."""
    wrong = [name for name, one in zip(names, is_displaced, strict=True) if one]
    if wrong:
        message = f"A class of the output has other values of {join_names(wrong)} than it had: "
        raise CertificateError.of("V001", f"{message}they were not permuted within classes.")


def _check_moved(moves: Unmoved, who: str) -> None:
    """Raise CertificateError (V001) where more of them are as they were than chance explains."""
    if not moves.is_by_chance:
        message = f"{moves.unmoved} of {moves.rows} {who} have kept all their quasi-identifiers, "
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
