"""Where an output ledger is stored: in an SQLite file, or in what else satisfies `LedgerStore`."""

from dataclasses import dataclass, field

from policy_engine.release.ledger_file import KindredFile, LedgerKind

OUTPUT = LedgerKind(
    noun="output ledger",
    table="outputs",
    maker="An answer whose outputs are checked",
    need="Recording an answer needs both.",
    used="K030",
    locked="K031",
    reading="K032",
    broken="K033",
    key="K034",
    other="K035",
    version="K036",
    makes_folders=False,
)


@dataclass(frozen=True)
class OutputLedgerFile(KindredFile):
    """An SQLite file that has an output ledger, readable for its owner alone."""

    kind: LedgerKind = field(default=OUTPUT)
