"""Keys of owners: for pseudonyms, for masking, and for the chains of logs and ledgers."""

import os
from pathlib import Path

from policy_engine.data.table_files import is_file, unreadable_file
from policy_engine.errors import DataError

Key = str | Path | bytes | None
LEAST_KEY = 32


def read_key(key: Key) -> bytes | None:
    """Return the given key, or that of the environment: a text without blanks around it, and any
    other bytes as they are.

    Raises DataError (C013) where its file does not exist, it is neither bytes nor a path, or it is
    given and empty.
    """
    if key is None:
        return os.environ.get("POLICY_ENGINE_KEY", "").encode().strip() or None
    if isinstance(key, str | Path):
        path = Path(key)
        if not is_file(path):
            what = "is not a file" if path.exists() else "does not exist"
            raise DataError.of("C013", f"The key file {str(path)!r} {what}.")
        try:
            key = path.read_bytes()
        except OSError as error:
            raise unreadable_file(path, error) from None
    elif not isinstance(key, bytes):
        message = f"A {type(key).__name__} is not a key. Allowed are bytes, or the path of a file."
        raise DataError.of("C013", message)
    if not key.strip():
        message = "The key has no bytes: no key is given."
        raise DataError.of("C013", message, "Make one: openssl rand -hex 32 > key.")
    return _without_blanks(key)


def read_chain_key(source: Key) -> bytes | None:
    """Return the key of a chain: the given bytes, or a file's content; of a text, without the
    blanks around it.

    Only an explicit key counts. The environment's key is for pseudonyms: an auditor who checks a
    log must not be able to look those up. Raises DataError (C013) if the key is missing or too
    short.
    """
    if source is None:
        return None

    key = read_key(source) or b""
    if len(key) < LEAST_KEY:
        message = f"The key has {len(key)} bytes. A key has at least {LEAST_KEY}."
        raise DataError.of("C013", message, "Make one: openssl rand -hex 32 > key.")
    return key


def _without_blanks(key: bytes) -> bytes:
    """Return a key without the blanks around a text, such as the newline at the end of its file;
    in random bytes, whose first or last may look like one, each counts."""
    try:
        key.decode()
    except UnicodeDecodeError:
        return key
    return key.strip()
