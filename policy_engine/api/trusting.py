"""Certificates that verbs believe when they make, draw or compare something: all have to count."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from policy_engine.api.deciding import ProofSource, StatusSource, TrustSource, vouched_proofs
from policy_engine.certificate.beside import find_certificate, load_proofs, single_output
from policy_engine.certificate.sources import Proof
from policy_engine.certificate.vouching import Vouched, check_vouched, vouch
from policy_engine.data.catalog import parse_location
from policy_engine.errors import CertificateError
from policy_engine.policy import Policy
from policy_engine.trust.trust_file import load_trust


def trusted_proofs(
    certificates: Sequence[ProofSource],
    trust: TrustSource | None = None,
    status: Sequence[StatusSource] = (),
    *,
    time: datetime | None = None,
    data: Iterable[Any] = (),
) -> Sequence[Proof]:
    """Return certificates and attestations, all of which count.

    Under a `trust` (see `load_trust`) it has to cover them; none may be withdrawn by a `status`, as
    for `decide_request`, or by a statement beside it or beside `data`. Raises CertificateError with
    the reason for each that does not count, DataError or TrustError for a status or a trust that
    cannot be read.
    """
    return counting(vouched_proofs((), certificates, trust, time, status, data))


def check_policies(
    policies: Sequence[Policy], trust: TrustSource | None, time: datetime | None = None
) -> None:
    """Raise CertificateError for policies that a trust file, if there is one, does not cover."""
    if trust is not None:
        counting(vouch(policies, (), load_trust(trust), load_proofs, now=time))


def believed_beside(output: str | Path, trust: TrustSource | None = None) -> bool:
    """Tell whether a certificate is beside an output of whoever made it, and so is believed.

    Raises CertificateError where a trust file, if there is one, does not cover it, or where it is
    not that of the output.
    """
    location = single_output(parse_location(output))
    adjacent = find_certificate(location)
    if adjacent is not None and trust is not None:
        check_vouched((), adjacent[1], location, load_trust(trust))
    return adjacent is not None


def counting(proofs: Sequence[Proof]) -> Sequence[Proof]:
    """Return proofs, all of which have to count: what is made of one that does not would have its
    lineage by the word of anybody who can write there. Raises CertificateError for the others."""
    problems = proofs.problems if isinstance(proofs, Vouched) else ()
    if problems:
        raise CertificateError(*problems)
    return proofs
