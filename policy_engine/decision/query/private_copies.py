"""Private copies of certified data: what is hashed is what is read, whoever writes the original."""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from policy_engine.data.catalog import MEMORY, Dataset
from policy_engine.data.folder_contents import check_no_links
from policy_engine.data.places.patterns import is_pattern, matching_files, pattern_folder
from policy_engine.data.sheets import split_sheet
from policy_engine.data.storage import data_files, open_to_read, read_errors
from policy_engine.decision.query.query_request import QueryRequest
from policy_engine.decision.query.rewriting import TableView
from policy_engine.decision.query.tables import Tables
from policy_engine.errors import PolicyEngineError

_PIECE = 2**20
_NO_ROOM = "the folder for temporary files has no room for a private copy"


@contextmanager
def private_copies(
    views: Mapping[str, TableView], tables: Tables, asker: QueryRequest
) -> Iterator[tuple[Tables, QueryRequest]]:
    """Yield tables, and who asks, with a private copy of each certified file that views read.

    Between hashing a file by its path and reading it by its path, another may be put there, and
    the first put back before it is hashed again. The copies are in a folder that only this user can
    read, and are removed afterwards; data that needs no certificate is not copied. What is told of
    a copy names the original. Raises DataError (C003) where a file cannot be read, or there is no
    room for its copy.
    """
    datasets = {one.iri: one for one in map(asker.dataset, views)}
    certified = [
        one for one in datasets.values() if one.location != MEMORY and asker.is_certified(one)
    ]
    if not certified:
        yield tables, asker
        return
    with TemporaryDirectory(prefix="policy-engine-copy-") as folder:
        copies = {}
        for number, dataset in enumerate(certified):
            place = Path(folder, str(number))
            place.mkdir(mode=0o700)
            with read_errors(dataset.location):
                copies[dataset.iri] = _copy(dataset, place)
        parts = {part.iri: part for one in copies.values() for part in one.parts()}
        catalog = tables.catalog
        catalog = replace(
            catalog, datasets=tuple(parts.get(one.iri, one) for one in catalog.datasets)
        )
        assets = {iri: copies.get(one.iri, one) for iri, one in asker.assets.items()}
        originals = {copies[one.iri].location: one.location for one in certified}
        try:
            yield Tables(catalog), replace(asker, assets=assets)
        except PolicyEngineError as error:
            raise _of_originals(error, originals) from None


def _copy(dataset: Dataset, place: Path) -> Dataset:
    """Return a dataset with its files copied to an empty folder. Raises OSError."""
    path = Path(dataset.location)
    if is_pattern(path):
        root = pattern_folder(path)
        files = {one: place / one.relative_to(root) for one in matching_files(path)}
        _copy_files(files)
        return dataset._replace(location=str(place / path.relative_to(root)))
    copy = place / path.name
    if path.is_dir():
        check_no_links(path)
        copy.mkdir()
        _copy_files({path / name: copy / name for name in data_files(path)})
        tables = {
            name: one._replace(location=str(copy / Path(one.location).relative_to(path)))
            for name, one in dataset.tables.items()
        }
        return dataset._replace(location=str(copy), tables=tables)
    file, _ = split_sheet(path)
    _copy_files({file: place / file.name})
    return dataset._replace(location=str(copy))


def _copy_files(files: Mapping[Path, Path]) -> None:
    """Copy files, where there is room for all. Raises OSError."""
    for source, copy in files.items():
        copy.parent.mkdir(parents=True, exist_ok=True)
        with open_to_read(source) as data, copy.open("xb") as written:
            size = os.fstat(data.fileno()).st_size
            room = shutil.disk_usage(copy.parent).free
            if size > room:
                raise OSError(f"{_NO_ROOM} of {size:,} bytes")
            while piece := data.read(_PIECE):
                room -= len(piece)
                if room < 0:
                    raise OSError(_NO_ROOM)
                written.write(piece)


def _of_originals(error: PolicyEngineError, originals: Mapping[str, str]) -> PolicyEngineError:
    """Return an error on copies as one on their originals."""

    def named(text: str) -> str:
        for copy, original in originals.items():
            text = text.replace(copy, original)
        return text

    problems = [
        replace(one, message=named(one.message), hint=named(one.hint)) for one in error.problems
    ]
    return type(error)(*problems, source=named(error.source))
