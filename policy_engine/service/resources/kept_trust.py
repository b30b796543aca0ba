"""Whose signatures count in a service: its trust file, read again once that has changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from policy_engine.certificate.sources import Proof
from policy_engine.certificate.vouching import Given, Vouched, VouchingGrounds, proof_refusal
from policy_engine.certificate.withdrawals import Withdrawals
from policy_engine.errors import PolicyEngineError, Problem
from policy_engine.policy import InForce, Policy
from policy_engine.policy.signing import PolicySignature, untrusted
from policy_engine.trust.trust_file import Trust, load_trust

_NOBODY = Trust()


@dataclass(frozen=True)
class KeptTrust:
    """The trust file by which a service decides.

    The service itself keeps its policies, each with its signature, if it has one: those count that
    a key signed that may, or that the file names under `unsigned-policies`, and no others.
    """

    path: Path

    def state(self) -> object:
        """Return what is equal to what was returned before only if the file is the same."""
        try:
            status = self.path.stat()
        except OSError:
            return None
        times = status.st_mtime_ns, status.st_ctime_ns  # the latter nobody sets back
        return *times, status.st_size, status.st_dev, status.st_ino

    def vouched(
        self,
        policies: InForce,
        proofs: Sequence[Given],
        signatures: Sequence[PolicySignature],
    ) -> Vouched:
        """Return which proofs count, each of an output that was hashed when it was read.

        `signatures` are those that the policies were published with. Nothing counts where the file
        cannot be read any more.
        """
        trust, unreadable = self._trust()
        grounds = VouchingGrounds(
            trust,
            Withdrawals(),
            tuple(proofs),
            unreadable,
            policies,
            tuple(signatures),
            beside={one.source: None for one in (*policies, *policies.ended)},
        )
        return grounds.at(datetime.now(UTC))

    def refusals(
        self, policy: Policy, signatures: Sequence[PolicySignature]
    ) -> tuple[Problem, ...]:
        """Return why a policy would not count, and all others neither, were it in force."""
        trust, unreadable = self._trust()
        if unreadable:
            return (Problem("Y008", unreadable[0]),)
        return tuple(untrusted([policy], trust, signatures, beside={policy.source: None}))

    def proof_problem(self, proof: Proof) -> Problem | None:
        """Return why a certificate does not count now, None if it does."""
        trust, unreadable = self._trust()
        if unreadable:
            return Problem("Y008", unreadable[0])
        return proof_refusal(proof, trust, datetime.now(UTC))

    def _trust(self) -> tuple[Trust, tuple[str, ...]]:
        """Return the trust in the file; nobody's, and why, where it cannot be read."""
        try:
            return load_trust(self.path), ()
        except PolicyEngineError as error:
            problem = error.problems[0]
            return _NOBODY, (f"The trust file cannot be read: {problem.code} {problem.message}",)
