"""Parts of a table that is in several places are those of a table in one, and so are its means."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.kernels.microaggregation import (
    PlacedRows,
    aggregate,
    blocks,
    cut_blocks,
    cut_far,
    far_blocks,
    scale,
)


def asking(places):
    return lambda question: [question.reply(one) for one in places if len(one.values)]


def placed(values, words, count):
    """Return the rows in so many places, dealt in turn."""
    return [PlacedRows(values[n::count], words[n::count]) for n in range(count)]


def table(rows, columns, kind, seed=0):
    random = np.random.default_rng(seed)
    words = random.integers(0, 2**64, rows, dtype=np.uint64)
    values = {
        "normal": random.normal(size=(rows, columns)),
        "ties": random.integers(0, 3, (rows, columns)).astype(float),
        "constant": np.full((rows, columns), 7.0),
        "far": np.exp(random.normal(0, 4, (rows, columns))),
    }[kind]
    return values, words


@pytest.mark.one_in(12)
@pytest.mark.parametrize("places", [1, 3, 8])
@pytest.mark.parametrize("kind", ["normal", "ties", "constant", "far"])
def test_parts_are_those_of_a_table_in_one_place(kind, places, monkeypatch):
    monkeypatch.setattr(far_blocks, "_KEPT", 5)
    values, words = table(500, 3, kind)
    found = cut_far(asking(placed(values, words, places)), 3, 500, 60)
    order = np.lexsort((words, *values.T))
    ranks = np.empty(500, dtype=np.uint64)
    ranks[order] = np.arange(500)
    expected = cut_blocks(scale(values).points(values), ranks, 3, 60)
    assert found.count == len(expected.rows) > 5
    of_row = found.of_rows(PlacedRows(values, words))
    assert [np.flatnonzero(of_row == n).tolist() for n in range(found.count)] == [
        rows.tolist() for rows in expected.rows
    ]


@pytest.mark.nightly
@settings(max_examples=20, deadline=None)
@given(
    st.integers(30, 300),
    st.integers(2, 4),
    st.sampled_from(["normal", "ties", "far"]),
    st.integers(1, 5),
    st.integers(0, 10**6),
)
def test_means_of_parts_are_those_of_the_table(rows, k, kind, places, seed):
    values, words = table(rows, 2, kind, seed)
    with pytest.MonkeyPatch.context() as patch:
        # Small tables have one block: here they have several, as large ones do.
        patch.setattr(blocks, "_MOST_COMPARISONS", 0)
        patch.setattr(blocks, "_LEAST_TIMES_K", 4)
        found = cut_far(asking(placed(values, words, places)), k, rows, 8 * k)
        made, of_row = np.empty_like(values), found.of_rows(PlacedRows(values, words))
        for part in range(found.count):
            inside = of_row == part
            made[inside] = aggregate(values[inside], k, words[inside], (rows, found.scale))
        assert (made == aggregate(values, k, words)).all()
