"""What changed from one state of policies to another, and who would be answered otherwise."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from policy_engine.difference.comparing import changes, notes
from policy_engine.difference.model import Change, Difference, Redecided, Replay, Tendency
from policy_engine.errors import RequestError, listed
from policy_engine.policy.hierarchy import Hierarchy
from policy_engine.policy.model import Policy

if TYPE_CHECKING:
    from policy_engine.certificate import Certificate

__all__ = ["Change", "Difference", "Redecided", "Replay", "Tendency", "compare_policies"]


def compare_policies(
    old: Policy | Iterable[Policy],
    new: Policy | Iterable[Policy],
    log: str | Path | None = None,
    *,
    certificates: "Sequence[Certificate]" = (),
    hierarchy: Hierarchy | None = None,
) -> Difference:
    """Return what changed from old policies to new ones; nothing where both mean the same.

    Rules are matched by uid, else by content, else, where one has no uid, by likeness; the order
    of what has no order, and how a text is written, change nothing. Of a decision log, each
    distinct request is decided again by both, with the certificates and the hierarchy given.
    Raises LogError where the log cannot be read, RequestError (D002) for two policies of one uid.
    """
    before, after = ((some,) if isinstance(some, Policy) else tuple(some) for some in (old, new))
    for some in (before, after):
        _check_uids(some)
    replayed = None
    if log is not None:
        from policy_engine.difference.replaying import replay  # noqa: PLC0415

        replayed = replay(before, after, log, certificates, hierarchy)
    found = tuple(changes(before, after))
    return Difference(changes=found, notes=tuple(notes(before, after)), replay=replayed)


def _check_uids(policies: Sequence[Policy]) -> None:
    uids = [policy.uid for policy in policies]
    if len(set(uids)) < len(uids):
        message = f"Two policies have one uid. Given: {listed(uids)}."
        raise RequestError.of("D002", message, "Leave out the one that no longer holds.")
