"""What was not changed is found, whatever suppression, coding or selection did to other rows."""

import numpy as np
import pyarrow as pa
import pytest

from policy_engine.audits.disclosure.attacks.distance import distance_linkage
from policy_engine.audits.disclosure.attacks.value import (
    exact_linkage,
    exact_taken,
    value_linkage,
    value_taken,
)
from policy_engine.audits.disclosure.files import TwoFiles, known_columns
from policy_engine.audits.disclosure.settings import AttackSettings

INCOMES = [100, 101, 102, 103, 104, 105, 106, 107, 108, 900]


def files_of(before, after, own=None):
    names = list(before)
    columns = known_columns(pa.table(before), pa.table(after), names, None, {})
    rows = len(after[names[0]])
    return TwoFiles(columns, np.arange(rows) if own is None else np.array(own), rows)


RELEASES = {
    "as it was": (INCOMES, None, 10),
    "suppressed": ([*INCOMES[:9], None], None, 9),
    "top-coded": ([*INCOMES[:9], 108], None, 8.5),
    "coded": ([*INCOMES[:8], -9, -9], None, 8),
    "selected": (INCOMES[5:], [-1] * 5 + [0, 1, 2, 3, 4], 5),
}


@pytest.mark.parametrize(("after", "own", "links"), RELEASES.values(), ids=RELEASES)
def test_what_stayed_is_found_although_means_and_deviations_moved(after, own, links):
    files = files_of({"income": INCOMES}, {"income": after}, own)
    assert value_linkage(files).sum() >= links
    assert exact_linkage(files, AttackSettings()).sum() >= links - 1
    if links < 10:
        assert distance_linkage(files).sum() < links


def test_beside_categories_too():
    before = {"sex": ["m", "f"] * 5, "income": INCOMES}
    files = files_of(before, {**before, "income": [*INCOMES[:8], -9, -9]})
    assert value_linkage(files).sum() == 8
    assert exact_linkage(files, AttackSettings()).sum() >= 8


def test_a_cell_that_stayed_tells_the_record_although_another_was_coded():
    before = {"income": INCOMES, "tax": [5, 3, 9, 1, 4, 8, 2, 7, 6, 0]}
    after = {"income": [-9, *INCOMES[1:]], "tax": [*before["tax"][:9], -9]}
    assert exact_linkage(files_of(before, after), AttackSettings()).sum() == 10


def test_codes_are_compared_by_their_ranks_where_nobody_knows_how_they_were_masked():
    # Every code became its neighbour, and the other column tells few apart.
    codes = [f"S{one:03d}" for one in range(8)]
    swapped = [codes[one] for one in (1, 0, 3, 2, 5, 4, 7, 6)]
    part = ["a", "b", "c", "d"] * 2
    files = files_of({"code": codes, "part": part}, {"code": swapped, "part": part})
    assert distance_linkage(files).sum() < 4
    assert value_linkage(files).sum() == 8


def test_how_near_the_record_is_that_is_taken():
    files = files_of({"income": [1, 2, 3, 4]}, {"income": [1, 2, 3, 9]})
    assert value_taken(files, np.array([0, 3])) == pytest.approx([0, 1 / 1.25])
    exact = exact_taken(files, np.array([0, 3]), AttackSettings())
    assert exact[0] < exact[1]


def test_files_that_have_nothing_to_do_with_each_other_are_linked_by_chance():
    random = np.random.default_rng(3)
    before, after = ({"x": random.permutation(1000), "y": random.permutation(1000)} for _ in "ab")
    files = files_of(before, after)
    assert value_linkage(files).mean() < 0.005
    assert exact_linkage(files, AttackSettings()).mean() < 0.005


def test_equal_values_of_very_many_persons_are_not_compared(monkeypatch):
    monkeypatch.setattr("policy_engine.audits.disclosure.attacks.value.MOST_EXACT", 6)
    reason = exact_linkage(files_of({"x": INCOMES}, {"x": INCOMES}), AttackSettings()).reason
    assert reason == "it compares 3 persons at most by 1 column, and there are 10"
