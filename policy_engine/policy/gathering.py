"""What the nodes of a directed graph lead to, gathered for all of them at once."""

from collections.abc import Callable, Iterable, Mapping

Edges = Callable[[str], Iterable[str]]
"""The nodes that one leads to at once."""


def gather_bits(starts: Iterable[str], edges: Edges, own: Mapping[str, int]) -> dict[str, int]:
    """Return, by node, the bits of all that it leads to and its own, joined by `or`.

    Of the starts and of all that they lead to. Each edge is walked once, circles or not: nodes
    on a circle lead to the same, and a circle is done once it is left (Tarjan 1972).
    """
    walk = _DepthFirstWalk(edges, own)
    for start in starts:
        if start not in walk.number:
            walk.all_from(start)
    return walk.found


class Circles:
    """The nodes of a directed graph that lead to one another.

    Each edge is walked once, however many nodes are asked for.
    """

    def __init__(self, edges: Edges) -> None:
        self._walk = _DepthFirstWalk(edges, {})

    def are_joined(self, one: str, other: str) -> bool:
        """Tell whether two nodes lead to one another, as each node does to itself."""
        return self._circle(one) == self._circle(other)

    def _circle(self, node: str) -> str:
        """Return the node of a circle that was entered first, itself where it is on none."""
        if node not in self._walk.number:
            self._walk.all_from(node)
        return self._walk.circles[node]


class _DepthFirstWalk:
    """A walk in depth, which remembers the nodes that are not done."""

    def __init__(self, edges: Edges, own: Mapping[str, int]) -> None:
        self.edges = edges
        self.own = own
        self.number: dict[str, int] = {}
        self.found: dict[str, int] = {}
        self.circles: dict[str, str] = {}
        self._low: dict[str, int] = {}
        self._bits: dict[str, int] = {}
        self._open: list[str] = []

    def all_from(self, start: str) -> None:
        path = [(start, iter(self._entered(start)))]
        while path:
            node, rest = path[-1]
            new = next((other for other in rest if not self._joined(node, other)), None)
            if new is not None:
                path.append((new, iter(self._entered(new))))
                continue
            path.pop()
            if self._low[node] == self.number[node]:
                self._close(node)
            if path:
                self._joined(path[-1][0], node)

    def _entered(self, node: str) -> Iterable[str]:
        self._low[node] = self.number[node] = len(self.number)
        self._bits[node] = self.own.get(node, 0)
        self._open.append(node)
        return self.edges(node)

    def _joined(self, node: str, other: str) -> bool:
        """Take up what is known of a node that another leads to; tell whether anything is."""
        if other in self.found:
            self._bits[node] |= self.found[other]
        elif other in self.number:
            self._low[node] = min(self._low[node], self._low[other])
        return other in self.number

    def _close(self, node: str) -> None:
        """Give all nodes of a circle, or the one that is on none, what they lead to."""
        place = len(self._open) - 1
        while self._open[place] != node:
            place -= 1
        circle = self._open[place:]
        del self._open[place:]
        bits = 0
        for one in circle:
            bits |= self._bits.pop(one)
        self.found.update(dict.fromkeys(circle, bits))
        self.circles.update(dict.fromkeys(circle, node))
