"""Folders that several outputs share, each with a certificate named after it."""

from collections.abc import Collection

from policy_engine.certificate.beside import certificate_names, folder_certificates
from policy_engine.certificate.certificate import Certificate
from policy_engine.data import storage
from policy_engine.data.storage import Location
from policy_engine.errors import OutputError


def check_shared(folder: Location, own: Collection[Location], assets: Collection[str]) -> None:
    """Raise OutputError (O001) if a folder cannot be shared with its current content.

    It cannot if a certificate there cannot be read, is for a released model, or is for another file
    of one of the `assets`, since nobody could tell the two apart. The certificates to be replaced
    are its `own`. Raises OSError.
    """
    certificates = folder_certificates(folder)
    for name in certificate_names(folder):
        file = storage.join(folder, name)
        refusal = "" if file in own else _refusal(certificates.get(name), assets)
        if refusal:
            message = f"{str(file)!r} {refusal}."
            raise OutputError.of("O001", message, "Give each release a folder of its own.")


def _refusal(certificate: Certificate | None, assets: Collection[str]) -> str:
    if certificate is None:
        return "certifies another file, or is not a certificate"
    if certificate.plan.releases_model:
        return f"is for {certificate.file!r}, and a released model needs a folder of its own"
    if certificate.plan.publish.asset in assets:
        return f"certifies another file of {certificate.plan.publish.asset}, {certificate.file!r}"
    return ""
