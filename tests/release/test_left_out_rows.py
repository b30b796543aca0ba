"""What a plan would leave out of its classes is counted before anything is made."""

import pytest
from applying import applied, asking
from building import DATASET, column

from policy_engine import count_left_out_rows
from policy_engine.kernels.estimates import NotApplicable

ROWS = {
    "age": [20, 21, 22, 30, 31, 32, 40, 41, 42, 43],
    "pay": [10, 20, 30, 10, 20, 30, 10, 20, 30, 9000],
}
ASKED = {"method": "k-anonymity", "k": 3, "quasi": ["age", "pay"]}


def test_the_preview_is_what_apply_does():
    previewed = count_left_out_rows(asking(maxSuppression=0.1, **ASKED), {DATASET: ROWS})
    record = applied(ROWS, maxSuppression=0.1, **ASKED).record
    assert (previewed.rows, previewed.suppressed) == (10, record.suppressed) == (10, 1)
    assert previewed.gain == record.gain
    assert str(previewed) == "1 of 10 rows would be left out: loss 0.5091 instead of 0.5545"


def test_the_rows_of_masked_tables_are_chosen_before_masking():
    rows = {**ROWS, "row": list(range(10))}
    masked = [column("row", masking="top-coding", threshold=5)]
    asked = {**ASKED, "maxSuppression": 0.1, "masked": masked}
    previewed = count_left_out_rows(asking(**asked), {DATASET: rows})
    assert previewed.gain == applied(rows, **asked).record.gain


def test_no_row_is_left_out_where_that_gains_nothing():
    even = {"age": list(range(20)), "pay": list(range(20))}
    previewed = count_left_out_rows(asking(maxSuppression=0.05, **ASKED), {DATASET: even})
    assert (previewed.suppressed, previewed.gain) == (0, None)
    assert str(previewed).startswith("none of 20 rows would be left out")


@pytest.mark.parametrize(
    ("rows", "options", "reason"),
    [
        (ROWS, {}, "the plan leaves no outlying rows out"),
        ({"age": [20], "pay": [10]}, {"maxSuppression": 0.1}, "1 row"),
    ],
)
def test_what_cannot_be_previewed_has_a_reason(rows, options, reason):
    found = count_left_out_rows(asking(**ASKED, **options), {DATASET: rows})
    assert isinstance(found, NotApplicable)
    assert reason in found.reason
