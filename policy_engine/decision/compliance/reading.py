"""The policies of a compliance case, read leniently by the engine's own reader."""

from collections.abc import Iterator
from itertools import chain

from policy_engine import terms
from policy_engine.data.rdf.statements import Literal, Term
from policy_engine.decision.compliance.expanding import expanded
from policy_engine.decision.compliance.graph import StatementGraph
from policy_engine.errors import RequestError
from policy_engine.policy.hierarchy import Hierarchy
from policy_engine.policy.model import IRI, Action, Asset, Constraint, Party, Policy, Value
from policy_engine.policy.reading.lenient import read_plain_odrl
from policy_engine.policy.reading.operands import read_operand
from policy_engine.policy.reading.walker import Walker
from policy_engine.policy.structure import REFERENCE, RIGHT
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS, Limits
from policy_engine.policy.vocabulary import NONE, Vocabulary


def read_policies(
    graph: StatementGraph, limits: Limits = DEFAULT_LIMITS, vocabulary: Vocabulary = NONE
) -> tuple[Policy, ...]:
    """Return the policies of a text, in its order; `lenient.py` says what they may leave out.

    Raises PolicyError for a text without a policy (P001), and for one that cannot be understood.
    """
    return read_plain_odrl(expanded(graph), graph.source, limits, vocabulary)


def hierarchy_of(graph: StatementGraph, vocabulary: Vocabulary = NONE) -> Hierarchy:
    """Return what a text says about who and what is part of what.

    Members of a collection's source are members of the collection. Raises RequestError for one
    that cannot be understood, such as a text in the place of a name (P007).
    """
    walker = Walker(expanded(graph), vocabulary, is_lenient=True)
    walker.read_all_memberships()
    if walker.problems:
        raise RequestError(*dict.fromkeys(walker.problems), source=graph.source)
    return walker.hierarchy()


def values(graph: StatementGraph, name: str) -> tuple[Term, ...]:
    """Return what a constraint compares its left operand with, as written."""
    nodes = graph.named.get(name, ())
    return tuple(one for node in nodes for one in graph.values(node, RIGHT, REFERENCE))


def value_of(term: Term) -> Value:
    """Return the value of a term. Raises ValueError for a text that is not one of its type."""
    if not isinstance(term, Literal):
        return Value(terms.canonical(term), type=IRI)
    kind = term.type
    return Value(read_operand(term.text, kind, ""), type=kind)


def leaves(policy: Policy) -> Iterator[Constraint]:
    """Yield the constraints and refinements of a policy, and those within others one by one."""
    for rule in chain.from_iterable((one, *one.all_nested_rules()) for one in policy.rules):
        parties = (rule.assigners, rule.assignees, *rule.functions.values())
        members: Iterator[Party | Asset | Action] = chain(rule.targets, rule.actions, *parties)
        refinements = (condition for one in members for condition in one.refinements)
        for condition in chain(rule.constraints, refinements):
            yield from condition.constraints()
