"""What a policy asks to be made of data: whether its assigner may, and the party who acts."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine import terms
from policy_engine.api.deciding import ProofSource, open_log, read_proofs
from policy_engine.certificate.sources import Proof
from policy_engine.decision import Decider, Decision, Request, World, read_request
from policy_engine.decision.consents import MissingConsent
from policy_engine.decision.history import History
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
from policy_engine.policy import InForce, Policy, Reading, Source
from policy_engine.policy.collecting.ending import ended
from policy_engine.policy.datasets import named_data
from policy_engine.policy.model import TRAIN
from policy_engine.policy.naming import Names
from policy_engine.policy.owners import Owners, OwnersSource, load_owners
from policy_engine.policy.wording import rule_name

if TYPE_CHECKING:
    from policy_engine.decision.log.log import Transaction


_GIVE_REPLACEMENT = "Give what it ends with as well: policies=[FILE]."


@dataclass(frozen=True)
class ActingParty:
    """Who has something made of data, to what end, and by what it is decided whether they may.

    Without a `party` that is the owner, whom nobody has to permit it. `policies` are looked at
    besides the one that asks, in a state of the `world`; a `log` tells what was done so far, and
    is told what was decided unless this is a `trial`. Raises RequestError (D001) for what is of
    a party's request alone.
    """

    party: str | None = None
    purpose: str = ""
    policies: Sequence[Source] = ()
    world: World | None = None
    log: str | Path | None = None
    log_key: str | Path | bytes | None = None
    is_trial: bool = False

    def __post_init__(self) -> None:
        request_options = {"purpose": self.purpose, "world": self.world, "log": self.log}
        stated = [
            name for name, value in request_options.items() if value is not None and value != ""
        ]
        if stated and self.party is None:
            message = f"Nobody is said to act, and the {' and the '.join(stated)} of a request "
            message += "is given. Where the owner acts, nothing is decided."
            raise RequestError.of("D001", message, "Give who acts as well: party=IRI.")

    def decide(
        self, decider: Decider, requests: Sequence[tuple[Request, CarriedOutRule | None]]
    ) -> list[Decision]:
        """Return the decisions on all that the party asks for, once each is a permit.

        With a log, it is decided in one go, each by what was permitted before, and what was
        decided is on the disk before anything is made. Raises DeniedError (D007) with the reason,
        and as `Decider.decide` and `DecisionLog.decide` do.
        """
        # One moment for all that is asked: a constraint on the time must not change in between.
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
        """Return the world, what was done before and the purpose, by which leave is told."""
        history = self._read_history(self.log) if self.log is not None and owners else None
        purpose = Names(policies).full(self.purpose, "purpose") if self.purpose else ""
        return self.world, history, purpose

    def _read_history(self, log: str | Path) -> History:
        from policy_engine.decision.log import read_history  # noqa: PLC0415 (where asked for)

        return read_history(log, self.log_key) if Path(log).exists() else History()

    @contextmanager
    def _log(self) -> "Iterator[tuple[History | None, Transaction | None]]":
        """Return what a log tells, and what is to be added to, alone with it."""
        if self.log is None:
            yield None, None
        elif self.is_trial:
            yield self._read_history(self.log), None
        else:
            with open_log(self.log, self.log_key).transaction() as log:
                yield log.history, log


@dataclass(frozen=True)
class MakingRequest:
    """The policy that asks for something to be made, with all by which that is decided."""

    policy: Policy
    policies_in_force: InForce
    owners: Owners
    data: tuple[str, ...]
    acting: ActingParty
    decider: Decider

    def makers(
        self, certificates: Sequence[Proof], products: Sequence[Product]
    ) -> tuple[MadeBy, ...]:
        """Return who makes each of some outputs of the policy, once all are permitted to them.

        `certificates` vouch for the input, where that was made itself. Each thing that is made is
        one request: to anonymize, and to train. Raises as `ActingParty.decided` does, and PlanError
        (M014, M017) where the policy's assigner may not have them made of what others own.
        """
        outputs = {rule.output for one in products for rule, _ in one.steps}
        if self.acting.party is None:
            self.check_consents(outputs)
            return tuple("owner" for _ in products)
        # What is prohibited to the party is a denial, which is logged.
        self.check_consents(outputs, with_prohibitions=False)
        decider = Decider(self.policies_in_force, certificates, None, self.owners, self.data)
        requests = [[*self._requests(one)] for one in products]
        decisions = iter(self.acting.decide(decider, [*chain(*requests)]))
        return tuple(_maker([*islice(decisions, len(group))]) for group in requests)

    def with_consents(self, plan: Plan) -> Plan:
        """Return a plan with the rules by which owners let the policy make it of what is theirs."""
        if not self.owners:
            return plan
        context = self.acting.consent_context(self.owners, self.policies_in_force)
        consents = self.decider.given_consents(self.policy, plan.publish.asset, *context)
        return plan.model_copy(update={"by_consent": consents})

    def check_consents(self, outputs: Collection[str], *, with_prohibitions: bool = True) -> None:
        """Raise PlanError (M014, M017) where owners do not let the policy make some outputs.

        Or prohibit it, of what these are made from near and far (`with_prohibitions`).
        """
        context = self.acting.consent_context(self.owners, self.policies_in_force)
        problems = [
            problem
            for one in self.decider.missing_consents(
                self.policy, *context, with_prohibitions=with_prohibitions
            )
            if one.rule.output in outputs
            for problem in _consent_problems(one, self.policy)
        ]
        if problems:
            problems = sorted(dict.fromkeys(problems), key=place_order)
            raise PlanError(*problems, source=self.policy.source)

    def _requests(self, product: Product) -> Iterator[tuple[Request, CarriedOutRule]]:
        """Yield what is asked for, each thing with the rule that is carried out."""
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
) -> MadeBy:
    """Return who has models trained on an asset, as audits do, once that is permitted.

    Without a `target` that is the only dataset of the policies. Raises as `ActingParty.decided`
    does, and RequestError (D001) where they have none, or several.
    """
    if acting.party is None:
        return "owner"
    time = acting.world.time if acting.world else None
    in_force = reading.in_force(*acting.policies, time=time)
    [asset] = named_data({target: ""}, in_force)
    asset_owners = load_owners(owners, in_force, reading.contexts)
    decider = Decider(in_force, read_proofs(certificates), None, asset_owners)
    request = read_request(acting.party, TRAIN, [asset], acting.purpose, in_force)
    return _maker(acting.decide(decider, [(request, None)]))


def making_request(
    source: Source,
    reading: Reading,
    owners: OwnersSource | None,
    data: Mapping[str, Any] | None,
    acting: ActingParty,
) -> MakingRequest:
    """Return the policy that asks for something to be made, with all by which that is decided.

    Whose its assets are is said in `owners`, and who lets it in the other policies that are given.
    Raises PolicyError (P019) where an output is not its own to name, (P012) where another policy
    that is given replaces it.
    """
    policies = reading.policies(source)
    policy = making_policy(policies)
    time = acting.world.time if acting.world else None
    in_force = (
        reading.in_force(*policies, *acting.policies, time=time) if acting.policies else policies
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
    decider = Decider(in_force, owners=asset_owners, data=data_assets)
    return MakingRequest(policy, in_force, asset_owners, data_assets, acting, decider)


def _consent_problems(one: MissingConsent, policy: Policy) -> Iterator[Problem]:
    """Yield what keeps a rule from making something of what others own."""
    for short in one.shortfalls:
        line = f"line {short.asked.line}" if short.asked.line else ""
        where = ", ".join(part for part in (one.source, line) if part)
        message = f"{short.message} {one.consent_rule}{f' ({where})' if where else ''} says so."
        yield Problem("M017", message, "", short.place if short.place.line else one.rule.place)
    if not one.shortfalls:
        message = f"{rule_name(one.rule.where(), policy.uid)} does not count: {one.why}."
        yield Problem("M014", message, "", one.rule.place)


def making_policy(policies: Sequence[Policy]) -> Policy:
    """Return the one policy or, of several, the one that asks for something to be made.

    Raises PolicyError (P001) where several do, or none of several.
    """
    asking = [policy for policy in policies if asks_for_data(policy)]
    if len(policies) > 1 and len(asking) != 1:
        message = (
            f"One policy is to ask for a transformation. Of {len(policies)}, {len(asking)} do."
        )
        raise PolicyError(
            Problem("P001", message, "", policies[0].place), source=policies[0].source
        )
    return asking[0] if asking else policies[0]


def _count_permit(decision: Decision, so_far: History) -> None:
    """Count a permit that is to stand in the log, for what is decided next."""
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
    """Return the party who is permitted to make something, by the decisions on it."""
    first = decisions[0].request
    rules = dict.fromkeys(rule_name(one.rule, one.policy) for one in decisions)
    return Maker(party=first.assignee, purpose=first.purpose, rules=tuple(rules))


def read_making_policy(source: Source, reading: Reading) -> Policy:
    """Return the one policy of a text or, of several, the one that asks for a transformation."""
    return making_policy(reading.policies(source))
