"""Data by a catalog file: where each dataset is, and how it is written."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from policy_engine.data.csv_format import CsvFormat, csv_files_as
from policy_engine.data.declared_types import columns_as
from policy_engine.data.places.spelling import is_place
from policy_engine.data.table_files import READ_FORMATS, is_file, match_format, missing_file
from policy_engine.errors import DataError
from policy_engine.policy import read_file
from policy_engine.policy.data_catalogs import MEDIA_TYPES, DescribedData, read_data_catalog


@contextmanager
def open_catalog(path: str | Path) -> Iterator[dict[str, str]]:
    """Give the data of a catalog file, {iri: place}, to be passed on within the block.

    There, its files are read as the catalog says that they are written. The file has the terms of
    DCAT and CSVW, in JSON-LD or YAML; relative paths are from its folder. Raises DataError where it
    is missing (C002), or has anything that is not known (C020), each problem with its place.
    """
    file = Path(path)
    if not is_file(file):
        raise missing_file(file)
    datasets = read_data_catalog(read_file(file), file)
    with ExitStack() as stack:
        for one in datasets:
            _check_format(one)
            if one.form != CsvFormat():
                stack.enter_context(csv_files_as(one.form, one.place))
            if one.types:
                stack.enter_context(columns_as(one.types, one.place))
        yield {one.iri: one.place for one in datasets}


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
