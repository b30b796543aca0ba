"""One rule evaluated against one request: what includes what, and whether its conditions hold."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from policy_engine import terms
from policy_engine.decision.closures import Closures
from policy_engine.decision.conditions import State, Verdict, evaluate
from policy_engine.decision.facts import RequestFacts
from policy_engine.decision.index import Clause
from policy_engine.decision.members import RefinedMembers
from policy_engine.decision.model import DerivationStep, OutstandingDuty, Request
from policy_engine.decision.verdict import unknown_operands
from policy_engine.policy import Action, Asset, Condition, Party, Rule
from policy_engine.policy.hierarchy import Part, Ways
from policy_engine.policy.labels import is_made_up
from policy_engine.policy.model import COUNTS, OFFER


@dataclass(frozen=True, slots=True)
class RuleMatch:
    """What came of holding a rule against a request.

    `missing` says what keeps a permission from covering it, a sentence each; `done` by what its
    duties are fulfilled.
    """

    clause: Clause
    steps: tuple[DerivationStep, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    owed: tuple[OutstandingDuty, ...] = ()
    missing: tuple[str, ...] = ()
    done: tuple[str, ...] = ()


class ExpandedRequest:
    """A request with all that includes its parts, looked up once for each hierarchy."""

    __slots__ = ("action", "closures", "members", "party", "purpose", "request", "targets")

    def __init__(self, request: Request, closures: Closures, members: RefinedMembers) -> None:
        up = closures.up
        self.request = request
        self.closures = closures
        self.members = members
        self.party = up("party", request.assignee)
        self.action = up("action", request.action)
        self.targets = [up("asset", target) for target in request.targets]
        self.purpose = up("purpose", request.purpose) if request.purpose else Ways()


def covers(clause: Clause, asked: ExpandedRequest) -> bool:
    """Tell whether a permission covers a request, its conditions and duties left aside."""
    return (
        not clause.actions.isdisjoint(asked.action)
        and (not clause.assignees or not clause.assignees.isdisjoint(asked.party))
        and (not clause.purposes or not clause.purposes.isdisjoint(asked.purpose))
        and (
            not clause.targets or all(not clause.targets.isdisjoint(ways) for ways in asked.targets)
        )
    )


def count_uncovered(clause: Clause, asked: ExpandedRequest) -> int:
    """Return how many parts of a request a permission does not cover."""
    targets = clause.targets
    return (
        clause.actions.isdisjoint(asked.action)
        + (bool(clause.assignees) and clause.assignees.isdisjoint(asked.party))
        + (bool(clause.purposes) and clause.purposes.isdisjoint(asked.purpose))
        + (sum(map(targets.isdisjoint, asked.targets)) if targets else 0)
    )


def match_permission(
    clause: Clause,
    asked: ExpandedRequest,
    facts: RequestFacts,
    *,
    rows: bool = False,
    unheard: str = "",
) -> RuleMatch:
    """Hold a permission against a request. With `rows`, what depends on rows is left aside.

    `unheard` is why it does not count, if it does not, whatever else holds.
    """
    if clause.is_plain and not unheard and covers(clause, asked):
        return RuleMatch(clause, derivation_steps(clause, asked))
    missing = [*_uncovered_parts(clause, asked), *filter(None, [unheard])]
    if clause.policy.type == OFFER:
        missing.append("its policy is an Offer, which proposes and grants nothing")
    verdicts = () if missing else _permission_verdicts(clause, asked, facts)
    datasets = (facts.rows or possible_datasets(asked.request.targets)) if verdicts else ()
    for verdict in verdicts:
        about = is_about_rows(verdict.condition, datasets)
        if verdict.state != "satisfied" and not (rows and about):
            missing.append(_unmet_condition(verdict, facts, about=about))
    duties = () if missing else tuple(_rule_duty_outcomes(clause, facts))
    owed = tuple(one for one in duties if isinstance(one, OutstandingDuty))
    missing += [_describe_outstanding(one, facts) for one in owed]
    found = derivation_steps(clause, asked) if not missing else ()
    done = () if missing else tuple(one for one in duties if isinstance(one, str))
    return RuleMatch(clause, found, verdicts, owed, tuple(missing), done)


def match_prohibition(
    clause: Clause,
    asked: ExpandedRequest,
    own: Closures,
    facts: RequestFacts,
    needed: Sequence[str],
) -> RuleMatch | None:
    """Return how a prohibition applies to a request, None where it is known not to.

    `asked` is the request by all that is known, `own` are the closures of the rule's own policy.
    `needed` are the actions asked for and those that must not be prohibited for them.
    """
    if not overlaps_request(clause, asked, needed):
        return None
    verdicts = () if clause.is_plain else _prohibition_verdicts(clause, asked, own, facts, needed)
    if verdicts is None:
        return None
    return RuleMatch(clause, derivation_steps(clause, asked, from_below=True), verdicts)


def overlaps_request(clause: Clause, asked: ExpandedRequest, needed: Sequence[str]) -> bool:
    """Tell whether a prohibition overlaps a request, its conditions left aside."""
    overlaps = asked.closures.overlaps
    if clause.targets and not any(
        overlaps("asset", one, other) for one in asked.request.targets for other in clause.targets
    ):
        return False
    return overlaps_besides_targets(clause, asked, needed)


def overlaps_besides_targets(clause: Clause, asked: ExpandedRequest, needed: Sequence[str]) -> bool:
    """Tell whether a prohibition overlaps a request, its targets and conditions left aside."""
    request, overlaps = asked.request, asked.closures.overlaps
    if not any(overlaps("action", verb, other) for verb in needed for other in clause.actions):
        return False
    if clause.assignees and not any(
        overlaps("party", request.assignee, other) for other in clause.assignees
    ):
        return False
    return (
        not clause.purposes
        or not request.purpose
        or any(overlaps("purpose", request.purpose, other) for other in clause.purposes)
    )


def possible_datasets(targets: Sequence[str]) -> frozenset[str]:
    """Return what targets are columns of by their name, and the targets, which may be datasets."""
    return frozenset((*targets, *filter(None, map(terms.dataset_of, targets))))


def is_about_rows(condition: Condition, datasets: Collection[str]) -> bool:
    """Tell whether a condition depends on values in the rows of datasets."""
    return any(
        not leaf.left_operand.startswith(terms.ODRL)
        and terms.dataset_of(leaf.left_operand) in datasets
        for leaf in condition.constraints()
    )


def derivation_steps(
    clause: Clause, asked: ExpandedRequest, *, from_below: bool = False
) -> tuple[DerivationStep, ...]:
    """Return the ways by which the parts of a request are included in those of a rule.

    With `from_below`, as for prohibitions, a part of the rule may be what is included.
    """
    request = asked.request
    parts: list[tuple[Part, str, Ways, frozenset[str]]] = [
        ("party", request.assignee, asked.party, clause.assignees),
        ("action", request.action, asked.action, clause.actions),
        *(
            ("asset", target, ways, clause.targets)
            for target, ways in zip(request.targets, asked.targets, strict=True)
        ),
        ("purpose", request.purpose, asked.purpose, clause.purposes),
    ]
    found = []
    for part, name, ways, wanted in parts:
        way = _shortest_path(ways, wanted) if wanted else ()
        if from_below and wanted and not way:
            way = _path_from_rule(part, name, wanted, asked.closures)
        if way:
            found.append(DerivationStep.model_construct(part=part, path=way))
    return tuple(found)


def _path_from_rule(
    part: Part, name: str, wanted: frozenset[str], closures: Closures
) -> tuple[str, ...]:
    """Return the way from a part of a rule up to what is asked for, or that may be one."""
    below = [one for one in sorted(wanted) if name and closures.overlaps(part, name, one)]
    # Of actions, what might be one another is part of neither: no way can be told.
    known = [closures.up(part, one).to(name) for one in below]
    # What an asset might be part of is told as such, what an action might be is not.
    ways = (
        [*filter(None, known)]
        if part == "action"
        else [way or (one, name) for way, one in zip(known, below, strict=True)]
    )
    return min(ways, key=len, default=())


def _shortest_path(ways: Ways, wanted: frozenset[str]) -> tuple[str, ...]:
    """Return the shortest way up to one of the wanted; shorter ways stand first."""
    if len(wanted) == 1:
        [only] = wanted
        return ways.to(only)
    return next((ways.to(wide) for wide in ways if wide in wanted), ())


# -- what is missing ------------------------------------------------------------------------------


def _uncovered_parts(clause: Clause, asked: ExpandedRequest) -> Iterator[str]:
    """Yield what keeps a permission from covering the parts of a request."""
    request, rule = asked.request, clause.rule
    if clause.assignees and clause.assignees.isdisjoint(asked.party):
        yield f"it is for {_format_names(rule.assignees)}, not {request.assignee}"
    if clause.actions.isdisjoint(asked.action):
        yield f"it permits {_format_names(rule.actions)}, not {terms.compact(request.action)}"
    for target, ways in zip(request.targets, asked.targets, strict=True):
        if clause.targets and clause.targets.isdisjoint(ways):
            yield f"it does not cover {target}"
    if clause.purposes and clause.purposes.isdisjoint(asked.purpose):
        named = " or ".join(map(terms.compact, rule.purposes))
        given = f"not {terms.compact(request.purpose)}" if request.purpose else _NO_PURPOSE
        yield f"it is for the purpose {named}, {given}"


_NO_PURPOSE = "and the request names none"


def _unmet_condition(verdict: Verdict, facts: RequestFacts, *, about: bool) -> str:
    if about:
        return "its constraint is about single rows, which a query can be filtered by"
    is_for_log = facts.history is None and any(one in COUNTS for one in unknown_operands(verdict))
    is_uncounted = verdict.state == "unknown" and is_for_log
    doubt = facts.doubt(facts.world.counts, facts.rule)
    needed = (doubt or " without a decision log") if is_uncounted else ""
    return f"its constraint is {verdict.state}: {verdict.reason}{needed}"


def _rule_duty_outcomes(clause: Clause, facts: RequestFacts) -> Iterator[OutstandingDuty | str]:
    for duty in clause.rule.duties:
        yield from _duty_outcomes(duty, clause, facts)


def outstanding_duties(
    duty: Rule, clause: Clause, facts: RequestFacts, doers: Sequence[str] = ()
) -> Iterator[OutstandingDuty]:
    """Yield a duty unless it is fulfilled, and the consequences of one that was violated.

    It is owed by `doers`, else by its assignees or whoever asks.
    """
    found = _duty_outcomes(duty, clause, facts, doers)
    yield from (one for one in found if isinstance(one, OutstandingDuty))


def _duty_outcomes(
    duty: Rule,
    clause: Clause,
    facts: RequestFacts,
    doers: Sequence[str] = (),
    since: datetime | None = None,
) -> Iterator[OutstandingDuty | str]:
    """Yield what became of a duty, and of the consequences of one that was violated.

    Where it is fulfilled, a sentence tells by what. It is owed by `doers`, else by its assignees
    or whoever asks, `since` a moment where that is known. What was violated and is made good
    later still has its consequences.
    """
    named = tuple(doers) or _iris(duty.assignees)
    found = facts.settled(
        duty, clause.label, clause.policy, named or (facts.request.assignee,), since
    )
    state = facts.performance(duty, clause.policy, found.values())
    if state != "fulfilled":
        yield OutstandingDuty(
            policy=clause.policy.uid,
            rule=clause.label,
            duty=duty.label(),
            actions=tuple(action.iri for action in duty.actions),
            by=named,
            state="violated" if state else "outstanding",
        )
    else:
        name = duty.uid or " and ".join(terms.compact(action.iri) for action in duty.actions)
        yield f"its {duty.kind} {name} is {facts.fulfilment(duty, clause.policy, found.values())}"
    # What is said to be fulfilled elsewhere is not missed for want of a word in the log.
    missed = {
        party: one.missed
        for party, one in found.items()
        if one.missed and (one.is_told or state != "fulfilled")
    }
    if missed or state == "violated":
        moment = min(missed.values(), default=None)
        for consequence in duty.consequences:
            theirs = _iris(consequence.assignees) or (*missed,) or named
            yield from _duty_outcomes(consequence, clause, facts, theirs, moment)


def _iris(parties: Sequence[Party]) -> tuple[str, ...]:
    return tuple(party.iri for party in parties)


def _describe_outstanding(owed: OutstandingDuty, facts: RequestFacts) -> str:
    doubt = facts.doubt(facts.world.duties, owed.duty)
    return f"its duty {_duty_actions(owed)} is {owed.state} ({owed.duty}){doubt}"


def _duty_actions(owed: OutstandingDuty) -> str:
    return " and ".join(map(terms.compact, owed.actions)) or owed.duty


# -- conditions -----------------------------------------------------------------------------------

_SEVERITY: Mapping[State, int] = {"satisfied": 0, "unknown": 1, "unsatisfied": 2}
_Verdicts = tuple[Verdict, ...]
_Member = Party | Asset | Action
_Group = tuple[Part, Sequence[_Member], Sequence[str]]
"""What a rule names in a part, and what of a request that has to be matched with."""


def _permission_verdicts(clause: Clause, asked: ExpandedRequest, facts: RequestFacts) -> _Verdicts:
    """Return what the conditions of a permission evaluate to, and the refinements.

    Every one of the members that could be meant has to meet the refinements. Where several of
    its parties, assets or actions cover a name, that counts whose refinements come out best.
    """
    rule, request = clause.rule, asked.request
    _set_rule(facts, clause, asked.closures, asked.closures)
    found = [evaluate(condition, facts) for condition in rule.constraints]
    groups: list[_Group] = [
        ("party", rule.assignees, [request.assignee]),
        ("action", rule.actions, [request.action]),
        *(("asset", rule.targets, [target]) for target in request.targets),
    ]
    for part, members, [name] in groups:
        if _are_refined(members):
            covering = [one for one in members if one.iri in asked.closures.up(part, name)]
            options = [
                _join_alternatives([*_alternatives(part, name, one, asked, facts)])
                for one in covering
            ]
            found += min(options, key=_severity, default=())
    return tuple(found)


def _prohibition_verdicts(
    clause: Clause,
    asked: ExpandedRequest,
    own: Closures,
    facts: RequestFacts,
    needed: Sequence[str],
) -> _Verdicts | None:
    """Return what the conditions of a prohibition that overlaps a request evaluate to.

    None where it is lifted: a constraint is unsatisfied, or for each member that could be meant
    a refinement. One member of whom that is not known is enough for it to apply.
    """
    rule, request = clause.rule, asked.request
    _set_rule(facts, clause, own, asked.closures)
    found = [evaluate(condition, facts) for condition in rule.constraints]
    if any(verdict.state == "unsatisfied" for verdict in found):
        return None
    groups: list[_Group] = [
        ("party", rule.assignees, [request.assignee]),
        ("action", rule.actions, needed),
        ("asset", rule.targets, request.targets),
    ]
    for part, members, names in groups:
        if _are_refined(members):
            options = [*_remaining_verdicts(part, names, members, asked, facts)]
            if not options:
                return None
            found += min(options, key=_severity)
    return tuple(found)


def _set_rule(facts: RequestFacts, clause: Clause, own: Closures, known: Closures) -> None:
    facts.policy, facts.rule = clause.policy.uid, clause.label
    made_up = is_made_up(clause.label)
    facts.digest = clause.policy.digest if made_up else ""
    facts.counted = (clause.policy, clause.rule) if made_up else None
    facts.defined = clause.policy.vocabulary.operands
    facts.own, facts.all = own, known


def _are_refined(members: Sequence[_Member]) -> bool:
    return any(member.refinements for member in members)


def _remaining_verdicts(
    part: Part,
    names: Sequence[str],
    members: Sequence[_Member],
    asked: ExpandedRequest,
    facts: RequestFacts,
) -> Iterator[_Verdicts]:
    """Yield, for each of several members that overlaps a name, how it is left to apply."""
    for member in members:
        left = [
            verdicts
            for name in names
            if asked.closures.overlaps(part, name, member.iri)
            for verdicts in _alternatives(part, name, member, asked, facts)
            if _severity(verdicts) < _SEVERITY["unsatisfied"]
        ]
        if left:
            # Of rows, each of those that are left counts: some may hold of a row and others not.
            yield _merge_rows(left) if facts.rows else min(left, key=_severity)


def _alternatives(
    part: Part, name: str, member: _Member, asked: ExpandedRequest, facts: RequestFacts
) -> Iterator[_Verdicts]:
    """Yield what a member's refinements evaluate to of each that it could mean of a name."""
    if not member.refinements:
        yield ()
        return
    for about in _possible_members(part, name, member, asked, facts):
        facts.about, facts.part = about, part
        facts.is_act = part == "action" and about == asked.request.action
        yield tuple([evaluate(one, facts) for one in member.refinements])
        facts.about, facts.is_act = None, False


def _possible_members(
    part: Part, name: str, member: _Member, asked: ExpandedRequest, facts: RequestFacts
) -> Sequence[str]:
    if part == "action":
        reach, source = asked.closures.reach, member.iri
        found = [name] if source in reach(part, name) else []
        return [*found, source] if name in reach(part, source) and name != source else found
    return asked.members.of(part, name, member.iri, member.refinements, facts.own, asked.closures)


def _join_alternatives(alternatives: Sequence[_Verdicts]) -> _Verdicts:
    """Return what tells whether all alternatives are satisfied: the first, and what is not."""
    others = (one for rest in alternatives[1:] for one in rest if one.state != "satisfied")
    return tuple(dict.fromkeys((*alternatives[0], *others)))


def _merge_rows(alternatives: Sequence[_Verdicts]) -> _Verdicts:
    """Return what is so by all of several, and unknown where they differ."""
    return tuple(map(_merge_verdicts, zip(*alternatives, strict=True)))


def _merge_verdicts(verdicts: Sequence[Verdict]) -> Verdict:
    first = verdicts[0]
    if all(one.state == first.state for one in verdicts) and not first.parts:
        return first
    parts = tuple(map(_merge_verdicts, zip(*(one.parts for one in verdicts), strict=True)))
    is_one = all(one.state == first.state for one in verdicts)
    return replace(first, state=first.state if is_one else "unknown", parts=parts)


def _severity(verdicts: Iterable[Verdict]) -> int:
    return max((_SEVERITY[verdict.state] for verdict in verdicts), default=0)


def _format_names(members: Sequence[Party | Asset | Action]) -> str:
    return " or ".join(terms.compact(member.iri) for member in members)
