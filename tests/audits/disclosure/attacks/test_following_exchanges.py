"""What partners of swaps tell in files too large to weigh all links together."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.disclosure.attacks import exchanges
from policy_engine.audits.disclosure.attacks.transparency import likelihood_linkage
from policy_engine.audits.disclosure.files import TwoFiles, known_columns
from policy_engine.kernels.rank_swapping import rank_swap
from policy_engine.methods.masking import masking_class

ROWS = 60


def swapped_files(distinct, **others):
    """Return files of two swapped columns of so many distinct values."""
    random = np.random.default_rng(3)
    before = {name: random.permutation(np.arange(ROWS) % distinct) for name in "xy"}
    after = {
        name: values[rank_swap(values, random.integers(0, 2**63, ROWS).astype(np.uint64), 0.3)]
        for name, values in before.items()
    }
    columns = known_columns(pa.table(before), pa.table(after), ["x", "y"], None, {})
    swapping = masking_class("rank-swapping")
    columns = tuple(replace(one, masking=swapping(name=one.name, p=0.3)) for one in columns)
    return TwoFiles(columns, np.arange(ROWS), ROWS, is_published=True, **others)


@pytest.fixture
def _all_are_large(monkeypatch):
    monkeypatch.setattr(exchanges, "MOST_BALANCED", 0)


@pytest.mark.nightly
@pytest.mark.usefixtures("_all_are_large")
def test_where_values_are_shared_a_bound_counts_everybody_as_found():
    assert (likelihood_linkage(swapped_files(12, fails_closed=True)) == 1).all()
    assert likelihood_linkage(swapped_files(12)).mean() < 0.5


@pytest.mark.usefixtures("_all_are_large")
def test_partners_are_followed_where_values_are_nobody_elses():
    assert likelihood_linkage(swapped_files(ROWS, fails_closed=True)).mean() > 0.9


def test_one_common_value_does_not_hide_what_the_others_tell():
    files = swapped_files(ROWS)
    columns = tuple(
        replace(one, values=np.where(one.values < 9, 0.0, one.values)) for one in files.columns
    )
    zeros = replace(files, columns=columns)
    assert likelihood_linkage(zeros).mean() > 0.5
    assert all(map(exchanges._is_shared, columns))
