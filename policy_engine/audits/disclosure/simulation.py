"""An original masked again, as anybody can by a published method and its parameters."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from policy_engine.data.taxonomy import Taxonomy
from policy_engine.engines.arrays import unchunk
from policy_engine.engines.masking.whole_tables import mask_table
from policy_engine.kernels.linkage.shifts import RankMoves, simulated_moves
from policy_engine.methods.masking import ColumnMasking
from policy_engine.plan.steps import Mask

if TYPE_CHECKING:
    from policy_engine.audits.disclosure.files import KnownColumn

Floats = NDArray[np.float64]


def masked_columns(
    table: pa.Table, step: Mask, name: str, taxonomies: Mapping[str, Taxonomy], draw: int = 0
) -> pa.Table:
    """Return a table with a column masked again, and those that are masked together with it.

    What is random is drawn anew by the number of the draw. Raises DataError as the masking does.
    """
    together = tuple(_together(step, name))
    # No secret: any other draws than those of the release will do.
    key = hashlib.sha256(f"policy-engine simulation {draw}".encode()).digest()
    part = step.model_copy(update={"columns": together})
    return mask_table(table, part, key, taxonomies)[0]


def names_together(step: Mask, name: str) -> tuple[str, ...]:
    """Return the names of a column and of those that are masked together with it."""
    return tuple(one.name for one in _together(step, name))


def _together(step: Mask, name: str) -> list[ColumnMasking]:
    [own] = [one for one in step.columns if one.name == name]
    return [one for one in step.columns if one is own or _is_joint(one, own)]


def _is_joint(one: ColumnMasking, own: ColumnMasking) -> bool:
    return bool(own.group) and one.group == own.group


def masked_again(
    table: pa.Table, step: Mask, taxonomies: Mapping[str, Taxonomy]
) -> Callable[[str, int], pa.Array]:
    """Return what gives a column after another masking, (rows,), by its name and the number of the
    draw."""

    @lru_cache(maxsize=_KEPT)
    def drawn(first: str, draw: int) -> dict[str, pa.ChunkedArray]:
        made = masked_columns(table, step, first, taxonomies, draw)
        return {name: made.column(name) for name in step.names}

    def column(name: str, draw: int) -> pa.Array:
        return unchunk(drawn(names_together(step, name)[0], draw)[name])

    return column


_KEPT = 256


@dataclass(frozen=True, eq=False)
class Simulation:
    """A column of numbers, and what gives it after another masking, by the number of a draw.

    It is masked together with the columns of the names `together`, its own among them.
    """

    column: "KnownColumn"
    mask: Callable[[str, int], pa.Array]
    together: tuple[str, ...] = ()

    @cached_property
    def made(self) -> Floats | None:
        """What the values of the original become in the first draw, (persons,): nan where there is
        none, None where they are not all numbers."""
        return self._numbers(0)

    def _numbers(self, draw: int) -> Floats | None:
        if self.column.is_ranked:  # nobody can say where other values are among them
            return None
        return self.column.axis.placed(self.mask(self.column.name, draw))

    @cached_property
    def moves(self) -> RankMoves | None:
        """How ranks move, None where that cannot be simulated."""
        values = self.column.known_numbers()[self.column.present]
        released, _ = self.column.released_numbers()
        present = ~np.isnan(values)
        if self.made is None or np.isnan(self.made[present]).any() or not present.any():
            return None

        def again(draw: int) -> Floats:
            made = self._numbers(draw)
            assert made is not None  # noqa: S101 (as in the first draw)
            return made[present]

        return simulated_moves(values[present], released[~np.isnan(released)], again)


def simulations(
    columns: Sequence["KnownColumn"],
    original: pa.Table,
    step: Mask | None,
    taxonomies: Mapping[str, Taxonomy],
) -> dict[str, Simulation]:
    """Return how columns of numbers are masked again, by name: the rows of `original` are those
    that were masked."""
    if step is None:
        return {}
    again = masked_again(original.select(list(step.values_read)), step, taxonomies)
    return {
        one.name: Simulation(one, again, names_together(step, one.name))
        for one in columns
        if one.masking and one.is_number
    }
