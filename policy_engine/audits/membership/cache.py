"""What models said, kept on disk, so that an audit that was interrupted goes on."""

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.errors import OutputError
from policy_engine.writing import write_whole


@dataclass(frozen=True, eq=False)
class Said:
    """What one model says: logits (rows, classes), and `notes` on how it was trained."""

    logits: NDArray[np.float32]
    notes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ModelCache:
    """A folder with a file per model, by a key of all that decides what it says.

    Without a folder nothing is kept. A file that is damaged or of another shape counts as none.
    """

    folder: Path | None = None

    def find(self, key: str, shape: tuple[int, int]) -> Said | None:
        """Return what the model of a key said, None where that is not known."""
        if self.folder is None:
            return None
        try:
            path = self._path(self.folder, key)
            with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
                said = Said(archive["logits"], json.loads(str(archive["notes"])))
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
            return None
        is_sound = said.logits.shape == shape and said.logits.dtype == np.float32
        return said if is_sound and isinstance(said.notes, dict) else None

    def keep(self, key: str, said: Said) -> None:
        """Keep what a model said. Raises OutputError (O002) where the folder is not writable."""
        if self.folder is None:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = f"The cache cannot be written: {error.strerror or error}."
            raise OutputError.of("O002", message, source=str(self.folder)) from None
        packed = io.BytesIO()
        np.savez(packed, logits=said.logits, notes=np.array(json.dumps(dict(said.notes))))
        write_whole(self._path(self.folder, key), packed.getvalue())

    def _path(self, folder: Path, key: str) -> Path:
        return folder / f"{key}.npz"


def key_of(*parts: str | int) -> str:
    """Return the sha-256 of what decides what a model says."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
