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
"""So many rows of a table are shown; its file has all."""


@dataclass(frozen=True)
class TablePreview:
    """The first rows of a table as texts; it `is_cut` if there are more. A cell that is missing is
    withheld."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    is_cut: bool = False


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
    """Yield the tables among some files of a folder, as they may be shown.

    Raises LedgerError (K027) for a file that is not there.
    """
    for one in files:
        if not one.path.endswith(".csv"):
            continue
        text = read.content(one.path).decode("utf-8", "replace")
        rows = csv.reader(io.StringIO(text))
        try:
            head, *first = islice(rows, _MOST_ROWS + 2)
        except (csv.Error, ValueError):
            continue
        texts = tuple(tuple(cell or None for cell in row) for row in first[:_MOST_ROWS])
        name = Path(one.path).stem
        yield TablePreview(name, tuple(head), texts, len(first) > _MOST_ROWS)
