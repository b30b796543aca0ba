"""Released generators, opened by whoever has them."""

from pathlib import Path

from policy_engine.api.arguments import check_arguments
from policy_engine.certificate.beside import find_certificate, single_output
from policy_engine.certificate.certificate import check_digest
from policy_engine.data.storage import local_path
from policy_engine.engines.engine import StoredData
from policy_engine.engines.synthesising.generator_files import DESCRIPTION, read_generator
from policy_engine.engines.synthesising.released_generator import ReleasedGenerator


@check_arguments
def load_generator(path: str | Path) -> ReleasedGenerator:
    """Return a generator that was released, which draws rows: `load_generator(path).sample(1000)`.

    The path is that of its folder, or of the folder that holds it and its certificate. Nothing in
    its files is run. Raises DataError where a file is not there (C002) or cannot be read (C003),
    or where the files are not those of one generator (C017); CertificateError (V004) where the
    certificate beside it is for another one.
    """
    folder = Path(path)
    if not (folder / DESCRIPTION).exists():
        folder = Path(local_path(single_output(folder)))
    adjacent = find_certificate(folder)
    if adjacent is not None:
        check_digest(adjacent[1], StoredData.from_folder(folder))
    return read_generator(folder)
