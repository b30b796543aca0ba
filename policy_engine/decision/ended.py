"""What was made under policies that are not in force: nobody is to read it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from policy_engine.certificate.certificate import Certificate
from policy_engine.policy import Policy
from policy_engine.policy.model import OFFER


@dataclass(frozen=True, slots=True)
class Void:
    """An output of a policy that is not in force, and who issued that; none where unknown."""

    asset: str
    policy: str
    issuers: frozenset[str] = frozenset()


def void_of(policies: Iterable[Policy]) -> Iterator[Void]:
    """Yield the outputs of policies that are not in force."""
    for policy in policies:
        for rule in policy.permissions if policy.type != OFFER else ():
            if rule.output:
                yield Void(rule.output, policy.uid, rule.issued_by)


def void_by_certificates(
    certificates: Sequence[Certificate], known: Iterable[Policy]
) -> Iterator[Void]:
    """Yield the outputs that certificates are of: they were made, under whichever policy.

    Who issued that is told by its text alone, where that very one is among those that are known.
    """
    issuers = {(one.uid, one.digest): one.issued_by for one in known}
    for one in certificates:
        if one.output_digest:
            by = issuers.get((one.plan.policy, one.plan.policy_digest), frozenset())
            yield Void(one.plan.publish.asset, one.plan.policy, by)
