"""One request, and the policies that it is evaluated against."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Literal

from policy_engine import terms
from policy_engine.decision.clauses import Clause
from policy_engine.decision.deciding import answering, consenting, inheriting, making, prohibiting
from policy_engine.decision.deciding.cache import DecisionCache
from policy_engine.decision.explaining import PolicyLine, prohibition_reason
from policy_engine.decision.facts import RequestFacts
from policy_engine.decision.history import History
from policy_engine.decision.inclusion import ExpandedRequest, covers
from policy_engine.decision.index import RuleOutput
from policy_engine.decision.matching import RuleMatch, match_permission
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
from policy_engine.decision.valid_models import construct
from policy_engine.policy import Rule
from policy_engine.policy.wording import rule_name

if TYPE_CHECKING:
    from policy_engine.decision.decider import Decider


class Case:
    """One request, and the policies that it is evaluated against.

    It `is_deciding` once a decision is asked for; `reader` is the request to read something that is
    considered as an output to be made, `makers` the parties that made it.
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
        makers: frozenset[str] | None = None,
        carried: CarriedOutRule | None = None,
        reader: "Case | None" = None,
        judged: DecisionCache | None = None,
    ) -> None:
        self.decider = decider
        self.request = request
        self.world = world
        self.history = history
        self.makers = makers
        self.carried = carried
        self.reader = reader
        self.cache = judged or DecisionCache()
        self.rows = bool(rows)
        self.above = above
        self.view = decider.view(world.memberships)
        self.time = world.time or datetime.now(UTC)
        closures = self.view.closures
        self.facts = RequestFacts(request, world, self.time, closures, history)
        self.facts.unclear = decider.unclear
        self.facts.rows = rows
        self.facts.spending = decider.spending
        self.facts.together = together or request.targets
        self.facts.is_derived = makers is not None
        self.members = RefinedMembers(
            world.of,
            lambda: (*request.targets, *chain(*world.memberships.asset)),
            lambda: decider.index.assets,
        )
        self.expanded = ExpandedRequest(request, closures, self.members)
        self._expanded = {id(decider.index.closures): self.expanded}
        self.ownership = self._ownership(is_delegation=is_delegation)
        self.is_deciding = False
        self.ineffective: dict[int, str] = {}
        self.matches: list[Match] = []
        self.permits: list[RuleMatch] = []
        self.refused: list[RuleMatch] = []
        self.prohibited: list[RuleMatch] = []
        self.counting: list[Clause] = []
        self.outputs: Sequence[Output] = ()
        self.denied_target = request.targets[0]

    def with_request(
        self,
        request: Request,
        *,
        above: frozenset[str] = frozenset(),
        together: tuple[str, ...] = (),
        is_delegation: bool = False,
        makers: frozenset[str] | None = None,
        reader: "Case | None" = None,
    ) -> "Case":
        """Return another request in the same state of the world, with the same log."""
        return Case(
            self.decider,
            request,
            self.world,
            self.history,
            above=above,
            together=together,
            is_delegation=is_delegation,
            makers=makers,
            reader=reader,
            judged=self.cache,
        )

    def _ownership(self, *, is_delegation: bool) -> Ownership | None:
        """Return whose rules count, None if all policies have one owner."""
        standing = self.view.standing
        if standing is None:
            return None
        # An output read through its inputs is permitted by its own owner as well.
        find_use_consent = _no_delegate if is_delegation else partial(consenting.use_consent, self)
        find_making_consent = (
            no_consent if is_delegation else partial(consenting.making_consent, self)
        )
        maker = self.request.assignee if self.facts.making else None
        above_assets, beside = sorted(self.above), self.facts.together
        trusted, part_by_part = self.view.trusted, is_delegation
        return Ownership(
            standing,
            trusted,
            find_use_consent,
            find_making_consent,
            above_assets,
            maker,
            beside,
            part_by_part=part_by_part,
        )

    def decide(self, *, through_inputs: bool = True) -> Decision:
        """Return the decision; unless `through_inputs`, only by rules on the targets themselves."""
        self.is_deciding = True
        if self.decider.vouched is not None and self.decider.vouched.denial:
            return answering.deny(self, self.decider.vouched.denial)
        touched = self.touched_outputs()
        outputs = self.outputs = self._valid_outputs(touched) if touched else []
        self._find_permissions([output.asset for output in outputs])
        denial = self._deny_prohibited(touched, outputs) or self._deny_unfit(touched, outputs)
        if denial is not None:
            return denial
        if self.permits:
            # Each of several rules may grant some rows, unless one grants them all.
            unfiltered = [
                match for match in self.permits if not prohibiting.depends_on_rows(self, match)
            ]
            return answering.permit(self, (unfiltered or self.permits)[:1], outputs)
        through_inputs_decision = self._permit_through_inputs(outputs) if through_inputs else None
        return through_inputs_decision or answering.deny_unpermitted(self)

    def _valid_outputs(self, touched: Sequence[RuleOutput]) -> list[Output]:
        lineage = making.lineage(self)
        touched_outputs = (self.decider.output(one.policy, one.asset) for one in touched)
        outputs = [self.decider.unchanged(lineage.keep_valid(one)) for one in touched_outputs]
        self.facts.certified = {
            id(duty) for output in outputs for duty in output.fulfilled_duties()
        }
        return outputs

    def _deny_prohibited(
        self, output_rules: Sequence[RuleOutput], outputs: Sequence[Output]
    ) -> Decision | None:
        """Return the denial by a prohibition, of the request or of its targets' inputs."""
        denying = prohibiting.denying_prohibition(self)
        if denying is None:
            return inheriting.deny_inherited(self, output_rules, outputs)
        reason = prohibition_reason(denying, self.facts)
        strategy: Literal["", "prohibit"] = "prohibit" if self.permits else ""
        return answering.deny(self, reason, denying, strategy=strategy)

    def _deny_unfit(
        self, output_rules: Sequence[RuleOutput], outputs: Sequence[Output]
    ) -> Decision | None:
        """Return the denial of outputs that nobody may read as they are, None if there are none."""
        if not (output_rules or outputs or self.carried):
            return making.deny_void(self)
        refusals = ((one, making.making_refusal(self, one.clause)) for one in output_rules)
        for one, refusal in chain(refusals, making.carried_out_refusals(self)):
            if refusal:
                reason = f"{one.asset} may not be made by {one.policy.uid}: {refusal}."
                return answering.deny(self, reason, policy=one.policy.uid)
        on_the_way = self.carried.on_the_way if self.carried else ()
        for output in (one for one in outputs if one.asset not in on_the_way):
            if output.uncertified:
                return answering.deny(self, output.uncertified, policy=output.policy.uid)
            unknown = [target for target in self.request.targets if not output.may_have(target)]
            if unknown:
                return answering.deny(
                    self, f"{output.asset} has no such column: {' or '.join(unknown)}."
                )
        return making.deny_void(self)

    def touched_outputs(self) -> list[RuleOutput]:
        """Return the outputs that the request touches."""
        if not self.decider.index.outputs:
            return []
        outputs = (self.decider.index.outputs[n] for n in self.view.touched_outputs(self.expanded))
        concerned = [one for one in outputs if self.concerns(one.clause, self.request.targets)]
        return [one for one in concerned if self._is_read(one)] if self.facts.making else concerned

    def _is_read(self, output_rule: RuleOutput) -> bool:
        """Return whether making something of the targets reads an output.

        A target that contains the output only as its own input does not contain any of it yet.
        """
        closures, asset = self.view.closures, output_rule.asset
        for target in self.request.targets:
            is_above = target in closures.reach("asset", asset)
            is_in = asset in closures.reach("asset", target)
            if is_in or (is_above and target not in output_rule.clause.targets):
                return True
        return False

    def row_access(self) -> RowAccess:
        """Return the decision, with the rules that decide on single rows."""
        decision = self.decide()
        permits = self.permits if decision.permitted else []
        grants = [_grant(match.clause) for match in permits]
        if decision.permitted and not grants:
            grants = [Grant(decision.policy, "prohibit", Rule("permission"))]
        prohibitions = tuple(
            _grant(match.clause, yields=prohibiting.yields_to_permissions(self, match))
            for match in self.prohibited
        )

        def decided(rows_of: Collection[Grant]) -> Decision:
            rules = {id(one.rule) for one in rows_of}
            matches = [match for match in permits if id(match.clause.rule) in rules]
            return answering.permit(self, matches, self.outputs) if matches else decision

        return RowAccess(decision, tuple(grants), prohibitions, self.facts.zone, decided)

    def expand_for(self, clause: Clause) -> ExpandedRequest:
        """Return the request expanded by the hierarchies of a rule's own policy."""
        key = id(clause.closures)
        expanded = self._expanded.get(key)
        if expanded is None:
            own_closures = self.view.own_closures(clause)
            expanded = self._expanded[key] = ExpandedRequest(
                self.request, own_closures, self.members
            )
        return expanded

    def concerns(self, clause: Clause, targets: Sequence[str]) -> bool:
        """Return whether a rule's output concerns a target, whatever others say."""
        return self.ownership is None or any(self.ownership.concerns(clause, t) for t in targets)

    def _find_permissions(self, outputs: Sequence[str]) -> None:
        """Find the permissions that cover the request, and those that lack only conditions."""
        found_mixes = mixes(self.request.targets, outputs, self.view)
        for clause in self.view.permissions(self.expanded):
            for one in self.match_clause(clause):
                checked = self._check_mixes(one, found_mixes)
                (self.refused if checked.missing else self.permits).append(checked)
                self.note(checked, applies=not checked.missing)

    def match_clause(self, clause: Clause) -> Iterator[RuleMatch]:
        """Yield the match of a permission that covers the request."""
        expanded = self.expand_for(clause)
        if covers(clause, expanded):
            if self.ownership is not None:
                prohibiting.trace_sources(self, clause, expanded.request.targets)
            objection = self.ineffective_reason(clause)
            if objection:
                line = f"{clause.name} does not count: {objection}"
                self.ineffective[clause.number] = PolicyLine.of(clause.policy.uid, line)
            yield match_permission(
                clause, expanded, self.facts, rows=self.rows, objection=objection
            )

    def ineffective_reason(self, clause: Clause) -> str:
        """Return why a permission does not count for the request, empty if it does."""
        reason = ""
        if self.ownership is not None:
            own_closures = self.view.own_closures(clause)
            reason = self.ownership.permission_refusal(clause, self.request.targets, own_closures)
            if not reason and self.is_deciding and self._is_making(clause):
                reason = making.making_prohibition(self, clause, was_done=False)
        return reason or (self._other_rule_reason(clause, self.carried) if self.carried else "")

    def _is_making(self, clause: Clause) -> bool:
        """Return whether the request is to make what a permission makes, in any way it allows.

        An attested output is made as well, by whichever action its rule names.
        """
        if self.facts.making:
            return bool(clause.written_rule.output)
        is_reading = self.request.action in clause.policy.vocabulary.reading
        return bool(clause.rule.output) and not is_reading

    def _other_rule_reason(self, clause: Clause, carried: CarriedOutRule) -> str:
        """Return why a permission that says how to make something is not the rule carried out."""
        covering = clause.actions.intersection(self.expand_for(clause).action)
        is_it = (clause.policy.uid, clause.label) == (carried.policy, carried.rule)
        if is_it or not covering or not covering <= clause.parametrized_actions:
            return ""
        name = rule_name(carried.rule, carried.policy)
        action = terms.compact(self.request.action)
        return f"it permits only its own {action}, not that of {name}"

    def _check_mixes(self, match: RuleMatch, found_mixes: Sequence[Mix]) -> RuleMatch:
        """Return a permission with what it lacks: naming what is mixed."""
        own_closures, targets = self.expand_for(match.clause).closures, self.request.targets
        unnamed = [
            one
            for one in found_mixes
            if not names_both(match.clause.rule, one, targets, own_closures)
        ]
        if not unnamed:
            return match
        missing = tuple(f"{one}, and it does not name both in pe:jointly" for one in unnamed)
        return replace(match, missing=(*match.missing, *missing))

    @cached_property
    def origins(self) -> Origins:
        """The record of what assets were made from."""
        origins, decider = self.cache.origins, self.decider
        if origins is None:
            origins = Origins(self.view, decider.output, decider.certificates, decider.past)
            self.cache.origins = origins
        return origins

    def note(self, rule_match: RuleMatch, *, applies: bool) -> None:
        """Add a rule to those that the decision reports."""
        clause = rule_match.clause
        noted = construct(
            Match,
            policy=clause.policy.uid,
            rule=clause.label,
            kind=clause.rule.kind,
            applies=applies,
            steps=rule_match.steps,
            conditions=rule_match.verdicts,
        )
        self.matches.append(noted)

    def _permit_through_inputs(self, outputs: Sequence[Output]) -> Decision | None:
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
            case = self.with_request(inputs, above=above)
            # Only a dataset may in turn be an output; its columns are requested as they are.
            decision = case.decide(through_inputs=targets == datasets)
            if decision.permitted:
                step = f"who may read all of {' and '.join(datasets)} may read {output.asset}"
                lines = (
                    *decision.derivation,
                    step,
                    *output.proof_lines(),
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
    """Return no consent: a delegate cannot delegate in turn."""
    return OwnerConsent()


def _grant(clause: Clause, *, yields: bool = True) -> Grant:
    conflict = clause.policy.conflict if yields else "prohibit"
    return Grant(clause.policy.uid, conflict, clause.rule)
