"""A picture before it is laid out: nodes with lines of text, edges and groups."""

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
    """A line of text, and what stands beside it at the right end.

    `key` names a line that edges end at, `tooltip` is its text in full.
    """

    text: str
    weight: Weight = "plain"
    tooltip: str = ""
    key: str = ""
    aside: str = ""


@dataclass(frozen=True)
class PictureNode:
    """A thing with a few lines of text; of an asset, the lines behind the first are columns."""

    key: str
    kind: NodeKind
    lines: tuple[Line, ...]
    tooltip: str
    group: str = ""


@dataclass(frozen=True)
class Edge:
    """A line between two nodes, or lines of them, by their keys."""

    tail: str
    head: str
    kind: EdgeKind
    label: str = ""


@dataclass(frozen=True)
class Picture:
    """What is drawn. `groups` are titles by the key that nodes name them with."""

    title: tuple[Line, ...]
    nodes: tuple[PictureNode, ...]
    edges: tuple[Edge, ...]
    groups: tuple[tuple[str, str], ...] = ()
