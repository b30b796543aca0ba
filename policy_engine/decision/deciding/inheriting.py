"""Prohibitions on what something was made from."""

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from policy_engine.decision.clauses import Clause
from policy_engine.decision.consents import rule_inputs
from policy_engine.decision.deciding import answering, prohibiting
from policy_engine.decision.deciding.cache import CachedDenial
from policy_engine.decision.explaining import prohibition_reason
from policy_engine.decision.index import RuleOutput
from policy_engine.decision.lineage import output_inputs
from policy_engine.decision.model import Decision
from policy_engine.decision.outputs import Output

if TYPE_CHECKING:
    from policy_engine.decision.deciding.case import Case


def deny_inherited(
    case: "Case", output_rules: Sequence[RuleOutput], outputs: Sequence[Output]
) -> Decision | None:
    """Return the denial by a prohibition on what the requested outputs were made from.

    The maker's own prohibitions on the input do not reach the output; if no owners are given, all
    prohibitions are the maker's.
    """
    if not output_rules:
        return None
    inputs_by_rule = [
        (one, output_inputs(output, one, case.request.targets))
        for one, output in zip(output_rules, outputs, strict=True)
        if case.ownership and one.asset not in case.above
    ]
    case.cache.cut.update(one.asset for one in output_rules if one.asset in case.above)
    assets = chain(case.facts.together, *(inputs for _, inputs in inputs_by_rule))
    together = tuple(dict.fromkeys(assets))
    for one, inputs in inputs_by_rule:
        other = case.with_request(
            case.request.model_copy(update={"targets": inputs}),
            above=case.above | {one.asset},
            together=together,
            makers=one.clause.assigners,
            reader=case.reader,
        )
        other.facts.was_done = case.facts.was_done
        denial = inherited_denial(other)
        if denial is not None:
            step = f"{one.asset} was made from {_denied_input(other, one.clause)}"
            prohibited, _, more = denial.reason.partition(". ")
            reason = f"{prohibited.removesuffix('.')}: {step}. {more}".rstrip()
            case.denied_target = _related_target(case, one)
            changes = {"request": case.request, "reason": reason}
            return denial.model_copy(update={**changes, "derivation": (*denial.derivation, step)})
    return None


def inherited_denial(case: "Case") -> Decision | None:
    """Return the denial of what was made from the targets, None if nothing prohibits it."""
    request, facts = case.request, case.facts
    parts = (request.assignee, request.action, request.targets, request.purpose)
    is_bound = case.decider.index.has_joint_conditions
    together = frozenset(facts.together) if is_bound else frozenset()
    key = parts, together, facts.was_done, facts.is_derived, case.makers, case.reader
    denial, case.denied_target = case.cache.get_or_compute(
        key, case.above, lambda: _cacheable_denial(case)
    )
    return denial


def _cacheable_denial(case: "Case") -> CachedDenial:
    denial = _denial(case)
    return denial, case.denied_target


def _denial(case: "Case") -> Decision | None:
    denying = prohibiting.denying_prohibition(case)
    if denying is not None:
        case.denied_target = _prohibited_target(case, denying.clause)
        return answering.deny(case, prohibition_reason(denying, case.facts), denying)
    output_rules = case.touched_outputs()
    return deny_inherited(
        case, output_rules, [case.decider.output(one.policy, one.asset) for one in output_rules]
    )


def _prohibited_target(case: "Case", clause: Clause) -> str:
    """Return the target that a prohibition is about and that its assigner may prohibit."""
    targets, closures = case.request.targets, case.view.closures
    for target in targets:
        is_met = any(closures.overlaps("asset", target, one) for one in clause.targets)
        ownership = case.ownership if is_met or not clause.targets else None
        if ownership and not ownership.prohibition_refusal(clause, (target,), closures):
            return target
    return targets[0]


def _related_target(case: "Case", output_rule: RuleOutput) -> str:
    """Return the target that is an output, or that is related to it."""
    overlaps = case.view.closures.overlaps
    near = (one for one in case.request.targets if overlaps("asset", one, output_rule.asset))
    return next(near, case.request.targets[0])


def _denied_input(case: "Case", clause: Clause) -> str:
    """Return the input of a rule's output that its denial is about."""
    above = case.view.closures.up("asset", case.denied_target)
    inputs = rule_inputs(clause)
    return next((one for one in inputs if one in above), case.denied_target)
