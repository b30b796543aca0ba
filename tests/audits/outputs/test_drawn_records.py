"""Drawn records are balanced, within their ranges, and decided as they are read from the table."""

import numpy as np
import pytest

from policy_engine.audits.outputs.drawn_records import DrawnRanges, draw_records
from policy_engine.methods.output_checks.fourteen_rules import ATTRIBUTES, FOURTEEN_RULES

SIGNS = {
    "at least": lambda value, limits: value >= limits[0],
    "at most": lambda value, limits: value <= limits[0],
    "below": lambda value, limits: value < limits[0],
    "none of": lambda value, limits: value not in limits,
}


def drawn(count=2800, seed=0, **ranges):
    return draw_records(count, np.random.default_rng(seed), DrawnRanges(**ranges))


def test_each_rule_has_as_many_records_and_half_of_them_are_released():
    decided = drawn()
    assert len(decided.records) == 2800
    for place in range(14):
        own = decided.is_released[decided.records.rules == place]
        assert (len(own), own.sum()) == (200, 100)


def test_decisions_are_those_of_the_table_read_record_by_record():
    decided = drawn()
    records = decided.records
    for row in range(len(records)):
        rule = FOURTEEN_RULES[records.rules[row]]
        values = {one.name: records.values[row, place] for place, one in enumerate(ATTRIBUTES)}
        holds = rule.condition.can_hold and all(
            SIGNS[one.operator](values[one.attribute], one.limits)
            for one in rule.condition.comparisons
        )
        assert decided.is_released[row] == (not records.is_confidential[row] or holds)


@pytest.mark.parametrize("place", range(14))
def test_attributes_that_a_rule_does_not_have_are_blank(place):
    random = np.random.default_rng(place)
    records = draw_records(40, random, places=[place]).records
    present = {n for n, values in records.attributes.items() if not np.isnan(values).any()}
    blank = {n for n, values in records.attributes.items() if np.isnan(values).all()}
    assert present == {"Output", *FOURTEEN_RULES[place].context}
    assert present | blank == {one.name for one in ATTRIBUTES}


@pytest.mark.parametrize("is_logarithmic", [True, False])
def test_counts_are_whole_and_within_their_range(is_logarithmic):
    counts = drawn(counts=(3, 40), is_logarithmic=is_logarithmic).records.attributes["SampleSize"]
    counts = counts[~np.isnan(counts)]
    assert (counts == np.floor(counts)).all()
    assert (counts.min(), counts.max()) == (3, 40)


def test_outputs_are_of_the_domain_of_their_rule():
    records = drawn(isolated=0.5).records
    outputs = {
        rule.number: records.values[records.rules == rule.number - 1, 0] for rule in FOURTEEN_RULES
    }
    assert ((outputs[12] >= -1) & (outputs[12] <= 1)).all()
    assert np.isin(outputs[12], (-1, 0, 1)).any()
    assert (outputs[6] == np.round(outputs[6], 2)).all()
    assert ((outputs[1] >= 0) & (outputs[1] <= 1)).all()
    assert outputs[2].std() > 50


def test_a_seed_draws_the_same_records_again():
    first, again, other = (drawn(280, seed) for seed in (3, 3, 4))
    assert np.array_equal(first.records.values, again.records.values, equal_nan=True)
    assert not np.array_equal(first.records.values, other.records.values, equal_nan=True)
