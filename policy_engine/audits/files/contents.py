"""The contents of a model's files: their texts, their numbers and their bytes."""

import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.errors import AuditError, PolicyEngineError

Array = NDArray[Any]
_LINKS = {
    *("left_child", "right_child", "feature", "left", "right", "feature_idx"),
    *("missing_go_to_left", "is_leaf", "is_categorical", "bitset_idx", "bin_threshold"),
}
"""The fields of nodes that say where to go next, and nothing of a value."""


@dataclass(frozen=True, eq=False)
class Contents:
    """The contents of a file, or of one member of an archive, by its name.

    `texts` and `numbers` are all that it holds, except what links the nodes of trees; `document`
    is the parsed JSON.
    """

    name: str
    data: bytes
    texts: tuple[str, ...] = ()
    numbers: tuple[NDArray[np.float64], ...] = ()
    document: Any = field(default=None, repr=False)

    def column_numbers(self, column: str, *kinds: str) -> tuple[float, ...]:
        """Return the numbers of some kinds that an encoding has for a column, in its own unit."""
        values = [one.get(kind) for one in self._entries(column) for kind in kinds]
        flat = [one for part in values for one in (part if isinstance(part, list) else [part])]
        return tuple(float(one) for one in flat if isinstance(one, int | float))

    def column_texts(self, column: str) -> frozenset[str]:
        """Return the texts that an encoding has for a column, as a feature or as the label."""
        parts = self._entries(column)
        if isinstance(self.document, dict) and self.document.get("label") == column:
            parts.append({"classes": self.document.get("classes")})
        lists = [part for one in parts for part in one.values() if isinstance(part, list)]
        return frozenset(_texts(lists))

    def _entries(self, column: str) -> list[dict[str, Any]]:
        document = self.document if isinstance(self.document, dict) else {}
        columns = document.get("columns", ())
        return [one for one in columns if isinstance(one, dict) and one.get("name") == column]


def read_contents(folder: Path) -> Iterator[Contents]:
    """Yield the contents of all files in a folder, archives member by member.

    Raises AuditError (A017) for a file of a kind that cannot be inspected.
    """
    for path in sorted(one for one in folder.rglob("*") if not one.is_dir()):
        name = path.relative_to(folder).as_posix()
        yield from _parse_file(name, path.read_bytes())


def _parse_file(name: str, data: bytes) -> Iterator[Contents]:
    ending = name.rpartition(".")[2]
    try:
        if ending in ("skops", "keras", "npz"):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                for inner in archive.namelist():
                    yield from _parse_file(f"{name}/{inner}", archive.read(inner))
        elif ending == "json":
            document = json.loads(data)
            yield Contents(name, data, tuple(_texts(document)), _numbers(document), document)
        elif ending == "npy":
            yield _array_contents(name, data, [np.load(io.BytesIO(data), allow_pickle=False)])
        elif ending == "h5":
            yield _array_contents(name, data, list(_hdf_arrays(data)))
        elif ending == "txt":
            yield Contents(name, data, tuple(data.decode().splitlines()))
        elif ending == "joblib":
            yield from _parse_pickle(name, data)
        else:
            raise _unreadable(name)
    except (ValueError, OSError, zipfile.BadZipFile) as error:
        raise _unreadable(name) from error


def _unreadable(name: str) -> PolicyEngineError:
    message = f"The file {name!r} of the model is of a kind that cannot be inspected."
    return AuditError.of("A017", message)


def _parse_pickle(name: str, data: bytes) -> Iterator[Contents]:
    """Yield what a pickle says that was written a moment ago, as the same model in skops."""
    import joblib  # noqa: PLC0415 (an extra)
    import skops.io  # noqa: PLC0415 (slow to import, an extra)

    model = joblib.load(io.BytesIO(data))
    yield from _parse_file(f"{name}.skops", skops.io.dumps(model))


def _array_contents(name: str, data: bytes, arrays: list[Array]) -> Contents:
    numbers: list[NDArray[np.float64]] = []
    texts: list[str] = []
    for array in arrays:
        names = array.dtype.names
        parts = [array] if names is None else [array[one] for one in names if one not in _LINKS]
        for part in parts:
            if part.dtype.kind in "biuf":
                numbers.append(np.unique(part.astype(np.float64)))
            elif part.dtype.kind in "US":
                texts += part.astype(str).ravel().tolist()
    return Contents(name, data, tuple(texts), tuple(numbers))


def _hdf_arrays(data: bytes) -> Iterator[Array]:
    import h5py  # noqa: PLC0415 (comes with Keras)

    arrays: list[Array] = []
    with h5py.File(io.BytesIO(data), "r") as file:
        file.visititems(
            lambda _, one: arrays.append(one[()]) if isinstance(one, h5py.Dataset) else None
        )
    yield from arrays


def _texts(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    for one in _children(part):
        yield from _texts(one)


def _numbers(document: Any) -> tuple[NDArray[np.float64], ...]:
    return (np.unique(np.array(list(_all_numbers(document)), np.float64)),)


def _all_numbers(part: Any) -> Iterator[float]:
    if isinstance(part, int | float) and not isinstance(part, bool):
        yield float(part)
    for one in _children(part):
        yield from _all_numbers(one)


def _children(part: Any) -> Iterator[Any]:
    if isinstance(part, dict):
        yield from part.keys()
        yield from part.values()
    elif isinstance(part, list):
        yield from part
