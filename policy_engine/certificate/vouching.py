"""Proofs of outputs under a trust file: which ones count, and why others do not."""

import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from policy_engine.certificate.attestation import Attestation, is_attested
from policy_engine.certificate.beside import certificate_names, stored_output
from policy_engine.certificate.certificate import Certificate, check_digest
from policy_engine.certificate.sightings import Sighting
from policy_engine.certificate.sources import Proof, proof_asset
from policy_engine.certificate.withdrawals import Withdrawals, withdrawal_problem
from policy_engine.data import storage
from policy_engine.data.catalog import TABLE
from policy_engine.data.places.spelling import is_database
from policy_engine.data.storage import Location, read_errors
from policy_engine.errors import CertificateError, Problem, SignatureError
from policy_engine.policy import InForce, Policy
from policy_engine.policy.signing import (
    Beside,
    PolicySignature,
    accepted_signatures,
    missing_notes,
    signatures_beside,
    untrusted,
)
from policy_engine.trust.credentials import time_refusal
from policy_engine.trust.proofs import Proof as SigningProof
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
    what the trust does not show: outputs that nobody saw. `grounds` are what all of it was judged
    by at `time`, and can be judged by at another (`at`); at moments of the same `span` the same
    counts.
    """

    trust: Trust | None
    time: datetime
    withdrawals: Withdrawals
    withdrawn: tuple[tuple[Proof, datetime], ...]
    refused: tuple[Proof, ...]
    denial: str
    refusals: Mapping[str, str]
    notes: tuple[str, ...]
    grounds: "VouchingGrounds"
    span: tuple[int, int]

    def __new__(
        cls,
        proofs: Iterable[Proof],
        grounds: "VouchingGrounds",
        time: datetime,
        span: tuple[int, int],
        denial: str = "",
        refusals: Mapping[str, str] = _NOTHING,
        notes: Iterable[str] = (),
        *,
        withdrawn: Iterable[tuple[Proof, datetime]] = (),
        refused: Iterable[Proof] = (),
    ) -> "Vouched":
        """Return the proofs with everything that is said of the others."""
        instance = super().__new__(cls, proofs)
        instance.grounds, instance.time, instance.denial = grounds, time, denial
        instance.span = span
        instance.trust, instance.withdrawals = grounds.trust, grounds.withdrawals
        instance.refusals, instance.notes = dict(refusals), tuple(notes)
        instance.withdrawn, instance.refused = tuple(withdrawn), tuple(refused)
        return instance

    def at(self, time: datetime) -> "Vouched":
        """Return the proofs that count at another time, of what was read already."""
        return self.grounds.at(time)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Everything that does not count, or was withdrawn, each with its code."""
        return self.grounds.problems(self.time)

    @cached_property
    def policy_signatures(self) -> Mapping[str, SigningProof]:
        """The signature by which each policy counts under the trust, by their uids."""
        if self.trust is None:
            return {}
        grounds = self.grounds
        arguments = (grounds.policies, self.trust, grounds.signatures, self.time, grounds.beside)
        return {uid: one.credential.proof for uid, one in accepted_signatures(*arguments).items()}

    @cached_property
    def proof_signatures(self) -> Mapping[str, Sequence[SigningProof]]:
        """The signatures of the proofs that count, by the assets that these are for."""
        signatures: dict[str, list[SigningProof]] = {}
        for one in self:
            if one.signature is not None:
                signatures.setdefault(proof_asset(one), []).append(one.signature.credential.proof)
        return signatures

    def refusal(self, asset: str) -> str:
        """Return why the proof of an asset does not count, empty where none was refused."""
        return self.refusals.get(asset, "")

    def withdrawn_since(self, asset: str) -> datetime | None:
        """Return since when the last release of an asset is withdrawn, None where none is."""
        times = [since for proof, since in self.withdrawn if proof_asset(proof) == asset]
        return max(times, default=None)

    def sighting(self, proof: Proof) -> Sighting | None:
        """Return the output of a proof since it was hashed, None where there was no place to look
        at."""
        return self.grounds.sightings.get(id(proof))

    def joined(self, certificates: Iterable[Certificate]) -> "Vouched":
        """Return the proofs with certificates beside data, those that count."""
        own = [one.proof for one in self.grounds.given]
        more = [Given(one, is_seen=True) for one in certificates if one not in own]
        return replace(self.grounds, given=(*self.grounds.given, *more)).at(self.time)


@dataclass(frozen=True)
class VouchingGrounds:
    """What was read of policies and proofs, to be judged for a moment.

    `beside` are the signatures beside the policies, `unreadable` says which proofs cannot be read.
    """

    trust: Trust | None
    withdrawals: Withdrawals
    given: tuple["Given", ...]
    unreadable: tuple[str, ...] = ()
    policies: Sequence[Policy] = ()
    signatures: tuple[PolicySignature, ...] = ()
    beside: Beside = field(default_factory=dict)

    def at(self, now: datetime) -> Vouched:
        """Return the proofs that count at a moment, with why others do not."""
        span = self.span(now)  # before it is judged, or what ends meanwhile would go on counting
        judging, proofs, notes = _Judging(self.trust, self.withdrawals, now), list[Proof](), []
        for proof, is_seen, _ in self.given:
            if judging.counts(proof, is_seen=is_seen):
                proofs.append(proof)
                if is_seen is None and self.trust is not None:
                    notes.append(f"{proof_asset(proof)} was not seen: only its {_kind(proof)} was.")
        problems = (
            ()
            if self.trust is None
            else untrusted(self.policies, self.trust, self.signatures, now, self.beside)
        )
        notes += missing_notes(self.policies, self.beside)
        # Whose output it is that cannot be read, nobody knows: it may be any.
        denial = " ".join([*map(_said, problems), *self.unreadable])
        return judging.vouched((self, now, span), proofs, denial, notes)

    def problems(self, now: datetime) -> tuple[Problem, ...]:
        """Return why policies and proofs do not count at a moment; V005 is for what cannot be
        read."""
        judging = _Judging(self.trust, self.withdrawals, now)
        refusals = (judging.problem(proof, is_seen=is_seen) for proof, is_seen, _ in self.given)
        unsigned = (
            ()
            if self.trust is None
            else untrusted(self.policies, self.trust, self.signatures, now, self.beside)
        )
        unreadable = (Problem("V005", one) for one in self.unreadable)
        return (*unsigned, *filter(None, refusals), *unreadable)

    @cached_property
    def sightings(self) -> Mapping[int, Sighting]:
        """The outputs that were hashed, by the identity of the proof that was read with each."""
        return {id(one.proof): one.sighting for one in self.given if one.sighting is not None}

    @cached_property
    def turns(self) -> tuple[datetime, ...]:
        """The moments at which something begins or ends to count, in order."""
        signed = [*self.signatures, *self.beside.values()]
        credentials = [one.credential for one in signed if isinstance(one, PolicySignature)]
        signatures = [one.proof.signature for one in self.given]
        credentials += [one.credential for one in signatures if one is not None]
        times = [one.valid_until for one in credentials]
        times += [one.valid_until for one in self.withdrawals.lists.values()]
        if self.trust is not None:
            times += [one.valid_from for one in credentials]
            times += [one.since for one in self.trust.revoked]
        return tuple(sorted({one for one in times if one is not None}))

    def span(self, now: datetime) -> tuple[int, int]:
        """Return what is equal for two moments at which the same counts: that which is asked about,
        and by the clock, for what is revoked by now counts for nothing whatever is asked about."""
        latest = max(now, datetime.now(UTC))
        return bisect_right(self.turns, now), bisect_right(self.turns, latest)


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
        problem = self.problem(proof, is_seen=is_seen)
        if problem is not None:
            self.refusals.setdefault(proof_asset(proof), _said(problem))
            self.refused += [] if problem.code == "Y015" else [proof]
        return problem is None

    def problem(self, proof: Proof, *, is_seen: bool | None) -> Problem | None:
        """Return why a proof does not count, or since when it is withdrawn; None if it counts."""
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
        self,
        judged: tuple[VouchingGrounds, datetime, tuple[int, int]],
        proofs: Iterable[Proof],
        denial: str,
        notes: Iterable[str],
    ) -> Vouched:
        """Return the proofs that count, with everything that is known of the others.

        Where one of an output is refused, no other counts for it: nobody knows which of the two
        what is read belongs to. One that was withdrawn leaves the next release of it as it is.
        """
        doubtful = {proof_asset(one) for one in self.refused}
        return Vouched(
            (one for one in proofs if proof_asset(one) not in doubtful),
            *judged,
            denial,
            self.refusals,
            notes,
            withdrawn=self.withdrawn,
            refused=self.refused,
        )


class Given(NamedTuple):
    """A proof, and whether the output that it names was hashed when it was read; None where there
    was no place to look at. The `sighting` is of the output since then."""

    proof: Proof
    is_seen: bool | None
    sighting: Sighting | None = None


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
    proofs, unreadable = list[Given](), list[str]()
    for source in sources:
        try:
            proofs += _given(source, load)
        except CertificateError as error:
            if trust is None:
                raise
            unreadable.append(f"{source} does not count: {_said(error.problems[0])}")
    texts = policies if isinstance(policies, InForce) else tuple(policies)
    beside = {} if trust is None else signatures_beside(texts, trust)
    reasons = ((*proofs,), (*unreadable,), texts, (*signatures,), beside)
    return VouchingGrounds(trust, withdrawals, *reasons).at(now or datetime.now(UTC))


def proof_refusal(proof: Proof, trust: Trust, now: datetime) -> Problem | None:
    """Return why a proof does not count under a trust, None if it does.

    It is what `coverage_refusal` returns, or Y007 for one that is not valid at the time. Who signed
    it is asked first: the times of what a stranger signed say nothing.
    """
    problem = coverage_refusal(proof, trust, now)
    if problem is not None or proof.signature is None:
        return problem
    return time_refusal(proof.signature.credential, now)


def coverage_refusal(proof: Proof, trust: Trust, now: datetime) -> Problem | None:
    """Return why the key that signed a proof does not count for it, None if it does.

    Y009 is for one that is not signed by a key that may sign it, Y010 for a revoked key. An
    attestation does not say what its output was made from: a key that signs for some datasets only
    does not sign it.
    """
    asset = proof_asset(proof)
    if proof.signature is None:
        return Problem("Y009", f"The {_kind(proof)} of {asset} is not signed.")
    made_from = () if isinstance(proof, Attestation) else proof.plan.reads
    datasets = [one.asset for one in made_from]
    signed = proof.signature.credential.proof
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
    hashed (V004), but for a table of a catalog, whose rows whoever has its session compares.
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
    if certificate is not None and not str(output).startswith(TABLE):
        check_digest(certificate, stored_output(certificate, output))


def _given(
    source: Proof | Location, load: Callable[[Location], Iterable[Proof]]
) -> Iterable[Given]:
    if isinstance(source, Certificate | Attestation):
        return [Given(source, None)]
    return given_proofs(source, load)


def given_proofs(source: Location, load: Callable[[Location], Iterable[Proof]]) -> Iterator[Given]:
    """Yield the proofs that `load` reads from a place, each with the output that is beside it."""
    began = time.time()
    for proof in load(source):
        output = _named_output(source, proof)
        if output is None:
            yield Given(proof, None)
        elif is_database(source):
            yield Given(proof, is_seen=True, sighting=Sighting(proof, output, began))
        elif _is_taken(output):
            yield Given(proof, is_seen=True, sighting=Sighting.of(proof, output, began))
        else:
            yield Given(proof, is_seen=False)


def _is_taken(output: Location) -> bool:
    with read_errors(output):
        return storage.is_taken(output)


def _named_output(source: Location, proof: Proof) -> Location | None:
    """Return where the output is that a proof which was read names; None where it names none."""
    if is_database(source):
        return source
    if not proof.file:
        return None
    with read_errors(source):
        is_holder = storage.is_folder(source) and (
            bool(certificate_names(source))
            if isinstance(proof, Certificate)
            else not is_attested(source)
        )
        folder = source if is_holder else storage.parent(source)
        return storage.join(folder, proof.file)


def _unseen(proof: Proof, is_seen: bool | None) -> Problem | None:
    if is_seen is not False:
        return None
    message = f"The output {proof.file!r} that the {_kind(proof)} of {proof_asset(proof)} names is "
    return Problem("Y012", f"{message}not beside it.", "Put the output there.")


def _kind(proof: Proof) -> str:
    return "attestation" if isinstance(proof, Attestation) else "certificate"


def _said(problem: Problem) -> str:
    return f"{problem.code} {problem.message}"
