"""Proofs of outputs under a trust file: which ones count, and why others do not."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import NamedTuple

from policy_engine.certificate.attestation import Attestation
from policy_engine.certificate.beside import certificate_names, stored_output
from policy_engine.certificate.certificate import Certificate, check_digest
from policy_engine.certificate.sources import Proof, proof_asset
from policy_engine.certificate.withdrawals import Withdrawals, withdrawal_problem
from policy_engine.data import storage
from policy_engine.data.places.spelling import is_database
from policy_engine.data.storage import Location, read_errors
from policy_engine.errors import CertificateError, Problem, SignatureError
from policy_engine.policy import Policy
from policy_engine.policy.signing import PolicySignature, untrusted
from policy_engine.trust.credentials import check_time
from policy_engine.trust.trust_file import Trust

_NOTHING: Mapping[str, str] = MappingProxyType({})
_NO_WITHDRAWALS = Withdrawals()


class Vouched(tuple[Proof, ...]):  # noqa: SLOT001 (tuples cannot have slots)
    """The proofs that a trust file covers, with what it refuses, or what was withdrawn.

    Without a `trust`, signatures are not checked, and every proof counts unless it was `withdrawn`;
    those are kept, each with its time. `refused` are those that the trust refuses.

    `denial` says why nothing is permitted: policies that nobody vouches for, whose prohibitions
    could be missing as well as their permissions be made up, and proofs that cannot be read.
    `refusals` say, by asset, why a proof does not count. `notes` are
    what the trust does not show: outputs that nobody saw.
    """

    trust: Trust | None
    time: datetime
    withdrawals: Withdrawals
    withdrawn: tuple[tuple[Proof, datetime], ...]
    refused: tuple[Proof, ...]
    denial: str
    refusals: Mapping[str, str]
    notes: tuple[str, ...]

    def __new__(
        cls,
        proofs: Iterable[Proof],
        trust: Trust | None,
        time: datetime,
        denial: str = "",
        refusals: Mapping[str, str] = _NOTHING,
        notes: Iterable[str] = (),
        *,
        withdrawals: Withdrawals = _NO_WITHDRAWALS,
        withdrawn: Iterable[tuple[Proof, datetime]] = (),
        refused: Iterable[Proof] = (),
    ) -> "Vouched":
        """Return the proofs with everything that is said of the others."""
        instance = super().__new__(cls, proofs)
        instance.trust, instance.time, instance.denial = trust, time, denial
        instance.refusals, instance.notes = dict(refusals), tuple(notes)
        instance.withdrawals, instance.withdrawn = withdrawals, tuple(withdrawn)
        instance.refused = tuple(refused)
        return instance

    def refusal(self, asset: str) -> str:
        """Return why the proof of an asset does not count, empty where none was refused."""
        return self.refusals.get(asset, "")

    def withdrawn_since(self, asset: str) -> datetime | None:
        """Return since when the last release of an asset is withdrawn, None where none is."""
        times = [since for proof, since in self.withdrawn if proof_asset(proof) == asset]
        return max(times, default=None)

    def joined(self, certificates: Iterable[Certificate]) -> "Vouched":
        """Return the proofs with certificates beside data, those that count."""
        judging = _Judging(self.trust, self.withdrawals, self.time)
        judging.refusals.update(self.refusals)
        judging.withdrawn += self.withdrawn
        judging.refused += self.refused
        more = [one for one in certificates if judging.counts(one)]
        proofs = (*self, *(one for one in more if one not in self))
        return judging.vouched(proofs, self.denial, self.notes)


@dataclass
class _Judging:
    """Which proofs count, and why others do not, as they are judged one after another."""

    trust: Trust | None
    withdrawals: Withdrawals
    now: datetime
    refusals: dict[str, str] = field(default_factory=dict)
    refused: list[Proof] = field(default_factory=list)
    withdrawn: list[tuple[Proof, datetime]] = field(default_factory=list)

    def counts(self, proof: Proof, *, is_seen: bool | None = True) -> bool:
        """Tell whether a proof counts, and keep why if it does not."""
        problem = self._problem(proof, is_seen=is_seen)
        if problem is not None:
            self.refusals.setdefault(proof_asset(proof), _said(problem))
            self.refused += [] if problem.code == "Y015" else [proof]
        return problem is None

    def _problem(self, proof: Proof, *, is_seen: bool | None) -> Problem | None:
        # A withdrawal is looked for first: whatever else is wrong, it stays withdrawn.
        try:
            since = self.withdrawals.withdrawn(proof, self.trust, self.now)
        except SignatureError as error:
            return error.problems[0]
        if since is not None:
            self.withdrawn.append((proof, since))
            return withdrawal_problem(proof, since)
        if self.trust is None:
            return None
        return proof_refusal(proof, self.trust, self.now) or _unseen(proof, is_seen)

    def vouched(
        self, proofs: Iterable[Proof], denial: str = "", notes: Iterable[str] = ()
    ) -> Vouched:
        """Return the proofs that count, with everything that is known of the others.

        Where one of an output is refused, no other counts for it: nobody knows which of the two
        what is read belongs to. One that was withdrawn leaves the next release of it as it is.
        """
        doubtful = {proof_asset(one) for one in self.refused}
        return Vouched(
            (one for one in proofs if proof_asset(one) not in doubtful),
            self.trust,
            self.now,
            denial,
            self.refusals,
            notes,
            withdrawals=self.withdrawals,
            withdrawn=self.withdrawn,
            refused=self.refused,
        )


class Given(NamedTuple):
    """A proof, and whether the output that it names was hashed when it was read; None where there
    was no place to look at."""

    proof: Proof
    is_seen: bool | None


def vouch(
    policies: Iterable[Policy],
    sources: Sequence[Proof | Location],
    trust: Trust | None,
    load: Callable[[Location], Iterable[Proof]],
    *,
    signatures: Sequence[PolicySignature] = (),
    withdrawals: Withdrawals = _NO_WITHDRAWALS,
    now: datetime | None = None,
) -> Vouched:
    """Return the proofs that count under a trust, of policies that all have to be signed, and that
    were not withdrawn.

    `sources` are proofs, or places that `load` reads them from. Where a place has a certificate and
    not the output that it names, it does not count: nobody knows what it is about. Without a trust,
    all count that were not withdrawn; then CertificateError is raised for what cannot be read.
    """
    judging = _Judging(trust, withdrawals, now or datetime.now(UTC))
    proofs, notes, unreadable = list[Proof](), list[str](), list[str]()
    for source in sources:
        try:
            read = [*_given(source, load)]
        except CertificateError as error:
            if trust is None:
                raise
            unreadable.append(f"{source} does not count: {_said(error.problems[0])}")
            continue
        for proof, is_seen in read:
            if judging.counts(proof, is_seen=is_seen):
                proofs.append(proof)
                if is_seen is None and trust is not None:
                    notes.append(f"{proof_asset(proof)} was not seen: only its certificate was.")
    problems = () if trust is None else untrusted(policies, trust, signatures, judging.now)
    # Whose output it is that cannot be read, nobody knows: it may be any.
    return judging.vouched(proofs, " ".join([*map(_said, problems), *unreadable]), notes)


def proof_refusal(proof: Proof, trust: Trust, now: datetime) -> Problem | None:
    """Return why a proof does not count under a trust, None if it does.

    Y009 is for one that is not signed by a key that may sign it, Y010 for a revoked key, Y007 for
    one that is not valid at the time.
    """
    asset = proof_asset(proof)
    if isinstance(proof, Attestation) or proof.signature is None:
        kind = "attestation" if isinstance(proof, Attestation) else "certificate"
        return Problem("Y009", f"The {kind} of {asset} is not signed.")
    credential = proof.signature.credential
    try:
        check_time(credential, now)
    except SignatureError as error:
        return error.problems[0]
    datasets = [one.asset for one in proof.plan.reads]
    signed = credential.proof
    return trust.certificate_refusal(signed.key, signed.created, asset, datasets, now)


def check_vouched(
    policies: Iterable[Policy],
    certificate: Certificate | None,
    output: Location,
    trust: Trust,
    now: datetime | None = None,
) -> None:
    """Raise CertificateError with everything that a trust refuses of an output and its policies.

    That is an output without certificate (Y009), and whatever `vouch` would refuse; the output is
    hashed (V004).
    """
    moment = now or datetime.now(UTC)
    problems = [*untrusted(policies, trust, (), moment)]
    if certificate is None:
        message = f"No certificate that is signed names {storage.name(output)!r}."
        problems.append(Problem("Y009", message))
    else:
        problems += filter(None, [proof_refusal(certificate, trust, moment)])
    if problems:
        raise CertificateError(*problems, source=str(output))
    if certificate is not None:
        check_digest(certificate, stored_output(certificate, output))


def _given(
    source: Proof | Location, load: Callable[[Location], Iterable[Proof]]
) -> Iterator[Given]:
    if isinstance(source, Certificate | Attestation):
        yield Given(source, None)
        return
    for proof in load(source):
        if not isinstance(proof, Certificate):
            yield Given(proof, is_seen=True)
            continue
        yield Given(proof, _is_there(source, proof))


def _is_there(source: Location, certificate: Certificate) -> bool | None:
    """Tell whether the output of a certificate that was read is beside it, and so was hashed."""
    if is_database(source):
        return True
    if not certificate.file:
        return None
    with read_errors(source):
        is_holder = storage.is_folder(source) and bool(certificate_names(source))
        folder = source if is_holder else storage.parent(source)
        return storage.is_taken(storage.join(folder, certificate.file))


def _unseen(proof: Proof, is_seen: bool | None) -> Problem | None:
    if is_seen is not False:
        return None
    message = f"The output {proof.file!r} that the certificate of {proof_asset(proof)} names is "
    return Problem("Y012", f"{message}not beside it.", "Put the output there.")


def _said(problem: Problem) -> str:
    return f"{problem.code} {problem.message}"
