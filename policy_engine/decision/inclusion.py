"""Which parts of a request a rule includes: party, action, assets and purpose, by hierarchies."""

from collections.abc import Sequence

from policy_engine import terms
from policy_engine.decision.clauses import Clause
from policy_engine.decision.closures import Closures
from policy_engine.decision.members import RefinedMembers
from policy_engine.decision.model import DerivationStep, Request
from policy_engine.decision.valid_models import construct
from policy_engine.policy.hierarchy import Part, Ways


class ExpandedRequest:
    """A request with everything that includes its parts, looked up once per hierarchy."""

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


def covers(clause: Clause, expanded: ExpandedRequest) -> bool:
    """Return whether a permission covers a request, apart from conditions and duties."""
    return (
        not clause.actions.isdisjoint(expanded.action)
        and (not clause.assignees or not clause.assignees.isdisjoint(expanded.party))
        and (not clause.purposes or not clause.purposes.isdisjoint(expanded.purpose))
        and (
            not clause.targets
            or all(not clause.targets.isdisjoint(ways) for ways in expanded.targets)
        )
    )


def count_uncovered(clause: Clause, expanded: ExpandedRequest) -> int:
    """Return how many parts of a request a permission does not cover."""
    targets = clause.targets
    return (
        clause.actions.isdisjoint(expanded.action)
        + (bool(clause.assignees) and clause.assignees.isdisjoint(expanded.party))
        + (bool(clause.purposes) and clause.purposes.isdisjoint(expanded.purpose))
        + (sum(map(targets.isdisjoint, expanded.targets)) if targets else 0)
    )


def overlaps_request(clause: Clause, expanded: ExpandedRequest, needed: Sequence[str]) -> bool:
    """Return whether a prohibition overlaps a request, apart from conditions."""
    targets = expanded.request.targets
    return overlaps_targets(clause, targets, expanded.closures) and overlaps_besides_targets(
        clause, expanded, needed
    )


def overlaps_targets(clause: Clause, targets: Sequence[str], closures: Closures) -> bool:
    """Return whether a prohibition overlaps one of the targets of a request."""
    return not clause.targets or any(
        closures.overlaps("asset", one, other) for one in targets for other in clause.targets
    )


def overlaps_besides_targets(
    clause: Clause, expanded: ExpandedRequest, needed: Sequence[str]
) -> bool:
    """Return whether a prohibition overlaps a request, apart from targets and conditions."""
    request, overlaps = expanded.request, expanded.closures.overlaps
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
    """Return the targets, which may be datasets, and the datasets they may be columns of."""
    return frozenset((*targets, *filter(None, map(terms.dataset_of, targets))))


def derivation_steps(
    clause: Clause, expanded: ExpandedRequest, *, from_rule: bool = False
) -> tuple[DerivationStep, ...]:
    """Return the paths by which the parts of a request are included in those of a rule.

    With `from_rule`, used for prohibitions, a path may also lead from the rule to the request.
    """
    request = expanded.request
    parts: list[tuple[Part, str, Ways, frozenset[str]]] = [
        ("party", request.assignee, expanded.party, clause.assignees),
        ("action", request.action, expanded.action, clause.actions),
        *(
            ("asset", target, ways, clause.targets)
            for target, ways in zip(request.targets, expanded.targets, strict=True)
        ),
        ("purpose", request.purpose, expanded.purpose, clause.purposes),
    ]
    steps = []
    for part, name, ways, included in parts:
        path = _shortest_path(ways, included) if included else ()
        if from_rule and included and not path:
            path = _path_from_rule(part, name, included, expanded.closures)
        if path:
            steps.append(construct(DerivationStep, part=part, path=path))
    return tuple(steps)


def _path_from_rule(
    part: Part, name: str, included: frozenset[str], closures: Closures
) -> tuple[str, ...]:
    """Return the shortest path from a part of a rule up to the requested name, if any."""
    candidates = [one for one in sorted(included) if name and closures.overlaps(part, name, one)]
    # Actions that may be the same do not include each other: there is no path between them.
    paths = [closures.up(part, one).to(name) for one in candidates]
    # A possible part of an asset is shown as a path of two names, a possible action is not.
    choices = (
        [*filter(None, paths)]
        if part == "action"
        else [path or (one, name) for path, one in zip(paths, candidates, strict=True)]
    )
    return min(choices, key=len, default=())


def _shortest_path(ways: Ways, included: frozenset[str]) -> tuple[str, ...]:
    """Return the shortest path up to one of the names; `ways` lists shorter paths first."""
    if len(included) == 1:
        [only] = included
        return ways.to(only)
    return next((ways.to(wide) for wide in ways if wide in included), ())
