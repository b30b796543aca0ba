"""Data of other machines and of catalog files, for as long as a block."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from policy_engine.data.csv_format import CsvFormat, csv_files_as
from policy_engine.data.declared_types import columns_as
from policy_engine.data.places.copies import copying
from policy_engine.data.places.spelling import is_database, is_place
from policy_engine.data.table_files import READ_FORMATS, is_file, match_format, missing_file
from policy_engine.errors import DataError
from policy_engine.policy import read_file
from policy_engine.policy.data_catalogs import MEDIA_TYPES, DescribedData, read_data_catalog


@contextmanager
def fetch_data(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Give data by IRI with files in the place of what is on other machines, within the block.

    Fetched is what is behind `https://`, and behind `s3://`, `gs://` and `abfs://` by Arrow's
    file systems; all else stays as it is. The copies are the caller's alone; records call them by
    their places. Raises DataError where there is no such file (C002), or it cannot be had (C019).
    """
    with copying() as copy:
        yield {iri: copy(one) if _is_away(one) else one for iri, one in data.items()}


def _is_away(source: Any) -> bool:
    return is_place(source) and not is_database(source)


@contextmanager
def open_catalog(path: str | Path) -> Iterator[dict[str, str]]:
    """Give the data of a catalog file, {iri: place}, to be passed on within the block.

    There, its files are read as the catalog says that they are written; those of other machines are
    fetched as `fetch_data` does. The file has the terms of DCAT and CSVW, in JSON-LD or YAML;
    relative paths are from its folder. Raises DataError where it is missing (C002), or has anything
    that is not known (C020), each problem with its place.
    """
    file = Path(path)
    if not is_file(file):
        raise missing_file(file)
    datasets = read_data_catalog(read_file(file), file)
    with ExitStack() as stack:
        copy = stack.enter_context(copying())
        data = {}
        for described in datasets:
            endings = MEDIA_TYPES.get(described.media_type, ())
            one = described
            if _is_away(described.place):
                one = replace(described, place=str(copy(described.place, endings)))
            _check_format(one)
            if one.form != CsvFormat():
                stack.enter_context(csv_files_as(one.form, one.place))
            if one.types:
                stack.enter_context(columns_as(one.types, one.place))
            data[one.iri] = one.place
        yield data


def _check_format(one: DescribedData) -> None:
    """Raise DataError (C020) where a file has not the ending of its media type, or its format has
    types and cells of its own."""
    ending = "" if is_place(one.place) else match_format(Path(one.place).name, READ_FORMATS) or ""
    endings = MEDIA_TYPES.get(one.media_type)
    if endings and ending not in endings:
        message = f"The data of {one.iri!r} do not end as {one.media_type!r} does."
        raise DataError.of("C020", message, f"Name the file as in people.{endings[0]}.")
    if (one.types or one.form != CsvFormat()) and not ending.startswith("csv"):
        message = f"The data of {one.iri!r} are not CSV: they have types and cells of their own."
        raise DataError.of("C020", message, "Leave 'dialect' and 'tableSchema' out.")
