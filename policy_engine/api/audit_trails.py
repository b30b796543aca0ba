"""What happened to data, packed for an authority, and verified by it."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from policy_engine.api.bundling import Packing
from policy_engine.api.deciding import (
    ProofSource,
    StatusSource,
    TrustSource,
    read_proofs,
    status_texts,
)
from policy_engine.certificate.attestation import Attestation
from policy_engine.certificate.certificate import Certificate
from policy_engine.data.atomic_file import check_destination, write_file
from policy_engine.data.catalog import parse_location
from policy_engine.data.chain.verification import Head
from policy_engine.data.keys import Key, read_chain_key
from policy_engine.decision.audit_trail import AuditTrail, TrailReport, check_trail
from policy_engine.decision.audit_trail.chains import ExportedChain, export_ledger, export_log
from policy_engine.decision.package import Member
from policy_engine.policy import DEFAULT_LIMITS, Limits, read_file
from policy_engine.trust.multikeys import PublicKey, read_public_key
from policy_engine.trust.signers import KeySource, read_signer
from policy_engine.trust.trust_file import load_trust


def pack_audit_trail(
    file: str | Path,
    policies: Sequence[str | Path],
    certificates: Sequence[ProofSource] = (),
    *,
    logs: Sequence[str | Path] = (),
    ledgers: Sequence[str | Path] = (),
    contexts: Mapping[str, str | Path] | None = None,
    parents: Sequence[str | Path] = (),
    vocabularies: Sequence[str | Path] = (),
    status: Sequence[StatusSource] = (),
    trusts: Sequence[str | Path] = (),
    sign: KeySource | None = None,
    keys: Iterable[Key] = (),
    limits: Limits = DEFAULT_LIMITS,
    overwrite: bool = False,
) -> TrailReport:
    """Pack what happened to data into one file, and return what an authority will find in it.

    `policies`, `certificates` and what they are read with are as for `bundle_policies`; `logs` are
    decision logs, `ledgers` those of budgets, releases and answers, of which only the entries are
    packed: what is kept beside them tells of persons. `status` are status lists and statements of
    `withdraw_release`; those beside certificates are packed as well. `trusts` are the trust files
    that were decided by. What is broken is packed as it
    is, and said in the report: it is what the authority has to see. `keys` are those of the logs
    and ledgers, and are not packed; `limits` are as in `Reading`.

    Raises as reading each of them does, DataError (C018) for what would be too large, TrustError
    for a key to `sign` with that cannot be used, OutputError (O001, O002) for the file.
    """
    chain_keys = _chain_keys(keys)
    check_destination(Path(file), overwrite=overwrite)
    signer = None if sign is None else read_signer(sign)
    packing = Packing()
    for kind, sources in (
        ("policy", policies),
        ("parent", parents),
        ("vocabulary", vocabularies),
    ):
        for source in sources:
            packing.add(kind, Path(source))
    for name, source in (contexts or {}).items():
        packing.add("context", Path(source), name)
    for number, proof in enumerate(read_proofs(certificates), start=1):
        packing.add_proof(number, proof)
    for number, log in enumerate(logs, start=1):
        _add_chain(packing, "log", f"logs/{number}.jsonl", export_log(Path(log)))
    for number, ledger in enumerate(ledgers, start=1):
        _add_chain(packing, "ledger", f"ledgers/{number}.jsonl", export_ledger(Path(ledger)))
    places = [
        one if isinstance(one, Certificate | Attestation) else parse_location(one)
        for one in certificates
    ]
    for number, text in enumerate(status_texts(status, places).values(), start=1):
        packing.files[f"status/{number}.json"] = text
        packing.members.append(Member("status", f"status/{number}.json"))
    for number, trust in enumerate(trusts, start=1):
        packing.files[f"trust/{number}.json"] = read_file(Path(trust))
        packing.members.append(Member("trust", f"trust/{number}.json"))
    trail = AuditTrail(tuple(packing.members), packing.files)
    if signer is not None:
        trail = trail.signed(signer)
    packed = trail.packed()
    report = check_trail(AuditTrail.read(packed), chain_keys, limits=limits)
    write_file(Path(file), packed, overwrite=overwrite)
    return report


def verify_audit_trail(
    file: str | Path,
    *,
    keys: Iterable[Key] = (),
    digest: str = "",
    expect: Sequence[str | Head] = (),
    signer: str | PublicKey | None = None,
    trust: TrustSource | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> TrailReport:
    """Return what holds in an audit trail, offline and by nothing but the file.

    `keys` are those that its logs and ledgers were chained with: with any, a chain that was made
    without one of them fails. With a `digest`, it must be that trail. Each head to `expect` must be
    in a log or ledger, which shows that nothing was cut off before it; a `signer`, by the name of
    the key, must have signed the trail: what neither shows to be whole may have been cut off. A
    `trust` of whoever verifies it must cover its policies and certificates, as every trust file in
    it must.

    Raises DataError: C002 or C003 where there is no file that can be read, C013 for a key
    that is missing or too short, C018 where a file in it is not the one that was packed;
    RequestError (U001) for a head, TrustError (Y003, Y008) for a signer or a trust that is none.
    """
    chain_keys = _chain_keys(keys)
    heads = [Head.of(one) if isinstance(one, str) else one for one in expect]
    key = read_public_key(signer) if isinstance(signer, str) else signer
    trail = AuditTrail.read(read_file(Path(file)), str(file), digest)
    trusted = None if trust is None else load_trust(trust)
    return check_trail(trail, chain_keys, expected=heads, signer=key, trust=trusted, limits=limits)


def _add_chain(packing: Packing, kind: str, place: str, chain: ExportedChain) -> None:
    packing.files[place] = chain.content
    packing.members.append(Member(kind, place, chain.name))


def _chain_keys(keys: Iterable[Key]) -> list[bytes]:
    return [key for one in keys if (key := read_chain_key(one)) is not None]
