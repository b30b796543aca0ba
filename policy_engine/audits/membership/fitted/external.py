"""ONNX files that keep weights in other files, which their digest does not cover.

The files are in the wire format of protocol buffers, of which so much is read here as leads to the
tensors: no library of ONNX is needed to run a model.
"""

from collections.abc import Iterator, Mapping
from typing import Literal

from policy_engine.errors import AuditError

_Message = Literal[
    "model", "training", "graph", "node", "attribute", "function", "sparse", "tensor"
]
_WITHIN: Mapping[_Message, Mapping[int, _Message]] = {
    "model": {7: "graph", 20: "training", 25: "function"},
    "training": {1: "graph", 2: "graph"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "function": {7: "node", 11: "attribute"},
    "sparse": {1: "tensor", 2: "tensor"},
    "tensor": {},
}
"""Which fields of a message hold which others (onnx.proto3)."""
_EXTERNAL = 13
"""The field of a tensor that names the file of its data."""
_PLACE = b"location"
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def check_whole(content: bytes, source: str) -> None:
    """Raise AuditError (A014) where parts of a model are in other files, or it is damaged."""
    if _PLACE not in content:  # no tensor says where it is: a forest's nodes would take seconds
        return
    try:
        is_whole = not _has_external(memoryview(content), "model")
    except (IndexError, ValueError):
        raise AuditError.of("A014", "The ONNX file is damaged.", source=source) from None
    if not is_whole:
        message = "The model keeps weights in other files (external data), which its digest does "
        message += "not cover."
        hint = "Save it as one file: onnx.save(onnx.load(FILE), NEW, save_as_external_data=False)."
        raise AuditError.of("A014", message, hint, source=source)


def _has_external(content: memoryview, kind: _Message) -> bool:
    for number, value in _fields(content):
        if kind == "tensor" and number == _EXTERNAL:
            return True
        part = _WITHIN[kind].get(number)
        if part is not None and value is not None and _has_external(value, part):
            return True
    return False


def _fields(content: memoryview) -> Iterator[tuple[int, memoryview | None]]:
    """Yield the number of every field of a message, and its bytes where it has a length.

    Raises IndexError or ValueError where it is malformed.
    """
    place = 0
    while place < len(content):
        key, place = _varint(content, place)
        number, wire = key >> 3, key & 7
        if wire == _VARINT:
            _, place = _varint(content, place)
            yield number, None
        elif wire == _BYTES:
            length, place = _varint(content, place)
            if place + length > len(content):
                raise ValueError
            yield number, content[place : place + length]
            place += length
        elif wire in (_FIXED64, _FIXED32):
            place += 8 if wire == _FIXED64 else 4
            yield number, None
        else:
            raise ValueError


def _varint(content: memoryview, place: int) -> tuple[int, int]:
    """Return a number of a varying length, and where it ends."""
    value = shift = 0
    while True:
        byte = content[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if not byte & 0x80:
            return value, place
