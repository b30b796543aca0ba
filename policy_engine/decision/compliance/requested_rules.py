"""Requests and the state of the world, from their graphs."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from policy_engine import terms
from policy_engine.data.rdf.statements import TYPE, Literal, Term, is_blank
from policy_engine.decision.compliance.graph import UID, StatementGraph, refuse
from policy_engine.decision.compliance.names import (
    CONTEXT,
    EVALUATION,
    FEATURE,
    PARAMETER,
    PARAMETER_VALUE,
    PERMISSION,
    REQUEST,
    REQUESTED_ACTION,
    REQUESTED_TARGET,
    REQUESTING_PARTY,
)
from policy_engine.decision.compliance.namespaces import nearly
from policy_engine.decision.compliance.unread import properties_said_of
from policy_engine.decision.facts import DATE_TIME
from policy_engine.decision.facts import PURPOSE as PURPOSE_OPERAND
from policy_engine.errors import RequestError, did_you_mean, join_names
from policy_engine.policy.reading.nodes import DESCRIPTIONS
from policy_engine.policy.structure import (
    ACTION,
    ASSIGNEE,
    ASSIGNER,
    CONSTRAINT,
    INVERSE,
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

CHANNEL = f"{terms.ODRL}deliveryChannel"
TOLD = (PURPOSE_OPERAND, CHANNEL)
"""The left operands that a request gives: if it gives none, there is none."""

_FEATURES = {"TemporalData": DATE_TIME}
_OF_EVALUATION = (REQUESTING_PARTY, REQUESTED_ACTION, REQUESTED_TARGET)
_TELLING = {CONTEXT, PARAMETER}
_OF_RULE = {ASSIGNEE, ACTION, TARGET, CONSTRAINT, PURPOSE, UID, ASSIGNER, *_TELLING}
_OF_CONSTRAINT = {LEFT, OPERATOR, RIGHT, UID}
_OF_PARAMETER = {FEATURE, PARAMETER_VALUE}
_REQUEST_CLASSES = {REQUEST, EVALUATION, f"{terms.ODRL}Policy"}
_RULE_CLASSES = {f"{terms.ODRL}{name}" for name in ("Permission", "Rule")}
_CONSTRAINT_CLASSES = {f"{terms.ODRL}Constraint"}


@dataclass(frozen=True)
class RequestedRule:
    """One rule of a request: who asks to do what with which assets, and under which conditions."""

    request: str
    rule: str
    parties: tuple[str, ...]
    actions: tuple[str, ...]
    targets: tuple[str, ...]
    values: Mapping[str, tuple[Term, ...]]


def read_requests(
    graph: StatementGraph,
    vocabulary: Vocabulary = NONE,
    *,
    has_policies: bool = False,
    has_world: bool = False,
) -> tuple[RequestedRule, ...]:
    """Return the rules of the requests in a text: of `odrl:Request`, or evaluation requests.

    If nothing has such a class, all that asks for something is a request; otherwise it is refused
    beside one that has. Raises RequestError (D003) for a text without a request, for one that
    cannot be understood or asks for nothing, and for what neither a request has nor a policy or the
    world, if the text `has_policies` or `has_world`.
    """
    reader = _Requests(graph, vocabulary)
    typed_nodes = set(graph.typed((REQUEST, EVALUATION)))
    nodes = [node for node in graph.about if node in typed_nodes or not typed_nodes]
    rules = [rule for node in nodes for rule in reader.asked(node)]
    if not rules:
        message = "The text contains no request: nothing in it asks for permission."
        hint = "A request is an odrl:Request with an odrl:permission, or a sotw:EvaluationRequest."
        raise RequestError.of("D003", message, hint, graph.source)
    reader.refuse_unread(has_policies=has_policies, has_world=has_world)
    return tuple(rules)


class _Requests:
    """Reads the requests in one graph."""

    def __init__(self, graph: StatementGraph, vocabulary: Vocabulary) -> None:
        self.graph = graph
        self.vocabulary = vocabulary
        self._read: set[str] = set()

    def asked(self, node: str) -> Iterator[RequestedRule]:
        """Yield the rules that a node requests; nothing if it is not a request."""
        statements, types = self.graph.about[node], self.graph.types(node)
        if EVALUATION in types or not statements.keys().isdisjoint(_OF_EVALUATION):
            self._known(node, {*_OF_EVALUATION, *_TELLING}, _REQUEST_CLASSES)
            yield self._rule(node, node, _OF_EVALUATION)
        elif REQUEST in types or PERMISSION in statements:
            self._known(node, {PERMISSION, *_OF_RULE, PROFILE}, _REQUEST_CLASSES)
            self._require(node, PERMISSION)
            for rule in self._named(node, PERMISSION):
                self._known(rule, _OF_RULE, _RULE_CLASSES)
                yield self._rule(node, rule, (ASSIGNEE, ACTION, TARGET))

    def refuse_unread(self, *, has_policies: bool, has_world: bool) -> None:
        """Refuse what says something that was not read.

        A text that `has_policies` has them read elsewhere, with all that belongs to them, and one
        that `has_world` has that read.
        """
        own = {self.graph.name(node) for node in self._read}
        for node in (one for one in self.graph.about if one not in self._read):
            is_own = self.graph.name(node) in own
            names = {one for one in INVERSE if own & self._names_of(node, one)}
            if has_policies and not is_own:
                names |= self.graph.about[node].keys() & {*_OF_EVALUATION}
            else:
                names |= properties_said_of(self.graph, node, is_of_world=has_world and not is_own)
            if names:
                listed = join_names(sorted(map(terms.compact, names)))
                message = f"No request has {node!r}, so what it says would be lost: {listed}."
                hint = "A request beside others needs the class odrl:Request, as they have; of"
                hint += " parties and assets, the world tells."
                refuse(self.graph, message, hint)

    def _names_of(self, node: str, prop: str) -> set[str]:
        return {self.graph.name(one) for one in self.graph.nodes(node, prop)}

    def _rule(self, request: str, rule: str, props: Sequence[str]) -> RequestedRule:
        """Return a rule of a request, with what the request says about all its rules."""
        nodes = dict.fromkeys((rule, request))
        parties, actions, targets = (
            tuple(
                dict.fromkeys(self._name(one) for node in nodes for one in self._named(node, prop))
            )
            for prop in props
        )
        values: dict[str, tuple[Term, ...]] = {}
        for operand, term in (pair for node in nodes for pair in self._operands(node)):
            values[operand] = tuple(dict.fromkeys((*values.get(operand, ()), term)))
        actions = tuple(map(self.vocabulary.action, actions))
        own, of_rule = map(self._own_name, (request, rule))
        return RequestedRule(own, of_rule, parties, actions, targets, values)

    def _own_name(self, node: str) -> str:
        """Return the name of a request or of its rule as written, that of no other node."""
        others = [one for one in self.graph.named.get(self.graph.name(node), ()) if one != node]
        if not self._read.isdisjoint(others):
            refuse(self.graph, f"Two parts of requests have the uid {self.graph.name(node)!r}.")
        return self.graph.written_name(node)

    def _operands(self, rule: str) -> Iterator[tuple[str, Term]]:
        """Yield the left operands that a request gives, each with a value."""
        for term in self._values(rule, PURPOSE):
            yield PURPOSE_OPERAND, term
        for node in self._named(rule, CONTEXT, CONSTRAINT):
            self._known(node, _OF_CONSTRAINT, _CONSTRAINT_CLASSES)
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
                for term in self._values(node, RIGHT):
                    yield operand, term
        for node in self._named(rule, PARAMETER):
            self._known(node, _OF_PARAMETER, ())
            features = self._named(node, FEATURE)
            self._require(node, FEATURE, PARAMETER_VALUE)
            for feature in features:
                for term in self._values(node, PARAMETER_VALUE):
                    yield self._operand(feature), term

    def _values(self, node: str, prop: str) -> tuple[Term, ...]:
        """Return what a request tells, and refuse a name that is said to stand for another one."""
        for name in self.graph.nodes(node, prop):
            if self.graph.objects(name, VALUE):
                refuse(
                    self.graph, f"What rdf:value says of {name!r} would be lost.", "Tell it itself."
                )
        return self.graph.values(node, prop)

    def _require(self, node: str, *props: str) -> None:
        for prop in props:
            if not self.graph.objects(node, prop):
                refuse(self.graph, f"{node} has no {terms.local_name(prop)}, and so says nothing.")

    def _operand(self, feature: str) -> str:
        """Return the left operand for a feature of a request."""
        name = feature.removeprefix(terms.SOTW)
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
        if is_blank(node):
            names = {*self.graph.objects(node, VALUE, UID)}
        else:
            names = {node, *self.graph.objects(node, VALUE)}
        name = next(iter(names), "_:")
        is_name = isinstance(name, str) and not is_blank(name) and len(names) == 1
        if not is_name or self.graph.objects(node, REFINEMENT):
            message = "A party, an asset or an action in a request needs an IRI."
            refuse(self.graph, f"{message} Given: {node}.")
        return terms.canonical(str(name))

    def _named(self, node: str, *props: str) -> tuple[str, ...]:
        for term in self.graph.objects(node, *props):
            if isinstance(term, Literal):
                names = join_names(map(terms.local_name, props), "or")
                refuse(
                    self.graph, f"The {names} of {node} must be an IRI. Given: {term.text!r:.40}."
                )
        return self.graph.nodes(node, *props)

    def _known(self, node: str, properties: Iterable[str], classes: Container[str]) -> None:
        """Refuse a property or a class that would change the request if it were understood."""
        self._read.add(node)
        for prop in self.graph.about.get(node, {}):
            # What is almost a name that is read, is refused as that later on.
            is_told = prop in {*properties, TYPE} or prop.startswith(DESCRIPTIONS) or nearly(prop)
            if not is_told:
                near = did_you_mean(terms.local_name(prop), map(terms.local_name, properties))
                refuse(self.graph, f"{prop} is not allowed in a request. {node} has it.", near)
        for kind in self.graph.types(node):
            if kind.startswith(terms.ODRL) and kind not in classes:
                refuse(
                    self.graph, f"{kind} is not the class of a part of a request. {node} has it."
                )
