"""A bundle's files in a folder for a while, and what decisions take of them."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from policy_engine.certificate.attestation import Attestation, read_attestation
from policy_engine.certificate.certificate import Certificate, read_certificate
from policy_engine.decision.bundle import Kind
from policy_engine.decision.package import Member, Package
from policy_engine.errors import OutputError
from policy_engine.policy import DEFAULT_LIMITS, Hierarchy, Limits, Reading
from policy_engine.policy.syntax.json_text import read_json


@dataclass(frozen=True)
class OpenedBundle:
    """What a bundle holds, as the verbs take it.

    The `policies` are paths: of files, folders or registries; so are the `hierarchies` and the
    `owners`, None where the bundle has none. `proofs` are certificates and attestations. `folder`
    is where the files are, by their paths in the bundle.
    """

    policies: tuple[Path, ...]
    proofs: tuple[Certificate | Attestation, ...]
    hierarchies: tuple[Path, ...]
    owners: Path | None
    reading: Reading
    folder: Path

    def hierarchy(self) -> Hierarchy:
        """Return what the hierarchies say, taken together."""
        return self.reading.hierarchy(self.hierarchies)


@contextmanager
def opened(bundle: Package, limits: Limits = DEFAULT_LIMITS) -> Iterator[OpenedBundle]:
    """Give what a bundle holds; its files are in a folder of this process until then.

    Raises OutputError (O002) where there is no place for them, and as reading does: only the bytes
    of a bundle are verified when it is read.
    """
    with ExitStack() as stack:
        try:
            holder = tempfile.TemporaryDirectory(prefix="policy-engine-bundle-")
            folder = Path(stack.enter_context(holder))
            _write(bundle, folder)
        except OSError as error:
            message = f"The bundle cannot be unpacked: {error.strerror or error}."
            raise OutputError.of("O002", message) from None
        yield _opened(bundle, folder, limits)


def _write(bundle: Package, folder: Path) -> None:
    for path, content in bundle.files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def _opened(bundle: Package, folder: Path, limits: Limits) -> OpenedBundle:
    def paths(kind: Kind) -> tuple[Path, ...]:
        return tuple(folder / one.path for one in bundle.of_kind(kind))

    reading = Reading(
        _contexts(bundle, [*bundle.of_kind("context")]),
        paths("parent"),
        limits,
        paths("vocabulary"),
    )
    proofs = tuple(
        _proof(one, bundle.files[one.path]) for one in bundle.of_kind("certificate", "attestation")
    )
    owners = paths("owners")
    return OpenedBundle(
        paths("policy"), proofs, paths("hierarchy"), owners[0] if owners else None, reading, folder
    )


def _proof(member: Member, text: bytes) -> Certificate | Attestation:
    read = read_attestation if member.kind == "attestation" else read_certificate
    return read(text, member.path)


def _contexts(bundle: Package, members: Sequence[Member]) -> dict[str, Any]:
    return {one.name: read_json(bundle.files[one.path], one.path).value for one in members}
