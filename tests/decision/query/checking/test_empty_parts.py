"""Who would be in a cell of nobody, and in which other cells: by the conditions of both."""

import json

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.decision.query.checking.empty_parts import PartsOfEmptyCells

HERE = 'SELECT 1 FROM "T" AS "T"'
PEOPLE = pa.table(
    {
        "district": ["d1", "d2", "d3", "d1", "d2", "d3"],
        "region": ["north", "north", "south", "north", "north", "south"],
        "sex": ["m", "m", "m", "m", "f", "f"],
        "age": [31, 42, 34, 45, 51, 33],
    }
)


def text(*parts, source=HERE, **keys):
    """Return the text of a condition: values of keys, and other parts."""
    values = [f'"T"."{name}" IS NOT DISTINCT FROM \'{value}\'' for name, value in keys.items()]
    return json.dumps([source, sorted([*parts, *values])])


EMPTY = text(district="d1", sex="f")
find_parts = PartsOfEmptyCells(lambda _, columns: PEOPLE.select(columns))


def told(empties, *conditions):
    """Return of each condition whether all persons of a group are in it, or some."""
    parts = find_parts(empties, conditions)
    assert parts.sums[: len(conditions)] == tuple((place,) for place in range(len(conditions)))
    signs = np.where(parts.are_within, "all", np.where(parts.are_split, "some", "none"))
    return signs[: len(conditions)].tolist()


@pytest.mark.parametrize(
    ("condition", "are_within"),
    [
        (text(), ["all", "all"]),
        (text(district="d1"), ["all", "all"]),
        (text(district="d2"), ["none", "none"]),
        (text('"T"."district" = \'d1\''), ["all", "all"]),
        (text('"T"."district" <> \'d1\''), ["none", "none"]),
        (text('"T"."age" >= 50'), ["some", "none"]),
        (text('"T"."age" < 46'), ["some", "all"]),
        (text('CAST("T"."district" AS DATE) > \'2020-01-01\''), ["none", "none"]),
        (text(source='SELECT 1 FROM "U" AS "U"'), ["none", "none"]),
    ],
)
def test_who_would_be_in_a_cell_of_nobody_is_in_others(condition, are_within):
    # The first ones are women as in other districts, the others are as the men of this one.
    assert told([EMPTY], condition) == [are_within]


def test_those_who_lack_the_other_part_have_what_follows_from_this_one():
    regions = told([EMPTY], text(region="north"), text(region="south"))
    assert regions == [["some", "all"], ["some", "none"]]


def test_bands_of_an_age_are_those_of_the_age():
    empty = text('FLOOR("T"."age" / 10) * 10 IS NOT DISTINCT FROM 50', sex="m")
    assert told([empty], text('"T"."age" BETWEEN 50 AND 59'), text('"T"."age" < 50')) == [
        ["all", "all"],
        ["none", "none"],
    ]


def test_all_cells_of_a_table_have_those_in_that_they_split():
    cells = [text(region=region, sex=sex) for region in ("north", "south") for sex in "mf"]
    parts = find_parts([EMPTY], cells)
    sums = dict(zip(parts.sums, parts.are_within.tolist(), strict=True))
    assert sums == {
        (0,): [False, False],
        (1,): [False, True],
        (2,): [False, False],
        (3,): [False, False],
        (1, 3): [True, True],
        (0, 1, 2, 3): [True, True],
    }


def test_a_sum_that_is_a_cell_itself_is_not_asked_for_again():
    parts = find_parts(
        [EMPTY], [text(region="north", sex="f"), text(region="south", sex="f"), text(sex="f")]
    )
    assert parts.sums == ((0,), (1,), (2,))


def test_a_cell_that_nobody_nearly_is_in_is_within_what_asks_for_less():
    empty = text('"T"."age" > 200', '"T"."sex" = \'x\'')
    answers = told([empty], text('"T"."age" > 200'), text(), text(sex="m"))
    assert answers == [["all"], ["all"], ["none"]]


def test_groups_of_cells_of_one_table_are_of_a_kind():
    empties = [EMPTY, text(district="d2", sex="x"), text('"T"."age" > 200')]
    kinds = find_parts(empties, [text()]).kinds.tolist()
    assert kinds[0] != kinds[1]
    assert len({*kinds}) == 4
    both = find_parts([EMPTY, text(district="d3", sex="m")], [text()]).kinds.tolist()
    assert both == [0, 1, 0, 1]
