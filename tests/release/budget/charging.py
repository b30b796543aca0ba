"""Charges for the tests of the budget ledger."""

from decimal import Decimal

from policy_engine.release.budget import Account, Cap, Charge

VISITS = Account("http://example.com/Visits", "http://example.com/Visits/patient_nbr")
OF_ANN = Account(VISITS.dataset, VISITS.unit, "http://example.com/ann", "urn:research")
OF_BOB = Account(VISITS.dataset, VISITS.unit, "http://example.com/bob", "urn:research")
EVENTS = [{"mechanism": "discrete-laplace", "scale": "24/1"}]


def cap(epsilon, account=VISITS, delta="1e-5", **more):
    """Return a cap; numbers are texts."""
    return Cap(account, Decimal(epsilon), Decimal(delta), **more)


TEN = (cap("10"),)


def charge(plan="1", epsilon="1", delta="0", accounts=(VISITS, OF_ANN), caps=TEN):
    """Return a charge for the release of a plan."""
    return Charge(
        accounts,
        caps,
        Decimal(epsilon),
        Decimal(delta),
        policy="p",
        plan=plan,
        data="d",
        release="http://example.com/out",
        events=EVENTS,
    )


def spend(ledger, one):
    """Reserve and commit a charge, and return the reservation."""
    reservation = ledger.reserve(one)
    ledger.commit(reservation)
    return reservation


def release(ledger, one, answer=b"42"):
    """Make a release, or return the answer that is kept."""
    outcome = ledger.reserve(one)
    if hasattr(outcome, "answer"):
        return outcome.answer
    ledger.commit(outcome)
    ledger.keep(outcome, answer)
    return answer


def spent(ledger, account=VISITS):
    """Return the epsilon that an account has spent."""
    [found] = [one.spent.epsilon for one in ledger.balances() if one.account == account]
    return found
