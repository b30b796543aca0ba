"""The most exposed rows of an original: a file for its owner alone."""

import csv
import io
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.data.atomic_file import write_file
from policy_engine.engines.arrays import from_numpy
from policy_engine.errors import OutputError

Floats = NDArray[np.float64]
_DECIMALS = 6


def check_private(path: Path, releases: Sequence[Path], inputs: Sequence[Path]) -> None:
    """Raise OutputError (O001) where a file is not a place for figures of single records.

    It lies in the folder of a release, is one of the inputs, or exists and others than its owner
    may use it.
    """
    for release in releases:
        folder = release.parent.resolve()
        if folder in path.resolve().parents:
            message = f"Figures of single records would lie beside the release, in {str(folder)!r}."
            raise OutputError.of("O001", message, "Give a path outside it.", source=str(path))
    if any(path.exists() and path.samefile(source) for source in inputs):
        message = f"The output {str(path)!r} is the input itself."
        raise OutputError.of("O001", message, "Give another path.")
    if path.exists() and stat.S_IMODE(path.stat().st_mode) & 0o177:
        message = "The file exists, and others than its owner may use it."
        raise OutputError.of("O001", message, "Give a new one, or mode 0600.", source=str(path))


def check_outside(folder: Path, releases: Sequence[Path]) -> None:
    """Raise OutputError (O001) where a folder for the owner's figures is that of a release."""
    places = [place.resolve() for release in releases for place in (release, release.parent)]
    if folder.resolve() in places:
        message = "Figures for the owner of the original would lie beside the release, in "
        message += f"{str(folder.resolve())!r}."
        raise OutputError.of("O001", message, "Give a folder outside it.", source=str(folder))


def numbered_rows(rows: int) -> pa.Table:
    """Return the numbers of rows from 1 on, where no columns tell them apart."""
    return pa.table({"row": from_numpy(np.arange(1, rows + 1))})


def write_records(path: Path, keys: pa.Table, links: Mapping[str, Floats]) -> None:
    """Write the rows that some attack links with a probability above 0, the most exposed first.

    `keys` are the columns that tell rows apart, `links` (rows,) by attack. Only the owner can read
    the file. Raises OutputError (O002) where it cannot be written.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*keys.column_names, *links])
    writer.writerows(_rows(keys, list(links.values())))
    write_file(path, text.getvalue(), private=True)


def _rows(keys: pa.Table, links: Sequence[Floats]) -> list[tuple[object, ...]]:
    if not links:
        return []
    shares = np.column_stack(links).round(_DECIMALS)
    exposed = np.flatnonzero(shares.max(axis=1) > 0)
    named = zip(*(column.take(exposed).to_pylist() for column in keys.columns), strict=True)
    rows = [(*key, *row) for key, row in zip(named, shares[exposed].tolist(), strict=True)]
    count = len(links)
    return sorted(rows, key=lambda row: (-max(row[-count:]), -sum(row[-count:]), str(row[:-count])))
