"""The result of a query: its rows under the policy, or why there are none."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from policy_engine.decision.model import Decision
from policy_engine.errors import Problem

if TYPE_CHECKING:
    import pyarrow as pa

Columns = Mapping[str, tuple[str, ...]]
"""Columns by the IRI of their dataset; none for the dataset as a whole."""


@dataclass(frozen=True)
class QueryResult:
    """The answer to a query under policies.

    `sql` is the query as it may run, in the dialect that it came in: every table is replaced by
    its rows and columns that may be read; empty where it is denied. `table` holds the rows, None
    where it is denied or was not run. `columns` are those that the query reads, by the IRI of
    their dataset (none where it reads the dataset as a whole); `decision` is what was decided of
    all of them together, None of a query that reads no table; `allowed` are the largest choices
    of them that may be read together, where they may not all. `reasons` say why it is denied, or
    which rules gave nothing; `suggestion` is a smaller query that would be permitted, where
    cutting down the select list makes one.
    """

    permitted: bool
    sql: str = ""
    table: "pa.Table | None" = None
    columns: Columns = field(default_factory=dict)
    decision: Decision | None = None
    allowed: tuple[Columns, ...] = ()
    reasons: tuple[Problem, ...] = ()
    suggestion: str = ""
