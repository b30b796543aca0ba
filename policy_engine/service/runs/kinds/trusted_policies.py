"""Whose signatures count for the policies that a run carries out."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from policy_engine.errors import CertificateError
from policy_engine.service.runs.jobs import RunInputs

if TYPE_CHECKING:
    from policy_engine.policy import Policy
    from policy_engine.trust.trust_file import Trust


def run_trust(inputs: RunInputs, policies: Sequence["Policy"]) -> "Trust | None":
    """Return the trust that a run carries its policies out by, None where there is no trust file.

    Their signatures are those that they were published with, and are looked at here, before any
    data is: nobody else finds them, for there are no files beside policies that are kept. So the
    trust that is returned takes these policies without a signature. Raises CertificateError (Y009
    to Y011) for policies that the trust file does not cover.
    """
    if inputs.trust is None:
        return None
    from policy_engine.policy.signing import held_signature, untrusted  # noqa: PLC0415 (few need)
    from policy_engine.trust.trust_file import read_trust  # noqa: PLC0415 (as above)

    trust = read_trust(inputs.trust)
    kept = filter(None, (inputs.policy, *inputs.others))
    signatures = [*filter(None, (held_signature(one.signature) for one in kept))]
    beside = dict.fromkeys(one.source for one in policies)
    problems = [*untrusted(policies, trust, signatures, beside=beside)]
    if problems:
        raise CertificateError(*problems)
    return replace(trust, unsigned_policies=tuple(one.uid for one in policies))
