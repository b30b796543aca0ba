"""The results of a rule's constraints and refinements for a request."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from policy_engine import terms
from policy_engine.decision.clauses import Clause
from policy_engine.decision.closures import Closures
from policy_engine.decision.conditions import State, Verdict, evaluate
from policy_engine.decision.facts import RequestFacts
from policy_engine.decision.inclusion import (
    ExpandedRequest,
)
from policy_engine.policy import Action, Asset, Condition, Party
from policy_engine.policy.hierarchy import Part
from policy_engine.policy.labels import is_made_up


def is_about_rows(condition: Condition, datasets: Collection[str]) -> bool:
    """Tell whether a condition depends on values in the rows of datasets."""
    return any(
        not leaf.left_operand.startswith(terms.ODRL)
        and terms.dataset_of(leaf.left_operand) in datasets
        for leaf in condition.constraints()
    )


_SEVERITY: Mapping[State, int] = {"satisfied": 0, "unknown": 1, "unsatisfied": 2}


_Verdicts = tuple[Verdict, ...]


Member = Party | Asset | Action
"""A member that a rule names for a part."""


_Group = tuple[Part, Sequence[Member], Sequence[str]]
"""The members that a rule names for a part, and the request's names to match them with."""


def permission_verdicts(
    clause: Clause, expanded: ExpandedRequest, facts: RequestFacts
) -> _Verdicts:
    """Return the results of the constraints and refinements of a permission.

    Every member that may be meant must satisfy the refinements. If several parties, assets or
    actions of the rule cover a name, the one with the best result counts.
    """
    rule, request = clause.rule, expanded.request
    set_rule(facts, clause, expanded.closures, expanded.closures)
    verdicts = [evaluate(condition, facts) for condition in rule.constraints]
    groups: list[_Group] = [
        ("party", rule.assignees, [request.assignee]),
        ("action", rule.actions, [request.action]),
        *(("asset", rule.targets, [target]) for target in request.targets),
    ]
    for part, members, [name] in groups:
        if _are_refined(members):
            verdicts += covering_verdicts(part, name, members, expanded, facts) or ()
    return tuple(verdicts)


def prohibition_verdicts(
    clause: Clause,
    expanded: ExpandedRequest,
    own_closures: Closures,
    facts: RequestFacts,
    needed: Sequence[str],
) -> _Verdicts | None:
    """Return the results of the conditions of a prohibition that overlaps a request.

    None if it does not apply: a constraint is unsatisfied, or a refinement is for every member that
    may be meant. A single member with an unknown result is enough for it to apply.
    """
    rule, request = clause.rule, expanded.request
    set_rule(facts, clause, own_closures, expanded.closures)
    verdicts = [evaluate(condition, facts) for condition in rule.constraints]
    if any(verdict.state == "unsatisfied" for verdict in verdicts):
        return None
    groups: list[_Group] = [
        ("party", rule.assignees, [request.assignee]),
        ("action", rule.actions, needed),
        ("asset", rule.targets, request.targets),
    ]
    for part, members, names in groups:
        if _are_refined(members):
            remaining = overlapping_verdicts(part, names, members, expanded, facts)
            if remaining is None:
                return None
            verdicts += remaining
    return tuple(verdicts)


def covering_verdicts(
    part: Part,
    name: str,
    members: Sequence[Member],
    expanded: ExpandedRequest,
    facts: RequestFacts,
) -> tuple[Verdict, ...] | None:
    """Return the results of the refinements of the member that best covers a name.

    Everything that the name may mean must satisfy them. None if no member covers the name.
    """
    covering = [one for one in members if one.iri in expanded.closures.up(part, name)]
    options = [
        _join_alternatives([*_alternatives(part, name, one, expanded, facts)]) for one in covering
    ]
    return min(options, key=_severity, default=None)


def overlapping_verdicts(
    part: Part,
    names: Sequence[str],
    members: Sequence[Member],
    expanded: ExpandedRequest,
    facts: RequestFacts,
) -> tuple[Verdict, ...] | None:
    """Return the results of the refinements of the member that best overlaps one of the names.

    One thing that a name may mean is enough. None if no member overlaps a name, or each one that
    does has an unsatisfied refinement.
    """
    options = _remaining_verdicts(part, names, members, expanded, facts)
    return min(options, key=_severity, default=None)


def set_rule(
    facts: RequestFacts, clause: Clause, own_closures: Closures, all_closures: Closures
) -> None:
    """Set facts for a rule, with the closures of its own policy and of all policies."""
    facts.policy, facts.rule = clause.policy.uid, clause.label
    has_no_uid = is_made_up(clause.label)
    facts.digest = clause.policy.digest if has_no_uid else ""
    facts.counted = (clause.policy, clause.rule) if has_no_uid else None
    facts.targets = clause.sources or clause.targets
    facts.assignees = [one.iri for one in clause.rule.assignees]
    facts.for_purposes = clause.rule.purposes
    facts.defined = clause.policy.vocabulary.operands
    facts.own_closures, facts.all_closures = own_closures, all_closures


def _are_refined(members: Sequence[Member]) -> bool:
    return any(member.refinements for member in members)


def _remaining_verdicts(
    part: Part,
    names: Sequence[str],
    members: Sequence[Member],
    expanded: ExpandedRequest,
    facts: RequestFacts,
) -> Iterator[_Verdicts]:
    """Yield, for each member that overlaps a name, its results if it may still apply."""
    for member in members:
        remaining = [
            verdicts
            for name in names
            if expanded.closures.overlaps(part, name, member.iri)
            for verdicts in _alternatives(part, name, member, expanded, facts)
            if _severity(verdicts) < _SEVERITY["unsatisfied"]
        ]
        if remaining:
            # Rows differ, and one may satisfy what another does not, so all verdicts are merged.
            yield _merge_rows(remaining) if facts.rows else min(remaining, key=_severity)


def _alternatives(
    part: Part, name: str, member: Member, expanded: ExpandedRequest, facts: RequestFacts
) -> Iterator[_Verdicts]:
    """Yield the results of a member's refinements for each thing that the name may mean."""
    if not member.refinements:
        yield ()
        return
    for about in _possible_members(part, name, member, expanded, facts):
        yield verdicts_about(about, part, member, expanded, facts)


def verdicts_about(
    about: str, part: Part, member: Member, expanded: ExpandedRequest, facts: RequestFacts
) -> tuple[Verdict, ...]:
    """Return the results of a member's refinements for one thing that the member may mean."""
    facts.about, facts.part = about, part
    facts.is_act = part == "action" and about == expanded.request.action
    verdicts = tuple([evaluate(one, facts) for one in member.refinements])
    facts.about, facts.is_act = None, False
    return verdicts


def _possible_members(
    part: Part, name: str, member: Member, expanded: ExpandedRequest, facts: RequestFacts
) -> Sequence[str]:
    if part == "action":
        reach, source = expanded.closures.reach, member.iri
        members = [name] if source in reach(part, name) else []
        return [*members, source] if name in reach(part, source) and name != source else members
    return expanded.members.candidates(
        part, name, member.iri, member.refinements, facts.own_closures, expanded.closures
    )


def _join_alternatives(alternatives: Sequence[_Verdicts]) -> _Verdicts:
    """Return the first alternative, with everything that is not satisfied in the others."""
    unsatisfied = (one for rest in alternatives[1:] for one in rest if one.state != "satisfied")
    return tuple(dict.fromkeys((*alternatives[0], *unsatisfied)))


def _merge_rows(alternatives: Sequence[_Verdicts]) -> _Verdicts:
    """Return the verdicts on which all alternatives agree; unknown where they differ."""
    return tuple(map(_merge_verdicts, zip(*alternatives, strict=True)))


def _merge_verdicts(verdicts: Sequence[Verdict]) -> Verdict:
    first = verdicts[0]
    if all(one.state == first.state for one in verdicts) and not first.parts:
        return first
    parts = tuple(map(_merge_verdicts, zip(*(one.parts for one in verdicts), strict=True)))
    is_unanimous = all(one.state == first.state for one in verdicts)
    return replace(first, state=first.state if is_unanimous else "unknown", parts=parts)


def worst_state(verdicts: Iterable[Verdict]) -> State:
    """Return the state farthest from satisfied; without verdicts, satisfied."""
    return max((one.state for one in verdicts), key=_SEVERITY.__getitem__, default="satisfied")


def _severity(verdicts: Iterable[Verdict]) -> int:
    return max((_SEVERITY[verdict.state] for verdict in verdicts), default=0)
