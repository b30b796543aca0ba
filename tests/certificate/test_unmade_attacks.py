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
        ("exact-linkage", 3_126, 12, True),
        ("exact-linkage", 50_000, 13, True),
        ("probabilistic-linkage", 50_001, 12, True),
        ("probabilistic-linkage", 50_001, 13, False),
        ("probabilistic-linkage", 50_000, 13, True),
    ],
)
def test_values_are_compared_by_so_many_columns_and_persons(attack, records, columns, always):
    assert applies_always(attack, records, columns) == always


NUMBERS = "it compares numbers, each of which is one value"
NOT_SWAPPED = "no known column is declared to be rank-swapped"
BY_ONE = "by one column of numbers it is value-linkage"
FEW = "its covariance takes {} persons at least, and 19 are in the release"


@pytest.fixture(scope="module")
def certificate():
    """That of a table with columns that are swapped, with noise, rounded and not masked."""
    swapped = column("pay", masking="rank-swapping", p=0.5)
    noisy = column("cap", masking="noise", sdShare=1)
    rounded = [column(name, masking="rounding", base=1) for name in ("tax", "none")]
    table = {name: [*range(9)] for name in ("id", "pay", "cap", "tax")} | {"none": [None] * 9}
    masked = [swapped, noisy, *rounded]
    asked = {"method": "masking", "insensitive": ["id"], "masked": masked}
    return applied(table, key=b"k" * 32, **asked).certificate


@pytest.mark.parametrize(
    ("attack", "reason", "records", "known", "may"),
    [
        ("intersection-linkage", NOT_SWAPPED, 9, {"cap"}, True),
        ("intersection-linkage", NOT_SWAPPED, 9, {"cap", "pay"}, False),
        ("intersection-linkage", NUMBERS, 9, {"pay"}, False),
        ("intersection-linkage", "because", 9, {"cap"}, False),
        ("mahalanobis-linkage", NUMBERS, 400, {"id"}, True),
        ("mahalanobis-linkage", NUMBERS, 400, {"id", "none"}, False),
        ("mahalanobis-linkage", NUMBERS, 400, {"id", "cap"}, False),
        ("mahalanobis-linkage", NUMBERS, 400, {"id", "pay"}, False),
        ("mahalanobis-linkage", NUMBERS, 400, {"id", "tax"}, False),
        ("mahalanobis-linkage", BY_ONE, 9, {"pay"}, True),
        ("mahalanobis-linkage", BY_ONE, 9, {"pay", "id"}, True),
        ("mahalanobis-linkage", BY_ONE, 9, {"pay", "cap"}, False),
        ("mahalanobis-linkage", FEW.format(20), 19, {"cap", "pay"}, True),
        ("mahalanobis-linkage", FEW.format(20), 19, {"cap", "id"}, True),
        ("mahalanobis-linkage", FEW.format(30), 19, {"cap", "pay", "id"}, True),
        ("mahalanobis-linkage", FEW.format(20), 19, {"cap", "pay", "tax"}, False),
        ("mahalanobis-linkage", FEW.format(20), 20, {"cap", "pay"}, False),
        ("mahalanobis-linkage", FEW.format(20), 19, {"pay"}, False),
        ("mahalanobis-linkage", "", 400, {"cap", "pay"}, False),
    ],
)
def test_a_reason_is_one_that_the_certificate_allows(
    certificate, attack, reason, records, known, may
):
    assert may_not_apply(attack, reason, records, known, certificate) == may
