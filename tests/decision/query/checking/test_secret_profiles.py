"""Six rows: whose illness, or whose pay, decides on a condition."""

import numpy as np
import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

from policy_engine.decision.query.checking import secret_profiles
from policy_engine.decision.query.checking.population_conditions import PopulationCondition
from policy_engine.decision.query.checking.secret_profiles import SecretProfiles

ROWS = pa.table(
    {
        "u": [0, 1, 2, 3, 4, 5],
        "ill": [False, True, True, False, True, None],
        "region": ["a", "a", "b", "b", "c", "c"],
        "pay": [1.0, 2.0, 3.0, 1.0, 2.0, 3.0],
        "limit": [2.0, 2.0, 0.0, 9.0, 1.0, 2.5],
    }
)


def decided(condition, *presence, are_values_known=False):
    """Return of whom each column decides, and who has such a secret: numbers of rows. It may be
    known whether they have a value of a column that some lack."""
    whole, *parts = (sqlglot.parse_one(one, dialect="duckdb") for one in (condition, *presence))
    source = exp.Select().from_(exp.table_("T", quoted=True))
    conditions = [PopulationCondition((whole,), tuple(parts))]
    profiles = SecretProfiles.of(source, exp.column("u"), conditions, {"T": ROWS})
    return {
        (one.column, *np.flatnonzero(one.members).tolist()): np.flatnonzero(one.holders).tolist()
        for one in profiles.decided(0)
        if (one.valued is not None) == are_values_known
    }


def test_a_secret_decides_about_all_where_nothing_else_is_asked():
    assert decided("ill") == {("ill", 0, 1, 2, 3, 4, 5): [1, 2, 4]}


def test_who_has_none_of_the_values_is_told_by_who_has_one():
    """The first row has never such a secret, so that it is one measure."""
    assert decided("ill IS NOT TRUE") == decided("ill")


@pytest.mark.parametrize(
    "condition", ["ill", "NOT ill", "ill IS FALSE", "ill IS NOT TRUE", "COALESCE(ill, FALSE)"]
)
def test_of_those_with_a_value_who_has_not_one_has_the_other(condition):
    """The first row has none of the secrets that are told, and the last one has no value."""
    told = decided(condition, are_values_known=True)
    assert told == {("ill", 0, 1, 2, 3, 4): [1, 2, 4]}


def test_whether_there_is_a_value_is_told_of_all_alone():
    assert decided("ill IS NULL", are_values_known=True) == {}
    assert decided("ill IS NULL") == {("ill", 0, 1, 2, 3, 4, 5): [5]}


def test_a_column_that_all_have_a_value_of_is_told_of_once():
    assert decided("region = 'a' AND pay > 1", are_values_known=True) == {}


def test_a_secret_decides_about_those_of_whom_the_rest_is_known_to_hold():
    both = decided("ill AND region = 'a'")
    assert both["ill", 0, 1] == [1, 2, 4]
    assert both["region", 1, 2, 4] == [2, 3, 4, 5]
    either = decided("ill OR region = 'a'")
    assert either["ill", 2, 3, 4, 5] == [1, 2, 4]


def test_a_secret_that_is_asked_for_in_two_ways_is_one():
    """Of region a, who is ill counts, and of the others who is not."""
    condition = "ill IS TRUE AND region = 'a' OR ill IS NOT TRUE AND region <> 'a'"
    assert decided(condition)["ill", 0, 1, 2, 3, 4, 5] == [1, 2, 4]


def test_rows_without_a_measured_value_do_not_count():
    assert decided("region = 'c'", "NOT ill IS NULL") == {("region", 0, 1, 2, 3, 4): [4, 5]}


def test_a_condition_that_fails_does_not_hold():
    numbers = "CAST(CASE WHEN region = 'c' THEN 'x' ELSE '1' END AS INT) = 1"
    assert decided(numbers) == {("region", 0, 1, 2, 3, 4, 5): [4, 5]}


@pytest.mark.parametrize("most", [20, 1])
def test_of_many_profiles_it_is_counted_of_whom_the_condition_holds(monkeypatch, most):
    """A limit of 0 or 9 is above all pays, or below all; with 1, it is 2 or 3; with 2, it is 3."""
    monkeypatch.setattr(secret_profiles, "MOST_PROFILES", most)
    parts = {one: two for one, two in decided('pay > "limit"').items() if one[0] == "pay"}
    assert parts == (
        {("pay", 4): [1, 2, 4, 5], ("pay", 0, 1, 5): [2, 5]}
        if most > 1
        else {("pay", 0, 1, 4, 5): [2, 4, 5]}
    )
