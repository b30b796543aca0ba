"""What is known to those who share a scope: the populations and cells of all answers to them."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from policy_engine.kernels.output_checks.population_differences import (
    Atoms,
    Bits,
    Labels,
    Words,
    add_bit_names,
    atoms_of,
    unit_words,
)
from policy_engine.release.output_ledger.answers import (
    OutputCell,
    Protection,
    is_held,
    is_mark,
)
from policy_engine.release.output_ledger.contents import AnswerContent, BlockPlace
from policy_engine.release.output_ledger.populations import BitBlock, LabelBlock
from policy_engine.release.output_ledger.unit_owners import AtomOwners, UnitOwners

_AT_ONCE = 64

MeasuredPopulation = tuple[str, int]
"""A measure, and the number of a population."""


class Suppressed(NamedTuple):
    """What must stay unknown of a suppressed cell, and under which conditions it was asked for."""

    protection: Protection
    value: float | None
    conditions: frozenset[str] = frozenset()


class BlockLayer(NamedTuple):
    """A block, and the number of each of its populations, -1 for those of earlier blocks."""

    block: LabelBlock | BitBlock
    numbers: NDArray[np.int32]


class AtomTable(NamedTuple):
    """Atoms, the populations that each is in, -1 for none, (layers, atoms), and of how many owners
    they are."""

    atoms: Atoms
    members: Labels
    owners: AtomOwners


@dataclass
class Knowledge:
    """Populations, each once and numbered, and what is released and suppressed of them.

    `threshold` is the largest of all cells: what a policy once promised is kept when another one
    asks for less. `sums` add up, for each unit, the names of the populations that it is in, but for
    those of bits that are `unnamed` yet. `entries` are those of the ledger that released cells are
    first in.
    """

    seed: int
    units: int
    words: Words
    sums: Words
    index: dict[bytes, int] = field(default_factory=dict)
    sizes: list[int] = field(default_factory=list)
    layers: list[BlockLayer] = field(default_factory=list)
    places: dict[bytes, BlockPlace] = field(default_factory=dict)
    released: dict[str, set[int]] = field(default_factory=dict)
    values: dict[MeasuredPopulation, float | None] = field(default_factory=dict)
    suppressed: dict[MeasuredPopulation, Suppressed] = field(default_factory=dict)
    bounds: dict[str, tuple[float, float]] = field(default_factory=dict)
    threshold: int = 1
    conditions: dict[MeasuredPopulation, frozenset[str]] = field(default_factory=dict)
    unnamed: list[tuple[Bits, Words]] = field(default_factory=list)
    entries: dict[MeasuredPopulation, int] = field(default_factory=dict)

    @classmethod
    def of_nothing(cls, units: int, secret: bytes) -> "Knowledge":
        """Return the knowledge of somebody who was told nothing of some units.

        Whoever does not know the secret cannot ask for two populations that look the same.
        """
        seed = int.from_bytes(hashlib.sha256(secret).digest()[:8], "big")
        return cls(seed, units, unit_words(units, seed), np.zeros((units, 2), np.uint64))

    def copy(self) -> "Knowledge":
        """Return the same knowledge, to which more can be added."""
        return replace(
            self,
            unnamed=[*self.unnamed],
            index={**self.index},
            sizes=[*self.sizes],
            layers=[*self.layers],
            places={**self.places},
            released={measure: {*numbers} for measure, numbers in self.released.items()},
            values={**self.values},
            suppressed={**self.suppressed},
            bounds={**self.bounds},
            conditions={**self.conditions},
            entries={**self.entries},
        )

    def add_populations(self, content: AnswerContent) -> NDArray[np.int64]:
        """Add the populations of an answer, and return the number of each: (populations,)."""
        first = len(self.sizes)
        numbers = np.zeros(len(content.fingerprints), np.int64)
        for place, fingerprint in enumerate(content.fingerprints):
            number = self.index.setdefault(fingerprint.tobytes(), len(self.sizes))
            numbers[place] = number
            if number == len(self.sizes):
                self.sizes.append(int(fingerprint[0]))
        self._add_layers(content.blocks, numbers, first)
        return numbers

    def _add_layers(
        self, blocks: Iterable[LabelBlock | BitBlock], numbers: NDArray[np.int64], first: int
    ) -> None:
        end, added = 0, set[int]()
        for block in blocks:
            own = numbers[end : end + block.count].astype(np.int32)
            end += block.count
            for place, number in enumerate(own.tolist()):
                if number < first or number in added:
                    own[place] = -1
                added.add(number)
            if (own >= 0).any():
                self.layers.append(BlockLayer(block, own))
                names = unit_words(len(self.sizes), ~self.seed & (2**64 - 1))[own]
                names[own < 0] = 0
                if isinstance(block, BitBlock):
                    self.unnamed.append((block.bits, names))
                else:
                    block.add_names(names, self.sums)

    def add_cells(self, cells: Sequence[OutputCell], numbers: Sequence[int]) -> None:
        """Add what is released and suppressed of populations that have these numbers."""
        for cell in cells:
            number = numbers[cell.population]
            key = cell.measure, number
            self.threshold = max(self.threshold, cell.threshold)
            if cell.is_released:
                self.released.setdefault(cell.measure, set()).add(number)
                self.values[key] = cell.value
                if cell.condition:
                    texts = self.conditions.get(key, frozenset())
                    self.conditions[key] = texts | {cell.condition}
            elif not (is_held(cell.measure) or is_mark(cell.measure)):  # The count is, too.
                earlier = self.suppressed.get(key)
                own = Suppressed(cell.protection, cell.value, frozenset((cell.condition,)))
                self.suppressed[key] = _widest(earlier, own) if earlier else own

    def add_bounds(self, content: AnswerContent) -> None:
        """Add the bounds on contributions that an answer states; the narrowest are known."""
        for column, (least, most) in content.bounds.items():
            earlier = self.bounds.get(column, (least, most))
            self.bounds[column] = (max(least, earlier[0]), min(most, earlier[1]))

    def add_answer(self, content: AnswerContent) -> NDArray[np.int64]:
        """Add an answer, and return the number of each of its populations."""
        numbers = self.add_populations(content)
        if content.is_accepted:
            self.lift(content.cells, numbers.tolist())
        self.add_cells((*content.cells, *content.known), numbers.tolist())
        self.add_bounds(content)
        return numbers

    def lift(self, cells: Sequence[OutputCell], numbers: Sequence[int]) -> None:
        """Let the cells of an answer that a person accepted be known, though they were suppressed
        before. Of cells of nobody, those alone that were asked for under the same condition."""
        for cell in cells:
            key = cell.measure, numbers[cell.population]
            earlier = self.suppressed.pop(key, None) if cell.is_released else None
            if earlier is not None and not self.sizes[key[1]]:
                rest = earlier.conditions - {cell.condition}
                self.suppressed |= {key: earlier._replace(conditions=rest)} if rest else {}

    def name_units(self) -> None:
        """Add the names of bits to the sums: of many populations at once, it is faster."""
        while self.unnamed:
            some, self.unnamed = self.unnamed[:_AT_ONCE], self.unnamed[_AT_ONCE:]
            bits, names = (np.concatenate(parts) for parts in zip(*some, strict=True))
            add_bit_names(bits, names, self.sums)

    def add_recorded(self, content: AnswerContent, number: int) -> None:
        """Add the answer of an entry of that number, whose blocks are kept with it."""
        places = {key: (number, place) for place, key in enumerate(content.block_keys())}
        self.places = places | self.places
        self.note_entry(content.cells, self.add_answer(content).tolist(), number)

    def note_entry(self, cells: Sequence[OutputCell], numbers: Sequence[int], entry: int) -> None:
        """Note in which entry released cells of populations of these numbers are."""
        for cell in cells:
            key = cell.measure, numbers[cell.population]
            if self.has_released(*key):
                self.entries.setdefault(key, entry)

    def has_released(self, measure: str, number: int) -> bool:
        """Return whether this very cell was released."""
        return number in self.released.get(measure, ())

    def atom_table(
        self, most: int, threshold: int, owners: UnitOwners | None = None
    ) -> AtomTable | None:
        """Return the atoms of all populations; None where there are more than `most`.

        Of their owners, as many are enough as the threshold asks for.
        """
        self.name_units()
        atoms = atoms_of(self.sums, most)
        if atoms is None:
            return None
        rows = []
        for block, numbers in self.layers:
            for first, labels in block.layers(atoms.examples):
                padded = np.append(numbers[first:], np.int32(-1))
                rows.append(padded[np.where(labels < 0, len(padded) - 1, labels)])
        members = np.array(rows, np.int32).reshape(len(rows), len(atoms.sizes))
        if owners is None:
            return AtomTable(atoms, members, AtomOwners.of_units(atoms.sizes, threshold))
        least, count = owners.least(threshold), len(atoms.sizes)
        own = AtomOwners.of_pairs(atoms.numbers.astype(np.int64), owners.numbers, count, least)
        return AtomTable(atoms, members, own)


def _widest(one: Suppressed, other: Suppressed) -> Suppressed:
    first, second = one.protection, other.protection
    share = max(first.share, second.share)
    levels = Protection(share, max(first.below, second.below), max(first.above, second.above))
    value = one.value if other.value is None else other.value
    return Suppressed(levels, value, one.conditions | other.conditions)
