"""Whether something may be made, may have been made, and is still valid."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, product
from typing import TYPE_CHECKING

from policy_engine.decision.clauses import Clause
from policy_engine.decision.deciding import answering, inheriting
from policy_engine.decision.index import RuleOutput
from policy_engine.decision.lineage import Lineage
from policy_engine.decision.model import Decision, Request
from policy_engine.decision.purposes import may_be_for, rule_purposes
from policy_engine.decision.timing import expiry_reason
from policy_engine.decision.void_outputs import VoidOutput

if TYPE_CHECKING:
    from policy_engine.decision.deciding.case import Case


def carried_out_refusals(case: "Case") -> Iterator[tuple[RuleOutput, str]]:
    """Yield what the carried-out rule makes, and what prohibits its issuers from doing so."""
    if case.carried is None or case.ownership is None:
        return
    for one in case.decider.index.outputs:
        if (one.policy.uid, one.clause.label) == (case.carried.policy, case.carried.rule):
            yield one, making_prohibition(case, one.clause, was_done=False)


def lineage(case: "Case") -> Lineage:
    """Return the lineage that decides whether everything an output was made from is valid."""
    output = case.decider.output
    return Lineage(
        case.view,
        output,
        partial(_related_outputs, case),
        partial(_end_reason, case),
        partial(_related_void_outputs, case),
    )


def _related_outputs(case: "Case", asset: str) -> list[RuleOutput]:
    """Return the outputs that an asset is, belongs to or contains."""
    return [one for one in case.view.output_rules(asset) if case.concerns(one.clause, (asset,))]


def _end_reason(case: "Case", outputs: Sequence[RuleOutput]) -> str:
    """Return why the output of rules is no longer made: because of their times, or of an owner."""
    expiry_reasons = [expiry_reason(one.clause.rule, case.facts) for one in outputs]
    refusals = (making_refusal(case, one.clause) for one in outputs)
    return expiry_reasons[0] if all(expiry_reasons) else next(filter(None, refusals), "")


def making_refusal(case: "Case", clause: Clause, *, was_done: bool = True) -> str:
    """Return why a rule may not make its output of its targets, empty if it may.

    This is asked about what it has made (`was_done`), or about making it again.
    """
    if case.ownership is None:
        return ""
    refusal = consent_refusal(case, clause, was_done=was_done)
    return refusal or making_prohibition(case, clause, was_done=was_done)


def consent_refusal(case: "Case", clause: Clause, *, was_done: bool) -> str:
    """Return why owners do not let a rule make its output, whatever else they prohibit."""
    ownership = case.ownership
    return ownership.making_refusal(clause, clause.targets, was_done=was_done) if ownership else ""


def making_prohibition(case: "Case", clause: Clause, *, was_done: bool) -> str:
    """Return what prohibits the issuers of a rule from doing what it does.

    Prohibitions count on its targets, and on what these were made from: an owner who prohibits
    training on a table also prohibits training on what another party made of it. For an output that
    exists, only those purposes of the rule count that the reader asks for; prohibitions that also
    apply to readers are judged by what these read.
    """
    targets = tuple(sorted(clause.targets))
    making = [one.iri for one in clause.written_rule.actions]
    for action, party in product(making if targets else (), sorted(clause.assigners)):
        parts = {"assignee": party, "action": action, "targets": targets}
        prohibition = ""
        for purpose in _making_purposes(case, clause):
            request = case.request.model_copy(update={**parts, "purpose": purpose})
            prohibition = _action_prohibition(case, clause, request, was_done=was_done)
            if not prohibition:
                break
        if prohibition:
            return prohibition
    return ""


def _making_purposes(case: "Case", making: Clause) -> Sequence[str]:
    """Return the requested purpose if something is made for it, or else all purposes.

    The purposes are those of the rule, or those of its constraints.
    """
    own, closures, requested = (
        case.view.own_closures(making),
        case.view.closures,
        case.request.purpose,
    )
    every = rule_purposes(making.rule, own, closures)
    up = case.expand_for(making).purpose
    is_open = not making.purposes or not making.purposes.isdisjoint(up)
    is_for_it = is_open and may_be_for(making.rule, requested, own, closures)
    return [requested] if is_for_it and requested else every


def _action_prohibition(case: "Case", making: Clause, request: Request, *, was_done: bool) -> str:
    """Return what prohibits making something as a request says, or prohibited it then."""
    other = case.with_request(
        request,
        above=frozenset((making.written_rule.output,)),
        makers=making.assigners,
        reader=case if was_done else None,
    )
    # Prohibitions that are only about derived assets do not matter for the targets themselves.
    other.facts.was_done, other.facts.is_derived = was_done, False
    denial = inheriting.inherited_denial(other)
    return denial.reason.partition(". ")[0].removesuffix(".") if denial else ""


def deny_void(case: "Case") -> Decision | None:
    """Deny outputs that were made under a policy that is not in force."""
    if not (case.decider.void or case.view.void):
        return None
    for one in chain.from_iterable(map(partial(_related_void_outputs, case), case.request.targets)):
        reason = f"{one.asset} was made under {one.policy}, which is not in force"
        if case.ownership is not None and not one.issuers:
            reason += " and whose issuer is unknown"
        return answering.deny(case, f"{reason}: nobody may read it.", policy=one.policy)
    return None


def _related_void_outputs(case: "Case", target: str) -> Iterator[VoidOutput]:
    """Yield the outputs of policies not in force that concern a target, according to the owners."""
    overlaps, ownership = case.view.closures.overlaps, case.ownership
    for one in case.decider.void_outputs(case.view):
        if overlaps("asset", target, one.asset) and (
            ownership is None or ownership.takes_in(one.asset, one.issuers, target)
        ):
            yield one
