"""How many rows are unique on what a release keeps exact, and on its quasi-identifiers.

No bound on classes says anything of the columns that are released as they are: whoever knows a few
of their values finds the rows that are unique on them (Samarati and Sweeney, 1998, on attributes
left out of the quasi-identifier).
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from policy_engine.errors import format_count
from policy_engine.kernels.estimates import NotApplicable

MOST_PAIRED = 20
"""Pairs are counted of so many columns at most."""
_NAMED = 6
"""So many columns are named in a sentence."""
Sets = Sequence[tuple[str, ...]]


class UniqueOn(BaseModel):
    """How many rows have values in some columns that no other row has."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    columns: Annotated[tuple[str, ...], Field(min_length=1)]
    rows: Annotated[int, Field(ge=0, le=2**63)]


class UniqueRows(BaseModel):
    """How many of the `rows` of a table are unique, a missing value being one like any other.

    `alone` is about each column that is kept exact, `together` about all of them, None without any.
    `pair` is the two of them on which most rows are unique, the first of several such pairs; None
    where there are fewer, not applicable where there are more than `MOST_PAIRED`.
    `quasi_identifiers` is about all quasi-identifiers together, as the table has them; None where
    a row has none that are its own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    rows: Annotated[int, Field(ge=0, le=2**63)]
    alone: tuple[UniqueOn, ...] = ()
    pair: UniqueOn | NotApplicable | None = None
    together: UniqueOn | None = None
    quasi_identifiers: UniqueOn | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are kept exact."""
        return tuple(name for one in self.alone for name in one.columns)

    @property
    def share_kept(self) -> float:
        """The share of the rows that are unique on all that is kept exact."""
        return self.together.rows / self.rows if self.together and self.rows else 0.0

    @property
    def worst_column(self) -> UniqueOn | None:
        """The column on which most rows are unique, the first of several; None without any."""
        return max(self.alone, key=lambda one: one.rows, default=None)

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield the name and the value of every figure."""
        names = _names(self.columns) if self.alone else ""
        if self.together is not None:
            yield "unique on what is kept exact", f"{self._count(self.together)}: {names}"
        if isinstance(self.pair, UniqueOn) and len(self.alone) > _PAIR:
            yield "  most on two columns", f"{self._count(self.pair)}: {_names(self.pair.columns)}"
        elif isinstance(self.pair, NotApplicable):
            yield "  most on two columns", self.pair.reason
        if self.worst_column is not None and len(self.alone) > 1:
            worst = self.worst_column
            yield "  most on one column", f"{self._count(worst)}: {_names(worst.columns)}"
        if self.quasi_identifiers is not None:
            yield "unique on quasi-identifiers", self._count(self.quasi_identifiers)

    def sentences(self, *, is_planned: bool = False) -> Iterator[str]:
        """Yield what the owner is to know and can do, where rows are unique.

        Of an input, which `is_planned` to be released, the quasi-identifiers are not generalised.
        """
        if self.together is not None and self.together.rows:
            yield f"{self._exact_part(is_planned=is_planned)} {_ADVICE}"
        quasi = self.quasi_identifiers
        if quasi is None or not quasi.rows:
            return
        subject = f"{_are_unique(quasi.rows, self.rows)} on {_names(quasi.columns)}"
        if is_planned:
            yield f"{subject} before they are generalised; apply counts what is left of that."
        else:
            yield f"{subject}, generalised as they are. Ask for a greater k."

    def _exact_part(self, *, is_planned: bool) -> str:
        """Return the sentence on all columns that are kept exact, with the worst parts of them."""
        assert self.together is not None  # noqa: S101 (asked only then)
        kept = "would be kept exact" if is_planned else _KEPT[len(self.alone) > 1]
        subject = _are_unique(self.together.rows, self.rows)
        parts = [one for one in (self._worst_pair, self.worst_column) if one and one.rows]
        parts = [one for one in parts if len(one.columns) < len(self.alone)]
        details = [f"{one.rows:,} on {_names(one.columns)} alone" for one in parts]
        detail = f" ({', '.join(details)})" if details else ""
        return f"{subject} on {_names(self.columns)}, which {kept}{detail}."

    @property
    def _worst_pair(self) -> UniqueOn | None:
        return self.pair if isinstance(self.pair, UniqueOn) else None

    def _count(self, one: UniqueOn) -> str:
        share = one.rows / self.rows if self.rows else 0.0
        return f"{one.rows:,} of {format_count(self.rows, 'row')} ({share:.2%})"


_PAIR = 2
_KEPT = ("is kept exact", "are kept exact")
_ADVICE = (
    "Whoever knows these values of a person finds the row, however large k is: generalise them as "
    "quasi-identifiers, mask them, or leave them out."
)


def _are_unique(rows: int, of: int) -> str:
    return f"{rows:,} of {format_count(of, 'row')} {'is' if rows == 1 else 'are'} unique"


def _names(columns: Sequence[str]) -> str:
    """Return names in words, of many the first and how many there are."""
    if len(columns) > _NAMED:
        return f"{', '.join(columns[:_NAMED])} and {len(columns) - _NAMED:,} other columns"
    *head, last = columns
    return f"{', '.join(head)} and {last}" if head else last


def measure_uniques(
    exact: Sequence[str],
    quasi: Sequence[str],
    count: Callable[[Sets], tuple[int, ...]],
    rows: int,
) -> UniqueRows:
    """Return how many of so many rows are unique on columns that are kept exact, and on
    quasi-identifiers; `count` returns it for sets of columns."""
    singles = [(name,) for name in exact]
    pairs = [*combinations(exact, _PAIR)] if len(exact) <= MOST_PAIRED else []
    sets = [*singles, *pairs, *(tuple(names) for names in (exact, quasi) if names)]
    counted = [
        UniqueOn(columns=one, rows=number)
        for one, number in zip(sets, count(sets) if sets else (), strict=True)
    ]
    paired = counted[len(singles) : len(singles) + len(pairs)]
    too_many = f"not counted of {len(exact)} columns, only of {MOST_PAIRED} or fewer"
    return UniqueRows(
        rows=rows,
        alone=tuple(counted[: len(singles)]),
        pair=NotApplicable(reason=too_many)
        if len(exact) > MOST_PAIRED
        else max(paired, key=lambda one: one.rows, default=None),
        together=counted[len(singles) + len(pairs)] if exact else None,
        quasi_identifiers=counted[-1] if quasi else None,
    )
