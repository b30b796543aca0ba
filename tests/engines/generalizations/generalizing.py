"""What the tests of generalisations share: columns, classes, cells, and laws that all obey."""

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from policy_engine.data.cells import read_cell
from policy_engine.engines.encoding import encode
from policy_engine.engines.generalizations import code_finder, generalizer, losses
from policy_engine.kernels.axis import Interval, Members
from policy_engine.kernels.mondrian import Partition
from policy_engine.methods.columns import QuasiIdentifier


def encoded(values, kind=None):
    """Encode a column, texts as those of a CSV file."""
    return encode("x", pa.chunked_array([pa.array(values, kind)]), numbers=True)


def asked(generalization=None, **settings):
    return QuasiIdentifier(name="x", generalization=generalization, **settings)


def classes(parts):
    """Return the classes that lists of row numbers make up."""
    order = np.array([row for part in parts for row in part], dtype=np.int64)
    return Partition(order, np.cumsum([0, *map(len, parts)]))


def made(values, generalization=None, tree=None, **settings):
    return generalizer("x", encoded(values), asked(generalization, **settings), tree)


def cells(values, parts, generalization=None, tree=None, **settings):
    """Return the cell of every class."""
    number, texts = made(values, generalization, tree, **settings).cells(classes(parts))
    assert len(set(texts)) == len(texts)
    return [texts[cell] for cell in number]


def rungs(values, generalization=None, tree=None, **settings):
    """Return the cell of every row at every height of the ladder."""
    one = made(values, generalization, tree, **settings)
    ladder = one.ladder()
    return [
        [one.labels_at(height)[group] for group in level[ladder.codes]]
        for height, level in enumerate(ladder.levels)
    ]


def prices(texts, generalization=None, tree=None, *, wildcard=False, **settings):
    """Return what cells cost, as read back."""
    found = losses("x", texts, asked(generalization, **settings), tree, wildcard=wildcard)
    return found.tolist()


@st.composite
def parted(draw, values):
    """Draw rows of values, some missing, and a partition of them."""
    rows = draw(st.lists(st.none() | values, min_size=1, max_size=12))
    part = draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    found = [[row for row, one in enumerate(part) if one == number] for number in range(4)]
    return rows, [rows_of for rows_of in found if rows_of]


def hold_laws(rows, parts, generalization, tree=None, **settings):
    """Assert what holds of every generalisation of any rows in any classes."""
    column, one = encoded(rows), made(rows, generalization, tree, **settings)
    written = cells(rows, parts, generalization, tree, **settings)
    assert len(one.column.codes) == len(rows)
    labels = [one.column.labels[code] for code in one.column.codes]
    assert labels == [column.labels[code] for code in column.codes]
    covers = code_finder(asked(generalization, **settings), column, tree)
    for part, cell in zip(parts, written, strict=True):
        read_cell(cell)
        assert set(column.codes[part]) <= set(covers(cell).tolist())
    found = losses("x", written, asked(generalization, **settings), tree)
    assert found is None or ((found >= 0) & (found <= 1)).all()
    climbs(one, column, covers)


def climbs(one, column, covers):
    """Assert that a ladder is nested, that its cells hold their rows, and cost ever more."""
    ladder = one.ladder()
    assert ladder.is_nested()
    before = np.zeros(len(ladder.levels[0]))
    for height in range(len(ladder.levels)):
        penalty = ladder.penalties(height)
        assert (penalty >= before - 1e-12).all()
        assert (penalty <= 1).all()
        before = penalty
        labels = one.labels_at(height)
        assert len(labels) == ladder.levels[height].max() + 1
        for group, code in {*zip(ladder.levels[height][ladder.codes], column.codes, strict=True)}:
            assert code in covers(labels[group])
    if len(ladder.codes):
        assert not ladder.levels[-1][ladder.codes].any()


def price(shape, codes):
    """Return what a cell over codes other than missing costs the partitioner."""
    low, high = min(codes), max(codes)
    if isinstance(shape, Interval):
        return shape.position[high] - shape.position[low]
    if isinstance(shape, Members):
        return len(set(codes)) / shape.size if low < high else 0.0
    ways = [way_up(shape, code) for code in codes]
    [node] = [node for node in ways[0] if all(node in way for way in ways)][:1]
    return shape.loss[node]


def way_up(tree, code):
    node, way = tree.leaf[code], []
    while node >= 0:
        way.append(node)
        node = tree.parent[node]
    return way
