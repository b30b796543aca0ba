"""How a decision or a duty event becomes the next entry of a log."""

from pydantic import ValidationError

from policy_engine.data.chain.entries import START, now
from policy_engine.data.chain.hashing import HashChain
from policy_engine.data.chain.verification import EntryKind
from policy_engine.decision.log.entries import Entry, LoggedDeed, LogRecord
from policy_engine.decision.model import Decision
from policy_engine.errors import OutputError

LOG = EntryKind(Entry, "log", "G002")


class Chain(HashChain):
    """The chain of a decision log."""

    def next(self, last: Entry | None, content: Decision | LoggedDeed) -> Entry:
        """Return the entry for a content after the last entry. Raises as `following` does."""
        number, own_hash = (last.number, last.hash) if last else (0, START)
        return self.following(number, own_hash, content)

    def following(self, number: int, previous: str, content: Decision | LoggedDeed) -> Entry:
        """Return the entry for a decision or a duty event after the entry of that number and hash.

        Raises OutputError (O002) if the content cannot be encoded as UTF-8.
        """
        try:
            entry = Entry(
                chain=self.kind,
                number=number + 1,
                previous=previous,
                logged=now(),
                decision=LogRecord.from_decision(content)
                if isinstance(content, Decision)
                else None,
                deed=content if isinstance(content, LoggedDeed) else None,
            )
            return entry.model_copy(update={"hash": self.hash(entry)})
        except (ValidationError, UnicodeEncodeError):
            message = "The entry cannot be logged: a name in it cannot be encoded as UTF-8."
            raise OutputError.of("O002", message) from None
