"""What the privacy models say of a class, in plain Python, straight from the definitions.

It shares no code with the engine. A class is a list of pairs of a person and a value; None is
no value. Whoever has a value in several rows has it once.
"""

import math
from collections import Counter


def counts(pairs):
    """Return how many persons have each value."""
    return Counter(value for _, value in {pair for pair in pairs if pair[1] is not None})


def holders(pairs):
    """Return how many persons have any value."""
    return len({person for person, value in pairs if value is not None})


def shares(pairs):
    found = counts(pairs)
    return {value: times / found.total() for value, times in found.items()}


def distinct(pairs, _table, _asked):
    found = counts(pairs)
    return min(len(found), holders(pairs) - max(found.values()) + 1) if found else 0


def entropy(pairs, _table, _asked):
    found = shares(pairs).values()
    return math.exp(-sum(p * math.log(p) for p in found)) if found else 0


def recursive(pairs, _table, asked):
    ordered = sorted(counts(pairs).values(), reverse=True)
    tail = sum(ordered[asked["l"] - 1 :])
    return ordered[0] / tail if tail else math.inf


def most_frequent(pairs, _table, _asked):
    found = counts(pairs)
    return max(found.values()) / holders(pairs) if found else 1


def closeness(pairs, table, asked):
    """Return how far a class is from the table, by the distance of its column."""
    p, q = shares(pairs), shares(table)
    if not p:
        return 1
    excess = {value: p.get(value, 0) - q[value] for value in sorted(q)}
    if asked["distance"] == "ordered":
        sums, total = 0.0, 0.0
        for one in excess.values():
            total += one
            sums += abs(total)
        return sums / max(len(q) - 1, 1)
    if asked["distance"] == "hierarchical":
        return _moved(excess, asked["taxonomy"])
    return sum(map(abs, excess.values())) / 2


def _moved(excess, tree):
    """Li, Li, Venkatasubramanian, ICDE 2007: the sum over nodes of height / H * min(in, out)."""
    children, moved = {}, 0.0
    for node, parent in enumerate(tree.parents):
        children.setdefault(parent, []).append(node)

    def visit(node):
        nonlocal moved
        below = [visit(child) for child in children.get(node, [])]
        if not below:
            return 0, excess.get(tree.labels[node], 0)
        height = 1 + max(h for h, _ in below)
        flows = [extra for _, extra in below]
        moved += height * min(sum(f for f in flows if f > 0), -sum(f for f in flows if f < 0))
        return height, sum(flows)

    height, _ = visit(0)
    return moved / max(height, 1)


def gain(pairs, table, _asked):
    p, q = shares(pairs), shares(table)
    return max((max((p[value] - q[value]) / q[value], 0) for value in p), default=math.inf)


def enhanced_gain(pairs, table, _asked):
    p, q = shares(pairs), shares(table)
    gains = {value: max((p[value] - q[value]) / q[value], 0) for value in p}
    if any(one > -math.log(q[value]) + 1e-12 for value, one in gains.items()):
        return math.inf
    return max(gains.values(), default=math.inf)


def disclosure(pairs, table, _asked):
    p, q = shares(pairs), shares(table)
    return max((abs(math.log(p[value] / q[value])) for value in p), default=math.inf)


MEASURES = {
    "l": (distinct, "at least"),
    "entropy-l": (entropy, "at least"),
    "recursive-c": (recursive, "below"),
    "alpha": (most_frequent, "at most"),
    "t": (closeness, "at most"),
    "beta": (gain, "at most"),
    "enhanced-beta": (enhanced_gain, "at most"),
    "delta": (disclosure, "below"),
}
"""The measure of each bound by its name, and in which sense it holds."""


def holds(name, asked, achieved, slack=1e-7):
    """Tell whether a figure is good enough, but for `slack`, which rounding can make up."""
    if MEASURES[name][1] == "at least":
        return achieved >= asked - slack
    return achieved <= asked + slack


def worst(name, classes, table, asked):
    """Return the figure of the class that comes furthest from holding."""
    measure, sense = MEASURES[name]
    figures = [measure(pairs, table, asked) for pairs in classes]
    return min(figures) if sense == "at least" else max(figures)
