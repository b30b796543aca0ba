"""Tables of aggregates that a policy declares, and budgets of what they tell of persons together.

The figures of a table are released under differential privacy, by a rule that names the table as
its `pe:release`. All numbers are exact decimals.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING
from urllib.parse import unquote

from policy_engine.errors import NOWHERE, Place
from policy_engine.policy.xsd.literals import lexical

if TYPE_CHECKING:
    from policy_engine.policy.model import Value

SYNTHETIC = "synthetic"
"""The function of the columns of synthetic tables."""
ALL_ASSIGNEES = "allAssignees"
"""The scope of a budget for the releases to all assignees together."""


@dataclass(frozen=True)
class GroupColumn:
    """A column by whose values rows are grouped, and its `keys`: the values that have a group.

    Without keys, those of the query say which groups there are, or the data do.
    """

    iri: str
    keys: "tuple[Value, ...]" = ()
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Aggregate:
    """A figure of each group: a function, of the values of the column `of` unless rows are counted.

    `settings` are those given of `lower`, `upper`, `grid`, `at`, `k` (an integer) and `share`.
    `candidates` are the first, the last and the step of numbers, or single values. Of the function
    `synthetic` it is a column of a synthetic table.
    """

    function: str
    of: str = ""
    name: str = ""
    settings: "Mapping[str, Value]" = field(default_factory=dict, hash=False)
    candidates: "tuple[Value, ...]" = ()
    place: Place = field(default=NOWHERE, compare=False)

    @property
    def column(self) -> str:
        """The name of the figure's column: its own, or what it is, as in `sum-cost`; a synthetic
        column is called as the one that it is of."""
        if self.name:
            return self.name
        at, of = self.settings.get("at"), unquote(self.of.rpartition("/")[2])
        if self.function == SYNTHETIC and of:
            return of
        parts = (self.function, lexical(at.value) if at else "", of)
        return "-".join(filter(None, parts))


@dataclass(frozen=True)
class Query:
    """A table of aggregates (`pe:Query`): a row for each group, a column for each figure.

    Without columns to group by, all rows are one group. `keys` is the IRI of a file with a row for
    each group; empty where columns have theirs, or the data say which groups there are. Of a
    synthetic table, the figures are its columns, and `rows` their number.
    """

    uid: str
    group_by: tuple[GroupColumn, ...] = ()
    keys: str = ""
    aggregates: tuple[Aggregate, ...] = ()
    rows: "Value | None" = None
    place: Place = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Budget:
    """What all releases of a dataset together may cost (`pe:Budget`), whatever rule allows them.

    With a `renewal`, a duration, epsilon and delta are for each such time, and those of the
    lifetime for all time.
    """

    over: str
    epsilon: Decimal
    delta: Decimal = Decimal(0)
    scope: str = ALL_ASSIGNEES
    renewal: str = ""
    lifetime_epsilon: Decimal | None = None
    lifetime_delta: Decimal | None = None
    place: Place = field(default=NOWHERE, compare=False)
