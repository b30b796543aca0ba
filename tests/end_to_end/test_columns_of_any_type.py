"""Columns of every type of Arrow, in every role: released, or refused with a code."""

import uuid
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from applying import applied
from building import column

from policy_engine.errors import PolicyEngineError

PLACES = [0, 1] * 6
DECIMALS = [Decimal(one) for one in PLACES]
BYTES = [b"ab"[one : one + 1] for one in PLACES]
IDS = [uuid.UUID(int=one).bytes for one in PLACES]
USED = {
    "decimal32": pa.array(DECIMALS, pa.decimal32(8, 2)),
    "decimal64": pa.array(DECIMALS, pa.decimal64(10, 2)),
    "decimal256": pa.array(DECIMALS, pa.decimal256(50, 2)),
    "float16": pa.array([np.float16(one) for one in PLACES], pa.float16()),
    "large_string": pa.array(list("ab") * 6, pa.large_string()),
    "string_view": pa.array(list("ab") * 6, pa.string_view()),
    "dictionary": pa.array(DECIMALS, pa.decimal128(9, 2)).dictionary_encode(),
    "time32": pa.array(PLACES, pa.time32("s")),
    "timestamp": pa.array(PLACES, pa.timestamp("ns", "UTC")),
    "truth": pa.array([bool(one) for one in PLACES]),
}
REFUSED = {
    "binary": pa.array(BYTES, pa.binary()),
    "large_binary": pa.array(BYTES, pa.large_binary()),
    "binary_view": pa.array(BYTES, pa.binary_view()),
    "fixed_size_binary": pa.array(BYTES, pa.binary(1)),
    "duration": pa.array(PLACES, pa.duration("s")),
    "interval": pa.array([pa.MonthDayNano([one, 0, 0]) for one in PLACES]),
    "struct": pa.array([{"x": one} for one in PLACES]),
    "map": pa.array([[("x", one)] for one in PLACES], pa.map_(pa.string(), pa.int64())),
    "uuid": pa.array(IDS, pa.uuid()),
    "json": pa.array(["1", "2"] * 6, pa.json_()),
}
KEPT = {"method": "masking", "insensitive": ["a", "b"], "key": b"k" * 32}
ROLES = {
    "strata": {**KEPT, "sampleShare": 0.5, "stratifiedBy": ["a"]},
    "kept": {**KEPT, "sampleSize": 6},
    "quasi-identifier": {"method": "k-anonymity", "k": 2, "quasi": ["a"], "insensitive": ["b"]},
    "kept beside classes": {"method": "k-anonymity", "k": 2, "quasi": ["b"], "insensitive": ["a"]},
}
KEEPING = {"method": "masking", "insensitive": ["b"], "key": b"k" * 32}
MASKINGS = [
    *({"masking": "pram", "keep": 0.5}, {"masking": "noise", "sdShare": 0.5}),
    *({"masking": "rounding", "base": 5}, {"masking": "microaggregation", "groupSize": 3}),
    {"masking": "rank-swapping", "p": 0.9, "order": "lexicographic"},
]


def table(values):
    return pa.table({"a": values, "b": list(range(len(values)))})


@pytest.mark.one_in(5)
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("kind", USED)
def test_a_column_of_an_ordered_type_is_released(kind, role):
    made = applied(table(USED[kind]), **ROLES[role])
    assert made.table.num_rows == (6 if role in ("strata", "kept") else 12)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("kind", REFUSED)
def test_a_column_of_a_type_without_order_is_refused(kind, role):
    with pytest.raises(PolicyEngineError, match="C009 "):
        applied(table(REFUSED[kind]), **ROLES[role])


@pytest.mark.one_in(5)
@pytest.mark.parametrize("settings", MASKINGS, ids=lambda one: one["masking"])
@pytest.mark.parametrize("kind", REFUSED)
def test_a_masked_column_of_a_type_without_order_is_refused(kind, settings):
    with pytest.raises(PolicyEngineError, match="R013 "):
        applied(table(REFUSED[kind]), masked=[column("a", **settings)], **KEEPING)
