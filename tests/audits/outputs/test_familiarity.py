"""What is usual of earlier outputs is called so, and what is not is told apart."""

import numpy as np
import pytest

from policy_engine.audits.outputs.drawn_records import draw_records
from policy_engine.audits.outputs.familiarity import Familiarity
from policy_engine.audits.outputs.output_records import RuleRecord, record_arrays


@pytest.fixture(scope="module")
def means():
    """Return what is usual of 600 means of large samples."""
    random = np.random.default_rng(0)
    return Familiarity.of(record_arrays(large_means(600, random)), random)


def large_means(count, random):
    sizes, shares = random.uniform(100, 200, count), random.uniform(0.1, 0.3, count)
    return [
        RuleRecord("Mean", is_confidential=True, sample_size=size, percentage_sample_total=share)
        for size, share in zip(sizes, shares, strict=True)
    ]


def share_of(familiarity, record):
    return float(familiarity.shares(record_arrays([record]))[0])


def test_few_further_outputs_of_the_kind_have_a_small_share(means):
    """2,000 at 5%: 100 are expected, 160 are over twice the deviation of a threshold of 300."""
    further = record_arrays(large_means(2000, np.random.default_rng(1)))
    assert (means.shares(further) <= 0.05).sum() < 160


@pytest.mark.parametrize(
    "record",
    [
        RuleRecord("Sonnet"),
        RuleRecord("Ratio", is_confidential=True, sample_size=1, percentage_sample_total=0.2),
        RuleRecord("Mean", is_confidential=True, sample_size=150),
        RuleRecord("Mode", is_confidential=True, sample_size=150, percentage_sample_total=0.2),
        RuleRecord("Mean", is_confidential=False, sample_size=150, percentage_sample_total=0.2),
    ],
    ids=["type", "count", "missing", "other type", "secrecy"],
)
def test_what_differs_has_the_smallest_share_that_there_is(means, record):
    assert share_of(means, record) == pytest.approx(1 / 301)


def test_what_is_as_before_has_a_large_share(means):
    record = RuleRecord("Mean", is_confidential=True, sample_size=150, percentage_sample_total=0.2)
    assert share_of(means, record) > 0.2


def test_records_of_all_rules_are_usual_among_themselves():
    random = np.random.default_rng(3)
    usual = Familiarity.of(draw_records(1400, random).records, random)
    shares = usual.shares(draw_records(1400, random).records)
    assert 0.35 < shares.mean() < 0.65
    assert shares.min() >= 1 / 701
