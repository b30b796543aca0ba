"""Inference: secrets guessed from the nearest synthetic row."""

import numpy as np
import pytest
from risk_tables import HOLDOUT, MEMBERS, OTHERS, material

from policy_engine.audits.generative.risks.inference import InferenceSettings, infer

SETTINGS = InferenceSettings()


def table(members, holdout, synthetic, secrets=(3,), **more):
    return material(members, holdout, synthetic, "abcd", secrets=secrets, **more)


def with_secret(rows, seed, categories=5):
    """Return rows with a random category as the last column."""
    secret = np.random.default_rng(seed).integers(categories, size=len(rows))
    return np.column_stack([rows[:, :3], secret])


def test_copies_tell_the_secrets_of_their_members():
    (risk,) = infer(table(MEMBERS, HOLDOUT, MEMBERS), SETTINGS)
    assert (risk.risk, risk.column, risk.attacks, risk.asked) == ("inference", "d", 300, 2_000)
    assert risk.train.value == 1
    assert risk.control.value < 0.1
    assert risk.value.low > 0.98
    assert risk.is_evidence


@pytest.mark.parametrize("seed", range(3))
def test_independent_rows_tell_no_more_of_members_than_of_others(seed):
    sides = (with_secret(rows, seed + at) for at, rows in enumerate((MEMBERS, HOLDOUT, OTHERS)))
    (risk,) = infer(material(*sides, "abc", secrets=(3,)), SETTINGS)
    assert risk.value.low <= 0 <= risk.value.high
    assert not risk.is_evidence


def test_what_is_true_of_everybody_is_no_risk_of_members():
    # The secret is the sign of a column, in the population itself.
    sides = (np.column_stack([rows, rows[:, 0] > 0]) for rows in (MEMBERS, HOLDOUT, OTHERS))
    (risk,) = infer(material(*sides, "abcd", secrets=(4,)), SETTINGS)
    assert risk.control.low > risk.baseline.high
    assert risk.value.low <= 0 <= risk.value.high
    assert risk.is_evidence


def test_copies_of_the_holdout_are_no_risk_of_members():
    sides = (with_secret(rows, at) for at, rows in enumerate((MEMBERS, HOLDOUT)))
    members, holdout = sides
    (risk,) = infer(material(members, holdout, holdout[:200], "abc", secrets=(3,)), SETTINGS)
    assert risk.value.high < 0


@pytest.mark.parametrize(
    ("secret", "guess", "is_right"),
    [
        (100, 105, True),
        (100, 106, False),
        (-100, -95, True),
        (-100, -94, False),
        (0, 0, True),
        (0, 0.01, False),
        (np.nan, np.nan, True),
        (100, np.nan, False),
    ],
)
def test_numbers_within_the_tolerance_are_right(secret, guess, is_right):
    members, synthetic = [[row, secret] for row in range(20)], [[row, guess] for row in range(20)]
    others = [[row, 1e9] for row in range(20)]
    (risk,) = infer(material(members, others, synthetic, "ab", secrets=(1,)), SETTINGS)
    assert risk.train.value == risk.baseline.value == is_right
    assert risk.control.value == 0


def test_categories_are_guessed_exactly():
    members, synthetic = [[row, 100] for row in range(20)], [[row, 101] for row in range(20)]
    (risk,) = infer(material(members, members, synthetic, "a", secrets=(1,)), SETTINGS)
    assert risk.train.value == 0
    (of_numbers,) = infer(material(members, members, synthetic, "ab", secrets=(1,)), SETTINGS)
    assert "All 20 attacks" in of_numbers.reason


def test_a_secret_that_is_always_guessed_is_not_measured():
    rows = [[row, 0] for row in range(20)]
    (risk,) = infer(material(rows, rows, rows, "a", secrets=(1,)), SETTINGS)
    assert risk.reason.startswith("All 20 attacks on the holdout succeed")


def test_one_risk_of_each_secret():
    named = infer(table(MEMBERS, HOLDOUT, OTHERS, (3, 1)), InferenceSettings(every_column=True))
    assert [risk.column for risk in named] == ["d", "b"]
    every = infer(table(MEMBERS, HOLDOUT, OTHERS, ()), InferenceSettings(every_column=True))
    assert [risk.column for risk in every] == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("columns", "secrets", "reason"), [(4, (), "No columns are named"), (1, (0,), "one column")]
)
def test_not_applicable_without_a_secret_or_what_tells_it(columns, secrets, reason):
    sides = (side[:, :columns] for side in (MEMBERS, HOLDOUT, OTHERS))
    assert reason in infer(table(*sides, secrets), SETTINGS).reason


def test_same_seed_same_risk():
    sides = [with_secret(rows, at) for at, rows in enumerate((MEMBERS, HOLDOUT, OTHERS))]
    one, same, other = (
        infer(material(*sides, "abc", secrets=(3,), seed=seed), InferenceSettings(attacks=100))
        for seed in (5, 5, 6)
    )
    assert one == same
    assert one != other
