"""What a policy asks to be made of data: whether its assigner may, and the party who acts."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policy_engine import terms
from policy_engine.api.deciding import Proof, opened, proofs
from policy_engine.certificate.attestation import Attestation
from policy_engine.certificate.certificate import Certificate
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


_GIVE = "Give what it ends with as well: policies=[FILE]."
Proven = Certificate | Attestation
"""What vouches for an input that was made itself."""


@dataclass(frozen=True)
class Acting:
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
        given = {"purpose": self.purpose, "world": self.world, "log": self.log}
        found = [name for name, value in given.items() if value is not None and value != ""]
        if found and self.party is None:
            message = f"Nobody is said to act, and the {' and the '.join(found)} of a request "
            message += "is given. Where the owner acts, nothing is decided."
            raise RequestError.of("D001", message, "Give who acts as well: party=IRI.")

    def decided(
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
        by = {"time_by": "caller" if world.time else "clock"}
        with self._log() as (history, log):
            found: list[Decision] = []
            so_far = (
                History.from_json(history.to_json()) if history and len(requests) > 1 else history
            )
            for request, carried in requests:
                decision = decider.decide(request, now, so_far, carried).model_copy(update=by)
                found = [*found, decision] if decision.permitted else [decision]
                if not decision.permitted:
                    break
                if so_far is not None and so_far is not history:
                    _take_up(decision, so_far)
            for decision in found if log else ():
                log.append(decision)  # type: ignore[union-attr]
        _check_permitted(found[-1])
        return found

    def known(self, owners: Owners, policies: InForce) -> tuple[World | None, History | None, str]:
        """Return the world, what was done before and the purpose, by which leave is told."""
        history = self._read(self.log) if self.log is not None and owners else None
        purpose = Names(policies).full(self.purpose, "purpose") if self.purpose else ""
        return self.world, history, purpose

    def _read(self, log: str | Path) -> History:
        from policy_engine.decision.log import read_history  # noqa: PLC0415 (where asked for)

        return read_history(log, self.log_key) if Path(log).exists() else History()

    @contextmanager
    def _log(self) -> "Iterator[tuple[History | None, Transaction | None]]":
        """Return what a log tells, and what is to be added to, alone with it."""
        if self.log is None:
            yield None, None
        elif self.is_trial:
            yield self._read(self.log), None
        else:
            with opened(self.log, self.log_key).transaction() as log:
                yield log.history, log


@dataclass(frozen=True)
class MakingRequest:
    """The policy that asks for something to be made, with all by which that is decided."""

    policy: Policy
    known: InForce
    owners: Owners
    data: tuple[str, ...]
    acting: Acting
    decider: Decider

    def made_by(
        self, certificates: Sequence[Proven], products: Sequence[Product]
    ) -> tuple[MadeBy, ...]:
        """Return who makes each of some outputs of the policy, once all are permitted to them.

        `certificates` vouch for the input, where that was made itself. Each thing that is made
        is one request: to anonymize, and to train. Raises as `Acting.decided` does, and PlanError
        (M014, M017) where the policy's assigner may not have them made of what others own.
        """
        outputs = {rule.output for one in products for rule, _ in one.steps}
        if self.acting.party is None:
            self.check_owned(outputs)
            return tuple("owner" for _ in products)
        # What is prohibited to the party is a denial, which is logged.
        self.check_owned(outputs, with_prohibitions=False)
        decider = Decider(self.known, certificates, None, self.owners, self.data)
        requests = [[*self._requests(one)] for one in products]
        found = iter(self.acting.decided(decider, [*chain(*requests)]))
        return tuple(_maker([*islice(found, len(asked))]) for asked in requests)

    def with_consents(self, plan: Plan) -> Plan:
        """Return a plan with the rules by which owners let the policy make it of what is theirs."""
        if not self.owners:
            return plan
        known = self.acting.known(self.owners, self.known)
        found = self.decider.given_consents(self.policy, plan.publish.asset, *known)
        return plan.model_copy(update={"by_consent": found})

    def check_owned(self, outputs: Collection[str], *, with_prohibitions: bool = True) -> None:
        """Raise PlanError (M014, M017) where owners do not let the policy make some outputs.

        Or prohibit it, of what these are made from near and far (`with_prohibitions`).
        """
        known = self.acting.known(self.owners, self.known)
        problems = [
            problem
            for one in self.decider.missing_consents(
                self.policy, *known, with_prohibitions=with_prohibitions
            )
            if one.rule.output in outputs
            for problem in _unowned(one, self.policy)
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
            request = read_request(party, action, targets, purpose, self.known)
            yield request, CarriedOutRule(self.policy.uid, rule.label(), on_the_way)
            on_the_way |= {rule.output}


def may_train(
    target: str,
    reading: Reading,
    acting: Acting,
    owners: OwnersSource | None = None,
    certificates: Sequence[Proof] = (),
) -> MadeBy:
    """Return who has models trained on an asset, as audits do, once that is permitted.

    Without a `target` that is the only dataset of the policies. Raises as `Acting.decided` does,
    and RequestError (D001) where they have none, or several.
    """
    if acting.party is None:
        return "owner"
    time = acting.world.time if acting.world else None
    known = reading.in_force(*acting.policies, time=time)
    [asset] = named_data({target: ""}, known)
    stated = load_owners(owners, known, reading.contexts)
    decider = Decider(known, proofs(certificates), None, stated)
    request = read_request(acting.party, TRAIN, [asset], acting.purpose, known)
    return _maker(acting.decided(decider, [(request, None)]))


def asked_by(
    source: Source,
    reading: Reading,
    owners: OwnersSource | None,
    data: Mapping[str, Any] | None,
    acting: Acting,
) -> MakingRequest:
    """Return the policy that asks for something to be made, with all by which that is decided.

    Whose its assets are is said in `owners`, and who lets it in the other policies that are given.
    Raises PolicyError (P019) where an output is not its own to name, (P012) where another policy
    that is given replaces it.
    """
    found = reading.policies(source)
    asking = asking_of(found)
    time = acting.world.time if acting.world else None
    known = reading.in_force(*found, *acting.policies, time=time) if acting.policies else found
    known = InForce(known, known.notes, dict.fromkeys((*found.ended, *known.ended)))
    if asking.digest not in [policy.digest for policy in known]:
        message = f"The policy {asking.uid} is not in force. {' '.join(known.notes)}"
        raise PolicyError(Problem("P012", message.strip(), "", asking.place), source=asking.source)
    why = ended(known).get(asking.uid)
    if why:
        message = f"The policy {asking.uid} is void: {why}."
        raise PolicyError(Problem("P012", message, _GIVE, asking.place), source=asking.source)
    stated = load_owners(owners, known, reading.contexts)
    given = tuple(named_data(data or {}, [asking]))
    decider = Decider(known, owners=stated, data=given)
    return MakingRequest(asking, known, stated, given, acting, decider)


def _unowned(one: MissingConsent, asking: Policy) -> Iterator[Problem]:
    """Yield what keeps a rule from making something of what others own."""
    for short in one.shortfalls:
        line = f"line {short.asked.line}" if short.asked.line else ""
        where = ", ".join(part for part in (one.source, line) if part)
        message = f"{short.message} {one.consent_rule}{f' ({where})' if where else ''} says so."
        yield Problem("M017", message, "", short.place if short.place.line else one.rule.place)
    if not one.shortfalls:
        message = f"{rule_name(one.rule.where(), asking.uid)} does not count: {one.why}."
        yield Problem("M014", message, "", one.rule.place)


def asking_of(found: Sequence[Policy]) -> Policy:
    """Return the one policy or, of several, the one that asks for something to be made.

    Raises PolicyError (P001) where several do, or none of several.
    """
    asking = [policy for policy in found if asks_for_data(policy)]
    if len(found) > 1 and len(asking) != 1:
        message = f"One policy is to ask for a transformation. Of {len(found)}, {len(asking)} do."
        raise PolicyError(Problem("P001", message, "", found[0].place), source=found[0].source)
    return asking[0] if asking else found[0]


def _take_up(decision: Decision, so_far: History) -> None:
    """Count a permit that is to stand in the log, for what is decided next."""
    asked, digests = decision.request, decision.policy_digests
    for one in decision.counted or ():
        rule, who = (one.policy, one.rule), one.party or asked.assignee
        so_far.record_execution(rule, who, asked.action, one.targets, digests)


def _check_permitted(decision: Decision) -> None:
    """Raise DeniedError (D007) with the reason of a denial."""
    if not decision.permitted:
        asked, what = decision.request, " and ".join(decision.request.targets)
        purpose = f" for {terms.compact(asked.purpose)}" if asked.purpose else ""
        message = f"{asked.assignee} may not {terms.compact(asked.action)} {what}{purpose}. "
        raise DeniedError.of("D007", message + decision.reason)


def _maker(decisions: Sequence[Decision]) -> Maker:
    """Return the party who is permitted to make something, by the decisions on it."""
    first = decisions[0].request
    rules = dict.fromkeys(rule_name(one.rule, one.policy) for one in decisions)
    return Maker(party=first.assignee, purpose=first.purpose, rules=tuple(rules))


def asking_in(source: Source, reading: Reading) -> Policy:
    """Return the one policy of a text or, of several, the one that asks for a transformation."""
    return asking_of(reading.policies(source))
