"""Records as arrays: what is missing stays missing, and counts against the output."""

import numpy as np

from policy_engine.audits.outputs.output_records import (
    FIELDS,
    RuleRecord,
    decide_records,
    joined_records,
    record_arrays,
)
from policy_engine.methods.output_checks.fourteen_rules import ATTRIBUTES


def test_every_attribute_has_its_field():
    assert list(FIELDS) == [one.name for one in ATTRIBUTES]
    record = RuleRecord("FTest", **dict.fromkeys(FIELDS.values(), 1))
    assert all(record.value(name) == 1 for name in FIELDS)


def test_arrays_hold_what_records_say_and_nan_elsewhere():
    arrays = record_arrays(
        [RuleRecord("Mean", is_confidential=True, sample_size=12), RuleRecord("Sonnet")]
    )
    assert arrays.rules.tolist() == [4, -1]
    assert arrays.attributes["SampleSize"][0] == 12
    assert np.isnan(arrays.values[1]).all()


def test_records_are_decided_by_the_rules():
    frequency = RuleRecord(
        "FrequencyTable", is_confidential=True, cell_units=10, percentage_rows=0.5
    )
    records = [
        frequency,
        RuleRecord("FrequencyTable", is_confidential=True, cell_units=9, percentage_rows=0.5),
        RuleRecord("FrequencyTable", is_confidential=False, cell_units=9, percentage_rows=0.5),
        RuleRecord("FrequencyTable", is_confidential=None, cell_units=9, percentage_rows=0.5),
        RuleRecord("RegressionCoefficient", is_confidential=True, intercept=False),
        RuleRecord("RegressionCoefficient", is_confidential=True, intercept=True),
        RuleRecord("Sonnet", is_confidential=False),
    ]
    decided = decide_records(record_arrays(records))
    assert decided.tolist() == [True, False, True, False, True, False, False]


def test_no_records_are_arrays_of_none():
    nothing = record_arrays([])
    assert len(nothing) == 0
    assert decide_records(nothing).tolist() == []
    assert len(joined_records([nothing, record_arrays([RuleRecord("Mode")])])) == 1
