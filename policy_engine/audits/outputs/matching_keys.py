"""Which keys of finished tables are the same, whichever way the tables are turned.

What is a column of labels in one table may be on top of another, where keys have no names, or be
called otherwise. Keys are the same by their names, or by labels that they share.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import NamedTuple

import numpy as np

from policy_engine.audits.outputs.label_words import is_telling, plain_label
from policy_engine.audits.outputs.reading_tables import ACROSS, FinishedTable

CellName = frozenset[tuple[int, str]]
Known = dict[CellName, tuple[float, float]]
"""The figures of cells, and how far they may be off."""
_MOST_ORDERS = 5_040
_NEAR = 1e-9


@dataclass
class _SharedKey:
    """A key of one table or several: what it is called, and its labels."""

    names: set[str] = field(default_factory=set)
    labels: set[str] = field(default_factory=set)

    def is_forced(self, key: "_OwnKey") -> bool:
        """Tell whether a key with some of the labels is this one whatever the figures are: not if
        both have names, which differ, and the labels are such as yes and no."""
        same = self.labels & set(key.labels)
        is_named = bool(key.name and self.names)
        return bool(same) and (not is_named or any(map(is_telling, same)))


class _OwnKey(NamedTuple):
    """A key of a table as it is compared: its name, empty on top, and its labels in order."""

    name: str
    labels: tuple[str, ...]


class KeyMatch(NamedTuple):
    """The number of each key of a table, and of the one that its only column of figures is a label
    of, if there is one; the names of the cells of its layout, and whether its
    figures are those of other tables."""

    keys: tuple[int, ...]
    names: tuple[CellName, ...]
    is_fit: bool


def match_keys(tables: Sequence[FinishedTable]) -> list[KeyMatch]:
    """Return which keys of each table are those of others, table by table.

    A table does not fit that has another figure than a table before it in the same cell, or of
    which it is open which keys are the same: two choices fit equally well.
    """
    shared: list[_SharedKey] = []
    figures: Known = {}
    result = []
    every = [[*_own_keys(table)] for table in tables]
    labels = {label for own in every for key in own for label in key.labels}
    for table, plain in zip(tables, every, strict=True):
        head = plain_label(table.head)
        own = [*plain, _OwnKey("", (head,))] if head in labels else plain
        match = _best(table, own, shared, figures)
        for number, key in zip(match.keys, own, strict=True):
            shared.extend(_SharedKey() for _ in range(number + 1 - len(shared)))
            shared[number].names |= {key.name} if key.name else set()
            shared[number].labels.update(key.labels)
        if match.is_fit:
            for name, figure in _figures(table, match.names):
                figures.setdefault(name, figure)
        result.append(match)
    return result


def _own_keys(table: FinishedTable) -> Iterator[_OwnKey]:
    """Yield the keys of a table, with labels without case, accents and signs, unless these tell
    two of them apart."""
    for name, some in zip(table.keys, table.labels, strict=True):
        plain: tuple[str, ...] = tuple(some)
        for made in (plain_label, str.casefold):
            texts = tuple(made(one) for one in some)
            if len(set(texts)) == len(texts) and all(texts):
                plain = texts
                break
        yield _OwnKey("" if name == ACROSS else plain_label(name) or name, plain)


def _best(
    table: FinishedTable, own: Sequence[_OwnKey], shared: Sequence[_SharedKey], figures: Known
) -> KeyMatch:
    candidates = []
    for keys in _choices(own, shared):
        names = _names(own, keys, len(table.keys))
        clashes, agreeing = _fit(table, names, figures)
        pairs = [(key, shared[n]) for key, n in zip(own, keys, strict=True) if n < len(shared)]
        labels = sum(len(one.labels.intersection(key.labels)) for key, one in pairs)
        candidates.append(
            ((clashes == 0, len(pairs), labels, agreeing), KeyMatch(keys, names, clashes == 0))
        )
    candidates.sort(key=lambda one: one[0], reverse=True)
    best = candidates[0][1]
    is_open = len(candidates) > 1 and candidates[1][0] == candidates[0][0]
    return best._replace(is_fit=best.is_fit and not is_open)


def _choices(own: Sequence[_OwnKey], shared: Sequence[_SharedKey]) -> Iterator[tuple[int, ...]]:
    """Yield ways to number the keys of a table: each is a shared one, or a new one. None is new
    that has to be one that no other is."""
    named = _by_names(own, shared)
    rest = [place for place in range(len(own)) if place not in named]
    some = [number for number in range(len(shared)) if number not in named.values()]
    like = {
        place: {n for n in some if shared[n].labels.intersection(own[place].labels)}
        for place in rest
    }
    free = sorted(set().union(*like.values())) if like else []
    seen: set[tuple[int, ...]] = set()
    orders = permutations([*free, *([-1] * len(rest))], len(rest))
    for count, order in enumerate(orders):
        if count >= _MOST_ORDERS:
            break
        chosen = dict(zip(rest, order, strict=True))
        is_like = all(n < 0 or n in like[place] for place, n in chosen.items())
        if is_like and not _leaves_forced(own, shared, chosen, free):
            fresh = iter(range(len(shared), len(shared) + len(own)))
            every = named | {place: n if n >= 0 else next(fresh) for place, n in chosen.items()}
            keys = tuple(every[place] for place in range(len(own)))
            if keys not in seen:
                seen.add(keys)
                yield keys


def _by_names(own: Sequence[_OwnKey], shared: Sequence[_SharedKey]) -> dict[int, int]:
    """Return the keys that have the name of a shared one, with its number."""
    named: dict[int, int] = {}
    for place, key in enumerate(own):
        same = [n for n, one in enumerate(shared) if key.name and key.name in one.names]
        free = [n for n in same if n not in named.values()]
        if free:
            named[place] = free[0]
    return named


def _leaves_forced(
    own: Sequence[_OwnKey],
    shared: Sequence[_SharedKey],
    chosen: Mapping[int, int],
    free: Sequence[int],
) -> bool:
    left = [n for n in free if n not in chosen.values()]
    new = [own[place] for place, n in chosen.items() if n < 0]
    return any(shared[n].is_forced(key) for n in left for key in new)


def _names(own: Sequence[_OwnKey], keys: Sequence[int], width: int) -> tuple[CellName, ...]:
    """Return what each cell of a table's layout is called by its labels, in the layout's order: of
    so many keys, and of the label that all cells have."""
    labels = [key.labels for key in own[:width]]
    heads = {(keys[place], own[place].labels[0]) for place in range(width, len(own))}
    sizes = [len(some) + 1 for some in labels]
    names = []
    for place in range(int(np.prod(sizes))):
        codes = np.unravel_index(place, sizes)
        parts = zip(keys, labels, codes, strict=False)
        named = {(key, some[code]) for key, some, code in parts if code < len(some)}
        names.append(frozenset(named | heads))
    return tuple(names)


def _figures(
    table: FinishedTable, names: Sequence[CellName]
) -> Iterator[tuple[CellName, tuple[float, float]]]:
    """Yield the names of the cells that a table shows, with their figures and how far these may be
    off."""
    figures = zip(table.values.tolist(), table.slack.tolist(), strict=True)
    for place, is_blank, figure in zip(table.places.tolist(), table.is_blank, figures, strict=True):
        if not is_blank:
            yield names[place], figure


def _fit(table: FinishedTable, names: Sequence[CellName], figures: Known) -> tuple[int, int]:
    """Return how many figures differ from those of their cells, and how many agree."""
    clashes = agreeing = 0
    for name, (figure, off) in _figures(table, names):
        if (former := figures.get(name)) is not None:
            is_off = abs(former[0] - figure) > former[1] + off + _NEAR * abs(former[0])
            clashes, agreeing = clashes + is_off, agreeing + (not is_off)
    return clashes, agreeing
