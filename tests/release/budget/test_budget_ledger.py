"""What is reserved, spent, given back and replayed, and what a budget allows."""

from contextlib import suppress
from dataclasses import replace
from decimal import Decimal

import pytest
from charging import OF_ANN, OF_BOB, VISITS, cap, charge, release, spend, spent

from policy_engine.errors import DeniedError, LedgerError
from policy_engine.release.budget import (
    Account,
    Amount,
    BudgetLedger,
    ReplayedAnswer,
    Reservation,
)


@pytest.fixture
def ledger(tmp_path):
    return BudgetLedger(tmp_path / "budget.db")


def states(ledger):
    return [one.state for one in ledger.history()]


def test_what_is_reserved_is_held_and_what_is_committed_is_spent(ledger):
    reservation = ledger.reserve(charge(epsilon="0.5"))
    assert spent(ledger) == 0
    assert ledger.balances()[0].reserved == Amount(Decimal("0.5"), Decimal(0))
    ledger.commit(reservation)
    assert ledger.balances()[0].remaining == Amount(Decimal("9.5"), Decimal("0.00001"))
    assert spent(ledger) == spent(ledger, OF_ANN) == Decimal("0.5")
    assert ledger.balances()[0].reserved.epsilon == 0
    assert states(ledger) == ["opened", "reserved", "spent"]


def test_what_is_cancelled_is_given_back_and_cannot_be_committed(ledger):
    reservation = ledger.reserve(charge())
    ledger.cancel(reservation)
    assert spent(ledger) == ledger.balances()[0].reserved.epsilon == 0
    for use in (ledger.commit, ledger.cancel, lambda one: ledger.keep(one, b"")):
        with pytest.raises(LedgerError, match="B011 The reservation of entry 2 is not"):
            use(reservation)


def test_what_was_committed_is_never_given_back(ledger):
    reservation = spend(ledger, charge())
    with pytest.raises(LedgerError, match="B011"):
        ledger.cancel(reservation)
    with pytest.raises(LedgerError, match="B011"):
        ledger.commit(reservation)
    assert spent(ledger) == 1


def test_a_kept_answer_is_returned_at_no_cost_and_the_replay_is_recorded(ledger):
    release(ledger, charge(), b"noisy")
    again = ledger.reserve(charge())
    assert again == ReplayedAnswer(b"noisy", 2, charge().amount)
    assert spent(ledger) == spent(ledger, OF_ANN) == 1
    assert states(ledger) == ["opened", "reserved", "spent", "kept", "replayed"]


@pytest.mark.parametrize("name", ["policy", "plan", "data", "release"])
def test_another_policy_plan_data_or_output_is_another_release(ledger, name):
    release(ledger, charge())
    assert isinstance(ledger.reserve(replace(charge(), **{name: "other"})), Reservation)


def test_an_answer_that_another_party_gets_is_charged_to_that_party_alone(ledger):
    release(ledger, charge(accounts=(VISITS, OF_ANN)), b"noisy")
    for _ in range(2):
        again = ledger.reserve(charge(accounts=(VISITS, OF_BOB), caps=(cap("1", OF_BOB),)))
        assert again.answer == b"noisy"
    assert [spent(ledger, one) for one in (VISITS, OF_ANN, OF_BOB)] == [1, 1, 1]
    with pytest.raises(DeniedError, match="B009"):
        ledger.reserve(charge("2", accounts=(VISITS, OF_BOB), caps=(cap("1", OF_BOB),)))


def test_a_kept_answer_is_denied_to_a_party_without_budget(ledger):
    release(ledger, charge())
    with pytest.raises(DeniedError, match="B009"):
        ledger.reserve(charge(accounts=(VISITS, OF_BOB), caps=(cap("0.5", OF_BOB),)))
    assert [one.account for one in ledger.balances()] == [VISITS, OF_ANN]


def test_a_budget_can_be_spent_to_the_last_and_not_beyond(ledger):
    for plan in range(10):
        release(ledger, charge(str(plan), epsilon="0.1", caps=(cap("1"),)))
    assert spent(ledger) == 1
    with pytest.raises(DeniedError):
        ledger.reserve(charge("more", epsilon="1e-90", caps=(cap("1"),)))


def test_a_charge_goes_to_all_its_accounts_or_none(ledger):
    caps = cap("10"), cap("1", OF_ANN)
    spend(ledger, charge("1", caps=caps))
    with pytest.raises(DeniedError):
        ledger.reserve(charge("2", caps=caps))
    assert spent(ledger) == 1
    assert ledger.balances()[0].reserved.epsilon == 0


def test_delta_is_capped_too(ledger):
    spend(ledger, charge("1", delta="9e-6"))
    with pytest.raises(DeniedError):
        ledger.reserve(charge("2", delta="2e-6"))


def test_a_denial_says_budget_and_numbers_only_to_the_owner(ledger):
    spend(ledger, charge("1", epsilon="3", caps=(cap("4"),)))
    with pytest.raises(DeniedError) as caught:
        ledger.reserve(charge("2", epsilon="2", caps=(cap("4"),)))
    [problem] = caught.value.problems
    assert problem.message == (
        "The privacy budget of 'http://example.com/Visits' does not allow this release."
    )
    assert not any(one.isdigit() for one in f"{problem.message}{problem.hint}")
    assert "epsilon 3 and delta 0 of epsilon 4 and delta 0.00001 is spent or reserved" in (
        problem.with_values().message
    )
    assert caught.value.exit_code == 1


def test_what_another_holds_reserved_cannot_be_reserved_twice(ledger):
    first = ledger.reserve(charge("1", caps=(cap("1"),)))
    with pytest.raises(DeniedError):
        ledger.reserve(charge("2", caps=(cap("1"),)))
    ledger.cancel(first)
    assert isinstance(ledger.reserve(charge("2", caps=(cap("1"),))), Reservation)


def test_a_run_that_fails_before_it_commits_gives_back_and_after_it_is_charged(ledger):
    for step, left in ((lambda _: None, 0), (ledger.commit, 1)):
        with suppress(RuntimeError), ledger.reserve(charge()) as reservation:
            step(reservation)
            raise RuntimeError
        assert spent(ledger) == left
    assert states(ledger)[1:] == ["reserved", "cancelled", "reserved", "spent", "lost"]
    assert isinstance(ledger.reserve(charge()), Reservation)


def test_the_answer_of_a_run_that_was_given_up_is_not_kept(ledger):
    reservation = spend(ledger, charge())
    ledger.give_up(reservation)
    with pytest.raises(LedgerError, match="B011"):
        ledger.keep(reservation, b"late")


def test_the_same_release_is_waited_for_only_so_long(ledger):
    ledger.reserve(charge())
    with pytest.raises(LedgerError, match="B010 Another run has been making the same release"):
        ledger.reserve(charge(), wait=0.01)


def test_sums_are_exact(ledger):
    for plan in range(3):
        release(ledger, charge(str(plan), epsilon="0.1", delta="1e-30"))
    assert ledger.balances()[0].spent == Amount(Decimal("0.3"), Decimal("3e-30"))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"epsilon": 0.5}, "Its epsilon is a float. Allowed are decimals."),
        ({"epsilon": Decimal(-1)}, "Its epsilon is -1. Allowed are 0 and more, and finite."),
        ({"epsilon": Decimal("NaN")}, "Its epsilon is NaN."),
        ({"epsilon": Decimal("Infinity")}, "Its epsilon is Infinity."),
        ({"epsilon": Decimal("1e-101")}, "Its epsilon has too many digits."),
        ({"delta": Decimal(1)}, "Its delta is 1. Allowed is less than 1."),
        ({"epsilon": Decimal(0)}, "Its epsilon and its delta are 0"),
        ({"accounts": ()}, "It has no account."),
        ({"accounts": (VISITS, VISITS)}, "It has an account twice."),
        ({"accounts": (Account("", "u"),)}, "It has an account without a dataset."),
        ({"accounts": (OF_ANN,)}, "It has the cap of an account that it does not charge."),
        ({"caps": (cap("1", renewal="P1Y"),)}, "Its cap is renewed without a bound on"),
        ({"plan": "\ud800"}, "A name in it is not"),
        ({"events": [object()]}, "A name in it is not a text, or its events are not JSON."),
        ({"events": [float("nan")]}, "A name in it is not UTF-8, or its events are not JSON."),
    ],
)
def test_a_charge_that_cannot_be_recorded_is_refused(ledger, changes, told):
    with pytest.raises(LedgerError, match="B008 The charge cannot be recorded") as caught:
        ledger.reserve(replace(charge(), **changes))
    assert told in str(caught.value)


def test_a_dataset_has_one_unit_once_something_is_held_or_spent_of_it(ledger):
    rows = replace(VISITS, unit="http://example.com/Visits/row")
    by_row = charge("2", accounts=(rows,), caps=())
    held = ledger.reserve(charge("1"))
    with pytest.raises(LedgerError, match=r"B012 The budget of \S+/Visits is that"):
        ledger.reserve(by_row)
    ledger.cancel(held)
    spend(ledger, by_row)
    with pytest.raises(LedgerError, match="B012"):
        ledger.reserve(charge("1"))


def test_budget_can_be_reserved_and_committed_in_one_step(ledger):
    reservation = ledger.spend(charge())
    assert states(ledger) == ["opened", "reserved", "spent"]
    assert (reservation.number, reservation.head) == (2, ledger.verify().head)
    assert spent(ledger) == 1
    ledger.keep(reservation, b"noisy")
    assert ledger.spend(charge()).answer == b"noisy"
    with pytest.raises(DeniedError):
        ledger.spend(charge("2", "9.1"))
    assert spent(ledger) == 1


def test_what_would_be_charged_is_told_and_leaves_nothing(ledger):
    assert ledger.would_charge(charge())
    assert not ledger.store.exists()
    release(ledger, charge())
    before = ledger.history()
    assert not ledger.would_charge(charge())
    assert ledger.would_charge(charge("2"))
    assert ledger.would_charge(charge(accounts=(VISITS, OF_BOB)))
    with pytest.raises(DeniedError, match="B009"):
        ledger.would_charge(charge("3", epsilon="11"))
    assert ledger.history() == before
    assert spent(ledger) == 1


def test_what_is_being_made_would_not_be_charged_again(ledger):
    ledger.reserve(charge())
    assert not ledger.would_charge(charge())
    assert ledger.would_charge(charge(accounts=(VISITS, OF_BOB)))


def test_what_was_asked_is_recorded(ledger):
    release(ledger, replace(charge(), asked={"figures": [{"function": "count"}]}))
    assert ledger.history()[1].charge.asked == {"figures": [{"function": "count"}]}
