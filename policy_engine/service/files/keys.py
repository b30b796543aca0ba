"""The keys of the service's chains and of its noise: made once, read by their owner alone."""

import os
import secrets
from pathlib import Path

_BYTES = 32


def key_file(folder: Path, name: str) -> Path:
    """Return the file of a key, which is made where there is none: whole, or not at all.

    Two processes that begin at once have the same key.
    """
    keys = folder / "keys"
    keys.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = keys / f"{name}.key"
    if not path.exists():
        draft = keys / f".{name}.{secrets.token_hex(8)}"
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_bytes(_BYTES).hex().encode())
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path
