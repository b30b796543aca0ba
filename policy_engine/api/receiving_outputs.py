"""Folders of outputs that are sent to who reviews them, and how a reviewer sees them."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from policy_engine.api.folder_pages import write_pages
from policy_engine.data.keys import Key
from policy_engine.release.output_folder.archives import read_archive
from policy_engine.release.output_folder.folder import OutputFolder, write_folder
from policy_engine.release.output_folder.model import StoredFile

_MOST_ROWS = 200
_MOST_COLUMNS = 100
_MOST_BYTES = 2**18
_MOST_LETTERS = 10_000
_MOST_TABLES = 50
"""So many rows and columns of a table are shown, of so many bytes of its file, with so many letters
in a cell, and so many tables of a folder; its file has all."""


@dataclass(frozen=True)
class TablePreview:
    """The first rows and columns of a table as texts, and the path of its file in the folder.

    It `is_cut` if there are more. One that `is_unreadable` is not shown at all: it is to be looked
    at as a file. A cell that is missing is withheld.
    """

    name: str
    path: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    is_cut: bool = False
    is_unreadable: bool = False


def receive_outputs(
    archive: BinaryIO, folder: str | Path, *, by: str, key: Key = None
) -> OutputFolder:
    """Return a new folder with the outputs in a zip archive, made elsewhere, for a checker.

    What it says of its outputs is what who sent it says: so each is for review, even where it says
    that the rules release it. Its log begins anew, with who sends it, under a `key`. Raises
    LedgerError (K027) for what is not such an archive, OutputError (O001, O002) where there is
    something or it cannot be written.
    """
    content = read_archive(archive)
    outputs = [one.model_copy(update={"status": "review"}) for one in content.submission.outputs]
    submission = content.submission.model_copy(update={"outputs": tuple(outputs)})
    content = replace(content, submission=submission)
    files = {**content.files, **write_pages(content)}
    write_folder(Path(folder), submission, content.evidence, files, by=by, key=key)
    return OutputFolder.read(Path(folder), key)


def preview_tables(read: OutputFolder, files: tuple[StoredFile, ...]) -> Iterator[TablePreview]:
    """Yield the tables among some files of a folder, as they may be shown: one that cannot be is
    said to be `unreadable`.

    Raises LedgerError (K027) for a file that is not there.
    """
    paths = (file.path for one in read.submission.outputs for file in (*one.whole, *one.files))
    leading = {*islice((one for one in paths if one.endswith(".csv")), _MOST_TABLES)}
    for one in files:
        if one.path in leading:
            yield _preview(one.path, read.content(one.path, _MOST_BYTES + 1))
        elif one.path.endswith(".csv"):
            yield _unreadable(one.path)


def _preview(path: str, content: bytes) -> TablePreview:
    """Return the beginning of a table."""
    is_cut = len(content) > _MOST_BYTES
    if is_cut:
        # The last line may be half of one.
        content = content[: content.rfind(b"\n", 0, _MOST_BYTES) + 1]
    rows = csv.reader(io.StringIO(content.decode("utf-8", "replace"), newline=""))
    try:
        lines = [*islice(rows, _MOST_ROWS + 2)]
    except (csv.Error, ValueError):
        lines = []
    if not lines or max(map(_widest, lines)) > _MOST_LETTERS:
        return _unreadable(path)
    width = max(map(len, lines))
    is_cut = is_cut or len(lines) > _MOST_ROWS + 1 or width > _MOST_COLUMNS
    head, *first = (line[:_MOST_COLUMNS] for line in lines[: _MOST_ROWS + 1])
    texts = tuple(tuple(cell or None for cell in row) for row in first)
    return TablePreview(Path(path).stem, path, tuple(head), texts, is_cut)


def _unreadable(path: str) -> TablePreview:
    return TablePreview(Path(path).stem, path, (), (), is_cut=True, is_unreadable=True)


def _widest(row: list[str]) -> int:
    return max(map(len, row), default=0)
