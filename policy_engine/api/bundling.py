"""Policies and all that decisions follow from, packed into one file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from policy_engine.api.deciding import ProofSource, StatusSource, TrustSource, decider
from policy_engine.api.trusting import counting, trusted_proofs
from policy_engine.certificate.attestation import ATTESTATION, Attestation
from policy_engine.data.atomic_file import write_file
from policy_engine.decision.bundle import Bundle
from policy_engine.decision.opened_bundle import opened
from policy_engine.decision.package import Member
from policy_engine.errors import DataError
from policy_engine.policy import DEFAULT_LIMITS, Limits, read_file
from policy_engine.policy.collecting.registry import (
    REGISTRY,
    files_of,
    is_folder,
    is_registry,
    read_registry,
)
from policy_engine.policy.signing import signature_path
from policy_engine.release.staging import CERTIFICATE

_FOLDERS: Mapping[str, str] = {
    "policy": "policies",
    "parent": "parents",
    "vocabulary": "vocabularies",
    "context": "contexts",
    "hierarchy": "hierarchies",
    "owners": "owners",
    "taxonomy": "taxonomies",
}


def bundle_policies(
    policies: Sequence[str | Path],
    certificates: Sequence[ProofSource] = (),
    *,
    hierarchies: Sequence[str | Path] = (),
    owners: str | Path | None = None,
    taxonomies: Mapping[str, str | Path] | None = None,
    contexts: Mapping[str, str | Path] | None = None,
    parents: Sequence[str | Path] = (),
    vocabularies: Sequence[str | Path] = (),
    limits: Limits = DEFAULT_LIMITS,
    file: str | Path | None = None,
    overwrite: bool = False,
    trust: TrustSource | None = None,
    status: Sequence[StatusSource] = (),
) -> Bundle:
    """Return a bundle of policies and of what they are read and decided with, all given as files.

    Policies may be folders and registries. `certificates` are those of outputs, attestations among
    them; `contexts` are by URL, `taxonomies` by the names that policies use (`Bundle.taxonomies`
    gives them back), and `limits` as in `Reading`. With a `file` the bundle is written there. Under
    a `trust`, what it does not cover is refused, and so is a certificate that a `status`, or a
    statement beside it, says was withdrawn (CertificateError). All of it is read once: raises as
    `decider` does for what cannot be, and DataError (C018) for a
    registry whose files lie outside of its folder.
    """
    packing = Packing()
    for kind, sources in (
        ("policy", policies),
        ("parent", parents),
        ("vocabulary", vocabularies),
        ("hierarchy", hierarchies),
        ("owners", () if owners is None else (owners,)),
    ):
        for source in sources:
            packing.add(kind, Path(source))
    for kind, named in (("context", contexts), ("taxonomy", taxonomies)):
        for name, source in (named or {}).items():
            packing.add(kind, Path(source), name)
    for number, proof in enumerate(trusted_proofs(certificates, trust, status), start=1):
        packing.add_proof(number, proof)
    bundle = Bundle(tuple(packing.members), packing.files)
    bundle.taxonomies()  # which are read as well, so that each is one
    packed = bundle.packed()
    compiled = decider(Bundle.read(packed), limits=limits, trust=trust, status=status)
    counting(compiled.proofs)
    if file is not None:
        write_file(Path(file), packed, overwrite=overwrite)
    return bundle


def load_bundle(path: str | Path, digest: str = "") -> Bundle:
    """Return the bundle of a file, for `decider`, once every file in it is the one that was packed.

    With a `digest`, as `bundle` prints it, it must be that bundle: without one, whoever may write
    the file may have packed another. Raises DataError: C002 or C003 where there is no file that can
    be read, C018 where it is damaged, or another.
    """
    return Bundle.read(read_file(Path(path)), str(path), digest)


def strange_proofs(bundle: Bundle, limits: Limits = DEFAULT_LIMITS) -> list[str]:
    """Return the outputs whose certificates or attestations are of a policy that a bundle lacks:
    nobody may read them."""
    with opened(bundle, limits) as sources:
        policies = sources.reading.policies_in_force(*sources.policies)
        digests = {one.digest for one in (*policies, *policies.ended)}
        return [asset for asset, digest in map(_subject, sources.proofs) if digest not in digests]


def _subject(proof: Any) -> tuple[str, str]:
    """Return the asset that a certificate or an attestation is about, and its policy's digest."""
    if isinstance(proof, Attestation):
        return proof.asset, proof.policy_digest
    return proof.plan.publish.asset, proof.plan.policy_digest


@dataclass
class Packing:
    """Files as they are added, each under a path of its own."""

    members: list[Member] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)

    def add(self, kind: str, source: Path, name: str = "") -> None:
        """Add a file, or the folder or registry of policies that a path names."""
        place = self._free_place(f"{_FOLDERS[kind]}/{source.resolve().name or 'standard-input'}")
        if is_folder(source):
            registry = source / REGISTRY
            files = _listed(registry) if registry.is_file() else _relative(source)
            self._add_files(source, [*files], place)
            self.members.append(Member(kind, place, name))
            return
        content = read_file(source)
        if kind == "policy" and is_registry(content):
            self._add_files(source.parent, [*_listed(source)], place)
            self.members.append(Member(kind, f"{place}/{source.name}", name))
            return
        self.files[place] = content
        self.members.append(Member(kind, place, name))
        self._add_signature(source, place)

    def _add_signature(self, policies: Path, place: str) -> None:
        """Add the signature beside a file of policies, if there is one."""
        signature = signature_path(policies)
        if signature.is_file():
            self.files[str(signature_path(PurePosixPath(place)))] = read_file(signature)

    def add_proof(self, number: int, proof: Any) -> None:
        """Add a certificate or an attestation."""
        is_attestation = isinstance(proof, Attestation)
        kind = "attestation" if is_attestation else "certificate"
        place = f"certificates/{number}/{f'output{ATTESTATION}' if is_attestation else CERTIFICATE}"
        self.files[place] = proof.to_jsonld().encode()
        self.members.append(Member(kind, place))

    def _add_files(self, folder: Path, names: list[str], place: str) -> None:
        for name in names:
            self.files[f"{place}/{name}"] = read_file(folder / name)
            self._add_signature(folder / name, f"{place}/{name}")

    def _free_place(self, place: str) -> str:
        """Return a path that no other member has, nor lies in or around."""
        taken = {"/".join(one.split("/")[:2]) for one in self.files}
        if place not in taken:
            return place
        path = PurePosixPath(place)
        numbered = (f"{path.parent}/{path.stem}-{n}{path.suffix}" for n in range(2, len(taken) + 3))
        return next(one for one in numbered if one not in taken)


def _relative(folder: Path) -> Iterator[str]:
    return (path.relative_to(folder).as_posix() for path in files_of(folder))


def _listed(registry: Path) -> Iterator[str]:
    """Yield the names of a registry and of the files that it lists and that are there.

    Raises DataError (C018) for one outside of the registry's folder.
    """
    yield registry.name
    for entry in read_registry(read_file(registry), str(registry)):
        path = PurePosixPath(entry.file)
        if path.is_absolute() or ".." in path.parts:
            message = f"The file {entry.file!r} of the registry lies outside of its folder."
            raise DataError.of("C018", message, "Move it there.", str(registry))
        if (registry.parent / entry.file).is_file():
            yield path.as_posix()
