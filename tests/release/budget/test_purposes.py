"""What an assignee was given for a wider purpose counts for the narrower one, once."""

from dataclasses import replace

import pytest
from charging import OF_ANN, VISITS, cap, charge, release

from policy_engine.errors import DeniedError
from policy_engine.release.budget import BudgetLedger

ALL, STUDY, SURVEY, RESEARCH = "", "urn:study", "urn:survey", "urn:research"
WIDER = {RESEARCH: (ALL,), STUDY: (RESEARCH, ALL), SURVEY: (RESEARCH, ALL), ALL: ()}


def of(purpose):
    return replace(OF_ANN, purpose=purpose)


def made_for(purpose, plan, most=None):
    """Return a charge of 1 for a purpose, under a cap for that purpose if one is given."""
    accounts = (VISITS, of(purpose), *map(of, WIDER[purpose]))
    caps = (cap(most, of(purpose), wider=WIDER[purpose]),) if most else ()
    return replace(charge(plan, accounts=accounts, caps=caps), purposes=(purpose,))


def counts(ledger):
    return {
        one.purpose: int(amount.epsilon)
        for one, amount in ledger.spent(WIDER).items()
        if one.assignee
    }


@pytest.fixture
def ledger(tmp_path):
    return BudgetLedger(tmp_path / "budget.db")


@pytest.mark.parametrize(
    ("purpose", "expected"),
    [
        (STUDY, {STUDY: 1, SURVEY: 0, RESEARCH: 1, ALL: 1}),
        (RESEARCH, {STUDY: 1, SURVEY: 1, RESEARCH: 1, ALL: 1}),
        (ALL, {STUDY: 1, SURVEY: 1, RESEARCH: 1, ALL: 1}),
    ],
)
def test_a_release_counts_once_for_each_purpose_that_it_may_be_used_for(ledger, purpose, expected):
    release(ledger, made_for(purpose, "1"))
    assert counts(ledger) == counts(BudgetLedger(ledger.store)) == expected


@pytest.mark.parametrize("purpose", [RESEARCH, ALL])
def test_what_was_made_for_a_wider_purpose_counts_under_a_cap(ledger, purpose):
    release(ledger, made_for(purpose, "1"))
    with pytest.raises(DeniedError):
        release(ledger, made_for(STUDY, "2", "1.5"))
    release(ledger, made_for(STUDY, "2", "2"))
    [remaining] = [one.remaining for one in ledger.balances() if one.account == of(STUDY)]
    assert remaining.epsilon == 0


def test_what_is_reserved_for_a_wider_purpose_counts_under_a_cap(ledger):
    held = ledger.reserve(made_for(RESEARCH, "1"))
    with pytest.raises(DeniedError):
        ledger.reserve(made_for(STUDY, "2", "1.5"))
    ledger.cancel(held)
    release(ledger, made_for(STUDY, "2", "1.5"))


def test_what_was_made_for_another_purpose_does_not_count(ledger):
    release(ledger, made_for(SURVEY, "1"))
    release(ledger, made_for(STUDY, "2", "1"))


@pytest.mark.parametrize("purpose", [RESEARCH, ALL])
def test_an_answer_that_is_given_again_for_a_wider_purpose_counts_for_it_too(ledger, purpose):
    """It was asked for another purpose first, whose account for all purposes has paid for it."""
    release(ledger, made_for(SURVEY, "1"))
    assert counts(ledger).get(STUDY, 0) == 0
    for _ in range(2):
        release(ledger, made_for(purpose, "1"))
        expected = {STUDY: 1, SURVEY: 1, RESEARCH: 1, ALL: 1}
        assert counts(ledger) == counts(BudgetLedger(ledger.store)) == expected
    with pytest.raises(DeniedError):
        release(ledger, made_for(STUDY, "2", "1.5"))
    assert ledger.verify().intact


def test_an_answer_that_is_given_again_for_a_narrower_purpose_counts_once(ledger):
    release(ledger, made_for(RESEARCH, "1"))
    release(ledger, made_for(STUDY, "1"))
    assert counts(ledger) == counts(BudgetLedger(ledger.store))
    assert counts(ledger)[STUDY] == 1
