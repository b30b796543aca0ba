"""Of two columns, enough units have neither some value of one nor some value of the other."""

import numpy as np
import pytest

from policy_engine.methods.output_checks.profiles import PROFILES
from policy_engine.release.both_columns import are_enough_of_both, largest_terms
from policy_engine.release.output_ledger import pair_measure
from policy_engine.release.output_ledger.answers import told_columns, told_systems
from policy_engine.release.telling_differences import ToldDifferences

UNITS = 60
AGES = 20.0 + np.arange(UNITS)
PAYS = 1000.0 + 3 * np.arange(UNITS)
PAIR = pair_measure(["age", "pay"], "COVAR")


def fewest(one, other):
    """Return how many have neither value of the two that leave the fewest, by trying all."""
    return min(
        np.count_nonzero((one != first) & (other != second))
        for first in np.unique(one)
        for second in np.unique(other)
    )


def test_it_is_found_as_by_trying_all_values():
    random, units = np.random.default_rng(5), np.arange(UNITS)
    found = []
    for _ in range(60):
        shares = random.dirichlet(np.full(4, 0.5), 2)
        one, other = (random.choice(4, UNITS, p=share) for share in shares)
        least = int(random.integers(1, 25))
        found.append(are_enough_of_both(units, one, other, least))
        assert found[-1] == (fewest(one, other) >= least)
    assert 10 < sum(found) < 50


@pytest.mark.parametrize("rows", [1, 3])
def test_rows_of_a_unit_count_once(rows):
    units, one = np.repeat(np.arange(UNITS), rows), np.repeat(np.arange(UNITS) < 15, rows)
    other = np.repeat(np.arange(UNITS), rows)
    assert are_enough_of_both(units, one.astype(np.int64), other, 14)
    assert not are_enough_of_both(units, one.astype(np.int64), other, 15)


def told(ages, pays, one, other, measure=PAIR):
    """Return whether what a statistic of two columns differs by may be told."""
    columns = {"age": ages, "pay": pays}
    rules = ToldDifferences(np.arange(UNITS), columns.get, PROFILES["sacro"])
    return all(rules(system, one, other) for system in told_systems(measure))


ALL, NOBODY = np.ones(UNITS, np.bool_), np.zeros(UNITS, np.bool_)
FIRST, LAST = np.arange(UNITS) < 30, np.arange(UNITS) >= 31


def test_statistic_of_two_columns_is_told_of_enough():
    assert told(AGES, PAYS, ALL, NOBODY)
    assert told(AGES, PAYS, ALL, FIRST)
    assert told(AGES, PAYS, FIRST, LAST)


@pytest.mark.parametrize("idle", ["age", "pay"])
@pytest.mark.parametrize(("one", "other"), [(ALL, NOBODY), (ALL, FIRST), (FIRST, LAST)])
def test_statistic_of_two_columns_is_not_told_of_few_who_have_something_in_either(idle, one, other):
    """All but the first five and the last five of those that differ have one value."""
    places = np.flatnonzero(one != other)[5:-2]
    columns = {"age": AGES.copy(), "pay": PAYS.copy()}
    columns[idle][places] = 0.0
    assert not told(columns["age"], columns["pay"], one, other)


def test_statistic_of_two_columns_is_not_told_of_few_who_have_something_in_both():
    """Half have no pay, and half are of one age: of each column alone, enough have others."""
    ages, pays = AGES.copy(), PAYS.copy()
    pays[:28], ages[28:56] = 0.0, 40.0
    assert not told(ages, pays, ALL, NOBODY)
    spreads = (f"statistics:{name}" for name in ("age", "pay"))
    rules = ToldDifferences(np.arange(UNITS), {"age": ages, "pay": pays}.get, PROFILES["sacro"])
    assert all(rules(system, ALL, NOBODY) for system in spreads)


def test_product_of_which_one_has_nearly_all_is_not_told():
    ages, pays = AGES.copy(), PAYS.copy()
    pays[7] = ages[7] = 12_000.0
    assert not told(ages, pays, ALL, NOBODY)


def test_columns_without_known_numbers_tell_nothing():
    assert not told(None, PAYS, ALL, NOBODY)
    assert not told(AGES, PAYS, ALL, NOBODY, pair_measure(["age", "pay", "born"], "COVAR"))


def test_contributing_to_products_are_those_who_do_to_both_columns():
    ages, pays = AGES.copy(), PAYS.copy()
    ages[:20], pays[10:40] = 0.0, 0.0
    rules = ToldDifferences(np.arange(UNITS), {"age": ages, "pay": pays}.get, PROFILES["sacro"])
    assert told_columns(PAIR) >= {"age", "pay"}
    [system] = told_columns(PAIR) - {"age", "pay"}
    [is_counted] = rules.contributing(system)
    assert np.array_equal(is_counted, np.arange(UNITS) >= 40)
    unknown = ToldDifferences(np.arange(UNITS), lambda _: None, PROFILES["sacro"])
    assert unknown.contributing(system) == []


def told_of_nine(hours):
    """Return whether a covariance of nine gains, all others having none, passes with hours."""
    gains = np.zeros(UNITS)
    gains[:9] = [500, 300, 400, 600, 450, 350, 250, 550, 420]
    columns = {"gain": gains, "hours": hours}
    profile = PROFILES["sacro"].model_copy(update={"min_units": 3})
    told = ToldDifferences(np.arange(UNITS), columns.get, profile)
    return told('products:["gain", "hours"]', np.ones(UNITS, bool), np.zeros(UNITS, bool))


def test_a_covariance_beside_a_total_is_not_about_one_with_other_hours_than_all_others():
    hours = 100.0 + np.arange(UNITS) % 3
    assert told_of_nine(hours + np.arange(UNITS) % 7)
    apart = np.where(np.arange(UNITS) == 0, 160.0, hours)
    # No product is much of their sum; of those with hours less 101, the first one's is nearly all.
    products = np.sort(apart[:9] * [500, 300, 400, 600, 450, 350, 250, 550, 420])
    assert products[-2:].sum() < 0.5 * products.sum()
    assert not told_of_nine(apart)


def test_centres_of_many_rows_are_few():
    units = np.arange(30_000)
    terms = largest_terms(units, np.ones(30_000), np.arange(30_000.0))
    assert len(terms.total) < 20
    assert (terms.total >= terms.largest + terms.second).all()
