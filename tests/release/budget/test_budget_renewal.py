"""Budgets that are renewed, under a cap on their lifetime."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from charging import VISITS, cap, charge, release, spend
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.errors import DeniedError, LedgerError
from policy_engine.release.budget import Amount, BudgetLedger, balances
from policy_engine.release.budget import ledger as module
from policy_engine.release.budget.state import AccountState


@pytest.fixture
def clock(monkeypatch):
    """The time of the ledger, which a test sets."""

    class Clock(datetime):
        moment = datetime(2026, 1, 31, tzinfo=UTC)

        @classmethod
        def now(cls, tz=None):
            return cls.moment.astimezone(tz)

    for one in (balances, module):
        monkeypatch.setattr(one, "datetime", Clock)
    monkeypatch.setattr(module, "now", lambda: Clock.moment.isoformat(timespec="microseconds"))
    return Clock


def yearly(renewal="P1Y", epsilon="1", lifetime="2.5"):
    return (
        cap(
            epsilon,
            renewal=renewal,
            lifetime_epsilon=Decimal(lifetime),
            lifetime_delta=Decimal("1e-5"),
        ),
    )


def test_what_was_spent_a_year_ago_counts_only_for_the_lifetime(tmp_path, clock):
    ledger = BudgetLedger(tmp_path / "budget.db")
    spend(ledger, charge("1", caps=yearly()))
    clock.moment = datetime(2027, 1, 30, 23, 59, tzinfo=UTC)
    with pytest.raises(DeniedError):
        ledger.reserve(charge("2", caps=yearly()))
    clock.moment = datetime(2027, 1, 31, tzinfo=UTC)
    spend(ledger, charge("2", caps=yearly()))
    [of_all, _] = ledger.balances()
    assert (of_all.account, of_all.spent.epsilon) == (VISITS, 2)
    assert of_all.remaining == Amount(Decimal(0), Decimal("1e-5"))
    clock.moment = datetime(2028, 2, 1, tzinfo=UTC)
    assert ledger.balances()[0].remaining.epsilon == Decimal("0.5")
    with pytest.raises(DeniedError):
        ledger.reserve(charge("3", caps=yearly()))
    spend(ledger, charge("3", "0.5", caps=yearly()))


def test_a_clock_that_is_set_back_renews_nothing(tmp_path, clock):
    ledger = BudgetLedger(tmp_path / "budget.db")
    spend(ledger, charge("1", caps=yearly()))
    clock.moment = datetime(2020, 1, 1, tzinfo=UTC)
    with pytest.raises(DeniedError):
        ledger.reserve(charge("2", caps=yearly()))
    spend(ledger, charge("3", caps=()))
    times = [one.logged for one in ledger.history()]
    assert times == sorted(times)


def test_a_clock_that_was_ahead_for_a_moment_renews_nothing(tmp_path, clock):
    ledger = BudgetLedger(tmp_path / "budget.db")
    release(ledger, charge("1", caps=yearly()))
    clock.moment = datetime(2027, 2, 1, tzinfo=UTC)
    assert ledger.balances()[0].remaining.epsilon == 1
    assert release(ledger, charge("1", caps=yearly())) == b"42"
    clock.moment = datetime(2026, 2, 1, tzinfo=UTC)
    assert ledger.balances()[0].remaining.epsilon == 0
    for one in (ledger, BudgetLedger(tmp_path / "budget.db")):
        with pytest.raises(DeniedError):
            one.reserve(charge("2", caps=yearly()))


@given(
    moments=st.lists(st.tuples(st.integers(0, 40), st.booleans()), min_size=1, max_size=12),
)
def test_what_counts_is_the_same_in_any_order_of_clocks(moments):
    one = cap("1", renewal="P10D", lifetime_epsilon=Decimal(9), lifetime_delta=Decimal(1))
    first = datetime(2026, 1, 1, tzinfo=UTC)
    account, paid = AccountState(VISITS), []
    for day, pays in moments:
        now = first + timedelta(days=day)
        if pays:
            paid.append(max([now, *paid]))
            account.pay((paid[-1].isoformat(), Amount(Decimal(1))))
        counted = sum(moment > now - timedelta(days=10) for moment in paid)
        assert account.spent_since_renewal(one, now).epsilon == counted


def test_a_lifetime_without_a_delta_is_of_none(tmp_path, clock):
    caps = (cap("1", delta="0", renewal="P1Y", lifetime_epsilon=Decimal("2.5")),)
    ledger = BudgetLedger(tmp_path / "budget.db")
    spend(ledger, charge("1", caps=caps))
    clock.moment = datetime(2027, 2, 1, tzinfo=UTC)
    assert ledger.balances()[0].remaining == Amount(Decimal(1), Decimal(0))
    with pytest.raises(DeniedError):
        ledger.reserve(charge("2", "0.5", delta="1e-9", caps=caps))
    assert BudgetLedger(tmp_path / "budget.db").balances()[0].caps[0].lifetime.delta == 0
    with pytest.raises(LedgerError, match=r"B008 .* without a bound on the lifetime"):
        ledger.reserve(charge("3", caps=(cap("1", renewal="P1Y", lifetime_epsilon=Decimal(2)),)))


@pytest.mark.parametrize("renewal", ["P0D", "-P1Y", "1 year", "P1Y1"])
def test_a_renewal_is_a_positive_duration(tmp_path, renewal):
    with pytest.raises(LedgerError, match=r"B008 .* which is not a positive duration"):
        BudgetLedger(tmp_path / "budget.db").reserve(charge(caps=yearly(renewal)))
