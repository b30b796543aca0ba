"""The budgets that policies set: they hold for all charges, whoever makes them."""

from dataclasses import replace

import pytest
from charging import OF_ANN, VISITS, cap, charge, release, spent

from policy_engine.errors import DeniedError
from policy_engine.release.budget import BudgetLedger


def charged(ledger, plan, policy, epsilon=None, **more):
    """Charge 1 under a policy, which sets a budget if an epsilon is given."""
    caps = (cap(epsilon, set_by=policy),) if epsilon else ()
    release(ledger, replace(charge(plan, caps=caps, **more), policies=(policy,)))


@pytest.fixture
def ledger(tmp_path):
    ledger = BudgetLedger(tmp_path / "budget.db")
    charged(ledger, "1", "urn:a", "2")
    return ledger


def test_a_policy_without_a_budget_does_not_spend_beyond_that_of_another(ledger):
    charged(ledger, "2", "urn:b")
    with pytest.raises(DeniedError):
        charged(ledger, "3", "urn:b")
    with pytest.raises(DeniedError):
        charged(ledger, "3", "urn:c", "10")
    again = BudgetLedger(ledger.store)
    with pytest.raises(DeniedError):
        charged(again, "3", "urn:b")
    assert spent(again) == 2


def test_a_policy_replaces_its_own_budget_and_removes_it(ledger):
    charged(ledger, "2", "urn:a", "3")
    charged(ledger, "3", "urn:b")
    with pytest.raises(DeniedError):
        charged(ledger, "4", "urn:b")
    charged(ledger, "4", "urn:a")
    charged(ledger, "5", "urn:b")
    assert [one.caps for one in ledger.balances()] == [(), ()]


def test_the_budgets_of_all_policies_are_shown_and_the_caps_of_the_last_rule(ledger):
    own = cap("7", OF_ANN)
    charge_of_b = charge("2", caps=(own, cap("9", set_by="urn:b")))
    release(ledger, replace(charge_of_b, policies=("urn:b",)))
    caps = {one.account: one.caps for one in ledger.balances()}
    assert caps == {VISITS: (cap("2", set_by="urn:a"), cap("9", set_by="urn:b")), OF_ANN: (own,)}
    charged(ledger, "3", "urn:a", "5")
    [whole, of_ann] = ledger.balances()
    assert (whole.remaining.epsilon, of_ann.remaining) == (2, None)


def test_the_budget_of_a_dataset_that_is_not_charged_is_not_checked(ledger):
    other = cap("0.5", replace(VISITS, dataset="urn:other"), set_by="urn:b")
    release(ledger, replace(charge("2", caps=(other,)), policies=("urn:b",)))
    assert len(ledger.balances()) == 2


def test_a_kept_answer_is_denied_where_a_budget_of_another_policy_is_spent(ledger):
    whole = replace(VISITS, dataset="urn:hospital")
    limit = (cap("1", whole, set_by="urn:b"),)
    link = (VISITS.dataset, whole.dataset)
    release(ledger, replace(charge("2", caps=limit), policies=("urn:b",), links=(link,)))
    with pytest.raises(DeniedError):
        charged(ledger, "1", "urn:a", "2")
