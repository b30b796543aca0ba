"""The files beside a release until it is published, and how readers recognise them."""

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from policy_engine.data import storage
from policy_engine.data.storage import Location
from policy_engine.errors import CertificateError, OutputError, PolicyEngineError, join_names

CERTIFICATE = "certificate.jsonld"
"""The certificate of an output that is alone in its folder, or was the first there."""
WITHDRAWAL = ".withdrawal"
"""The ending of the statement that withdraws a release, after the name of its certificate."""

PREFIX = ".policy-engine."
STAGING = f"{PREFIX}stage."
"""The prefix of the folder in which an output is written and verified; a random text follows."""
LOCK = f"{PREFIX}lock"
"""The file that a run locks while it works in a folder."""
CLAIM = f"{PREFIX}claim."
"""The prefix of the claim file, for places where files cannot be locked."""
JOURNAL = f"{PREFIX}publishing"
"""The file that is there from the first step of a publication to the last; then staged."""
BACK = f"{PREFIX}back"
"""The mark in a staging folder by which its publication is undone."""
OLD = f"{PREFIX}old."
"""The prefix, in a staging folder, of what is replaced, until all is published."""
RECORD = f"{PREFIX}record."
"""The prefix of the file in which a record is written before it gets its name."""
_STAGING_FOLDER = re.compile(re.escape(STAGING) + "[0-9a-f]{32}")
_CLAIMED = re.compile(re.escape(CLAIM) + "[0-9a-f]{32}")
_SHARED = 0o077
_LONGEST = 255
"""The usual limit of file systems, in bytes."""


def certificate_name(output: str) -> str:
    """Return the certificate's name for an output that shares a folder with others."""
    return f"{output}.{CERTIFICATE}"


def is_certificate(name: str) -> bool:
    """Return whether a name is one that runs give to certificates."""
    return f".{name.lower()}".endswith(f".{CERTIFICATE}")


def is_staging_folder(name: str) -> bool:
    """Return whether a name is one that runs give to staging folders."""
    return _STAGING_FOLDER.fullmatch(name) is not None


def unknown_names(folder: Location, released: Collection[str]) -> tuple[str, ...]:
    """Return the names in a folder that belong neither to a release nor to a run.

    A staging folder belongs to a run as long as nobody else may read it. Raises OSError.
    """
    names = (name for name in storage.names(folder) if name not in released)
    return tuple(name for name in names if not _is_of_run(folder, name))


def format_names(names: Sequence[str]) -> str:
    """Return the first of some file names, and the number of the others."""
    if len(names) <= _TOLD:
        return join_names(names)
    return f"{', '.join(map(repr, names[:_TOLD]))} and {len(names) - _TOLD} more"


_TOLD = 3


def _is_of_run(folder: Location, name: str) -> bool:
    if is_staging_folder(name):
        path = storage.join(folder, name)
        return storage.is_remote(path) or not storage.local_path(path).lstat().st_mode & _SHARED
    return name in (LOCK, JOURNAL) or _CLAIMED.fullmatch(name) is not None


def name_problem(name: str) -> str:
    """Return why a name cannot be that of an output or a record; empty if it can.

    This is the only definition: publications, journals and certificates use it.
    """
    if name in ("", ".", ".."):
        return "names no file"
    if name.lower().startswith(PREFIX):
        return f"begins with {PREFIX!r}, which is reserved for the files of runs"
    if is_certificate(name):
        return "is that of a certificate"
    if any(one in "/\\" or unicodedata.category(one) in ("Cc", "Cs") for one in name):
        return "has a slash, a backslash, or a character that text cannot have"
    if len(name.encode()) > _LONGEST:
        return f"has more than {_LONGEST} bytes"
    return ""


def check_name(name: str, subject: str) -> None:
    """Raise OutputError (O002) if a name cannot be that of an output or a record."""
    problem = name_problem(name)
    if problem:
        name_shown = name if len(name) <= _SHOWN else f"{name[:_SHOWN]}..."
        message = f"{subject} cannot be named {name_shown!r}: that {problem}."
        raise OutputError.of("O002", message, "Give another name.")


_SHOWN = 60


def check_publication(folder: Location) -> None:
    """Raise CertificateError (V010) if a release is half published into a folder.

    Its certificate may then be there without its output. If the run that began the publication was
    killed, the next run into the folder completes it.
    """
    if storage.is_taken(storage.join(folder, JOURNAL)):
        message = (
            f"A release is being published into {str(folder)!r}, or the run doing so was killed."
        )
        hint = (
            "Try again; if that run has ended, policy-engine apply into this folder completes it."
        )
        raise CertificateError.of("V010", message, hint)


@contextmanager
def guard_publication(folder: Location) -> Iterator[None]:
    """Raise CertificateError (V010) if a release is half published into a folder.

    The same error replaces any other if a release was published meanwhile, since the certificate
    and the output may then belong to two releases.
    """
    with storage.read_errors(folder):
        check_publication(folder)
    before = _certificates(folder)
    try:
        yield
    except PolicyEngineError:
        with storage.read_errors(folder):
            check_publication(folder)
        if _certificates(folder) != before:
            message = f"A release was published into {str(folder)!r} in the meantime."
            raise CertificateError.of("V010", message, "Try again.") from None
        raise


def _certificates(folder: Location) -> list[tuple[str, bytes]] | None:
    try:
        names = [name for name in storage.names(folder) if is_certificate(name)]
        return [(name, storage.read_bytes(storage.join(folder, name))) for name in names]
    except (OSError, ValueError):
        return None
