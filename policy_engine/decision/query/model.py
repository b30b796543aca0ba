"""The result of a query: its rows under the policy, or why there are none."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from policy_engine.decision.model import Decision
from policy_engine.errors import Problem

if TYPE_CHECKING:
    import pyarrow as pa

    from policy_engine.audits.outputs.alternatives import MitigationComparison
    from policy_engine.decision.query.checking.checked_answer import CheckedAnswer
    from policy_engine.methods.output_checks.parameters import OutputCheck
    from policy_engine.plan.aggregates.model import Statistic

Columns = Mapping[str, tuple[str, ...]]
"""Columns by the IRI of their dataset; no columns stand for the whole dataset."""


@dataclass(frozen=True)
class StatisticsCost:
    """What statistics under differential privacy cost, or would cost if they were drawn.

    `figures` are the columns of the answer that have noise, each by its name. Nothing
    `is_charged`, or would be, for what was answered before; without a ledger, nobody knows of that.
    """

    epsilon: Decimal
    delta: Decimal
    figures: "Mapping[str, Statistic]" = field(default_factory=dict)
    is_charged: bool = False


@dataclass(frozen=True)
class QueryResult:
    """The answer to a query under policies.

    `sql` is the rewritten query, in the dialect in which it was given: every table is replaced by
    its readable rows and columns; empty if the query is denied. `table` has the rows, None if the
    query was denied or not run. `columns` are those that the query reads, by the IRI of their
    dataset (none if it reads the whole dataset); `decision` is the one on all of them together,
    None if the query reads no table; `allowed` are the largest sets of them that may be read
    together, if not all may be. `reasons` say why it is denied, or which rules gave no rows;
    `suggestion` is a smaller query that would be permitted, if shortening the select list is
    enough. `cost` is that of statistics, None for rows. `check` is the one that the answer has to
    pass, if a rule asks for output checks, and `checked` what it decided about the answer's cells,
    with figures for the owner; nothing of it is permitted if none passes. `comparisons` say what
    each way of protecting each figure would cost, counts first, to the owner, who asked for that in
    place of an answer.
    """

    permitted: bool
    sql: str = ""
    table: "pa.Table | None" = None
    columns: Columns = field(default_factory=dict)
    decision: Decision | None = None
    allowed: tuple[Columns, ...] = ()
    reasons: tuple[Problem, ...] = ()
    suggestion: str = ""
    cost: "StatisticsCost | None" = None
    comparisons: "tuple[MitigationComparison, ...]" = ()
    check: "OutputCheck | None" = None
    checked: "CheckedAnswer | None" = None

    @property
    def comparison(self) -> "MitigationComparison | None":
        """What protecting the first count would cost or, without counts, the first figure."""
        return self.comparisons[0] if self.comparisons else None
