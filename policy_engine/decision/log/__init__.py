"""Which decisions were made, in a chain that reveals every change."""

from policy_engine.data.chain.verification import Head, Verification
from policy_engine.decision.log.entries import Entry, LoggedDeed, LogRecord
from policy_engine.decision.log.log import (
    DecisionLog,
    last_entries,
    last_number,
    latest_entries,
    log_lines,
    read_history,
    read_log,
    verify_log,
)

__all__ = [
    "DecisionLog",
    "Entry",
    "Head",
    "LogRecord",
    "LoggedDeed",
    "Verification",
    "last_entries",
    "last_number",
    "latest_entries",
    "log_lines",
    "read_history",
    "read_log",
    "verify_log",
]
