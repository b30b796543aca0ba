"""What a budget ledger records: that budget was reserved, spent, given back, or answered."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import Field, JsonValue, StringConstraints, ValidationError, model_validator

from policy_engine.data.chain.entries import ChainEntry, ChainRecord, Hash
from policy_engine.data.chain.hashing import HashChain
from policy_engine.data.chain.verification import EntryKind
from policy_engine.release.budget.accounts import Account, Cap, Charge, charge_error

State = Literal[
    "opened",
    "reserved",
    "spent",
    "cancelled",
    "kept",
    "lost",
    "replayed",
    "uncovered",
    "announced",
    "published",
    "unpublished",
]
"""What an entry says of a reservation.

`opened` begins a ledger; `reserved` holds budget, `cancelled` gives it back; `spent` says that
noise may be drawn from now on; `kept` that the answer is stored, `lost` that it never will be;
`replayed` that a kept answer was given again; `uncovered` that something else was released of the
same data, of which no epsilon says anything; `announced` that something is about to be published,
`published` that it was, `unpublished` that it was not.
"""

_Amount = Annotated[str, StringConstraints(pattern=r"^\d+(\.\d+)?$")]


class RecordedCap(ChainRecord):
    """A cap of an account."""

    epsilon: _Amount
    delta: _Amount
    renewal: str | None = None
    lifetime_epsilon: _Amount | None = None
    lifetime_delta: _Amount | None = None
    set_by: str | None = None
    wider: tuple[str, ...] | None = None


class RecordedAccount(ChainRecord):
    """An account that is charged, and its caps at the time; empty texts are left out."""

    dataset: str
    unit: str
    assignee: str | None = None
    purpose: str | None = None
    caps: tuple[RecordedCap, ...] | None = None


class RecordedCharge(ChainRecord):
    """A charge, its amounts as exact decimals.

    Where a kept answer is given again for new purposes, the accounts of `paid` had paid for it.
    `asked` is what the release is of; entries of earlier versions do not say.
    """

    accounts: tuple[RecordedAccount, ...]
    epsilon: _Amount
    delta: _Amount
    policy: str
    plan: str
    data: str
    release: str
    events: JsonValue = None
    links: tuple[tuple[str, str], ...] | None = None
    origins: tuple[tuple[str, str], ...] | None = None
    policies: tuple[str, ...] | None = None
    purposes: tuple[str, ...] | None = None
    paid: tuple[RecordedAccount, ...] | None = None
    asked: JsonValue = None

    @classmethod
    def of(cls, charge: Charge) -> "RecordedCharge":
        """Return what is recorded of a charge. Raises LedgerError (B008) if that is impossible."""
        charge.check()
        try:
            return cls(
                accounts=tuple(_account(one, charge.caps) for one in charge.accounts),
                epsilon=plain(charge.epsilon),
                delta=plain(charge.delta),
                policy=charge.policy,
                plan=charge.plan,
                data=charge.data,
                release=charge.release,
                events=charge.events,
                links=charge.links or None,
                origins=charge.origins or None,
                policies=charge.policies or None,
                purposes=charge.purposes or None,
                asked=charge.asked,
            )
        except ValidationError:
            raise charge_error("A name in it is not a text, or its events are not JSON.") from None


class UncoveredRelease(ChainRecord):
    """A release that was not charged: of which datasets, and the IRI of its output.

    `links` and `origins` are as those of a charge.
    """

    datasets: tuple[str, ...]
    release: str
    links: tuple[tuple[str, str], ...] | None = None
    origins: tuple[tuple[str, str], ...] | None = None


class AnnouncedRelease(ChainRecord):
    """A release that is about to be published, of which no epsilon says anything.

    `policy`, `plan` and `output` are digests, `release` is the IRI of the output, `commitment` that
    of its certificate; `place` is where it will be, `staged` where it is meanwhile, if in files.
    Its `unit` tells persons apart, where one does. The digest of its `classes` is that of the text
    that is kept beside the entry and says who is in which; what has none says why as `unknown`.
    `figures` are what was found of it together with the releases before. `links` and `origins` are
    as those of a charge.
    """

    datasets: tuple[str, ...]
    release: str
    policy: str
    plan: str
    output: str
    rows: Annotated[int, Field(ge=0)]
    assignees: tuple[str, ...] = ()
    purposes: tuple[str, ...] = ()
    commitment: str | None = None
    place: str | None = None
    staged: str | None = None
    unit: str | None = None
    classes: Hash | None = None
    unknown: str | None = None
    figures: JsonValue = None
    links: tuple[tuple[str, str], ...] | None = None
    origins: tuple[tuple[str, str], ...] | None = None


class Owner(ChainRecord):
    """The process that reserved: its number, when it was started, and the machine it runs on."""

    process: int
    started: str
    machine: str


class BudgetEntry(ChainEntry):
    """One step of a release, or the beginning of a ledger.

    `of` is the number of the entry that reserved, `answer` the digest of a kept answer. A charge is
    in the entry that reserves it, and in a replay for accounts that had not paid for it. `ledger`
    is a random name: no two ledgers begin alike.
    """

    state: State
    charge: RecordedCharge | None = None
    owner: Owner | None = None
    of: Annotated[int, Field(ge=1)] | None = None
    answer: Hash | None = None
    ledger: str | None = None
    uncovered: UncoveredRelease | None = None
    announced: AnnouncedRelease | None = None

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        needs, may_have = _PARTS[self.state]
        parts = ("charge", "owner", "of", "answer", "ledger", "uncovered", "announced")
        names = {name for name in parts if getattr(self, name) is not None}
        if not needs <= names <= needs | may_have:
            raise ValueError(f"an entry of the state {self.state!r} has other parts")
        return self


_PARTS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "opened": (frozenset({"ledger"}), frozenset()),
    "reserved": (frozenset({"charge", "owner"}), frozenset()),
    "spent": (frozenset({"of"}), frozenset()),
    "cancelled": (frozenset({"of"}), frozenset()),
    "kept": (frozenset({"of", "answer"}), frozenset()),
    "lost": (frozenset({"of"}), frozenset()),
    "replayed": (frozenset({"of"}), frozenset({"charge"})),
    "uncovered": (frozenset({"uncovered"}), frozenset()),
    "announced": (frozenset({"announced", "owner"}), frozenset()),
    "published": (frozenset({"of"}), frozenset()),
    "unpublished": (frozenset({"of"}), frozenset()),
}
"""Which parts an entry of each state has, and which it may have."""

LEDGER = EntryKind(BudgetEntry, "ledger", "B004")


def make_entry(chain: HashChain, last: tuple[int, str], logged: str, **parts: Any) -> BudgetEntry:
    """Return the entry after the one with that number and hash.

    Raises LedgerError (B008) if a name in it cannot be encoded as UTF-8, or its events are not
    JSON.
    """
    try:
        entry = BudgetEntry(
            chain=chain.kind, number=last[0] + 1, previous=last[1], logged=logged, **parts
        )
        return entry.model_copy(update={"hash": chain.hash(entry)})
    except (ValidationError, UnicodeEncodeError, ValueError):
        raise charge_error("A name in it is not UTF-8, or its events are not JSON.") from None


def plain(amount: Decimal) -> str:
    """Return a decimal as it is recorded: exact, without an exponent or needless zeros."""
    text = format(amount, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def caps_of(recorded: Mapping[str, Any], account: Account) -> tuple[Cap, ...]:
    """Return the caps that were recorded of an account."""
    return tuple(
        Cap(
            account,
            Decimal(one["epsilon"]),
            Decimal(one["delta"]),
            one.get("renewal", ""),
            _decimal(one.get("lifetime_epsilon")),
            _decimal(one.get("lifetime_delta")),
            one.get("set_by", ""),
            tuple(one.get("wider", ())),
        )
        for one in recorded.get("caps", ())
    )


def _decimal(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)


def _account(account: Account, caps: tuple[Cap, ...]) -> RecordedAccount:
    own = tuple(_cap(cap) for cap in caps if cap.account == account)
    return RecordedAccount(
        dataset=account.dataset,
        unit=account.unit,
        assignee=account.assignee or None,
        purpose=account.purpose or None,
        caps=own or None,
    )


def _cap(cap: Cap) -> RecordedCap:
    lifetime = cap.lifetime
    return RecordedCap(
        epsilon=plain(cap.epsilon),
        delta=plain(cap.delta),
        renewal=cap.renewal or None,
        lifetime_epsilon=plain(lifetime.epsilon) if lifetime else None,
        lifetime_delta=plain(lifetime.delta) if lifetime else None,
        set_by=cap.set_by or None,
        wider=cap.wider or None,
    )
