"""Tables and models made of microdata, with their verdicts."""

from dataclasses import dataclass

from policy_engine.audits.outputs.model import TableVerdict
from policy_engine.audits.outputs.tabulating import Tabulation


@dataclass(frozen=True, eq=False)
class JudgedTable:
    """A table made of microdata, with its verdict. The measures that are `telling`, by their
    numbers, are totals that tell with earlier ones how many rows they are of."""

    verdict: TableVerdict
    made: Tabulation
    telling: frozenset[int] = frozenset()
