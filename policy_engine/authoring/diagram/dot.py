"""A picture in Graphviz's language, from left to right: parties, rules, assets."""

import html
from collections.abc import Iterable, Iterator, Mapping

from policy_engine.authoring.diagram.picture import (
    Edge,
    EdgeKind,
    Line,
    NodeKind,
    Picture,
    PictureNode,
    Weight,
)

_FONT = "Helvetica,Arial,sans-serif"
_INK, _FAINT, _GREY = "#1f2933", "#52606d", "#7b8794"
_COLOURS: Mapping[NodeKind, tuple[str, str]] = {
    "party": ("#52606d", "#f5f7fa"),
    "purpose": ("#8f3b6b", "#faf0f6"),
    "action": ("#7b8794", "#ffffff"),
    "permission": ("#00664b", "#e8f5f0"),
    "prohibition": ("#b23a00", "#fdeee6"),
    "obligation": ("#005a9c", "#e7f1fa"),
    "duty": ("#005a9c", "#e7f1fa"),
    "asset": ("#52606d", "#eef1f4"),
    "output": ("#8a6100", "#fff4d6"),
    "ended": ("#b23a00", "#ffffff"),
}
# Shapes and lines show the kinds to readers who cannot tell the colours apart.
_SHAPES: Mapping[NodeKind, str] = {
    "party": "shape=ellipse, style=filled, margin=0.05",
    "purpose": "shape=hexagon, style=filled, margin=0.03",
    "action": 'shape=box, style="filled,dotted", margin=0.08',
    "permission": 'shape=box, style="filled,rounded", penwidth=1.6, margin=0.1',
    "prohibition": 'shape=octagon, style="filled,dashed", penwidth=2, margin=0.02',
    "obligation": "shape=note, style=filled, penwidth=1.6, margin=0.1",
    "duty": "shape=note, style=filled, margin=0.1",
    "asset": "shape=plain",
    "output": "shape=plain",
    "ended": 'shape=note, style="filled,dashed", penwidth=1.6, margin=0.1',
}
_RULES = ("permission", "prohibition", "obligation")
_TABLES = ("asset", "output")
_EDGES: Mapping[EdgeKind, str] = {
    "who": f'color="{_FAINT}"',
    "why": 'color="#8f3b6b", style=dotted, arrowhead=open',
    "permits": 'color="#00664b", penwidth=1.6',
    "prohibits": 'color="#b23a00", penwidth=1.8, style=dashed, arrowhead=tee, arrowsize=1.1',
    "obliges": 'color="#005a9c", penwidth=1.6, style=dotted',
    "makes": 'color="#8a6100", penwidth=1.6, arrowhead=vee',
    "within": f'color="{_GREY}", arrowhead=onormal',
    "duty": 'color="#005a9c", style=dotted, arrowhead=dot, arrowsize=0.6',
    "owns": f'color="{_FAINT}", arrowhead=odiamond',
    "derived": 'color="#6b4fa0", penwidth=1.4, arrowhead=normal',
    "ended": 'color="#b23a00", penwidth=1.4, style=dashed, arrowhead=normal',
}
_SIZES: Mapping[Weight, int] = {"caption": 9, "strong": 12, "plain": 10, "faint": 10}


def to_dot(picture: Picture) -> str:
    """Return a picture in DOT. All text of a policy is escaped and used only in labels."""
    return "\n".join(_Writer(picture).statements()) + "\n"


class _Writer:
    """Writes the statements; node names are numbers, so that no name needs escaping."""

    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        self.ids = {node.key: f"n{n}" for n, node in enumerate(picture.nodes)}
        self.ends = {**self.ids, **dict(self._ports())}

    def _ports(self) -> Iterator[tuple[str, str]]:
        """Yield the ends of edges to whole datasets, and to columns of them."""
        for node in self.picture.nodes:
            for number, line in enumerate(node.lines):
                if node.kind in _TABLES and (line.key or len(node.lines) > 1):
                    yield line.key or node.key, f"{self.ids[node.key]}:c{number}:w"

    def statements(self) -> Iterator[str]:
        """Yield the lines of the text."""
        yield "digraph policy {"
        yield '  graph [rankdir=LR, bgcolor="#ffffff", pad=0.3, nodesep=0.28, ranksep=0.75,'
        yield f'    splines=true, fontname="{_FONT}", fontsize=12, fontcolor="{_INK}"];'
        yield f'  node [fontname="{_FONT}", fontsize=10, fontcolor="{_INK}"];'
        yield f'  edge [fontname="{_FONT}", fontsize=9, fontcolor="{_FAINT}", arrowsize=0.8];'
        if self.picture.title:
            yield f"  graph [labelloc=t, labeljust=l, label=<{_title(self.picture.title)}>];"
        for number, (group, title) in enumerate(self.picture.groups):
            yield from self._cluster(number, group, title)
        grouped = {group for group, _ in self.picture.groups}
        yield from (f"  {self._node(n)}" for n in self.picture.nodes if n.group not in grouped)
        if not grouped:
            yield f"  {self._rank_rules(self.picture.nodes)}"
        yield from (f"  {self._edge(edge)}" for edge in self.picture.edges)
        yield from self._ordering_edges()
        yield "}"

    def _cluster(self, number: int, group: str, title: str) -> Iterator[str]:
        yield f"  subgraph cluster_{number} {{"
        yield f'    graph [style="rounded,dashed", color="{_GREY}", margin=14, labeljust=l,'
        yield f'      fontcolor="{_FAINT}", label={_quote(title)}];'
        members = [node for node in self.picture.nodes if node.group == group]
        yield from (f"    {self._node(node)}" for node in members)
        yield f"    {self._rank_rules(members)}"
        yield "  }"

    def _rank_rules(self, nodes: Iterable[PictureNode]) -> str:
        rules = [f"{self.ids[node.key]};" for node in nodes if node.kind in _RULES]
        return f"{{ rank=same; {' '.join(rules)} }}"

    def _ordering_edges(self) -> Iterator[str]:
        """Yield invisible edges that keep nodes named by no rule before the rules."""
        rules = {node.key for node in self.picture.nodes if node.kind in _RULES}
        rule_of = {edge.tail: edge.head for edge in self.picture.edges if edge.head in rules}
        for edge in self.picture.edges:
            if edge.kind == "within" and edge.tail in rule_of and edge.head not in rule_of:
                head = self.ids[rule_of[edge.tail]]
                yield f"  {self.ids[edge.head]} -> {head} [style=invis, weight=0];"

    def _node(self, node: PictureNode) -> str:
        line, fill = _COLOURS[node.kind]
        is_table = node.kind in _TABLES
        label = _table(node, line, fill) if is_table else _card(node, line)
        colours = "" if is_table else f', color="{line}", fillcolor="{fill}"'
        parts = f"{_SHAPES[node.kind]}{colours}, tooltip={_quote(node.tooltip)}, label=<{label}>"
        return f"{self.ids[node.key]} [{parts}];"

    def _edge(self, edge: Edge) -> str:
        tail, head = self.ends[edge.tail], self.ends[edge.head]
        style = _EDGES[edge.kind]
        if edge.kind == "within" and edge.tail.startswith(("asset:", "column:")):
            # Datasets come before their parts, next to the rules.
            style += ", dir=back, arrowtail=onormal"
            tail = tail.partition(":")[0]
        label = f", label={_quote(f' {edge.label} ')}" if edge.label else ""
        return f"{tail} -> {head} [{style}{label}];"


def _card(node: PictureNode, colour: str) -> str:
    rows = "".join(f'<TR><TD ALIGN="LEFT">{_text(one, colour)}</TD></TR>' for one in node.lines)
    return f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="1">{rows}</TABLE>'


def _table(node: PictureNode, colour: str, fill: str) -> str:
    head, *rows = node.lines
    title = _text(Line(node.kind, "caption"), colour) + "<BR/>" + _text(head, _INK)
    cells = f'<TR><TD COLSPAN="2" PORT="c0" BGCOLOR="{fill}" CELLPADDING="5">{title}</TD></TR>'
    cells += "".join(_row(row, number) for number, row in enumerate(rows, 1))
    frame = f'BORDER="1.5" CELLBORDER="0" CELLSPACING="0" CELLPADDING="4" COLOR="{colour}"'
    return f'<TABLE {frame} STYLE="ROUNDED" BGCOLOR="#ffffff">{cells}</TABLE>'


def _row(row: Line, number: int) -> str:
    # There are no tooltips without links; links are removed from the SVG afterwards.
    tip = f'HREF="#" TOOLTIP="{_escape(row.tooltip)}"'
    name = f'<TD ALIGN="LEFT" PORT="c{number}" {tip}>{_text(row, _INK)}</TD>'
    aside = _text(Line(row.aside, "caption"), _FAINT)
    return f'<TR>{name}<TD ALIGN="RIGHT">{aside}</TD></TR>'


def _title(lines: tuple[Line, ...]) -> str:
    return "".join(f'{_text(line, _INK)}<BR ALIGN="LEFT"/>' for line in lines)


def _text(line: Line, colour: str) -> str:
    markup = _escape(line.text) or " "
    markup = f"<B>{markup}</B>" if line.weight == "strong" else markup
    colours: dict[Weight, str] = {"caption": colour, "faint": _FAINT}
    ink = colours.get(line.weight, _INK)
    return f'<FONT COLOR="{ink}" POINT-SIZE="{_SIZES[line.weight]}">{markup}</FONT>'


def _escape(text: str) -> str:
    """Return a text for an HTML-like label, without characters that Graphviz would replace."""
    return html.escape(text).replace("\\", "&#92;").replace("\n", "&#10;")


def _quote(text: str) -> str:
    """Return a text as a quoted string that Graphviz does not interpret."""
    return f'"{_escape(text)}"'
