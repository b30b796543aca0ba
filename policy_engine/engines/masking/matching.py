"""What an output that another run made shows, its rows matched with those of the input.

Rows are matched by the columns that are published as they are, where these tell all rows apart.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.arrays import from_numpy, is_text, to_numpy, unchunk, value_type
from policy_engine.engines.masking.categories import codes_of
from policy_engine.engines.masking.columns import SingleColumn
from policy_engine.engines.masking.evidence import (
    MaskingEvidence,
    Pairs,
    is_unchanged,
    paired_moments,
)
from policy_engine.engines.masking.known import KnownColumns, has_limits, masked_name
from policy_engine.engines.masking.marks import cell_words, text_words, typed_values
from policy_engine.engines.masking.numbers import (
    NumberForm,
    as_spelled,
    as_written,
    number_form,
    to_floats,
)
from policy_engine.engines.masking.parts import Look, Parts
from policy_engine.engines.masking.perturbing import KnownGroup
from policy_engine.engines.masking.recoding import LabelColumn
from policy_engine.engines.masking.surveys import Kinds, columns_of, floats_of, is_present, ranks_of
from policy_engine.kernels.moments import exponents
from policy_engine.kernels.siphash import Words

MATCHED = "\ufffdmatched"
"""The column that tells which rows of an input have one in the output."""
_DAY = 86_400_000_000
"""In microseconds."""


@dataclass(frozen=True)
class MatchedRows:
    """An input beside the masked columns of an output, in `parts`: those of its rows that are
    `MATCHED` have a row of the output.

    `kinds` are the types that the texts of the output are inferred to be of.
    """

    known: KnownColumns
    parts: Parts
    kinds: Kinds

    def add_to(self, evidence: MaskingEvidence) -> MaskingEvidence:
        """Return what is known of the columns, with what the matched rows show."""
        cells = {name: self._cells(one) for name, one in self.known.singles.items()}
        misplaced, pairs = self.parts.look(cells), self._pairs()
        groups = (replace(one, pairs=pairs[one.group[0].name]) for one in evidence.groups)
        singles = {
            name: replace(one, misplaced=misplaced[name]) for name, one in evidence.singles.items()
        }
        return replace(evidence, groups=tuple(groups), singles=singles)

    def _cells(self, column: SingleColumn[Any, Any]) -> Look[int]:
        """Return the look at the cells that are not what the masking makes of those before."""
        masked, key = masked_name(column.name), self.known.key

        def see(table: pa.Table) -> int:
            rows = table.filter(table.column(MATCHED))
            kind = pa.string() if isinstance(column, LabelColumn) else None
            expected = cell_words(column.mask(rows), kind, key)
            return int((expected != cell_words(rows.column(masked), kind, key)).any(axis=1).sum())

        return Look((column.name, masked, MATCHED), see, int.__add__)

    def _pairs(self) -> dict[str, Pairs]:
        """Return what the matched rows show before and after masking, by the names of groups."""
        pairs: dict[str, Pairs] = {}
        for whole in (False, True):
            groups = {one.name: one for one in self.known.groups if one.needs_all_rows == whole}
            rows_of = {name: self._rows(one) for name, one in groups.items()}
            numbers = {n: _limits(rows_of[n], one) for n, one in groups.items() if has_limits(one)}
            limits = self.parts.look(numbers)
            looks = {n: _pairs(rows_of[n], one, limits.get(n)) for n, one in groups.items()}
            pairs |= self.parts.look(looks, whole=whole)
        return {one.name: _all_unchanged(one, pairs[one.name]) for one in self.known.groups}

    def _rows(self, group: KnownGroup) -> "_RowsOf":
        kinds = (self.parts.kinds, self.kinds)
        return partial(_GroupRows, group, *kinds, self.known.key)


def _limits(rows_of: "_RowsOf", group: KnownGroup) -> Look[NDArray[np.int64]]:
    """Return the look at the exponents of a group's masked numbers."""

    def see(table: pa.Table) -> NDArray[np.int64]:
        return exponents(rows_of(table).values().after)

    return Look(_names(group), see, np.maximum)


def _pairs(rows_of: "_RowsOf", group: KnownGroup, limits: NDArray[np.int64] | None) -> Look[Pairs]:
    """Return the look at what the rows of a group show."""

    def see(table: pa.Table) -> Pairs:
        return rows_of(table).pairs(limits)

    return Look(_names(group), see, Pairs.merge)


def _names(group: KnownGroup) -> tuple[str, ...]:
    masked = (masked_name(one.name) for one in group.group)
    return (*columns_of(group.group), *masked, MATCHED)


def _all_unchanged(group: KnownGroup, pairs: Pairs) -> Pairs:
    """Return pairs of which all cells are misplaced where every value of a column that is to be
    changed is as it was."""
    if pairs.rows < group.facts.rows:
        return pairs
    are_same = [is_unchanged(one, pairs, place) for place, one in enumerate(group.group)]
    return replace(pairs, misplaced=np.where(are_same, pairs.rows, pairs.misplaced))


class _Values(NamedTuple):
    """The values of rows before and after masking, (rows, columns) each, as their masking takes
    them; -1 for one after it that is none of the input's.

    Of ranks, `ranked` tells how many rows of the input have each, by column, and `disordered` how
    many cells of each column cannot be in this order. If all rows are there, `given` has the ranks
    of the columns given.
    """

    before: NDArray[Any]
    after: NDArray[Any]
    ranked: tuple[NDArray[np.int64], ...] = ()
    disordered: NDArray[np.int64] | int = 0
    given: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class _GroupRows:
    """The rows of an input, or of a part of it, beside the masked columns of an output."""

    known: KnownGroup
    kinds: Kinds
    output_kinds: Kinds
    key: bytes
    table: pa.Table

    def pairs(self, limits: NDArray[np.int64] | None) -> Pairs:
        """Return what the matched rows show; `limits` as for `see_pairs`."""
        values, masking = self.values(), self.known.group[0]
        is_foreign = (values.after < 0) & (masking.takes != "numbers")
        is_known = ~is_foreign.any(axis=1)
        one, other = values.before[is_known], values.after[is_known]
        facts = replace(self.known.facts, ranked=values.ranked, given=values.given)
        unlike = self._is_matched[:, None] & (self._is_valid != self._is_present[:, None])
        return Pairs(
            rows=len(one),
            unchanged=(one == other).sum(axis=0),
            constant=(one == one[:1]).all(axis=0) & (masking.takes == "order"),
            tally=masking.tally(one, other, facts),
            moments=None if limits is None else paired_moments(one, other, facts, limits),
            misplaced=unlike.sum(axis=0) + is_foreign.sum(axis=0) + values.disordered,
        )

    def values(self) -> _Values:
        """Return the values of the rows that are there before and after masking."""
        takes = self.known.group[0].takes
        if takes == "numbers":
            return self._numbers()
        return self._ranks() if takes == "order" else self._codes()

    @cached_property
    def _is_matched(self) -> NDArray[np.bool_]:
        return to_numpy(unchunk(self.table.column(MATCHED))).astype(np.bool_)

    @cached_property
    def _is_present(self) -> NDArray[np.bool_]:
        return is_present(self.table, columns_of(self.known.group))

    @cached_property
    def _is_valid(self) -> NDArray[np.bool_]:
        """Which cells of the output have a value, (rows, columns)."""
        columns = (self._masked(name) for name in self._names)
        valid = [to_numpy(unchunk(column.is_valid())) for column in columns]
        return np.stack(valid, axis=1).astype(np.bool_)

    @cached_property
    def _are_paired(self) -> NDArray[np.bool_]:
        return self._is_matched & self._is_present & self._is_valid.all(axis=1)

    @property
    def _names(self) -> list[str]:
        return [one.name for one in self.known.group]

    def _masked(self, name: str) -> pa.ChunkedArray:
        return self.table.column(masked_name(name))

    def _numbers(self) -> _Values:
        rows = self.table.filter(from_numpy(self._are_paired))
        forms = {name: self.known.seen.forms[name] for name in self._names}
        after = [
            _floats(name, rows.column(masked_name(name)), self.output_kinds.get(name), forms[name])
            for name in self._names
        ]
        before = floats_of(rows, forms)
        if self.known.group[0].decimals is None:
            columns = zip(forms.items(), before.T, strict=True)
            kept = (as_written(name, one, form, rows.column(name)) for (name, form), one in columns)
            before = np.stack(list(kept), axis=1)
        return _Values(before, np.stack(after, axis=1))

    def _ranks(self) -> _Values:
        present = self.table.filter(from_numpy(self._is_present))
        pairs = self._are_paired[self._is_present]
        ranks = ranks_of(present, self._names, self.kinds)
        after = np.stack(
            [
                self._places(name, present.column(name), ranks[:, place])
                for place, name in enumerate(self._names)
            ],
            axis=1,
        )
        ranked = tuple(np.bincount(column) for column in ranks.T)
        masking = self.known.group[0]
        disordered: NDArray[np.int64] | int = 0
        given_ranks = None
        if pairs.all() and (after > 0).all() and masking.given_columns:
            given_ranks = ranks_of(present, masking.given_columns, self.kinds)
            disordered = masking.count_disordered(ranks, after, given_ranks)
        return _Values(ranks[pairs], after, ranked, disordered, given_ranks)

    def _codes(self) -> _Values:
        [name], labels = self._names, self.known.facts.labels
        rows = self.table.filter(from_numpy(self._are_paired))
        spelled = as_spelled(name, rows.column(name), self.kinds.get(name))
        places = self._places(name, labels, np.arange(len(labels), dtype=np.int64))
        return _Values(codes_of(spelled, labels)[:, None], places[:, None])

    def _places(
        self, name: str, values: pa.ChunkedArray | pa.Array, places: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return the place of each masked value, given those of some values; -1 for no such."""
        masked = self._masked(name).filter(from_numpy(self._are_paired))
        kind, output_kind = self.kinds.get(name), self.output_kinds.get(name)
        if is_text(kind or value_type(values.type)) and is_text(value_type(masked.type)):
            return _look_up(text_words(masked, self.key), text_words(values, self.key), places)
        value_words = cell_words(
            values, kind if is_text(value_type(values.type)) else None, self.key
        )
        return _look_up(cell_words(masked, output_kind, self.key), value_words, places)


_RowsOf = Callable[[pa.Table], _GroupRows]


def _look_up(words: Words, value_words: Words, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place of each word, given those of the known ones; -1 for others, (rows,)."""
    distinct, first = np.unique(value_words[:, 0], return_index=True)
    if not len(distinct):
        return np.full(len(words), -1, dtype=np.int64)
    nearest = np.minimum(np.searchsorted(distinct, words[:, 0]), len(distinct) - 1)
    is_known = (value_words[first[nearest]] == words).all(axis=1)
    return np.where(is_known, places[first[nearest]], -1)


def _floats(
    name: str, column: pa.ChunkedArray, inferred: pa.DataType | None, before: NumberForm
) -> NDArray[np.float64]:
    """Return masked numbers of an output, in the units of those before."""
    is_time = inferred is not None and (pa.types.is_temporal(inferred))
    if is_time and is_text(value_type(column.type)):
        column, inferred = pa.chunked_array([typed_values(column, inferred)]), None
    form = number_form(name, column, inferred)
    factors = {("timestamp", "date"): float(_DAY), ("date", "timestamp"): 1 / _DAY}
    return to_floats(name, column, form) * factors.get((before.kind, form.kind), 1.0)
