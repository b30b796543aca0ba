"""Policies that end with others, as an Agreement may with the Offer that was accepted."""

from collections.abc import Iterator, Mapping, Sequence

from policy_engine.policy.force import InForce
from policy_engine.policy.model import OFFER, Policy


def ended(policies: Sequence[Policy]) -> dict[str, str]:
    """Return the policies that ended with another one, by uid, each with the reason.

    One ends with another (`pe:endsWith`) where that is not among those in force, has ended
    itself, or is an Offer that means something else than what was accepted. Nor does one of that
    uid stand for it that another issued than the one that is known to have been there before.
    """
    before_them = policies.ended if isinstance(policies, InForce) else ()
    now = {one.uid: one.issued_by for one in policies}
    taken = {one.uid for one in before_them if now.get(one.uid) != one.issued_by}
    known = {policy.uid: policy for policy in policies if policy.uid not in taken}
    ending = [policy for policy in policies if policy.ends_with]
    found: dict[str, str] = {}
    before = -1
    while before < len(found):  # until nothing more ends with what has
        before = len(found)
        for policy in ending:
            why = next(_reasons(policy, known, found), "")
            if why:
                found.setdefault(policy.uid, why)
    return found


def _reasons(
    policy: Policy, known: Mapping[str, Policy], found: Mapping[str, str]
) -> Iterator[str]:
    for uid in policy.ends_with:
        other = known.get(uid)
        if other is None:
            yield f"it ends with {uid}, which is not among the policies in force"
        elif uid in found and uid != policy.uid:
            yield f"it ends with {uid}, which is void: {found[uid]}"
        elif other is not policy and _is_changed(other, policy.accepted):
            yield f"it ends with {uid}, which says other things than what was accepted"


def _is_changed(offer: Policy, accepted: str) -> bool:
    return offer.type == OFFER and accepted not in ("", offer.digest)
