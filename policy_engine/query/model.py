"""What a query came to: its rows under the policy, or why there are none."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from policy_engine.decision.model import Decision
from policy_engine.errors import Problem

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class QueryResult:
    """The answer to a query under policies.

    `sql` is the query as it may run, in the dialect that it came in: every table is replaced by
    its rows and columns that may be read; empty where it is denied. `table` holds the rows, None
    where it is denied or was not run. By the IRI of a dataset, `columns` are those that the query
    reads (none where it reads the dataset as a whole), `decisions` what was decided of them, and
    `allowed` the largest choices of them that may be read together, where they may not all.
    `reasons` say why it is denied, or which rules gave nothing; `suggestion` is a smaller query
    that would be permitted, where cutting down the select list makes one.
    """

    permitted: bool
    sql: str = ""
    table: "pa.Table | None" = None
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    decisions: Mapping[str, Decision] = field(default_factory=dict)
    allowed: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    reasons: tuple[Problem, ...] = ()
    suggestion: str = ""
