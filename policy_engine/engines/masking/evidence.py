"""What is seen when columns are masked, and what they show when they are read back."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from policy_engine.engines.arrays import from_numpy, is_text, to_numpy
from policy_engine.engines.masking.images import ImageEvidence
from policy_engine.engines.masking.numbers import as_spelled, plain_array, to_floats
from policy_engine.engines.masking.perturbing import KEY_BYTES, KnownGroup
from policy_engine.engines.masking.recoding import (
    Recoded,
    Recoder,
    RecodingEvidence,
    judge_recoded,
)
from policy_engine.engines.masking.surveys import Group, Kinds, codes_of, columns_of, is_present
from policy_engine.engines.masking.tails import (
    CodedCells,
    TailEvidence,
    judge_coded,
    tail_doubts,
)
from policy_engine.engines.row_keys import row_keys
from policy_engine.engines.text_types import parse_times_of_day
from policy_engine.errors import DataError, join_names
from policy_engine.methods.masking import Masking
from policy_engine.methods.perturbation import ColumnFacts, Perturbation
from policy_engine.methods.tail_coding import TailCode

_DIGITS = 3
"""Figures of more decimals would tell the variance of the input too well."""
_MATRIX_DIGITS = 12
_PUBLIC_KEY = bytes(KEY_BYTES)
_NUMBER = r"^-?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?([0-9]{1,2}|[12][0-9]{2}|30[0-7]))?$"


@dataclass(frozen=True)
class Pairs:
    """What the same rows show before and after masking; of several parts, added up.

    Of `rows` with a value, `unchanged` have the same value as before, (columns,); `constant` tells
    which columns of ranks have one value only, `tally` is that of the masking, and `marks` are
    those of the masked columns.
    """

    rows: int
    unchanged: NDArray[np.int64]
    constant: NDArray[np.bool_]
    tally: Mapping[str, NDArray[Any]]
    marks: tuple[int, ...]

    def merge(self, other: "Pairs") -> "Pairs":
        """Return the pairs of two parts of a table together."""
        return Pairs(
            self.rows + other.rows,
            self.unchanged + other.unchanged,
            self.constant & other.constant,
            {name: counts + other.tally[name] for name, counts in self.tally.items()},
            add_marks(self.marks, other.marks),
        )


@dataclass(frozen=True)
class GroupEvidence:
    """What is known of columns that were masked together: the facts and marks of the input, and
    the pairs of rows, if the columns were masked here."""

    group: Group
    before: ColumnFacts
    marks: tuple[int, ...]
    pairs: Pairs | None = field(default=None, repr=False)


@dataclass(frozen=True)
class MaskingEvidence:
    """What is known of all masked columns.

    `cells` counts, for each that was masked value by value here, the cells with a value and those
    that are unchanged. Where another run made the output, `rows` is the number of all rows, and
    `marks` are those of such columns once they are masked. `images` are the columns of these,
    `tails` those whose tails are coded, `recoded` those that are recoded by a taxonomy.
    """

    groups: tuple[GroupEvidence, ...] = ()
    cells: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    rows: int | None = None
    marks: Mapping[str, int] = field(default_factory=dict)
    images: Mapping[str, ImageEvidence] = field(default_factory=dict)
    tails: Mapping[str, TailEvidence] = field(default_factory=dict)
    recoded: Mapping[str, RecodingEvidence] = field(default_factory=dict)

    def doubts(self, k: int = 1) -> Iterator[str]:
        """Yield what the owner should know of the columns that were masked here, classes having k
        rows or more."""
        for tail in self.tails.values():
            yield from tail_doubts(tail, k)
        for one in self.groups:
            if one.pairs is not None and one.pairs.rows:
                names = [masking.name for masking in one.group]
                yield from one.group[0].doubts(names, one.pairs.tally, one.before)
                for name, unchanged in zip(names, one.pairs.unchanged.tolist(), strict=True):
                    if unchanged == one.pairs.rows:
                        yield f"{one.group[0].masking} left every value of {name!r} as it was."


class ColumnJudgement(NamedTuple):
    """What a masked column shows: how many cells break its masking, and other figures; of random
    categories, the matrix by which they were drawn."""

    masking: Masking
    broken: int
    figures: Mapping[str, float]
    categories: tuple[str, ...] = ()
    matrix: tuple[tuple[float, ...], ...] = ()


def see_pairs(known: KnownGroup, before: pa.Table, after: pa.Table, kinds: Kinds) -> Pairs:
    """Return what the same rows, in the same order, show before and after masking."""
    names = [one.name for one in known.group]
    present = from_numpy(is_present(before, columns_of(known.group)))
    old, new = before.select(names), after.select(names)
    marks = tuple(column_mark(new.column(name), kinds.get(name)) for name in names)
    old, new = old.filter(present), new.filter(present)
    values = [_values(known, name, old, new, kinds) for name in names]
    one, other = (np.stack([pair[place] for pair in values], axis=1) for place in (0, 1))
    tally = known.group[0].tally(one, other, known.facts)
    constant = (one == one[:1]).all(axis=0) & (known.group[0].takes == "order")
    return Pairs(len(one), (one == other).sum(axis=0), constant, tally, marks)


def check_changed(group: Group, pairs: Pairs) -> None:
    """Raise DataError (R013) where a masking that is to change values changed none of a column that
    has several."""
    for place, one in enumerate(group):
        is_same = pairs.unchanged[place] == pairs.rows and not pairs.constant[place]
        if one.changes_values and pairs.rows and is_same:
            message = f"No value of the column {one.name!r} is changed by {one.how}."
            hint = "Let its parameters be larger, or give the column another masking or role."
            raise DataError.of("R013", message, hint)


def _values(
    known: KnownGroup, name: str, old: pa.Table, new: pa.Table, kinds: Kinds
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return a column before and after, as its masking takes it."""
    columns, takes = (old.column(name), new.column(name)), known.group[0].takes
    if not old.num_rows:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    if takes == "categories":
        labels = known.facts.labels
        before = as_spelled(name, columns[0], kinds.get(name))
        return codes_of(before, labels), codes_of(columns[1], labels)
    if takes == "numbers":
        first, second = (to_floats(name, column, known.seen.forms[name]) for column in columns)
        return first, second
    typed = [_typed(column, kinds.get(name)) for column in columns]
    ranks = to_numpy(pc.rank(pa.concat_arrays(typed), tiebreaker="dense")).astype(np.int64)
    return ranks[: len(typed[0])], ranks[len(typed[0]) :]


def _typed(column: pa.ChunkedArray, inferred: pa.DataType | None) -> pa.Array:
    plain = plain_array(column)
    is_typed = inferred is None or is_text(inferred) or pa.types.is_time(inferred)
    return plain if is_typed else pc.utf8_trim_whitespace(plain).cast(inferred)


def column_mark(column: pa.ChunkedArray, inferred: pa.DataType | None) -> int:
    """Return a number that depends on the values of a column, and not on their order or on how a
    file writes them."""
    plain = plain_array(column).drop_null()
    if is_text(plain.type) and inferred is not None and pa.types.is_time(inferred):
        return _mark(parse_times_of_day(pc.utf8_trim_whitespace(plain)))
    if is_text(plain.type) and not pa.types.is_timestamp(inferred or plain.type):
        # By how each text is written, not by what all texts have in common, which masking changes.
        texts = pc.utf8_trim_whitespace(plain)
        is_number = pc.match_substring_regex(texts, _NUMBER)
        numbers = texts.filter(is_number).cast(pa.float64())
        rest = texts.filter(pc.invert(is_number))
        return (_mark(numbers) + _mark(rest)) % 2**64
    typed = _typed(column, inferred).drop_null()
    if pa.types.is_integer(typed.type):
        typed = typed.cast(pa.float64(), safe=False)
    elif pa.types.is_date(typed.type):
        typed = typed.cast(pa.string())
    elif pa.types.is_time(typed.type):
        typed = typed.cast(pa.time64("ns"))
    elif pa.types.is_decimal(typed.type):
        typed = typed.cast(pa.string()).cast(pa.float64())
    elif pa.types.is_timestamp(typed.type):
        typed = typed.cast(pa.timestamp("us", typed.type.tz), safe=False).cast(pa.int64())
    elif pa.types.is_floating(typed.type):
        # A float of few bits is the number that a CSV file has of it.
        is_double = pa.types.is_float64(typed.type)
        typed = typed if is_double else typed.cast(pa.string()).cast(pa.float64())
    return _mark(typed)


def _mark(values: pa.Array) -> int:
    return int(row_keys([values], _PUBLIC_KEY)[:, 0].sum(dtype=np.uint64)) if len(values) else 0


def add_marks(one: Sequence[int], other: Sequence[int]) -> tuple[int, ...]:
    """Return the marks of columns whose parts have these."""
    return tuple((first + second) % 2**64 for first, second in zip(one, other, strict=True))


def group_evidence(
    known: KnownGroup, table: pa.Table, kinds: Kinds, pairs: Pairs | None = None
) -> GroupEvidence:
    """Return what is known of columns, the whole input being at hand."""
    names = [one.name for one in known.group]
    marks = tuple(column_mark(table.column(name), kinds.get(name)) for name in names)
    return GroupEvidence(known.group, known.facts, marks, pairs)


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
    *,
    all_rows: bool,
    rare: int = 0,
) -> Iterator[ColumnJudgement]:
    """Yield what columns that were masked together show, as they were written.

    `after` and `marks` are the facts and the marks of the output, `rare` its rows whose values too
    few share; `all_rows` means that no row was left out. A column whose values are not those that
    were masked counts as broken in every cell.
    """
    masking, pairs = evidence.group[0], evidence.pairs
    unlike = masking.count_unlike(evidence.before, after) + (rare if all_rows else 0)
    figures = masking.figures(evidence.before, after) or [{}] * len(evidence.group)
    paired: Sequence[Mapping[str, float]] = ()
    if pairs is not None and pairs.rows:
        paired = masking.paired_figures(pairs.tally, evidence.before)
    paired = paired or [{}] * len(evidence.group)
    for place, one in enumerate(evidence.group):
        expected = _expected_mark(evidence, place)
        is_same = not all_rows or expected in (None, marks[place])
        broken = unlike if is_same else max(after.rows, 1)
        if all_rows and after.rows != evidence.before.rows:
            broken = max(broken, 1)
        told: dict[str, float] = {}
        if pairs is not None:
            broken += int(one.count_broken(pairs.tally, evidence.before)[place])
            told = {"unchanged": pairs.unchanged[place] / max(pairs.rows, 1)}
        told |= {**figures[place], **paired[place]}
        yield ColumnJudgement(one, broken, _rounded(told), *_matrix(one, evidence.before))


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
    if evidence.pairs is not None:
        return evidence.pairs.marks[place]
    return evidence.marks[place] if evidence.group[0].takes == "order" else None


def judge_cells(
    masking: Masking,
    broken: int,
    mark: int,
    evidence: MaskingEvidence | None,
    *,
    all_rows: bool,
    figures: Mapping[str, float] = MappingProxyType({}),
) -> ColumnJudgement:
    """Return what a column that was masked value by value shows, as it was written.

    `mark` is that of the output. Where other values than those of the input were masked, and no row
    was left out, one cell more is broken at least. `figures` are those that its cells show besides.
    """
    expected = evidence.marks.get(masking.name) if evidence else None
    if all_rows and expected not in (None, mark):
        broken = max(broken, 1)
    counts = evidence.cells.get(masking.name) if evidence else None
    unchanged = {} if counts is None else {"unchanged": counts[1] / max(counts[0], 1)}
    return ColumnJudgement(masking, broken, _rounded({**unchanged, **figures}))


def judge_tail(
    code: TailCode,
    seen: CodedCells,
    broken: int,
    mark: int,
    evidence: MaskingEvidence | None,
    *,
    all_rows: bool,
) -> ColumnJudgement:
    """Return what a column whose tail is coded shows; otherwise as `judge_cells`."""
    tail = evidence.tails.get(code.name) if evidence else None
    broken, figures = judge_coded(code, seen, broken, tail, all_rows=all_rows)
    return judge_cells(code.coding, broken, mark, evidence, all_rows=all_rows, figures=figures)


def judge_labels(
    recoder: Recoder, seen: Recoded, evidence: MaskingEvidence | None, *, all_rows: bool
) -> ColumnJudgement:
    """Return what a column that was recoded by a taxonomy shows, as it was written."""
    known = evidence.recoded.get(recoder.recoding.name) if evidence else None
    broken, figures = judge_recoded(recoder, seen, known, all_rows=all_rows)
    return ColumnJudgement(recoder.recoding, broken, _rounded(figures))


def judge_images(
    masking: Masking,
    broken: int,
    mark: int,
    evidence: MaskingEvidence | None,
    *,
    all_rows: bool,
) -> ColumnJudgement:
    """Return what a column of images shows, as it was written.

    `mark` is that of the output, `broken` how many of its images are not what the masking
    publishes; `all_rows` means that no row was left out. A column whose images are not those of the
    input, masked, counts as broken in every one.
    """
    known = evidence.images.get(masking.name) if evidence else None
    if known is None:
        return ColumnJudgement(masking, broken, {})
    if all_rows and mark != known.mark:
        broken = max(broken, known.images, 1)
    unchanged = known.unchanged / max(known.pixels, 1)
    return ColumnJudgement(masking, broken + known.unlike, _rounded({"unchanged": unchanged}))


def _rounded(figures: Mapping[str, float]) -> dict[str, float]:
    return {name: round(float(value), _DIGITS) + 0.0 for name, value in figures.items()}
