"""Released records have one digest in whatever order, unless few are distinct."""

import numpy as np
import pyarrow as pa

from policy_engine.audits.generative.released_digests import records_digest, rows_digest

ROWS = np.random.default_rng(0).normal(size=(40, 3))


def table(rows):
    return pa.table({f"c{place}": column for place, column in enumerate(rows.T)})


def test_rows_in_another_order_have_the_same_digest():
    own = rows_digest(table(ROWS))
    assert rows_digest(table(ROWS[::-1])) == own
    assert rows_digest(table(ROWS).select(["c2", "c0", "c1"])) == own
    assert rows_digest(table(np.concatenate([ROWS, ROWS[:1]]))) != own
    assert rows_digest(table(np.column_stack([ROWS[:, 0], ROWS[::-1, 1:]]))) != own


def test_rows_of_few_kinds_have_the_digest_of_their_order():
    few = ROWS[np.arange(40) % 4]
    assert rows_digest(table(few)) == rows_digest(table(few.copy()))
    assert rows_digest(table(few)) != rows_digest(table(few[::-1]))


def test_arrays_have_one_with_their_classes():
    classes, order = np.arange(40) % 2, np.arange(39, -1, -1)
    own = records_digest(ROWS, classes)
    assert records_digest(ROWS[order], classes[order]) == own
    assert records_digest(ROWS[order], classes) != own
    assert records_digest(ROWS, None) != own
