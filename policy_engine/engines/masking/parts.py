"""A table, whole or in parts, of which those columns are looked at that are masked."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import pyarrow as pa

from policy_engine.engines.masking.surveys import Group, Kinds, SharedValues, class_sizes
from policy_engine.errors import DataError, Problem

_T = TypeVar("_T")


@dataclass(frozen=True)
class Look(Generic[_T]):
    """What is to be seen of some columns: `see` tells it of a part of a table, which has them, and
    `merge` makes what is seen of two parts that of both.

    Where not any parts will do, those do that have all rows with equal cells in the columns `by`.
    """

    names: tuple[str, ...]
    see: Callable[[pa.Table], _T]
    merge: Callable[[_T, _T], _T]
    by: tuple[str, ...] = ()

    def __call__(self, table: pa.Table) -> "_T | Faults":
        """Return what is seen of a part of a table, or what is wrong with it."""
        with Faults.caught() as faults:
            return self.see(table)
        return faults

    def merged(self, one: "_T | Faults", other: "_T | Faults") -> "_T | Faults":
        """Return what is seen of two parts together, or what is wrong with one of them."""
        if isinstance(one, Faults) or isinstance(other, Faults):
            return one if isinstance(one, Faults) else other
        with Faults.caught() as faults:
            return self.merge(one, other)
        return faults


def side_by_side(*looks: Look[Any]) -> Look[tuple[Any, ...]]:
    """Return the look that sees all that the given ones see."""

    def see(table: pa.Table) -> tuple[Any, ...]:
        return tuple(one.see(table) for one in looks)

    def merge(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
        pairs = zip(looks, one, other, strict=True)
        return tuple(look.merge(first, second) for look, first, second in pairs)

    return Look(tuple(dict.fromkeys(name for one in looks for name in one.names)), see, merge)


class Faults:
    """What is wrong with the values of some columns, so that all of it is told at once."""

    def __init__(self) -> None:
        self._problems: dict[str, tuple[Problem, ...]] = {}

    @classmethod
    @contextmanager
    def caught(cls) -> Iterator["Faults"]:
        """Catch what is wrong with the data, and give it."""
        faults = cls()
        with faults.of(""):
            yield faults

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Keep what turns out to be wrong with a column, and go on."""
        try:
            yield
        except DataError as error:
            self._problems.setdefault(name, error.problems)

    def keep(self, name: str, others: "Faults") -> None:
        """Keep all of other faults as those of a column."""
        with self.of(name):
            others.check()

    def __contains__(self, name: str) -> bool:
        return name in self._problems

    def __bool__(self) -> bool:
        return bool(self._problems)

    def check(self, names: tuple[str, ...] = ()) -> None:
        """Raise DataError with all that is wrong, in the order of the columns."""
        order = dict.fromkeys((*names, *self._problems))
        if self._problems:
            raise DataError(*(one for name in order for one in self._problems.get(name, ())))


class Parts(ABC):
    """A table that is looked at: whole in this process, or in parts on a cluster.

    `schema` has the types of its columns, `kinds` those that the texts of a file without types are
    inferred to be of.
    """

    schema: pa.Schema
    kinds: Kinds

    @abstractmethod
    def outcomes(self, looks: Mapping[str, Look[Any]], *, whole: bool) -> dict[str, Any]:
        """Return what each look sees of all rows, or the Faults that it meets; `whole` means that
        each needs all rows in one part, or those that are equal in the columns it goes `by`."""

    @abstractmethod
    def class_sizes(self, group: Group) -> SharedValues:
        """Return what `surveys.class_sizes` does."""

    def look(
        self, looks: Mapping[str, Look[Any]], faults: Faults | None = None, *, whole: bool = False
    ) -> dict[str, Any]:
        """Return what looks see, by the names of columns; what is wrong with some is kept in
        `faults`. Raises DataError with that where none are given."""
        own = Faults()
        outcomes = self.outcomes(looks, whole=whole) if looks else {}
        for name, one in outcomes.items():
            if isinstance(one, Faults):
                (own if faults is None else faults).keep(name, one)
        own.check(tuple(looks))
        return {name: one for name, one in outcomes.items() if not isinstance(one, Faults)}


class WholeTable(Parts):
    """A table in this process."""

    def __init__(self, table: pa.Table, kinds: Kinds) -> None:
        self.table, self.schema, self.kinds = table, table.schema, kinds

    def outcomes(self, looks: Mapping[str, Look[Any]], *, whole: bool) -> dict[str, Any]:  # noqa: ARG002 (it always is)
        """Return what each look sees of the table, or the Faults that it meets."""
        return {name: look(self.table) for name, look in looks.items()}

    def class_sizes(self, group: Group) -> SharedValues:
        """Return what `surveys.class_sizes` does."""
        return class_sizes(self.table, group)
