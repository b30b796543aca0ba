"""Whether a policy's assigner, and the acting party, may make something of data."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine import terms
from policy_engine.api.deciding import (
    ProofSource,
    StatusSource,
    TrustSource,
    open_log,
    vouched_proofs,
)
from policy_engine.certificate.sources import Proof
from policy_engine.data.keys import Key
from policy_engine.decision import Decider, Decision, Request, World, read_request
from policy_engine.decision.consents import MissingConsent
from policy_engine.decision.history import History
from policy_engine.decision.making_consents import given_consents, missing_consents
from policy_engine.decision.model import CarriedOutRule
from policy_engine.errors import (
    DeniedError,
    PlanError,
    PolicyError,
    Problem,
    RequestError,
    place_order,
)
from policy_engine.plan.lineage import MadeBy, Maker
from policy_engine.plan.plan import Plan
from policy_engine.plan.products import Product, asks_for_data
from policy_engine.policy import Hierarchy, InForce, Policy, Reading, Source
from policy_engine.policy.collecting.ending import ended
from policy_engine.policy.datasets import named_data
from policy_engine.policy.model import TRAIN
from policy_engine.policy.naming import Names
from policy_engine.policy.owners import Owners, OwnersSource, load_owners
from policy_engine.policy.wording import rule_name

if TYPE_CHECKING:
    from policy_engine.decision.log.log import Transaction
    from policy_engine.release.budget import BudgetLedger


_GIVE_REPLACEMENT = "Give the policies that it ends with as well: policies=[FILE]."


@dataclass(frozen=True)
class ActingParty:
    """Who has something made of data, for which purpose, and what decides whether they may.

    Without a `party`, the owner acts, who needs no permission. `policies` are used besides the one
    that asks, in a state of the `world`; a `log` says what was done so far, and the decision is
    added to it unless this is a `trial`; a budget `ledger`, chained with `ledger_key`, says what
    was spent. Raises RequestError (D001) for options that only a party's request has.
    """

    party: str | None = None
    purpose: str = ""
    policies: Sequence[Source] = ()
    world: World | None = None
    log: str | Path | None = None
    log_key: str | Path | bytes | None = None
    ledger: str | Path | None = None
    ledger_key: Key = None
    is_trial: bool = False

    def __post_init__(self) -> None:
        request_options = {"purpose": self.purpose, "world": self.world, "log": self.log}
        stated = [
            name for name, value in request_options.items() if value is not None and value != ""
        ]
        if stated and self.party is None:
            message = f"No acting party is named, but the {' and the '.join(stated)} of a request "
            message += "is given. If the owner acts, there is nothing to decide."
            raise RequestError.of("D001", message, "Name the acting party as well: party=IRI.")

    @property
    def budgets(self) -> "BudgetLedger | None":
        """What was spent, None without a ledger."""
        from policy_engine.release.budget import BudgetLedger  # noqa: PLC0415 (only if needed)

        return None if self.ledger is None else BudgetLedger(self.ledger, self.ledger_key)

    def decide(
        self, decider: Decider, requests: Sequence[tuple[Request, CarriedOutRule | None]]
    ) -> list[Decision]:
        """Return the decisions on everything that the party asks for, if all are permits.

        With a log, all are decided in one step, each considering those before it, and the decisions
        are on the disk before anything is made. Raises DeniedError (D007) with the reason, and as
        `Decider.decide` and `DecisionLog.decide` do.
        """
        # One moment for all requests: a constraint on the time must not change in between.
        world = self.world or World()
        now = world.model_copy(update={"time": world.time or datetime.now(UTC)})
        time_source = {"time_by": "caller" if world.time else "clock"}
        with self._log() as (history, log):
            decisions: list[Decision] = []
            so_far = (
                History.from_json(history.to_json()) if history and len(requests) > 1 else history
            )
            for request, carried in requests:
                decision = decider.decide(request, now, so_far, carried).model_copy(
                    update=time_source
                )
                decisions = [*decisions, decision] if decision.permitted else [decision]
                if not decision.permitted:
                    break
                if so_far is not None and so_far is not history:
                    _count_permit(decision, so_far)
            for decision in decisions if log else ():
                log.append(decision)  # type: ignore[union-attr]
        _check_permitted(decisions[-1])
        return decisions

    def consent_context(
        self, owners: Owners, policies: InForce
    ) -> tuple[World | None, History | None, str]:
        """Return the world, the history and the purpose on which consent depends."""
        history = self._read_history(self.log) if self.log is not None and owners else None
        purpose = Names(policies).full(self.purpose, "purpose") if self.purpose else ""
        return self.world, history, purpose

    def _read_history(self, log: str | Path) -> History:
        from policy_engine.decision.log import read_history  # noqa: PLC0415 (only if needed)

        return read_history(log, self.log_key) if Path(log).exists() else History()

    @contextmanager
    def _log(self) -> "Iterator[tuple[History | None, Transaction | None]]":
        """Return the history of a log, held exclusively, and what to append to."""
        if self.log is None:
            yield None, None
        elif self.is_trial:
            yield self._read_history(self.log), None
        else:
            with open_log(self.log, self.log_key).transaction() as log:
                yield log.history, log


@dataclass(frozen=True)
class MakingRequest:
    """A policy that asks for something to be made, with what decides whether it may be."""

    policy: Policy
    policies_in_force: InForce
    owners: Owners
    data: tuple[str, ...]
    acting: ActingParty
    decider: Decider

    @property
    def memberships(self) -> Hierarchy:
        """What belongs to what by the state of the world."""
        return (self.acting.world or World()).memberships

    def makers(
        self, certificates: Sequence[Proof], products: Sequence[Product]
    ) -> tuple[MadeBy, ...]:
        """Return who makes each of some outputs of the policy, if all are permitted.

        `certificates` are those of the input, if that is a release itself. Each thing that is made
        is one request: to anonymize, and to train. Raises as `ActingParty.decide` does, and
        PlanError (M014, M017) if the policy's assigner may not have them made of others' assets.
        """
        outputs = {rule.output for one in products for rule, _ in one.steps}
        if self.acting.party is None:
            self.check_consents(outputs)
            return tuple("owner" for _ in products)
        # A prohibition for the party is a denial, which is logged.
        self.check_consents(outputs, with_prohibitions=False)
        decider = Decider(
            self.policies_in_force,
            certificates,
            None,
            self.owners,
            self.data,
            self.acting.budgets,
        )
        requests = [[*self._requests(one)] for one in products]
        decisions = iter(self.acting.decide(decider, [*chain(*requests)]))
        return tuple(_maker([*islice(decisions, len(group))]) for group in requests)

    def with_consents(self, plan: Plan) -> Plan:
        """Return a plan with the owners' rules that let the policy make it of their assets."""
        if not self.owners:
            return plan
        context = self.acting.consent_context(self.owners, self.policies_in_force)
        consents = given_consents(self.decider, self.policy, plan.publish.asset, *context)
        return plan.model_copy(update={"by_consent": consents})

    def check_consents(self, outputs: Collection[str], *, with_prohibitions: bool = True) -> None:
        """Raise PlanError (M014, M017) if owners do not let the policy make some outputs.

        Or if they prohibit making them of their direct and indirect inputs (`with_prohibitions`).
        """
        context = self.acting.consent_context(self.owners, self.policies_in_force)
        problems = [
            problem
            for one in missing_consents(
                self.decider, self.policy, *context, with_prohibitions=with_prohibitions
            )
            if one.rule.output in outputs
            for problem in _consent_problems(one, self.policy)
        ]
        if problems:
            problems = sorted(dict.fromkeys(problems), key=place_order)
            raise PlanError(*problems, source=self.policy.source)

    def _requests(self, product: Product) -> Iterator[tuple[Request, CarriedOutRule]]:
        """Yield the requests, each for one thing to make, with the rule that is carried out."""
        on_the_way: frozenset[str] = frozenset()
        party, purpose = self.acting.party or "", self.acting.purpose
        for rule, action in product.steps:
            targets = [target.iri for target in rule.targets]
            request = read_request(party, action, targets, purpose, self.policies_in_force)
            yield request, CarriedOutRule(self.policy.uid, rule.label(), on_the_way)
            on_the_way |= {rule.output}


def permitted_trainer(
    target: str,
    reading: Reading,
    acting: ActingParty,
    owners: OwnersSource | None = None,
    certificates: Sequence[ProofSource] = (),
    trust: TrustSource | None = None,
    status: Sequence[StatusSource] = (),
) -> MadeBy:
    """Return who trains models on an asset, as audits do, if that is permitted.

    Without a `target`, that is the only dataset of the policies. `trust` and `status` are as for
    `decide_request`. Raises as `ActingParty.decide` does, and RequestError (D001) if they have
    none, or several.
    """
    if acting.party is None:
        return "owner"
    time = acting.world.time if acting.world else None
    in_force = reading.policies_in_force(*acting.policies, time=time)
    [asset] = named_data({target: ""}, in_force)
    asset_owners = load_owners(owners, in_force, reading.contexts)
    proofs = vouched_proofs(in_force, certificates, trust, time, status)
    decider = Decider(in_force, proofs, None, asset_owners)
    request = read_request(acting.party, TRAIN, [asset], acting.purpose, in_force)
    return _maker(acting.decide(decider, [(request, None)]))


def making_request(
    source: Source,
    reading: Reading,
    owners: OwnersSource | None,
    data: Mapping[str, Any] | None,
    acting: ActingParty,
) -> MakingRequest:
    """Return the policy that asks for something to be made, with what decides whether it may be.

    `owners` say who owns its assets, and the other given policies who consents. Raises PolicyError
    (P019) if an output does not belong to it, (P012) if another given policy replaces it.
    """
    policies = reading.policies(source)
    policy = making_policy(policies)
    time = acting.world.time if acting.world else None
    in_force = (
        reading.policies_in_force(*policies, *acting.policies, time=time)
        if acting.policies
        else policies
    )
    in_force = InForce(in_force, in_force.notes, dict.fromkeys((*policies.ended, *in_force.ended)))
    if policy.digest not in [one.digest for one in in_force]:
        message = f"The policy {policy.uid} is not in force. {' '.join(in_force.notes)}"
        raise PolicyError(Problem("P012", message.strip(), "", policy.place), source=policy.source)
    end_reason = ended(in_force).get(policy.uid)
    if end_reason:
        message = f"The policy {policy.uid} is void: {end_reason}."
        raise PolicyError(
            Problem("P012", message, _GIVE_REPLACEMENT, policy.place), source=policy.source
        )
    asset_owners = load_owners(owners, in_force, reading.contexts)
    data_assets = tuple(named_data(data or {}, [policy]))
    decider = Decider(in_force, owners=asset_owners, data=data_assets, ledger=acting.budgets)
    return MakingRequest(policy, in_force, asset_owners, data_assets, acting, decider)


def _consent_problems(one: MissingConsent, policy: Policy) -> Iterator[Problem]:
    """Yield what keeps a rule from making something of others' assets."""
    for short in one.shortfalls:
        line = f"line {short.asked.line}" if short.asked.line else ""
        where = ", ".join(part for part in (one.source, line) if part)
        message = (
            f"{short.message} {one.consent_rule}{f' ({where})' if where else ''} requires this."
        )
        yield Problem("M017", message, "", short.place if short.place.line else one.rule.place)
    if not one.shortfalls:
        message = f"{rule_name(one.rule.where(), policy.uid)} does not count: {one.why}."
        yield Problem("M014", message, "", one.rule.place)


def making_policy(policies: Sequence[Policy]) -> Policy:
    """Return the one policy or, of several, the one that asks for something to be made.

    Raises PolicyError (P001) if several do, or none of several.
    """
    asking = [policy for policy in policies if asks_for_data(policy)]
    if len(policies) > 1 and len(asking) != 1:
        message = f"One policy must ask for a transformation. Of {len(policies)}, {len(asking)} do."
        raise PolicyError(
            Problem("P001", message, "", policies[0].place), source=policies[0].source
        )
    return asking[0] if asking else policies[0]


def _count_permit(decision: Decision, so_far: History) -> None:
    """Count a permit that will be logged, for the decisions that follow."""
    request, digests = decision.request, decision.policy_digests
    for one in decision.counted or ():
        rule, party = (one.policy, one.rule), one.party or request.assignee
        so_far.record_execution(rule, party, request.action, one.targets, digests)


def _check_permitted(decision: Decision) -> None:
    """Raise DeniedError (D007) with the reason of a denial."""
    if not decision.permitted:
        request, targets = decision.request, " and ".join(decision.request.targets)
        purpose = f" for {terms.compact(request.purpose)}" if request.purpose else ""
        message = f"{request.assignee} may not {terms.compact(request.action)} {targets}{purpose}. "
        raise DeniedError.of("D007", message + decision.reason)


def _maker(decisions: Sequence[Decision]) -> Maker:
    """Return the party who is permitted to make something, according to the decisions."""
    first = decisions[0].request
    rules = dict.fromkeys(rule_name(one.rule, one.policy) for one in decisions)
    return Maker(party=first.assignee, purpose=first.purpose, rules=tuple(rules))


def read_making_policy(source: Source, reading: Reading) -> Policy:
    """Return the one policy of a text or, of several, the one that asks for a transformation."""
    return making_policy(reading.policies(source))
