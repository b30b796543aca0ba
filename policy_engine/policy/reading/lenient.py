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

Never lets pass: a property of ODRL's where it means nothing, any other that stands in a rule or a
constraint, an operator, an action or a left operand that ODRL lacks, a literal in the place of a
name, a value that is none of its type, a policy of two types, a rule of a policy of which nothing
is said, a part of a policy that no policy holds, a purpose of anything but a rule, a nameless
collection with two sources or with more than ODRL says of one, an action with a name of its own
and an rdf:value, a name that is almost one of ODRL's, a request that is a policy, a parent that is
not in the text, and whatever is too large.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from policy_engine import terms
from policy_engine.errors import PolicyError, Problem, join_names, place_order
from policy_engine.policy.model import LOGICAL, Policy
from policy_engine.policy.reading.inheritance import PARENT_HINT, inherited
from policy_engine.policy.reading.policy_reader import PolicyReader
from policy_engine.policy.reading.walker import Walker
from policy_engine.policy.structure import (
    CONSTRAINT,
    CONSTRAINT_PROPERTIES,
    INHERIT,
    INNER_KINDS,
    KINDS,
    OTHER_POLICY_TYPES,
    OUTPUT,
    POLICY_TYPES,
    PROFILE,
    REFINEMENT,
    VALUE,
    policy_properties,
    rule_properties,
    shared,
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
_REQUESTS = {_REQUEST, f"{terms.SOTW}EvaluationRequest"}
_NEARLY_ODRL = re.compile(
    r"odrl:|https?://(www\.)?w3\.org(:[0-9]+)?/+ns/+odrl([/#0-9]|$)", re.IGNORECASE
)
_MEANT = (_ODRL, terms.MOSAICROWN, VALUE)
"""The properties whose values are read."""
_HOLDING = {*_RULE_PROPERTIES, *_RULES, *LOGICAL, *shared(), CONSTRAINT, REFINEMENT, OUTPUT, VALUE}
"""What leads from a policy to what it consists of."""
_WIDEST = {f"{_ODRL}{name}" for name in ("relation", "function", "failure", "operand")}
"""What targets, parties, remedies and constraints are kinds of, and no part of a policy has."""
_OF_POLICIES = _HOLDING.union(
    policy_properties(), *map(rule_properties, INNER_KINDS), CONSTRAINT_PROPERTIES, _WIDEST
) - {VALUE}
"""What says something only within a policy."""
_NEVER_ASKED = {f"{_ODRL}prohibition", f"{_ODRL}obligation"}
_BESIDE = "Put it into the same text."


def read_plain_odrl(
    graph: Graph, source: str = "", limits: Limits = DEFAULT_LIMITS, vocabulary: Vocabulary = NONE
) -> tuple[Policy, ...]:
    """Return the policies of a graph in which every node is at the top, in its order.

    They may inherit from one another; no conflict strategy is enforced. Names are those of nodes,
    blank ones too. Raises PolicyError with all problems, also for a text without a policy.
    """
    reader = PolicyReader(graph, limits, vocabulary, is_lenient=True)
    own = _policy_nodes(graph.nodes)
    _refuse_near_names(reader.walker)
    _refuse_requests(reader.walker)
    drafts = reader.read(source, [*own, *_parent_nodes(graph.nodes, own)] if own else ())
    _refuse_loose_rules(reader.walker)
    _refuse_loose_parts(reader.walker, own)
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
    parents, inner = _referenced_ids(nodes, (INHERIT,)), {node.data["@id"] for node in own}
    return [node for node in nodes if node.data["@id"] in parents - inner]


def _refuse_loose_rules(walker: Walker) -> None:
    """Note the rules that nothing holds: a prohibition would be lost without a word."""
    referenced = _referenced_ids(walker.graph.nodes, _RULE_PROPERTIES)
    for node in walker.graph.nodes:
        if node.data["@id"] not in referenced and _RULE_TYPES & _node_types(node):
            message = f"The rule {node.data['@id']!r} is not in any policy."
            walker.add("P004", message, "Let a policy refer to it, or remove it.", node)


def _refuse_loose_parts(walker: Walker, own: Iterable[Node]) -> None:
    """Note what nothing holds, and says what only policies and their parts can say.

    Where there are problems already, that may follow from them.
    """
    if walker.problems:
        return
    nodes = {node.data["@id"]: node for node in walker.graph.nodes}
    parents = _referenced_ids(nodes.values(), (INHERIT,))
    held = _held(nodes, {node.data["@id"] for node in own} | parents, ())
    asking = {name for name, node in nodes.items() if _REQUESTS & _node_types(node)}
    held |= _held(nodes, asking, (terms.SOTW,))
    for name, node in nodes.items():
        names = sorted(map(terms.compact, _OF_POLICIES & node.data.keys()))
        if names and name not in held and not _RULE_TYPES & _node_types(node):
            message = "No policy refers to this object, so what it says would be lost: "
            message += f"{join_names(names)}."
            walker.add("P006", message, f"Refer to {name!r} from a policy, or remove it.", node)


def _held(nodes: Mapping[str, Node], roots: set[str], others: tuple[str, ...]) -> set[str]:
    """Return what nodes lead to, by the properties of policies and of `others`, as namespaces."""
    held, queue = set(roots), [*roots]
    while queue:
        node = nodes.get(queue.pop())
        data = node.data if node else {}
        props = [prop for prop in data if prop in _HOLDING or prop.startswith(others)]
        names = {one["@id"] for prop in props for one in _members(data[prop]) if "@id" in one}
        queue += names - held
        held |= names
    return held


def _refuse_near_names(walker: Walker) -> None:
    """Report names that misspell ODRL's namespace, which would pass for another vocabulary's."""
    for node in walker.graph.nodes:
        for prop in [one for one in node.data if not one.startswith("@")]:
            if is_nearly_odrl(prop):
                _add_near_name(walker, prop, node, prop)
            is_read = prop.startswith(_MEANT) and prop != PROFILE
            for index, value in enumerate(_members(node.data[prop]) if is_read else ()):
                if is_nearly_odrl(value.get("@id", "")):
                    _add_near_name(walker, value["@id"], node, prop, index)
        for name in filter(is_nearly_odrl, node.data.get("@type", ())):
            _add_near_name(walker, name, node, "@type")


def _add_near_name(walker: Walker, name: str, node: Node, prop: str, index: int = 0) -> None:
    message = f"{name!r} is not a term of ODRL, and almost one."
    walker.add("P005", message, f"The names of ODRL begin with {_ODRL!r}.", node, prop, index)


def is_nearly_odrl(name: str) -> bool:
    """Tell whether a name is in a namespace that is almost that of ODRL."""
    return not name.startswith(_ODRL) and _NEARLY_ODRL.match(name) is not None


def _refuse_requests(walker: Walker) -> None:
    """Note the requests that are policies as well, or prohibit or oblige: that would be lost."""
    for node in walker.graph.nodes:
        types = _node_types(node)
        if _REQUEST in types and (_TYPES & types or _NEVER_ASKED & node.data.keys()):
            message = f"{node.data['@id']!r} is an odrl:Request, and a policy as well."
            walker.add("P001", message, "Give each a name of its own.", node)


def _members(values: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the values of a property, and those in its lists."""
    for one in values:
        yield from one.get("@list", [one])


def _referenced_ids(nodes: Iterable[Node], props: Iterable[str]) -> set[str]:
    properties = [*props]
    values = (one for node in nodes for prop in properties for one in node.data.get(prop, ()))
    return {one["@id"] for one in values if "@id" in one}


def _node_types(node: Node) -> set[str]:
    return set(node.data.get("@type", ()))
