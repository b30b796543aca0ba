"""What is told of a decision to somebody who may not read every policy that it considered."""

from collections.abc import Callable

from policy_engine.decision.explaining import PolicyLine, no_permission_reason
from policy_engine.decision.model import Decision, OutstandingDuty

Telling = Callable[[Decision], Decision]
"""Returns of a decision what may be told of it."""


def told(decision: Decision, may_read: Callable[[str], bool]) -> Decision:
    """Return what is told of a decision to somebody who `may_read` some policies, by their uids.

    Of rules, it has those of these policies and the policy that decided. Duties are told whoever
    asks: they are what somebody may still do; whose rule asks for them is not.
    """

    def is_shown(uid: str) -> bool:
        return uid == decision.policy != "" or may_read(uid)

    def is_line(line: str) -> bool:
        return is_shown(line.policy) if isinstance(line, PolicyLine) else decision.policy != ""

    named = decision.derivation[:1]
    is_named = bool(named) and decision.reason == no_permission_reason(named)
    is_kept = all(map(is_line, named))
    return decision.model_copy(
        update={
            "reason": no_permission_reason(()) if is_named and not is_kept else decision.reason,
            "derivation": tuple(filter(is_line, decision.derivation)),
            "matches": tuple(one for one in decision.matches if is_shown(one.policy)),
            "near_misses": tuple(one for one in decision.near_misses if is_shown(one.policy)),
            "duties": tuple(
                one if is_shown(one.policy) else _nameless(one) for one in decision.duties
            ),
            "counted": decision.counted
            and tuple(one for one in decision.counted if is_shown(one.policy)),
            "notes": (),
        }
    )


def _nameless(duty: OutstandingDuty) -> OutstandingDuty:
    return duty.model_copy(update={"policy": "", "rule": "", "duty": ""})


def unchanged(decision: Decision) -> Decision:
    """Return a decision as it is: for who may read every policy."""
    return decision
