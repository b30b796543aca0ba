"""Accounts of a budget, their caps, and what a release charges to them."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from typing import Any, NamedTuple, TypeAlias

from policy_engine import terms
from policy_engine.errors import LedgerError, PolicyEngineError
from policy_engine.policy.xsd.literals import read_literal
from policy_engine.policy.xsd.values import Duration

SUMS = Context(prec=250, rounding=ROUND_CEILING)
"""Sums of losses. They are exact, and should they ever need more digits, they are rounded up."""

Link: TypeAlias = tuple[str, str]
"""A dataset, and one that it is part of or was made of."""

_LARGEST, _SMALLEST = 30, -100


class Amount(NamedTuple):
    """An epsilon and a delta, as exact decimals. Losses that follow one another are added.

    The sum bounds the loss of all together even if each was chosen after seeing the answers before
    it, its epsilon included (basic composition as a filter: Rogers, Roth, Ullman and Vadhan 2016,
    section 3).
    """

    epsilon: Decimal = Decimal(0)
    delta: Decimal = Decimal(0)

    def plus(self, other: "Amount") -> "Amount":
        """Return the sum."""
        return Amount(SUMS.add(self.epsilon, other.epsilon), SUMS.add(self.delta, other.delta))

    def minus(self, other: "Amount") -> "Amount":
        """Return the difference, whose numbers may be negative."""
        return Amount(
            SUMS.subtract(self.epsilon, other.epsilon), SUMS.subtract(self.delta, other.delta)
        )

    def is_within(self, other: "Amount") -> bool:
        """Return whether neither number is larger than that of another loss."""
        return self.epsilon <= other.epsilon and self.delta <= other.delta


UNBOUNDED = Amount(Decimal("1e12"), Decimal(1))
"""More than anybody may spend: the epsilon of a cap on delta alone, and the other way round."""


@dataclass(frozen=True)
class Account:
    """Whose budget it is: of a dataset and the unit that it protects, of all who ask for it.

    With an assignee and a purpose, only of what that party asks for that purpose. The dataset is
    the root of its lineage: versions, subsets and joins of it draw on the same account.
    """

    dataset: str
    unit: str
    assignee: str = ""
    purpose: str = ""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """All that names it."""
        return self.dataset, self.unit, self.assignee, self.purpose


@dataclass(frozen=True)
class Cap:
    """The most that an account may spend.

    With a `renewal`, a duration such as `P1Y`, epsilon and delta bound what is spent in any time
    that long, and the lifetime's bound all that is ever spent. A budget that a policy sets is
    `set_by` the uid of that policy, and holds for all charges to the account, whoever makes them;
    another cap is of one rule, and holds for the charge that states it. What was made for a `wider`
    purpose than that of the account may be used for it too, and counts; "" is any purpose.
    """

    account: Account
    epsilon: Decimal = UNBOUNDED.epsilon
    delta: Decimal = UNBOUNDED.delta
    renewal: str = ""
    lifetime_epsilon: Decimal | None = None
    lifetime_delta: Decimal | None = None
    set_by: str = ""
    wider: tuple[str, ...] = ()

    @property
    def bound(self) -> Amount:
        """The most that may be spent, or may be spent between renewals."""
        return Amount(self.epsilon, self.delta)

    @property
    def lifetime(self) -> Amount | None:
        """The most that may ever be spent, where the cap is renewed: 0 of what has no bound."""
        if self.lifetime_epsilon is None and self.lifetime_delta is None:
            return None
        return Amount(self.lifetime_epsilon or Decimal(0), self.lifetime_delta or Decimal(0))


@dataclass(frozen=True)
class Charge:
    """What a release costs, to which accounts, and under which caps.

    Policy, plan and data are digests, `release` is the IRI of the output: together they say which
    release it is. `events` are its mechanisms, `asked` what it is of, as JSON. A charge goes to all
    its accounts or none.

    The release is of the dataset of the first account; `links` say what that is part of or made of,
    and what its parts are; `origins` are the outputs that the policies make, each with what it is
    made of. `policies` are the uids of those that are in force, all budgets of which
    are among the caps, even of datasets that are not charged. `purposes` are those that it is for;
    accounts of wider ones are charged as well.
    """

    accounts: tuple[Account, ...]
    caps: tuple[Cap, ...]
    epsilon: Decimal
    delta: Decimal
    policy: str
    plan: str
    data: str
    release: str
    events: Any = None
    links: tuple[Link, ...] = ()
    origins: tuple[Link, ...] = ()
    policies: tuple[str, ...] = ()
    purposes: tuple[str, ...] = ()
    asked: Any = None

    @property
    def dataset(self) -> str:
        """What the release is of."""
        return self.accounts[0].dataset

    @property
    def amount(self) -> Amount:
        """The epsilon and the delta."""
        return Amount(self.epsilon, self.delta)

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """Which release it is."""
        return self.policy, self.plan, self.data, self.release

    def check(self) -> None:
        """Raise LedgerError (B008) for a charge that cannot be recorded."""
        for fault in self._faults():
            raise charge_error(fault)

    def _faults(self) -> Iterator[str]:
        if not self.accounts:
            yield "It has no account."
        elif len(set(self.accounts)) < len(self.accounts):
            yield "It has an account twice."
        elif not all(one.dataset for one in self.accounts):
            yield "It has an account without a dataset."
        if not {one.account for one in self.caps if not one.set_by} <= {*self.accounts}:
            yield "It has the cap of an account that it does not charge."
        yield from _amount_faults("epsilon", self.epsilon)
        yield from _amount_faults("delta", self.delta)
        if not self.epsilon and not self.delta:
            yield "Its epsilon and its delta are 0: such a release needs no budget."
        for cap in self.caps:
            yield from _cap_faults(cap)


def charge_error(fault: str) -> PolicyEngineError:
    """Return the error (B008) of a charge that cannot be recorded."""
    return LedgerError.of("B008", f"The charge cannot be recorded. {fault}")


def renewal_of(text: str) -> Duration:
    """Return the time after which a cap is renewed. Raises ValueError if it is not positive."""
    span = read_literal(text, f"{terms.XSD}duration")
    if not isinstance(span, Duration) or span.months < 0 or span.seconds < 0:
        raise ValueError("the duration is negative")
    if not span.months and not span.seconds:
        raise ValueError("the duration is 0")
    return span


def _amount_faults(name: str, amount: Any) -> Iterator[str]:
    if not isinstance(amount, Decimal):
        yield f"Its {name} is a {type(amount).__name__}. Allowed are decimals."
    elif not amount.is_finite() or amount < 0:
        yield f"Its {name} is {amount}. Allowed are 0 and more, and finite."
    elif amount and (amount.adjusted() > _LARGEST or int(amount.as_tuple().exponent) < _SMALLEST):
        yield f"Its {name} has too many digits."
    elif name == "delta" and amount >= 1:
        yield f"Its delta is {amount}. Allowed is less than 1."


def _cap_faults(cap: Cap) -> Iterator[str]:
    for amount in (cap.epsilon, cap.delta, cap.lifetime_epsilon, cap.lifetime_delta):
        if amount is not None:
            yield from (f"Of a cap: {one}" for one in _amount_faults("number", amount))
    lifetimes = ((cap.epsilon, cap.lifetime_epsilon), (cap.delta, cap.lifetime_delta))
    is_endless = any(each and most is None for each, most in lifetimes)
    if bool(cap.renewal) != (cap.lifetime is not None) or (cap.renewal and is_endless):
        yield "Its cap is renewed without a bound on the lifetime, or has one and is not renewed."
    if cap.renewal:
        try:
            renewal_of(cap.renewal)
        except ValueError:
            yield f"Its cap is renewed after {cap.renewal!r}, which is not a positive duration."
