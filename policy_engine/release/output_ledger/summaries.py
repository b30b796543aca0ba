"""What an output ledger says at a glance: how much was released, of what and to whom."""

from dataclasses import dataclass

from policy_engine.data.chain.verification import Head
from policy_engine.release.output_ledger.state import OutputRecord, OutputState


@dataclass(frozen=True)
class ScopeSummary:
    """The answers about a dataset that one scope was given, and their cells.

    `answers` are those with something new, `repeated` those that were given again; `data` is how
    many versions of the data there are. `first` and `last` are times in UTC.
    """

    dataset: str
    scope: str
    data: int
    answers: int
    repeated: int
    released: int
    suppressed: int
    first: str
    last: str


@dataclass(frozen=True)
class LedgerSummary:
    """How many entries a ledger has, its head, and its scopes in the order of their names."""

    entries: int
    head: Head
    scopes: tuple[ScopeSummary, ...]


def summary_of(state: OutputState) -> LedgerSummary:
    """Return the summary of a ledger that was read."""
    pairs = sorted({(one.dataset, scope) for one in state.records for scope in one.scopes})
    scopes = tuple(_scope_summary(*pair, _records_of(state, *pair)) for pair in pairs)
    return LedgerSummary(state.mark.number, Head(state.mark.number, state.mark.hash), scopes)


def _records_of(state: OutputState, dataset: str, scope: str) -> list[OutputRecord]:
    return [one for one in state.records if one.dataset == dataset and scope in one.scopes]


def _scope_summary(dataset: str, scope: str, records: list[OutputRecord]) -> ScopeSummary:
    new = [one for one in records if one.state == "answered"]
    return ScopeSummary(
        dataset=dataset,
        scope=scope,
        data=len({one.data for one in records}),
        answers=len(new),
        repeated=len(records) - len(new),
        released=sum(one.released for one in new),
        suppressed=sum(one.suppressed for one in new),
        first=records[0].logged,
        last=records[-1].logged,
    )
