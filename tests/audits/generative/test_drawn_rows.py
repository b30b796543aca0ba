"""Rows of a model that makes tables: all are drawn, by seeds of their own, or the audit stops."""

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.generative.drawing import drawn_table
from policy_engine.errors import AuditError


class Tables:
    def __init__(self, seed_of=lambda seed: seed):
        self.seed_of = seed_of

    def sample(self, n, *, label, seed):  # noqa: ARG002
        return pa.table({"a": np.random.default_rng(self.seed_of(seed)).random(n)})


def test_all_rows_are_drawn_in_batches():
    assert drawn_table(Tables(), ["a"], 25_000, None, 0).num_rows == 25_000


def test_a_table_that_the_time_cuts_short_is_refused():
    with pytest.raises(AuditError, match="ended after 10,000 of 25,000 rows") as refusal:
        drawn_table(Tables(), ["a"], 25_000, 1e-9, 0)
    assert refusal.value.code == "A033"
    assert drawn_table(Tables(), ["a"], 100, 1e-9, 0).num_rows == 100


def test_a_model_of_tables_that_ignores_its_seed_is_noticed():
    with pytest.raises(AuditError, match="the same rows for other seeds") as refusal:
        drawn_table(Tables(lambda _: 1), ["a"], 25_000, None, 0)
    assert refusal.value.code == "A032"
