"""Who is in which class of a release, as a ledger keeps it for the releases after it."""

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.engines.identified import ReleasedPersons, Respelt, words_of_persons
from policy_engine.kernels.intersections import OUTSIDE, PersonClasses

Words = NDArray[np.uint64]
Ints = NDArray[np.int64]
NOBODY = np.zeros(0, np.uint64)
_VERSION = 2
_AS_WRITTEN = 1
"""The version that has persons of a column of texts as they are written, with blanks around."""
_LEVEL = 1
"""Words are random bits, which nothing compresses: class numbers are compressed by any level."""


@dataclass(frozen=True, eq=False)
class Signatures:
    """The values that occur in each class, in one sensitive column: pairs in order, each once.

    `classes` (pairs,) are numbers of classes, and `values` (pairs,) words that are the same for a
    value in every release. `rows` (pairs,) counts the rows with it.
    """

    classes: Ints
    values: Words
    rows: Ints


@dataclass(frozen=True, eq=False)
class KeptClasses:
    """The classes of a release: of all persons of its input, and the values in each class.

    `unit_type` is a word for the type of the unit of privacy, and `types` those of the sensitive
    columns; None where nobody recorded them. `respelt` are the words of persons who may be written
    another way elsewhere, and words that all these ways have in common. Of persons `as_written`, an
    earlier version of the engine kept the words of texts that others may pad.
    """

    persons: PersonClasses
    signatures: Mapping[str, Signatures] = field(default_factory=dict)
    unit_type: str | None = None
    types: Mapping[str, str] | None = None
    respelt: Respelt = (NOBODY, NOBODY)
    as_written: bool = False

    @classmethod
    def of(
        cls,
        released: ReleasedPersons,
        everybody: Words,
        key: bytes,
        unit_type: str,
        respelt: Respelt,
    ) -> "KeptClasses":
        """Return what is kept of a release, whose values get words by a key."""
        signatures = {}
        for name, column in released.values.items():
            codes = column.values()
            blank = len(column.labels) - int(codes.max(initial=-1)) - 1
            texts = pa.array(column.labels[blank:].tolist(), pa.string())
            words = words_of_persons(texts, key) if len(texts) else np.zeros(0, np.uint64)
            is_known = codes >= 0
            signatures[name] = _signatures(released.classes[is_known], words[codes[is_known]])
        persons = released.person_classes(everybody)
        return cls(persons, signatures, unit_type, released.types, respelt)

    def packed(self) -> bytes:
        """Return the text that `unpacked` reads."""
        columns = {name: len(one.classes) for name, one in self.signatures.items()}
        facts: dict[str, Any] = {
            "version": _VERSION,
            "pairs": len(self.persons.persons),
            "columns": columns,
        }
        facts |= {"unit": self.unit_type, "types": self.types, "respelt": len(self.respelt[0])}
        arrays: list[NDArray[np.integer]] = [self.persons.persons, self.persons.classes]
        for one in self.signatures.values():
            arrays += [one.classes, one.values, one.rows]
        arrays += self.respelt
        body = b"".join(
            one.astype("<u8" if one.dtype == np.uint64 else "<i8").tobytes() for one in arrays
        )
        return json.dumps(facts).encode() + b"\n" + zlib.compress(body, _LEVEL)

    @classmethod
    def unpacked(cls, text: bytes) -> "KeptClasses":
        """Return what a text tells. Raises ValueError for another one."""
        head, _, body = text.partition(b"\n")
        facts = json.loads(head)
        if facts.get("version") not in (_VERSION, _AS_WRITTEN):
            raise ValueError("classes of another version")
        data, place = zlib.decompress(body), 0

        def numbers(count: int, kind: str) -> NDArray[np.integer]:
            nonlocal place
            made = np.frombuffer(data, kind, count, place)
            place += made.nbytes
            return made.astype(made.dtype.newbyteorder("="))

        persons = PersonClasses(
            numbers(facts["pairs"], "<u8").astype(np.uint64),
            numbers(facts["pairs"], "<i8").astype(np.int64),
        )
        signatures = {
            name: Signatures(
                numbers(count, "<i8").astype(np.int64),
                numbers(count, "<u8").astype(np.uint64),
                numbers(count, "<i8").astype(np.int64),
            )
            for name, count in facts["columns"].items()
        }
        as_written = facts["version"] == _AS_WRITTEN
        count = 0 if as_written else facts["respelt"]
        respelt = (numbers(count, "<u8").astype(np.uint64), numbers(count, "<u8").astype(np.uint64))
        unit, types = facts.get("unit"), facts.get("types")
        return cls(persons, signatures, unit, types, respelt, as_written)

    @property
    def count(self) -> int:
        """How many classes there are."""
        classes = self.persons.classes
        return len(np.unique(classes[classes != OUTSIDE]))


def _signatures(classes: Ints, values: Words) -> Signatures:
    order = np.lexsort((values, classes))
    classes, values = classes[order], values[order]
    is_new = np.ones(len(classes), np.bool_)
    is_new[1:] = (classes[1:] != classes[:-1]) | (values[1:] != values[:-1])
    firsts = np.flatnonzero(is_new)
    return Signatures(classes[firsts], values[firsts], np.diff(firsts, append=len(classes)))
