"""A certificate in the place of an earlier one, beside an output that stays as it is."""

from collections.abc import Callable

from policy_engine import storage
from policy_engine.certificate import FILE_NAME, Certificate, check_digest, read_certificate
from policy_engine.engines.engine import Stored
from policy_engine.errors import CertificateError, DataError, OutputError
from policy_engine.publication.holding import hold
from policy_engine.staging import check_settled
from policy_engine.storage import Place, writing
from policy_engine.writing import write_whole


def renew(output: Place, certificate: Certificate, stored: Callable[[], Stored]) -> None:
    """Write a certificate beside its output, in one step: whoever reads finds one or the other.

    No run makes a release there meanwhile, and the output is looked at once more (`stored`).
    Raises DataError (C002) where there is none, OutputError (O001) where another run is at work or
    the certificate there is of another file, CertificateError (V004) where the output is not the
    one that was measured any more.
    """
    folder = storage.parent(output)
    place = storage.join(folder, FILE_NAME)
    with writing(place):
        held = hold(folder)
        try:
            check_settled(folder)
            if not storage.is_taken(place):
                message = f"No certificate lies beside {str(output)!r}, to be renewed."
                hint = "How an output was made is told by apply, which certifies what it makes."
                raise DataError.of("C002", message, hint)
            if _file_of(place) != storage.name(output):
                message = f"{str(place)!r} certifies another file, or is no certificate."
                hint = "Give each release a folder of its own."
                raise OutputError.of("O001", message, hint)
            check_digest(certificate, stored())
            text = certificate.to_jsonld()
            if storage.is_remote(place):
                storage.write_bytes(place, text.encode())
            else:
                write_whole(storage.local_path(place), text)
        finally:
            held.release()


def _file_of(place: Place) -> str:
    try:
        return read_certificate(storage.read_bytes(place)).file
    except CertificateError:
        return ""
