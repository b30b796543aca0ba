"""What changed from one state of policies to another, and who would be answered otherwise."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from policy_engine.authoring.diff.comparing import changes, notes
from policy_engine.authoring.diff.model import Change, Difference, Redecided, Replay, Tendency
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
    """Return what changed from old policies to new ones; nothing where both mean the same.

    Rules are matched by uid, else by content, else, where one has no uid, by likeness; the order
    of what has no order, and how a text is written, change nothing. Of a decision log, each
    entry is judged under the new policies by what it was given: at its time, by what was done
    until then, and with what the log says was granted. The certificates and the hierarchy are
    given to both sides; `world_before` and `world_after` are what else is known on each. Where
    it is said who `owners` are (see `load_owners`), whose a rule is decides whether it counts: a
    change of that may widen and narrow, and the notes name the new rules that do not count.
    Raises LogError where the log cannot be read, RequestError (D002) for two policies of one uid.
    """
    before, after = map(_as_sequence, (old, new))
    for side in (before, after):
        _check_uids(side)
    known_owners, replay_result = load_owners(owners, after), None
    if log is not None:
        from policy_engine.authoring.diff.replaying import PolicySide, replay  # noqa: PLC0415

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
        message = f"Two policies have one uid. Given: {join_names(uids)}."
        raise RequestError.of("D002", message, "Leave out the one that no longer holds.")
