"""The answers of models, kept on disk so that an interrupted audit can go on."""

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

from policy_engine.data.atomic_file import write_file
from policy_engine.errors import OutputError


@dataclass(frozen=True, eq=False)
class ModelAnswers:
    """The answers of one model, as named arrays, and `notes` on how it was trained.

    A classifier's are its `logits`, (rows, classes), in float32.
    """

    arrays: Mapping[str, NDArray[Any]]
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def logits(self) -> NDArray[np.float32]:
        """The logits. Raises KeyError where the model said something else."""
        return self.arrays["logits"]


@dataclass(frozen=True)
class Form:
    """What an array has to be: its shape and the kind of its numbers."""

    shape: tuple[int, ...]
    dtype: str = "float32"

    def fits(self, array: NDArray[Any]) -> bool:
        """Tell whether an array is of this form."""
        return array.shape == self.shape and array.dtype == np.dtype(self.dtype)


@dataclass(frozen=True)
class ModelCache:
    """A folder with a file per model, by a key of all that decides what it says.

    Without a folder nothing is kept. A file that is damaged or of another form counts as none.
    """

    folder: Path | None = None

    def find(self, key: str, forms: Mapping[str, Form]) -> ModelAnswers | None:
        """Return the answers of a key's model, arrays of these forms; None where not known."""
        if self.folder is None:
            return None
        try:
            path = self._path(self.folder, key)
            with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
                arrays = {name: archive[_array_key(name)] for name in forms}
                answers = ModelAnswers(arrays, json.loads(str(archive["notes"])))
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
            return None
        is_sound = all(form.fits(arrays[name]) for name, form in forms.items())
        return answers if is_sound and isinstance(answers.notes, dict) else None

    def keep(self, key: str, answers: ModelAnswers) -> None:
        """Keep a model's answers. Raises OutputError (O002) where the folder is not writable."""
        if self.folder is None:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = f"The cache cannot be written: {error.strerror or error}."
            raise OutputError.of("O002", message, source=str(self.folder)) from None
        packed = io.BytesIO()
        arrays: dict[str, Any] = {_array_key(name): array for name, array in answers.arrays.items()}
        np.savez(packed, notes=np.array(json.dumps(dict(answers.notes))), **arrays)
        write_file(self._path(self.folder, key), packed.getvalue(), private=True)

    def _path(self, folder: Path, key: str) -> Path:
        return folder / f"{key}.npz"


def _array_key(name: str) -> str:
    """Return under what an array is kept: no name of one is taken for the notes."""
    return f"array-{name}"


def key_of(*parts: str | int) -> str:
    """Return the sha-256 of what decides what a model says."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
