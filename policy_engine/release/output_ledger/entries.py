"""What an output ledger records: that it was opened, and which answers were given."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from policy_engine.data.chain.entries import ChainEntry, ChainRecord, Hash
from policy_engine.data.chain.hashing import HashChain
from policy_engine.data.chain.verification import EntryKind
from policy_engine.errors import LedgerError


class RecordedOutput(ChainRecord):
    """An answer: what it is about, and the digest of its populations and cells.

    Those are kept beside the entry, under its number. `released` and `suppressed` are how many
    cells there are of each. `accepted` is who let cells out that the rules leave to a person.
    It was judged under its `scopes`, and counts under others `also`.
    """

    dataset: str
    data: str
    scopes: tuple[str, ...]
    units: Annotated[int, Field(ge=0)]
    released: Annotated[int, Field(ge=0)]
    suppressed: Annotated[int, Field(ge=0)]
    name: str | None = None
    content: Hash | None = None
    accepted: str | None = None
    also: tuple[str, ...] | None = None


class OutputEntry(ChainEntry):
    """The beginning of a ledger, or an answer.

    `ledger` is a random name: no two ledgers begin alike. An answer was `answered`, with its cells,
    or `repeated`: all its cells were released before.
    """

    state: Literal["opened", "answered", "repeated"]
    ledger: str | None = None
    output: RecordedOutput | None = None

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        if (self.state == "opened") != (self.ledger is not None and self.output is None):
            raise ValueError(f"an entry of the state {self.state!r} has other parts")
        if self.state != "opened" and self.output is None:
            raise ValueError(f"an entry of the state {self.state!r} has an output")
        has_content = self.output is not None and self.output.content is not None
        if (self.state == "answered") != has_content:
            raise ValueError(f"an entry of the state {self.state!r} has another output")
        return self


OUTPUTS = EntryKind(OutputEntry, "output ledger", "K033")


def make_entry(chain: HashChain, last: tuple[int, str], logged: str, **parts: Any) -> OutputEntry:
    """Return the entry after the one with that number and hash.

    Raises LedgerError (K037) if a name in it cannot be recorded.
    """
    try:
        entry = OutputEntry(
            chain=chain.kind, number=last[0] + 1, previous=last[1], logged=logged, **parts
        )
        return entry.model_copy(update={"hash": chain.hash(entry)})
    except (ValidationError, UnicodeEncodeError, ValueError):
        message = "An answer cannot be recorded: a name in it is not a text in UTF-8."
        raise LedgerError.of("K037", message) from None
