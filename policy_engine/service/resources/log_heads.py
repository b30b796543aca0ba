"""What the service remembers of the end of its log of decisions, so that a log that was cut is told
from a whole one: also after it was started again."""

import hmac
import os
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from secrets import token_hex

from policy_engine.data.chain.verification import Head
from policy_engine.data.keys import read_chain_key
from policy_engine.decision.log import latest_entries
from policy_engine.decision.log.entries import Entry
from policy_engine.errors import LogError, PolicyEngineError


@dataclass(frozen=True)
class LogHead:
    """The last entry of a log that is known, in a file beside the log's key and bound to that key.

    It is written once the entry is in the log, so that no log is behind it that was not cut.
    """

    log: Path
    key: Path

    @property
    def path(self) -> Path:
        """Where it is kept."""
        return self.key.with_suffix(".head")

    def kept(self) -> Head | None:
        """Return the entry that is known, None where there is none yet. Raises LogError (G002) for
        a file that the service has not written."""
        try:
            head, _, digest = self.path.read_text("ascii", "replace").partition("\n")
        except FileNotFoundError:
            return None
        if not hmac.compare_digest(digest.encode(), self._digest(head).encode()):
            raise self._error("What is remembered of its end was changed")
        return Head.of(head)

    def check(self) -> None:
        """Raise LogError (G002) for a log that lacks the entry that is known, or is not there."""
        head = self.kept()
        if head is not None and not (self.log.exists() and self._is_in(head)):
            raise self._lacking_error(head)

    def check_end(self, end: Head) -> None:
        """Raise LogError (G002) for a log with this end, read to there, that lacks the entry that
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
        if self.log.exists():
            for entry in _last(self.log, None):
                self.keep(Head(entry.number, entry.hash))

    def _is_in(self, head: Head) -> bool:
        return any(head.is_at(one.number, one.hash) for one in _last(self.log, head.number + 1))

    def _digest(self, head: str) -> str:
        key = read_chain_key(self.key) or b""
        return hmac.new(key, b"the end of a log\n" + head.encode(), "sha256").hexdigest()

    def _lacking_error(self, head: Head) -> PolicyEngineError:
        return self._error(f"It lacks entry {head.number}, which was in it")

    def _error(self, message: str) -> PolicyEngineError:
        hint = f"Restore the log and {self.path.name} from one backup, or find out who changed it."
        message = f"The log of decisions is not as the service has written it: {message}."
        return LogError.of("G002", message, hint)


def _last(log: Path, before: int | None) -> list[Entry]:
    """Return the last entry of a log before a number, if there is one."""
    return [*islice(latest_entries(log, lambda _entry: True, before=before), 1)]
