"""An answer that passes output checks: computed with its evidence, judged, and shown in part."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from policy_engine.audits.outputs.judging import judge
from policy_engine.audits.outputs.listing import listed_rows
from policy_engine.audits.outputs.model import TableVerdict
from policy_engine.audits.outputs.reasons import CheckOutcome
from policy_engine.data.column_names import column_name
from policy_engine.decision.query import logic
from policy_engine.decision.query.checking.checked_query import CheckedQuery, NotCheckableError
from policy_engine.decision.query.checking.gathering_evidence import gather_answer
from policy_engine.decision.query.checking.reading_checked import read_checked
from policy_engine.decision.query.checking.showing_released import (
    SuppressedCell,
    show_released,
)
from policy_engine.decision.query.checking.unit_columns import add_unit
from policy_engine.decision.query.filters import Filter
from policy_engine.decision.query.rewriting import TableView, rewrite
from policy_engine.decision.query.scope import TableReading
from policy_engine.decision.query.tables import Tables
from policy_engine.methods.output_checks.parameters import OutputCheck

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

ReadViews = Callable[[Mapping[str, TableView]], "Mapping[str, pa.Table]"]
"""Reads the rows of views, by the name of their table."""


@dataclass(frozen=True)
class CheckedAnswer:
    """What a checked answer shows: its rows, and why some cells are missing in them.

    `verdict` has the figures, for owners and auditors alone; it is about the aggregates that the
    answer is computed from, each of which is a measure. An answer `is_shortened` where rows of
    which nothing is released cannot even be listed.
    """

    table: "pa.Table"
    suppressed: tuple[SuppressedCell, ...]
    verdict: TableVerdict
    is_shortened: bool = False

    @property
    def is_released(self) -> bool:
        """Whether anything is released."""
        return bool(self.verdict.released.any())

    @property
    def outcome(self) -> CheckOutcome:
        """What was decided about the answer."""
        return self.verdict.outcome

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the reasons for which cells are not shown, each once."""
        return tuple(sorted({code for cell in self.suppressed for code in cell.codes}))

    @property
    def profile(self) -> str:
        """The profile that the answer passed, and its version."""
        profile = self.verdict.check.profile
        return f"{profile.notation} {profile.version}"


@dataclass(frozen=True)
class CheckableQuery:
    """A query whose answer can be checked, with the unit of privacy of its rows, if one is named.

    `views` are what it reads of tables, the unit included, which who asks need not see.
    """

    query: CheckedQuery
    unit: "exp.Expr | None"
    views: Mapping[str, TableView]
    check: OutputCheck


def make_checkable(
    reading: TableReading,
    views: Mapping[str, TableView],
    check: OutputCheck,
    tables: Tables,
    asset: Callable[[str], str] = str,
) -> CheckableQuery:
    """Return a query of aggregates over views with their unit.

    `asset` returns the IRI of the dataset that a table is of. Raises NotCheckableError (K017 to
    K019, K024).
    """
    if check.mitigation in ("round", "noise"):
        message = f"Answers to queries are not protected by {check.mitigation!r}."
        raise NotCheckableError("K017", message, "Ask by --epsilon for statistics with noise.")
    names = frozenset(name.lower() for columns in reading.columns.values() for name in columns)
    query = read_checked(reading.tree, names)

    def find_unit(iri: str) -> str | None:
        name = column_name(asset(iri), check.unit) if check.unit else None
        return tables.catalog.dataset(iri).find_column(name) if name is not None else None

    unit = add_unit(query.source, find_unit, has_unit=bool(check.unit))
    with_units = {iri: _with(view, find_unit(iri)) for iri, view in views.items()}
    plain = {
        iri: replace(view, rows=Filter(logic.true()), numbers=frozenset())
        for iri, view in with_units.items()
    }
    source = cast("exp.Select", rewrite(query.source, plain))
    return CheckableQuery(replace(query, source=source), unit, with_units, check)


def _with(view: TableView, column: str | None) -> TableView:
    if column is None or column in view.columns:
        return view
    return replace(view, columns=(*view.columns, column))


def answer_checked(checkable: CheckableQuery, tables: "Mapping[str, pa.Table]") -> CheckedAnswer:
    """Return what may be shown of the answer to a query over the rows of its views.

    Raises NotCheckableError (K022) if the query fails.
    """
    check = checkable.check
    gathered = gather_answer(
        checkable.query,
        checkable.unit,
        tables,
        fills_gaps=check.profile.zeros_disclosive,
    )
    verdict = judge(gathered.table, check)
    is_listed = listed_rows(verdict, gathered.sets, gathered.units)
    released = show_released(checkable.query, gathered, verdict, is_listed)
    return CheckedAnswer(
        released.table, released.suppressed, verdict, is_shortened=not is_listed.all()
    )
