"""Policies from a graph: laxer than the strict reader, yet nothing that matters is passed over."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NoReturn

from policy_engine import terms
from policy_engine.data.rdf.statements import STRING, TYPE, Literal, Term, is_blank
from policy_engine.decision.compliance.graph import StatementGraph
from policy_engine.errors import PolicyError, did_you_mean, join_names
from policy_engine.policy.hierarchy import Edge, Hierarchy
from policy_engine.policy.model import (
    IRI,
    LOGICAL,
    Action,
    Asset,
    Condition,
    Constraint,
    Kind,
    LogicalConstraint,
    Party,
    Policy,
    Rule,
    Value,
)
from policy_engine.policy.reading.constraints import read_operand
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS, Limits
from policy_engine.policy.vocabulary import NONE, Vocabulary

ODRL, MOSAICROWN = terms.ODRL, terms.MOSAICROWN
TYPES = tuple(
    f"{ODRL}{name}"
    for name in ("Set", "Offer", "Agreement", "Policy", "Privacy", "Assertion", "Ticket")
)
PURPOSE, VALUE = f"{MOSAICROWN}purpose", f"{terms.RDF}value"


def odrl(*names: str) -> tuple[str, ...]:
    """Return the IRIs of terms of ODRL."""
    return tuple(f"{ODRL}{name}" for name in names)


LEFT, OPERATOR, RIGHT, REFERENCE = odrl(
    "leftOperand", "operator", "rightOperand", "rightOperandReference"
)
TARGET, ASSIGNEE, ACTION, CONSTRAINT = odrl("target", "assignee", "action", "constraint")
REFINEMENT, SOURCE, PART_OF, DUTY = odrl("refinement", "source", "partOf", "duty")
_RULES: dict[str, Kind] = {
    f"{ODRL}permission": "permission",
    f"{ODRL}prohibition": "prohibition",
    f"{ODRL}obligation": "obligation",
    DUTY: "obligation",
}
_WITHIN: dict[str, Kind] = {
    DUTY: "duty",
    f"{ODRL}remedy": "remedy",
    f"{ODRL}consequence": "consequence",
}
_OF_CONSTRAINT = {LEFT, OPERATOR, RIGHT, REFERENCE, *odrl("uid", "dataType", "unit", "status")}
_OF_POLICY = {
    *_RULES,
    *odrl("uid", "profile", "inheritFrom", "conflict", "target", "action", "assignee"),
}
_OF_RULE = {
    *_WITHIN,
    *odrl("uid", "target", "action", "assignee", "constraint", "output"),
    PURPOSE,
}
_CLASSES: dict[Kind, str] = {"permission": "Permission", "prohibition": "Prohibition"}


def read_policies(
    graph: StatementGraph, limits: Limits = DEFAULT_LIMITS, vocabulary: Vocabulary = NONE
) -> tuple[Policy, ...]:
    """Return the policies of a text, in its order (ODRL Information Model 2.2, section 2.1).

    Rules may lack an action, an assignee or a target. A compact policy's parts are in each of
    its rules (section 2.7.1), a parent's rules are in its children's (section 2.9). Raises
    PolicyError for a text without a policy (P001), and for what is not understood.
    """
    reader = _Reader(graph, limits, vocabulary)
    named = (node for prop in _RULES for node in graph.having(prop) if prop != DUTY)
    nodes = set(graph.typed(TYPES)).union(named)
    others = {child for node in nodes for child in graph.nodes(node, *_RULES)}
    others |= set(graph.typed((f"{ODRL}Request",)))
    nodes -= others
    policies = [node for node in graph.about if node in nodes]
    if not policies:
        message = "The text holds no policy: nothing in it has a permission or a prohibition."
        hint = f"A policy is one of {join_names(map(terms.compact, TYPES), 'or')}."
        raise PolicyError.of("P001", message, hint, graph.source)
    reader.refuse_loose_rules()
    return tuple(reader.policy(node) for node in policies)


def values(graph: StatementGraph, node: str) -> tuple[Term, ...]:
    """Return what a constraint compares its left operand with, as it is written."""
    return graph.objects(node, RIGHT, REFERENCE)


def value_of(term: Term, kind: str = "", left: str = "", vocabulary: Vocabulary = NONE) -> Value:
    """Return the value of a term; `kind` is the type of one that has none of its own.

    On the right of a `left` operand it is of a type that this takes. Raises ValueError for a
    text that is not a value of its type.
    """
    if not isinstance(term, Literal):
        return Value(terms.canonical(term), type=IRI)
    kind = kind if kind and term.type == STRING else term.type
    return Value(read_operand(term.text, kind, left, vocabulary), type=kind)


class _Reader:
    """Reads policies off one graph."""

    def __init__(self, graph: StatementGraph, limits: Limits, vocabulary: Vocabulary) -> None:
        self.graph = graph
        self.limits = limits
        self.vocabulary = vocabulary
        self.hierarchy = said_of_parts(graph, vocabulary).joined([vocabulary.hierarchy])
        self._constraints = 0

    def policy(self, node: str) -> Policy:
        self._known(node, _OF_POLICY | set(_functions()), "A policy", is_open=True)
        rules = self._issued(node, tuple(self._rules(node, (), set())))
        of = {kind: tuple(rule for rule in rules if rule.kind == kind) for kind in _RULES.values()}
        return Policy(
            uid=node,
            type=next(iter(self.graph.types(node)), f"{ODRL}Set"),
            conflict="invalid",
            digest="",
            permissions=of["permission"],
            prohibitions=of["prohibition"],
            obligations=of["obligation"],
            hierarchy=self.hierarchy,
            vocabulary=self.vocabulary,
            source=self.graph.source,
        )

    def _issued(self, policy: str, rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
        """Return rules with those who issued them: of a parent's, who issued the child."""
        named = {node for prop in _RULES for node in self._named(policy, prop)}
        shared = self._parts(policy, "").assigners
        return tuple(
            replace(one, issuers=(*one.assigners, *shared) if one.uid in named else shared)
            for one in rules
        )

    def refuse_loose_rules(self) -> None:
        """Refuse a rule that no policy holds: a prohibition would be lost without a word."""
        for node in self.graph.typed(odrl("Permission", "Prohibition", "Duty")):
            if not any(self.graph.subjects(prop, node) for prop in (*_RULES, *_WITHIN)):
                self._fail("P004", f"The rule {node} stands in no policy.")

    def _rules(self, policy: str, below: tuple[str, ...], told: set[str]) -> Iterator[Rule]:
        """Yield the rules of a policy and of those that it inherits from, of each but once."""
        told.add(policy)
        shared = self._parts(policy, "hasPolicy")
        for prop, kind in _RULES.items():
            for node in self._named(policy, prop):
                yield _with(self._rule(node, kind, ()), shared)
        for parent in self._named(policy, f"{ODRL}inheritFrom"):
            if parent in (*below, policy):
                self._fail("P011", f"{policy} inherits from {parent}, and so from itself.")
            if parent not in self.graph.about:
                self._fail("P011", f"{policy} inherits from {parent}, which is not in the text.")
            if parent not in told:
                yield from self._rules(parent, (*below, policy), told)

    def _rule(self, node: str, kind: Kind, above: tuple[str, ...]) -> Rule:
        self._known(node, _OF_RULE | set(_functions()), f"The {kind}")
        types = {one for one in self.graph.types(node) if one.startswith(ODRL)}
        wrong = types - set(odrl(_CLASSES.get(kind, "Duty"), "Rule"))
        if wrong:
            given = join_names(map(terms.compact, sorted(wrong)))
            self._fail("P007", f"{node} stands as a {kind}, but is {given}.")
        if node in above or len(above) > self.limits.condition_depth:
            self._fail("P013", f"{node} is nested too deeply, or within itself.")
        inner = {
            one: tuple(self._rule(child, one, (*above, node)) for child in self._named(node, prop))
            for prop, one in _WITHIN.items()
        }
        rule = Rule(
            kind=kind,
            uid=node,
            purposes=tuple(map(terms.canonical, self._named(node, PURPOSE))),
            constraints=self._conditions(node, CONSTRAINT),
            duties=inner["duty"],
            remedies=inner["remedy"],
            consequences=inner["consequence"],
        )
        return _with(rule, self._parts(node, ""))

    # -- parties, assets and actions ----------------------------------------------------------

    def _parts(self, node: str, of_asset: str) -> Rule:
        """Return the parts that a policy or a rule names, or that name it."""
        assets = [*self._named(node, TARGET)]
        assets += self.graph.subjects(f"{ODRL}{of_asset}", node) if of_asset else ()
        parties = [*self._named(node, ASSIGNEE), *self.graph.subjects(f"{ODRL}assigneeOf", node)]
        issuers = [*self._named(node, f"{ODRL}assigner")]
        issuers += self.graph.subjects(f"{ODRL}assignerOf", node)
        return Rule(
            kind="permission",
            assigners=tuple(Party(*self._member(one)) for one in dict.fromkeys(issuers)),
            targets=tuple(Asset(*self._member(one)) for one in dict.fromkeys(assets)),
            assignees=tuple(Party(*self._member(one)) for one in dict.fromkeys(parties)),
            actions=tuple(self._action(one) for one in self._named(node, ACTION)),
        )

    def _member(self, node: str) -> tuple[str, tuple[Condition, ...]]:
        """Return the name of a party or an asset, and what its members have to meet."""
        allowed = {
            SOURCE,
            REFINEMENT,
            PART_OF,
            *odrl("uid", "hasPolicy", "assigneeOf", "assignerOf"),
        }
        self._known(node, allowed, "A party or an asset", is_open=True)
        name = self._name(node, f"{ODRL}uid", SOURCE) if is_blank(node) else node
        return terms.canonical(name), self._conditions(node, REFINEMENT)

    def _action(self, node: str) -> Action:
        allowed = {VALUE, REFINEMENT, *odrl("uid", "includedIn", "implies")}
        self._known(node, allowed, "An action", is_open=not is_blank(node))
        iri = terms.canonical(self._name(node, VALUE) if is_blank(node) else node)
        named = self._named(node, VALUE)
        if len(named) > 1:
            self._fail("P007", f"An action has one rdf:value. Given: {join_names(named)}.")
        actions = terms.instances(f"{ODRL}Action")
        if iri.startswith(ODRL) and iri not in actions:
            self._unknown(iri, actions, "is not an action of ODRL")
        name = terms.canonical(named[0]) if named else iri
        return Action(self.vocabulary.action(name), self._conditions(node, REFINEMENT))

    def _name(self, node: str, *props: str) -> str:
        return next(iter(self._named(node, *props)), node)

    # -- constraints --------------------------------------------------------------------------

    def _conditions(self, node: str, prop: str) -> tuple[Condition, ...]:
        return tuple(self._condition(one, ()) for one in self._named(node, prop))

    def _condition(self, node: str, above: tuple[str, ...]) -> Condition:
        self._constraints += 1
        if self._constraints > self.limits.constraints:
            self._fail("J003", f"More than {self.limits.constraints:,} constraints are stated.")
        if node in above or len(above) > self.limits.condition_depth:
            self._fail("P014", f"{node} is nested too deeply, or within itself.")
        joined = [prop for prop in LOGICAL if self.graph.objects(node, prop)]
        if not joined:
            return self._constraint(node)
        self._known(node, {*LOGICAL, f"{ODRL}uid"}, "A logical constraint")
        if len(joined) > 1:
            self._fail(
                "P014", f"{node} joins in two ways, {join_names(map(terms.compact, joined))}."
            )
        operands = (self._condition(one, (*above, node)) for one in self._named(node, *joined))
        return LogicalConstraint(joined[0], tuple(operands), uid=node)

    def _constraint(self, node: str) -> Constraint:
        self._known(node, _OF_CONSTRAINT, "A constraint")
        operator = terms.canonical(self._one(node, OPERATOR))
        operators = terms.instances(f"{ODRL}Operator")
        if operator not in operators:
            self._unknown(operator, operators, "is not an operator")
        data_type = next(iter(self._named(node, f"{ODRL}dataType")), "")
        right = self.graph.objects(node, RIGHT)
        references = self._named(node, REFERENCE)
        if not right and not references:
            self._fail("P004", f"The constraint {node} has no rightOperand.")
        status = [self._value(one, data_type) for one in self.graph.objects(node, f"{ODRL}status")]
        left = terms.canonical(self._one(node, LEFT))
        return Constraint(
            left_operand=left,
            operator=operator,
            right_operands=tuple(self._value(one, data_type, left) for one in right),
            references=references,
            data_type=data_type,
            unit=next(iter(self._named(node, f"{ODRL}unit")), ""),
            status=status[0] if status else None,
            uid=node,
        )

    def _value(self, term: Term, kind: str, left: str = "") -> Value:
        try:
            return value_of(term, kind, left, self.vocabulary)
        except ValueError as error:
            self._fail("P007", f"{error}.")

    def _one(self, node: str, prop: str) -> str:
        found = self._named(node, prop)
        if len(found) != 1:
            name = terms.local_name(prop)
            self._fail("P004", f"The constraint {node} has {len(found)} of {name}; it needs one.")
        return found[0]

    # -- what is not understood ---------------------------------------------------------------

    def _named(self, node: str, *props: str) -> tuple[str, ...]:
        """Return the nodes under a property. Raises PolicyError for a literal (P007)."""
        for term in self.graph.objects(node, *props):
            if isinstance(term, Literal):
                names = join_names(map(terms.local_name, props), "or")
                self._fail("P007", f"The {names} of {node} is an IRI. Given: {term.text!r:.40}.")
        return self.graph.nodes(node, *props)

    def _known(self, node: str, known: Iterable[str], what: str, *, is_open: bool = False) -> None:
        """Refuse properties that would change the meaning of a node if they were understood.

        `is_open` leaves those of other vocabularies alone: a party may have a name.
        """
        allowed = {*known, TYPE}
        for prop in self.graph.about.get(node, {}):
            is_foreign = not prop.startswith(ODRL)
            if prop in allowed or (is_foreign and is_open) or prop.startswith(terms.ANNOTATIONS):
                continue
            self._unknown(prop, allowed, f"may not stand there. {what} {node} has it")

    def _unknown(self, given: str, known: Iterable[str], why: str) -> NoReturn:
        names = [terms.compact(one) for one in known]
        hint = did_you_mean(terms.compact(given), names)
        self._fail("P005", f"{terms.compact(given)} {why}.", hint)

    def _fail(self, code: str, message: str, hint: str = "") -> NoReturn:
        raise PolicyError.of(code, message, hint, self.graph.source)


def _functions() -> tuple[str, ...]:
    return tuple(terms.instances(f"{terms.PE}PartyFunction"))


def _with(rule: Rule, parts: Rule) -> Rule:
    return replace(
        rule,
        assigners=tuple(dict.fromkeys(rule.assigners + parts.assigners)),
        targets=tuple(dict.fromkeys(rule.targets + parts.targets)),
        assignees=tuple(dict.fromkeys(rule.assignees + parts.assignees)),
        actions=tuple(dict.fromkeys(rule.actions + parts.actions)),
    )


def said_of_parts(graph: StatementGraph, vocabulary: Vocabulary = NONE) -> Hierarchy:
    """Return who and what a text says to be part of what.

    What is a member of a collection's source is a member of the collection.
    """
    inner = [(wide, narrow) for narrow, wide in graph.edges(SOURCE)]
    members = (*graph.edges(PART_OF, f"{MOSAICROWN}belongsTo"), *inner)
    purposes = graph.edges(f"{terms.SKOS}broader", f"{MOSAICROWN}declinationOf")
    return Hierarchy(
        party=members,
        asset=members,
        action=_of_actions(graph.edges(f"{ODRL}includedIn"), vocabulary),
        purpose=tuple(purposes),
        implied=_of_actions(graph.edges(f"{ODRL}implies"), vocabulary),
    )


def _of_actions(edges: Iterable[Edge], vocabulary: Vocabulary) -> tuple[Edge, ...]:
    return tuple((vocabulary.action(one), vocabulary.action(other)) for one, other in edges)
