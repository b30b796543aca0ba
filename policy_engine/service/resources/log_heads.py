"""What the service remembers of the ends of its log and its ledgers, so that one that was cut or is
gone is told from a whole one: also after the service was started again."""

import hmac
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple

from policy_engine.data.chain.verification import Head
from policy_engine.data.keys import read_chain_key
from policy_engine.decision.log import latest_entries
from policy_engine.errors import LedgerError, LogError, PolicyEngineError, Problem
from policy_engine.service.files.keys import key_file
from policy_engine.service.runs.folders import LEDGER_KEY, RunFolders

DECISIONS_NAME, OUTPUT_NAME, _OUTPUT_KEY = "decisions.sqlite", "outputs.sqlite", "outputs"


class ChainKind(NamedTuple):
    """A log or a ledger: what it is called, how its end is read, and the error for one without it.

    `entry` returns the entry of a number, or the last one; None where there is none.
    """

    noun: str
    entry: Callable[[Path, int | None], Head | None]
    error: Callable[[str, str], PolicyEngineError]


def _logged(log: Path, number: int | None) -> Head | None:
    before = None if number is None else number + 1
    entries = islice(latest_entries(log, lambda _entry: True, before=before), 1)
    return next((Head(one.number, one.hash) for one in entries), None)


def _charged(ledger: Path, number: int | None) -> Head | None:
    from policy_engine.release.budget.store import LedgerFile  # noqa: PLC0415 (seldom needed)

    return LedgerFile(ledger).head(number)


def _released(ledger: Path, number: int | None) -> Head | None:
    from policy_engine.release.output_ledger.store import (  # noqa: PLC0415 (slow to import)
        OutputLedgerFile,
    )

    return OutputLedgerFile(ledger).head(number)


DECISION_LOG = ChainKind(
    "log of decisions", _logged, lambda message, hint: LogError.of("G002", message, hint)
)
BUDGET_LEDGER = ChainKind(
    "ledger of budgets", _charged, lambda message, hint: LedgerError.of("B004", message, hint)
)
OUTPUT_LEDGER = ChainKind(
    "ledger of answers", _released, lambda message, hint: LedgerError.of("K033", message, hint)
)


@dataclass(frozen=True)
class LogHead:
    """The last entry of a log or a ledger that is known, in a file beside its key and bound to that
    key.

    It is written once the entry is there, so that no log is behind it that was not cut.
    """

    log: Path
    key: Path
    kind: ChainKind = DECISION_LOG

    @property
    def path(self) -> Path:
        """Where it is kept."""
        return self.key.with_suffix(".head")

    def kept(self) -> Head | None:
        """Return the entry that is known, None where there is none yet. Raises the kind's error for
        a file that the service has not written."""
        try:
            head, _, digest = self.path.read_text("ascii", "replace").partition("\n")
        except FileNotFoundError:
            return None
        if not hmac.compare_digest(digest.encode(), self._digest(head).encode()):
            raise self._error("What is remembered of its end was changed")
        return Head.of(head)

    def check(self) -> None:
        """Raise the kind's error for a log that lacks the entry that is known, or is not there."""
        head = self.kept()
        if head is not None and not (self.log.exists() and self._is_in(head)):
            raise self._lacking_error(head)

    def check_exists(self) -> None:
        """Raise the kind's error for a log that has begun and is not there. It is not opened."""
        head = self.kept()
        if head is not None and not self.log.exists():
            raise self._lacking_error(head)

    def check_end(self, end: Head) -> None:
        """Raise the kind's error for a log with this end, read to there, that lacks the entry that
        is known. Nothing of it is read again, unless others have written to it since."""
        head = self.kept()
        if head is None or head == end:
            return
        if head.number >= end.number or not self._is_in(head):
            raise self._lacking_error(head)

    def keep(self, head: Head) -> None:
        """Remember an entry, unless a later one is known. Raises OSError, and as `kept`."""
        earlier = self.kept()
        if earlier is not None and earlier.number >= head.number:
            return
        draft = self.path.with_name(f".{self.path.name}.{token_hex(8)}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(f"{head}\n{self._digest(str(head))}")
        draft.replace(self.path)

    def follow(self) -> None:
        """Remember the last entry of the log, if it has any. Raises as `keep`."""
        last = self.kind.entry(self.log, None) if self.log.exists() else None
        if last is not None:
            self.keep(last)

    def _is_in(self, head: Head) -> bool:
        entry = self.kind.entry(self.log, head.number)
        return entry is not None and head.is_at(entry.number, entry.hash)

    def _digest(self, head: str) -> str:
        key = read_chain_key(self.key) or b""
        return hmac.new(key, b"the end of a log\n" + head.encode(), "sha256").hexdigest()

    def _lacking_error(self, head: Head) -> PolicyEngineError:
        return self._error(f"It lacks entry {head.number}, which was in it")

    def _error(self, message: str) -> PolicyEngineError:
        hint = f"Restore it and {self.path.name} from one backup, or find out who changed it."
        message = f"The {self.kind.noun} is not as the service has written it: {message}."
        return self.kind.error(message, hint)


def chain_problems(folders: RunFolders) -> Iterator[Problem]:
    """Yield which logs and ledgers that have begun are not there, or have lost their keys.

    None is opened: what their entries are is found out by who uses them.
    """
    chains = (
        ("decisions", folders.root / DECISIONS_NAME, DECISION_LOG),
        (_OUTPUT_KEY, folders.root / OUTPUT_NAME, OUTPUT_LEDGER),
        (LEDGER_KEY, folders.ledger, BUDGET_LEDGER),
    )
    for name, path, kind in chains:
        try:
            if path.exists() or (folders.root / "keys" / f"{name}.head").exists():
                LogHead(path, key_file(folders.root, name, of=path), kind).check_exists()
        except PolicyEngineError as error:
            for one in error.problems:
                yield Problem("N013", one.message, one.hint)


def budget_head(folders: RunFolders) -> LogHead:
    """Return what is known of the ledger of budgets. Raises ServiceError (N013) for a lost key."""
    key = key_file(folders.root, LEDGER_KEY, of=folders.ledger)
    return LogHead(folders.ledger, key, BUDGET_LEDGER)


def output_head(folder: Path) -> LogHead:
    """Return what is known of the ledger of answers. Raises ServiceError (N013) for a lost key."""
    ledger = folder / OUTPUT_NAME
    return LogHead(ledger, key_file(folder, _OUTPUT_KEY, of=ledger), OUTPUT_LEDGER)
