"""What is kept of an answer beside its entry: its populations, and the columns of its cells."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.output_checks.population_differences import Words
from policy_engine.release.output_ledger.answers import (
    Bounds,
    Contributing,
    Contributions,
    FindEmptyParts,
    Holders,
    IsSameCondition,
    MayTell,
    OutputAnswer,
    OutputCell,
    Protection,
    SecretValues,
)
from policy_engine.release.output_ledger.populations import (
    BitBlock,
    LabelBlock,
    packed,
    packed_block,
    unpacked,
    unpacked_block,
)
from policy_engine.release.output_ledger.unit_owners import UnitOwners

_CELL = np.dtype(
    [
        ("population", "<i4"),
        ("measure", "<i4"),
        ("value", "<f8"),
        ("threshold", "<i4"),
        ("is_released", "?"),
        ("share", "<f8"),
        ("below", "<f8"),
        ("above", "<f8"),
    ]
)

BlockPlace = tuple[int, int]
"""The number of the entry that a block is kept with, and its place there."""


@dataclass(frozen=True, eq=False)
class AnswerContent:
    """The populations, their fingerprints and the cells of an answer, given or recorded.

    Cells that are `related`, by their places, are of a column that follows from several: of one of
    these columns each.
    """

    units: int
    blocks: tuple[LabelBlock | BitBlock, ...]
    fingerprints: Words
    cells: tuple[OutputCell, ...]
    bounds: Bounds
    may_tell: MayTell | None = None
    is_same_condition: IsSameCondition | None = None
    holders: Holders = field(default_factory=dict)
    owners: UnitOwners | None = None
    one_sided: frozenset[str] = frozenset()
    contributions: Contributions | None = None
    empty_parts: FindEmptyParts | None = None
    is_accepted: bool = False
    related: Mapping[int, frozenset[str]] = field(default_factory=dict)
    contributing: Contributing | None = None
    known: tuple[OutputCell, ...] = ()
    secret_values: Mapping[str, SecretValues] = field(default_factory=dict)

    @classmethod
    def of(cls, answer: OutputAnswer, words: Words) -> "AnswerContent":
        """Return the content of an answer, the fingerprints made of the words of units."""
        populations = answer.populations
        prints = populations.fingerprints(words)
        more = answer.cells, answer.bounds, answer.may_tell, answer.is_same_condition
        about = *more, answer.holders, answer.owners, answer.one_sided
        beside = answer.contributions, answer.empty_parts
        content = cls(populations.units, populations.blocks, prints, *about, *beside)
        is_accepted = bool(answer.accepted)
        content = replace(content, is_accepted=is_accepted, known=answer.known)
        content = replace(content, secret_values=answer.secret_values)
        return replace(content, contributing=answer.contributing)

    def block_keys(self) -> list[bytes]:
        """Return the fingerprints of each block's populations, by which it is known again."""
        ends = np.cumsum([0, *(block.count for block in self.blocks)]).tolist()
        return [self.fingerprints[one:other].tobytes() for one, other in pairwise(ends)]

    def packed(
        self, kept: Mapping[bytes, BlockPlace], states: Sequence[bool]
    ) -> tuple[bytes, list[int]]:
        """Return the content as it is kept, and which blocks are in it: others are `kept` already.

        `states` is which cells are released after all. What everybody knows is kept as cells that
        are.
        """
        cells = (*self.cells, *self.known)
        are_released = (*states, *(True for _ in self.known))
        measures = list(dict.fromkeys(cell.measure for cell in cells))
        numbers = {measure: number for number, measure in enumerate(measures)}
        rows = [
            _row(cell, numbers, is_released)
            for cell, is_released in zip(cells, are_released, strict=True)
        ]
        blocks: list[dict[str, Any]] = []
        parts, own = [self.fingerprints.tobytes(), np.array(rows, _CELL).tobytes()], list[int]()
        for place, (key, block) in enumerate(zip(self.block_keys(), self.blocks, strict=True)):
            if key in kept:
                blocks.append({"kept": kept[key]})
                continue
            what, text = packed_block(block)
            blocks.append({**what, "part": len(parts)})
            parts.append(text)
            own.append(place)
        bounds = {column: list(pair) for column, pair in self.bounds.items()}
        header = {"units": self.units, "blocks": blocks, "measures": measures, "bounds": bounds}
        conditions = list(dict.fromkeys(cell.condition for cell in cells))
        if any(conditions):
            places = {text: place for place, text in enumerate(conditions)}
            header |= {"conditions": len(parts)}
            numbers_of_cells = np.array([places[cell.condition] for cell in cells], "<i4")
            parts += [json.dumps(conditions).encode(), numbers_of_cells.tobytes()]
        return packed(header, parts), own

    @classmethod
    def unpacked(
        cls, text: bytes, block_at: Callable[[BlockPlace], LabelBlock | BitBlock]
    ) -> "AnswerContent":
        """Return the content that was kept; blocks of other entries are looked up."""
        header, parts = unpacked(text)
        blocks = tuple(_block(one, parts, block_at) for one in header["blocks"])
        fingerprints = np.frombuffer(parts[0], np.uint64).reshape(-1, 3)
        cells = _cells(np.frombuffer(parts[1], _CELL), header["measures"])
        if "conditions" in header:  # Older answers have none.
            texts, numbers = parts[header["conditions"] :][:2]
            conditions, places = json.loads(texts), np.frombuffer(numbers, "<i4").tolist()
            cells = tuple(
                replace(cell, condition=conditions[place])
                for cell, place in zip(cells, places, strict=True)
            )
        bounds = {column: (one, other) for column, (one, other) in header["bounds"].items()}
        return cls(header["units"], blocks, fingerprints, cells, bounds)


def _block(
    what: dict[str, Any],
    parts: Sequence[bytes],
    block_at: Callable[[BlockPlace], LabelBlock | BitBlock],
) -> LabelBlock | BitBlock:
    if "kept" in what:
        number, place = what["kept"]
        return block_at((number, place))
    return unpacked_block(what, parts[what["part"]])


def _row(cell: OutputCell, numbers: Mapping[str, int], is_released: bool) -> tuple[float, ...]:
    value = np.nan if cell.value is None else cell.value
    measure, levels = numbers[cell.measure], cell.protection
    first = (cell.population, measure, value, cell.threshold, is_released)
    return (*first, levels.share, levels.below, levels.above)


def _cells(rows: NDArray[np.void], measures: Sequence[str]) -> tuple[OutputCell, ...]:
    return tuple(
        OutputCell(
            population=population,
            measure=measures[measure],
            value=None if np.isnan(value) else value,
            threshold=threshold,
            is_released=is_released,
            protection=Protection(*levels),
        )
        for population, measure, value, threshold, is_released, *levels in rows.tolist()
    )
