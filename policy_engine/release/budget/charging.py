"""What statistics cost by their policy, and the answer that a ledger lets out once."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from policy_engine import terms
from policy_engine.data.keys import Key
from policy_engine.errors import DeniedError
from policy_engine.plan.aggregates.asking import asks_for_statistics
from policy_engine.plan.lineage import Upstream
from policy_engine.plan.plan import Plan
from policy_engine.plan.reading_anonymization import permitting, transforms
from policy_engine.plan.steps import AggregateStep
from policy_engine.policy import Constraint, Policy, Rule
from policy_engine.policy.hierarchy import Hierarchy, Part
from policy_engine.policy.model import TRAIN, conjuncts
from policy_engine.policy.xsd.values import exact_number
from policy_engine.release.budget.accounts import Account, Cap, Charge, Link
from policy_engine.release.budget.asked import asked_of
from policy_engine.release.budget.ledger import BudgetLedger, ReplayedAnswer
from policy_engine.release.budget.lineage import DataLineage, related, stated_by, whole_of

SPENT_EPSILON, SPENT_DELTA = f"{terms.PE}spentEpsilon", f"{terms.PE}spentDelta"
PER_DATASET = f"{terms.PE}perDataset"


class LedgerCharging:
    """Charges one release to a ledger: reserved, spent, and only then drawn and kept.

    `others` are the releases of the same policy that epsilon does not cover. A denial has its
    figures only where it is `for_owner`: a balance tells what others asked.
    """

    def __init__(
        self,
        ledger: BudgetLedger,
        charge: Charge,
        others: tuple[str, ...] = (),
        *,
        for_owner: bool = True,
    ) -> None:
        self.ledger, self.charge, self._others = ledger, charge, others
        self._for_owner = for_owner
        self.is_charged = False
        """Whether an answer was charged to any account, or would be."""
        self.is_new = False
        """Whether an answer was drawn, and not given again."""

    @property
    def uncovered(self) -> tuple[str, ...]:
        """The other releases of the data: those of its policy, and those that the ledger lists."""
        listed: tuple[str, ...] = ()
        if self.ledger.store.exists():
            listed = self.ledger.uncovered([self.charge.dataset], stated_by(self.charge))
        return tuple(sorted({*self._others, *listed}))

    def foresee(self, data: str) -> None:
        """Find out whether an answer would be charged to any account; nothing is spent.

        Raises DeniedError (B009) where the budget does not allow it.
        """
        self.is_charged = self.ledger.would_charge(replace(self.charge, data=data))

    def answer(self, data: str, prepare: Callable[[], Callable[[], bytes]]) -> bytes:
        """Return the answer that was drawn for this release of the data, now or before.

        What is reserved is given back where the data cannot be read, and spent before noise is
        drawn.
        """
        try:
            reserved = self.ledger.reserve(replace(self.charge, data=data))
        except DeniedError as error:
            if self._for_owner:
                raise
            raise DeniedError(*(replace(one, values=()) for one in error.problems)) from None
        self.is_new = not isinstance(reserved, ReplayedAnswer)
        self.is_charged = not isinstance(reserved, ReplayedAnswer) or reserved.is_charged
        if isinstance(reserved, ReplayedAnswer):
            return reserved.answer
        with reserved:
            draw = prepare()
            self.ledger.commit(reserved)
            answer = draw()
            self.ledger.keep(reserved, answer)
        return answer


class Listing:
    """Lists a release of rows or of a model in a ledger: no epsilon covers it."""

    def __init__(self, ledger: BudgetLedger, chargeable: "Chargeable") -> None:
        self.ledger, self._chargeable = ledger, chargeable

    def list(self) -> None:
        """List it. Raises LedgerError where the ledger cannot be written."""
        one = self._chargeable
        release = one.plan.publish.asset
        self.ledger.list_uncovered(one.plan.assets, release, links=one.links, origins=one.made)


@dataclass(frozen=True)
class Chargeable:
    """A plan by a rule of a policy, and all that says whose budget it draws on.

    `in_force` are the policies that are in force beside its own: what they say of parts and their
    budgets count, too, and so do `memberships`. `upstream` are the certified releases that its
    inputs are. `party` is who asks for it, for a `purpose`; both are empty for the owner.
    """

    policy: Policy
    rule: Rule
    plan: Plan
    in_force: Sequence[Policy] = ()
    upstream: Sequence[Upstream] = ()
    party: str = ""
    purpose: str = ""
    memberships: Hierarchy = field(default_factory=Hierarchy)

    @cached_property
    def policies(self) -> tuple[Policy, ...]:
        """Its policy, and the others that are in force."""
        return (self.policy, *(one for one in self.in_force if one.uid != self.policy.uid))

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """What is part of what, as any of the policies says."""
        return self.memberships.joined(one.hierarchy for one in self.policies)

    @cached_property
    def bearers(self) -> tuple[str, ...]:
        """Those whom the output is made for, and who asks for it."""
        return tuple(dict.fromkeys(filter(None, (*self.plan.assignees, self.party))))

    @property
    def purposes(self) -> tuple[str, ...]:
        """What it is for: only '' where nobody says."""
        named = (*self.plan.purposes, *_named_purposes(self.rule), self.purpose)
        return tuple(dict.fromkeys(filter(None, named))) or ("",)

    def wider(self, *purposes: str) -> tuple[str, ...]:
        """Return some purposes, all wider ones, and any purpose, ''."""
        return tuple(dict.fromkeys((*_with_wider(self.hierarchy, "purpose", purposes), "")))

    @property
    def inner(self) -> Iterator[tuple[str, str]]:
        """The parties and purposes that are charged: who gets it, with all they belong to; what it
        is for, with all wider purposes, and any purpose."""
        charged = self.wider(*self.purposes)
        for party in _with_wider(self.hierarchy, "party", self.bearers):
            yield from ((party, purpose) for purpose in charged)

    @cached_property
    def lineage(self) -> DataLineage:
        """What is part of what or made of what, as policies and certificates say."""
        lineage = DataLineage()
        lineage.add(self.hierarchy.asset)
        lineage.add_origins(self.made)
        return lineage

    @property
    def origins(self) -> tuple[str, ...]:
        """The inputs of the plan, and all that they were made of."""
        made = DataLineage()
        made.add_origins(self.made)
        return tuple([one for asset in self.plan.assets for one in related(asset, made)])

    @cached_property
    def made(self) -> list[Link]:
        """Outputs, each with what it was made of, as policies and certificates say.

        The ledger is to remember all of them: what the datasets are parts of together with what it
        knows, and so which of them are reached, is not known here.
        """
        rules = (rule for one in self.policies for rule in one.permissions if rule.output)
        made = [(rule.output, target.iri) for rule in rules for target in rule.targets]
        certified = [pair for one in self.upstream for pair in one.derivations]
        return list(dict.fromkeys((*made, *certified)))

    @cached_property
    def datasets(self) -> tuple[str, ...]:
        """The inputs of the plan, and all that statistics of them tell something of."""
        assets = self.plan.assets
        return tuple(
            dict.fromkeys((*assets, *(o for one in assets for o in related(one, self.lineage))))
        )

    @property
    def links(self) -> Iterator[Link]:
        """What the ledger is to remember: all that the policies say of parts, since what they are
        parts of together with what it knows is not known here."""
        yield from dict.fromkeys(self.hierarchy.asset)


def charging_of(
    chargeable: Chargeable, ledger: str | Path | BudgetLedger | None, key: Key = None
) -> LedgerCharging | Listing | None:
    """Return what charges a plan to a ledger, or to that of a file, or lists what is not charged;
    None without a ledger."""
    if ledger is None:
        return None
    budget = ledger if isinstance(ledger, BudgetLedger) else BudgetLedger(ledger, key)
    plan = chargeable.plan
    if plan.aggregate is None:
        return Listing(budget, chargeable)
    charge, others = charge_of(chargeable), uncovered_releases(chargeable)
    return LedgerCharging(budget, charge, others, for_owner=not chargeable.party)


def uncovered_releases(chargeable: Chargeable) -> tuple[str, ...]:
    """Return the outputs that a policy makes of the same data without epsilon: tables of rows, and
    models."""
    policy, lineage = chargeable.policy, chargeable.lineage
    persons = {*whole_of(chargeable.plan.assets, lineage)}
    making = (*transforms(policy), *permitting(policy, TRAIN))
    return tuple(
        sorted(
            {
                rule.output
                for rule, action in making
                if not asks_for_statistics(action)
                and any(
                    not persons.isdisjoint(related(name, lineage))
                    for target in rule.targets
                    for name in (target.iri, terms.dataset_of(target.iri))
                )
            }
        )
    )


def charge_of(chargeable: Chargeable) -> Charge:
    """Return what a plan by a rule costs, but for the digest of the data.

    The dataset, all that it is part of or was made from, and its parts are charged and, for each of
    them, every assignee with all that it belongs to, for every purpose with all wider ones: what a
    person loses adds up over all of them.
    """
    plan, policies = chargeable.plan, chargeable.policies
    step = plan.require_aggregate()
    whole = [Account(dataset, step.unit) for dataset in chargeable.datasets]
    inner = [
        replace(account, assignee=party, purpose=purpose)
        for account in whole
        for party, purpose in chargeable.inner
    ]
    accounts = (*whole, *inner)
    budgets = (cap for one in policies for cap in _caps_of_budgets(one, step.unit))
    caps = [*budgets, *_caps_of_rule(chargeable, accounts)]
    return Charge(
        accounts=accounts,
        caps=tuple(caps),
        epsilon=step.epsilon,
        delta=step.delta_spent,
        policy=plan.policy_digest,
        plan=step.digest,
        data="",
        release=plan.publish.asset,
        events=_events(step),
        links=tuple(chargeable.links),
        origins=tuple(chargeable.made),
        policies=tuple([one.uid for one in policies]),
        purposes=chargeable.purposes,
        asked=asked_of(step),
    )


def _with_wider(hierarchy: Hierarchy, part: Part, names: Sequence[str]) -> tuple[str, ...]:
    gathered = dict.fromkeys(names)
    queue = [*gathered]
    for name in queue:
        for wider in hierarchy.above(part, name):
            if wider not in gathered:
                gathered[wider] = None
                queue.append(wider)
    return tuple(gathered)


def _caps_of_budgets(policy: Policy, unit: str) -> Iterator[Cap]:
    """Yield the caps of whole datasets, for all assignees together."""
    for budget in policy.budgets:
        yield Cap(
            Account(budget.over, unit),
            budget.epsilon,
            budget.delta,
            budget.renewal,
            budget.lifetime_epsilon,
            budget.lifetime_delta,
            policy.uid,
        )


def _caps_of_rule(chargeable: Chargeable, accounts: Sequence[Account]) -> Iterator[Cap]:
    """Yield the caps that a rule has as constraints, on the accounts of those it names, and of who
    asks, for its purposes: for the data and, as decisions do, for what they were made of."""
    rule, datasets = chargeable.rule, chargeable.origins
    own = {(one, purpose) for one in chargeable.bearers for purpose in rule.purposes or ("",)}
    for condition in conjuncts(rule.constraints):
        is_cap = isinstance(condition, Constraint) and condition.left_operand in _CAPPED
        if not (is_cap and isinstance(condition, Constraint)):
            continue
        most = min(exact_number(one.value) for one in condition.right_operands)
        chosen = {("", "")} if condition.unit == PER_DATASET else own
        for account in accounts:
            if account.dataset in datasets and (account.assignee, account.purpose) in chosen:
                is_delta = condition.left_operand == SPENT_DELTA
                cap = Cap(account, delta=most) if is_delta else Cap(account, most)
                wider = chargeable.wider(account.purpose)[1:] if account.purpose else ()
                yield replace(cap, wider=wider)


_CAPPED = (SPENT_EPSILON, SPENT_DELTA)


def _named_purposes(rule: Rule) -> Iterator[str]:
    """Yield the purposes that a rule is for, or that a constraint of it lets it be for."""
    yield from rule.purposes
    for condition in rule.constraints:
        for leaf in condition.constraints():
            if leaf.left_operand == _PURPOSE and leaf.operator not in _EXCLUDING:
                yield from (one.value for one in leaf.right_operands if isinstance(one.value, str))


_PURPOSE = f"{terms.ODRL}purpose"
_EXCLUDING = (f"{terms.ODRL}neq", f"{terms.ODRL}isNoneOf")


def _events(step: AggregateStep) -> list[dict[str, str | int]]:
    """Return the mechanisms of a release, as they are accounted for."""
    return [
        {
            "mechanism": one.mechanism,
            "cells": one.cells,
            "sensitivity": one.sensitivity,
            "scale": one.scale,
        }
        for one in step.noises()
    ]
