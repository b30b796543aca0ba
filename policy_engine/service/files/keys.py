"""The keys of the service's chains and of its noise: made once, read by their owner alone."""

import os
import secrets
from pathlib import Path

from policy_engine.errors import ServiceError

_BYTES = 32


def key_file(folder: Path, name: str, of: Path | None = None) -> Path:
    """Return the file of a key, which is made where there is none: whole, or not at all.

    Two processes that begin at once have the same key. Raises ServiceError (N013) where there is no
    key of a chain that was begun, which its file or what is known of its end shows: another key
    would be of another chain.
    """
    keys = folder / "keys"
    keys.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = keys / f"{name}.key"
    if not path.exists():
        if of is not None and (of.exists() or path.with_suffix(".head").exists()):
            message = f"The key of {of.name} is lost: there is no {path.name} in the folder keys."
            raise ServiceError.of("N013", message, "Restore it from a backup.")
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
