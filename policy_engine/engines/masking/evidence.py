"""What is seen when columns are masked, and what they show when they are read back."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from policy_engine.engines.arrays import from_numpy, to_numpy
from policy_engine.engines.masking.categories import codes_of
from policy_engine.engines.masking.columns import ColumnJudgement, SingleColumn, rounded
from policy_engine.engines.masking.marks import add_marks, column_mark, typed_values
from policy_engine.engines.masking.numbers import NumberForm, as_spelled, as_written, to_floats
from policy_engine.engines.masking.perturbing import KnownGroup
from policy_engine.engines.masking.surveys import Group, Kinds, SharedValues, columns_of, is_present
from policy_engine.errors import DataError, join_names
from policy_engine.kernels.moments import Moments
from policy_engine.methods.perturbation import ColumnFacts, Perturbation

_MATRIX_DIGITS = 12
_NO_CLASSES = SharedValues()


@dataclass(frozen=True)
class Pairs:
    """What the same rows show before and after masking; of several parts, added up.

    Of `rows` with a value, `unchanged` have the same value as before, (columns,); `constant` tells
    which columns of ranks have one value only, `tally` is that of the masking, and `marks` are
    those of the masked columns. `moments` are of the numbers before, then after, where the masking
    relates them. Where the rows are those of an output that another run made, no `marks` are known,
    and `misplaced` cells, (columns,), hold what none of these values can have become.
    """

    rows: int
    unchanged: NDArray[np.int64]
    constant: NDArray[np.bool_]
    tally: Mapping[str, NDArray[Any]]
    marks: tuple[int, ...] = ()
    moments: Moments | None = None
    misplaced: NDArray[np.int64] | int = 0

    def merge(self, other: "Pairs") -> "Pairs":
        """Return the pairs of two parts of a table together."""
        return Pairs(
            self.rows + other.rows,
            self.unchanged + other.unchanged,
            self.constant & other.constant,
            {name: counts + other.tally[name] for name, counts in self.tally.items()},
            add_marks(self.marks, other.marks),
            self.moments and other.moments and self.moments + other.moments,
            self.misplaced + other.misplaced,
        )


@dataclass(frozen=True)
class GroupEvidence:
    """What is known of columns that were masked together: the facts and marks of the input, the
    pairs of rows, if the columns were masked here, and by column the `forms` of its numbers and the
    `types` of its values, inferred in a file without types."""

    group: Group
    before: ColumnFacts
    marks: tuple[int, ...]
    pairs: Pairs | None = field(default=None, repr=False)
    forms: Mapping[str, NumberForm] = field(default_factory=dict)
    types: Mapping[str, pa.DataType] = field(default_factory=dict)


@dataclass(frozen=True)
class SingleEvidence:
    """What is known of a column that is masked by itself: the column with what the whole of it
    tells, and what its rows show before and after masking. In rows of an output that another run
    made, `misplaced` cells are not what the masking makes of those in the same rows."""

    column: SingleColumn[Any, Any]
    compared: Any = field(default=None, repr=False)
    misplaced: int = 0


@dataclass(frozen=True)
class MaskingEvidence:
    """What is known of all masked columns: of those that are masked together, and of the others by
    their names.

    Where another run made the output, `rows` is the number of rows of its input. Values are marked
    under `key`.
    """

    groups: tuple[GroupEvidence, ...] = ()
    singles: Mapping[str, SingleEvidence] = field(default_factory=dict)
    rows: int | None = None
    key: bytes = field(default=b"", repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the masked columns."""
        together = (one.name for evidence in self.groups for one in evidence.group)
        return (*self.singles, *together)

    def doubts(self, k: int = 1) -> Iterator[str]:
        """Yield what the owner should know of the columns that were masked here, classes having k
        rows or more."""
        for single in self.singles.values():
            yield from single.column.doubts(k)
        for one in self.groups:
            if one.pairs is not None and one.pairs.rows:
                names = [masking.name for masking in one.group]
                yield from one.group[0].doubts(names, one.pairs.tally, one.before)
                for name, unchanged in zip(names, one.pairs.unchanged.tolist(), strict=True):
                    if unchanged == one.pairs.rows:
                        yield f"{one.group[0].masking} left every value of {name!r} as it was."


def see_pairs(
    group: KnownGroup,
    before: pa.Table,
    after: pa.Table,
    kinds: Kinds,
    key: bytes,
    limits: NDArray[np.int64] | None = None,
) -> Pairs:
    """Return what the same rows, in the same order, show before and after masking.

    The masked values are marked under a key. `limits` are the exponents of all masked numbers,
    (columns,), where moments are to be seen.
    """
    names = [one.name for one in group.group]
    present = from_numpy(is_present(before, columns_of(group.group)))
    old, new = before.select(names), after.select(names)
    marks = tuple(column_mark(new.column(name), kinds.get(name), key) for name in names)
    old, new = old.filter(present), new.filter(present)
    values = [_values(group, name, old, new, kinds) for name in names]
    one, other = (np.stack([pair[place] for pair in values], axis=1) for place in (0, 1))
    tally = group.group[0].tally(one, other, group.facts)
    constant = (one == one[:1]).all(axis=0) & (group.group[0].takes == "order")
    moments = None if limits is None else paired_moments(one, other, group.facts, limits)
    return Pairs(len(one), (one == other).sum(axis=0), constant, tally, marks, moments)


def paired_moments(
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    facts: ColumnFacts,
    limits: NDArray[np.int64],
) -> Moments:
    """Return the moments of numbers before, then after masking; `limits` as for `see_pairs`."""
    assert facts.moments is not None  # noqa: S101 (numbers have them)
    both = np.concatenate([before, after], axis=1).astype(np.float64)
    return Moments.of(both, np.append(facts.moments.exponents, limits).astype(np.int64))


def check_changed(group: Group, pairs: Pairs) -> None:
    """Raise DataError (R013) where a masking that is to change values changed none of a column that
    has several."""
    for place, one in enumerate(group):
        if is_unchanged(one, pairs, place):
            message = f"No value of the column {one.name!r} is changed by {one.how}."
            hint = "Let its parameters be larger, or give the column another masking or role."
            raise DataError.of("R013", message, hint)


def is_unchanged(masking: Perturbation, pairs: Pairs, place: int) -> bool:
    """Tell whether a masking that is to change values left those of a column, which has several, as
    they are."""
    is_same = pairs.unchanged[place] == pairs.rows and not pairs.constant[place]
    return bool(masking.changes_values and pairs.rows and is_same)


def _values(
    group: KnownGroup, name: str, old: pa.Table, new: pa.Table, kinds: Kinds
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return a column before and after, as its masking takes it."""
    columns, takes = (old.column(name), new.column(name)), group.group[0].takes
    if not old.num_rows:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    if takes == "categories":
        labels = group.facts.labels
        before = as_spelled(name, columns[0], kinds.get(name))
        return codes_of(before, labels), codes_of(columns[1], labels)
    if takes == "numbers":
        form = group.seen.forms[name]
        first, second = (to_floats(name, column, form) for column in columns)
        if group.group[0].decimals is None:
            first = as_written(name, first, form, columns[0])
        return first, second
    typed = [typed_values(column, kinds.get(name)) for column in columns]
    ranks = to_numpy(pc.rank(pa.concat_arrays(typed), tiebreaker="dense")).astype(np.int64)
    return ranks[: len(typed[0])], ranks[len(typed[0]) :]


def evidence_of(
    groups: Sequence[Group], evidence: MaskingEvidence | None
) -> tuple[GroupEvidence, ...]:
    """Return what is known of the columns of some groups.

    Raises DataError (V006) where there are some, and nothing is known of their input.
    """
    if groups and (evidence is None or {*groups} != {one.group for one in evidence.groups}):
        names = join_names(sorted({one.masking for group in groups for one in group}))
        message = f"The output alone does not show whether columns were masked by {names}."
        raise DataError.of("V006", message, "Give the input as well: data={IRI: PATH}.")
    return evidence.groups if evidence else ()


def judge(
    evidence: GroupEvidence,
    after: ColumnFacts,
    marks: Sequence[int],
    sizes: SharedValues = _NO_CLASSES,
    finer: NDArray[np.int64] | int = 0,
) -> Iterator[ColumnJudgement]:
    """Yield what columns that were masked together show, as they were written.

    `after` and `marks` are the facts and the marks of the output, `sizes` how many of its rows
    share their values, where that is asked for, and `finer` how many cells of each column,
    (columns,), are written more finely than the masking writes them. A column whose values are not
    those that were masked counts as broken in every cell.
    """
    masking, pairs = evidence.group[0], evidence.pairs
    unlike = masking.count_unlike(evidence.before, after) + sizes.rare
    figures = masking.figures(evidence.before, after) or [{}] * len(evidence.group)
    paired: Sequence[Mapping[str, float]] = ()
    if pairs is not None and pairs.rows:
        paired = masking.paired_figures(pairs.tally, evidence.before, pairs.moments)
    paired = paired or [{}] * len(evidence.group)
    shortfalls = _shortfalls(evidence)
    for place, one in enumerate(evidence.group):
        expected = _expected_mark(evidence, place)
        is_same = expected in (None, marks[place])
        broken = unlike if is_same else max(after.rows, 1)
        broken += int(np.broadcast_to(finer, len(evidence.group))[place])
        if after.rows != evidence.before.rows:
            broken = max(broken, 1)
        column_figures: dict[str, float] = {}
        if pairs is not None:
            broken += _count_broken(one, evidence, pairs, place)
            column_figures = {"unchanged": pairs.unchanged[place] / max(pairs.rows, 1)}
        column_figures |= {**sizes.figures, **figures[place], **paired[place]}
        broken = max(after.rows, 1) if shortfalls[place] else broken
        broken = min(broken, max(after.rows, evidence.before.rows))
        categories, matrix = _matrix(one, evidence.before)
        possible = _possible(one, rounded(column_figures), matrix)
        yield ColumnJudgement(one, broken, possible, categories, matrix, shortfalls[place])


_OF_FLOATS = ("varianceRatio", "correlation", "correlationChange", "informationLoss")


def _possible(
    masking: Perturbation, figures: Mapping[str, float], matrix: Sequence[Sequence[float]]
) -> Mapping[str, float]:
    """Return figures without those of numbers that differ so little that arithmetic or writing them
    decides what is measured, rather than the masking: nobody would believe them."""
    ranges = masking.figure_ranges
    is_possible = all(
        ranges[name][0] <= figures[name] <= ranges[name][1]
        for name in _OF_FLOATS
        if name in figures
    )
    if is_possible and masking.may_have_together(figures, matrix):
        return figures
    return {name: value for name, value in figures.items() if name not in _OF_FLOATS}


def _shortfalls(evidence: GroupEvidence) -> Sequence[str]:
    """Return what shows of each column that it is masked less than its masking masks, where the
    rows are those of an output that another run made."""
    pairs, none = evidence.pairs, [""] * len(evidence.group)
    if pairs is None or pairs.marks or not pairs.rows:
        return none
    return evidence.group[0].shortfalls(pairs.tally, evidence.before) or none


def _count_broken(one: Perturbation, evidence: GroupEvidence, pairs: Pairs, place: int) -> int:
    """Return how many cells of a column are not what may become of those in the same rows."""
    misplaced = int(np.broadcast_to(pairs.misplaced, len(evidence.group))[place])
    if one.shared_by > 1 and pairs.rows < evidence.before.rows:
        return misplaced  # as many rows may have shared a value
    return misplaced + int(one.count_broken(pairs.tally, evidence.before)[place])


def _matrix(
    masking: Perturbation, facts: ColumnFacts
) -> tuple[tuple[str, ...], tuple[tuple[float, ...], ...]]:
    """Return the categories and the matrix of a masking that has one."""
    matrix = masking.matrix(facts)
    if matrix is None:
        return (), ()
    rows = tuple(tuple(row) for row in np.round(matrix, _MATRIX_DIGITS).tolist())
    return tuple(facts.labels.cast(pa.string()).to_pylist()), rows


def _expected_mark(evidence: GroupEvidence, place: int) -> int | None:
    """Return the mark that the output has to have, None where nobody knows."""
    if evidence.pairs is not None and evidence.pairs.marks:
        return evidence.pairs.marks[place]
    return evidence.marks[place] if evidence.group[0].takes == "order" else None
