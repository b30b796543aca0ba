"""Whether something may be made, or was not to be, and what was made stands."""

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
    """Yield what the rule makes that is carried out, with by what that is prohibited to those
    who issued the rule."""
    if case.carried is None or case.ownership is None:
        return
    for one in case.decider.index.outputs:
        if (one.policy.uid, one.clause.label) == (case.carried.policy, case.carried.rule):
            yield one, making_prohibition(case, one.clause, was_done=False)


def lineage(case: "Case") -> Lineage:
    """Return what tells whether all that an output was made from stands as things are."""
    output = case.decider.output
    return Lineage(
        case.view,
        output,
        partial(_related_outputs, case),
        partial(_end_reason, case),
        partial(_related_void_outputs, case),
    )


def _related_outputs(case: "Case", asset: str) -> list[RuleOutput]:
    """Return the outputs that an asset is, belongs to or holds."""
    return [one for one in case.view.makers(asset) if case.concerns(one.clause, (asset,))]


def _end_reason(case: "Case", made: Sequence[RuleOutput]) -> str:
    """Return why what rules made is not made any more: by their times, or by an owner."""
    late = [expiry_reason(one.clause.rule, case.facts) for one in made]
    owned = (making_refusal(case, one.clause) for one in made)
    return late[0] if all(late) else next(filter(None, owned), "")


def making_refusal(case: "Case", clause: Clause, *, was_done: bool = True) -> str:
    """Return why a rule may not make its output of its targets, empty where it may.

    That is asked of what it made (`was_done`), or of making it once more.
    """
    if case.ownership is None:
        return ""
    fails = consent_refusal(case, clause, was_done=was_done)
    return fails or making_prohibition(case, clause, was_done=was_done)


def consent_refusal(case: "Case", clause: Clause, *, was_done: bool) -> str:
    """Return why owners do not let a rule make its output, whatever else they prohibit."""
    owned = case.ownership
    return owned.making_refusal(clause, clause.targets, was_done=was_done) if owned else ""


def making_prohibition(case: "Case", clause: Clause, *, was_done: bool) -> str:
    """Return by what it is prohibited to those who issued a rule to do what it does.

    Of its targets, or of what these were made from: who prohibits training on a table has not
    let anybody train on what another made of it. Of what was made, asked by whoever reads it,
    for the purposes among the rule's that are theirs: what is prohibited to them as well is
    judged by what they read (`inherited_by`).
    """
    targets = tuple(sorted(clause.targets))
    making = [one.iri for one in clause.written_rule.actions]
    for action, party in product(making if targets else (), sorted(clause.assigners)):
        asked = {"assignee": party, "action": action, "targets": targets}
        found = ""
        for purpose in _making_purposes(case, clause):
            request = case.request.model_copy(update={**asked, "purpose": purpose})
            found = _action_prohibition(case, clause, request, was_done=was_done)
            if not found:
                break
        if found:
            return found
    return ""


def _making_purposes(case: "Case", making: Clause) -> Sequence[str]:
    """Return the purpose that is asked for, where something is made for it, or else all.

    A purpose is the rule's, or that of its constraints.
    """
    own, known, asked = case.view.own_closures(making), case.view.closures, case.request.purpose
    every = rule_purposes(making.rule, own, known)
    up = case.expand_for(making).purpose
    is_open = not making.purposes or not making.purposes.isdisjoint(up)
    is_for_it = is_open and may_be_for(making.rule, asked, own, known)
    return [asked] if is_for_it and (asked or every == ("",)) else every


def _action_prohibition(case: "Case", making: Clause, request: Request, *, was_done: bool) -> str:
    """Return by what it is prohibited to make something as a request says, or was."""
    other = case.with_request(
        request,
        above=frozenset((making.written_rule.output,)),
        maker=making.assigners,
        reader=case if was_done else None,
    )
    # What is said of what is derived alone is no matter for the targets themselves.
    other.facts.was_done, other.facts.is_derived = was_done, False
    found = inheriting.inherited_denial(other)
    return found.reason.partition(". ")[0].removesuffix(".") if found else ""


def deny_void(case: "Case") -> Decision | None:
    """Deny what was made under a policy that is not in force."""
    for one in chain.from_iterable(map(partial(_related_void_outputs, case), case.request.targets)):
        reason = f"{one.asset} was made under {one.policy}, which is not in force"
        if case.ownership is not None and not one.issuers:
            reason += ", and of which nobody knows who issued it"
        return answering.deny(case, f"{reason}: nobody may read it.", policy=one.policy)
    return None


def _related_void_outputs(case: "Case", target: str) -> Iterator[VoidOutput]:
    """Yield what policies not in force made that a target has to do with, for all that owners
    say."""
    overlaps, ownership = case.view.closures.overlaps, case.ownership
    for one in case.decider.void_outputs(case.view):
        if overlaps("asset", target, one.asset) and (
            ownership is None or ownership.takes_in(one.asset, one.issuers, target)
        ):
            yield one
