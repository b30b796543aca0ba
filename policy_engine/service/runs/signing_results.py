"""Signs the certificates that a run leaves: by the supervisor, for no run ever sees the key."""

import hashlib
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine.service.runs.jobs import SHOWN
from policy_engine.service.runs.results import bounded_contents
from policy_engine.trust.proofs import Signer

if TYPE_CHECKING:
    from policy_engine.certificate.certificate import Certificate

RELEASE = "release"
"""The folder of a result that has the release and its certificates."""


def sign_results(
    folder: Path,
    artefacts: list[dict[str, Any]],
    signer: Signer,
    check: Callable[["Certificate", Path], None],
    names: Collection[str],
    evidence: Sequence[Mapping[str, str]] = (),
) -> list[dict[str, Any]]:
    """Sign certificates of a release that a run has left, and return the artefacts anew.

    Signed are those of the given `names`, which were measured again, each with the `evidence` of
    who signed the policy; those that are shown are copies, and are signed as well. Nothing is
    signed unless `check`, which gets each certificate and the folder of the release, finds nothing
    that is not of the run, and raises what is. Raises CertificateError (V005) for what is not a
    certificate, TrustError (Y004) for what cannot be signed, OSError.
    """
    if any((folder / name).is_symlink() for name in (RELEASE, SHOWN)):
        raise OSError("what a run leaves is in a link to another folder")
    contents = bounded_contents(sorted((folder / RELEASE).glob("*.jsonld")))
    certificates = {path: _read(path, content) for path, content in contents.items()}
    for certificate in certificates.values():
        check(certificate, folder / RELEASE)
    signed = dict[str, bytes]()
    for path, certificate in certificates.items():
        if path.name not in names:
            continue
        own = certificate.signed(signer, evidence=evidence)
        signed[path.name] = own.to_jsonld().encode()
        _replace(path, signed[path.name])
    for name, content in signed.items():
        copy = folder / SHOWN / name
        if copy.is_symlink() or copy.is_file():
            _replace(copy, content)
    return [_again(one, signed) for one in artefacts]


def _read(path: Path, content: bytes) -> "Certificate":
    from policy_engine.certificate.certificate import read_certificate  # noqa: PLC0415 (slow)

    return read_certificate(content, path.name)


def _replace(path: Path, content: bytes) -> None:
    """Put content in the place of a file, whole and on the disk."""
    new = path.with_name(f".{path.name}.signed")
    with new.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _again(artefact: dict[str, Any], signed: dict[str, bytes]) -> dict[str, Any]:
    content = signed.get(str(artefact["name"]))
    if content is None:
        return artefact
    return {**artefact, "digest": hashlib.sha256(content).hexdigest(), "size": len(content)}
