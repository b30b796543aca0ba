"""What the answer to a query rests on, and whether it still holds once the answer is there."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial

from policy_engine.certificate.sources import Proof, proof_asset
from policy_engine.decision import Decider, Decision
from policy_engine.decision.telling import Telling
from policy_engine.errors import ServiceError
from policy_engine.policy import Policy
from policy_engine.policy.owners import are_overlapping


@dataclass(frozen=True)
class QueryGrounds:
    """The policies that permit an answer, and the proofs of the releases that it reads.

    An answer may take long, and what permits it may be withdrawn meanwhile.
    """

    decider: Decider
    current: Callable[[], Decider]
    """Returns what decides now."""
    uids: set[str] = field(default_factory=set)

    def noting(self, telling: Telling) -> Telling:
        """Return what tells of a decision what `telling` does, and notes what it rests on."""
        return partial(self._note, telling)

    def _note(self, telling: Telling, decision: Decision) -> Decision:
        applying = [one for one in decision.matches if one.applies and one.kind == "permission"]
        self.uids.update(one.policy for one in applying)
        self.uids.update(one.policy for one in decision.counted or ())
        self.uids.add(decision.policy)
        return telling(decision)

    def check(self, assets: Collection[str]) -> None:
        """Check that everything still holds, for an answer of some assets.

        Raises ServiceError (N004) where a policy is not in force any more as it was, a release was
        withdrawn, an asset has another owner, or something was published that may prohibit it.
        """
        now = self.current()
        if now is self.decider:
            return
        if now.vouched is not None and now.vouched.denial:
            message = "Signatures that the answer rests on do not count any more."
            raise ServiceError.of("N004", message, "Ask again.")
        before, after = _digests(self.decider), _digests(now)
        gone = (*_gone(self.decider, now), *_reowned(self.decider, now))
        if any(before.get(uid) != after.get(uid) for uid in self.uids) or any(
            are_overlapping(one, asset) for one in gone for asset in assets
        ):
            message = "What permits the answer was withdrawn, or changed, while it was worked out."
            raise ServiceError.of("N004", message, "Ask again.")
        if any(before.get(one.uid) != one.digest and _may_prohibit(one) for one in now.policies):
            message = "A policy that may prohibit the answer was published while it was worked out."
            raise ServiceError.of("N004", message, "Ask again.")


def _may_prohibit(policy: Policy) -> bool:
    """Tell whether more may be prohibited since a policy is in force: by it, or by another one, the
    prohibitions of which see what this one says of groups.

    Whom and what it is about is not looked at: that takes deciding anew, which whoever asks again
    has done.
    """
    return bool(policy.prohibitions or policy.hierarchy.digest)


def _reowned(before: Decider, after: Decider) -> set[str]:
    """Return the assets that have another owner, or none, or one that they had not."""
    changed = {*before.owners.statements} ^ {*after.owners.statements}
    return {one.asset for one in changed}


def _digests(decider: Decider) -> Mapping[str, str]:
    return {one.uid: one.digest for one in decider.policies}


def _gone(before: Decider, after: Decider) -> set[str]:
    """Return the assets of releases of which a proof is not there any more."""
    gone = _proofs(before) - _proofs(after)
    return {asset for asset, _ in gone}


def _proofs(decider: Decider) -> set[tuple[str, str]]:
    """Return the assets that there is a proof for, with the digest of each."""
    proofs: list[Proof] = [*decider.certificates, *decider.attestations]
    return {(proof_asset(one), one.output_digest) for one in proofs}
