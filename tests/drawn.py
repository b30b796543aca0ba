"""Random small tables for the partitioner, and its rules written down as plainly as can be."""

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from policy_engine.kernels import diversity
from policy_engine.kernels.axis import UNIT, Axis, Interval, Members, Tree
from policy_engine.kernels.bounds import TOLERANCE, Ancestry, ClassConstraint, Diversity
from policy_engine.kernels.layout import LEFT_OVER, Cutting, SensitiveRows


def ints(values):
    return np.array(values, dtype=np.int32)


def interval(codes, position=None, **options):
    """An axis of numbers, evenly spaced unless their positions are given."""
    position = np.linspace(0, 1, max(codes) + 1) if position is None else position
    return Axis(ints(codes), Interval(np.array(position, dtype=np.float64)), **options)


def members(codes, **options):
    return Axis(ints(codes), Members(max(codes) + 1), **options)


def tree(codes, parent, leaf, loss, **options):
    return Axis(ints(codes), Tree(ints(parent), ints(leaf), np.array(loss, float)), **options)


# Tables


@dataclass(frozen=True)
class Table:
    """What `partition` is given."""

    axes: list[Axis]
    people: SensitiveRows
    constraint: ClassConstraint
    cutting: Cutting

    @property
    def arguments(self):
        return self.axes, self.people, self.constraint, self.cutting

    @property
    def rows(self):
        return range(len(self.axes[0].codes))


@st.composite
def tables(
    draw, scores=("loss", "span", "entropy"), relaxed=(False, True), apart=(False, True), **options
):
    rows = draw(st.integers(1, options.pop("most_rows", 30)))
    axes = draw(st.lists(axes_of(rows, options.pop("widest", 9)), min_size=1, max_size=4))
    people, constraint = draw(peoples(rows, **options))
    is_relaxed = draw(st.sampled_from(relaxed))
    keeps_apart = not is_relaxed and draw(st.sampled_from(apart))
    cutting = Cutting(draw(st.sampled_from(scores)), is_relaxed, keeps_apart)
    table = Table(axes, people, constraint, cutting)
    assume(keeps(table, list(table.rows)))
    return table


def moved(table, order):
    """The same table with its rows in another order."""
    axes = [Axis(one.codes[order], *list(vars(one).values())[1:]) for one in table.axes]
    sensitive, persons = table.people.sensitive, table.people.persons
    people = SensitiveRows(
        tuple(c[order] for c in sensitive), None if persons is None else persons[order]
    )
    return Table(axes, people, table.constraint, table.cutting)


@st.composite
def axes_of(draw, rows, widest=9):
    top = draw(st.sampled_from([0, 1, 3, widest]))
    skew = draw(st.booleans())
    codes = draw(codes_of(rows, 0, top))
    codes = (
        ints([min(code, other) for code, other in zip(codes, codes[::-1], strict=True)])
        if skew
        else codes
    )
    has_missing = draw(st.booleans())
    return Axis(
        codes,
        draw(shapes(top + 1, blank=has_missing)),
        has_missing,
        draw(st.booleans()),
        draw(st.sampled_from([1.0, 1.0, 0.5, 3.0, 0.0])),
    )


def codes_of(rows, low, high):
    return st.lists(st.integers(low, high), min_size=rows, max_size=rows).map(ints)


@st.composite
def shapes(draw, size, *, blank):
    kind = draw(st.sampled_from([Interval, Members, Tree]))
    if kind is Members:
        return Members(size)
    values = size - blank
    if kind is Interval:
        position = np.linspace(0, 1, values) ** draw(st.sampled_from([0.5, 1, 3, 40]))
        return Interval(np.concatenate([np.zeros(int(blank)), position]))
    parent, leaf = draw(branches(values))
    return Tree(ints(parent), ints([0] * blank + leaf), draw(losses(parent, leaf)))


@st.composite
def branches(draw, values, *, inner=False):
    """The parents of a tree's nodes and the node of every value, in order; some hold none.

    Where `inner`, values may stand at nodes that have others below them.
    """
    parent, leaf, waiting = [-1], [], [(0, values)]
    while waiting:
        node, held = waiting.pop()
        if held == 1 and (draw(st.booleans()) or len(parent) > 3 * values):
            leaf.append(node)
            continue
        if held and inner and draw(st.booleans()):
            leaf.append(node)
            held -= 1
        below = []
        while held:
            below.append(draw(st.integers(1, held)))
            held -= below[-1]
        below += [0] * draw(st.integers(0, 1))
        waiting += [(len(parent) + place, part) for place, part in enumerate(below) if part][::-1]
        parent += [node] * len(below)
    return parent, leaf


@st.composite
def losses(draw, parent, leaf):
    """A share for every node, none above its parent's; a node with a value costs nothing."""
    loss = [1.0]
    for above in parent[1:]:
        loss.append(loss[above] * draw(st.sampled_from([0.25, 0.5, 1])))
    return np.array([0.0 if node in leaf else loss[node] for node in range(len(parent))])


@st.composite
def peoples(draw, rows, *, most_sensitive=2, persons=(False, True)):
    sensitive = []
    for _ in range(draw(st.integers(0, most_sensitive))):
        _, codes = np.unique(draw(codes_of(rows, -1, 4)), return_inverse=True)
        sensitive.append(ints(codes) - draw(st.integers(0, 1)))
    owners = None
    if draw(st.sampled_from(persons)):
        _, owners = np.unique(draw(codes_of(rows, 0, rows)), return_inverse=True)
        owners = ints(owners)
    people = SensitiveRows(tuple(sensitive), owners)
    bounds = tuple(draw(diversities(people, column)) for column in range(len(sensitive)))
    return people, ClassConstraint(draw(st.integers(1, min(rows, 4))), bounds)


@st.composite
def diversities(draw, people, column):
    """Some bounds on a column, many of them just what some rows of the table reach."""
    rows = range(len(people.sensitive[column]))
    some = draw(st.lists(st.sampled_from(rows), unique=True, min_size=min(2, len(rows))))
    distance = draw(st.sampled_from(["variational", "ordered", "hierarchical"]))
    ancestry = draw(ancestries(int(people.sensitive[column].max()) + 1))
    given_by = figures(people, column, some, distance, ancestry)
    asked = {}
    for name in draw(st.lists(st.sampled_from(list(given_by)), unique=True, max_size=3)):
        figure = given_by[name]
        if name == "recursive":
            asked[name] = (figure[0] * draw(st.sampled_from([1, 1.5])) or 1.0, figure[1])
        elif np.isfinite(figure) and figure > 0:
            asked[name] = figure
    return Diversity(**asked, distance=distance, ancestry=ancestry)


@st.composite
def ancestries(draw, values):
    parent, leaf = draw(branches(values, inner=True))
    return Ancestry(*(np.array(a, np.int64) for a in (parent, heights(parent), leaf)))


def heights(parent):
    found = [0] * len(parent)
    for node in range(len(parent) - 1, 0, -1):
        found[parent[node]] = max(found[parent[node]], found[node] + 1)
    return found


# Whether rows keep the constraint, by the measures that certify a release


def histogram(people, column, rows):
    codes = people.sensitive[column]
    class_of = np.ones(len(codes), dtype=np.int64)
    class_of[list(rows)] = 0
    persons = None if people.persons is None else people.persons.astype(np.int64)
    return diversity.histogram(class_of, 2, codes, persons)


def figures(people, column, rows, distance="variational", ancestry=None, l=2):  # noqa: E741
    h = histogram(people, column, rows)
    tree = None if ancestry is None else diversity.ValueHierarchy(ancestry.parent, ancestry.leaf)
    distances = {
        "variational": lambda: diversity.variational(h),
        "ordered": lambda: diversity.ordered(h),
        "hierarchical": lambda: diversity.hierarchical(h, tree),
    }
    found = {
        "distinct": diversity.distinct(h),
        "entropy": diversity.entropy(h),
        "alpha": diversity.most_frequent(h),
        "t": distances[distance](),
        "beta": diversity.beta(h),
        "enhanced_beta": diversity.enhanced_beta(h),
        "delta": diversity.delta(h),
    }
    plain = {name: figure[0].item() for name, figure in found.items()}
    return {**plain, "recursive": (diversity.recursive(h, l)[0].item(), l)}


def keeps(table, rows):
    constraint, people = table.constraint, table.people
    if units(people, rows) < constraint.size:
        return False
    return all(
        is_diverse(people, column, rows, asked) for column, asked in enumerate(constraint.diversity)
    )


def units(people, rows):
    return len(rows) if people.persons is None else len(set(people.persons[list(rows)].tolist()))


def is_diverse(people, column, rows, asked):
    if asked == Diversity(distance=asked.distance, ancestry=asked.ancestry):
        return True
    c, l = asked.recursive  # noqa: E741
    found = figures(people, column, rows, asked.distance, asked.ancestry, max(l, 1))
    least = {name: getattr(asked, name) for name in ("distinct", "entropy")}
    most = {name: getattr(asked, name) for name in ("alpha", "t", "beta", "enhanced_beta")}
    return (
        all(found[name] >= bound * (1 - TOLERANCE) for name, bound in least.items())
        and all(found[name] <= bound * (1 + TOLERANCE) for name, bound in most.items())
        and (l == 0 or found["recursive"][0] < c * (1 - TOLERANCE))
        and (math.isinf(asked.delta) or found["delta"] < asked.delta * (1 - TOLERANCE))
    )


# What cells cost


def price(axes, rows):
    return sum(price_of_cell(axis, {int(axis.codes[row]) for row in rows}) for axis in axes)


def price_of_cell(axis, codes):
    full = round(axis.weight * UNIT)
    blank = {0} if axis.has_missing else set()
    if isinstance(axis.shape, Members):
        held = len(codes - blank) if axis.is_wildcard else len(codes)
        return full // axis.size * held if held > 1 else 0
    values = codes - blank
    if not values:
        return 0
    if codes != values and not axis.is_wildcard:
        return full
    if isinstance(axis.shape, Interval):
        low, high = (axis.shape.position[end(values)] for end in (min, max))
        return round(high * full) - round(low * full)
    return round(axis.shape.loss[lowest_above(axis.shape, values)] * full)


def lowest_above(tree, codes):
    lines = [line(tree, code) for code in codes]
    return next(node for node in lines[0] if all(node in other for other in lines))


def line(tree, code):
    """The node of a code and all nodes above it, from the lowest to the root."""
    nodes = [int(tree.leaf[code])]
    while tree.parent[nodes[-1]] >= 0:
        nodes.append(int(tree.parent[nodes[-1]]))
    return nodes


# The partition as its rules say


def reference(table):
    return leaves(table, list(table.rows))


def leaves(table, rows):
    sides = cut(table, rows)
    if sides is None:
        return [rows]
    # Equal rows part as they stood at first, whatever cuts led here.
    return [one for side in sides for one in leaves(table, sorted(side))]


def cut(table, rows):
    """The two sides that the rules choose, None where no cut is valid."""
    if table.cutting.score == "loss":
        found = [
            one for turn, axis in enumerate(table.axes) for one in by_loss(table, rows, turn, axis)
        ]
        return min(found, key=lambda one: one[0])[1] if found else None
    for axis in table.axes:
        sides = [
            [row for row in rows if (axis.codes[row] == 0) == is_left] for is_left in (True, False)
        ]
        if is_mixed(axis, rows) and kept(table, [sides]):
            return sides
    for axis in sorted(table.axes, key=lambda axis: -measure(table, axis, rows)):
        found = valid_cuts(table, rows, axis)
        if found:
            return min(found, key=lambda sides: abs(len(sides[0]) - len(sides[1])))
    return None


def is_mixed(axis, rows):
    codes = {int(axis.codes[row]) for row in rows}
    return axis.has_missing and not axis.is_wildcard and 0 in codes and len(codes) > 1


def by_loss(table, rows, turn, axis):
    for sides in valid_cuts(table, rows, axis):
        costs = [price(table.axes, side) for side in sides]
        score = sum(len(side) * cost for side, cost in zip(sides, costs, strict=True))
        size = table.constraint.size
        if (
            sum(units(table.people, side) // size for side in sides)
            < units(table.people, rows) // size
        ):
            score += LEFT_OVER[table.cutting.is_relaxed] * size * sum(costs) // 10
        balance = abs(len(sides[0]) - len(sides[1]))
        yield (score, turn, balance, len(sides[0])), sides


def valid_cuts(table, rows, axis):
    """The valid cuts of a dimension: between values, or through ties where that is allowed."""
    ordered = in_order(axis, rows, table.cutting.score)
    if len({axis.codes[row] for row in rows}) < 2:
        return []
    cuts = [(ordered[:left], ordered[left:]) for left in range(1, len(rows))]
    between = [(one, other) for one, other in cuts if axis.codes[one[-1]] != axis.codes[other[0]]]
    if table.cutting.keeps_apart:
        between = [sides for sides in between if are_apart(axis, *sides)]
    if not table.cutting.is_relaxed:
        cuts = between
    elif len(rows) > 64 * table.constraint.size:
        cuts = kept(table, between) or cuts
    return kept(table, cuts)


def are_apart(axis, left, right):
    """Whether no value of one side is below the node above all of the other side's."""
    if not isinstance(axis.shape, Tree):
        return True
    blank = {0} if axis.has_missing else set()
    one, other = ({int(axis.codes[row]) for row in side} - blank for side in (left, right))
    return not one or not (is_below(axis.shape, one, other) and is_below(axis.shape, other, one))


def is_below(tree, some, all_of):
    """Whether some values stand below the node above all of others."""
    return any(lowest_above(tree, all_of) in line(tree, code) for code in some)


def kept(table, cuts):
    return [sides for sides in cuts if all(keeps(table, side) for side in sides)]


def in_order(axis, rows, score):
    codes = [int(axis.codes[row]) for row in rows]
    times = Counter(codes) if isinstance(axis.shape, Members) and score == "loss" else Counter()
    keys = {row: (-times[code], code) for row, code in zip(rows, codes, strict=True)}
    return sorted(rows, key=keys.get)


def measure(table, axis, rows):
    """The normalised range or entropy of a dimension, in the order of whose fall cuts are tried."""
    codes = [int(axis.codes[row]) for row in rows]
    full = round(axis.weight * UNIT)
    if table.cutting.score == "span":
        at = places(axis)
        return round(at[max(codes)] * full) - round(at[min(codes)] * full)
    if len(set(codes)) < 2:
        return 0.0
    entropy = 0.0
    for _, times in sorted(Counter(codes).items()):
        entropy -= times / len(rows) * math.log(times / len(rows))
    return entropy / math.log(axis.size) * full


def places(axis):
    if isinstance(axis.shape, Interval):
        return axis.shape.position
    blank = int(axis.has_missing)
    return [0.0] * blank + np.linspace(0, 1, axis.size - blank).tolist()
