"""Replaces an earlier certificate beside an output that stays unchanged."""

from collections.abc import Callable

from policy_engine.certificate.beside import find_certificate
from policy_engine.certificate.certificate import Certificate, check_digest, readable_text
from policy_engine.data import storage
from policy_engine.data.atomic_file import write_file
from policy_engine.data.storage import Location, write_errors
from policy_engine.engines.engine import StoredData
from policy_engine.errors import DataError
from policy_engine.release.locking import hold
from policy_engine.release.staging import check_publication


def renew(output: Location, certificate: Certificate, stored: Callable[[], StoredData]) -> None:
    """Write a certificate beside its output in one step: readers find the old or the new one.

    No other run makes a release there meanwhile, and the output is checked once more (`stored`).
    Raises DataError (C002) if no certificate names the output, OutputError (O001) if another run is
    at work, CertificateError (V004) if the output is no longer the one that was measured.
    """
    folder = storage.parent(output)
    with write_errors(output):
        folder_hold = hold(folder)
        try:
            check_publication(folder)
            existing = find_certificate(output)
            if existing is None:
                message = f"There is no certificate beside {str(output)!r} to renew."
                hint = "Only policy-engine apply can certify how an output was made."
                raise DataError.of("C002", message, hint)
            location, _ = existing
            check_digest(certificate, stored())
            text = readable_text(certificate)
            if storage.is_remote(location):
                storage.write_bytes(location, text.encode())
            else:
                write_file(storage.local_path(location), text)
        finally:
            folder_hold.release()
