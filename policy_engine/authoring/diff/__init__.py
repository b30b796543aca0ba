"""What changed between two states of policies, and whose answers would change."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from policy_engine.authoring.diff.comparing import changes, notes
from policy_engine.authoring.diff.model import Change, Difference, Redecided, Replay, Tendency
from policy_engine.authoring.diff.replaying import PolicySide, replay
from policy_engine.decision import World
from policy_engine.errors import RequestError, join_names
from policy_engine.policy.collecting.force import InForce
from policy_engine.policy.hierarchy import Hierarchy
from policy_engine.policy.model import Policy
from policy_engine.policy.owners import OwnersSource, load_owners

if TYPE_CHECKING:
    from policy_engine.certificate.attestation import Attestation
    from policy_engine.certificate.certificate import Certificate
    from policy_engine.decision import World

__all__ = ["Change", "Difference", "Redecided", "Replay", "Tendency", "compare_policies"]


def compare_policies(
    old: Policy | Iterable[Policy],
    new: Policy | Iterable[Policy],
    log: str | Path | None = None,
    *,
    certificates: "Sequence[Certificate | Attestation]" = (),
    hierarchy: Hierarchy | None = None,
    world_before: "World | None" = None,
    world_after: "World | None" = None,
    owners: OwnersSource | None = None,
) -> Difference:
    """Return what changed from old policies to new ones; nothing if both mean the same.

    Rules are matched by uid, else by content, else, if one has no uid, by similarity; the order of
    unordered parts, and the way a text is written, make no difference. Each entry of a decision log
    is judged under the new policies by its own facts: at its time, with the history up to it, and
    with what the log says was granted. The certificates and the hierarchy are given to both sides;
    `world_before` and `world_after` are what else is known on each side. If `owners` are given (see
    `load_owners`), the issuer of a rule decides whether it counts: a change of issuer may widen and
    narrow, and the notes name new rules that do not count. Raises LogError if the log cannot be
    read, RequestError (D002) for two policies with the same uid.
    """
    before, after = map(_as_sequence, (old, new))
    for side in (before, after):
        _check_uids(side)
    known_owners, replay_result = load_owners(owners, after), None
    if log is not None:
        old_side = PolicySide(
            before, certificates, hierarchy, world_before or World(), known_owners
        )
        new_side = PolicySide(after, certificates, hierarchy, world_after or World(), known_owners)
        replay_result = replay(old_side, new_side, log)
    change_list = tuple(changes(before, after, known_owners))
    note_list = tuple(notes(before, after, known_owners))
    return Difference(changes=change_list, notes=note_list, replay=replay_result)


def _as_sequence(policies: Policy | Iterable[Policy]) -> Sequence[Policy]:
    if isinstance(policies, Policy):
        return (policies,)
    return policies if isinstance(policies, InForce) else tuple(policies)


def _check_uids(policies: Sequence[Policy]) -> None:
    uids = [policy.uid for policy in policies]
    if len(set(uids)) < len(uids):
        message = f"Two policies have the same uid. Given: {join_names(uids)}."
        raise RequestError.of("D002", message, "Leave out the one that no longer holds.")
