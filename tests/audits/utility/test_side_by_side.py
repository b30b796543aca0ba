import pyarrow as pa

from policy_engine.audits.utility.matching import match
from policy_engine.audits.utility.side_by_side import MOST_COLUMNS, MOST_ROWS, side_by_side
from policy_engine.plan.anonymization import Anonymization

K = {"k-anonymity": {"k": 2}}
ORIGINAL = {"age": [20, 21, 40, 41], "ill": ["flu", "cold", "flu", "flu"]}
RELEASE = {"age": ["[20 - 21]", "[20 - 21]", "[40 - 41]", "[40 - 41]"], "ill": ORIGINAL["ill"]}


def pairs(original, release, quasi=("age",), **roles):
    columns = {"quasi-identifier": [{"name": name} for name in quasi], **roles}
    asked = Anonymization(columns=columns, methods=K)
    tables = pa.table(original), pa.table(release)
    return list(side_by_side(list(match(*tables, asked, {})), tables[1]))


def told(row):
    return [(one.column, one.before, one.after) for one in row.cells]


def test_a_released_row_stands_beside_a_row_that_it_may_stand_for():
    found = pairs(ORIGINAL, RELEASE, sensitive=[{"name": "ill"}])
    assert told(found[0]) == [("age", "20", "[20 - 21]"), ("ill", "flu", "flu")]
    assert told(found[1]) == [("age", "21", "[20 - 21]"), ("ill", "cold", "cold")]
    # Of the first class one row each has the illness; of the second, both have.
    assert [one.fitting for one in found] == [1, 1, 2, 2]


def test_missing_cells_are_named():
    found = pairs({"age": [20, None]}, {"age": ["20", None]})
    assert told(found[1]) == [("age", "(missing)", "(missing)")]


def test_rows_are_taken_evenly_from_the_whole_release():
    ages = [*range(100)]
    found = pairs({"age": ages}, {"age": [f"[{age} - 100]" for age in ages]})
    assert len(found) == MOST_ROWS
    assert (told(found[0])[0][2], told(found[-1])[0][2]) == ("[0 - 100]", "[99 - 100]")


def test_of_many_columns_those_that_changed_come_first():
    kept = {f"c{place}": ["x", "x"] for place in range(12)}
    found = pairs(
        {**kept, "age": [20, 21]}, {**kept, "age": ["[20 - 21]"] * 2}, insensitive=[*kept]
    )
    assert found[0].cells[0].column == "age"
    assert len(found[0].cells) == MOST_COLUMNS


def test_nothing_is_shown_where_no_cell_tells_what_it_stands_for():
    values = {"age": [20, 30]}
    asked = Anonymization(
        columns={"quasi-identifier": [{"name": "age", "generalization": "mean"}]}, methods=K
    )
    release = pa.table({"age": [25.0, 25.0]})
    assert list(side_by_side(list(match(pa.table(values), release, asked, {})), release)) == []
