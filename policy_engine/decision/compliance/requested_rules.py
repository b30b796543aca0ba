"""Requests and the state of the world, from their graphs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from policy_engine import terms
from policy_engine.data.rdf.statements import TYPE, Literal, Term, is_blank
from policy_engine.decision.compliance.graph import StatementGraph
from policy_engine.decision.facts import DATE_TIME
from policy_engine.decision.facts import PURPOSE as PURPOSE_OPERAND
from policy_engine.errors import RequestError, did_you_mean, join_names
from policy_engine.policy.structure import (
    ACTION,
    ASSIGNEE,
    ASSIGNER,
    CONSTRAINT,
    LEFT,
    OPERATOR,
    PROFILE,
    PURPOSE,
    REFINEMENT,
    RIGHT,
    TARGET,
    VALUE,
)
from policy_engine.policy.vocabulary import NONE, Vocabulary

SOTW = "https://w3id.org/force/sotw#"
REPORT = "https://w3id.org/force/compliance-report#"
_PERMISSION, _UID = f"{terms.ODRL}permission", f"{terms.ODRL}uid"
CHANNEL = f"{terms.ODRL}deliveryChannel"
TOLD = (PURPOSE_OPERAND, CHANNEL)
"""The left operands that a request gives: if it gives none, there is none."""

_FEATURES = {"TemporalData": DATE_TIME}
_PARTY, _ACTION, _TARGET, _PARAMETER, _CONTEXT, _FEATURE, _VALUE = (
    f"{SOTW}{name}"
    for name in (
        "requestingParty",
        "requestedAction",
        "requestedTarget",
        "requestParameter",
        "context",
        "describesFeature",
        "value",
    )
)
_OF_REQUEST = {_PARTY, _ACTION, _TARGET, _PARAMETER, _CONTEXT}
_OF_RULE = {
    _CONTEXT,
    _PARAMETER,
    ASSIGNEE,
    ACTION,
    TARGET,
    CONSTRAINT,
    PURPOSE,
    _UID,
    ASSIGNER,
}


@dataclass(frozen=True)
class RequestedRule:
    """One rule of a request: who asks to do what with which assets, and under which conditions."""

    request: str
    rule: str
    parties: tuple[str, ...]
    actions: tuple[str, ...]
    targets: tuple[str, ...]
    values: Mapping[str, tuple[Term, ...]]


@dataclass(frozen=True)
class DutyState:
    """The state of a duty that the world gives in a report of its own."""

    node: str
    duty: str
    performance: str
    deontic: str


def read_requests(
    graph: StatementGraph, vocabulary: Vocabulary = NONE
) -> tuple[RequestedRule, ...]:
    """Return the rules of the requests in a text: of `odrl:Request`, or evaluation requests.

    Raises RequestError (D003) for a text without one, and for one that cannot be understood.
    """
    reader = _Requests(graph, vocabulary)
    typed_nodes = set(graph.typed((f"{terms.ODRL}Request", f"{SOTW}EvaluationRequest")))
    nodes = [node for node in graph.about if node in typed_nodes or not typed_nodes]
    rules = [rule for node in nodes for rule in reader.asked(node)]
    if not rules:
        message = "The text contains no request: nothing in it asks for permission."
        hint = "A request is an odrl:Request with an odrl:permission, or a sotw:EvaluationRequest."
        raise RequestError.of("D003", message, hint, graph.source)
    return tuple(rules)


def duties_of(world: StatementGraph) -> tuple[DutyState, ...]:
    """Return what the world says about duties. Raises RequestError for a report of no duty."""
    return tuple(
        DutyState(node, duty, _state(world, node, "performance"), _state(world, node, "deontic"))
        for node in world.typed((f"{REPORT}DutyReport",))
        for duty in _reported_duties(world, node)
    )


def _reported_duties(world: StatementGraph, node: str) -> Sequence[str]:
    # A report that is passed over could be what says that a duty was violated.
    if not (duties := world.nodes(node, f"{REPORT}rule")):
        refuse(world, f"The duty report {node} must name its duty by {REPORT}rule.")
    return duties


def _state(world: StatementGraph, node: str, kind: str) -> str:
    """Return the name of a state, empty if there is none. Raises RequestError for anything else."""
    states = {"performance": ("Performed", "Unperformed", "Unknown")}
    allowed = states.get(kind, ("Fulfilled", "Violated", "NonSet"))
    values = world.objects(node, f"{REPORT}{kind}State")
    names = {str(one).removeprefix(REPORT) for one in values}
    if len(names) > 1 or not names <= set(allowed):
        others = join_names(sorted(names))
        refuse(
            world,
            f"The {kind}State of {node} must be one of {join_names(allowed)}. Given: {others}.",
        )
    return next(iter(names), "")


class _Requests:
    """Reads the requests in one graph."""

    def __init__(self, graph: StatementGraph, vocabulary: Vocabulary) -> None:
        self.graph = graph
        self.vocabulary = vocabulary

    def asked(self, node: str) -> Iterator[RequestedRule]:
        """Yield the rules that a node requests; nothing if it is not a request."""
        statements, types = self.graph.about[node], self.graph.types(node)
        if f"{SOTW}EvaluationRequest" in types or statements.keys() & {_PARTY, _ACTION, _TARGET}:
            self._known(node, _OF_REQUEST)
            yield self._rule(node, node, (_PARTY, _ACTION, _TARGET))
        elif f"{terms.ODRL}Request" in types or _PERMISSION in statements:
            self._known(node, {_PERMISSION, *_OF_RULE, PROFILE})
            for rule in self._named(node, _PERMISSION):
                self._known(rule, _OF_RULE)
                yield self._rule(node, rule, (ASSIGNEE, ACTION, TARGET))

    def _rule(self, request: str, rule: str, props: tuple[str, str, str]) -> RequestedRule:
        """Return a rule of a request, with what the request says about all its rules."""
        nodes = dict.fromkeys((rule, request))
        parties, actions, targets = (
            tuple(
                dict.fromkeys(self._name(one) for node in nodes for one in self._named(node, prop))
            )
            for prop in props
        )
        values: dict[str, tuple[Term, ...]] = {}
        for operand, term in (pair for node in nodes for pair in self._told(node)):
            values[operand] = tuple(dict.fromkeys((*values.get(operand, ()), term)))
        actions = tuple(map(self.vocabulary.action, actions))
        return RequestedRule(request, rule, parties, actions, targets, values)

    def _told(self, rule: str) -> Iterator[tuple[str, Term]]:
        """Yield the left operands that a request gives, each with a value."""
        for term in self.graph.objects(rule, PURPOSE):
            yield PURPOSE_OPERAND, term
        for node in self._named(rule, _CONTEXT, CONSTRAINT):
            self._known(node, {LEFT, OPERATOR, RIGHT, _UID})
            operator = self.graph.objects(node, OPERATOR)
            if operator not in ((f"{terms.ODRL}eq",), ()) or not self.graph.objects(node, LEFT):
                refuse(
                    self.graph,
                    f"{node} gives no value for its left operand: it needs the operator eq.",
                )
            self._require(node, RIGHT)
            for operand in map(terms.canonical, self._named(node, LEFT)):
                is_odrl = operand.startswith(terms.ODRL)
                if is_odrl and operand not in terms.instances(f"{terms.ODRL}LeftOperand"):
                    refuse(self.graph, f"{operand!r} is not a left operand of ODRL.")
                for term in self.graph.objects(node, RIGHT):
                    yield operand, term
        for node in self._named(rule, _PARAMETER):
            self._known(node, {_FEATURE, _VALUE})
            features = self._named(node, _FEATURE)
            self._require(node, _FEATURE, _VALUE)
            for feature in features:
                for term in self.graph.objects(node, _VALUE):
                    yield self._operand(feature), term

    def _require(self, node: str, *props: str) -> None:
        for prop in props:
            if not self.graph.objects(node, prop):
                refuse(self.graph, f"{node} has no {terms.local_name(prop)}, and so says nothing.")

    def _operand(self, feature: str) -> str:
        """Return the left operand for a feature of a request."""
        name = feature.removeprefix(SOTW)
        if name == feature:
            return terms.canonical(feature)
        operand = _FEATURES.get(name, f"{terms.ODRL}{name[:1].lower()}{name[1:]}")
        operands = terms.instances(f"{terms.ODRL}LeftOperand")
        if operand not in operands:
            names = [terms.local_name(one) for one in operands]
            hint = did_you_mean(name, [f"{one[:1].upper()}{one[1:]}" for one in names])
            refuse(self.graph, f"sotw:{name} is not a known feature.", hint)
        return operand

    def _name(self, node: str) -> str:
        """Return the name of a party, an asset or an action."""
        names = self.graph.nodes(node, VALUE, _UID) if is_blank(node) else (node,)
        if len(names) != 1 or is_blank(names[0]) or self.graph.objects(node, REFINEMENT):
            refuse(
                self.graph,
                f"A party, an asset or an action in a request needs an IRI. Given: {node}.",
            )
        return terms.canonical(names[0])

    def _named(self, node: str, *props: str) -> tuple[str, ...]:
        for term in self.graph.objects(node, *props):
            if isinstance(term, Literal):
                names = join_names(map(terms.local_name, props), "or")
                refuse(
                    self.graph, f"The {names} of {node} must be an IRI. Given: {term.text!r:.40}."
                )
        return self.graph.nodes(node, *props)

    def _known(self, node: str, properties: Iterable[str]) -> None:
        """Refuse a property that would change the request if it were understood."""
        for prop in self.graph.about.get(node, {}):
            if prop.startswith((terms.ODRL, SOTW)) and prop not in {*properties, TYPE}:
                near = did_you_mean(terms.local_name(prop), map(terms.local_name, properties))
                refuse(self.graph, f"{prop} is not allowed in a request. {node} has it.", near)


def refuse(graph: StatementGraph, message: str, hint: str = "") -> NoReturn:
    """Refuse a request or a state of the world. Raises RequestError (D003)."""
    raise RequestError.of("D003", message, hint, graph.source)


def shown_term(term: Term) -> str:
    """Return a term as a message shows it."""
    return term.text if isinstance(term, Literal) else term
