"""Who may read what, for which purpose, and why."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from policy_engine import terms
from policy_engine.certificate.attestation import Attestation
from policy_engine.certificate.certificate import Certificate
from policy_engine.decision.agreement import check_agreement
from policy_engine.decision.clauses import Clause
from policy_engine.decision.closures import Closures
from policy_engine.decision.consents import (
    MissingConsent,
    TransformationCache,
    consent_shortfalls,
    given_consent,
)
from policy_engine.decision.deciding.case import Case
from policy_engine.decision.deciding.consenting import making_consents
from policy_engine.decision.deciding.making import consent_refusal, lineage, making_refusal
from policy_engine.decision.facts import unclear_labels
from policy_engine.decision.history import History
from policy_engine.decision.inclusion import possible_datasets
from policy_engine.decision.index import Index, RuleOutput
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
from policy_engine.decision.ownership import OwnerConsent
from policy_engine.decision.purposes import rule_purposes
from policy_engine.decision.views import View
from policy_engine.decision.void_outputs import VoidOutput, void_outputs, void_proven_outputs
from policy_engine.errors import ArgumentError, RequestError, join_names
from policy_engine.plan.consenting import Shortfall
from policy_engine.plan.lineage import Consented, Upstream
from policy_engine.plan.plan import Plan
from policy_engine.policy import Hierarchy, InForce, Policy
from policy_engine.policy.model import READ
from policy_engine.policy.owners import Claims, Owners

_VIEWS = 8
_UNKNOWN_WORLD = World()
_ShortfallKey = tuple[int, str, str, tuple[str, ...]]


class Decider:
    """Answers requests under some policies, compiled once.

    What no rule permits is denied. Assets that are read together must be granted together by
    one rule. A prohibition that the request overlaps denies it, unless its policy's conflict
    strategy is `perm` and a rule of that policy permits it. The output of an anonymisation can be
    read by the assignees of its rule, for the rule's purposes, by those with a rule of their own,
    and by whoever may read all of the inputs for the purpose; but only with a certificate valid
    for its policy. `hierarchy` adds to what the policies themselves say of who belongs to what;
    what one policy says there widens its own permissions only, and everybody's prohibitions.

    An Offer grants nothing (ODRL Vocabulary 2.2, section 4.1.1). A permission holds where all its
    constraints and refinements are satisfied and all its duties fulfilled (ODRL Information Model
    2.2, section 2.6.3); a prohibition unless one of them is
    known to be unsatisfied. What cannot be resolved is unknown: it satisfies no permission and
    lifts no prohibition.

    Where it is said who `owners` are, a rule counts for the assets of those alone who issued it,
    or who let them speak for these; what policies say of parts of assets changes no owner.
    `data` are the IRIs of the assets that data is given for.

    What was made under a policy that is not in force is readable by nobody, unless a policy in
    force makes it: of what a certificate is given, or the policy is known to have ended
    (`InForce`). By the owners, that goes for what the policy's assigners may own; where nobody
    knows who they are, for all that it names.

    Whoever gives the policies and certificates vouches for them: they are not signed. Raises
    RequestError (D002) for two policies of one uid, PolicyError (P019) for outputs that are not
    their policies' to name.
    """

    def __init__(
        self,
        policies: Sequence[Policy],
        certificates: Sequence[Certificate | Attestation] = (),
        hierarchy: Hierarchy | None = None,
        owners: Owners | None = None,
        data: Collection[str] = (),
    ) -> None:
        uids = [policy.uid for policy in policies]
        if len(set(uids)) < len(uids):
            message = f"Two policies have one uid. Given: {join_names(uids)}."
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
        self.index = Index(in_force, caller_hierarchy, apart=bool(owners))
        self.owners = self._owners((owners or Owners()).known_by(in_force), data)
        self._bare_view = View(self.index, Hierarchy(), self.owners)
        self._views: dict[Hierarchy, View] = {}
        self._outputs: dict[tuple[str, str, str], Output] = {}
        self._shortfall_memo: dict[_ShortfallKey, tuple[Shortfall, ...]] = {}
        self._plans: dict[str, Mapping[str, Plan]] = {}
        self._transformations = TransformationCache()
        self.notes, outputs = in_force.notes, {one.asset for one in self.index.outputs}
        self.past, all_policies = in_force.ended, (*in_force, *in_force.ended)
        not_in_force = (
            *void_outputs(in_force.ended),
            *void_proven_outputs(certificates, all_policies),
        )
        self.void = tuple(one for one in dict.fromkeys(not_in_force) if one.asset not in outputs)

    def _owners(self, owners: Owners, data: Collection[str]) -> Owners:
        """Return who owns what, with what the policies make, once that is known to be theirs."""
        edges = self.index.trusted.hierarchy.asset
        claims = Claims(self.policies, self.index.void)
        claims.check(owners, edges, data)
        return claims.owned(owners, edges) if owners else owners

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

        Without a time of the world, the clock's is taken, and the decision says so. With a
        `history`, it says how often rules were exercised; `DecisionLog.decide` answers by that of
        a log, and adds to it in one go. Of a request to make something, `carried` says by which
        rule that is done. Raises ArgumentError (U002) for what is not a Request or not a World, and
        RequestError (D005) where the world says of counts what the history does not.
        """
        _check(request, world)
        self._check_agreement(world, history)
        translated = self._translate_action(request)
        return Case(self, translated, world or _UNKNOWN_WORLD, history, carried=carried).decide()

    def row_access(
        self,
        request: Request,
        world: World | None = None,
        datasets: Collection[str] = (),
        together: tuple[str, ...] = (),
        history: History | None = None,
    ) -> RowAccess:
        """Return which rules decide over single rows of the datasets that a request is for.

        Without `datasets` the targets may be datasets or columns by their names, and what could
        be a column of either is taken to be one. Where the targets are a part of what is read,
        `together` is all of it. Raises as `decide` does.
        """
        _check(request, world)
        self._check_agreement(world, history)
        rows = frozenset(datasets) or possible_datasets(request.targets)
        translated, state = self._translate_action(request), world or _UNKNOWN_WORLD
        return Case(self, translated, state, history, rows=rows, together=together).row_access()

    def _check_agreement(self, world: World | None, history: History | None) -> None:
        if world is not None and history is not None:
            check_agreement(world, history, self.policies)

    def missing_consents(
        self,
        policy: Policy,
        world: World | None = None,
        history: History | None = None,
        purpose: str = "",
        *,
        with_prohibitions: bool = True,
    ) -> Iterator[MissingConsent]:
        """Yield the rules of a policy that make something of what is not theirs, each with why.

        None where all policies are one owner's. Without a `purpose` things are made for those that
        the rules have.
        """
        for case, made in self._making_cases(policy, world, history, purpose):
            refusal = consent_refusal(case, made.clause, was_done=False)
            if not refusal and with_prohibitions:
                refusal = making_refusal(case, made.clause, was_done=False)
            if refusal:
                consents = (one for _, one in making_consents(case, made.clause))
                nearest = [one for one in consents if one.shortfalls]
                reported = nearest or [OwnerConsent()]
                for one in reported:
                    source = one.clause.policy.source if one.clause else ""
                    yield MissingConsent(
                        made.clause.rule, refusal, one.shortfalls, one.rule, source
                    )

    def given_consents(
        self,
        policy: Policy,
        output: str,
        world: World | None = None,
        history: History | None = None,
        purpose: str = "",
    ) -> tuple[Consented, ...]:
        """Return the rules by which owners let a policy make an output of what is theirs."""
        consents = (
            given_consent(asset, leave.clause, self._transformations)
            for case, made in self._making_cases(policy, world, history, purpose)
            if made.asset == output
            for asset, leave in making_consents(case, made.clause)
            if leave.is_given and leave.clause
        )
        return tuple(dict.fromkeys(consents))

    def _making_cases(
        self, policy: Policy, world: World | None, history: History | None, purpose: str
    ) -> "Iterator[tuple[Case, RuleOutput]]":
        """Yield what a policy makes, each with the case of making it for a purpose."""
        for made in self.index.outputs:
            rule, targets = made.clause.rule, tuple(sorted(made.clause.targets))
            if made.policy.uid != policy.uid or not targets:
                continue
            view = self.view((world or _UNKNOWN_WORLD).memberships)
            purposes = rule_purposes(rule, view.own_closures(made.clause), view.closures)
            for one in (purpose,) if purpose else purposes:
                action = rule.actions[0].iri
                request = Request(assignee="", action=action, targets=targets, purpose=one)
                yield Case(self, request, world or _UNKNOWN_WORLD, history), made

    def consent_shortfalls(
        self, consent: Clause, making: Clause, assets: tuple[str, ...]
    ) -> tuple[Shortfall, ...]:
        """Return in what a thing that a rule makes of assets falls short of what a consent asks."""
        key = consent.number, making.policy.uid, making.written_rule.output, assets
        if key not in self._shortfall_memo:
            self._shortfall_memo[key] = consent_shortfalls(
                consent, making, assets, self._transformations
            )
        return self._shortfall_memo[key]

    def release_end_reason(
        self, release: Upstream, world: World | None = None, history: History | None = None
    ) -> str:
        """Return why a release lets nobody read what is made from it, empty where it stands."""
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
        """Yield what tells whether an asset stands, for a request or all that it is made for."""
        for reading in (
            (self._translate_action(request),) if request else self._reading_requests(asset, world)
        ):
            yield lineage(Case(self, reading, world or _UNKNOWN_WORLD, history))

    def _reading_requests(self, asset: str, world: World | None) -> Iterator[Request]:
        """Yield requests of nobody for each purpose that an asset is made for.

        That is for the narrower ones too: what is prohibited for one of them stands for others.
        """
        view = self.view((world or _UNKNOWN_WORLD).memberships)
        rules = [made.clause for made in self.index.makers.get(asset, ())]
        purposes = (rule_purposes(one.rule, view.own_closures(one), view.closures) for one in rules)
        distinct = dict.fromkeys(chain.from_iterable(purposes))
        narrower_purposes = partial(view.closures.down, "purpose")
        narrower = (one for purpose in distinct if purpose for one in narrower_purposes(purpose))
        for one in dict.fromkeys((*distinct, *narrower)) or ("",):
            yield Request(assignee="", action=READ, targets=(asset,), purpose=one)

    def _translate_action(self, request: Request) -> Request:
        """Return a request with ODRL's name of its action, where MOSAICrOWN had another."""
        action = terms.action(request.action, self._own_actions)
        return (
            request if action == request.action else request.model_copy(update={"action": action})
        )

    def _translate_actions(self, hierarchy: Hierarchy) -> Hierarchy:
        """Return a hierarchy with ODRL's names of actions, as the policies have them."""
        edges = {
            part: tuple(
                (terms.action(one, self._own_actions), terms.action(other, self._own_actions))
                for one, other in getattr(hierarchy, part)
            )
            for part in ("action", "implied")
        }
        return replace(hierarchy, **edges)

    def view(self, memberships: Hierarchy) -> View:
        """Return the rules as they are by what is known of memberships besides the policies."""
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
        """Return an output that a policy speaks of, with the certificates that are valid for it.

        With a `digest`, of that very output.
        """
        key = policy.uid, asset, digest
        if key not in self._outputs:
            certificates = [one for one in self.certificates if digest in ("", one.output_digest)]
            attestations = [one for one in self.attestations if digest in ("", one.output_digest)]
            if policy.uid not in self._plans:
                self._plans[policy.uid] = output_plans(policy)
            plan = self._plans[policy.uid].get(asset)
            self._outputs[key] = Output.of(
                policy, asset, certificates, attestations, plan, self._attestation_refusal
            )
        return self._outputs[key]

    def _attestation_refusal(self, policy: Policy, attestation: Attestation) -> str:
        """Return why a person's word for an output does not count, empty where it does.

        Where it is said who owns what, that of who speaks for it, of who issued the rule that makes
        it, and of those whom that rule lets make it does.
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
        return f"What {attestation.by} attests of it does not count: that is for {names}."

    def valid_output(
        self,
        policy: Policy,
        asset: str,
        world: World | None = None,
        digest: str = "",
        history: History | None = None,
        request: Request | None = None,
    ) -> Output:
        """Return an output with those certificates alone that let somebody read it as things are.

        Each is judged by all that its own release was made from. With a `digest`, of that very
        output; with a `request`, as that is decided: what stands depends on the purpose.
        """
        output = self.output(policy, asset, digest)
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
            hint = f"`read_{name}` makes one of what a person writes."
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
