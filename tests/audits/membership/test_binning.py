"""Declared ranges, and what is said of those that are read off the records."""

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.membership.binning import bins_of, describe_bins
from policy_engine.audits.membership.records import read_records, records_of_arrays
from policy_engine.audits.membership.settings import Settings
from policy_engine.errors import AuditError


@pytest.fixture
def people():
    ages = [20 + number % 60 for number in range(120)]
    table = {
        "age": ages,
        "wage": [1000 + 7 * number for number in range(120)],
        "sex": ["f", "m"] * 60,
        "born": [f"{1920 + age}-01-01" for age in ages],
        "ill": ["no", "yes", "yes", "no"] * 30,
    }
    return read_records(pa.table(table), "ill")


def test_a_declared_range_is_told_in_the_units_of_the_feature(people):
    bins = bins_of(people, 10, (("age", 20, 79), ("wage", 0, 1000)))
    ages = people.features[:, 0]
    assert bins.ranges["age"] == pytest.approx((ages.min(), ages.max()), abs=1e-5)
    low, high = bins.ranges["wage"]
    assert low < high == pytest.approx(people.features[:, 1].min(), abs=1e-5)


def test_ends_that_are_read_off_the_records_are_told_of(people):
    said = " ".join(describe_bins(people, bins_of(people, 10, (("age", 0, 120),))))
    assert said == (
        "Numbers of 'age' were answered as the middle of one of 10 bins, between the ends that "
        "were declared. Numbers of 'wage' and 'born' were answered as the middle of one of 10 "
        "bins, between the smallest and the largest number in the records, which were read off "
        "them without noise."
    )


def test_few_numbers_and_bits_need_no_bins():
    records = records_of_arrays(np.arange(60).reshape(20, 3) % 2, np.arange(20) % 2)
    assert not list(describe_bins(records, bins_of(records, 10)))
    few = records_of_arrays(np.arange(60).reshape(20, 3) % 7, np.arange(20) % 2)
    assert not list(describe_bins(few, bins_of(few, 10)))
    assert list(describe_bins(few, bins_of(few, 6)))


def test_a_range_of_what_is_not_a_column_of_numbers_is_refused(people):
    with pytest.raises(AuditError, match=r"A006.*'wages'.*Did you mean 'wage'") as caught:
        bins_of(people, 10, (("wages", 0, 1), ("sex", 0, 1), ("born", 0, 1)))
    assert all(name in str(caught.value) for name in ("'sex'", "'born'"))


@pytest.mark.parametrize(
    "settings", [{"bins": 1}, {"bins": 257}, {"ranges": (("age", 9.0, 9.0),)}], ids=str
)
def test_bins_and_ranges_that_are_none_are_refused(settings):
    with pytest.raises(AuditError, match="A006"):
        Settings(**settings)
