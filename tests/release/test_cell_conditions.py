"""Under which conditions rows are in cells, and which are the same by more than chance."""

from itertools import starmap

import numpy as np
import pandas as pd
import pytest

from policy_engine.audits.outputs.microdata import CodedColumn
from policy_engine.audits.outputs.tabulating import ShownAggregate, TableRows, tabulate
from policy_engine.release.cell_conditions import CellConditions

# District 0 and 1 are of region a, 2 of b; all of district 2 are ill, and none of district 1.
PEOPLE = pd.DataFrame({"district": [0, 0, 1, 1, 2, 2], "ill": [0, 1, 0, 0, 1, 1]})
PEOPLE["region"] = ["a", "a", "a", "a", "b", "b"]
NONE_MISSING = np.zeros((6, 0), np.bool_)


def counted(*keys, rows=None):
    """Return how many of the people, or of some rows, have each combination of keys."""
    numbers = np.arange(6) if rows is None else np.array(rows)
    columns = []
    for name in keys:
        labels, codes = np.unique(PEOPLE[name], return_inverse=True)
        columns.append(CodedColumn(name, codes[numbers], tuple(labels.tolist())))
    table = TableRows(tuple(columns), numbers, {}, (tuple(range(len(keys))),), numbers=numbers)
    return tabulate(table, [ShownAggregate("size", "size")])


def are_same(one, other, missing=NONE_MISSING):
    """Return whether the last cells of two tables have the same condition."""
    conditions = CellConditions(6, missing, [one, other])
    return conditions.are_same(conditions.texts(one)[-1], conditions.texts(other)[-1])


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ((["district"], None), (["district"], None), True),
        ((["district"], None), (["district", "region"], None), True),
        ((["district"], None), (["district", "ill"], None), False),
        ((["district"], None), (["district"], [1, 4, 5]), False),
        ((["district"], None), (["district"], [2, 3, 4, 5]), True),
        ((["region"], None), ([], [4, 5]), True),
    ],
    ids=["same", "hierarchy", "chance", "the ill", "whole districts", "all of a region"],
)
def test_conditions_are_the_same_where_one_follows_from_the_other(one, other, same):
    tables = list(starmap(lambda keys, rows: counted(*keys, rows=rows), (one, other)))
    assert are_same(*tables) is same
    assert are_same(*reversed(tables)) is same


def test_rows_that_have_values_are_known():
    lacking = np.array([[False, True, False, False, True, False]]).T
    present = counted("district", rows=[0, 2, 3, 5])
    assert not are_same(counted("district"), present)
    assert are_same(counted("district"), present, lacking)


def test_a_condition_of_rows_that_nobody_knows_is_another_one():
    table = counted("district")
    conditions = CellConditions(6, NONE_MISSING, [table])
    [own, *_] = conditions.texts(table)
    assert not conditions.are_same(own, own.replace('""', '"other"'))
    assert not conditions.are_same(own, own.replace("district", "county"))
