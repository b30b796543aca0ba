"""Where a budget ledger is stored: in an SQLite file, or in what else satisfies `LedgerStore`."""

from dataclasses import dataclass, field

from policy_engine.release.ledger_file import KindredFile, LedgerKind

BUDGET = LedgerKind(
    noun="budget ledger",
    table="charges",
    maker="A release under a budget",
    need="A charge needs both.",
    used="B001",
    locked="B002",
    reading="B003",
    broken="B004",
    key="B005",
    other="B006",
    version="B007",
)


@dataclass(frozen=True)
class LedgerFile(KindredFile):
    """An SQLite file that has a budget ledger, readable for its owner alone."""

    kind: LedgerKind = field(default=BUDGET)
