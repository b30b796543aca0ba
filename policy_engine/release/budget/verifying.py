"""Whether a budget ledger is intact: its chain, the steps of each release, and the answers."""

import hashlib
from collections.abc import Iterator

from policy_engine.data.chain.hashing import HashChain
from policy_engine.data.chain.verification import Head, Verification
from policy_engine.release.budget.entries import LEDGER
from policy_engine.release.budget.state import LedgerState, PublishedRelease, ReleaseState
from policy_engine.release.ledger_chain import verify_stored
from policy_engine.release.ledger_file import StoredLedger


def verify_ledger(
    stored: StoredLedger, chain: HashChain, expect: str | int | Head | None
) -> Verification:
    """Return the problems of a ledger: as `BudgetLedger.verify`."""
    faults = _faults(stored, chain)
    return verify_stored(stored, chain, LEDGER, expect, "budget verify", faults)


def _faults(stored: StoredLedger, chain: HashChain) -> Iterator[str]:
    """Yield what is wrong with a ledger whose chain is intact."""
    state = LedgerState(chain)
    state.read(stored.rows())
    for release in state.releases.values():
        if release.step == "kept" and kept_answer(stored, release) is None:
            yield answer_fault(release)
    for published in state.published.values():
        if published.entry["announced"].get("classes") and not kept_text(stored, chain, published):
            yield classes_fault(published)


def kept_text(stored: StoredLedger, chain: HashChain, release: PublishedRelease) -> bytes | None:
    """Return what is kept of the classes of a release; None if it is missing, or was changed."""
    text = stored.answer(release.number)
    is_same = text is not None and chain.digest(text) == release.entry["announced"]["classes"]
    return text if is_same else None


def classes_fault(release: PublishedRelease) -> str:
    """Return what is wrong with a release whose classes are not as they were kept."""
    return f"The classes of the release of entry {release.number} are missing, or were changed."


def kept_answer(stored: StoredLedger, release: ReleaseState) -> bytes | None:
    """Return the answer of a release as it was kept; None if it is missing, or was changed."""
    answer = stored.answer(release.number)
    is_same = answer is not None and hashlib.sha256(answer).hexdigest() == release.answer
    return answer if is_same else None


def answer_fault(release: ReleaseState) -> str:
    """Return what is wrong with a release whose answer is not as it was kept."""
    return f"The answer that entry {release.number} paid for is missing, or was changed."
