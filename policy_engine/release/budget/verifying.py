"""Whether a budget ledger is intact: its chain, the steps of each release, and the answers."""

import hashlib
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
from policy_engine.release.budget.entries import LEDGER
from policy_engine.release.budget.state import LedgerState
from policy_engine.release.budget.store import StoredLedger


def verify_ledger(
    stored: StoredLedger, chain: HashChain, expect: str | int | Head | None
) -> Verification:
    """Return the problems of a ledger: as `BudgetLedger.verify`."""
    expected = Head.of(str(expect), "budget verify") if isinstance(expect, str | int) else expect
    verification = verify(stored.rows(), chain, LEDGER, expected)
    if not verification.intact:
        return verification
    problems = tuple(Problem(LEDGER.code, words) for words in _faults(stored, chain))
    return replace(verification, problems=problems[:MOST])


def _faults(stored: StoredLedger, chain: HashChain) -> Iterator[str]:
    """Yield what is wrong with a ledger whose chain is intact."""
    state = LedgerState(chain)
    try:
        state.read(stored.rows())
    except InvalidEntryError as error:
        reason = f"{error}"
        yield f"{reason[0].upper()}{reason[1:]}."
        return
    for number, digest, _ in state.kept.values():
        answer = stored.answer(number)
        if answer is None or hashlib.sha256(answer).hexdigest() != digest:
            yield f"The answer that entry {number} paid for is missing, or was changed."
