"""An answer that passes output checks: computed with its evidence, judged, and shown in part."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa
from sqlglot import exp

from policy_engine.audits.outputs.explaining import CONDITIONAL
from policy_engine.audits.outputs.judging import judge
from policy_engine.audits.outputs.model import TOTAL, TableVerdict
from policy_engine.audits.outputs.reasons import CheckOutcome, Reason
from policy_engine.audits.outputs.suppressing import suppress_totals
from policy_engine.data.column_names import column_name
from policy_engine.decision.query import logic
from policy_engine.decision.query.checking.answer_populations import DatasetRows
from policy_engine.decision.query.checking.checked_query import (
    CheckedQuery,
    NotCheckableError,
)
from policy_engine.decision.query.checking.evidence_columns import UNIT
from policy_engine.decision.query.checking.evidence_tables import run_checked
from policy_engine.decision.query.checking.gathering_evidence import GatheredAnswer, gather_answer
from policy_engine.decision.query.checking.ledger_checks import AnswerLedger, RecordedAnswer
from policy_engine.decision.query.checking.measured_columns import (
    check_identifiers,
    check_unit_is_no_measure,
)
from policy_engine.decision.query.checking.owned_rows import RowOwners
from policy_engine.decision.query.checking.population_conditions import check_columns, check_keys
from policy_engine.decision.query.checking.possible_worlds import telling_cells
from policy_engine.decision.query.checking.protecting import (
    ProtectionInputs,
    check_protection,
    is_plain_query,
    protect,
)
from policy_engine.decision.query.checking.reading_checked import read_checked
from policy_engine.decision.query.checking.same_conditions import SameConditions
from policy_engine.decision.query.checking.showing_released import (
    SuppressedCell,
    show_released,
)
from policy_engine.decision.query.checking.sql_nodes import (
    column,
    count_where,
    named,
    present,
    rows_of,
)
from policy_engine.decision.query.checking.unfiltered_rows import UnfilteredRows, unfiltered_rows
from policy_engine.decision.query.checking.unit_columns import (
    ROW,
    add_row,
    add_unit,
    check_names,
)
from policy_engine.decision.query.checking.whole_columns import (
    check_distinct,
    check_ranked,
    unruled_figures,
)
from policy_engine.decision.query.filters import Filter
from policy_engine.decision.query.grammar import to_sql
from policy_engine.decision.query.rewriting import TableView, rewrite
from policy_engine.decision.query.scope import TableReading
from policy_engine.decision.query.tables import Tables
from policy_engine.methods.output_checks.parameters import OutputCheck

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

ReadViews = Callable[[Mapping[str, TableView]], "Mapping[str, pa.Table]"]
"""Reads the rows of views, by the name of their table."""


@dataclass(frozen=True)
class CheckedAnswer:
    """What a checked answer shows: its rows, and why some cells are missing in them.

    `verdict` has the figures, for owners and auditors alone; it is about the aggregates that
    the answer is computed from, each of which is a measure. It `is_released` if any figure is
    shown, or any row of an answer of keys alone. An answer `is_shortened` where rows of which
    nothing is released cannot be listed, whether there are any or not. `protection` says what
    was done to the figures that are shown, and `judged` is the verdict on the exact ones;
    `has_condition` whether the query asks of anybody whether a condition holds. `recorded` is
    the entry of the ledger, and `aggregates` are the texts of the measures.
    """

    table: "pa.Table"
    suppressed: tuple[SuppressedCell, ...]
    verdict: TableVerdict
    is_released: bool
    recorded: RecordedAnswer
    aggregates: tuple[str, ...]
    is_shortened: bool = False
    protection: str = ""
    has_condition: bool = False
    judged: TableVerdict | None = field(default=None, repr=False)

    @property
    def outcome(self) -> CheckOutcome:
        """What was decided about the answer."""
        outcome = self.verdict.outcome
        is_hidden = outcome is CheckOutcome.RELEASED and not self.is_released
        return CheckOutcome.SUPPRESSED if is_hidden else outcome

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the reasons for which cells are not shown, each once.

        An answer without any row has one, too, where rows may be missing.
        """
        codes = {code for cell in self.suppressed for code in cell.codes}
        if self.is_shortened and not self.table.num_rows:
            codes.add(Reason.WITHHELD.value)
        return tuple(sorted(codes))

    @property
    def advice(self) -> str:
        """What would pass of an answer that has conditions, where cells of it are withheld; empty
        otherwise. It follows from the query: that a condition is what withholds a cell is not told,
        for it would tell of those few who do not satisfy it."""
        return CONDITIONAL if self.has_condition and Reason.WITHHELD.value in self.codes else ""

    @property
    def profile(self) -> str:
        """The profile that the answer passed, and its version."""
        return self.verdict.check.profile.title


@dataclass(frozen=True)
class CheckableQuery:
    """A query whose answer can be checked, with the unit of privacy of its rows.

    `views` are what it reads of tables, the unit included, which who asks need not see; `dataset`
    is the table that has the unit, and `row` the expression of the number of a row of it.
    `unfiltered` are the rows without conditions, and what they are. It `is_plain` where it asks for
    all rows of a table by columns.
    """

    query: CheckedQuery
    unit: exp.Expr
    row: exp.Expr
    views: Mapping[str, TableView]
    check: OutputCheck
    dataset: str
    asset: str
    unfiltered: UnfilteredRows
    is_plain: bool = False


def make_checkable(
    reading: TableReading,
    views: Mapping[str, TableView],
    check: OutputCheck,
    tables: Tables,
    asset: Callable[[str], str] = str,
) -> CheckableQuery:
    """Return a query of aggregates over views with their unit.

    `asset` returns the IRI of the dataset that a table is of. Raises NotCheckableError (K017 to
    K019, K024, K046).
    """
    names = frozenset(name.lower() for columns in reading.columns.values() for name in columns)
    check_names(reading.tree, names)
    query = read_checked(reading.tree, names)
    is_plain = is_plain_query(query)

    def find_unit(iri: str) -> str | None:
        name = column_name(asset(iri), check.unit) if check.unit else None
        return tables.catalog.dataset(iri).find_column(name) if name is not None else None

    unit_columns = {name for iri in views if (name := find_unit(iri)) is not None}
    for name in unit_columns:
        check_unit_is_no_measure(query.aggregates, name)
    unit = row = add_unit(query.source, find_unit if check.unit else lambda _: ROW)
    owner = next((iri for iri in views if find_unit(iri) is not None), next(iter(views)))
    if check.unit:
        row = add_row(query.source, owner, ROW)
    with_units = {iri: _with(view, find_unit(iri)) for iri, view in views.items()}
    plain = {
        iri: replace(
            view,
            columns=(*view.columns, ROW),
            rows=Filter(logic.true()),
            numbers=frozenset(),
        )
        for iri, view in with_units.items()
    }
    unfiltered = unfiltered_rows(query.source, {iri: one.columns for iri, one in plain.items()})
    check_keys(query.keys, unfiltered)
    check_columns(query, unfiltered)
    read = replace(unfiltered, source=cast("exp.Select", rewrite(unfiltered.source, plain)))
    source = cast("exp.Select", rewrite(query.source, plain))
    owned = check, owner, asset(owner)
    return CheckableQuery(
        replace(query, source=source), unit, row, with_units, *owned, read, is_plain
    )


def _with(view: TableView, name: str | None) -> TableView:
    if name is None or name in view.columns:
        return view
    return replace(view, columns=(*view.columns, name))


def dataset_rows(checkable: CheckableQuery, tables: Tables) -> DatasetRows:
    """Return the numbers of all rows of the dataset that has the units."""
    dataset = tables.catalog.dataset(checkable.dataset)
    values = lru_cache(8)(partial(_column_values, checkable.dataset, tables))
    conditions = checkable.unfiltered, SameConditions(partial(_named_table, tables))
    if not checkable.check.unit:
        rows = tables.read(checkable.dataset, dataset.columns[:1]).num_rows
        numbers = np.arange(rows + 1)
        return DatasetRows(checkable.row, np.ones(rows, np.int64), numbers, values, *conditions)
    name = column_name(checkable.asset, checkable.check.unit) or ""
    name = dataset.find_column(name) or name
    units = tables.typed(tables.read(checkable.dataset, (name,)))[name]
    coded = units.combine_chunks().dictionary_encode(null_encoding="encode").indices
    numbers = coded.to_numpy(zero_copy_only=False).astype(np.int64)
    more = np.append(numbers, len(units))
    return DatasetRows(checkable.row, np.bincount(numbers), more, values, *conditions)


def _named_table(tables: Tables, name: str, columns: tuple[str, ...]) -> "pa.Table":
    dataset = tables.dataset(name)
    return tables.typed(tables.read(dataset.iri, columns or dataset.columns[:1]))


def _column_values(iri: str, tables: Tables, name: str) -> "NDArray[np.float64] | None":
    """Return the numbers in a column of a dataset, and 0 for what is in none of its rows; None if
    there are no such numbers."""
    stored = tables.catalog.dataset(iri).find_column(name)
    if stored is None:
        return None
    cells = tables.typed(tables.read(iri, (stored,)))[stored]
    try:
        numbers = cells.cast(pa.float64(), safe=False).to_numpy()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    return np.append(numbers.astype(np.float64), 0.0)


def check_joins(
    checkable: CheckableQuery,
    tables: "Mapping[str, pa.Table]",
    rows: Callable[[], DatasetRows],
) -> None:
    """Refuse joins that give a row of the dataset of units several rows, or no partner.

    Which rows count could be chosen by a person's value. A filtered subquery is a condition, and no
    table of fewer rows. Raises NotCheckableError (K019).
    """
    is_joined = next(checkable.query.source.find_all(exp.Join), None) is not None
    if not is_joined and len(checkable.views) == 1:
        return
    count, most = _joined_rows(checkable, tables)
    if most > 1:
        message = "The joins give one row of whom the answer is about several rows."
        hint = "Let the policy name the unit in the table that has the more rows."
        raise NotCheckableError("K019", message, hint)
    if count < rows().row_counts.sum():
        message = "A row of whom the answer is about has no partner in a joined table."
        hint = "Who has none would be told by the answer. Join tables that have all of the values."
        raise NotCheckableError("K019", message, hint)


def _joined_rows(checkable: CheckableQuery, tables: "Mapping[str, pa.Table]") -> tuple[int, int]:
    """Return how many rows of the dataset of units have partners in all joined tables, and how many
    one of them has at most.

    Conditions do not count, those in subqueries neither: who asks could choose whose partners
    decide.
    """
    select = checkable.unfiltered.source.copy()
    for join in select.args.get("joins") or ():
        join.set("side", None)
    row = checkable.unfiltered.resolved(checkable.row)
    select.set("expressions", [named(row, UNIT)])
    unit = column(UNIT)
    partners = rows_of(select, [count_where(None, "n")]).where(present(unit), copy=False)
    partners = partners.group_by(unit, copy=False)
    most = named(exp.Max(this=column("n")), "most")
    counts = rows_of(partners, [count_where(None, "rows"), most])
    [one] = run_checked({"": to_sql(counts, "duckdb")}, tables)[""].to_pylist()
    return one["rows"], one["most"] or 0


def judge_answer(
    checkable: CheckableQuery,
    gathered: GatheredAnswer,
    tables: "Mapping[str, pa.Table]",
    rows: Callable[[], DatasetRows],
) -> TableVerdict:
    """Return the verdict on each cell by itself, with cells suppressed that are about nobody, or
    whose conditions hold of too few, or too few not, of those of whom they tell something.

    Otherwise a condition about one person would be answered by whether its cell is shown. Raises
    NotCheckableError: K017 for a condition that cannot be read, K022 if the query fails.
    """
    verdict = judge(gathered.table, checkable.check)
    has_keys = (gathered.table.codes != TOTAL).any(axis=1)
    is_absent = (gathered.units == 0) & has_keys
    is_empty = np.repeat(is_absent[:, None], len(gathered.table.measures), axis=1)
    for number, measure in enumerate(gathered.table.measures):
        for evidence in (one.evidence for one in measure.statistics):
            is_empty[:, number] |= evidence.units == 0
    few = np.where(is_empty, np.uint32(Reason.FEW_UNITS.bit), np.uint32(0))
    units = checkable.check.profile.min_units
    telling = telling_cells(
        gathered,
        checkable.unfiltered,
        tables,
        lambda: rows().least_rows(units),
        _owners(checkable, rows),
    )
    query, cells = gathered.queries.query, len(gathered.sets)
    unruled = unruled_figures(query, cells, checkable.unfiltered, tables)
    return replace(verdict, reasons=verdict.reasons | few | telling | unruled)


def _owners(checkable: CheckableQuery, rows: Callable[[], DatasetRows]) -> RowOwners | None:
    """Return whose rows conditions are asked of; None where each is somebody else's."""
    if not checkable.check.unit or rows().row_counts.max(initial=1) <= 1:
        return None
    row = checkable.unfiltered.resolved(checkable.row)
    return RowOwners(checkable.check.profile.min_units, row, lambda numbers: rows().owners(numbers))


def answer_checked(
    checkable: CheckableQuery,
    tables: "Mapping[str, pa.Table]",
    rows: Callable[[], DatasetRows],
    ledger: AnswerLedger,
    noise_key: bytes | None = None,
) -> CheckedAnswer:
    """Return what may be shown of the answer to a query over the rows of its views.

    It is recorded in the ledger before it is returned: with exact figures where they pass, and as
    suppressed where they do not, whatever is shown. Raises NotCheckableError: K019 if joins give
    rows several rows, K022 if the query fails, and what `check_protection` does; LedgerError if the
    ledger cannot be used; DataError (C011) for totals without highspy.
    """
    check = checkable.check
    rows = cache(rows)
    check_protection(check, noise_key)
    check_identifiers(checkable.query.aggregates, tables)
    check_joins(checkable, tables, rows)
    check_distinct(checkable.query, checkable.unfiltered, checkable.unit if check.unit else None)
    check_ranked(checkable.query, checkable.unfiltered, tables)
    gathered = gather(checkable, tables)
    judged = judge_answer(checkable, gathered, tables, rows)
    verdict, recorded = ledger.check(gathered, suppress_totals(judged), rows, tables)
    is_listed = gathered.is_listable | verdict.released.any(axis=1)
    task = ProtectionInputs(checkable.is_plain, rows, tables, noise_key)
    protected = protect(gathered, verdict, judged, task)
    released = show_released(checkable.query, protected.gathered, protected.verdict, is_listed)
    return CheckedAnswer(
        released.table,
        released.suppressed,
        protected.verdict,
        released.is_anything,
        recorded,
        tuple(one.text for one in checkable.query.aggregates),
        is_shortened=not gathered.are_all_listed,
        protection=protected.protection,
        has_condition=_has_condition(checkable),
        judged=verdict,
    )


def _has_condition(checkable: CheckableQuery) -> bool:
    """Return whether a query has a condition: in WHERE, a subquery, or an aggregate of its own."""
    own = (one.kind == "binary" or one.is_group for one in checkable.query.aggregates)
    return checkable.unfiltered.condition is not None or any(own)


def gather(checkable: CheckableQuery, tables: "Mapping[str, pa.Table]") -> GatheredAnswer:
    """Return the aggregates of a query with their evidence. Raises NotCheckableError (K022)."""
    unit = checkable.unit if checkable.check.unit else None
    least = checkable.check.profile.min_units
    return gather_answer(checkable.query, unit, tables, least, checkable.unfiltered)
