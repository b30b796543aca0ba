"""Policies of plain ODRL, read leniently: for reports on what others wrote.

The reader is the one that policies are read with, and lets pass what ODRL allows, or what is often
found in RDF, and the engine has no use for:

- policies without a name of their own, or of the types Privacy, Assertion and Ticket or of none,
  in a text that holds other things as well: a request, what the world is like;
- rules without an action, a target or an assignee, an asset or party without a name, a duty of
  which nothing is said;
- profiles, operands and actions of other vocabularies, and what those say of a policy, a party, an
  asset or an action, of whatever class it is;
- a collection with refinements that has a name of its own, an action that is refined under its own;
- one operand of a logical constraint, unordered ones of `andSequence`, several right operands of
  any operator, a reference beside them, a value of another type than `dataType`;
- policies that were replaced, that have no rule, or two rules that conflict.

Never lets pass: a property of ODRL's where it means nothing, any other that stands in a rule or
a constraint, an operator, an action or a left operand that ODRL lacks, a literal in the place of a
name, a value that is none of its type, a rule that no policy holds, a parent that is not in the
text, and whatever is too large.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from policy_engine import terms
from policy_engine.errors import PolicyError, Problem, place_order
from policy_engine.policy.model import Policy
from policy_engine.policy.reading.inheritance import PARENT_HINT, inherited
from policy_engine.policy.reading.policy_reader import PolicyReader
from policy_engine.policy.reading.walker import Walker
from policy_engine.policy.structure import (
    INHERIT,
    INNER_KINDS,
    KINDS,
    OTHER_POLICY_TYPES,
    POLICY_TYPES,
)
from policy_engine.policy.syntax.json_ld import Graph, Node
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS, Limits
from policy_engine.policy.validation.checks import hazards_of
from policy_engine.policy.vocabulary import NONE, Vocabulary

_ODRL = terms.ODRL
_TYPES = {f"{_ODRL}{name}" for name in (*POLICY_TYPES, *OTHER_POLICY_TYPES)}
_RULES = tuple(f"{_ODRL}{kind}" for kind in KINDS)
_RULE_PROPERTIES = tuple(f"{_ODRL}{kind}" for kind in INNER_KINDS)
_RULE_TYPES = {f"{_ODRL}{name}" for name in ("Permission", "Prohibition", "Duty")}
_REQUEST = f"{_ODRL}Request"
_BESIDE = "Put it into the same text."


def read_plain_odrl(
    graph: Graph, source: str = "", limits: Limits = DEFAULT_LIMITS, vocabulary: Vocabulary = NONE
) -> tuple[Policy, ...]:
    """Return the policies of a graph in which every node is at the top, in its order.

    They may inherit from one another; no conflict strategy is enforced. Names are those of nodes,
    blank ones too. Raises PolicyError with every problem found, also where there is no policy.
    """
    reader = PolicyReader(graph, limits, vocabulary, is_lenient=True)
    own = _policy_nodes(graph.nodes)
    drafts = reader.read(source, [*own, *_parent_nodes(graph.nodes, own)] if own else ())
    _refuse_loose_rules(reader.walker)
    policies, problems = inherited(drafts, (), reader.parents_at, limits, reader.replace_text)
    problems = [*reader.walker.problems, *map(_require_in_text, problems)]
    problems += hazards_of(policies) if not problems else ()
    if problems:
        raise PolicyError(*sorted(dict.fromkeys(problems), key=place_order), source=source)
    return tuple(policies[: len(own)])


def _require_in_text(problem: Problem) -> Problem:
    """Return a problem with a parent: it has to be in the text, and is never given beside it."""
    return replace(problem, hint=_BESIDE) if problem.hint == PARENT_HINT else problem


def _policy_nodes(nodes: Sequence[Node]) -> list[Node]:
    """Return the policies among the nodes of a text: what has rules, or is of a policy's type."""
    candidates = [
        node for node in nodes if {*_RULES} & node.data.keys() or _TYPES & _node_types(node)
    ]
    referenced = _referenced_ids(candidates, _RULES)
    own = (node for node in candidates if _REQUEST not in _node_types(node))
    return [node for node in own if node.data["@id"] not in referenced]


def _parent_nodes(nodes: Sequence[Node], own: Sequence[Node]) -> list[Node]:
    """Return what others inherit from, and has neither rules nor the type of a policy itself."""
    parents, known = _referenced_ids(nodes, (INHERIT,)), {node.data["@id"] for node in own}
    return [node for node in nodes if node.data["@id"] in parents - known]


def _refuse_loose_rules(walker: Walker) -> None:
    """Note the rules that nothing holds: a prohibition would be lost without a word."""
    referenced = _referenced_ids(walker.graph.nodes, _RULE_PROPERTIES)
    for node in walker.graph.nodes:
        if node.data["@id"] not in referenced and _RULE_TYPES & _node_types(node):
            message = f"The rule {node.data['@id']!r} is not in any policy."
            walker.add("P004", message, "Let a policy refer to it, or remove it.", node)


def _referenced_ids(nodes: Iterable[Node], props: Iterable[str]) -> set[str]:
    properties = [*props]
    values = (one for node in nodes for prop in properties for one in node.data.get(prop, ()))
    return {one["@id"] for one in values if "@id" in one}


def _node_types(node: Node) -> set[str]:
    return set(node.data.get("@type", ()))
