"""How far made-up rows are from the original, and what a classifier learns from them."""

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from building import DATASET
from synthesising import residents, synthesising
from typer.testing import CliRunner

from policy_engine import apply_policy, compare_release
from policy_engine.audits.utility.prediction import Task
from policy_engine.audits.utility.synthetic_rows import (
    classification_of_rows,
    compared_columns,
)
from policy_engine.cli import app
from policy_engine.errors import DataError, PlanError
from policy_engine.kernels.estimates import NotApplicable

COLUMNS = ("age", "wage", "town")


def compared(before, after):
    [column] = compared_columns(pa.table({"x": before}), pa.table({"x": after}), ("x",))
    return column.distance()


def test_categories_differ_by_half_the_sum_of_the_differences_of_their_shares():
    """Shares of a, b, c and of what is missing: 1/2, 1/4, 0, 1/4 and 1/4, 1/4, 1/2, 0."""
    distance = compared(["a", "a", "b", None], ["c", "c", "a", "b"])
    assert (distance.total_variation, distance.kolmogorov) == (0.5, None)


def test_numbers_differ_by_the_greatest_difference_of_the_shares_up_to_any():
    """Up to 2 there are 3/4 and 1/4 of those that are not missing."""
    distance = compared([1, 1, 2, 3, None], [1, 3, 3, 4, None])
    assert distance.kolmogorov == pytest.approx(0.5)
    assert compared([1, 2], [1, 2]).kolmogorov == compared([1, 2], [1, 2]).total_variation == 0


def test_numbers_are_the_same_however_files_write_them():
    whole, floats = pa.array([1, 2, 3]), pa.array([3.0, 1.0, 2.0])
    assert compared(whole, floats).total_variation == 0


def test_many_numbers_are_compared_in_bins():
    distance = compared(list(range(0, 1000, 2)), list(range(1, 1000, 2)))
    assert distance.total_variation < 0.05
    assert distance.kolmogorov == pytest.approx(1 / 500)


def learnt(synthesiser, table, target=""):
    columns = compared_columns(table, table, COLUMNS)
    return classification_of_rows(table, columns, Task(synthesiser, target=target, seed=1))


def test_a_classifier_learns_from_good_rows_and_not_from_shuffled_ones():
    table = residents(450).select(list(COLUMNS))
    good = learnt(lambda part: part, table)
    assert (good.target, good.values) == ("town", 3)
    assert good.anonymised == good.original > good.majority
    assert good.rows_learnt + good.rows_held_out == 450
    order = np.random.default_rng(1).permutation
    shuffled = learnt(
        lambda part: part.set_column(2, "town", part["town"].take(pa.array(order(len(part))))),
        table,
    )
    assert shuffled.anonymised < good.original - 0.1


def test_rows_tested_are_not_among_those_that_rows_are_made_up_of():
    table = residents(300).select(list(COLUMNS))
    parts = []
    learnt(lambda part: parts.append(part) or part, table)
    [part] = parts
    assert part.num_rows < table.num_rows


@pytest.mark.parametrize(
    ("task", "columns", "reason"),
    [
        (Task(None), COLUMNS, "no classifier was asked for"),
        (Task(lambda part: part), ("age", "wage"), "no column has from 2 to 20 categories"),
        (Task(lambda part: part), ("town",), "no column has from 2 to 20 categories"),
    ],
)
def test_why_nothing_is_predicted(task, columns, reason):
    table = residents(60).select(list(columns))
    result = classification_of_rows(table, compared_columns(table, table, columns), task)
    assert result == NotApplicable(reason=reason)


def test_a_label_of_one_value_is_not_predicted():
    table = residents(60).select(["age"]).append_column("one", pa.array(["x"] * 60))
    columns = compared_columns(table, table, ("age", "one"))
    result = classification_of_rows(table, columns, Task(lambda part: part, target="one"))
    assert result == NotApplicable(reason="'one' has one value in the rows learnt from")


# -- releases -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    folder = tmp_path_factory.mktemp("synthetic")
    pacsv.write_csv(residents(), folder / "people.csv")
    policy = synthesising(*COLUMNS, leafSize=10, rows=600)
    apply_policy(policy, {DATASET: folder / "people.csv"}, folder / "out.csv", seed=5)
    return folder / "people.csv", folder / "out.csv"


@pytest.mark.nightly
def test_a_release_is_compared_with_its_original(places):
    comparison = compare_release(*places, target="town")
    assert [one.columns for one in comparison.columns] == [("age",), ("town",), ("wage",)]
    assert all(one.total_variation < 0.2 for one in (*comparison.columns, *comparison.pairs))
    assert len(comparison.pairs) == 3
    assert comparison.classification.anonymised > comparison.classification.majority
    again = compare_release(*places, target="town")
    assert again == comparison
    assert isinstance(compare_release(*places, classifier=False).classification, NotApplicable)


def test_a_comparison_is_for_the_owner_and_of_a_released_target(places):
    with pytest.raises(PlanError, match="for the owner alone") as caught:
        compare_release(*places, shareable=True)
    assert caught.value.code == "M004"
    with pytest.raises(PlanError, match="The target is 'name', which is not released"):
        compare_release(*places, target="name")


def test_an_original_of_other_columns_is_refused(places, tmp_path):
    pacsv.write_csv(residents().select(["age"]), tmp_path / "other.csv")
    with pytest.raises(DataError) as caught:
        compare_release(tmp_path / "other.csv", places[1])
    assert caught.value.code == "C005"


@pytest.mark.nightly
def test_the_command_line_prints_the_comparison(places, tmp_path):
    shown = CliRunner().invoke(app, ["compare", *map(str, places)])
    assert shown.exit_code == 0, shown.output
    assert "Kolmogorov" in shown.output
    assert "learnt from made-up rows" in shown.output
    page = ["--report", str(tmp_path / "page.html")]
    CliRunner().invoke(app, ["compare", *map(str, places), *page])
    text = (tmp_path / "page.html").read_text()
    assert "Kolmogorov" in text
    assert "if it learns from made-up rows" in text
