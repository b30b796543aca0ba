"""Which cells are missing tells persons apart, however their values were masked."""

import numpy as np
import pyarrow as pa
import pytest
from attacked import attacked, bounded, by
from building import DATASET, column

from policy_engine import apply_policy
from policy_engine.audits.disclosure.attacks.assignment import assignment_linkage
from policy_engine.audits.disclosure.attacks.distance import distance_linkage
from policy_engine.audits.disclosure.attacks.probabilistic import _codes
from policy_engine.audits.disclosure.files import TwoFiles, known_columns
from policy_engine.audits.disclosure.scales import differences, gaps
from policy_engine.audits.disclosure.settings import AttackSettings
from policy_engine.errors import CertificateError

# Four persons, each with a pattern of its own; no value stayed with its person.
BEFORE = pa.table({"age": [1, 2, None, None], "pay": [5, None, 7, None]})
AFTER = pa.table({"age": [9, 1, None, None], "pay": [7, None, 5, None]})


def two_files(before=BEFORE, after=AFTER):
    columns = known_columns(before, after, before.column_names, None, {})
    return TwoFiles(columns, np.arange(before.num_rows), after.num_rows)


@pytest.mark.parametrize(
    "attack",
    [distance_linkage, lambda files: assignment_linkage(files, AttackSettings())],
    ids=["distance", "assignment"],
)
def test_persons_are_linked_by_the_pattern_of_their_missing_cells(attack):
    assert attack(two_files()).tolist() == [1, 1, 1, 1]


def test_a_missing_cell_agrees_with_missing_ones_alone():
    age, _ = two_files().columns
    known_codes, released = _codes(age, 10)
    agree = known_codes[:, None] == released
    assert agree[2:, 2:].all()
    assert not agree[2:, :2].any()
    assert not agree[:2, 2:].any()


def test_a_missing_cell_is_far_from_all_values_where_missing_cells_stay():
    age, _ = two_files().columns
    known_gaps, released, _ = gaps(age)
    assert (known_gaps.tolist(), released.tolist()) == ([0, 0, 10, 10], [0, 0, 10, 10])
    assert (np.abs(differences(age))[:2, 2:] >= 10).all()


def test_a_missing_cell_is_as_another_category_where_cells_were_suppressed():
    after = AFTER.set_column(0, "age", pa.array([9, None, None, None]))
    age, _ = two_files(after=after).columns
    assert gaps(age)[0].tolist() == [0, 0, 1, 1]


MASKINGS = [
    {"masking": "noise", "sdShare": 3},
    {"masking": "multiplicative-noise", "logSd": 3},
    {"masking": "rank-swapping", "p": 0.9},
    {"masking": "rounding", "base": 1000},
    {"masking": "random-rounding", "base": 1000},
    {"masking": "microaggregation", "groupSize": 20},
    {"masking": "top-coding", "threshold": -9},
    {"masking": "pram", "keep": 0.5},
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("masking", MASKINGS, ids=lambda one: one["masking"])
def test_no_masking_hides_the_pattern_from_who_knows_the_method(masking):
    # 128 patterns of seven columns, each of one person.
    is_missing = (np.arange(128)[:, None] >> np.arange(7)) & 1 == 1
    values = np.random.default_rng(4).uniform(1, 5, (128, 7))
    values = np.rint(values) if masking["masking"] == "pram" else values
    columns = {
        f"c{place}": pa.array(values[:, place], mask=is_missing[:, place]) for place in range(7)
    }
    masked = [column(name, **masking) for name in columns]
    asked = bounded(0.999999), by("likelihood-linkage")
    policy = attacked(*asked, method="masking", masked=masked)
    with pytest.raises(CertificateError, match="the attack likelihood-linkage links 1 "):
        apply_policy(policy, {DATASET: pa.table(columns)}, key=b"k" * 32)
