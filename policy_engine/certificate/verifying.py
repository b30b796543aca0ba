"""A signed certificate, its output and a trust file: verified by as little code as can be read.

Nothing here knows how a release is made, or measured. It answers whether a trusted key signed a
certificate for just these bytes; `policy_engine/trust/verify_certificate.py` answers the same, and
shares no line of code with it.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from policy_engine.errors import PolicyEngineError, Problem, SignatureError
from policy_engine.trust.canonical_json import read_document
from policy_engine.trust.credentials import Credential, check_time, read_credential
from policy_engine.trust.trust_file import load_trust

KIND = "pe:ReleaseCertificate"
_MODELS = ("train", "train-generator")
_LOGS = frozenset({"_delta_log", "_spark_metadata", ".hoodie", "metadata"})
"""Folders of Delta Lake, Structured Streaming, Hudi and Iceberg that say which files count."""
_HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True)
class CertificateVerification:
    """What was verified of a certificate, what was not, and why it is refused, if it is."""

    checked: tuple[str, ...]
    unchecked: tuple[str, ...]
    problems: tuple[Problem, ...]

    @property
    def holds(self) -> bool:
        """Whether everything that was checked holds, the signature and the output among it."""
        return not self.problems

    def as_json(self) -> dict[str, Any]:
        """Return the verification as JSON has it."""
        problems = [{"code": one.code, "message": one.message} for one in self.problems]
        return {
            "valid": self.holds,
            "checked": [*self.checked],
            "unchecked": [*self.unchecked],
            "problems": problems,
        }


def verify_certificate(
    certificate: str | Path,
    output: str | Path | None = None,
    trust: str | Path | None = None,
    *,
    now: datetime | None = None,
) -> CertificateVerification:
    """Verify a signed certificate, that an output is the one it names, and who signed it.

    Without a trust file nobody is trusted: the certificate is refused (Y009), and all else is
    checked. Without an output, the result says that none was seen. It never raises for a file that
    is not what it should be: that is a problem.
    """
    checked, unchecked, problems = list[str](), list[str](), list[Problem]()
    moment = now or datetime.now(UTC)
    try:
        document = read_document(Path(certificate).read_bytes())
        credential = read_credential(document, KIND, now=moment)
        facts = _facts(credential)
        check_time(credential, moment)
        signer = credential.proof
        signed = f"{signer.created:%Y-%m-%dT%H:%M:%SZ}"
        checked.append(f"the signature of {signer.key.did}, made at {signed} by its own account")
        checked.append(f"that it is valid at {moment:%Y-%m-%dT%H:%M:%SZ}")
    except (SignatureError, OSError, ValueError) as error:
        return CertificateVerification((), ("everything else",), (_problem(error),))
    for check in (
        _check_trust(credential, facts, trust, moment),
        _check_output(facts, output),
    ):
        for line in check:
            if isinstance(line, Problem):
                problems.append(line)
            else:
                (checked if line[0] else unchecked).append(line[1])
    unchecked += _left(credential, facts)
    return CertificateVerification((*checked,), (*unchecked,), (*problems,))


_Line = tuple[bool, str] | Problem
"""Whether something was checked, and what; or why the certificate is refused."""


def _check_trust(
    credential: Credential, facts: Mapping[str, Any], trust: str | Path | None, now: datetime
) -> Iterator[_Line]:
    output, datasets = facts["publish"], facts["reads"]
    if trust is None:
        yield Problem("Y009", "No trust file says whose signatures count: nobody is trusted.")
        return
    try:
        trusted = load_trust(trust)
    except PolicyEngineError as error:
        yield from error.problems
        return
    signer = credential.proof
    problem = trusted.certificate_refusal(signer.key, signer.created, output, datasets, now)
    if problem is not None:
        yield problem
        return
    yield True, f"that this key may sign certificates of {output} at that time"


def _check_output(facts: Mapping[str, Any], output: str | Path | None) -> Iterator[_Line]:
    digest = facts["output_digest"]
    if not digest:
        yield Problem("V004", "The certificate says that nothing was released.")
        return
    if output is None:
        yield False, f"the output: nobody saw it; its sha-256 has to be {digest}"
        return
    try:
        path = Path(output)
        actual = tree_digest(path) if facts["is_model"] else data_digest(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        yield Problem("Y012", f"The output {str(output)!r} cannot be read: {reason}.")
        return
    if actual != digest:
        message = f"The output's sha-256 is {actual}, that of the certified one {digest}."
        yield Problem("V004", message)
        return
    yield True, f"that {path.name!r} is the certified output, by its sha-256 {digest}"
    if facts["file"] and facts["file"] != path.name:
        yield False, f"its name: it was released as {facts['file']!r}"


def _left(credential: Credential, facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield what nobody can check by a certificate, an output and a trust file."""
    if credential.status is not None:
        place = credential.status.get("statusListCredential", "")
        yield f"whether it was withdrawn: see the status list {place!r}"
    else:
        yield "whether it was withdrawn: policy-engine decide looks for statements beside it"
    yield "its figures: whoever signed it vouches for them; policy-engine certify measures again"
    signers = [one["pe:signedBy"] for one in credential.evidence if "pe:signedBy" in one]
    by = f"; the certificate says that {signers[0]} signed it" if signers else ""
    yield f"that its policy (digest {facts['policy_digest']}) is in force, and who signed it{by}"
    if facts["commitment"]:
        yield "its input: the owner's record opens the commitment; policy-engine certify --record"


def _facts(credential: Credential) -> dict[str, Any]:
    """Return what is needed of the certificate. Raises ValueError where it is not there."""
    if len(credential.subjects) != 1:
        raise ValueError("it is not about one output")
    subject = credential.subjects[0]
    try:
        facts = subject["pe:certificate"]
        steps = facts["plan"]["steps"]
        reads = [one["asset"] for one in steps if one["step"] == "read"]
        [publish] = [one["asset"] for one in steps if one["step"] == "publish"]
        read = {
            "publish": publish,
            "reads": reads,
            "is_model": any(one["step"] in _MODELS for one in steps),
            "output_digest": facts["output_digest"],
            "policy_digest": facts["plan"]["policy_digest"],
            "file": facts["file"],
            "commitment": facts["commitment"],
        }
    except (KeyError, TypeError, ValueError):
        raise ValueError("it has not the facts of a certificate") from None
    texts = [publish, *reads, read["output_digest"], read["policy_digest"], read["file"]]
    if not all(isinstance(one, str) for one in texts) or not reads:
        raise ValueError("it has not the facts of a certificate")
    digest = read["output_digest"]
    if digest and (len(digest) != 64 or not _HEX.issuperset(digest)):
        raise ValueError("the digest of its output is not a sha-256")
    if (subject.get("@id"), subject.get("pe:sha256", "")) != (publish, digest):
        raise ValueError("it contradicts itself about its output")
    return read


def _problem(error: Exception) -> Problem:
    if isinstance(error, PolicyEngineError):
        return error.problems[0]
    reason = getattr(error, "strerror", None) or str(error)
    return Problem("Y005", f"The certificate cannot be read: {reason}.")


def data_digest(path: Path) -> str:
    """Return the sha-256 of a file, or of the manifest of a folder's data files.

    The manifest has a line per file as `sha256sum` prints it, sorted by name. Raises OSError, also
    for a folder that a reader may see other files in: by a link, or by the log of a table format.
    """
    if not path.is_dir():
        return _file_digest(path)
    _check_plain(path)
    names = (one.relative_to(path).as_posix() for one in path.rglob("*") if one.is_file())
    lines = (_line(path, name) for name in sorted(names) if not _is_hidden(name.split("/")))
    return hashlib.sha256("".join(lines).encode(errors="surrogateescape")).hexdigest()


def _check_plain(folder: Path) -> None:
    """Raise OSError for a folder that holds a link, or a folder that lists a table's files."""
    for root, folders, files in os.walk(folder, onerror=_fail):
        if any(Path(root, name).is_symlink() for name in (*folders, *files)):
            raise OSError("it holds a link, which leads readers to files that were not certified")
        for name in folders:
            if name.lower() in _LOGS:
                raise OSError(f"it holds {name!r}, by which readers may take other files as data")


def _fail(error: OSError) -> None:
    raise error


def _line(folder: Path, name: str) -> str:
    escaped = name.replace("\\", r"\\").replace("\n", r"\n").replace("\r", r"\r")
    mark = "" if escaped == name else "\\"
    return f"{mark}{_file_digest(folder / name)}  {escaped}\n"


def _is_hidden(parts: Sequence[str]) -> bool:
    """Tell whether Spark reads a file as data: not what begins with a dot or an underscore."""
    for part in parts:
        is_hidden = part.startswith(".") or (part.startswith("_") and "=" not in part)
        is_metadata = part.startswith(("_metadata", "_common_metadata"))
        if (is_hidden and not is_metadata) or part.endswith("._COPYING_"):
            return True
    return False


def tree_digest(folder: Path) -> str:
    """Return the sha-256 of everything in the folder of a model: names, kinds and bytes.

    Raises OSError where it is not a folder, or holds links or anything else than files.
    """
    if folder.is_symlink() or not folder.is_dir():
        raise OSError("it is a link, or not a folder")
    entries = sorted(_entries(os.fsencode(folder), b""))
    return hashlib.sha256(json.dumps(entries).encode()).hexdigest()


def _entries(root: bytes, relative: bytes) -> Iterator[tuple[str, str, str]]:
    with os.scandir(os.path.join(root, relative)) as scan:  # noqa: PTH118 (names are bytes)
        listed = list(scan)
    for entry in listed:
        name = os.path.join(relative, entry.name)  # noqa: PTH118
        if entry.is_dir(follow_symlinks=False):
            yield name.hex(), "folder", ""
            yield from _entries(root, name)
        elif entry.is_file(follow_symlinks=False):
            yield name.hex(), "file", _file_digest(Path(os.fsdecode(entry.path)))
        else:
            raise OSError("it holds a link, or something that is not a file")


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
