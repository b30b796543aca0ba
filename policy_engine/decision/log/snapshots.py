"""The state of a log, saved beside it so that not every process has to read the whole log."""

import os
import stat
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

from pydantic_core import from_json

from policy_engine.data.chain.entries import canonical
from policy_engine.data.chain.reading import Mark
from policy_engine.data.chain.rows import open_for_reading
from policy_engine.decision.history import History
from policy_engine.decision.log.chain import Chain
from policy_engine.decision.log.state import LogState

ENDING = ".state"
"""The suffix added to the name of a log."""
LEAST = 512
"""Reading fewer new entries than this is faster than saving the state."""
_FORMAT = 6


def load(path: Path, chain: Chain) -> LogState:
    """Return the state that was saved beside a log, or the state of an empty log.

    A file that cannot be read, belongs to another user or was not made with the log's key is
    ignored. `LogState.read` checks that its mark is still in the log.
    """
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        digest, _, body = _read_snapshot(path).partition(b"\n")
        if digest == chain.digest(body).encode():
            return _parse_snapshot(body, path, chain)
    return LogState(chain, str(path))


def save(state: LogState) -> None:
    """Save a state beside its log if enough entries were added; if that fails, nothing is lost."""
    number = state.mark.number
    if number - state.saved < max(LEAST, state.saved // 8):
        return
    path = Path(state.source)
    place = path.with_name(f"{path.name}{ENDING}")
    draft = path.with_name(f"{place.name}-{token_hex(4)}")
    body = canonical(_snapshot_json(state))
    with suppress(OSError):
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            with os.fdopen(os.open(draft, flags, 0o600), "wb") as file:
                file.write(state.chain.digest(body).encode() + b"\n" + body)
            draft.replace(place)
            state.saved = number
        finally:
            draft.unlink(missing_ok=True)


def _read_snapshot(path: Path) -> bytes:
    """Return the saved state. Raises ValueError if it does not belong to the log's owner."""
    number = open_for_reading(path.with_name(f"{path.name}{ENDING}"))
    with os.fdopen(number, "rb") as file:
        own = os.fstat(number)
        if own.st_uid != path.stat().st_uid or stat.S_IMODE(own.st_mode) & 0o022:
            raise ValueError("somebody else could have written it")
        return file.read()


def _snapshot_json(state: LogState) -> dict[str, Any]:
    mark = state.mark
    return {
        "format": _FORMAT,
        "mark": [mark.number, mark.hash, mark.start],
        "history": state.history.to_json(),
    }


def _parse_snapshot(body: bytes, path: Path, chain: Chain) -> LogState:
    document = from_json(body)
    if document["format"] != _FORMAT:
        raise ValueError("it is of another version")
    mark = Mark(*document["mark"])
    return LogState(chain, str(path), History.from_json(document["history"]), mark, mark.number)
