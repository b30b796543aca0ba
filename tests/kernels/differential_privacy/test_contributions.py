from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.kernels.differential_privacy.contributions import bound_contributions

KEY = bytes(range(16))
rows = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2)), max_size=40)


def kept(table, max_groups, max_rows, key=KEY):
    columns = [np.array([row[place] for row in table], dtype=np.uint64) for place in range(3)]
    mask = bound_contributions(*columns, key, max_groups, max_rows)
    return [row for row, is_kept in zip(table, mask, strict=True) if is_kept]


@given(rows, st.integers(1, 3), st.integers(1, 3))
def test_no_unit_has_more_groups_or_rows_than_allowed(table, max_groups, max_rows):
    left = kept(table, max_groups, max_rows)
    groups = Counter(unit for unit, _ in {row[:2] for row in left})
    assert max(groups.values(), default=0) <= max_groups
    assert max(Counter(row[:2] for row in left).values(), default=0) <= max_rows


@given(rows, st.integers(1, 3), st.integers(1, 3))
def test_no_more_is_dropped_than_the_bounds_ask(table, max_groups, max_rows):
    pairs, all_pairs = (
        Counter(row[:2] for row in some) for some in (kept(table, max_groups, max_rows), table)
    )
    of_unit = Counter(unit for unit, _ in all_pairs)
    assert all(count == min(all_pairs[pair], max_rows) for pair, count in pairs.items())
    for unit, groups in of_unit.items():
        assert sum(one == unit for one, _ in pairs) == min(groups, max_groups)


@given(rows, st.randoms())
def test_the_order_of_rows_changes_nothing(table, random):
    shuffled = random.sample(table, len(table))
    assert sorted(kept(table, 2, 2)) == sorted(kept(shuffled, 2, 2))


@given(rows, st.integers(0, 3))
def test_a_unit_less_changes_nothing_of_the_others(table, gone):
    without = [row for row in table if row[0] != gone]
    assert [row for row in kept(table, 2, 2) if row[0] != gone] == kept(without, 2, 2)


def test_units_keep_groups_of_their_own_choice():
    """Were the hash the same for all units, all of them would keep the same group."""
    table = [(unit, group, 0) for unit in range(400) for group in range(4)]
    counts = Counter(group for _, group, _ in kept(table, 1, 1))
    assert all(60 < counts[group] < 140 for group in range(4))


def test_another_key_makes_another_choice():
    table = [(unit, group, 0) for unit in range(20) for group in range(4)]
    assert kept(table, 1, 1) != kept(table, 1, 1, bytes(16))


def test_hashes_that_agree_in_one_word_are_told_apart(monkeypatch):
    from policy_engine.kernels.differential_privacy import contributions

    def poor(columns, _key):
        words = [column.astype(np.uint64) for column in columns]
        number = sum(word * 10**place for place, word in enumerate(words))
        return np.stack([number * 0, number], axis=1).astype(np.uint64)

    monkeypatch.setattr(contributions, "hash_rows", poor)
    monkeypatch.setattr(contributions, "derive_key", lambda key, _use: key)
    table = [(unit, group, 0) for group in range(3) for unit in range(3)]
    assert Counter(unit for unit, _, _ in kept(table, 2, 1)) == {0: 2, 1: 2, 2: 2}


def test_wide_digests_and_no_rows():
    wide = np.array([[1, 2], [1, 3]], dtype=np.uint64)
    assert bound_contributions(wide, wide, wide, KEY, 1, 1).all()
    assert not len(bound_contributions(wide[:0], wide[:0], wide[:0], KEY, 1, 1))


@pytest.mark.parametrize("bounds", [(0, 1), (1, 0)])
def test_a_bound_below_one_is_refused(bounds):
    with pytest.raises(ValueError, match="at least 1"):
        kept([(0, 0, 0)], *bounds)
