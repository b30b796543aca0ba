"""A picture before layout: nodes with lines of text, edges and groups."""

from dataclasses import dataclass
from typing import Literal

NodeKind = Literal[
    "party",
    "purpose",
    "action",
    "permission",
    "prohibition",
    "obligation",
    "duty",
    "asset",
    "output",
    "ended",
]
EdgeKind = Literal[
    "who",
    "why",
    "permits",
    "prohibits",
    "obliges",
    "makes",
    "within",
    "duty",
    "owns",
    "derived",
    "ended",
]
Weight = Literal["caption", "strong", "plain", "faint"]


@dataclass(frozen=True)
class Line:
    """A line of text, with an optional second text at the right end.

    `key` names a line at which edges end, `tooltip` is its full text.
    """

    text: str
    weight: Weight = "plain"
    tooltip: str = ""
    key: str = ""
    aside: str = ""


@dataclass(frozen=True)
class PictureNode:
    """A box with a few lines of text; for an asset, the lines after the first are columns."""

    key: str
    kind: NodeKind
    lines: tuple[Line, ...]
    tooltip: str
    group: str = ""


@dataclass(frozen=True)
class Edge:
    """A connection between two nodes, or lines of them, by their keys."""

    tail: str
    head: str
    kind: EdgeKind
    label: str = ""


@dataclass(frozen=True)
class Picture:
    """Everything drawn. `groups` are titles by the key that nodes use."""

    title: tuple[Line, ...]
    nodes: tuple[PictureNode, ...]
    edges: tuple[Edge, ...]
    groups: tuple[tuple[str, str], ...] = ()
