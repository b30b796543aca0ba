import numpy as np
import pyarrow as pa
import pytest
from everyday import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.audits.reports.comparison import report_page
from policy_engine.audits.utility.categories import Transitions
from policy_engine.audits.utility.comparing import Sampled, compare
from policy_engine.audits.utility.masking import Masked
from policy_engine.audits.utility.model import MaskingLoss
from policy_engine.cli.tables.masking_losses import masking_tables
from policy_engine.errors import CertificateError
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.methods.masking import masking_class
from policy_engine.plan.steps import Anonymize


def masked(name, masking, **parameters):
    return masking_class(masking)(name=name, **parameters)


SWAPPED = masked("pay", "rank-swapping", p=0.5)
ROUNDED = masked("pay", "rounding", base=10)


def lost(original, release, *maskings, kept=(), transitions=None, shareable=False):
    step = Anonymize(
        columns={"quasi-identifier": [], "insensitive": list(kept)}, methods={"masking": {}}
    )
    asked = Masked(maskings, transitions or {})
    return compare(
        pa.table(original), pa.table(release), step, masked=asked, shareable=shareable
    ).masking


def test_rows_are_matched_by_the_columns_that_are_kept():
    # Rows 3, 1, 2 of the original, of which 0, 2 and 4 became 4, 0 and 2: 4 + 2 + 2 of S = 2.
    found = lost(
        {"row": [1, 2, 3], "pay": [0, 2, 4]},
        {"row": [3, 1, 2], "pay": [0, 2, 4]},
        SWAPPED,
        kept=["row"],
    )
    assert found.il1s == found.columns[0].il1s == pytest.approx(8 / 3 / (2 * 2**0.5))
    assert found.columns[0].shared_values == 1
    assert found.probabilistic.total == 0


def test_rows_that_were_suppressed_do_not_hinder_the_matching():
    found = lost(
        {"row": [1, 2, 3], "pay": [0, 2, 4]}, {"row": [2], "pay": [4]}, SWAPPED, kept=["row"]
    )
    assert found.il1s == pytest.approx(2 / (2 * 2**0.5))


@pytest.mark.parametrize(
    ("kept", "reason"), [((), "no column is released with its own"), (["city"], "do not tell all")]
)
def test_rows_that_cannot_be_matched_have_no_distance(kept, reason):
    table = {"city": ["Rome", "Rome", "Oslo"], "pay": [0, 2, 4]}
    found = lost(table, table, SWAPPED, kept=kept)
    assert reason in found.il1s.reason
    assert found.columns[0].il1s == found.il1s
    assert found.probabilistic.mean == 0


def test_a_masking_that_keeps_the_order_shows_which_value_became_which():
    found = lost({"pay": [24, 0, None, 12]}, {"pay": [10, 20, 0, None]}, ROUNDED)
    assert found.il1s == pytest.approx((4 + 0 + 2) / 3 / (12 * 2**0.5))


def test_without_all_rows_the_order_shows_nothing():
    found = lost({"pay": [24, 0, 12]}, {"pay": [10, 20]}, ROUNDED)
    assert isinstance(found.il1s, NotApplicable)


def test_values_shared_are_counted_as_often_as_they_occur_in_both():
    found = lost({"pay": [1, 1, 2, 3]}, {"pay": [1, 2, 2, 5]}, SWAPPED)
    assert found.columns[0].shared_values == 0.5


def test_correlations_are_compared_over_rows_with_all_values():
    before = {"pay": [1, 2, 3, None], "tax": [1, 2, 3, 9]}
    after = {"pay": [1, 2, 3, None], "tax": [3, 2, 1, 9]}
    found = lost(before, after, SWAPPED, masked("tax", "rank-swapping", p=0.5))
    together = found.together
    assert (together.columns, together.rows_before, together.rows_after) == (("pay", "tax"), 3, 3)
    assert (together.correlation_change, together.rank_correlation_change) == pytest.approx((2, 2))
    assert together.eigenvalues_before == pytest.approx((2, 0))
    assert found.probabilistic.correlation == 100


JOBS = masked("job", "pram", keep=0.75)
DRAWN = {"job": Transitions(("cook", "nurse"), ((0.75, 0.25), (0.25, 0.75)))}


def test_counts_are_estimated_by_the_matrix():
    # 6 of 8 drawn as cooks: of c cooks, 3/4 c + (8 - c) / 4 = 6 where c = 8.
    before = {"job": ["cook"] * 7 + ["nurse"]}
    after = {"job": ["cook"] * 6 + ["nurse"] * 2}
    [found] = lost(before, after, JOBS, transitions=DRAWN).frequencies
    assert (found.categories, found.published) == (("cook", "nurse"), (6, 2))
    assert found.estimated == pytest.approx((8, 0))
    assert found.original == (7, 1)


def test_estimates_are_for_everybody_and_the_original_for_its_owner():
    table = {"job": ["cook", "nurse"]}
    [found] = lost(table, table, JOBS, transitions=DRAWN, shareable=True).frequencies
    assert found.estimated == pytest.approx((1, 1))
    assert found.original is None


@pytest.mark.parametrize(
    ("drawn", "reason"),
    [
        (None, "there is none"),
        (Transitions(("cook", "nurse"), ((0.5, 0.5), (0.5, 0.5))), "singular"),
    ],
)
def test_without_an_invertible_matrix_nothing_is_estimated(drawn, reason):
    table = {"job": ["cook", "nurse"]}
    [found] = lost(table, table, JOBS, transitions={"job": drawn}).frequencies
    assert reason in found.estimated.reason
    assert found.published == found.original == (1, 1)


def test_categories_that_the_matrix_lacks_are_of_another_table():
    table = {"job": ["cook", "pilot"]}
    with pytest.raises(CertificateError, match="V002 The column 'job' has categories"):
        lost(table, table, JOBS, transitions=DRAWN)


def test_numbers_of_a_file_are_the_category_that_they_are_however_written():
    drawn = {"job": Transitions(("1.5", "2"), ((0.75, 0.25), (0.25, 0.75)))}
    before, after = {"job": ["1.50", "1.5", "2.0", " 2"]}, {"job": ["1.5", "1.5", "2", "2"]}
    [found] = lost(before, after, JOBS, transitions=drawn).frequencies
    assert (found.categories, found.original, found.published) == (("1.5", "2"), (2, 2), (2, 2))


def test_typed_cells_are_the_categories_of_the_texts_that_they_were():
    drawn = {"job": Transitions(("1.5", "2"), ((0.75, 0.25), (0.25, 0.75)))}
    [found] = lost(
        {"job": ["1.50", "2.0"]}, {"job": [1.5, 2.0]}, JOBS, transitions=drawn
    ).frequencies
    assert (found.original, found.published) == ((1, 1), (1, 1))


def test_texts_of_one_number_stay_the_categories_that_they_are():
    drawn = {"job": Transitions(("1", "1.0", "x"), tuple(map(tuple, np.eye(3).tolist())))}
    table = {"job": ["1", "1.0", "1.0", "x"]}
    [found] = lost(table, table, JOBS, transitions=drawn).frequencies
    assert found.published == found.original == (1, 2, 1)
    with pytest.raises(CertificateError, match="V002"):
        lost(table, {"job": ["1.00", "1", "1.0", "x"]}, JOBS, transitions=drawn)


def test_counts_that_are_kept_on_average_are_their_own_estimate():
    drawn = {"job": DRAWN["job"]._replace(keeps_counts=True)}
    table = {"job": ["cook"] * 7 + ["nurse"]}
    [found] = lost(table, table, JOBS, transitions=drawn).frequencies
    assert found.estimated == (7, 1)


def test_categories_that_no_sampled_row_has_are_counted_in_the_original():
    step = Anonymize(columns={"quasi-identifier": [], "insensitive": []}, methods={"masking": {}})
    before, after = {"job": ["cook", "nurse", "pilot", "pilot"]}, {"job": ["cook", "nurse"]}
    masks, sampled = Masked((JOBS,), DRAWN), Sampled(2)
    found = compare(pa.table(before), pa.table(after), step, masked=masks, sampled=sampled)
    [counts] = found.masking.frequencies
    assert counts.categories == ("cook", "nurse", "pilot")
    assert (counts.published, counts.original) == ((1, 1, 0), (1, 1, 2))
    assert counts.estimated == pytest.approx((1, 1, 0))


def test_a_column_without_values_is_compared():
    empty = {"job": pa.nulls(3)}
    [found] = lost(empty, empty, JOBS, transitions={"job": None}).frequencies
    assert (found.categories, found.published) == ((), ())


def test_what_stands_for_the_values_of_a_class_costs_what_masked_values_do():
    quasi = [{"name": "pay", "generalization": "mean"}]
    columns = {"quasi-identifier": quasi, "insensitive": ["row"]}
    step = Anonymize(columns=columns, methods={"k-anonymity": {"k": 2}})
    before = {"row": [1, 2, 3, 4], "pay": [0, 2, 8, 10]}
    found = compare(pa.table(before), pa.table({"row": [1, 2, 3, 4], "pay": [1, 1, 9, 9]}), step)
    assert found.entropy is None
    [pay] = found.masking.columns
    assert pay.masking == "mean of the class"
    # Every value moved by 1; the standard deviation is the root of 68 / 3.
    assert pay.il1s == pytest.approx(1 / (2 * 68 / 3) ** 0.5)
    assert (pay.quantiles[0].before, pay.quantiles[-1].before) == (0, 10)
    assert (pay.quantiles[0].after, pay.quantiles[-1].after) == (1, 9)


def test_a_coded_tail_shows_in_the_last_quantile():
    coded = masked("pay", "top-coding", threshold=50)
    before = {"pay": [*range(99), 900]}
    [found] = lost(before, {"pay": [min(one, 50) for one in before["pay"]]}, coded).columns
    assert (found.quantiles[-1].share, found.quantiles[-1].before) == (1, 900)
    assert found.quantiles[-1].after == 50


def test_cells_that_stand_for_all_values_have_no_distance():
    step = Anonymize(
        columns={"quasi-identifier": [{"name": "city"}]}, methods={"k-anonymity": {"k": 2}}
    )
    found = compare(pa.table({"city": ["Rome", "Oslo"]}), pa.table({"city": ["*", "*"]}), step)
    assert found.columns[0].hellinger is found.columns[0].total_variation is None


def test_categories_have_no_distances():
    table = {"job": ["cook", "nurse"]}
    found = lost(table, table, JOBS, transitions=DRAWN)
    assert found.columns[0].il1s.reason == "the values are not numbers"
    assert found.il1s == found.probabilistic == found.together
    assert found.il1s.reason == "no column of numbers is masked"


def test_dates_are_compared_and_have_no_numbers_to_draw():
    days = {"day": ["2026-01-01", "2026-01-11", "2026-01-21"]}
    [found] = lost(days, days, masked("day", "rank-swapping", p=0.5)).columns
    assert (found.probabilistic.total, found.quantiles) == (0, ())


def test_values_that_became_labels_have_no_distance_and_are_shared_no_more():
    coded = masked("pay", "top-coding", threshold=2, replacement="label")
    [found] = lost({"pay": [1, 2, 5]}, {"pay": ["1", "2", ">2"]}, coded).columns
    assert found.il1s.reason == found.probabilistic.reason == "some of the values became labels"
    assert found.shared_values == pytest.approx(2 / 3)


def test_columns_of_losses_are_called_losses():
    found = lost({"pay": [1, 2, 5]}, {"pay": [0, 2, 4]}, ROUNDED)
    [table] = masking_tables(found)
    names = ["mean loss", "variance loss", "quantile loss"]
    assert [one.header for one in table.columns][-3:] == names


@pytest.mark.parametrize("shareable", [False, True])
def test_arrays_are_named_and_not_compared(shareable):
    before = {"row": [1, 2], "scan": [[1, 3], [5, 7]]}
    after = {"row": [1, 2], "scan": [[2, 2], [6, 6]]}
    step = Anonymize(
        columns={"quasi-identifier": [], "insensitive": ["row"]}, methods={"masking": {}}
    )
    tables = pa.table(before), pa.table(after)
    pixelated = Masked((masked("scan", "pixelation", blockSize=2, width=2, height=1),))
    found = compare(*tables, step, masked=pixelated, shareable=shareable)
    assert (found.arrays, found.masking.columns) == (("scan",), ())
    assert [one.name for one in found.columns] == ["row"]
    assert "Arrays, and not compared: scan." in report_page(found)


@pytest.mark.nightly
@settings(max_examples=examples(20))
@given(st.lists(st.integers(-50, 50), min_size=2, max_size=20), st.randoms())
def test_a_table_as_it_was_has_lost_nothing_in_any_order_of_rows(pay, random):
    rows = list(range(len(pay)))
    random.shuffle(rows)
    before = {"row": list(range(len(pay))), "pay": pay, "tax": [3 * one for one in pay]}
    after = {name: [values[row] for row in rows] for name, values in before.items()}
    found = lost(before, after, SWAPPED, masked("tax", "noise", sdShare=0.1), kept=["row"])
    assert isinstance(found, MaskingLoss)
    assert found.probabilistic.total == 0
    if len({*pay}) > 1:
        assert found.il1s == found.together.correlation_change == 0


def test_masked_numbers_are_compared_in_bins_since_their_values_are_new():
    step = Anonymize(columns={"quasi-identifier": []}, methods={"masking": {}})
    values = np.arange(3, 4_003, 10)
    tables = pa.table({"pay": values}), pa.table({"pay": values // 10 * 10})
    [pay] = compare(*tables, step, masked=Masked([ROUNDED], {})).columns
    assert pay.values_before == pay.values_after == 400
    assert pay.total_variation < 0.06
