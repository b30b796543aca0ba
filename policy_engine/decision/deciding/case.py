"""One request, and the policies it is evaluated against."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Literal

from policy_engine import terms
from policy_engine.decision.deciding import answering, inheriting, letting, making, prohibiting
from policy_engine.decision.deciding.judged import DecisionCache
from policy_engine.decision.explaining import prohibition_reason
from policy_engine.decision.facts import RequestFacts
from policy_engine.decision.history import History
from policy_engine.decision.holding import ExpandedRequest, RuleMatch, covers, match_permission
from policy_engine.decision.index import Clause, RuleOutput
from policy_engine.decision.members import RefinedMembers
from policy_engine.decision.mixing import Mix, mixes, names_both
from policy_engine.decision.model import (
    CarriedOutRule,
    Decision,
    Grant,
    Match,
    Request,
    RowAccess,
    World,
)
from policy_engine.decision.origins import Origins
from policy_engine.decision.outputs import Output
from policy_engine.decision.ownership import AssetUse, OwnerConsent, Ownership, no_consent
from policy_engine.policy import Rule
from policy_engine.policy.wording import rule_name

if TYPE_CHECKING:
    from policy_engine.decision.decider import Decider


class Case:
    """One request, and the policies it is evaluated against.

    It `is_deciding` once that is what it is asked; `reader` is the request to read what is looked
    at as something to be made, `maker` who made what it was derived from.
    """

    def __init__(
        self,
        decider: "Decider",
        request: Request,
        world: World,
        history: History | None = None,
        *,
        rows: frozenset[str] = frozenset(),
        above: frozenset[str] = frozenset(),
        together: tuple[str, ...] = (),
        is_delegation: bool = False,
        maker: frozenset[str] | None = None,
        carried: CarriedOutRule | None = None,
        reader: "Case | None" = None,
        judged: DecisionCache | None = None,
    ) -> None:
        self.decider = decider
        self.request = request
        self.world = world
        self.history = history
        self.maker = maker
        self.carried = carried
        self.reader = reader
        self.judged = judged or DecisionCache()
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
        self.members = RefinedMembers(
            world.of,
            lambda: (*request.targets, *chain(*world.memberships.asset)),
            lambda: decider.index.assets,
        )
        self.asked = ExpandedRequest(request, closures, self.members)
        self._asked = {id(decider.index.closures): self.asked}
        self.ownership = self._ownership(is_delegation=is_delegation)
        self.is_deciding = False
        self.unheard: dict[int, str] = {}
        self.matches: list[Match] = []
        self.permits: list[RuleMatch] = []
        self.refused: list[RuleMatch] = []
        self.prohibited: list[RuleMatch] = []
        self.counting: list[Clause] = []
        self.outputs: Sequence[Output] = ()
        self.met = request.targets[0]

    def again(
        self,
        request: Request,
        *,
        above: frozenset[str] = frozenset(),
        together: tuple[str, ...] = (),
        is_delegation: bool = False,
        maker: frozenset[str] | None = None,
        reader: "Case | None" = None,
    ) -> "Case":
        """Return another request in the same state of the world, by the same log."""
        return Case(
            self.decider,
            request,
            self.world,
            self.history,
            above=above,
            together=together,
            is_delegation=is_delegation,
            maker=maker,
            reader=reader,
            judged=self.judged,
        )

    def _ownership(self, *, is_delegation: bool) -> Ownership | None:
        """Return whose rules count, None where all policies are one owner's."""
        standing = self.view.standing
        if standing is None:
            return None
        # What is read through its inputs is permitted by its own owner as well.
        asked = _no_delegate if is_delegation else partial(letting.use_consent, self)
        made = no_consent if is_delegation else partial(letting.making_consent, self)
        maker = self.request.assignee if self.facts.making else None
        above, beside = sorted(self.above), self.facts.together
        trusted, apart = self.view.trusted, is_delegation
        return Ownership(standing, trusted, asked, made, above, maker, beside, part_by_part=apart)

    def decide(self, *, through_inputs: bool = True) -> Decision:
        """Return the decision; unless `through_inputs`, by what is said of the targets alone."""
        self.is_deciding = True
        made = self.touched()
        lineage = making.lineage(self)
        made_here = (self.decider.output(one.policy, one.asset) for one in made)
        outputs = self.outputs = [*map(lineage.standing, made_here)]
        self.facts.certified = {id(duty) for output in outputs for duty in output.fulfilled()}
        self._permissions([output.asset for output in outputs])
        denied = self._prohibited(made, outputs) or self._unfit(made, outputs)
        if denied is not None:
            return denied
        if self.permits:
            # Rows may be had by each of several rules, unless one grants them all.
            whole = [held for held in self.permits if not prohibiting.depends_on_rows(self, held)]
            return answering.permit(self, (whole or self.permits)[:1], outputs)
        through = self._through_inputs(outputs) if through_inputs else None
        return through or answering.deny_unpermitted(self)

    def _prohibited(self, made: Sequence[RuleOutput], outputs: Sequence[Output]) -> Decision | None:
        """Return the denial by a prohibition, of the request or of what that was made from."""
        denying = prohibiting.denying_prohibition(self)
        if denying is None:
            return inheriting.deny_inherited(self, made, outputs)
        reason = prohibition_reason(denying, self.facts)
        strategy: Literal["", "prohibit"] = "prohibit" if self.permits else ""
        return answering.deny(self, reason, denying, strategy=strategy)

    def _unfit(self, made: Sequence[RuleOutput], outputs: Sequence[Output]) -> Decision | None:
        """Return the denial of outputs that nobody may read as they are, None where all are fit."""
        why = ((one, making.making_refusal(self, one.clause)) for one in made)
        for one, fails in chain(why, making.carried_out_refusals(self)):
            if fails:
                reason = f"{one.asset} is not to be made by {one.policy.uid}: {fails}."
                return answering.deny(self, reason, policy=one.policy.uid)
        on_the_way = self.carried.on_the_way if self.carried else ()
        for output in (one for one in outputs if one.asset not in on_the_way):
            if output.uncertified:
                return answering.deny(self, output.uncertified, policy=output.policy.uid)
            unknown = [target for target in self.request.targets if not output.has(target)]
            if unknown:
                return answering.deny(
                    self, f"{output.asset} has no such column: {' or '.join(unknown)}."
                )
        return making.deny_void(self)

    def touched(self) -> list[RuleOutput]:
        """Return the outputs that the request touches."""
        found = (self.decider.index.outputs[n] for n in self.view.touched(self.asked))
        made = [one for one in found if self.concerns(one.clause, self.request.targets)]
        return [one for one in made if self._is_read(one)] if self.facts.making else made

    def _is_read(self, made: RuleOutput) -> bool:
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

    def row_access(self) -> RowAccess:
        """Return the decision, with the rules that decide over single rows."""
        decision = self.decide()
        permits = self.permits if decision.permitted else []
        grants = [_grant(held.clause) for held in permits]
        if decision.permitted and not grants:
            grants = [Grant(decision.policy, "prohibit", Rule("permission"))]
        prohibitions = tuple(
            _grant(held.clause, yields=prohibiting.yields_to_permissions(self, held))
            for held in self.prohibited
        )

        def decided(by: Collection[Grant]) -> Decision:
            rules = {id(one.rule) for one in by}
            used = [held for held in permits if id(held.clause.rule) in rules]
            return answering.permit(self, used, self.outputs) if used else decision

        return RowAccess(decision, tuple(grants), prohibitions, self.facts.zone, decided)

    def asked_of(self, clause: Clause) -> ExpandedRequest:
        """Return the request by the hierarchies of a rule's own policy."""
        key = id(clause.closures)
        found = self._asked.get(key)
        if found is None:
            own = self.view.own(clause)
            found = self._asked[key] = ExpandedRequest(self.request, own, self.members)
        return found

    def concerns(self, clause: Clause, targets: Sequence[str]) -> bool:
        """Tell whether what a rule makes has to do with a target, for all that others say."""
        return self.ownership is None or any(self.ownership.concerns(clause, t) for t in targets)

    def _permissions(self, outputs: Sequence[str]) -> None:
        """Find the permissions that cover the request, and those that lack but conditions."""
        mixed = mixes(self.request.targets, outputs, self.view)
        for clause in self.view.permissions(self.asked):
            for one in self.held(clause):
                held = self._unmixed(one, mixed)
                (self.refused if held.missing else self.permits).append(held)
                self.note(held, applies=not held.missing)

    def held(self, clause: Clause) -> Iterator[RuleMatch]:
        """Yield what comes of a permission that covers the request."""
        own = self.asked_of(clause)
        if covers(clause, own):
            if self.ownership is not None:
                prohibiting.trace_sources(self, clause, own.request.targets)
            unheard = self.unheard_for(clause)
            if unheard:
                self.unheard[clause.number] = f"{clause.name} does not count: {unheard}"
            yield match_permission(clause, own, self.facts, rows=self.rows, unheard=unheard)

    def unheard_for(self, clause: Clause) -> str:
        """Return why a permission does not count for what is asked for; empty where it does."""
        why = ""
        if self.ownership is not None:
            own = self.view.own(clause)
            why = self.ownership.permission_fails(clause, self.request.targets, own)
            if not why and self.is_deciding and self._is_making(clause):
                why = making.making_prohibition(self, clause, was_done=False)
        return why or (self._in_another_way(clause, self.carried) if self.carried else "")

    def _is_making(self, clause: Clause) -> bool:
        """Tell whether it is asked to make what a permission makes, in whatever way it does.

        An output that is attested is made as well, by whichever action its rule names.
        """
        if self.facts.making:
            return bool(clause.whole.output)
        is_reading = self.request.action in clause.policy.vocabulary.reading
        return bool(clause.rule.output) and not is_reading

    def _in_another_way(self, clause: Clause, carried: CarriedOutRule) -> str:
        """Return that a permission says how something is made, and another rule is carried out."""
        covering = clause.actions.intersection(self.asked_of(clause).action)
        is_it = (clause.policy.uid, clause.label) == (carried.policy, carried.rule)
        if is_it or not covering or not covering <= clause.makes_by:
            return ""
        name = rule_name(carried.rule, carried.policy)
        action = terms.compact(self.request.action)
        return f"it permits its own {action} alone, not that of {name}"

    def _unmixed(self, held: RuleMatch, mixed: Sequence[Mix]) -> RuleMatch:
        """Return a permission that says what it lacks: to name what is mixed."""
        own, targets = self.asked_of(held.clause).closures, self.request.targets
        lacking = [one for one in mixed if not names_both(held.clause.rule, one, targets, own)]
        if not lacking:
            return held
        missing = tuple(f"{one}, and it does not name both in pe:jointly" for one in lacking)
        return replace(held, missing=(*held.missing, *missing))

    @cached_property
    def origins(self) -> Origins:
        """What tells what assets were made from."""
        found, decider = self.judged.origins, self.decider
        if found is None:
            found = Origins(self.view, decider.output, decider.certificates, decider.past)
            self.judged.origins = found
        return found

    def note(self, held: RuleMatch, *, applies: bool) -> None:
        """Note a rule among those that the decision tells of."""
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
            case = self.again(inputs, above=above)
            # Only a dataset may in turn be an output; its columns are asked for as they are.
            decision = case.decide(through_inputs=targets == datasets)
            if decision.permitted:
                step = f"who may read all of {' and '.join(datasets)} may read {output.asset}"
                lines = (
                    *decision.derivation,
                    step,
                    *output.certified(),
                    *answering.ineffective_rules(self),
                )
                name = rule_name(decision.rule, decision.policy)
                reason = f"{name} permits reading the inputs, and so the output."
                changes = {"request": self.request, "reason": reason, "derivation": lines}
                changes["counted"] = (*(decision.counted or ()), *answering.counted_rules(self))
                changes["made_from"] = prohibiting.target_origins(self)
                return decision.model_copy(update=changes)
        return None


def _no_delegate(_party: str, _asset: str, _was_done: bool, _use: AssetUse) -> OwnerConsent:
    """Tell that nobody is let: a delegate lets nobody in turn."""
    return OwnerConsent()


def _grant(clause: Clause, *, yields: bool = True) -> Grant:
    conflict = clause.policy.conflict if yields else "prohibit"
    return Grant(clause.policy.uid, conflict, clause.rule)
