"""Withdraws releases: after that, nobody who is told is permitted to read them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from policy_engine.certificate.beside import (
    certificate_names,
    load_certificate,
    stored_output,
)
from policy_engine.certificate.certificate import Certificate, check_digest, read_certificate
from policy_engine.certificate.withdrawals import sign_withdrawal
from policy_engine.data import storage
from policy_engine.data.atomic_file import check_destination, write_file
from policy_engine.data.places.spelling import is_database, redacted
from policy_engine.data.storage import Location, is_remote
from policy_engine.errors import ArgumentError, CertificateError, OutputError, SignatureError
from policy_engine.policy import read_file
from policy_engine.release.locking import hold
from policy_engine.release.staging import WITHDRAWAL
from policy_engine.trust.proofs import Signer
from policy_engine.trust.signers import KeySource, read_signer
from policy_engine.trust.status_lists import StatusList, entry_index, load_status_list


class Withdrawn(NamedTuple):
    """A release that was withdrawn: its asset, the statement, and whether a status list says so."""

    asset: str
    statement: Path
    is_listed: bool


def withdraw_release(
    release: str | Path,
    reason: str,
    key: KeySource,
    *,
    status_list: str | Path | None = None,
    statement: str | Path | None = None,
) -> Withdrawn:
    """Withdraw the release whose certificate is at a path, and sign a statement that says so.

    The path is that of a certificate, of an output beside its certificate, or of a folder with one.
    Of an output or a folder, the output has to be there and the certified one: the statement would
    otherwise be about what whoever can write there put in the place of the certificate. That of a
    certificate is withdrawn whatever is beside it.
    The statement, with the reason, is written beside the certificate, where decisions find it, or
    to `statement`, as it has to be for a table of a database; give it to everybody who decides.
    Where the certificate has an entry in the
    `status_list`, the list says so as well, and is signed anew: publish it again.

    Raises CertificateError (V005, V015) where there is not one certificate, or (V004) where it is
    not that of the output beside it, TrustError (Y001, Y002)
    for a key that cannot be used, SignatureError (Y005 to Y007, Y014) for a list that cannot be
    changed, OutputError (O001, O002) for a statement that is there already.
    """
    certificate, beside = _withdrawable(release)
    signer = read_signer(key)
    place = beside if statement is None else Path(statement)
    if place is None:
        message = f"Nothing is beside a table of a database: {redacted(str(release))!r}."
        hint = "Say where to write the statement: statement=FILE."
        raise OutputError.of("O002", message, hint)
    check_destination(place)
    now = datetime.now(UTC)
    text = sign_withdrawal(certificate, reason, signer, now)
    if status_list is not None:
        _list_withdrawal(Path(status_list), certificate, signer, now)
    write_file(place, text, overwrite=False)
    return Withdrawn(certificate.plan.publish.asset, place, status_list is not None)


def _withdrawable(release: str | Path) -> tuple[Certificate, Path | None]:
    """Return the certificate of a release, and where its statement is beside it, if it can be."""
    if is_database(release):
        return load_certificate(str(release)), None
    file = _certificate_file(Path(release))
    certificate = read_certificate(read_file(file), str(file))
    if file != Path(release):
        _check_beside(file, certificate)
    return certificate, file.with_name(file.name + WITHDRAWAL)


def _certificate_file(path: Path) -> Path:
    """Return the file of the one certificate at a path."""
    folder = path if path.is_dir() and certificate_names(path) else path.parent
    names = certificate_names(folder)
    if path.name in names:
        return path
    files = [folder / name for name in names]
    if folder != path:
        files = [one for one in files if read_certificate(read_file(one)).file == path.name]
    if len(files) != 1:
        message = f"There is not one certificate at {str(path)!r}, but {len(files)}."
        raise CertificateError.of("V015", message, "Give the file of one of them.")
    return files[0]


def _check_beside(file: Path, certificate: Certificate) -> None:
    """Raise CertificateError (V004) unless the certified output is beside a certificate."""
    output = file.with_name(certificate.file) if certificate.file else None
    if output is None or not output.exists():
        message = "The output that the certificate names is not beside it."
        hint = "To withdraw what it certifies all the same, give the file of the certificate."
        raise CertificateError.of("V004", message, hint, str(file))
    check_digest(certificate, stored_output(certificate, output))


def allot_status(status_list: str | Path, signer: Signer, count: int) -> list[dict[str, str]]:
    """Return entries of a status list for so many certificates, after adding them to the list.

    It is `NAME=FILE` or `FILE`: a file that is not there becomes a list that is called NAME, the
    IRI at which it will be published, or by a name of its own. Raises as `withdraw_release` does
    for a list.
    """
    name, path = _named_list(str(status_list))
    with _held(path):
        if path.exists():
            own = load_status_list(read_file(path), str(path))
            if name and name != own.name:
                message = f"The status list is called {own.name}, and not {name!r:.200}."
                raise SignatureError.of("Y014", message, source=str(path))
        else:
            own = StatusList(name or f"urn:uuid:{uuid4()}")
        changed, entries = own.allot(count)
        _write(path, changed, own, signer)
    return [*entries]


def check_status_list(
    status_list: str | Path, outputs: Iterable[Location | None], *, is_signed: bool
) -> None:
    """Raise an error where certificates of outputs cannot get entries of a status list.

    That is ArgumentError (U002) where they are not signed, OutputError (O001, O002) where the list
    is in the folder of an output, which its run holds, or has no folder.
    """
    if not is_signed:
        message = "A certificate that is not signed has no entry in a status list."
        raise ArgumentError.of("U002", message, "Sign it, or leave the status list out.")
    _, path = _named_list(str(status_list))
    held = (storage.parent(one) for one in outputs if one is not None)
    if path.parent.resolve() in [Path(one).resolve() for one in held if not is_remote(one)]:
        message = "The status list is in the folder that the release is published into."
        raise OutputError.of("O001", message, "Give it a folder of its own.", str(path))
    if not path.parent.is_dir():
        message = f"The folder {str(path.parent)!r} of the status list is not there."
        raise OutputError.of("O002", message, "Make it.", str(path))


def _named_list(text: str) -> tuple[str, Path]:
    name, equals, file = text.partition("=")
    return (name, Path(file)) if equals and ":" in name else ("", Path(text))


def _list_withdrawal(path: Path, certificate: Certificate, signer: Signer, since: datetime) -> None:
    """Set the bit of a certificate in a status list."""
    signature = certificate.signature
    entry = None if signature is None else signature.credential.status
    with _held(path):
        own = load_status_list(read_file(path), str(path))
        if entry is None or entry.get("statusListCredential") != own.name:
            message = "The certificate has no entry in this status list."
            hint = "Without one, the statement alone withdraws it: leave the list out."
            raise SignatureError.of("Y014", message, hint, str(path))
        try:
            changed = own.with_withdrawal(entry_index(entry), since)
        except (ValueError, IndexError) as error:
            raise SignatureError.of("Y014", f"{error}.", source=str(path)) from None
        _write(path, changed, own, signer)


def _write(path: Path, changed: StatusList, before: StatusList, signer: Signer) -> None:
    """Write a status list that its own key signs: another's would count for no certificate of it.

    Raises SignatureError (Y014) for another key.
    """
    if before.key is not None and before.key != signer.public:
        message = f"The status list is signed by {before.key.did}, and the key given is another."
        raise SignatureError.of("Y014", message, "Give that key.", str(path))
    write_file(path, changed.signed_text(signer))


@contextmanager
def _held(path: Path) -> Iterator[None]:
    """Hold the folder of a status list: two runs must not give one place to two certificates."""
    try:
        held = hold(path.parent, lambda: None)
    except OSError as error:
        message = f"The folder of the status list cannot be written to: {error.strerror or error}."
        raise OutputError.of("O002", message, source=str(path)) from None
    try:
        yield
    finally:
        held.release()
