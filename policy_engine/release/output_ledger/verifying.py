"""Whether an output ledger is intact: its chain, and the answers beside it."""

from collections.abc import Iterator

from policy_engine.data.chain.hashing import HashChain
from policy_engine.data.chain.verification import Head, InvalidEntryError, Verification
from policy_engine.release.ledger_chain import fault_sentence, verify_stored
from policy_engine.release.ledger_file import StoredLedger
from policy_engine.release.output_ledger.entries import OUTPUTS
from policy_engine.release.output_ledger.state import OutputState


def verify_outputs(
    stored: StoredLedger, chain: HashChain, expect: str | int | Head | None
) -> Verification:
    """Return the problems of a ledger: as `OutputLedger.verify`."""
    faults = _faults(stored, chain)
    return verify_stored(stored, chain, OUTPUTS, expect, "ledger verify", faults)


def _faults(stored: StoredLedger, chain: HashChain) -> Iterator[str]:
    """Yield what is wrong with a ledger whose chain is intact."""
    state = OutputState(chain)
    state.read(stored.rows())
    for record in state.records:
        if record.content:
            try:
                state.content(record.number, stored)
            except InvalidEntryError as error:
                yield fault_sentence(error)
