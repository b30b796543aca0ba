"""Reasons for which an attack was not made, against what a plan shows."""

import pytest
from applying import applied
from building import column

from policy_engine.certificate.unmade_attacks import applies_always, may_not_apply


@pytest.mark.parametrize(
    ("attack", "records", "columns", "always"),
    [
        ("exact-linkage", 50_000, 8, True),
        ("exact-linkage", 50_001, 8, False),
        ("exact-linkage", 3_125, 12, True),
        ("exact-linkage", 1, 13, False),
        ("probabilistic-linkage", 50_001, 12, True),
        ("probabilistic-linkage", 1, 13, False),
    ],
)
def test_values_are_compared_by_so_many_columns_and_persons(attack, records, columns, always):
    assert applies_always(attack, records, columns) == always


NUMBERS = "it compares numbers, each of which is one value"
NOT_SWAPPED = "no known column is declared to be rank-swapped"
FEW = "its covariance takes 20 persons at least, and 19 are in the release"


@pytest.fixture(scope="module")
def plan():
    """The plan of a table with a column that is swapped and one with noise."""
    swapped = column("pay", masking="rank-swapping", p=0.5)
    noisy = column("cap", masking="noise", sdShare=1)
    table = {"id": [*range(9)], "pay": [*range(9)], "cap": [*range(9)]}
    asked = {"method": "masking", "insensitive": ["id"], "masked": [swapped, noisy]}
    return applied(table, key=b"k" * 32, **asked).plan


@pytest.mark.parametrize(
    ("attack", "reason", "records", "known", "may"),
    [
        ("intersection-linkage", NOT_SWAPPED, 9, {"cap"}, True),
        ("intersection-linkage", NOT_SWAPPED, 9, {"cap", "pay"}, False),
        ("intersection-linkage", NUMBERS, 9, {"pay"}, True),
        ("intersection-linkage", "because", 9, {"pay"}, False),
        ("mahalanobis-linkage", NUMBERS, 400, {"cap", "pay"}, True),
        ("mahalanobis-linkage", "with one column known it is value-linkage", 9, {"pay"}, True),
        ("mahalanobis-linkage", FEW, 19, {"cap", "pay"}, True),
        ("mahalanobis-linkage", FEW, 400, {"cap", "pay"}, False),
        ("mahalanobis-linkage", "", 400, {"cap", "pay"}, False),
        ("mahalanobis-linkage", FEW, 19, {"pay"}, False),
    ],
)
def test_a_reason_is_one_that_the_plan_allows(plan, attack, reason, records, known, may):
    assert may_not_apply(attack, reason, records, known, plan) == may
