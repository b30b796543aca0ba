"""Folders of outputs that come as one file: read without trust, and written anew."""

import hashlib
import re
import stat
import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, LargeZipFile, ZipFile, ZipInfo

from pydantic import ValidationError

from policy_engine.errors import LedgerError, PolicyEngineError
from policy_engine.release.output_folder.folder import (
    CHECKER_PAGE,
    EVIDENCE,
    OUTPUTS,
    RESEARCHER_PAGE,
)
from policy_engine.release.output_folder.model import FolderEvidence, Submission
from policy_engine.release.output_folder.prepared import FILES, WHOLE, FolderContent
from policy_engine.release.output_folder.said import is_well_said
from policy_engine.release.output_folder.steps import LOG

MOST_MEMBERS, MOST_BYTES = 2_000, 64 * 2**20
"""How many files a folder has, and how many bytes all of them have together."""
MOST_SAID = 2**20
"""How many bytes each of the two files has that say what the outputs are: what is read of them
takes many times as much memory, each time."""
_LEFT_OUT = {LOG, CHECKER_PAGE, RESEARCHER_PAGE}
"""What an archive may have and is not read: who receives it keeps a log, and makes pages, of their
own."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\- ]{0,149}")
_CHUNK = 2**16


def read_archive(file: BinaryIO) -> FolderContent:
    """Return what a zip archive of a folder of outputs holds, without its log and its pages.

    Nothing is written, and no path of the archive is used. Raises LedgerError (K027) for one that
    is not such an archive, is too large, has other files than the folder says, or that were
    changed, and for answers to queries, which are submitted where they were asked.
    """
    try:
        with ZipFile(file) as archive:
            texts = dict(_members(archive))
    except (BadZipFile, LargeZipFile, NotImplementedError, RuntimeError, EOFError, OSError):
        raise _refused("it is not a zip archive that can be read") from None
    except (ValueError, zlib.error):
        raise _refused("a part of it is damaged") from None
    try:
        submission = Submission.model_validate_json(texts.pop(OUTPUTS, b""))
        evidence = FolderEvidence.model_validate_json(texts.pop(EVIDENCE, b""))
    except (ValidationError, RecursionError):
        raise _refused("it does not say what its outputs are") from None
    _check_outputs(submission, evidence, texts)
    return FolderContent(submission, evidence, texts)


def _members(archive: ZipFile) -> Iterator[tuple[str, bytes]]:
    """Yield the files of an archive that are read, by their paths in the folder."""
    members = [one for one in archive.infolist() if not one.is_dir()]
    if len(members) > MOST_MEMBERS:
        raise _refused(f"it has more than {MOST_MEMBERS:,} files")
    top = _top(members)
    total, names = 0, set[str]()
    for one in members:
        path = PurePosixPath(one.filename.removeprefix(top))
        kind = stat.S_IFMT(one.external_attr >> 16)
        is_packed = one.compress_type in (ZIP_STORED, ZIP_DEFLATED)
        if one.flag_bits & 1 or kind not in (0, stat.S_IFREG) or not is_packed:
            raise _refused("it has a link, or a file that is encrypted or packed in another way")
        if str(path) in names or not _is_known(path):
            raise _refused("it has a file that no folder of outputs has")
        names.add(str(path))
        if str(path) not in _LEFT_OUT:
            left = MOST_BYTES - total
            is_said = str(path) in (OUTPUTS, EVIDENCE)
            text = _read(archive, one, min(left, MOST_SAID) if is_said else left)
            total += len(text)
            yield str(path), text


def _top(members: list[ZipInfo]) -> str:
    """Return the one folder that all members are in, if `zip -r` was told its name."""
    first = {one.filename.partition("/")[0] for one in members}
    is_inside = all("/" in one.filename for one in members)
    return f"{first.pop()}/" if len(first) == 1 and is_inside else ""


def _is_known(path: PurePosixPath) -> bool:
    parts = path.parts
    if len(parts) == 1:
        return parts[0] in {OUTPUTS, EVIDENCE, *_LEFT_OUT}
    return len(parts) == 2 and parts[0] in (FILES, WHOLE) and bool(_NAME.fullmatch(parts[1]))


def _read(archive: ZipFile, member: ZipInfo, left: int) -> bytes:
    """Return a file, of which no more is unpacked than there is room for, whatever it says."""
    text = bytearray()
    with archive.open(member) as file:
        while chunk := file.read(_CHUNK):
            text += chunk
            if len(text) > left:
                raise _refused(
                    f"its files have more than {MOST_BYTES:,} bytes, or those with what it says of "
                    f"its outputs more than {MOST_SAID:,}"
                )
    return bytes(text)


def _check_outputs(
    submission: Submission, evidence: FolderEvidence, texts: dict[str, bytes]
) -> None:
    """Check that the files are just those that the folder says, and that each output has them."""
    if submission.question is not None:
        raise _refused("it has the answer to a query, which is sent for review where it was asked")
    if not is_well_said(submission, evidence):
        raise _refused("what it says of its outputs has another form than what is written")
    names = [one.name for one in submission.outputs]
    if not names or len({one.lower() for one in names}) < len(names):
        raise _refused("it has no outputs, or two of one name")
    if [one.name for one in evidence.outputs] != names:
        raise _refused("its evidence is of other outputs")
    named = [file for one in submission.outputs for file in (*one.files, *one.whole)]
    files = {file.path: file for file in named}
    if len(files) < len(named):
        raise _refused("two of its outputs name one file")
    if set(files) != set(texts):
        raise _refused("its files are others than it says")
    for path, file in files.items():
        if hashlib.sha256(texts[path]).hexdigest() != file.sha256:
            raise _refused(f"{path!r} was changed")


def _refused(why: str) -> PolicyEngineError:
    message = f"The archive is not a folder of outputs: {why}."
    hint = "Pack the folder that a session or `check --out` wrote: zip -r outputs.zip FOLDER."
    return LedgerError.of("K027", message, hint)
