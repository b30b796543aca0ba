"""Prohibitions of what something was made from."""

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from policy_engine.decision.consents import rule_inputs
from policy_engine.decision.deciding import answering, prohibiting
from policy_engine.decision.deciding.judged import CachedDenial
from policy_engine.decision.explaining import prohibition_reason
from policy_engine.decision.index import Clause, RuleOutput
from policy_engine.decision.lineage import output_inputs
from policy_engine.decision.model import Decision
from policy_engine.decision.outputs import Output

if TYPE_CHECKING:
    from policy_engine.decision.deciding.case import Case


def deny_inherited(
    case: "Case", made: Sequence[RuleOutput], outputs: Sequence[Output]
) -> Decision | None:
    """Return the denial by a prohibition of what the outputs that are asked for were made from.

    The maker's own prohibitions of the input do not reach what he makes of it; where nobody
    is said to own anything, all are the maker's.
    """
    found_of = [
        (one, output_inputs(output, one, case.request.targets))
        for one, output in zip(made, outputs, strict=True)
        if case.ownership and one.asset not in case.above
    ]
    case.judged.cut.update(one.asset for one in made if one.asset in case.above)
    read = chain(case.facts.together, *(inputs for _, inputs in found_of))
    together = tuple(dict.fromkeys(read))
    for one, inputs in found_of:
        other = case.again(
            case.request.model_copy(update={"targets": inputs}),
            above=case.above | {one.asset},
            together=together,
            maker=one.clause.assigners,
            reader=case.reader,
        )
        other.facts.was_done = case.facts.was_done
        found = inherited_denial(other)
        if found is not None:
            way = f"{one.asset} was made from {_denied_input(other, one.clause)}"
            prohibited, _, more = found.reason.partition(". ")
            reason = f"{prohibited.removesuffix('.')}: {way}. {more}".rstrip()
            case.met = _related_target(case, one)
            changes = {"request": case.request, "reason": reason}
            return found.model_copy(update={**changes, "derivation": (*found.derivation, way)})
    return None


def inherited_denial(case: "Case") -> Decision | None:
    """Return the denial of what was made from the targets, None where nothing prohibits it."""
    request, facts = case.request, case.facts
    asked = (request.assignee, request.action, request.targets, request.purpose)
    is_bound = case.decider.index.tells_together
    together = frozenset(facts.together) if is_bound else frozenset()
    key = asked, together, facts.was_done, facts.is_derived, case.maker, case.reader
    found, case.met = case.judged.once(key, case.above, lambda: _cacheable_denial(case))
    return found


def _cacheable_denial(case: "Case") -> CachedDenial:
    found = _denial(case)
    return found, case.met


def _denial(case: "Case") -> Decision | None:
    denying = prohibiting.denying_prohibition(case)
    if denying is not None:
        case.met = _prohibited_target(case, denying.clause)
        return answering.deny(case, prohibition_reason(denying, case.facts), denying)
    made = case.touched()
    return deny_inherited(case, made, [case.decider.output(one.policy, one.asset) for one in made])


def _prohibited_target(case: "Case", clause: Clause) -> str:
    """Return the target that a prohibition is about, and its assigner may prohibit."""
    targets, known = case.request.targets, case.view.closures
    for target in targets:
        is_met = any(known.overlaps("asset", target, one) for one in clause.targets)
        owned = case.ownership if is_met or not clause.targets else None
        if owned and not owned.prohibition_fails(clause, (target,), known):
            return target
    return targets[0]


def _related_target(case: "Case", made: RuleOutput) -> str:
    """Return the target that something that was made is, or that has to do with it."""
    overlaps = case.view.closures.overlaps
    near = (one for one in case.request.targets if overlaps("asset", one, made.asset))
    return next(near, case.request.targets[0])


def _denied_input(case: "Case", made: Clause) -> str:
    """Return the input of what a rule made that its denial is about."""
    known = case.view.closures.up("asset", case.met)
    inputs = rule_inputs(made)
    return next((one for one in inputs if one in known), case.met)
