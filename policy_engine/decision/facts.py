"""The facts that conditions are evaluated against: request, state of the world, and log."""

from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from functools import partial
from typing import Any, TypeAlias, TypeVar

from policy_engine import terms
from policy_engine.decision.closures import Closures
from policy_engine.decision.conditions import Truth
from policy_engine.decision.history import History, MadeFrom
from policy_engine.decision.model import Performance, Request, World
from policy_engine.decision.settling import (
    DutyOutcome,
    depends_on_start,
    duty_outcome,
    duty_start,
    party_deeds,
)
from policy_engine.decision.spending import BudgetSpending
from policy_engine.policy import Policy, Rule
from policy_engine.policy.hierarchy import PARTS, Part
from policy_engine.policy.model import (
    BY_ASSET,
    BY_PARTY,
    COUNT,
    COUNTS,
    DERIVED,
    JOINTLY,
    MAKING,
    READ_SO_FAR,
)
from policy_engine.policy.xsd.values import Literals

SourceTrace: TypeAlias = Callable[[Iterable[str], Mapping[str, Sequence[MadeFrom]]], Iterable[str]]
"""The origins of assets; those known when they were read, by asset."""
SourceLookup: TypeAlias = Callable[[str], Collection[str]]
"""The origins of an asset, direct and indirect."""
Label: TypeAlias = str | tuple[str, str]
"""The label of a rule, alone or after the uid of its policy."""
_Known = TypeVar("_Known", bound=str | int)
DATE_TIME, PURPOSE = (f"{terms.ODRL}{name}" for name in ("dateTime", "purpose"))
_READ = (JOINTLY, READ_SO_FAR)
_NONE: Mapping[str, Sequence[MadeFrom]] = {}
_OPERAND_PARTS: Mapping[str, tuple[Part, ...]] = {
    PURPOSE: ("purpose",),
    **dict.fromkeys(_READ, ("asset",)),
}


class RequestFacts:
    """The facts of one request, set for one rule after another.

    `own_closures` are the closures of the rule's policy. `all_closures` are those of every policy
    for a prohibition, and equal to `own_closures` for a permission. `policy` and `rule` say whose
    executions are counted, from `history` or else by the world; the requested execution counts as
    one more, unless it `was_done` and is already among them. `digest` is that of the policy if the
    rule has no uid, and both are `counted` then. `about` is the party, asset or action (`part`)
    that a refinement describes; its values are those that the world states for it, for the
    requested action (`is_act`) also those of the request, and a party or an asset has its own
    count. Columns of the
    targets, or of the datasets in `rows`, have no value here, since each row has its own; left
    operands defined by the vocabulary (`defined`) are not columns. Labels in `unclear` may belong
    to several rules, so values stated under them are unknown. `together` is what is read at once
    with the targets, which may be a part of it. `sources` yields the origins of assets, as far as
    they count as read for the rule, and `made_of` the origins of an asset in `together`. `targets`
    are those of the rule, or what the output is made from that it lets be read; `assignees` and
    `for_purposes` are the rule's, too. `spending` is what a budget ledger says.
    """

    __slots__ = (
        "_closures",
        "_columns",
        "about",
        "all_closures",
        "assignees",
        "certified",
        "counted",
        "defined",
        "digest",
        "for_purposes",
        "history",
        "is_act",
        "is_derived",
        "made_of",
        "making",
        "own_closures",
        "part",
        "policy",
        "purposes",
        "request",
        "rows",
        "rule",
        "sources",
        "spending",
        "targets",
        "time",
        "together",
        "unclear",
        "was_done",
        "world",
        "zone",
    )

    def __init__(
        self,
        request: Request,
        world: World,
        time: datetime,
        closures: Closures,
        history: History | None = None,
    ) -> None:
        self.request = request
        self.world = world
        self.purposes: tuple[Literals, ...] = (request.purpose,) if request.purpose else ()
        self.together = request.targets
        self.history = history
        self.making = request.action in MAKING
        self.was_done = False
        self.time = time
        self.zone: tzinfo = time.tzinfo or UTC
        self.own_closures = self.all_closures = self._closures = closures
        self.defined: Container[str] = ()
        self._columns: dict[str, bool] = {}
        self.about: str | None = None
        self.part: Part = "action"
        self.is_act = False
        self.policy = ""
        self.rule = ""
        self.digest = ""
        self.counted: tuple[Policy, Rule] | None = None
        self.rows: frozenset[str] = frozenset()
        self.unclear: frozenset[Label] = frozenset()
        self.certified: Collection[int] = frozenset()
        self.is_derived = False
        self.targets: Collection[str] = ()
        self.assignees: Collection[str] = ()
        self.for_purposes: Collection[str] = ()
        self.spending: BudgetSpending | None = None
        self.sources: SourceTrace = lambda _found, _known: ()
        self.made_of: SourceLookup = lambda _asset: ()

    def values(self, left_operand: str) -> tuple[Literals, ...] | None:
        """Return the current value of a left operand, None if it is unknown."""
        if self._is_of_rows(left_operand):
            return None
        if left_operand in (DATE_TIME, PURPOSE, JOINTLY, DERIVED):
            return self._request_value(left_operand)
        if left_operand == READ_SO_FAR:
            return self._read_so_far()
        if self.history is not None and left_operand in COUNTS:
            return self._counted(left_operand, self.history)
        stated = self._stated(left_operand)
        if stated is None or left_operand not in COUNTS or not self.world.is_before_request:
            return stated
        return self._count_request(stated)

    def _stated(self, left_operand: str) -> tuple[Literals, ...] | None:
        """Return the value of a left operand as stated by the world."""
        if self.about is not None:
            values = self.world.of.get(self.about, {}).get(left_operand)
            if values is not None or not self.is_act:
                return values
        if left_operand == COUNT:
            count = stated_value(self.world.counts, self.policy, self.rule, self.unclear)
            return None if count is None else (count,)
        return self.world.values.get(left_operand)

    def _request_value(self, left_operand: str) -> tuple[Literals, ...] | None:
        """Return the value that the request itself gives, which the world cannot change."""
        if left_operand == DATE_TIME:
            return (self.time,)
        if left_operand == JOINTLY:
            return self.together
        if left_operand == DERIVED:
            return ("asked for" if self.is_derived else "exempt",)
        return self.purposes or None

    def _read_so_far(self) -> tuple[Literals, ...] | None:
        """Return what the assignee will have read after this request, by the log or the world.

        What a group was permitted, its members have read, and the other way round.
        """
        if self.history is None:
            stated = self.world.values.get(READ_SO_FAR)
            assets = dict.fromkeys((*self.together, *map(str, stated or ())))
            return None if stated is None else self._add_sources(assets)
        assets, origins = dict.fromkeys(self.together), defaultdict[str, list[MadeFrom]](list)
        for party in self.history.permitted:
            if self._closures.overlaps("party", self.request.assignee, party):
                assets |= dict.fromkeys(self.history.assets(party))
                for one in self.history.party_origins(party):
                    origins[one.asset].append(one)
        return self._add_sources(assets, origins)

    def _add_sources(
        self, assets: Mapping[str, None], origins: Mapping[str, Sequence[MadeFrom]] = _NONE
    ) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*assets, *self.sources(assets, origins))))

    def _counted(self, operand: str, history: History) -> tuple[int, ...] | None:
        """Return how often a rule will have been exercised after this request, by the log.

        For counts by asset, one for each requested asset. None if the entries under the label of
        the rule may belong to another rule.
        """
        rule, making = (self.policy, self.rule), self.making
        is_known = not self.digest or history.is_known(*rule, self.digest)
        if (
            not is_known
            or rule in self.unclear
            or (self.about is not None and not self._is_countable)
        ):
            return None
        labels = history.labels(*self.counted) if self.counted else (self.rule,)
        if labels is None:
            return None
        rules = [(self.policy, label) for label in labels]
        part = self.part if self.about is not None and operand == COUNT else ""
        if operand == BY_PARTY or part == "party":
            party = self.about if part and self.about else self.request.assignee
            times = sum(history.count_by_party(*one, party, making=making) for one in rules)
            return (self._count_this(times),)
        if operand == BY_ASSET or part == "asset":
            assets = (self.about,) if part and self.about else self.request.targets
            overlaps = partial(self.all_closures.overlaps, "asset")
            return tuple(
                self._count_this(
                    sum(
                        history.count_by_asset(*one, asset, overlaps, making=making)
                        for one in rules
                    )
                )
                for asset in assets
            )
        return (self._count_this(sum(history.count(*one, making=making) for one in rules)),)

    def _count_request(self, stated: tuple[Literals, ...]) -> tuple[Literals, ...] | None:
        """Return counts stated by the world, with the requested execution; None for no numbers."""
        counts = [one for one in stated if isinstance(one, int | float | Decimal)]
        if len(counts) < len(stated):
            return None
        return tuple(max(one, 1) if self.was_done else one + 1 for one in counts)

    def _count_this(self, count: int) -> int:
        return max(count, 1) if self.was_done else count + 1

    @property
    def _is_countable(self) -> bool:
        """Whether the executions of what a refinement describes are known."""
        return self.is_act or self.part != "action"

    def _is_of_rows(self, name: str) -> bool:
        """Return whether a name is that of a column of the targets, or may be."""
        if name.startswith(terms.ODRL) or name in self.defined:
            return False
        is_column = self._columns.get(name)
        if is_column is None:
            is_column = self._columns[name] = self._is_column(terms.dataset_of(name))
        return is_column

    def _is_column(self, dataset: str) -> bool:
        if self.rows or not dataset:
            return dataset in self.rows
        return any(
            dataset in self._closures.up("asset", target)
            or target in self._closures.reach("asset", dataset)
            for target in self.request.targets
        )

    def duty_outcomes(
        self, duty: Rule, rule: str, policy: Policy, doers: Sequence[str], since: datetime | None
    ) -> dict[str, DutyOutcome]:
        """Return the outcomes of a duty for each of some parties since its start, by the log.

        Nothing if there is no log, or several duties share the label.
        """
        history = self.history
        if history is None or (policy.uid, duty.label()) in self.unclear:
            return {}
        outcomes, is_open = {}, since is None and depends_on_start(duty)
        for party in doers:
            if is_open:
                since = duty_start(duty, rule, party, policy, history, self.own_closures)
                # A permit that is given now may make an obligation due.
                since = since or (self.time if duty.kind == "obligation" else None)
            deeds = party_deeds(party, history, policy, duty, self.own_closures)
            outcomes[party] = duty_outcome(duty, deeds, self.time, since)
        return outcomes

    def performance(
        self, duty: Rule, policy: Policy, logged: Iterable[DutyOutcome]
    ) -> Performance | None:
        """Return the state of a duty of a policy; None if it is unknown.

        It is given by the world, or by a log for each party whose duty it is. A duty that a
        certificate shows to be fulfilled is, unless it is said to be violated.
        """
        stated = stated_value(self.world.duties, policy.uid, duty.label(), self.unclear)
        outcomes = list(logged)
        if stated or (id(duty) in self.certified and not any(one.is_recorded for one in outcomes)):
            return stated or "fulfilled"
        states = {one.state for one in outcomes}
        if "violated" in states:
            return "violated"
        is_done = bool(outcomes) and None not in states
        return "fulfilled" if is_done or id(duty) in self.certified else None

    def fulfilment(self, duty: Rule, policy: Policy, logged: Iterable[DutyOutcome]) -> str:
        """Return how a duty was fulfilled: by the world, the log, or else a certificate."""
        if stated_value(self.world.duties, policy.uid, duty.label(), self.unclear):
            return "fulfilled according to the state of the world"
        deeds = [one.done for one in logged]
        descriptions = [one.description for one in deeds if one]
        return (
            " and ".join(descriptions)
            if descriptions and None not in deeds
            else "fulfilled according to a certificate"
        )

    def ambiguity(self, stated: Mapping[str, Any], label: str) -> str:
        """Return why a value under a label in the world does not count, empty if it does."""
        if label not in self.unclear or label not in stated or isinstance(stated[label], Mapping):
            return ""
        return f"; the value for {label} does not count, since several rules have that name"

    def spent(self, left_operand: str, unit: str) -> tuple[Literals, ...] | None:
        """Return what was spent of the budgets of the rule's targets and of those requested.

        By the unit, those of the assignee, and of those whom the rule names that it belongs to, for
        what the rule names as its purpose: for it, for narrower and for wider ones. The account
        without a purpose has all. None without a ledger.
        """
        if self.spending is None:
            return None
        request = self.request
        up = partial(self._closures.up, "purpose")
        above = up(request.purpose)
        purposes: dict[str, list[str]] = {
            one: [*(wide for wide in up(one) if wide != one), ""]
            for one in self.for_purposes
            if one in above
        }
        purposes = purposes or {one: [] for one in ("", *above)}
        belongs_to = self._closures.up("party", request.assignee)
        parties = {request.assignee, *(one for one in self.assignees if one in belongs_to)}
        assets = {*self.targets, *request.targets}
        return (self.spending.value(left_operand, unit, assets, parties, purposes),)

    def referenced(self, iri: str) -> tuple[Literals, ...] | None:
        """Return the values under an IRI in the state of the world."""
        return None if self._is_of_rows(iri) else self.world.values.get(iri)

    def includes(self, left_operand: str, narrow: str, wide: str) -> Truth:
        """Return whether one IRI includes another: purposes and assets by kind, else anywhere.

        None if it does only according to policies other than the rule's, and if something read
        together was made from something that the other includes, or is a part of.
        """
        parts = _OPERAND_PARTS.get(left_operand, PARTS)
        if any(wide in self.own_closures.up(part, narrow) for part in parts):
            return True
        may_include = self.all_closures is not self.own_closures and any(
            wide in self.all_closures.up(part, narrow) for part in parts
        )
        if not may_include and left_operand in _READ:
            # By its IRI alone, an asset may be a part of another one, but is not known to be.
            may_include = self.all_closures.overlaps("asset", narrow, wide)
            may_include = (
                may_include or self._is_made_of(narrow, wide) or self._is_made_of(wide, narrow)
            )
        return None if may_include else False

    def _is_made_of(self, asset: str, other: str) -> bool:
        """Return whether an asset that is read was made from another one, or from a part of it."""
        overlaps = self._closures.overlaps
        return asset in self.together and any(
            overlaps("asset", source, other) for source in self.made_of(asset)
        )


def stated_value(
    stated: Mapping[str, _Known | Mapping[str, _Known]],
    policy: str,
    label: str,
    unclear: frozenset[Label],
) -> _Known | None:
    """Return the value under a label of a policy, or under the label alone; None if unclear."""
    of_policy = stated.get(policy)
    if isinstance(of_policy, Mapping) and label in of_policy:
        return None if (policy, label) in unclear else of_policy[label]
    value = stated.get(label)
    return None if label in unclear or isinstance(value, Mapping) else value


def unclear_labels(policies: Sequence[Policy]) -> frozenset[Label]:
    """Return the labels that do not identify a rule: alone, or with the uid of its policy.

    A uid belongs to one rule of a policy; rules without uid may share a label, which is their
    position. A label in several policies identifies none of them by itself.
    """
    owners: dict[str, set[str]] = defaultdict(set)
    unnamed: dict[tuple[str, str], set[int]] = defaultdict(set)
    for policy in policies:
        rules = list(policy.rules)
        for rule in rules:
            rules += rule.nested_rules
            owners[rule.label()].add(policy.uid)
            if not rule.uid:
                unnamed[policy.uid, rule.label()].add(id(rule))
    shared = {key for key, ones in unnamed.items() if len(ones) > 1}
    several = {label for label, uids in owners.items() if len(uids) > 1}
    return frozenset({*several, *shared, *(label for _, label in shared)})
