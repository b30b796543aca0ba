"""The split of a table into rows to learn and rows held out: equal ones are on one side."""

import contextlib

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from policy_engine.engines.synthesising.equal_cells import row_numbers
from policy_engine.engines.synthesising.holding_out import split
from policy_engine.engines.tables import read_table
from policy_engine.errors import DataError


def table(*rows):
    return pa.table({"x": [one for one, _ in rows], "y": [one for _, one in rows]})


def test_rows_are_numbered_as_they_first_occur():
    rows = table((3, "b"), (1, "a"), (3, "b"), (3, "a"), (1, "a"))
    assert row_numbers(rows).tolist() == [0, 1, 0, 2, 1]
    assert row_numbers(rows.slice(0, 0)).tolist() == []


def are_several(values):
    return max(map(values.count, values)) < 0.3 * len(values)


@given(
    st.lists(st.integers(0, 9), min_size=20, max_size=60).filter(are_several),
    st.integers(0),
    st.floats(0.2, 0.8),
)
def test_equal_rows_are_never_on_both_sides(values, seed, share):
    rows = pa.table({"x": values})
    learnt, held_out = (one.table["x"].to_pylist() for one in split(rows, share, seed))
    assert not {*learnt} & {*held_out}
    assert sorted(learnt + held_out) == sorted(values)
    # No other end of the drawn ones is nearer than half of the largest group.
    largest = max(map(values.count, values))
    assert abs(len(held_out) - round(share * len(values))) <= largest / 2


def test_a_table_of_one_distinct_row_cannot_be_split():
    with pytest.raises(DataError, match="1 are distinct") as caught:
        split(table(*[(1, "a")] * 9), 0.5, 1)
    assert caught.value.code == "R001"


@given(
    st.lists(st.tuples(st.integers(0, 99), st.integers(0, 999)), min_size=30, max_size=60),
    st.integers(0),
)
def test_neither_persons_nor_equal_rows_are_ever_on_both_sides(pairs, seed):
    persons, values = np.array(pairs).T
    sides = []
    with contextlib.suppress(DataError):  # some are of one group
        sides = split(pa.table({"x": values}), 0.5, seed, persons)
    assume(sides)
    people = [{*one.persons.tolist()} for one in sides]
    rows = [{*one.table["x"].to_pylist()} for one in sides]
    assert not people[0] & people[1]
    assert not rows[0] & rows[1]
    assert sum(one.table.num_rows for one in sides) == len(pairs)


def test_persons_whom_equal_rows_link_to_one_group_cannot_be_split():
    persons, values = np.arange(100) // 2, (np.arange(100) + 1) // 2
    with pytest.raises(DataError, match="50 of 50 persons are linked by rows") as caught:
        split(pa.table({"x": values}), 0.5, 1, persons)
    assert caught.value.code == "R001"


def test_one_person_with_all_rows_cannot_be_split():
    with pytest.raises(DataError, match="1 groups are apart") as caught:
        split(pa.table({"x": range(9)}), 0.5, 1, np.zeros(9, np.int64))
    assert caught.value.code == "R001"


def test_without_a_share_all_rows_are_learnt():
    learnt, held_out = split(table((1, "a"), (1, "a")), 0, 1)
    assert (learnt.table.num_rows, held_out.table.num_rows) == (2, 0)


def test_equal_numbers_are_on_one_side_where_another_has_more_digits_than_a_float(tmp_path):
    spellings = [f"{row}.5{'0' * place}" for row in range(100) for place in range(6)]
    (tmp_path / "t.csv").write_text("\n".join(["x", *spellings, "1.51234567890123456\n"]))
    learnt, held_out = (
        {*map(float, one.table["x"].to_pylist())}
        for one in split(read_table(tmp_path / "t.csv"), 0.5, 1)
    )
    assert not learnt & held_out
