import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.disclosure.attacks.distance import distance_linkage
from policy_engine.audits.disclosure.files import KnownColumn, TwoFiles, known_columns
from policy_engine.audits.disclosure.pairing import pair_rows
from policy_engine.audits.disclosure.scales import standardised
from policy_engine.errors import DataError
from policy_engine.kernels.spread import Spread

BEFORE = pa.table({"row": [1, 2, 3], "age": [20, 30, 40], "city": ["Bern", "Oslo", "Rome"]})
AFTER = pa.table({"row": [3, 1], "age": [40, 20], "city": ["Rome", "Oslo"]})


def columns(*names, after=AFTER):
    return known_columns(BEFORE, after, names, None, {})


def test_rows_are_paired_by_the_columns_that_tell_them_apart():
    assert pair_rows(columns("row"), 3, 2).tolist() == [1, -1, 0]
    assert pair_rows(columns("row", "age"), 3, 2).tolist() == [1, -1, 0]


@pytest.mark.parametrize(
    ("after", "name", "said"),
    [
        (AFTER, "city", "lacks"),
        (AFTER.set_column(0, "row", [[4, 1]]), "row", "lacks"),
        (AFTER.set_column(0, "row", [[1, 1]]), "row", "equal in some rows of the release"),
    ],
)
def test_rows_that_cannot_be_paired_are_refused(after, name, said):
    before = BEFORE.set_column(2, "city", [["Rome", "Bern", "Paris"]])
    with pytest.raises(DataError, match=f"A023 .*{said}"):
        pair_rows(known_columns(before, after, [name], None, {}), 3, 2)


def test_each_file_is_in_its_own_standard_deviations():
    known, released, variance = standardised(columns("age")[0])
    assert np.allclose(known, [-1.2247, 0, 1.2247], atol=1e-4)
    assert released.tolist() == [1, -1]
    assert variance.tolist() == [0, 0]


def test_a_generalised_cell_is_at_the_expected_distance_of_its_values():
    # The cell of 20 and 30 has the mean 25 and the variance 25, the other one is 40 alone.
    cells = Spread(np.array([0, 0, 1]), np.array([0, 1, 2]), np.array([0, 2]), np.array([2, 3]), 3)
    [age] = columns("age", after=BEFORE)
    mean, variance = KnownColumn(
        "age", age.before, cells, age.labels, age.values, is_number=True, has_missing=False
    ).released_numbers()
    assert (mean.tolist(), variance.tolist()) == ([25, 25, 40], [25, 25, 0])


def test_categories_link_where_they_are_equal():
    # Bern became Oslo; Rome stayed. Oslo was left out.
    files = TwoFiles(columns("city"), pair_rows(columns("row"), 3, 2), 2)
    assert distance_linkage(files).tolist() == [0.5, 0, 1]


def test_an_untouched_file_is_linked_and_ties_share():
    table = pa.table({"row": [0, 1, 2, 3], "age": [1, 2, 2, None], "city": ["a", "b", "b", None]})
    found = known_columns(table, table, ["age", "city"], None, {})
    own = pair_rows(known_columns(table, table, ["row"], None, {}), 4, 4)
    assert distance_linkage(TwoFiles(found, own, 4)).tolist() == [1, 0.5, 0.5, 1]


def test_sets_with_gaps_are_not_read_as_runs():
    # Of a, b and c, the first and the last are published as a set: b is not in it.
    before = pa.table({"row": [0, 1, 2], "city": ["a", "b", "c"]})
    after = pa.table({"row": [0, 1, 2], "city": ["{a, c}", "b", "{a, c}"]})
    found = known_columns(before, after, ["city"], None, {})
    assert distance_linkage(TwoFiles(found, np.arange(3), 3)).tolist() == [0.5, 1, 0.5]
