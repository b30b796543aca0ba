"""What a condition can be held against: a request, and the state of the world."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, tzinfo

from policy_engine import terms
from policy_engine.decision.closures import Closures
from policy_engine.decision.model import Performance, Request, World
from policy_engine.policy import Policy, Rule
from policy_engine.policy.hierarchy import PARTS
from policy_engine.policy.values import Literals

_TIME, _PURPOSE, _COUNT = (f"{terms.ODRL}{name}" for name in ("dateTime", "purpose", "count"))


class RequestFacts:
    """The facts of one request, for the conditions of any rule that covers it.

    `about` says of what a refinement speaks, a party, an asset or an action; `rule` whose
    executions are counted. With `rows`, datasets, nothing is known of their columns: each row
    has values of its own. What is said under a label of `unclear` may be of another rule: nothing
    is known by it.
    """

    __slots__ = (
        "about",
        "certified",
        "closures",
        "request",
        "rows",
        "rule",
        "time",
        "unclear",
        "world",
        "zone",
    )

    def __init__(self, request: Request, world: World, time: datetime, closures: Closures) -> None:
        self.request = request
        self.world = world
        self.time = time
        self.zone: tzinfo = time.tzinfo or UTC
        self.closures = closures
        self.about = ""
        self.rule = ""
        self.rows: frozenset[str] = frozenset()
        self.unclear: frozenset[str] = frozenset()
        self.certified: Collection[int] = frozenset()

    def values(self, left_operand: str) -> tuple[Literals, ...] | None:
        """Return what a left operand is now, None where that is not known."""
        if self.rows and terms.dataset_of(left_operand) in self.rows:
            return None
        if self.about:
            found = self.world.of.get(self.about, {}).get(left_operand)
            if found is not None:
                return found
        if left_operand == _TIME:
            return (self.time,)
        if left_operand == _PURPOSE and self.request.purpose:
            return (self.request.purpose,)
        if left_operand == _COUNT and self.rule in self.world.counts:
            return None if self.rule in self.unclear else (self.world.counts[self.rule],)
        return self.world.values.get(left_operand)

    def performance(self, duty: Rule) -> Performance | None:
        """Return what became of a duty, by its label; None where that is not known.

        One that a certificate shows to be fulfilled is, unless it is said to be violated.
        """
        label = duty.label()
        said = None if label in self.unclear else self.world.duties.get(label)
        return said or ("fulfilled" if id(duty) in self.certified else None)

    def referenced(self, iri: str) -> tuple[Literals, ...] | None:
        """Return the values that stand under an IRI in the state of the world."""
        return self.world.values.get(iri)

    def includes(self, left_operand: str, narrow: str, wide: str) -> bool:
        """Tell whether one IRI includes another: of purposes among these, else anywhere."""
        parts = ("purpose",) if left_operand == _PURPOSE else PARTS
        return any(wide in self.closures.up(part, narrow) for part in parts)


def unclear_labels(policies: Sequence[Policy]) -> frozenset[str]:
    """Return the labels that several rules have; one without a uid goes by where it stands."""
    known: dict[str, set[int]] = defaultdict(set)
    rules = [rule for policy in policies for rule in policy.rules]
    for rule in rules:
        rules += rule.within
        if not rule.uid:
            known[rule.label()].add(id(rule))
    return frozenset(label for label, ones in known.items() if len(ones) > 1)
