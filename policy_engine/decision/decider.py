"""Who may read what, for which purpose, and why."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain

from policy_engine import terms
from policy_engine.certificate.attestation import Attestation
from policy_engine.certificate.certificate import Certificate
from policy_engine.certificate.sightings import Sighting
from policy_engine.certificate.vouching import Vouched
from policy_engine.decision.agreement import check_agreement
from policy_engine.decision.clauses import Clause
from policy_engine.decision.closures import Closures
from policy_engine.decision.consents import TransformationCache, consent_shortfalls
from policy_engine.decision.deciding.case import Case
from policy_engine.decision.deciding.making import lineage
from policy_engine.decision.facts import unclear_labels
from policy_engine.decision.history import History
from policy_engine.decision.inclusion import possible_datasets
from policy_engine.decision.index import Index
from policy_engine.decision.lineage import Lineage
from policy_engine.decision.model import (
    CarriedOutRule,
    Decision,
    Request,
    RowAccess,
    World,
    expand_hierarchy,
)
from policy_engine.decision.outputs import Output, output_plans
from policy_engine.decision.purposes import rule_purposes
from policy_engine.decision.spending import BudgetSpending, SpentBudgets
from policy_engine.decision.views import View
from policy_engine.decision.void_outputs import VoidOutput, void_outputs, void_proven_outputs
from policy_engine.errors import ArgumentError, RequestError, join_names
from policy_engine.plan.consenting import Shortfall
from policy_engine.plan.lineage import Upstream
from policy_engine.plan.plan import Plan
from policy_engine.policy import Hierarchy, InForce, Policy
from policy_engine.policy.claims import Claims
from policy_engine.policy.model import READ
from policy_engine.policy.owners import Owners, check_outputs, owned_outputs

_VIEWS = 8
_UNKNOWN_WORLD = World()
_ShortfallKey = tuple[int, str, str, tuple[str, ...]]


class Decider:
    """Answers requests under a set of policies, compiled once.

    Anything that no rule permits is denied. Assets that are read together must be granted together
    by one rule. A prohibition that overlaps the request denies it, unless its policy has the
    conflict strategy `perm` and a rule of that policy permits the request. Three groups may read
    the output of an anonymisation, once it has a certificate that is valid for its policy: the
    assignees of the rule that makes it, for the purposes of that rule; parties with a permission of
    their own; and whoever may read all of the inputs for the purpose. `hierarchy` is added to what
    the policies say about who and what belongs to what. What one policy says there widens its own
    permissions only, but the prohibitions of all policies.

    An Offer grants nothing (ODRL Vocabulary 2.2, section 4.1.1). A permission applies if all its
    constraints and refinements are satisfied and all its duties fulfilled (ODRL Information Model
    2.2, section 2.6.3); a prohibition applies unless one of them is known to be unsatisfied.
    Whatever cannot be resolved is unknown: it satisfies no permission and lifts no prohibition.

    If `owners` are given, a rule counts only for assets of the parties that issued it, or for which
    the owners let these parties speak; what policies say about parts of assets changes no owner.
    `data` are the IRIs of the assets that have data. A `ledger` says what releases under
    differential privacy have spent, whenever a request is decided; without one, constraints on that
    are unknown.

    Nobody may read an output that was made under a policy that is not in force, unless a policy in
    force makes it too. Such outputs are known from certificates, and from policies that have ended
    (`InForce`). If there are owners, this holds for assets that the assigners of the old policy may
    own, or for all assets it names if its assigners are unknown.

    The caller vouches for the policies and certificates, or a trust file does: the `certificates`
    then are those that it covers (`Vouched`), and nothing is permitted under policies that it does
    not cover, at the moment of each request. Raises RequestError (D002) for two policies with the
    same uid, PolicyError (P019) for outputs that do not belong to their policies.
    """

    def __init__(
        self,
        policies: Sequence[Policy],
        certificates: Sequence[Certificate | Attestation] = (),
        hierarchy: Hierarchy | None = None,
        owners: Owners | None = None,
        data: Collection[str] = (),
        ledger: SpentBudgets | None = None,
    ) -> None:
        uids = [policy.uid for policy in policies]
        if len(set(uids)) < len(uids):
            message = f"Two policies have the same uid. Given: {join_names(uids)}."
            raise RequestError.of("D002", message, "Leave out the one that no longer holds.")
        self.policies = tuple(policies)
        self.certificates = tuple(one for one in certificates if isinstance(one, Certificate))
        self.attestations = tuple(one for one in certificates if isinstance(one, Attestation))
        self.digests = tuple(policy.digest for policy in policies)
        self.unclear = unclear_labels(policies)
        self._own_actions = {iri for policy in policies for iri in policy.vocabulary.actions}
        owned = Hierarchy(asset=tuple((owners or Owners()).edges))
        caller_hierarchy = self._translate_actions(
            expand_hierarchy(hierarchy or Hierarchy())
        ).joined([owned])
        in_force = policies if isinstance(policies, InForce) else InForce(policies)
        self.in_force = in_force
        self.vouched = certificates if isinstance(certificates, Vouched) else None
        written = tuple(certificates) if self.vouched is None else self.vouched
        self._written = in_force, written, hierarchy or Hierarchy(), owners, ledger
        self._data, self._others = data, dict[tuple[int, int], Decider]()
        self._extended: dict[Hierarchy, Decider] = {}
        self.index = Index(in_force, caller_hierarchy, apart=bool(owners))
        self.owners = self._owners((owners or Owners()).known_by(in_force), data)
        self._bare_view = View(self.index, Hierarchy(), self.owners)
        self._views: dict[Hierarchy, View] = {}
        self._outputs: dict[tuple[str, str, str], Output] = {}
        self._shortfall_memo: dict[_ShortfallKey, tuple[Shortfall, ...]] = {}
        self._plans: dict[str, Mapping[str, Plan]] = {}
        self.transformations = TransformationCache()
        self.spending = None if ledger is None else BudgetSpending(ledger, self._sources)
        self.notes, outputs = in_force.notes, {one.asset for one in self.index.outputs}
        self.notes += () if self.vouched is None else self.vouched.notes
        self.past, all_policies = in_force.ended, (*in_force, *in_force.ended)
        not_in_force = (
            *void_outputs(in_force.ended),
            *void_proven_outputs((*certificates, *self._other_proofs()), all_policies),
        )
        self.void = tuple(one for one in dict.fromkeys(not_in_force) if one.asset not in outputs)

    def extended(self, hierarchy: Hierarchy) -> "Decider":
        """Return what decides with more said about who and what belongs to what.

        It is compiled once for each of the last few that were asked for.
        """
        if hierarchy == Hierarchy():
            return self
        if hierarchy not in self._extended:
            policies, certificates, earlier, owners, ledger = self._written
            if len(self._extended) >= _VIEWS:
                del self._extended[next(iter(self._extended))]
            wider = earlier.joined([hierarchy])
            self._extended[hierarchy] = Decider(
                policies, certificates, wider, owners, ledger=ledger
            )
        return self._extended[hierarchy]

    def as_of(self, world: World | None = None) -> "Decider":
        """Return what decides in a state of the world: by signatures that are valid then."""
        if self.vouched is None or not self.vouched.grounds.turns:
            return self
        time = (world.time if world else None) or datetime.now(UTC)
        span = self.vouched.grounds.span(time)
        if span == self.vouched.span:
            return self
        if span not in self._others:
            if len(self._others) >= _VIEWS:
                del self._others[next(iter(self._others))]
            self._others[span] = self.with_proofs(self.vouched.at(time))
        return self._others[span]

    def with_proofs(self, proofs: Sequence[Certificate | Attestation]) -> "Decider":
        """Return what decides by other proofs, and all else that this does."""
        policies, _, hierarchy, owners, ledger = self._written
        return Decider(policies, proofs, hierarchy, owners, self._data, ledger)

    def _sources(self, asset: str) -> Collection[str]:
        """Return what an asset is made from, by the rules whose output it is."""
        makers = self.index.output_rules.get(asset, ())
        return {one for maker in makers for one in maker.clause.sources or maker.clause.targets}

    def _owners(self, owners: Owners, data: Collection[str]) -> Owners:
        """Return who owns what, with the policies' outputs, once these are known to be theirs."""
        edges = self.index.trusted.hierarchy.asset
        claims = Claims(self.policies, self.index.void)
        check_outputs(claims, owners, edges, data)
        return owned_outputs(claims, owners, edges) if owners else owners

    @property
    def proofs(self) -> Sequence[Certificate | Attestation]:
        """The proofs that count, with what is known of the others under a trust file."""
        return (*self.certificates, *self.attestations) if self.vouched is None else self.vouched

    def _other_proofs(self) -> tuple[Certificate | Attestation, ...]:
        """Return the proofs that do not count: that an output was made stays known."""
        if self.vouched is None:
            return ()
        return (*self.vouched.refused, *(one for one, _ in self.vouched.withdrawn))

    @property
    def is_trusting(self) -> bool:
        """Whether signatures count, by a trust file."""
        return self.vouched is not None and self.vouched.trust is not None

    def believed(self, world: World) -> tuple[str, ...]:
        """Return what was given beside signed policies and proofs, and nobody signs; none without a
        trust file, where nothing has to be signed."""
        if not self.is_trusting:
            return ()
        _, _, hierarchy, owners, _ = self._written
        is_stated = world.model_copy(update={"time": None}) != _UNKNOWN_WORLD
        statements = {
            "hierarchies": hierarchy != Hierarchy(),
            "owners": bool(owners),
            "the state of the world": is_stated,
        }
        return tuple(name for name, is_given in statements.items() if is_given)

    def void_outputs(self, view: View) -> Iterator[VoidOutput]:
        """Yield the outputs of policies that are not in force."""
        yield from self.void
        if view.void:
            yield from void_outputs(one for one in self.policies if one.uid in view.void)

    def decide(
        self,
        request: Request,
        world: World | None = None,
        history: History | None = None,
        carried: CarriedOutRule | None = None,
    ) -> Decision:
        """Return the answer to a request in a state of the world.

        If the world has no time, the clock's is used, and the decision says so. A `history` says
        how often rules were exercised; `DecisionLog.decide` uses and extends that of a log in one
        step. If the request is to make something, `carried` is the rule by which that is done.
        Raises ArgumentError (U002) for a value that is not a Request or a World, and RequestError
        (D005) if the world contradicts the history on counts.
        """
        _check(request, world)
        self._check_agreement(world, history)
        translated, state = self._translate_action(request), world or _UNKNOWN_WORLD
        return Case(self.as_of(world), translated, state, history, carried=carried).decide()

    def row_access(
        self,
        request: Request,
        world: World | None = None,
        datasets: Collection[str] = (),
        together: tuple[str, ...] = (),
        history: History | None = None,
    ) -> RowAccess:
        """Return the rules that decide on single rows of the datasets of a request.

        Without `datasets`, a target that could name a dataset or a column counts as a column of
        every dataset that it may belong to. If the targets are only part of what is read,
        `together` is everything. Raises as `decide` does.
        """
        _check(request, world)
        self._check_agreement(world, history)
        rows = frozenset(datasets) or possible_datasets(request.targets)
        translated, state = self._translate_action(request), world or _UNKNOWN_WORLD
        now = self.as_of(world)
        return Case(now, translated, state, history, rows=rows, together=together).row_access()

    def _check_agreement(self, world: World | None, history: History | None) -> None:
        if world is not None and history is not None:
            check_agreement(world, history, self.policies)

    def consent_shortfalls(
        self, consent: Clause, making: Clause, assets: tuple[str, ...]
    ) -> tuple[Shortfall, ...]:
        """Return how what a rule makes of assets falls short of what a consent requires."""
        key = consent.number, making.policy.uid, making.written_rule.output, assets
        if key not in self._shortfall_memo:
            self._shortfall_memo[key] = consent_shortfalls(
                consent, making, assets, self.transformations
            )
        return self._shortfall_memo[key]

    def release_end_reason(
        self, release: Upstream, world: World | None = None, history: History | None = None
    ) -> str:
        """Return why nobody may read what is made from a release, empty if the release is valid."""
        first = ""
        for one in self._lineages(release.asset, world, history):
            reason = one.end_reason(release)
            if not reason:
                return ""
            first = first or reason
        return first

    def _lineages(
        self,
        asset: str,
        world: World | None,
        history: History | None,
        request: Request | None = None,
    ) -> Iterator[Lineage]:
        """Yield the lineages that decide if an asset is valid, for a request or for any purpose."""
        for reading in (
            (self._translate_action(request),) if request else self._reading_requests(asset, world)
        ):
            yield lineage(Case(self.as_of(world), reading, world or _UNKNOWN_WORLD, history))

    def _reading_requests(self, asset: str, world: World | None) -> Iterator[Request]:
        """Yield requests of no party for each purpose that an asset is made for.

        Narrower purposes are included: what is prohibited for one of them may be valid for others.
        """
        view = self.view((world or _UNKNOWN_WORLD).memberships)
        rules = [output.clause for output in self.index.output_rules.get(asset, ())]
        purposes = (rule_purposes(one.rule, view.own_closures(one), view.closures) for one in rules)
        distinct = dict.fromkeys(chain.from_iterable(purposes))
        narrower_purposes = partial(view.closures.down, "purpose")
        narrower = (one for purpose in distinct if purpose for one in narrower_purposes(purpose))
        for one in dict.fromkeys((*distinct, *narrower)) or ("",):
            yield Request(assignee="", action=READ, targets=(asset,), purpose=one)

    def _translate_action(self, request: Request) -> Request:
        """Return a request with ODRL's name of its action instead of MOSAICrOWN's old one."""
        action = terms.action(request.action, self._own_actions)
        return (
            request if action == request.action else request.model_copy(update={"action": action})
        )

    def _translate_actions(self, hierarchy: Hierarchy) -> Hierarchy:
        """Return a hierarchy with ODRL's names of actions, as in the policies."""
        edges = {
            part: tuple(
                (terms.action(one, self._own_actions), terms.action(other, self._own_actions))
                for one, other in getattr(hierarchy, part)
            )
            for part in ("action", "implied")
        }
        return replace(hierarchy, **edges)

    def view(self, memberships: Hierarchy) -> View:
        """Return the rules with additional memberships."""
        if memberships == self._bare_view.memberships:
            return self._bare_view
        view = self._views.get(memberships)
        if view is None:
            if len(self._views) >= _VIEWS:
                del self._views[next(iter(self._views))]
            view = self._views[memberships] = View(
                self.index, self._translate_actions(memberships), self.owners
            )
        return view

    def output(self, policy: Policy, asset: str, digest: str = "") -> Output:
        """Return an output of a policy, with the certificates that are valid for it.

        With a `digest`, only certificates of that exact output count.
        """
        key = policy.uid, asset, digest
        if key not in self._outputs:
            certificates = [one for one in self.certificates if digest in ("", one.output_digest)]
            attestations = [one for one in self.attestations if digest in ("", one.output_digest)]
            if policy.uid not in self._plans:
                self._plans[policy.uid] = output_plans(policy)
            plan = self._plans[policy.uid].get(asset)
            output = Output.of(
                policy, asset, certificates, attestations, plan, self._attestation_refusal
            )
            if self.vouched is not None and output.uncertified:
                refusal = self.vouched.refusal(asset) or output.refusal
                output = replace(output, refusal=refusal)
            self._outputs[key] = output
        return self._outputs[key]

    def unchanged(self, output: Output) -> Output:
        """Return an output as it is, without its proofs where what one of them names is another one
        since it was hashed.

        Where there are several proofs, nobody knows which of them what is read belongs to.
        """
        refusal = next(filter(None, (one.refusal() for one in self.sightings(output))), "")
        if not refusal:
            return output
        return replace(output, certificate=None, valid=(), attested=(), refusal=refusal)

    def sightings(self, output: Output) -> list[Sighting]:
        """Return what an output's proofs name, as far as it was hashed when they were read."""
        if self.vouched is None:
            return []
        proofs: tuple[Certificate | Attestation, ...] = (*output.valid, *output.attested)
        seen = map(self.vouched.sighting, proofs)
        return [one for one in seen if one is not None]

    def request_sightings(self, request: Request, world: World) -> list[Sighting]:
        """Return the outputs that a request touches, as far as they were hashed."""
        now = self.as_of(world)
        touched = Case(now, self._translate_action(request), world).touched_outputs()
        outputs = [now.output(one.policy, one.asset) for one in touched]
        return [sighting for one in outputs for sighting in now.sightings(one)]

    def _attestation_refusal(self, policy: Policy, attestation: Attestation) -> str:
        """Return why an attestation of an output does not count, empty if it does.

        If there are owners, the attestations that count are those of parties that speak for the
        output, that issued the rule making it, or that this rule allows to make it.
        """
        if self._bare_view.standing is None:
            return ""
        speakers = self._bare_view.standing.of(attestation.asset)
        accepted = {*speakers.owners, *speakers.delegates}
        for rule in policy.permissions:
            if rule.output == attestation.asset:
                accepted |= {*rule.issued_by, *(party.iri for party in rule.assignees)}
        closures = Closures(self.index.trusted.hierarchy.joined([policy.hierarchy]))
        if not accepted.isdisjoint(closures.up("party", attestation.by)):
            return ""
        names = join_names(sorted(accepted))
        return f"The attestation of {attestation.by} does not count: only {names} may attest it."

    def valid_output(
        self,
        policy: Policy,
        asset: str,
        world: World | None = None,
        digest: str = "",
        history: History | None = None,
        request: Request | None = None,
    ) -> Output:
        """Return an output with only those certificates by which somebody may currently read it.

        Each is judged by everything its own release was made from. With a `digest`, only
        certificates of that exact output count; with a `request`, validity is judged for its
        purpose.
        """
        output = self.as_of(world).output(policy, asset, digest)
        first: Output | None = None
        for one in self._lineages(asset, world, history, request):
            checked = one.keep_valid(output)
            if not checked.invalid_reason:
                return checked
            first = first or checked
        return first or output


def _check(request: object, world: object) -> None:
    if isinstance(request, Request) and (world is None or isinstance(world, World)):
        return
    for name, value, kind in (("request", request, Request), ("world", world, World)):
        if not isinstance(value, kind) and (name == "request" or value is not None):
            message = f"{name} is of the wrong type. Given: {type(value).__name__}."
            hint = f"Use `read_{name}` to make one."
            raise ArgumentError.of("U002", f"{message} {name} may be {kind.__name__}.", hint)


def decide(
    policies: Sequence[Policy],
    certificates: Sequence[Certificate | Attestation],
    request: Request,
    hierarchy: Hierarchy | None = None,
    world: World | None = None,
    owners: Owners | None = None,
) -> Decision:
    """Decide one request, as a Decider made for it does."""
    return Decider(policies, certificates, hierarchy, owners).decide(request, world)
