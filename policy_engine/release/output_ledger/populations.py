"""Populations of cells: which units of privacy each is about, as labels or as packed bits."""

import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from policy_engine.errors import LedgerError, PolicyEngineError
from policy_engine.kernels.output_checks.population_differences import (
    Bits,
    Labels,
    Words,
    add_label_names,
    bit_fingerprints,
    label_fingerprints,
)

_WORTH = 0.8
"""Bytes are compressed where that leaves at most this share of them."""


@dataclass(frozen=True, eq=False)
class LabelBlock:
    """Populations without common units, as the label of each unit, below 0 for none: (units,)."""

    labels: Labels
    count: int

    def fingerprints(self, words: Words) -> Words:
        """Return the size of each population and the sums of its units' words."""
        return label_fingerprints(self.labels, self.count, words)

    def add_names(self, names: Words, sums: Words) -> None:
        """Add the names of the populations to the sums of their units."""
        add_label_names(self.labels, names, sums)

    def layers(self, units: NDArray[np.int64]) -> Iterator[tuple[int, Labels]]:
        """Yield the labels of some units."""
        yield 0, self.labels[units]


@dataclass(frozen=True, eq=False)
class BitBlock:
    """Any populations, as packed bits in the order of `numpy.packbits`: (populations, bytes)."""

    bits: Bits

    @property
    def count(self) -> int:
        """How many populations there are."""
        return len(self.bits)

    def fingerprints(self, words: Words) -> Words:
        """Return the size of each population and the sums of its units' words."""
        return bit_fingerprints(self.bits, words)

    def layers(self, units: NDArray[np.int64]) -> Iterator[tuple[int, Labels]]:
        """Yield labels of some units for each population: 0 if they are in it, otherwise -1."""
        places, shifts = units // 8, (7 - units % 8).astype(np.uint8)
        for number, row in enumerate(self.bits):
            is_in = (row[places] >> shifts) & 1
            yield number, is_in.astype(np.int32) - 1


@dataclass(frozen=True, eq=False)
class Populations:
    """The populations of the cells of one answer, numbered from 0 on through all blocks.

    Units are numbers from 0 to `units` - 1, in an order that follows from the data alone: that of
    the sorted, distinct units of privacy. A unit counts once, however many rows it has.
    """

    units: int
    blocks: tuple[LabelBlock | BitBlock, ...] = ()

    @classmethod
    def of_labels(cls, labels: ArrayLike, count: int | None = None) -> "Populations":
        """Return the populations of an answer that puts each unit in at most one group.

        `labels` is the number of each unit's group, below 0 for none: (units,). Raises LedgerError
        (K037) if it is not.
        """
        array = np.asarray(labels)
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise _error("Labels of units are whole numbers, one of each unit.")
        most = int(array.max()) + 1 if len(array) else 0
        if count is not None and most > count:
            raise _error(f"A label is at most the number of groups, {count}, less 1.")
        block = LabelBlock(array.astype(np.int32), most if count is None else count)
        return cls(len(array), (block,))

    @classmethod
    def of_bits(cls, bits: ArrayLike, units: int) -> "Populations":
        """Return any populations, as bits that `numpy.packbits` packed: (populations, bytes).

        Raises LedgerError (K037) if there are other than enough bits for so many units.
        """
        array = np.atleast_2d(np.asarray(bits))
        if array.dtype != np.uint8 or array.shape[1] != -(-units // 8):
            raise _error(f"Bits of {units} units are {-(-units // 8)} bytes of each population.")
        if units % 8 and (array[:, -1] & (0xFF >> units % 8)).any():
            raise _error("A bit is set that is not the bit of a unit.")
        return cls(units, (BitBlock(np.ascontiguousarray(array)),))

    @classmethod
    def of_masks(cls, masks: ArrayLike) -> "Populations":
        """Return any populations, as whether each unit is in each: (populations, units)."""
        array = np.atleast_2d(np.asarray(masks, dtype=np.bool_))
        return cls.of_bits(np.packbits(array, axis=1), array.shape[1])

    @classmethod
    def of_pairs(
        cls, units: ArrayLike, groups: ArrayLike, unit_count: int, group_count: int
    ) -> "Populations":
        """Return the populations of groups of rows, of which each row has a unit and a group.

        Both are (rows,). Groups that no unit has in common are kept as labels, others as bits.
        """
        rows, names = np.asarray(units, np.int64), np.asarray(groups, np.int64)
        if rows.shape != names.shape or (
            len(rows) and not 0 <= rows.min() <= rows.max() < unit_count
        ):
            raise _error("Each row has the number of a unit, and that of a group.")
        if len(names) and not 0 <= names.min() <= names.max() < group_count:
            raise _error(f"A group is a number below {group_count}.")
        if group_count == 1:  # One bit of each unit, not a label.
            is_in = np.zeros(unit_count, np.bool_)
            is_in[rows] = True
            return cls.of_masks(is_in)
        labels = np.full(unit_count, -1, np.int32)
        labels[rows] = names
        if (labels[rows] == names).all():
            return cls.of_labels(labels, group_count)
        bits = np.zeros((group_count, -(-unit_count // 8)), np.uint8)
        np.bitwise_or.at(bits, (names, rows // 8), (0x80 >> (rows % 8)).astype(np.uint8))
        return cls.of_bits(bits, unit_count)

    def joined(self, other: "Populations") -> "Populations":
        """Return these populations and, behind them, others. Raises LedgerError (K037)."""
        if self.units != other.units:
            raise _error("Populations that are joined are of the same units.")
        return Populations(self.units, self.blocks + other.blocks)

    def __len__(self) -> int:
        return sum(block.count for block in self.blocks)

    def fingerprints(self, words: Words) -> Words:
        """Return the size of each population and the sums of its units' words."""
        parts = [block.fingerprints(words) for block in self.blocks]
        return np.concatenate([np.zeros((0, 3), np.uint64), *parts])


def _error(message: str) -> PolicyEngineError:
    return LedgerError.of("K037", message)


# -- as they are stored ----------------------------------------------------------------------------


def packed_block(block: LabelBlock | BitBlock) -> tuple[dict[str, Any], bytes]:
    """Return a block as it is stored: what it is, as JSON, and its bytes."""
    if isinstance(block, LabelBlock):
        kinds = ("uint8", "uint16", "int32")
        kind = next(one for one in kinds if block.count <= np.iinfo(one).max)
        text, what = (block.labels + 1).astype(kind).tobytes(), {"labels": kind}
    else:
        text, what = block.bits.tobytes(), {"bits": "uint8"}
    short = zlib.compress(text, 1)
    is_short = len(short) <= _WORTH * len(text)
    stored = short if is_short else text
    return {**what, "count": block.count, "short": is_short, "bytes": len(stored)}, stored


def unpacked_block(what: dict[str, Any], text: bytes) -> LabelBlock | BitBlock:
    """Return a block that was stored."""
    whole = zlib.decompress(text) if what["short"] else text
    if "labels" in what:
        labels = np.frombuffer(whole, what["labels"]).astype(np.int32) - 1
        return LabelBlock(labels, what["count"])
    return BitBlock(np.frombuffer(whole, np.uint8).reshape(what["count"], -1))


def packed(header: dict[str, Any], parts: list[bytes]) -> bytes:
    """Return a line of JSON, with how long each part is, and the parts behind it."""
    text = json.dumps({**header, "parts": [len(one) for one in parts]}, sort_keys=True)
    return b"".join([text.encode(), b"\n", *parts])


def unpacked(text: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """Return the line of JSON and the parts that were packed."""
    line, _, rest = text.partition(b"\n")
    header = json.loads(line)
    ends = np.cumsum([0, *header["parts"]]).tolist()
    return header, [rest[one:other] for one, other in pairwise(ends)]
