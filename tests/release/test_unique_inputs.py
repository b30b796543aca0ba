"""Unique rows of an input are counted before anything is made."""

import pytest
from applying import asking
from building import DATASET, column

from policy_engine import count_unique_rows
from policy_engine.kernels.estimates import NotApplicable
from policy_engine.plan.exact_columns import IN_BUCKETS

ROWS = "age,job,pay\n20,a,1\n21,a,1\n30,b,2\n30,b,3\n"
ASKED = {"method": "k-anonymity", "k": 2, "quasi": ["age"]}


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(ROWS)
    return {DATASET: path}


def test_columns_are_counted_as_the_input_has_them(data):
    pay = column("pay", masking="top-coding", threshold=2)
    figures = count_unique_rows(asking(**ASKED, insensitive=["job"], masked=[pay]), data)
    assert figures.columns == ("job", "pay")
    assert [one.rows for one in figures.alone] == [0, 2]
    assert (figures.pair.rows, figures.together.rows) == (2, 2)
    assert figures.quasi_identifiers.rows == 2


def test_what_is_released_in_another_way_is_not_counted(data):
    buckets = {"method": "l-diversity", "l": 2, "algorithm": "bucketization"}
    figures = count_unique_rows(asking(**{**ASKED, **buckets}, sensitive=["job"]), data)
    assert figures == NotApplicable(reason=IN_BUCKETS)


def test_an_input_that_cannot_be_read_is_a_reason(data):
    data[DATASET].write_text(ROWS + "1,2\n")
    figures = count_unique_rows(asking(**ASKED, insensitive=["pay"]), data)
    assert isinstance(figures, NotApplicable)
    assert figures.reason.startswith("Line 6 has 2 cells.")
