"""Whether an output ledger is intact: its chain, and the answers beside it."""

from collections.abc import Iterator
from dataclasses import replace

from policy_engine.data.chain.hashing import HashChain
from policy_engine.data.chain.verification import (
    MOST,
    Head,
    InvalidEntryError,
    Verification,
    verify,
)
from policy_engine.errors import Problem
from policy_engine.release.ledger_file import StoredLedger
from policy_engine.release.output_ledger.entries import OUTPUTS
from policy_engine.release.output_ledger.state import OutputState


def verify_outputs(
    stored: StoredLedger, chain: HashChain, expect: str | int | Head | None
) -> Verification:
    """Return the problems of a ledger: as `OutputLedger.verify`."""
    expected = Head.of(str(expect), "ledger verify") if isinstance(expect, str | int) else expect
    verification = verify(stored.rows(), chain, OUTPUTS, expected)
    if not verification.intact:
        return verification
    problems = tuple(Problem(OUTPUTS.code, words) for words in _faults(stored, chain))
    return replace(verification, problems=problems[:MOST])


def _faults(stored: StoredLedger, chain: HashChain) -> Iterator[str]:
    """Yield what is wrong with a ledger whose chain is intact."""
    state = OutputState(chain)
    try:
        state.read(stored.rows())
    except InvalidEntryError as error:
        yield _sentence(error)
        return
    for record in state.records:
        if record.content:
            try:
                state.content(record.number, stored)
            except InvalidEntryError as error:
                yield _sentence(error)


def _sentence(error: InvalidEntryError) -> str:
    reason = f"{error}"
    return f"{reason[0].upper()}{reason[1:]}."
