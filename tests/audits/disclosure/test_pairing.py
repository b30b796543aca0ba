"""Tables that do not belong together."""

import pyarrow as pa
import pytest

from policy_engine.audits.disclosure.pairing import nothing_known, table_problems, unnamed_keys


@pytest.mark.parametrize(
    ("original", "said"),
    [
        (["a;b"], "none of the columns that were changed in the release: 'b'. The cells of a CSV"),
        (["c"], "in the release: 'b'. Give the table that the release was made from."),
        (["b"], "There is no column that both tables have and that could be known. Name"),
    ],
)
def test_it_is_told_why_no_column_is_known(original, said):
    assert said in str(nothing_known(original, ["a", "b"], {"b"}))


def test_an_original_by_semicolons_is_told_of():
    tables = pa.table({"a;b": ["1;2"]}), pa.table({"a": [1], "b": [2]})
    [problem] = table_problems(*tables, is_published=False)
    assert "these seem to be by semicolons" in problem.hint


def test_columns_that_could_match_rows_are_named():
    table = pa.table({"row": [1, 2], "sex": ["f", "f"]})
    said = str(unnamed_keys(table, table))
    assert said == (
        "A023 The audit cannot tell whose row is whose. Rows can be matched by 'row': --match row."
    )
