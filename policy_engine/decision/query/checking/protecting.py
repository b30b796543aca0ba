"""Checked answers of which small counts are rounded or get noise, as their policy says.

Hundepool et al.: Statistical Disclosure Control, Wiley 2012, chapter 5: rounding of frequency
tables, to the nearest multiple, at random and controlled; of cell keys, see
`kernels.output_checks.cell_keys`.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
from sqlglot import exp

from policy_engine.audits.outputs.mitigating import (
    LEAST_BASE,
    NearFigures,
    ProtectedFigures,
    hidden_enough,
    protect_by_noise,
    protect_by_rounding,
    rounded_figures,
)
from policy_engine.audits.outputs.model import TableVerdict
from policy_engine.audits.outputs.significant import round_digits
from policy_engine.data.keys import LEAST_KEY
from policy_engine.decision.query.checking.answer_populations import (
    DatasetRows,
    cell_members,
    has_one_row,
)
from policy_engine.decision.query.checking.checked_query import (
    CheckedAggregate,
    CheckedQuery,
    NotCheckableError,
)
from policy_engine.decision.query.checking.gathering_evidence import GatheredAnswer
from policy_engine.decision.query.checking.key_cells import counts_persons
from policy_engine.errors import DataError
from policy_engine.kernels.output_checks.cell_keys import (
    add_noise,
    noise_table,
    round_by_keys,
    sums_of_keys,
    unit_keys,
)
from policy_engine.kernels.siphash import key_words
from policy_engine.methods.output_checks.parameters import OutputCheck

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

MOST_NOISE, NOISE_VARIANCE = 4, 3.0
"""The noise of cell keys: up to 4 units either way, with a standard deviation of 1.7."""


@dataclass(frozen=True)
class ProtectedAnswer:
    """An answer as it is shown: with figures in place of exact ones, and the verdict that shows
    them. `protection` says what was done to figures, empty where nothing was."""

    gathered: GatheredAnswer
    verdict: TableVerdict
    protection: str = ""


@dataclass(frozen=True)
class ProtectionInputs:
    """What protecting an answer needs beside it: the rows of its dataset, and the secret key.

    Where the query `is_plain`, its cells are those of the columns of a table, and nobody chose
    whom they are about.
    """

    is_plain: bool
    dataset_rows: Callable[[], DatasetRows]
    tables: "Mapping[str, pa.Table]"
    noise_key: bytes | None


def check_protection(check: OutputCheck, noise_key: bytes | None) -> None:
    """Raise NotCheckableError (K017, K020) for rounding without a base that protects, and DataError
    (C013) for noise, or random rounding, without a key."""
    base = check.profile.round_base
    if check.needs_base and base is None:
        message = f"The profile {check.profile.notation} has no base to round to."
        raise NotCheckableError("K020", message, "The policy has to set pe:roundBase.")
    if check.needs_base and base is not None and base < LEAST_BASE:
        message = f"Multiples of {base} do not hide small counts. The least base is {LEAST_BASE}."
        raise NotCheckableError("K017", message, "The policy has to set another pe:roundBase.")
    if check.needs_key and len(noise_key or b"") < LEAST_KEY:
        what = "Noise by cell keys" if check.mitigation == "noise" else "Random rounding"
        message = f"{what} needs the owner's secret key of at least "
        hint = "Give it as --noise-key FILE; --epsilon asks under differential privacy, without."
        raise DataError.of("C013", f"{message}{LEAST_KEY} bytes.", hint)


def is_plain_query(query: CheckedQuery) -> bool:
    """Return whether a query is about all rows of one table, by its columns as they are."""
    source, start = query.source, query.source.args.get("from_")
    is_table = start is not None and isinstance(start.this, exp.Table)
    has_more = any(source.args.get(name) for name in ("joins", "where", "with_"))
    return is_table and not has_more and all(isinstance(one, exp.Column) for one in query.keys)


class NearCounts(NamedTuple):
    """Between what counts lie that are shown in another form, by the numbers of their figures, and
    the `small` ones that may be shown so though they do not pass."""

    ends: dict[int, tuple[float, float]]
    small: frozenset[int]


@dataclass(frozen=True, eq=False)
class AnswerProtection:
    """How the figures of an answer are protected under its check, by what passes `before` secondary
    suppression and the ledger."""

    gathered: GatheredAnswer
    before: TableVerdict
    task: ProtectionInputs

    def protect(self, verdict: TableVerdict) -> ProtectedAnswer:
        """Return the answer as it is shown, by the verdict of all checks."""
        gathered, task, check = self.gathered, self.task, self.before.check
        answer = ProtectedAnswer(gathered, verdict)
        if self._near is not None:
            if check.needs_key:
                figures = _by_keys(gathered, verdict, self.before, task, self._near)
            else:
                forms = self._near, counts_of_units(gathered, task), self._is_changed
                figures = protect_by_rounding(verdict, self.before, *forms)
            answer = _changed(gathered, verdict, figures, self._is_changed, self._text)
        digits = check.profile.significant_digits
        return answer if digits is None else _in_digits(answer, digits)

    def near_counts(self, verdict: TableVerdict) -> NearCounts:
        """Return the counts that are shown in another form, by what passes before the ledger."""
        if self._near is None:
            return NearCounts({}, frozenset())
        gathered, task = self.gathered, self.task
        width = len(gathered.queries.query.aggregates)
        counts = counts_of_units(gathered, task)
        small = np.flatnonzero(hidden_enough(verdict, self.before, counts)).tolist()
        ends = {
            row * width + number: self._near.ends(row, number)
            for number in np.flatnonzero(self._is_changed).tolist()
            for row in range(len(self._near.values))
        }
        return NearCounts(ends, frozenset(small) & ends.keys())

    @property
    def _is_changed(self) -> "NDArray[np.bool_]":
        """Which aggregates are shown in another form: (measures,)."""
        if self.before.check.needs_key:
            return counts_of_units(self.gathered, replace(self.task, is_plain=True))
        return sums_and_counts(self.gathered)

    @property
    def _base(self) -> int | None:
        return self.before.check.profile.round_base if self.before.check.needs_base else None

    @property
    def _text(self) -> str:
        if not self.before.check.needs_key:
            return f"counts and sums are rounded to multiples of {self._base}"
        way = f"have noise of at most {MOST_NOISE}"
        if self._base is not None:
            way = f"are rounded at random to multiples of {self._base}"
        return f"counts of units {way}, the same in every answer"

    @cached_property
    def _near(self) -> NearFigures | None:
        """The figures in another form; None where all are shown as they are."""
        gathered, check = self.gathered, self.before.check
        if check.needs_key:
            return keyed_figures(gathered, self.task, self._base)
        if check.mitigation != "round":
            return None
        return rounded_figures(gathered.table, self._base or LEAST_BASE, self._is_changed)


def keyed_figures(
    gathered: GatheredAnswer, task: ProtectionInputs, base: int | None = None
) -> NearFigures:
    """Return all numbers of units with noise, or rounded at random to multiples of a base."""
    reach = MOST_NOISE if base is None else base - 1
    values = _keyed(gathered, task, base)
    return NearFigures(values, np.full(values.shape[1], reach))


def figures_by_keys(
    gathered: GatheredAnswer,
    verdict: TableVerdict,
    before: TableVerdict,
    task: ProtectionInputs,
    base: int | None = None,
) -> ProtectedFigures:
    """Return all numbers of units with noise, or rounded at random to multiples of a base; small
    ones are shown in plain queries alone."""
    return _by_keys(gathered, verdict, before, task, keyed_figures(gathered, task, base))


def _by_keys(
    gathered: GatheredAnswer,
    verdict: TableVerdict,
    before: TableVerdict,
    task: ProtectionInputs,
    near: NearFigures,
) -> ProtectedFigures:
    counts = counts_of_units(gathered, replace(task, is_plain=True))
    most = int(near.reach.max(initial=0))
    figures = protect_by_noise(verdict, before, counts, near.values, most)
    passes = (verdict.reasons == 0) | counts_of_units(gathered, task)
    return replace(figures, is_shown=figures.is_shown & passes)


def _changed(
    gathered: GatheredAnswer,
    verdict: TableVerdict,
    figures: ProtectedFigures,
    is_changed: "NDArray[np.bool_]",
    protection: str,
) -> ProtectedAnswer:
    cells = gathered.cells
    for number in np.flatnonzero(is_changed).tolist():
        values = figures.values[:, number]
        column = pa.array(np.nan_to_num(values).astype(np.int64), mask=np.isnan(values))
        cells = cells.set_column(cells.column_names.index(f"a{number}"), f"a{number}", column)
    reasons = np.where(figures.is_shown, np.uint32(0), verdict.reasons).astype(np.uint32)
    return ProtectedAnswer(
        replace(gathered, cells=cells), replace(verdict, reasons=reasons), protection
    )


def _in_digits(answer: ProtectedAnswer, digits: int) -> ProtectedAnswer:
    """Return an answer whose aggregates are rounded before anything is computed from them."""
    cells = answer.gathered.cells
    for place, name in enumerate(cells.column_names):
        if name.startswith("a"):
            cells = cells.set_column(place, name, round_digits(cells[name], digits))
    text = f"figures have {digits} significant digits"
    return replace(
        answer,
        gathered=replace(answer.gathered, cells=cells),
        protection="; ".join(filter(None, [answer.protection, text])),
    )


def counts_of_units(gathered: GatheredAnswer, task: ProtectionInputs) -> "NDArray[np.bool_]":
    """Return which aggregates are numbers of units, in cells that nobody chose: (measures,).

    Where each unit has one row, a number of different units is that of the rows.
    """
    aggregates = gathered.queries.query.aggregates
    is_single = task.is_plain and has_one_row(gathered)
    rows = task.dataset_rows() if is_single else None
    are_named = rows is not None and rows.row_owners is None and not rows.has_nobody

    def is_count(number: int, aggregate: CheckedAggregate) -> bool:
        if aggregate.is_group:
            return False
        is_of_rows = aggregate.kind == "count" and not aggregate.arguments
        return is_single and (is_of_rows or (are_named and counts_persons(gathered, number)))

    return np.array([is_count(*one) for one in enumerate(aggregates)], dtype=np.bool_)


def sums_and_counts(gathered: GatheredAnswer) -> "NDArray[np.bool_]":
    """Return which aggregates are counts and sums: (measures,)."""
    kinds = (exp.Count, exp.CountIf, exp.Sum)
    return np.array(
        [isinstance(one.function, kinds) for one in gathered.queries.query.aggregates],
        dtype=np.bool_,
    )


def _keyed(
    gathered: GatheredAnswer, task: ProtectionInputs, base: int | None
) -> "NDArray[np.float64]":
    """Return the numbers of units as they follow from who is counted and the secret key, for all
    aggregates, (rows, measures): with noise or, where there is a base, rounded at random.

    A unit that is counted has one row, whose number stands for it.
    """
    secret = key_words(hashlib.sha256(task.noise_key or b"").digest()[:16])
    table, rows = noise_table(MOST_NOISE, NOISE_VARIANCE), task.dataset_rows()
    keys = unit_keys(np.arange(rows.count, dtype=np.uint64), secret)
    changes = np.zeros(gathered.table.values.shape)
    for part in cell_members(gathered, rows, task.tables):
        sums = sums_of_keys(keys[part.numbers], part.places, len(part.rows))
        counts = np.bincount(part.places, minlength=len(part.rows))
        if base is None:
            others = add_noise(counts, sums, table, secret)
        else:
            others = round_by_keys(counts, sums, base, secret)
        own = [one for one in part.aggregates if gathered.populations[one][0] == part.name]
        changes[np.ix_(part.rows, np.array(own, np.int64))] = (others - counts)[:, np.newaxis]
    return np.maximum(gathered.table.values + changes, 0.0)
