"""Taxonomies as nested categories: the JSON files of the MOSAICrOWN tools.

    {"cat": "World", "subcats": [{"cat": "Europe", "subcats": null}, ...]}

`subcats` is a list, a lone category, or null.
"""

from dataclasses import dataclass, field
from typing import Any

from policy_engine.data.taxonomy.json_text import (
    Pointer,
    is_text,
    note_duplicate_key,
    place_at,
    pointer_text,
    read_json,
)
from policy_engine.data.taxonomy.problems import MAX_DEPTH, Problems, quote
from policy_engine.data.taxonomy.tree import Taxonomy
from policy_engine.errors import did_you_mean

_KEYS = ("cat", "subcats")
_FORM = 'A category is {"cat": label, "subcats": null, a category, or a list of categories}.'


@dataclass(frozen=True)
class _Item:
    """A category still to be read: its JSON value, the number of the node above, its place."""

    value: Any
    parent: int
    depth: int
    pointer: Pointer


@dataclass
class _Tree:
    labels: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    values: dict[str, Pointer] = field(default_factory=dict)


def read_category_tree(text: str, problems: Problems) -> Taxonomy:
    """Read a tree of categories; labels are strings or numbers, taken as they are written.

    Raises DataError: what is not a category, an empty label, a value twice, too great a depth.
    """
    tree = _Tree()
    stack = [_Item(read_json(text, problems), -1, 0, None)]
    while stack:
        item = stack.pop()
        if item.depth > MAX_DEPTH:
            message = f"The category at {pointer_text(item.pointer)} is too deep. "
            message += f"{MAX_DEPTH} levels are allowed."
            problems.add("T003", message, "", place_at(item.pointer))
        else:
            stack.extend(reversed(_add_category(tree, item, problems)))
        problems.check_size(len(tree.labels) + len(stack))
    problems.refuse()
    return Taxonomy(tuple(tree.labels), tuple(tree.parents))


def _add_category(tree: _Tree, item: _Item, problems: Problems) -> list[_Item]:
    """Add the node of a category; return the categories below it."""
    note_duplicate_key(item.value, item.pointer, problems)
    if not isinstance(item.value, dict):
        message = (
            f"The value at {pointer_text(item.pointer)} is not a category: {quote(item.value)}."
        )
        problems.add("T001", message, _FORM, place_at(item.pointer))
        return []
    _check_keys(item, problems)
    node = len(tree.labels)
    tree.labels.append(_label(item, problems))
    tree.parents.append(item.parent)
    below = _items(item, node, problems)
    if not below and tree.labels[node]:
        _check_value(tree, node, item.pointer, problems)
    return below


def _check_keys(item: _Item, problems: Problems) -> None:
    for key in sorted(item.value.keys() - set(_KEYS)):
        message = f"The category at {pointer_text(item.pointer)} has the key {quote(key)}."
        hint = did_you_mean(key, _KEYS) if len(key) < 80 else ""
        problems.add("T001", message, hint or _FORM, place_at((item.pointer, key)))


def _label(item: _Item, problems: Problems) -> str:
    label = item.value.get("cat")
    place = (item.pointer, "cat")
    if label == "":
        problems.add("T005", f"The label at {pointer_text(place)} is empty.", "", place_at(place))
    elif not is_text(label):
        message = (
            f"The label at {pointer_text(place)} is neither a text nor a number: {quote(label)}."
        )
        problems.add("T001", message, _FORM, place_at(place))
        return ""
    return str(label)


def _items(item: _Item, node: int, problems: Problems) -> list[_Item]:
    """Return the categories under a node, in order."""
    inner = item.value.get("subcats")
    place = (item.pointer, "subcats")
    if inner is None:
        return []
    if isinstance(inner, dict):
        return [_Item(inner, node, item.depth + 1, place)]
    if isinstance(inner, list):
        problems.check_size(len(inner))
        return [
            _Item(value, node, item.depth + 1, (place, str(index)))
            for index, value in enumerate(inner)
        ]
    message = (
        f"The value at {pointer_text(place)} is neither a category nor a list: {quote(inner)}."
    )
    problems.add("T001", message, _FORM, place_at(place))
    return []


def _check_value(tree: _Tree, node: int, pointer: Pointer, problems: Problems) -> None:
    label = tree.labels[node]
    if label in tree.values:
        message = (
            f"The value {quote(label)} appears twice, at {pointer_text(tree.values[label])} and at "
        )
        problems.add("T006", f"{message}{pointer_text(pointer)}.", "", place_at(pointer))
    tree.values.setdefault(label, pointer)
