"""Who may read what, for which purpose, and why."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, cached_property, partial
from heapq import nsmallest
from itertools import chain, islice, product
from typing import Any, Literal

from policy_engine import terms
from policy_engine.certificate.attestation import Attestation
from policy_engine.certificate.certificate import Certificate
from policy_engine.decision.agreement import check_agreement
from policy_engine.decision.closures import Closures
from policy_engine.decision.consents import (
    Derived,
    Unowned,
    consented,
    inputs_to,
    short_of,
    without_counts,
)
from policy_engine.decision.ended import Void, void_by_proofs, void_of
from policy_engine.decision.explaining import derivation, misses, nothing_permits, prohibits_it
from policy_engine.decision.facts import RequestFacts, unclear_labels
from policy_engine.decision.history import History, MadeFrom
from policy_engine.decision.holding import (
    Asked,
    Held,
    covers,
    datasets_of,
    hold,
    is_about_rows,
    lacks,
    meets,
    outstanding,
    prohibits,
    reaches,
)
from policy_engine.decision.index import Clause, Index, Made
from policy_engine.decision.lineage import Lineage, inputs_of
from policy_engine.decision.members import Members
from policy_engine.decision.mixing import Mix, mixes, names
from policy_engine.decision.model import (
    Carried,
    Counted,
    Decision,
    Grant,
    Match,
    NearMiss,
    Owed,
    Request,
    RowAccess,
    World,
    in_full,
)
from policy_engine.decision.origins import Origins
from policy_engine.decision.outputs import Output, plans_of
from policy_engine.decision.ownership import Leave, Ownership, Use, nearness, no_consent
from policy_engine.decision.purposes import may_be_for, purposes_of
from policy_engine.decision.timing import is_over
from policy_engine.decision.views import View
from policy_engine.errors import ArgumentError, RequestError, listed
from policy_engine.plan.consenting import Shortfall
from policy_engine.plan.lineage import Consented, Upstream
from policy_engine.plan.plan import Plan
from policy_engine.policy import Hierarchy, InForce, Policy, Rule
from policy_engine.policy.model import ANONYMIZE, DERIVED, GRANT_USE, OFFER, READ
from policy_engine.policy.owners import Claims, Owners
from policy_engine.policy.wording import rule_name

_VIEWS = 8
_NEAR = 16
_TOLD = 3
_MOST_ASIDE = 16
_NOTHING_KNOWN = World()


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
            message = f"Two policies have one uid. Given: {listed(uids)}."
            raise RequestError.of("D002", message, "Leave out the one that no longer holds.")
        self.policies = tuple(policies)
        self.certificates = tuple(one for one in certificates if isinstance(one, Certificate))
        self.attestations = tuple(one for one in certificates if isinstance(one, Attestation))
        self.digests = tuple(policy.digest for policy in policies)
        self.unclear = unclear_labels(policies)
        self._own = {iri for policy in policies for iri in policy.vocabulary.actions}
        stated = Hierarchy(asset=tuple((owners or Owners()).edges))
        given = self._by_action(in_full(hierarchy or Hierarchy())).joined([stated])
        known = policies if isinstance(policies, InForce) else InForce(policies)
        self.index = Index(known, given, apart=bool(owners))
        self.owners = self._owners((owners or Owners()).known_by(known), data)
        self._bare = View(self.index, Hierarchy(), self.owners)
        self._views: dict[Hierarchy, View] = {}
        self._outputs: dict[tuple[str, str, str], Output] = {}
        self._short: dict[tuple[int, str, str, tuple[str, ...]], tuple[Shortfall, ...]] = {}
        self._plans: dict[str, Mapping[str, Plan]] = {}
        self._derived = Derived()
        self.notes, made = known.notes, {one.asset for one in self.index.outputs}
        self.past, every = known.ended, (*known, *known.ended)
        void = (*void_of(known.ended), *void_by_proofs(certificates, every))
        self.void = tuple(one for one in dict.fromkeys(void) if one.asset not in made)

    def _owners(self, known: Owners, data: Collection[str]) -> Owners:
        """Return who owns what, with what the policies make, once that is known to be theirs."""
        edges = self.index.trusted.hierarchy.asset
        claims = Claims(self.policies, self.index.void)
        claims.check(known, edges, data)
        return claims.owned(known, edges) if known else known

    def ended(self, view: View) -> Iterator[Void]:
        """Yield the outputs of policies that are not in force."""
        yield from self.void
        if view.void:
            yield from void_of(one for one in self.policies if one.uid in view.void)

    def decide(
        self,
        request: Request,
        world: World | None = None,
        history: History | None = None,
        carried: Carried | None = None,
    ) -> Decision:
        """Return the answer to a request in a state of the world.

        Without a time of the world, the clock's is taken, and the decision says so. With a
        `history`, it says how often rules were exercised; `DecisionLog.decide` answers by that of
        a log, and adds to it in one go. Of a request to make something, `carried` says by which
        rule that is done. Raises ArgumentError (U002) for what is no Request or no World, and
        RequestError (D005) where the world says of counts what the history does not.
        """
        _check(request, world)
        self._check_agreement(world, history)
        asked = self._asked(request)
        return _Case(self, asked, world or _NOTHING_KNOWN, history, carried=carried).decide()

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
        rows = frozenset(datasets) or datasets_of(request.targets)
        asked, given = self._asked(request), world or _NOTHING_KNOWN
        return _Case(self, asked, given, history, rows=rows, together=together).row_access()

    def _check_agreement(self, world: World | None, history: History | None) -> None:
        if world is not None and history is not None:
            check_agreement(world, history, self.policies)

    def unowned(
        self,
        policy: Policy,
        world: World | None = None,
        history: History | None = None,
        purpose: str = "",
        *,
        with_prohibitions: bool = True,
    ) -> Iterator[Unowned]:
        """Yield the rules of a policy that make something of what is not theirs, each with why.

        None where all policies are one owner's. Without a `purpose` things are made for those that
        the rules have.
        """
        for case, made in self._makings(policy, world, history, purpose):
            fails = case.leave_fails(made.clause, was_done=False)
            if not fails and with_prohibitions:
                fails = case.making_fails(made.clause, was_done=False)
            if fails:
                near = [leave for _, leave in case.consents_to(made.clause) if leave.short]
                told = near or [Leave()]
                for one in told:
                    source = one.clause.policy.source if one.clause else ""
                    yield Unowned(made.clause.rule, fails, one.short, one.rule, source)

    def consented(
        self,
        policy: Policy,
        output: str,
        world: World | None = None,
        history: History | None = None,
        purpose: str = "",
    ) -> tuple[Consented, ...]:
        """Return the rules by which owners let a policy make an output of what is theirs."""
        found = (
            consented(asset, leave.clause, self._derived)
            for case, made in self._makings(policy, world, history, purpose)
            if made.asset == output
            for asset, leave in case.consents_to(made.clause)
            if leave.is_given and leave.clause
        )
        return tuple(dict.fromkeys(found))

    def _makings(
        self, policy: Policy, world: World | None, history: History | None, purpose: str
    ) -> "Iterator[tuple[_Case, Made]]":
        """Yield what a policy makes, each with the case of making it for a purpose."""
        for made in self.index.outputs:
            rule, targets = made.clause.rule, tuple(sorted(made.clause.targets))
            if made.policy.uid != policy.uid or not targets:
                continue
            known = self.view((world or _NOTHING_KNOWN).memberships)
            every = purposes_of(rule, known.own(made.clause), known.closures)
            for one in (purpose,) if purpose else every:
                action = rule.actions[0].iri
                asked = Request(assignee="", action=action, targets=targets, purpose=one)
                yield _Case(self, asked, world or _NOTHING_KNOWN, history), made

    def short_of(
        self, consent: Clause, making: Clause, assets: tuple[str, ...]
    ) -> tuple[Shortfall, ...]:
        """Return in what a thing that a rule makes of assets falls short of what a consent asks."""
        key = consent.number, making.policy.uid, making.whole.output, assets
        if key not in self._short:
            self._short[key] = short_of(consent, making, assets, self._derived)
        return self._short[key]

    def ended_by(
        self, release: Upstream, world: World | None = None, history: History | None = None
    ) -> str:
        """Return why a release lets nobody read what is made from it, empty where it stands."""
        first = ""
        for one in self._lineages(release.asset, world, history):
            why = one.ended(release)
            if not why:
                return ""
            first = first or why
        return first

    def _lineages(
        self,
        asset: str,
        world: World | None,
        history: History | None,
        request: Request | None = None,
    ) -> Iterator[Lineage]:
        """Yield what tells whether an asset stands, for a request or all that it is made for."""
        for asked in (self._asked(request),) if request else self._made_for(asset, world):
            yield _Case(self, asked, world or _NOTHING_KNOWN, history).lineage()

    def _made_for(self, asset: str, world: World | None) -> Iterator[Request]:
        """Yield requests of nobody for each purpose that an asset is made for.

        That is for the narrower ones too: what is prohibited for one of them stands for others.
        """
        known = self.view((world or _NOTHING_KNOWN).memberships)
        rules = [made.clause for made in self.index.makers.get(asset, ())]
        every = (purposes_of(one.rule, known.own(one), known.closures) for one in rules)
        named = dict.fromkeys(chain.from_iterable(every))
        down = partial(known.closures.down, "purpose")
        narrower = (one for purpose in named if purpose for one in down(purpose))
        for one in dict.fromkeys((*named, *narrower)) or ("",):
            yield Request(assignee="", action=READ, targets=(asset,), purpose=one)

    def _asked(self, request: Request) -> Request:
        """Return a request with ODRL's name of its action, where MOSAICrOWN had another."""
        action = terms.action(request.action, self._own)
        return (
            request if action == request.action else request.model_copy(update={"action": action})
        )

    def _by_action(self, hierarchy: Hierarchy) -> Hierarchy:
        """Return a hierarchy with ODRL's names of actions, as the policies have them."""
        edges = {
            part: tuple(
                (terms.action(one, self._own), terms.action(other, self._own))
                for one, other in getattr(hierarchy, part)
            )
            for part in ("action", "implied")
        }
        return replace(hierarchy, **edges)

    def view(self, memberships: Hierarchy) -> View:
        """Return the rules as they are by what is known of memberships besides the policies."""
        if memberships == self._bare.more:
            return self._bare
        found = self._views.get(memberships)
        if found is None:
            if len(self._views) >= _VIEWS:
                del self._views[next(iter(self._views))]
            found = self._views[memberships] = View(
                self.index, self._by_action(memberships), self.owners
            )
        return found

    def output(self, policy: Policy, asset: str, digest: str = "") -> Output:
        """Return an output that a policy speaks of, with the certificates that are valid for it.

        With a `digest`, of that very output.
        """
        key = policy.uid, asset, digest
        if key not in self._outputs:
            known = [one for one in self.certificates if digest in ("", one.output_digest)]
            words = [one for one in self.attestations if digest in ("", one.output_digest)]
            if policy.uid not in self._plans:
                self._plans[policy.uid] = plans_of(policy)
            plan = self._plans[policy.uid].get(asset)
            self._outputs[key] = Output.of(policy, asset, known, words, plan, self._unheeded)
        return self._outputs[key]

    def _unheeded(self, policy: Policy, word: Attestation) -> str:
        """Return why a person's word for an output does not count, empty where it does.

        Where it is said who owns what, that of who speaks for it, of who issued the rule that makes
        it, and of those whom that rule lets make it does.
        """
        if self._bare.standing is None:
            return ""
        whose = self._bare.standing.of(word.asset)
        heard = {*whose.owners, *whose.delegates}
        for rule in policy.permissions:
            if rule.output == word.asset:
                heard |= {*rule.issued_by, *(party.iri for party in rule.assignees)}
        known = Closures(self.index.trusted.hierarchy.joined([policy.hierarchy]))
        if not heard.isdisjoint(known.up("party", word.by)):
            return ""
        return f"What {word.by} attests of it does not count: that is for {listed(sorted(heard))}."

    def standing(
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
            found = one.standing(output)
            if not found.fallen:
                return found
            first = first or found
        return first or output


def _check(request: object, world: object) -> None:
    if isinstance(request, Request) and (world is None or isinstance(world, World)):
        return
    for name, given, kind in (("request", request, Request), ("world", world, World)):
        if not isinstance(given, kind) and (name == "request" or given is not None):
            message = f"{name} is of the wrong type. Given: {type(given).__name__}."
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


class _Case:
    """One request, and the policies it is held against."""

    def __init__(
        self,
        decider: Decider,
        request: Request,
        world: World,
        history: History | None = None,
        *,
        rows: frozenset[str] = frozenset(),
        above: frozenset[str] = frozenset(),
        together: tuple[str, ...] = (),
        is_delegation: bool = False,
        maker: frozenset[str] | None = None,
        carried: Carried | None = None,
        reader: "_Case | None" = None,
    ) -> None:
        self.decider = decider
        self.request = request
        self.world = world
        self.history = history
        self.maker = maker
        self.carried = carried
        self.reader = reader
        self.rows = bool(rows)
        self.above = above
        self.view = decider.view(world.memberships)
        self.time = world.time or datetime.now(UTC)
        closures = self.view.closures
        self.facts = RequestFacts(request, world, self.time, closures, history)
        self.facts.unclear = decider.unclear
        self.facts.rows = rows
        self.facts.together = together or request.targets
        self.facts.is_derived = maker is not None
        self.members = Members(
            world.of,
            lambda: (*request.targets, *chain(*world.memberships.asset)),
            lambda: decider.index.assets,
        )
        self.asked = Asked(request, closures, self.members)
        self._asked = {id(decider.index.closures): self.asked}
        self.ownership = self._ownership(is_delegation=is_delegation)
        self.is_deciding = False
        self.unheard: dict[int, str] = {}
        self.matches: list[Match] = []
        self.permits: list[Held] = []
        self.refused: list[Held] = []
        self.prohibited: list[Held] = []
        self.counting: list[Clause] = []
        self.outputs: Sequence[Output] = ()
        self.met = request.targets[0]

    def _ownership(self, *, is_delegation: bool) -> Ownership | None:
        """Return whose rules count, None where all policies are one owner's."""
        standing = self.view.standing
        if standing is None:
            return None
        # What is read through its inputs is permitted by its own owner as well.
        asked = _no_delegate if is_delegation else self._lets
        made = no_consent if is_delegation else self._consents
        maker = self.request.assignee if self.facts.making else None
        above, beside = sorted(self.above), self.facts.together
        trusted, apart = self.view.trusted, is_delegation
        return Ownership(standing, trusted, asked, made, above, maker, beside, part_by_part=apart)

    def _consents(self, making: Clause, party: str, asset: str, was_done: bool) -> Leave:
        """Tell whether the owner of an asset lets a party make of it what a rule makes, or made."""
        asked = {"assignee": party, "action": ANONYMIZE, "targets": (asset,)}
        request = self.request.model_copy(update=asked)
        # A leave for one table alone is none for a join of it with others.
        together = tuple(dict.fromkeys((asset, *inputs_to(making))))
        history = self.facts.history
        case = _Case(
            self.decider, request, self.world, history, is_delegation=True, together=together
        )
        case.facts.was_done = was_done
        return case.consent(making)

    def consent(self, making: Clause) -> Leave:
        """Tell whether an owner's own permission to anonymise lets a rule be carried out.

        How often that was exercised counts where it is about to be, and not for what was made.
        """
        near = Leave()
        for clause in self.view.permissions(self.asked):
            if not self._lets_make(clause):
                continue
            for held in self._held(without_counts(clause) if self.facts.was_done else clause):
                lacking, made_of = self._lacks(held), self._made_with(making)
                short = () if lacking else self.decider.short_of(clause, making, made_of)
                is_given = not lacking and not short
                found = Leave(is_given, clause=clause, short=short, lacks=lacking)
                near = max(near, found, key=nearness)
        return near if near.clause else self._for_another_purpose()

    def _lacks(self, held: Held) -> str:
        """Return what keeps a permission from giving leave, empty where nothing does."""
        denying = None if held.missing else self._prohibitions()
        return f"{denying.clause.name} prohibits it" if denying else " and ".join(held.missing)

    def _for_another_purpose(self) -> Leave:
        """Return the leave that there would be for another purpose."""
        for clause in self.view.nearly(self.asked, _NEAR):
            own = self._asked_of(clause)
            is_other = lacks(clause, own) == 1 and clause.purposes.isdisjoint(own.purpose)
            if is_other and clause.purposes and self._lets_make(clause):
                return Leave(clause=clause, lacks=self._lacks(hold(clause, own, self.facts)))
        return Leave()

    def _lets_make(self, clause: Clause) -> bool:
        is_one = ANONYMIZE in clause.actions and not clause.whole.output
        return is_one and clause.policy.type != OFFER and self._is_of_owner(clause)

    def _made_with(self, making: Clause) -> tuple[str, ...]:
        """Return the inputs of a rule that what is asked for is, or is a part of."""
        [asset], inputs = self.request.targets, inputs_to(making)
        standing = self.view.standing
        if asset in inputs or standing is None:
            return (asset,)
        return tuple(one for one in inputs if asset in standing.within(one)) or inputs

    def _is_of_owner(self, clause: Clause) -> bool:
        return bool(self.ownership and self.ownership.owns(clause, self.request.targets[0]))

    def consents_to(self, clause: Clause) -> Iterator[tuple[str, Leave]]:
        """Yield the assets that a rule makes something of and does not speak for, with the leave
        that their owners give, or would."""
        return self.ownership.consents_to(clause) if self.ownership else iter(())

    def _lets(self, party: str, asset: str, was_done: bool, use: Use) -> Leave:
        """Tell whether the owner of an asset lets a party grant its use, and make of it what it
        is used for.

        What was done by a leave is a making: what was made of it stands as long as the leave does.
        """
        asked = {"assignee": party, "action": GRANT_USE, "targets": (asset,)}
        request = self.request.model_copy(update=asked)
        together = tuple(dict.fromkeys((asset, *use.beside)))
        history = self.facts.history
        case = _Case(
            self.decider, request, self.world, history, is_delegation=True, together=together
        )
        case.facts.was_done, case.facts.making = was_done, was_done or self.facts.making
        leave = case.leave()
        is_kept = leave.is_given and any(map(case.is_prohibited, sorted(use.making)))
        return replace(leave, is_given=False) if is_kept else leave

    def is_prohibited(self, action: str) -> bool:
        """Tell whether it is prohibited to do something else with what is asked for."""
        request = self.request.model_copy(update={"action": action})
        case = _Case(
            self.decider,
            request,
            self.world,
            self.history,
            is_delegation=True,
            together=self.facts.together,
        )
        case.facts.was_done = self.facts.was_done
        return case._prohibitions() is not None

    def leave(self) -> Leave:
        """Tell whether an owner's own permission names the granting of use, as requested here."""
        held = [
            one
            for clause in self.view.permissions(self.asked)
            if GRANT_USE in clause.actions and clause.policy.type != OFFER
            if self._is_of_owner(clause)
            for one in self._held(clause)
        ]
        may_be = any(all(v.state != "unsatisfied" for v in one.verdicts) for one in held)
        given = next((one.clause for one in held if not one.missing), None)
        is_given = given is not None and self._prohibitions() is None
        return Leave(is_given, may_be, given, counting=tuple(self.counting))

    def decide(self, *, through_inputs: bool = True) -> Decision:
        self.is_deciding = True
        made = self._made()
        lineage = self.lineage()
        made_here = (self.decider.output(one.policy, one.asset) for one in made)
        outputs = self.outputs = [*map(lineage.standing, made_here)]
        self.facts.certified = {id(duty) for output in outputs for duty in output.fulfilled()}
        self._permissions([output.asset for output in outputs])
        denied = self._prohibited(made, outputs) or self._unfit(made, outputs)
        if denied is not None:
            return denied
        if self.permits:
            # Rows may be had by each of several rules, unless one grants them all.
            whole = [held for held in self.permits if not self._is_of_rows(held)]
            return self._permit((whole or self.permits)[:1], outputs)
        through = self._through_inputs(outputs) if through_inputs else None
        return through or self._nothing_permits()

    def _prohibited(self, made: Sequence[Made], outputs: Sequence[Output]) -> Decision | None:
        """Return the denial by a prohibition, of the request or of what that was made from."""
        denying = self._prohibitions()
        if denying is None:
            return self._inherited(made, outputs)
        reason = prohibits_it(denying, self.facts)
        strategy: Literal["", "prohibit"] = "prohibit" if self.permits else ""
        return self._deny(reason, denying, strategy=strategy)

    def _unfit(self, made: Sequence[Made], outputs: Sequence[Output]) -> Decision | None:
        """Return the denial of outputs that nobody may read as they are, None where all are fit."""
        why = ((one, self.making_fails(one.clause)) for one in made)
        for one, fails in chain(why, self._carried_out()):
            if fails:
                reason = f"{one.asset} is not to be made by {one.policy.uid}: {fails}."
                return self._deny(reason, policy=one.policy.uid)
        on_the_way = self.carried.on_the_way if self.carried else ()
        for output in (one for one in outputs if one.asset not in on_the_way):
            if output.uncertified:
                return self._deny(output.uncertified, policy=output.policy.uid)
            unknown = [target for target in self.request.targets if not output.has(target)]
            if unknown:
                return self._deny(f"{output.asset} has no such column: {' or '.join(unknown)}.")
        return self._void()

    def _carried_out(self) -> Iterator[tuple[Made, str]]:
        """Yield what the rule makes that is carried out, with by what that is prohibited to those
        who issued the rule."""
        if self.carried is None or self.ownership is None:
            return
        for one in self.decider.index.outputs:
            if (one.policy.uid, one.clause.label) == (self.carried.policy, self.carried.rule):
                yield one, self._making_prohibited(one.clause, was_done=False)

    def _made(self) -> list[Made]:
        """Return the outputs that the request touches."""
        found = (self.decider.index.outputs[n] for n in self.view.touched(self.asked))
        made = [one for one in found if self._concerns(one.clause, self.request.targets)]
        return [one for one in made if self._is_read(one)] if self.facts.making else made

    def _is_read(self, made: Made) -> bool:
        """Tell whether an output is read by who makes something of the targets.

        A target that holds it alone, as what it is made of, has nothing of it yet.
        """
        known, asset = self.view.closures, made.asset
        for target in self.request.targets:
            is_above = target in known.reach("asset", asset)
            is_in = asset in known.reach("asset", target)
            if is_in or (is_above and target not in made.clause.targets):
                return True
        return False

    def lineage(self) -> Lineage:
        """Return what tells whether all that an output was made from stands as things are."""
        output = self.decider.output
        return Lineage(self.view, output, self._made_of, self._over, self._void_in)

    def _made_of(self, asset: str) -> list[Made]:
        """Return the outputs that an asset is, belongs to or holds."""
        return [one for one in self.view.made(asset) if self._concerns(one.clause, (asset,))]

    def _over(self, made: Sequence[Made]) -> str:
        """Return why what rules made is not made any more: by their times, or by an owner."""
        late = [is_over(one.clause.rule, self.facts) for one in made]
        owned = (self.making_fails(one.clause) for one in made)
        return late[0] if all(late) else next(filter(None, owned), "")

    def _inherited(self, made: Sequence[Made], outputs: Sequence[Output]) -> Decision | None:
        """Return the denial by a prohibition of what the outputs that are asked for were made from.

        The maker's own prohibitions of the input do not reach what he makes of it; where nobody
        is said to own anything, all are the maker's.
        """
        found_of = [
            (one, inputs_of(output, one, self.request.targets))
            for one, output in zip(made, outputs, strict=True)
            if self.ownership and one.asset not in self.above
        ]
        read = chain(self.facts.together, *(inputs for _, inputs in found_of))
        together = tuple(dict.fromkeys(read))
        for one, inputs in found_of:
            case = _Case(
                self.decider,
                self.request.model_copy(update={"targets": inputs}),
                self.world,
                self.history,
                above=self.above | {one.asset},
                together=together,
                maker=one.clause.assigners,
                reader=self.reader,
            )
            case.facts.was_done = self.facts.was_done
            found = case.inherited()
            if found is not None:
                way = f"{one.asset} was made from {case.input_of(one.clause)}"
                prohibited, _, more = found.reason.partition(". ")
                reason = f"{prohibited.removesuffix('.')}: {way}. {more}".rstrip()
                self.met = self._part_of(one)
                changes = {"request": self.request, "reason": reason}
                return found.model_copy(update={**changes, "derivation": (*found.derivation, way)})
        return None

    def inherited(self) -> Decision | None:
        """Return the denial of what was made from the targets, None where nothing prohibits it."""
        denying = self._prohibitions()
        if denying is not None:
            self.met = self._met(denying.clause)
            return self._deny(prohibits_it(denying, self.facts), denying)
        made = self._made()
        return self._inherited(made, [self.decider.output(one.policy, one.asset) for one in made])

    def _met(self, clause: Clause) -> str:
        """Return the target that a prohibition is about, and its assigner may prohibit."""
        targets, known = self.request.targets, self.view.closures
        for target in targets:
            is_met = any(known.overlaps("asset", target, one) for one in clause.targets)
            owned = self.ownership if is_met or not clause.targets else None
            if owned and not owned.prohibition_fails(clause, (target,), known):
                return target
        return targets[0]

    def _part_of(self, made: Made) -> str:
        """Return the target that something that was made is, or that has to do with it."""
        overlaps = self.view.closures.overlaps
        near = (one for one in self.request.targets if overlaps("asset", one, made.asset))
        return next(near, self.request.targets[0])

    def input_of(self, made: Clause) -> str:
        """Return the input of what a rule made that its denial is about."""
        known = self.view.closures.up("asset", self.met)
        inputs = inputs_to(made)
        return next((one for one in inputs if one in known), self.met)

    def making_fails(self, clause: Clause, *, was_done: bool = True) -> str:
        """Return why a rule may not make its output of its targets, empty where it may.

        That is asked of what it made (`was_done`), or of making it once more.
        """
        if self.ownership is None:
            return ""
        fails = self.leave_fails(clause, was_done=was_done)
        return fails or self._making_prohibited(clause, was_done=was_done)

    def leave_fails(self, clause: Clause, *, was_done: bool) -> str:
        """Return why owners do not let a rule make its output, whatever else they prohibit."""
        owned = self.ownership
        return owned.making_fails(clause, clause.targets, was_done=was_done) if owned else ""

    def _making_prohibited(self, clause: Clause, *, was_done: bool) -> str:
        """Return by what it is prohibited to those who issued a rule to do what it does.

        Of its targets, or of what these were made from: who prohibits training on a table has not
        let anybody train on what another made of it. Of what was made, asked by whoever reads it,
        for the purposes among the rule's that are theirs: what is prohibited to them as well is
        judged by what they read (`_inherited`).
        """
        targets = tuple(sorted(clause.targets))
        making = [one.iri for one in clause.whole.actions]
        for action, party in product(making if targets else (), sorted(clause.assigners)):
            asked = {"assignee": party, "action": action, "targets": targets}
            found = ""
            for purpose in self._purposes_of(clause):
                request = self.request.model_copy(update={**asked, "purpose": purpose})
                found = self._doing_prohibited(clause, request, was_done=was_done)
                if not found:
                    break
            if found:
                return found
        return ""

    def _purposes_of(self, making: Clause) -> Sequence[str]:
        """Return the purpose that is asked for, where something is made for it, or else all.

        A purpose is the rule's, or that of its constraints.
        """
        own, known, asked = self.view.own(making), self.view.closures, self.request.purpose
        every = purposes_of(making.rule, own, known)
        up = self._asked_of(making).purpose
        is_open = not making.purposes or not making.purposes.isdisjoint(up)
        is_for_it = is_open and may_be_for(making.rule, asked, own, known)
        return [asked] if is_for_it and (asked or every == ("",)) else every

    def _doing_prohibited(self, making: Clause, request: Request, *, was_done: bool) -> str:
        """Return by what it is prohibited to make something as a request says, or was."""
        case = _Case(
            self.decider,
            request,
            self.world,
            self.history,
            above=frozenset((making.whole.output,)),
            maker=making.assigners,
            reader=self if was_done else None,
        )
        # What is said of what is derived alone is no matter for the targets themselves.
        case.facts.was_done, case.facts.is_derived = was_done, False
        found = case.inherited()
        return found.reason.partition(". ")[0].removesuffix(".") if found else ""

    def _void(self) -> Decision | None:
        """Deny what was made under a policy that is not in force."""
        for one in chain.from_iterable(map(self._void_in, self.request.targets)):
            reason = f"{one.asset} was made under {one.policy}, which is not in force"
            if self.ownership is not None and not one.issuers:
                reason += ", and of which nobody knows who issued it"
            return self._deny(f"{reason}: nobody may read it.", policy=one.policy)
        return None

    def _void_in(self, target: str) -> Iterator[Void]:
        """Yield what policies not in force made that a target has to do with, for all that owners
        say."""
        overlaps, ownership = self.view.closures.overlaps, self.ownership
        for one in self.decider.ended(self.view):
            if overlaps("asset", target, one.asset) and (
                ownership is None or ownership.takes_in(one.asset, one.issuers, target)
            ):
                yield one

    def row_access(self) -> RowAccess:
        decision = self.decide()
        permits = self.permits if decision.permitted else []
        grants = [_grant(held.clause) for held in permits]
        if decision.permitted and not grants:
            grants = [Grant(decision.policy, "prohibit", Rule("permission"))]
        prohibitions = tuple(
            _grant(held.clause, yields=self._yields(held)) for held in self.prohibited
        )

        def decided(by: Collection[Grant]) -> Decision:
            rules = {id(one.rule) for one in by}
            used = [held for held in permits if id(held.clause.rule) in rules]
            return self._permit(used, self.outputs) if used else decision

        return RowAccess(decision, tuple(grants), prohibitions, self.facts.zone, decided)

    # -- rules --------------------------------------------------------------------------------

    def _asked_of(self, clause: Clause) -> Asked:
        key = id(clause.closures)
        found = self._asked.get(key)
        if found is None:
            own = self.view.own(clause)
            found = self._asked[key] = Asked(self.request, own, self.members)
        return found

    def _concerns(self, clause: Clause, targets: Sequence[str]) -> bool:
        """Tell whether what a rule makes has to do with a target, for all that others say."""
        return self.ownership is None or any(self.ownership.concerns(clause, t) for t in targets)

    def _permissions(self, outputs: Sequence[str]) -> None:
        """Find the permissions that cover the request, and those that lack but conditions."""
        mixed = mixes(self.request.targets, outputs, self.view)
        for clause in self.view.permissions(self.asked):
            for one in self._held(clause):
                held = self._unmixed(one, mixed)
                (self.refused if held.missing else self.permits).append(held)
                self._note(held, applies=not held.missing)

    def _held(self, clause: Clause) -> Iterator[Held]:
        """Yield what comes of a permission that covers the request."""
        own = self._asked_of(clause)
        if covers(clause, own):
            self._look_behind(clause, own.request.targets)
            unheard = self._unheard(clause)
            if unheard:
                self.unheard[clause.number] = f"{clause.name} does not count: {unheard}"
            yield hold(clause, own, self.facts, rows=self.rows, unheard=unheard)

    def _unheard(self, clause: Clause) -> str:
        """Return why a permission does not count for what is asked for; empty where it does."""
        why = ""
        if self.ownership is not None:
            own = self.view.own(clause)
            why = self.ownership.permission_fails(clause, self.request.targets, own)
            if not why and self.is_deciding and self.facts.making and clause.whole.output:
                why = self._making_prohibited(clause, was_done=False)
        return why or (self._in_another_way(clause, self.carried) if self.carried else "")

    def _in_another_way(self, clause: Clause, carried: Carried) -> str:
        """Return that a permission says how something is made, and another rule is carried out."""
        covering = clause.actions.intersection(self._asked_of(clause).action)
        is_it = (clause.policy.uid, clause.label) == (carried.policy, carried.rule)
        if is_it or not covering or not covering <= clause.makes_by:
            return ""
        name = rule_name(carried.rule, carried.policy)
        action = terms.compact(self.request.action)
        return f"it permits its own {action} alone, not that of {name}"

    def _unmixed(self, held: Held, mixed: Sequence[Mix]) -> Held:
        """Return a permission that says what it lacks: to name what is mixed."""
        own, targets = self._asked_of(held.clause).closures, self.request.targets
        lacking = [one for one in mixed if not names(held.clause.rule, one, targets, own)]
        if not lacking:
            return held
        missing = tuple(f"{one}, and it does not name both in pe:jointly" for one in lacking)
        return replace(held, missing=(*held.missing, *missing))

    def _prohibitions(self) -> Held | None:
        """Return the first prohibition that denies the request; `prohibited` are all that apply.

        Of single rows, those that may be filtered by deny nothing yet.
        """
        needed = self.view.closures.needs(self.request.action)
        denying = None
        for clause in self.view.prohibitions(self.asked):
            self._look_behind(clause)
            held = prohibits(clause, self.asked, self.view.own(clause), self.facts, needed)
            if clause.is_counted and (held or meets(clause, self.asked, needed)):
                self.counting.append(clause)
            if held is None or self._is_unheard(clause) or self._reaches_reader(clause):
                continue
            self.prohibited.append(held)
            self._note(held, applies=True)
            wins = self._is_lifted(held)
            if denying is None and not wins and not (self.rows and self._is_of_rows(held)):
                denying = held
        return denying

    def _look_behind(self, clause: Clause, aside: Collection[str] = ()) -> None:
        """Let what is read together be what it was made from, too, as far as a rule reaches.

        Not what is `aside`: a permission names that itself, and is for no more than it names.
        """
        if self.ownership is None:
            return
        facts, is_prohibition = self.facts, clause.rule.kind == "prohibition"
        facts.sources = partial(self._sources, clause) if is_prohibition else _nothing_behind
        made_of = cache(lambda asset: tuple(self._sources(clause, (asset,), {})))
        facts.made_of = lambda asset: () if asset in aside else made_of(asset)

    def _sources(
        self, clause: Clause, assets: Iterable[str], known: Mapping[str, Sequence[MadeFrom]]
    ) -> Iterator[str]:
        """Yield what assets were made from, near and far, as far as a prohibition reaches them.

        What is `known` of it by asset, when they were read, counts as what is known now does.
        """
        leaves = (leaf for one in clause.rule.constraints for leaf in one.constraints())
        if any(leaf.left_operand == DERIVED for leaf in leaves):
            return
        for one in self._origins.trace(assets, known, clause.assigners):
            yield from one.sources

    @cached_property
    def _origins(self) -> Origins:
        return Origins(self.view, self.decider.output, self.decider.certificates, self.decider.past)

    def _made_from(self) -> tuple[MadeFrom, ...]:
        return () if self.facts.making else tuple(self._origins.trace(self.request.targets))

    def _is_unheard(self, clause: Clause) -> bool:
        """Tell whether a prohibition does not count for what is asked for, and note why."""
        if self.maker is not None and clause.assigners <= self.maker:
            return True
        targets, known = self.request.targets, self.view.closures
        fails = self.ownership and self.ownership.prohibition_fails(clause, targets, known)
        if fails:
            self.unheard[clause.number] = f"{clause.name} does not count: {fails}"
        return bool(fails)

    def _reaches_reader(self, clause: Clause) -> bool:
        """Tell whether a prohibition applies to those who read what was made as well."""
        if self.reader is None:
            return False
        asked = self.reader.request
        needed = self.view.closures.needs(asked.action)
        if not reaches(clause, self.reader.asked, needed):
            return False
        parts = {"assignee": asked.assignee, "action": asked.action, "purpose": asked.purpose}
        case = _Case(
            self.decider,
            self.request.model_copy(update=parts),
            self.world,
            self.history,
            together=self.reader.facts.together,
            maker=self.maker or frozenset(),
        )
        case._look_behind(clause)
        held = prohibits(clause, case.asked, self.view.own(clause), case.facts, needed)
        return held is not None and not case._is_lifted(held)

    def _is_lifted(self, held: Held) -> bool:
        """Tell whether a prohibition yields to a permission of its policy that there is."""
        return self._yields(held) and bool(self._permitting(held.clause))

    def _permitting(self, clause: Clause) -> Sequence[Held]:
        """Return the permissions of a prohibition's policy to do what is asked for.

        Where nothing is decided, that is of the targets that the prohibition is about.
        """
        if self.is_deciding:
            return [one for one in self.permits if one.clause.policy.uid == clause.policy.uid]
        overlaps = self.view.closures.overlaps
        met = tuple(
            target
            for target in self.request.targets
            if not clause.targets or any(overlaps("asset", target, one) for one in clause.targets)
        )
        case = _Case(
            self.decider,
            self.request.model_copy(update={"targets": met}),
            self.world,
            self.history,
            is_delegation=True,
            together=self.facts.together,
        )
        case.facts.was_done, case.facts.making = self.facts.was_done, self.facts.making
        near = self.view.permissions(case.asked)
        theirs = [one for one in near if one.policy.uid == clause.policy.uid]
        given = [without_counts(one) if self.facts.was_done else one for one in theirs]
        held = (one for rule in given if not rule.whole.output for one in case._held(rule))
        return [one for one in held if not one.missing]

    def _yields(self, held: Held) -> bool:
        """Tell whether a prohibition yields to its policy's permissions; by rows, others may hold.

        Of several owners who issue one policy, none lifts another's prohibition.
        """
        clause = held.clause
        return clause.policy.conflict == "perm" and (
            self.ownership is None
            or all(clause.assigners <= one.clause.assigners for one in self._permitting(clause))
        )

    def _is_of_rows(self, held: Held) -> bool:
        return any(
            verdict.state == "unknown" and is_about_rows(verdict.condition, self.facts.rows)
            for verdict in held.verdicts
        )

    def _note(self, held: Held, *, applies: bool) -> None:
        clause = held.clause
        match = Match.model_construct(
            policy=clause.policy.uid,
            rule=clause.label,
            kind=clause.rule.kind,
            applies=applies,
            steps=held.steps,
            conditions=held.verdicts,
        )
        self.matches.append(match)

    def _through_inputs(self, outputs: Sequence[Output]) -> Decision | None:
        """Permit reading an output to whoever may read all of its inputs for the purpose."""
        if len(outputs) != 1 or outputs[0].asset in self.above:
            return None
        [output] = outputs
        if self.request.action not in output.policy.vocabulary.reading:
            return None
        if output.plan is None or not all(map(output.covers, self.request.targets)):
            return None
        datasets, above = output.plan.assets, self.above | {output.asset}
        for targets in output.inputs():
            inputs = self.request.model_copy(update={"targets": targets})
            case = _Case(self.decider, inputs, self.world, self.facts.history, above=above)
            # Only a dataset may in turn be an output; its columns are asked for as they are.
            decision = case.decide(through_inputs=targets == datasets)
            if decision.permitted:
                step = f"who may read all of {' and '.join(datasets)} may read {output.asset}"
                lines = (*decision.derivation, step, *output.certified(), *self._aside())
                name = rule_name(decision.rule, decision.policy)
                reason = f"{name} permits reading the inputs, and so the output."
                changes = {"request": self.request, "reason": reason, "derivation": lines}
                changes["counted"] = (*(decision.counted or ()), *self._counted())
                changes["made_from"] = self._made_from()
                return decision.model_copy(update=changes)
        return None

    # -- answers ------------------------------------------------------------------------------

    def _permit(self, permits: Sequence[Held], outputs: Sequence[Output]) -> Decision:
        """Return the decision by some permissions, of which the first is named."""
        held, clauses = permits[0], [one.clause for one in permits]
        certified = tuple(line for output in outputs for line in output.certified())
        clause = held.clause
        return self._decision(
            effect="permit",
            reason=f"{clause.name} permits it.",
            policy=clause.policy.uid,
            rule=clause.label,
            derivation=(*derivation(held), *self._by_leave(clause), *certified),
            strategy="perm" if any(map(self._yields, self.prohibited)) else "",
            duties=tuple(dict.fromkeys(chain(*map(self._obligations, self._obliging(clauses))))),
            counted=(*self._counted(*clauses), *self._consents_counted(clause)),
            made_from=self._made_from(),
        )

    def _consents_counted(self, clause: Clause) -> Iterator[Counted]:
        """Yield the owners' rules that are exercised where something is made by their leave."""
        found = self._by_consent(clause) if self.facts.making else ()
        used = {
            (leave.clause.number, asset): leave.clause for asset, _, leave in found if leave.clause
        }
        for (_, asset), one in used.items():
            yield Counted.model_construct(policy=one.policy.uid, rule=one.label, targets=(asset,))

    def _counted(self, *permitting: Clause) -> tuple[Counted, ...]:
        """Return the rules that a permit by some permissions is an execution of."""
        used = [(clause, "") for clause in (*permitting, *self.counting)]
        leaves = [(party, leave) for one in permitting for party, _, leave in self._leaves(one)]
        # One leave is exercised once, for as many assets as it may be of.
        by_leave = {
            (clause.number, party): (clause, party)
            for party, leave in leaves
            for clause in leave.used
        }
        return tuple(
            Counted.model_construct(
                policy=clause.policy.uid,
                rule=clause.label,
                targets=self.request.targets,
                party=party,
            )
            for clause, party in (*used, *by_leave.values())
        )

    def _leaves(self, clause: Clause) -> Iterator[tuple[str, str, Leave]]:
        if self.ownership:
            own = self.view.own(clause)
            yield from self.ownership.leaves(clause, self.request.targets, own)

    def _by_leave(self, clause: Clause) -> Iterator[str]:
        for party, asset, leave in self._leaves(clause):
            yield f"{leave.rule} lets {party} grant the use of {asset}"
        for asset, party, leave in self._by_consent(clause):
            yield f"{leave.rule} lets {party} anonymize {asset}"

    def _by_consent(self, clause: Clause) -> Iterator[tuple[str, str, Leave]]:
        if self.ownership:
            yield from self.ownership.by_consent(clause, was_done=not self.facts.making)

    def _obliging(self, permitting: Sequence[Clause]) -> Iterator[Clause]:
        """Yield a rule of each policy by whose word something is permitted, leaves among them."""
        given = [leave for one in permitting for _, _, leave in self._leaves(one)]
        if self.facts.making:
            given += [leave for one in permitting for *_, leave in self._by_consent(one)]
        own = {one.policy.uid for one in permitting}
        leaves = {one.clause.policy.uid: one.clause for one in given if one.clause}
        yield from (*permitting, *(one for uid, one in leaves.items() if uid not in own))

    def _obligations(self, clause: Clause) -> Iterator[Owed]:
        """Yield what the assignee is obliged to by the policy that permits, and has not done."""
        asked, overlaps = self._asked_of(clause), self.view.closures.overlaps
        self.facts.own = asked.closures
        for duty in clause.policy.obligations:
            is_theirs = not duty.assignees or any(p.iri in asked.party for p in duty.assignees)
            is_here = not duty.targets or any(
                overlaps("asset", target, other.iri)
                for target in self.request.targets
                for other in duty.targets
            )
            if is_theirs and is_here:
                theirs = [p.iri for p in duty.assignees if p.iri in asked.party]
                yield from outstanding(duty, clause, self.facts, theirs)

    def _nothing_permits(self) -> Decision:
        near = self._nearest()
        for held in near:
            self.unheard.pop(held.clause.number, None)
        ended = self.decider.index.ended
        void = {
            policy.uid: ended.get(policy.uid, "its rules clash")
            for policy in self.decider.policies
            if policy.uid in self.view.void
        }
        lines = tuple(misses(void, near))
        return self._decision(
            effect="deny",
            reason=nothing_permits(lines),
            derivation=lines,
            near_misses=tuple(
                NearMiss.model_construct(
                    policy=held.clause.policy.uid, rule=held.clause.label, missing=held.missing
                )
                for held in near
            ),
            duties=tuple(owed for held in self.refused for owed in held.owed),
            strategy="invalid" if void.keys() - ended.keys() else "",
        )

    def _nearest(self) -> list[Held]:
        """Return the permissions that lack least: conditions alone, or parts of the request."""
        seen = {held.clause.number for held in self.refused}
        others = [
            (lacks(clause, self._asked_of(clause)), clause.number, clause)
            for clause in self.view.nearly(self.asked, _NEAR)
            if clause.number not in seen
        ]
        wholes: set[int] = set()
        found = []
        for _, _, clause in nsmallest(_NEAR, others):
            if len(wholes) < _TOLD or id(clause.whole) in wholes:
                wholes.add(id(clause.whole))
                why = self._unheard_of(clause)
                found.append(hold(clause, self._asked_of(clause), self.facts, unheard=why))
        # What makes something is one rule, and is looked at by what it makes and of what.
        nearest: dict[int, Held] = {}
        for held in sorted([*self.refused[:_NEAR], *found], key=self._farness):
            nearest.setdefault(id(held.clause.whole), held)
        return [*nearest.values()][:_TOLD]

    def _farness(self, held: Held) -> tuple[int, int]:
        """Return how much a permission lacks, and how many of the targets it does not cover."""
        clause, targets = held.clause, self._asked_of(held.clause).targets
        uncovered = sum(map(clause.targets.isdisjoint, targets)) if clause.targets else 0
        return len(held.missing), uncovered

    def _unheard_of(self, clause: Clause) -> str:
        """Return why a permission does not count for what it covers; that of nothing is its own."""
        asked = self._asked_of(clause)
        if clause.whole.output and clause.purposes and not asked.request.purpose:
            return ""  # whether an owner lets it be made depends on the purpose
        is_of_all = not any(map(clause.targets.isdisjoint, asked.targets))
        return self._unheard(clause) if is_of_all or not clause.targets else ""

    def _deny(
        self,
        reason: str,
        held: Held | None = None,
        *,
        policy: str = "",
        strategy: Literal["", "prohibit"] = "",
    ) -> Decision:
        return self._decision(
            effect="deny",
            reason=reason,
            policy=held.clause.policy.uid if held else policy,
            rule=held.clause.label if held else "",
            derivation=tuple(derivation(held)) if held else (),
            strategy=strategy,
        )

    def _aside(self) -> Iterator[str]:
        """Yield the rules that cover the request and do not count, with the reason."""
        yield from islice(self.unheard.values(), _MOST_ASIDE)
        if len(self.unheard) > _MOST_ASIDE:
            yield f"{len(self.unheard) - _MOST_ASIDE:,} more rules do not count"

    def _decision(self, **parts: Any) -> Decision:
        parts = {
            "policy": "",
            "rule": "",
            "derivation": (),
            "near_misses": (),
            "duties": (),
            "strategy": "",
            "counted": (),
            "made_from": (),
            **parts,
        }
        parts["derivation"] = (*parts["derivation"], *self._aside())
        return Decision.model_construct(
            request=self.request,
            matches=tuple(self.matches),
            time=self.time,
            time_by="caller" if self.world.time else "clock",
            policy_digests=self.decider.digests,
            notes=self.decider.notes,
            **parts,
        )


def _nothing_behind(
    _assets: Iterable[str], _known: Mapping[str, Sequence[MadeFrom]]
) -> tuple[str, ...]:
    """Tell that what was read was made from nothing that counts."""
    return ()


def _no_delegate(_party: str, _asset: str, _was_done: bool, _use: Use) -> Leave:
    """Tell that nobody is let: a delegate lets nobody in turn."""
    return Leave()


def _grant(clause: Clause, *, yields: bool = True) -> Grant:
    conflict = clause.policy.conflict if yields else "prohibit"
    return Grant(clause.policy.uid, conflict, clause.rule)
