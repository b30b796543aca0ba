"""Checked answers of which small counts are rounded or get noise, as their policy says.

Hundepool et al.: Statistical Disclosure Control, Wiley 2012, chapter 5: rounding of frequency
tables, to the nearest multiple, at random and controlled; of cell keys, see
`kernels.output_checks.cell_keys`.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from sqlglot import exp

from policy_engine.audits.outputs.mitigating import (
    LEAST_BASE,
    ProtectedFigures,
    protect_by_noise,
    protect_by_rounding,
)
from policy_engine.audits.outputs.model import TableVerdict
from policy_engine.audits.outputs.significant import round_digits
from policy_engine.data.keys import LEAST_KEY
from policy_engine.decision.query.checking.answer_populations import (
    DatasetRows,
    cell_members,
    has_one_row,
)
from policy_engine.decision.query.checking.checked_query import CheckedQuery, NotCheckableError
from policy_engine.decision.query.checking.gathering_evidence import GatheredAnswer
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


def protect(
    gathered: GatheredAnswer, verdict: TableVerdict, before: TableVerdict, task: ProtectionInputs
) -> ProtectedAnswer:
    """Return an answer as it is shown under its check.

    `verdict` is that by all checks, `before` the one without secondary suppression and ledger.
    """
    digits = verdict.check.profile.significant_digits
    answer = ProtectedAnswer(gathered, verdict)
    if verdict.check.mitigation == "round":
        answer = _in_multiples(gathered, verdict, before, task)
    elif verdict.check.needs_key:
        answer = _by_keys(gathered, verdict, before, task)
    return answer if digits is None else _in_digits(answer, digits)


def _in_multiples(
    gathered: GatheredAnswer, verdict: TableVerdict, before: TableVerdict, task: ProtectionInputs
) -> ProtectedAnswer:
    base = verdict.check.profile.round_base or LEAST_BASE
    sums = sums_and_counts(gathered)
    figures = protect_by_rounding(verdict, before, base, counts_of_units(gathered, task), sums)
    text = f"counts and sums are rounded to multiples of {base}"
    return _changed(gathered, verdict, figures, sums, text)


def _by_keys(
    gathered: GatheredAnswer, verdict: TableVerdict, before: TableVerdict, task: ProtectionInputs
) -> ProtectedAnswer:
    base, way = verdict.check.profile.round_base, f"have noise of at most {MOST_NOISE}"
    if verdict.check.needs_base:
        way = f"are rounded at random to multiples of {base}"
    base = base if verdict.check.needs_base else None
    figures = figures_by_keys(gathered, verdict, before, task, base)
    counts = counts_of_units(gathered, replace(task, is_plain=True))
    text = f"counts of units {way}, the same in every answer"
    return _changed(gathered, verdict, figures, counts, text)


def figures_by_keys(
    gathered: GatheredAnswer,
    verdict: TableVerdict,
    before: TableVerdict,
    task: ProtectionInputs,
    base: int | None = None,
) -> ProtectedFigures:
    """Return all numbers of units with noise, or rounded at random to multiples of a base; small
    ones are shown in plain queries alone."""
    counts = counts_of_units(gathered, replace(task, is_plain=True))
    most = MOST_NOISE if base is None else base - 1
    keyed = _keyed(gathered, task, base)
    figures = protect_by_noise(verdict, before, counts, keyed, most)
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
    """Return which aggregates are numbers of units, in cells that nobody chose: (measures,)."""
    aggregates = gathered.queries.query.aggregates
    is_single = task.is_plain and has_one_row(gathered)
    return np.array(
        [
            is_single and one.kind == "count" and not one.is_group and not one.arguments
            for one in aggregates
        ],
        dtype=np.bool_,
    )


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
