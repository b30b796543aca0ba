"""How large a report may become, and how much work it may take."""

from collections.abc import Container, Iterator, Mapping, Sequence
from datetime import datetime

from policy_engine.decision.closures import Closures
from policy_engine.decision.compliance.reading import leaves
from policy_engine.decision.compliance.requested_rules import RequestedRule
from policy_engine.decision.facts import PURPOSE, RequestFacts
from policy_engine.decision.model import Request, World
from policy_engine.errors import RequestError
from policy_engine.policy.hierarchy import Hierarchy, Part
from policy_engine.policy.model import (
    JOINTLY,
    READ_SO_FAR,
    Condition,
    LogicalConstraint,
    Policy,
    Rule,
)
from policy_engine.policy.xsd.literals import Literals

MAX_REPORTS = 100_000
"""The maximum number of pairs of a policy's rule and a request's rule in one report.

Of the pairs of a report on a duty and a request's rule, as many are allowed.
"""
MAX_CONSTRAINTS = 100_000
"""The maximum number of results of constraints in one report, those within others too."""
MAX_COMPARISONS = 5_000_000
"""The maximum number of values and names that are compared with others for one report."""
_LEAST_OF_ONE, _MOST_OF_ONE = 5, 250_000
_OF_ASSETS = (JOINTLY, READ_SO_FAR)
"""The left operands whose values may be parts of others by their IRIs, which takes longer."""
_SPLIT = "Split the request into several."


def refuse_large_reports(
    policies: Sequence[Policy], requested_rules: Sequence[RequestedRule]
) -> None:
    """Refuse what would make a report too large. Raises RequestError (D003)."""
    rules = sum(len(policy.rules) for policy in policies)
    constraints = sum(_size(one) for bearer in _bearers(policies) for one in bearer.constraints)
    _refuse_more(rules * len(requested_rules), MAX_REPORTS, "pairs of rules")
    _refuse_more(constraints * len(requested_rules), MAX_CONSTRAINTS, "results of constraints")


def refuse_many_duties(
    policies: Sequence[Policy],
    requested_rules: Sequence[RequestedRule],
    states_by_duty: Mapping[str, Sequence[object]],
) -> None:
    """Refuse more reports on duties than are allowed.

    `states_by_duty` has those that the world tells, by uid. Raises RequestError (D003).
    """
    duties = (one for one in _bearers(policies) if one.kind in ("duty", "obligation"))
    counts = [(len(states_by_duty.get(one.uid, ())) or 1, one.constraints) for one in duties]
    reports, requests = sum(count for count, _ in counts), len(requested_rules)
    results = sum(count * sum(map(_size, constraints)) for count, constraints in counts)
    _refuse_more(reports * requests, MAX_REPORTS, "reports on duties")
    _refuse_more(results * requests, MAX_CONSTRAINTS, "results of constraints in them")


def _refuse_more(count: int, most: int, what: str) -> None:
    if count > most:
        message = f"The report would cover {count:,} {what}. Allowed are {most:,}."
        raise RequestError.of("D003", message, _SPLIT)


def _bearers(policies: Sequence[Policy]) -> Iterator[Rule]:
    """Yield all rules and their duties, whose constraints are evaluated."""
    for rule in (rule for policy in policies for rule in policy.rules):
        yield from (rule, *rule.duties)


def _size(condition: Condition) -> int:
    """Return how many results a condition has, its own and those within it."""
    within = condition.operands if isinstance(condition, LogicalConstraint) else ()
    return 1 + sum(map(_size, within))


class Work:
    """The comparisons that one report has taken so far.

    `compared` has the most values that any constraint compares a left operand with.
    """

    def __init__(
        self, policies: Sequence[Policy], referenced: Mapping[str, Sequence[Literals]]
    ) -> None:
        purposes = (len(rule.purposes) for policy in policies for rule in policy.rules)
        self.compared = {PURPOSE: max(purposes, default=1)}
        self._done = 0
        for leaf in (leaf for policy in policies for leaf in leaves(policy)):
            others = sum(len(referenced.get(name, ())) for name in leaf.references)
            count = max(1, len(leaf.right_operands) + others)
            self.compared[leaf.left_operand] = max(count, self.compared.get(leaf.left_operand, 1))

    def compare(self, left_operand: str, values: int) -> None:
        """Count the comparisons of a left operand. Raises RequestError (D003) if it is too many.

        Constraints with more than 250,000 of them are unknown without any, and one with few takes
        as long as five. So does each comparison of assets that are read together, and the longer,
        the more there are.
        """
        count = min(values * self.compared.get(left_operand, 1), _MOST_OF_ONE)
        times = _LEAST_OF_ONE + values // 50 if left_operand in _OF_ASSETS else 1
        self.add(max(count * times, _LEAST_OF_ONE))

    def add(self, comparisons: int) -> None:
        """Count comparisons, of names too. Raises RequestError (D003) if there are too many."""
        self._done += comparisons
        if self._done > MAX_COMPARISONS:
            message = f"The report would take more than {MAX_COMPARISONS:,} comparisons."
            raise RequestError.of("D003", message, _SPLIT)


class CountedClosures(Closures):
    """The closures of a hierarchy, of which the ways down, to members, are counted."""

    __slots__ = ("_work",)

    def __init__(self, hierarchy: Hierarchy, work: Work) -> None:
        super().__init__(hierarchy)
        self._work = work

    def down(self, part: Part, iri: str) -> list[str]:
        """Return an IRI and everything that edges put into it, near or far, nearest first."""
        names = super().down(part, iri)
        self._work.add(len(names))
        return names

    def has_members(self, part: Part, iri: str) -> bool:
        """Return whether edges put something into an IRI that does not include that IRI in turn."""
        self._work.add(1)
        return super().has_members(part, iri)


class CountedFacts(RequestFacts):
    """The facts of one request, whose uses are counted.

    Left operands that are only `request_operands`, not told by the world, are not values of
    references.
    """

    __slots__ = ("_asked", "_work")

    def __init__(
        self,
        request: Request,
        world: World,
        time: datetime,
        closures: Closures,
        work: Work,
        request_operands: Container[str] = (),
    ) -> None:
        super().__init__(request, world, time, closures)
        self._work = work
        self._asked = request_operands

    def referenced(self, iri: str) -> tuple[Literals, ...] | None:
        """Return the values under an IRI in the state of the world."""
        return None if iri in self._asked else super().referenced(iri)

    def values(self, left_operand: str) -> tuple[Literals, ...] | None:
        """Return the current value of a left operand, None if it is unknown."""
        values = super().values(left_operand)
        self._work.compare(left_operand, len(values or ()))
        return values
