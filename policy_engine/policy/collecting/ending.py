"""Policies that end with others, as an Agreement may with the Offer that was accepted."""

from collections.abc import Iterator, Mapping, Sequence

from policy_engine.errors import join_names
from policy_engine.policy.collecting.force import InForce
from policy_engine.policy.model import Policy


def ended(policies: Sequence[Policy]) -> dict[str, str]:
    """Return the policies that ended with another one, by uid, each with the reason.

    One ends with another (`pe:endsWith`) where that is not among those in force, has ended
    itself, or is not of all those who issued one of that uid that was in force before. Where it
    says what was accepted (`pe:acceptedDigest`), one of those that it ends with has to mean that,
    whatever its type; then it does not matter who issued others of its uid.
    """
    policies_by_uid = {policy.uid: policy for policy in policies}
    before_them = policies.ended if isinstance(policies, InForce) else ()
    of_others = {
        one.uid: one
        for one in before_them
        if one.uid in policies_by_uid and not goes_on(one, policies_by_uid[one.uid])
    }
    ending = [policy for policy in policies if policy.ends_with]
    reasons: dict[str, str] = {}
    before = -1
    while before < len(reasons):  # until nothing more ends with what has
        before = len(reasons)
        for policy in ending:
            why = next(_reasons(policy, policies_by_uid, of_others, reasons), "")
            if why:
                reasons.setdefault(policy.uid, why)
    return reasons


def goes_on(old: Policy, now: Policy) -> bool:
    """Tell whether a policy is known to be of all who issued an older one of its uid."""
    issuers = _issuers(old)
    if issuers and issuers <= now.issued_by:
        return True
    same = (issuers, old.issued_by) == (_issuers(now), now.issued_by)
    return not old.is_lost and same


def _issuers(policy: Policy) -> frozenset[str]:
    """Return all who issued something in the text of a policy."""
    text = policy.text or policy
    issuers_of_rules = (rule.issued_by for rule in (text.shared, *text.rules))
    return frozenset[str]().union(*issuers_of_rules)


def _reasons(
    policy: Policy,
    policies_by_uid: Mapping[str, Policy],
    of_others: Mapping[str, Policy],
    reasons: Mapping[str, str],
) -> Iterator[str]:
    for uid in policy.ends_with:
        other = policies_by_uid.get(uid)
        if other is None:
            yield f"it ends with {uid}, which is not among the policies in force"
        elif uid == policy.uid:
            continue
        elif uid in reasons:
            yield f"it ends with {uid}, which is void: {reasons[uid]}"
        elif uid in of_others and other.digest != policy.accepted:
            yield f"it ends with {uid}, and {_whose(other, of_others[uid])}"
    names = [uid for uid in dict.fromkeys(policy.ends_with) if uid != policy.uid]
    if (
        policy.accepted
        and names
        and all(policies_by_uid[n].digest != policy.accepted for n in names)
    ):
        which = "which says other things than" if len(names) == 1 else "none of which says"
        yield f"it ends with {', '.join(names)}, {which} what was accepted"


def _whose(now: Policy, old: Policy) -> str:
    """Return why a policy in force does not replace an older one of its uid."""
    text = "one whose text is lost" if old.is_lost else f"one of {_names(old)}"
    where = f" ({old.source})" if old.source else ""
    return f"{text}{where} ended, which the one of {_names(now)} does not replace"


def _names(policy: Policy) -> str:
    issuers = sorted(_issuers(policy))
    return join_names(issuers) if issuers else "nobody who is named"
