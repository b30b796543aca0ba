"""Certificates stored beside outputs: each names the file that it certifies."""

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from policy_engine.certificate.attestation import (
    ATTESTATION,
    Attestation,
    check_attested,
    load_attestation,
)
from policy_engine.certificate.certificate import Certificate, check_digest, read_certificate
from policy_engine.certificate.signature import named_file
from policy_engine.data import storage
from policy_engine.data.folder_contents import table_log
from policy_engine.data.places.spelling import is_database, is_output_database, redacted
from policy_engine.data.storage import Location
from policy_engine.data.table_files import ALL_FORMATS, match_format
from policy_engine.engines.engine import StoredData
from policy_engine.errors import CertificateError, DataError, join_names
from policy_engine.release.staging import (
    CERTIFICATE,
    WITHDRAWAL,
    certificate_name,
    format_names,
    guard_publication,
    is_certificate,
    name_problem,
    unknown_names,
)
from policy_engine.terms import local_name

_NONE: Mapping[str, Certificate] = MappingProxyType({})


def certificate_names(folder: Location) -> list[str]:
    """Return the names of a folder's files that look like certificates. Raises OSError."""
    if not storage.is_folder(folder):
        return []
    return [name for name in storage.names(folder) if is_certificate(name)]


def folder_certificates(folder: Location) -> dict[str, Certificate]:
    """Return the certificates in a folder, by file name, without files that are not certificates.

    Raises OSError.
    """
    certificates = {}
    for name in certificate_names(folder):
        try:
            certificates[name] = read_certificate(storage.read_bytes(storage.join(folder, name)))
        except CertificateError:
            continue
    return certificates


def find_certificate(output: Location) -> tuple[Location, Certificate] | None:
    """Return the certificate that names an output, with its location; None if there is none.

    Raises CertificateError (V015) if several do, DataError (C003) if it cannot be read.
    """
    folder, name = storage.parent(output), storage.name(output)
    with storage.read_errors(output):
        naming = {
            one: certificate
            for one, certificate in folder_certificates(folder).items()
            if certificate.file == name
        }
    _check_single(name, naming, folder)
    return next(
        ((storage.join(folder, one), certificate) for one, certificate in naming.items()), None
    )


def check_readable(output: Location) -> None:
    """Raise CertificateError (V005) if a file names an output as its certificate and is not valid.

    Whoever takes an output for uncertified would miss that its certificate was changed. Raises
    DataError (C003) if it cannot be read.
    """
    folder, name = storage.parent(output), storage.name(output)
    with storage.read_errors(output):
        for one in certificate_names(folder):
            file = storage.join(folder, one)
            text = storage.read_bytes(file)
            if _named_file(text) == name:
                read_certificate(text, str(file))


def _named_file(text: bytes) -> object:
    """Return the file that a text names in the way of a certificate, whether or not it is one."""
    try:
        return named_file(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def certificate_location(output: Location, *, shares: bool = False) -> Location:
    """Return where the certificate of an output is or, if there is none, will be stored.

    The first one in a folder has the usual name, unless it `shares` the folder from the beginning.
    """
    existing, folder = find_certificate(output), storage.parent(output)
    if existing is not None:
        return existing[0]
    with storage.read_errors(folder):
        is_first = not shares and not certificate_names(folder)
    return storage.join(folder, CERTIFICATE if is_first else certificate_name(storage.name(output)))


def single_output(location: Location) -> Location:
    """Return an output, given its location or that of the folder with its certificate.

    Raises CertificateError (V015) if the folder has several.
    """
    with storage.read_errors(location):
        is_folder = storage.is_folder(location)
        is_data = is_folder and not certificate_names(location)
    if not is_folder or (is_data and match_format(storage.name(location), ALL_FORMATS)):
        return location
    return storage.join(location, load_certificate(location).file)


def load_certificate(path: Location) -> Certificate:
    """Read the only certificate at a path, as `load_certificates` does.

    Raises CertificateError (V015) if a folder has several.
    """
    certificates = load_certificates(path)
    if len(certificates) > 1:
        files = join_names([one.file for one in certificates])
        message = f"{str(path)!r} contains {len(certificates)} certificates, for {files}."
        raise CertificateError.of("V015", message, "Give the file of one of them.")
    return certificates[0]


def load_certificates(path: Location) -> tuple[Certificate, ...]:
    """Read certificates: from a certificate's file, from that of an output, or all of a folder;
    that of a table of a database from there.

    If the certified output, a file or a folder of files, is beside the certificate, its digest is
    compared; for a model, that of its whole folder, and nothing else may be beside the two; if a
    folder is given, the model must be there. Raises DataError (C002) if there is no file,
    CertificateError if it is not a certificate (V005), if the output beside it is not the certified
    one or a file is there that it does not cover (V004), if two certificates name the output
    (V015), or if the release is being published, or was published meanwhile (V010).
    """
    location = str(path)
    if is_database(path):
        return (_database_certificate(path),)
    with storage.read_errors(location):
        is_folder = storage.is_folder(location)
        is_of_data = match_format(storage.name(location), ALL_FORMATS)
        is_output = bool(is_of_data) and not certificate_names(location)
        folder = location if is_folder and not is_output else storage.parent(location)
        with guard_publication(folder), storage.read_errors(location):
            files = _files(location, folder, is_output=is_output)
            certificates = (
                folder_certificates(folder) if is_certificate(storage.name(files[0])) else _NONE
            )
            return tuple(
                _load_verified(file, certificates, is_named=file == location) for file in files
            )


def _database_certificate(place: str) -> Certificate:
    """Return the certificate of a table of a database, whose rows are the certified ones."""
    from policy_engine.data.places.database_outputs import place_certificate  # noqa: PLC0415
    from policy_engine.engines.database_tables import stored_rows  # noqa: PLC0415 (slow to import)

    text = place_certificate(place) if is_output_database(place) else None
    if text is None:
        raise DataError.of("C002", f"There is no certificate for {redacted(place)!r}.")
    certificate = read_certificate(text, place)
    check_digest(certificate, stored_rows(place))
    return certificate


def _files(location: str, folder: Location, *, is_output: bool) -> list[Location]:
    """Return the files of the certificates that a path names. Raises DataError (C002) for none."""
    certificate = find_certificate(location) if is_output else None
    if certificate is not None:
        return [certificate[0]]
    names = certificate_names(location) if folder == location else []
    files = [storage.join(location, name) for name in names]
    if not files:
        file = storage.join(location, CERTIFICATE) if storage.is_folder(location) else location
        if not storage.exists(file):
            raise DataError.of("C002", f"There is no certificate {str(file)!r}.")
        files = [file]
    return files


def _load_verified(
    file: Location, certificates: Mapping[str, Certificate], *, is_named: bool
) -> Certificate:
    """Return a certificate, after checking that the files beside it are the certified ones.

    Either the file itself `is_named`, or its folder. `certificates` are those of the folder by
    their names, as far as they can be read.
    """
    folder, name = storage.parent(file), storage.name(file)
    certificate = certificates.get(name) or read_certificate(storage.read_bytes(file), str(file))
    output = storage.join(folder, certificate.file)
    if certificate.file and storage.is_taken(output):
        naming = [one for one, other in certificates.items() if other.file == certificate.file]
        _check_single(certificate.file, naming, folder)
        check_digest(certificate, stored_output(certificate, output))
        if certificate.plan.releases_model:
            _check_nothing_else(file, certificate.file)
    elif certificate.output_digest and certificate.plan.releases_model and not is_named:
        message = f"The model {certificate.file!r} is not beside its certificate."
        raise CertificateError.of("V004", message, source=str(file))
    elif certificate.output_digest and is_certificate(name):
        _check_alone(certificate, folder, {other.file for other in certificates.values()})
    return certificate


def _check_single(output: str, names: Collection[str], folder: Location) -> None:
    """Raise CertificateError (V015) where several certificates name one output."""
    if len(names) > 1:
        message = f"Several certificates name {output!r}: {join_names(names)}."
        hint = "Only one of them can be right. Remove the others."
        raise CertificateError.of("V015", message, hint, str(folder))


def stored_output(certificate: Certificate, output: Location) -> StoredData:
    """Return an output with its digest: a table by its data, one of a database by its rows, a model
    by its whole folder.

    Raises CertificateError (V004) where the folder of a table has another that lists its files.
    """
    if is_database(output):
        from policy_engine.engines.database_tables import stored_rows  # noqa: PLC0415 (slow)

        return stored_rows(str(output))
    if not certificate.plan.releases_model:
        _check_no_log(output)
        return StoredData.from_file(output)
    return StoredData.from_folder(output)


def _check_no_log(output: Location) -> None:
    """Raise CertificateError (V004) where a reader of a table format could see other files."""
    if storage.is_remote(output) or not storage.is_folder(output):
        return
    with storage.read_errors(output):
        log = table_log(storage.local_path(output))
    if log:
        message = f"The output holds {log!r}, by which readers may take other files as its data."
        raise CertificateError.of("V004", message, "Remove it.", str(output))


def _check_alone(certificate: Certificate, folder: Location, files: Collection[str]) -> None:
    """Raise CertificateError (V004) if a file named like the output is there, but not certified.

    A reader who finds both would take that file for the certified output.
    """
    for name in _possible_names(certificate):
        other = storage.join(folder, name)
        if name not in files and storage.exists(other):
            subject = f"for {certificate.file!r}" if certificate.file else "for a table in memory"
            message = f"The certificate is {subject}, not for the output beside it."
            raise CertificateError.of("V004", message, source=str(other))


def _possible_names(certificate: Certificate) -> Iterator[str]:
    asset = local_name(certificate.plan.publish.asset)
    names = (f"{asset}{end}" for end in ("", *(f".{ending}" for ending in ALL_FORMATS)))
    yield from (name for name in names if not name_problem(name))


def _check_nothing_else(file: Location, model: str) -> None:
    """Raise CertificateError (V004) if the folder of a released model contains anything else.

    A reader would take files beside a certified model for part of the release. Folders of data may
    contain other files: whoever keeps a table there knows which one is certified.
    """
    name = storage.name(file)
    # That it was withdrawn is said beside it, and does not make it another one.
    expected = (CERTIFICATE, name, name + WITHDRAWAL, model)
    unexpected = unknown_names(storage.parent(file), expected)
    if unexpected:
        names = format_names(unexpected)
        message = f"The certificate is for the folder {model!r} and does not cover {names} "
        hint = "Remove it: a released model needs a folder of its own."
        raise CertificateError.of("V004", f"{message}beside it.", hint, str(file))


def load_proofs(path: Location) -> tuple[Certificate | Attestation, ...]:
    """Read the proofs of outputs: certificates, as `load_certificates` does, and attestations.

    An attestation is read from its file, or from where `attest` writes it: beside the given output,
    or in the folder. Raises CertificateError, also for one of another file (V004).
    """
    if not isinstance(path, Path):
        return load_certificates(path)
    attestation = load_attestation(path)
    if attestation:
        return (attestation,)
    own_file = path.parent / f"{path.name}{ATTESTATION}"
    attestation = load_attestation(own_file) if path.name and path.exists() else None
    if attestation:
        check_attested([attestation], storage.digest(path), str(path))
        is_certified = find_certificate(path) is not None
        return (attestation, *(load_certificates(path) if is_certified else ()))
    attestations = [load_attestation(file) for file in sorted(path.glob(f"*{ATTESTATION}"))]
    in_folder = tuple(filter(None, attestations))
    return (
        *in_folder,
        *(load_certificates(path) if certificate_names(path) or not in_folder else ()),
    )
