"""Released generators, opened by whoever has them."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from policy_engine.api.arguments import check_arguments
from policy_engine.api.deciding import StatusSource, TrustSource
from policy_engine.api.trusting import trusted_proofs
from policy_engine.certificate.beside import (
    certificate_names,
    find_certificate,
    single_output,
)
from policy_engine.certificate.certificate import Certificate, check_digest, read_certificate
from policy_engine.data import storage
from policy_engine.data.storage import local_path
from policy_engine.engines.engine import StoredData
from policy_engine.engines.synthesising.generator_files import DESCRIPTION, read_generator
from policy_engine.engines.synthesising.released_generator import ReleasedGenerator
from policy_engine.errors import CertificateError, OutputError
from policy_engine.release.staging import CERTIFICATE

_OTHER_FORM = "generator.keras"
"""A folder of that has a certificate of its own, or none."""
UNCERTIFIED = (
    "no certificate is beside the generator: nothing says who released it, nor what was measured "
    "of it."
)


@check_arguments
def load_generator(
    path: str | Path, *, trust: TrustSource | None = None, status: Sequence[StatusSource] = ()
) -> ReleasedGenerator:
    """Return a generator that was released, which draws rows: `load_generator(path).sample(1000)`.

    The path is that of its folder, or of the folder that holds it and its certificate; whatever
    leads there. Nothing in its files is run. `is_certified` says whether a certificate is beside
    it: without one, nothing says where the files come from. Under a `trust` (see `load_trust`),
    there has to be one that it covers; none may be withdrawn by a `status`, or by a statement
    beside it (see `decide_request`).

    Raises DataError where a file is not there (C002) or cannot be read (C003), or where the files
    are not those of one generator (C017); CertificateError where the certificate beside it is for
    another one, or for one that is not there (V004), where a certificate there cannot be read
    (V005), where several name it (V015), or for one that does not count, as `trusted_proofs` does.
    """
    folder = Path(path)
    if not (folder / DESCRIPTION).exists() or _has_certificates(folder):
        # What else lies in the folder of a release is not what was certified.
        folder = Path(local_path(single_output(folder)))
    places = dict.fromkeys([folder.resolve(), folder.parent.resolve() / folder.name])
    certificates = [one for one in map(_certificate_of, places) if one is not None]
    for one in certificates:
        check_digest(one, StoredData.from_folder(folder.resolve()))
    if trust is not None and not certificates:
        message = "No certificate is beside the generator, and only what is signed counts."
        hint = "Give the folder of the release, or no trust file."
        raise CertificateError.of("Y009", message, hint, str(folder))
    trusted_proofs(certificates, trust, status, data=places)
    generator = read_generator(folder)
    return replace(generator, is_certified=bool(certificates))


def _has_certificates(folder: Path) -> bool:
    with storage.read_errors(folder):
        return bool(certificate_names(folder))


def _certificate_of(folder: Path) -> Certificate | None:
    """Return the certificate beside a folder, None where there is none at all for a model.

    Raises CertificateError (V004) where one is for another model, there or not: a released model
    has a folder of its own, and this may be it under another name.
    """
    with storage.read_errors(folder):
        files = [folder.parent / name for name in certificate_names(folder.parent)]
        others = [read_certificate(storage.read_bytes(one), str(one)) for one in files]
    adjacent = find_certificate(folder)
    if adjacent is not None:
        return adjacent[1]
    for file, one in zip(files, others, strict=True):
        if one.plan.releases_model:
            message = f"The certificate is for the model {one.file!r}, not for {folder.name!r}."
            hint = "Give the folder the name that it was released by, or take it elsewhere."
            raise CertificateError.of("V004", message, hint, source=str(file))
    return None


# -- for what uses generators ----------------------------------------------------------------------


def opened_generators(
    model: Any, trust: TrustSource | None = None, status: Sequence[StatusSource] = ()
) -> Any:
    """Return a model, or a list of models, with each path of a released generator opened.

    Raises as `load_generator` does.
    """
    if isinstance(model, list | tuple):
        return [opened_generators(one, trust, status) for one in model]
    # Under a trust file no file that is put there makes a model of its own of a certified folder.
    is_certified = trust is not None and isinstance(model, str | Path) and _is_certified(model)
    is_released = is_certified or _is_of_generator(model)
    return load_generator(model, trust=trust, status=status) if is_released else model


def is_release(*models: Any) -> bool:
    """Tell whether one of some models is a generator that was released."""
    return any(map(_is_of_generator, models))


def _is_of_generator(model: Any) -> bool:
    if not isinstance(model, str | Path):
        return False
    folder = Path(model)
    is_release = folder.is_dir() and not (folder / _OTHER_FORM).exists()
    return (folder / DESCRIPTION).is_file() or (is_release and _has_certificates(folder))


def _is_certified(folder: str | Path) -> bool:
    return Path(folder).is_dir() and _has_certificates(Path(folder))


def release_around(path: Path) -> Path | None:
    """Return the folder of a release in which a file would lie, or below which: one that holds a
    certificate, or a generator. None where there is none."""
    place = path.resolve()
    for folder in (place, *place.parents):
        with suppress(OSError):
            names = {one.name.lower() for one in folder.iterdir()}
            if DESCRIPTION in names or any(one.endswith(CERTIFICATE) for one in names):
                return folder
    return None


def check_outside_release(path: Path, subject: str) -> None:
    """Raise OutputError (O001) where a file would lie in the folder of a release."""
    folder = release_around(path)
    if folder is not None:
        message = f"{subject} would lie with a release, in {str(folder)!r}, and break it."
        raise OutputError.of("O001", message, "Give a place outside it.", source=str(path))
