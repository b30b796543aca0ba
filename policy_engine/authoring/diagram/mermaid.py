"""A picture as a Mermaid flowchart, which many viewers of Markdown can draw."""

import re
from collections.abc import Iterator, Mapping

from policy_engine.authoring.diagram.picture import (
    Edge,
    EdgeKind,
    Line,
    NodeKind,
    Picture,
    PictureNode,
)

_UNSAFE = re.compile(r"[^\w .,/·…=≠≤≥()-]|_")
_SHAPES: Mapping[NodeKind, tuple[str, str]] = {
    "party": ("([", "])"),
    "purpose": ("{{", "}}"),
    "action": ("[[", "]]"),
    "permission": ("(", ")"),
    "prohibition": ("[/", "\\]"),
    "obligation": ("[/", "/]"),
    "duty": ("[/", "/]"),
    "asset": ("[", "]"),
    "output": ("[(", ")]"),
    "ended": (">", "]"),
}
_ARROWS: Mapping[EdgeKind, str] = {
    "who": "-->",
    "why": "-.->",
    "permits": "==>",
    "prohibits": "-.-x",
    "obliges": "-.->",
    "makes": "==>",
    "within": "--o",
    "duty": "-.->",
    "owns": "-->",
    "derived": "-->",
    "ended": "-.->",
}
_COLOURS: Mapping[EdgeKind, str] = {
    "why": "#8f3b6b",
    "permits": "#00664b",
    "prohibits": "#b23a00",
    "obliges": "#005a9c",
    "makes": "#8a6100",
    "within": "#7b8794",
    "duty": "#005a9c",
    "derived": "#6b4fa0",
    "ended": "#b23a00",
}
_CLASSES = (
    "classDef party fill:#f5f7fa,stroke:#52606d,color:#1f2933",
    "classDef purpose fill:#faf0f6,stroke:#8f3b6b,color:#1f2933",
    "classDef action fill:#ffffff,stroke:#7b8794,color:#1f2933",
    "classDef permission fill:#e8f5f0,stroke:#00664b,stroke-width:2px,color:#1f2933",
    "classDef prohibition fill:#fdeee6,stroke:#b23a00,stroke-width:2px,stroke-dasharray:6 4",
    "classDef obligation fill:#e7f1fa,stroke:#005a9c,stroke-width:2px,color:#1f2933",
    "classDef duty fill:#e7f1fa,stroke:#005a9c,color:#1f2933",
    "classDef asset fill:#ffffff,stroke:#52606d,color:#1f2933",
    "classDef output fill:#fff4d6,stroke:#8a6100,color:#1f2933",
    "classDef ended fill:#ffffff,stroke:#b23a00,stroke-dasharray:6 4,color:#1f2933",
)


def to_mermaid(picture: Picture) -> str:
    """Return a picture as a Mermaid flowchart.

    In text from a policy, all characters except letters, digits and plain marks are written as
    numeric codes. Full IRIs are in comments, since Mermaid's tooltips are links.
    """
    return "\n".join(_Writer(picture).statements()) + "\n"


class _Writer:
    """Writes the statements; nodes have numbers for names."""

    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        self.ids = {node.key: f"n{n}" for n, node in enumerate(picture.nodes)}
        for node in picture.nodes:
            columns = [line.key for line in node.lines if line.key]
            self.ids |= {key: f"{self.ids[node.key]}c{n}" for n, key in enumerate(columns)}

    def statements(self) -> Iterator[str]:
        yield from (f"%% {_escape(line.text)}" for line in self.picture.title)
        yield "flowchart LR"
        for number, (group, title) in enumerate(self.picture.groups):
            yield f'  subgraph g{number}["{_escape(title)}"]'
            for node in self.picture.nodes:
                if node.group == group:
                    yield from self._node(node, "    ")
            yield "  end"
        for node in self.picture.nodes:
            if not node.group or not self.picture.groups:
                yield from self._node(node, "  ")
        yield from (f"  {self._edge(edge)}" for edge in self.picture.edges)
        yield from (f"  {line}" for line in _CLASSES)
        yield from self._styles()

    def _styles(self) -> Iterator[str]:
        """Yield the colours of datasets with columns, and of lines."""
        for node in self.picture.nodes:
            if any(line.key for line in node.lines):
                yield f"  class {self.ids[node.key]} {node.kind}"
        for number in range(len(self.picture.groups)):
            yield f"  style g{number} fill:#ffffff,stroke:#7b8794,stroke-dasharray:6 4"
        for kind, colour in _COLOURS.items():
            places = [str(n) for n, edge in enumerate(self.picture.edges) if edge.kind == kind]
            if places:
                yield f"  linkStyle {','.join(places)} stroke:{colour}"

    def _node(self, node: PictureNode, indent: str) -> Iterator[str]:
        name = self.ids[node.key]
        yield f"{indent}%% {name} {_escape(node.tooltip)}"
        columns = [line for line in node.lines if line.key]
        if columns:
            yield f'{indent}subgraph {name}["{_label(node.lines[:1])}"]'
            yield f"{indent}  direction TB"
            for line in columns:
                aside = f"<br/>{_escape(line.aside)}" if line.aside else ""
                yield f'{indent}  {self.ids[line.key]}["{_escape(line.text)}{aside}"]:::asset'
            yield f"{indent}end"
            return
        start, end = _SHAPES[node.kind]
        yield f'{indent}{name}{start}"{_label(node.lines)}"{end}:::{node.kind}'

    def _edge(self, edge: Edge) -> str:
        label, arrow = edge.label, _ARROWS[edge.kind]
        if edge.kind == "within" and edge.tail.startswith(("asset:", "column:")):
            # Datasets come before their parts, next to the rules.
            label, arrow = "has the part", "---"
        label_text = f'|"{_escape(label)}"|' if label else ""
        return f"{self.ids[edge.tail]} {arrow}{label_text} {self.ids[edge.head]}"


def _label(lines: tuple[Line, ...]) -> str:
    return "<br/>".join(_escape(line.text) for line in lines)


def _escape(text: str) -> str:
    return _UNSAFE.sub(lambda match: f"#{ord(match[0])};", text.replace("\n", " - "))
