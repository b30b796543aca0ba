"""Tables and models made of microdata, with their verdicts."""

from dataclasses import dataclass

from policy_engine.audits.outputs.model import TableVerdict
from policy_engine.audits.outputs.tabulating import Tabulation


@dataclass(frozen=True, eq=False)
class JudgedTable:
    """A table made of microdata, with its verdict."""

    verdict: TableVerdict
    made: Tabulation
