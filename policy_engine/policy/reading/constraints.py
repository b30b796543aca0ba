"""Constraints, logical constraints and refinements, read off their nodes."""

from collections.abc import Iterator, Mapping
from typing import Any

from policy_engine import terms
from policy_engine.errors import Place, did_you_mean, join_names
from policy_engine.policy.model import (
    LOGICAL,
    Condition,
    Constraint,
    LogicalConstraint,
    Value,
)
from policy_engine.policy.reading.nodes import (
    is_list,
    is_list_within,
    property_values,
)
from policy_engine.policy.reading.operands import (
    operands,
    parameters,
    refining_operands,
)
from policy_engine.policy.reading.release_parameters import (
    check_delta,
    check_spent,
    read_parameter,
    refuse_spent,
)
from policy_engine.policy.reading.right_operands import RightOperandReader, right_operands
from policy_engine.policy.reading.walker import Walker
from policy_engine.policy.structure import (
    CONSTRAINT,
    CONSTRAINT_PROPERTIES,
    LEFT,
    LOGICAL_PROPERTIES,
    OPERATOR,
    PARAMETER_PROPERTIES,
    REFERENCE,
    REFINEMENT,
    RIGHT,
    STATUS,
    UNIT,
)
from policy_engine.policy.syntax.json_ld import Node
from policy_engine.policy.syntax.limits import DEFAULT_LIMITS, Limits
from policy_engine.policy.syntax.repetition import repeated_names, repetition_message
from policy_engine.terms import has_known_namespace, is_absolute

_ODRL = terms.ODRL
_SET_OPERATORS = {f"{_ODRL}{name}" for name in ("isAllOf", "isAnyOf", "isNoneOf")}
_OF_CONDITIONS = CONSTRAINT_PROPERTIES.union(LOGICAL)
_TYPES = {f"{_ODRL}{name}" for name in ("Constraint", "LogicalConstraint")}
_KIND_NAMES = {CONSTRAINT: "a constraint", REFINEMENT: "a refinement"}


class ConstraintReader:
    """Reads what must hold (ODRL Information Model 2.2, section 2.5).

    `own_terms` are those that neither ODRL nor the MOSAICrOWN profile has, with their places.
    """

    def __init__(self, walker: Walker, limits: Limits = DEFAULT_LIMITS) -> None:
        self.walker = walker
        self.limits = limits
        self.own_terms: list[tuple[str, Place]] = []
        self._right_operands = RightOperandReader(walker)
        self._remaining = limits.constraints

    def conditions(self, node: Node, prop: str) -> tuple[Condition, ...]:
        """Return the constraints or refinements that a property of a node holds."""
        read = (
            self._condition(child, _KIND_NAMES[prop], ()) for child in self.walker.nodes(node, prop)
        )
        conditions = tuple(condition for condition in read if condition is not None)
        if prop == REFINEMENT:
            refuse_spent(self.walker, node, prop, conditions)
        return conditions

    def parameters(self, node: Node) -> Iterator[Constraint]:
        """Yield the refinements of `anonymize`: parameters, each given once."""
        places: dict[str, Place] = {}
        read: list[tuple[Node, Constraint]] = []
        for child in self.walker.nodes(node, REFINEMENT):
            if not self._is_readable(child, "a parameter of odrl:anonymize", ()):
                continue
            if not LOGICAL_PROPERTIES.isdisjoint(child.data):
                message = "The parameters of odrl:anonymize apply together; they cannot be joined."
                self.walker.add("P014", message, "", child)
                continue
            self.walker.check_properties(
                child, PARAMETER_PROPERTIES, "a parameter of odrl:anonymize"
            )
            parameter = self._term(child, "leftOperand", parameters(), "A refinement")
            operator = self._operator(child, "A refinement")
            data_type = self._right_operands.data_type(child)
            values = tuple(self._right_operands.values(child, parameter, data_type))
            if not right_operands(child):
                self.walker.add(
                    "P004", "A refinement needs a rightOperand with a value.", "", child
                )
            if not parameter or not operator:
                continue
            self._check_parameter(child, parameter, operator, len(values))
            if parameter in places:
                first = places[parameter].line
                message = f"{terms.compact(parameter)} is given twice, first in line {first}."
                self.walker.add("P007", message, "", child)
            places.setdefault(parameter, self.walker.graph.later_place(child))
            place = self.walker.graph.later_place(child, RIGHT)
            one = Constraint(parameter, operator, values, place=place)
            read.append((child, one))
            yield read_parameter(self.walker, child, one)
        check_delta(self.walker, read)

    def _check_parameter(self, node: Node, parameter: str, operator: str, values: int) -> None:
        allowed = terms.vocabulary()[parameter].iris("operator")
        name = terms.compact(parameter)
        if operator not in allowed:
            message = (
                f"{name} takes the operator {join_names(map(terms.local_name, allowed), 'or')}."
            )
            message += f" Given: {terms.local_name(operator)!r}."
            self.walker.add("P007", message, "", node, OPERATOR)
        elif operator not in _SET_OPERATORS and values > 1:
            several = f"{_ODRL}isAllOf" in allowed
            hint = "With the operator 'isAllOf' it takes several." if several else ""
            self.walker.add("P007", f"{name} takes one value. Given: {values}.", hint, node)

    def _condition(self, node: Node, kind: str, ancestors: tuple[str, ...]) -> Condition | None:
        """Return the condition that a node states; `ancestors` contain it, the outermost first."""
        logical = [prop for prop in LOGICAL if prop in node.data]
        if not self._is_readable(node, kind, ancestors):
            return None
        if not logical:
            return self._constraint(node, kind)
        mixed = sorted(CONSTRAINT_PROPERTIES & node.data.keys())
        if len(logical) > 1 or mixed:
            names = join_names(map(terms.compact, [*logical, *mixed]))
            message = f"A logical constraint has one operand and no other property. Given: {names}."
            self.walker.check_properties(node, {*LOGICAL, *CONSTRAINT_PROPERTIES}, kind)
            self.walker.add(
                "P014", message, "Nest the one in the other.", node, mixed[0] if mixed else ""
            )
            return None
        return self._logical(node, logical[0], kind, (*ancestors, node.pointer))

    def _is_readable(self, node: Node, kind: str, ancestors: tuple[str, ...]) -> bool:
        """Tell whether a node is a constraint within the limits, and note it where it is not."""
        max_depth, max_constraints = self.limits.condition_depth, self.limits.constraints
        self._remaining -= 1
        self.walker.check_unique(node, "P007", "Two constraints have")
        if node.pointer in ancestors:
            self.walker.add("P014", "The logical constraint contains itself.", "", node)
        elif len(ancestors) > max_depth or self._remaining == -1:
            message = (
                f"At most {max_constraints:,} constraints are allowed, nested {max_depth} deep."
            )
            self.walker.add("J003", message, "", node)
        elif _OF_CONDITIONS.isdisjoint(node.data):
            names = sorted(prop for prop in node.data if not prop.startswith("@"))
            names_text = join_names(map(terms.compact, names)) if names else "nothing"
            message = (
                f"{_capitalized(kind)} has a leftOperand and an operator. Given: {names_text}."
            )
            self.walker.add("P007", message, "", node)
        else:
            self._check_type(node, kind)
            return self._remaining >= 0
        return False

    def _check_type(self, node: Node, kind: str) -> None:
        if "@type" not in node.data:
            return
        other_types = sorted(set(node.data.get("@type", ())) - _TYPES)
        if other_types and not self.walker.is_lenient:
            types = join_names(map(terms.local_name, sorted(_TYPES)), "or")
            message = f"{_capitalized(kind)} is of type {types}."
            message += f" Given: {join_names(map(terms.compact, other_types))}."
            self.walker.add("P007", message, "", node, "@type")

    def _logical(
        self, node: Node, prop: str, kind: str, ancestors: tuple[str, ...]
    ) -> Condition | None:
        self.walker.check_properties(node, {prop}, "a logical constraint")
        name = terms.compact(prop)
        if is_list_within(node.data[prop]):
            message = f"{name} takes constraints, or one ordered list of them."
            self.walker.add("P014", f"{message} Given: a list among others.", "", node, prop)
            return None
        if prop == f"{_ODRL}andSequence" and not is_list(node.data[prop]):
            hint = 'Write it as {"@list": [...]}.'
            self.walker.add_strict("P014", f"{name} takes an ordered list.", hint, node, prop)
        for index, one in repeated_names(node.data[prop]):
            self.walker.add("P014", repetition_message(prop, one), "", node, prop, index)
        conditions = tuple(
            self._condition(child, kind, ancestors) for child in self.walker.nodes(node, prop)
        )
        operands = tuple(one for one in conditions if one is not None)
        count = len(property_values(node, prop))
        if count < 2 and conditions:
            message = f"{name} joins at least two constraints. Given: {count}."
            self.walker.add_strict("P014", message, "", node, prop)
        if len(operands) < len(conditions):
            return None
        return LogicalConstraint(
            prop, operands, self.walker.read_uid(node), self.walker.graph.later_place(node)
        )

    def _constraint(self, node: Node, kind: str) -> Constraint | None:
        self.walker.check_properties(node, CONSTRAINT_PROPERTIES, kind)
        capital = _capitalized(kind)
        standard_operands = refining_operands() if kind == _KIND_NAMES[REFINEMENT] else operands()
        known_operands = (
            {**standard_operands, **self.walker.vocabulary.operands}
            if self.walker.vocabulary.operands
            else standard_operands
        )
        left_operand = self._left_operand(node, capital, known_operands)
        operator = self._operator(node, capital)
        data_type = self._right_operands.data_type(node)
        values = tuple(self._right_operands.values(node, left_operand, data_type))
        references = (
            tuple(iri for iri, _ in self.walker.iris(node, REFERENCE))
            if REFERENCE in node.data
            else ()
        )
        count = len(right_operands(node)) + len(node.data.get(REFERENCE, []))
        self._check_right(node, operator, count, capital)
        units = [iri for iri, _ in self.walker.iris(node, UNIT)] if UNIT in node.data else []
        if len(units) > 1:
            message = f"{capital} has one unit. Given: {len(units)}."
            self.walker.add_strict("P007", message, "", node, UNIT)
        if not left_operand or not operator:
            return None
        condition = Constraint(
            left_operand=left_operand,
            operator=operator,
            right_operands=values,
            references=references,
            data_type=data_type,
            unit=units[0] if units else "",
            status=self._status(node),
            uid=self.walker.read_uid(node),
            place=self.walker.graph.later_place(node),
        )
        check_spent(self.walker, node, condition)
        return condition

    def _check_right(self, node: Node, operator: str, count: int, capital: str) -> None:
        if not count:
            message = f"{capital} needs a rightOperand or a rightOperandReference."
            self.walker.add("P004", message, "", node)
        elif RIGHT in node.data and REFERENCE in node.data:
            message = f"{capital} has a rightOperand or a rightOperandReference, not both."
            self.walker.add_strict("P007", message, "", node, REFERENCE)
        elif operator and operator not in _SET_OPERATORS and count > 1:
            sets = join_names(sorted(map(terms.local_name, _SET_OPERATORS)), "or")
            message = f"{terms.local_name(operator)} takes one right operand. Given: {count}."
            prop = RIGHT if RIGHT in node.data else REFERENCE
            hint = f"For several, use the operator {sets}."
            self.walker.add_strict("P007", message, hint, node, prop)

    def _left_operand(self, node: Node, capital: str, operands: Mapping[str, terms.Term]) -> str:
        """Return a known left operand, or an IRI of the profile's: a column, an attribute."""
        operand = self._single_iri(node, "leftOperand", capital)
        if (
            operand
            and (not is_absolute(operand) or has_known_namespace(operand))
            and operand not in operands
        ):
            self._add_unknown_term(node, "leftOperand", operand, operands)
            return ""
        if operand and operand not in operands:
            self.own_terms.append((operand, self.walker.graph.later_place(node, LEFT)))
        return operand

    def _operator(self, node: Node, capital: str) -> str:
        return self._term(node, "operator", terms.instances(f"{_ODRL}Operator"), capital)

    def _term(self, node: Node, part: str, allowed: Mapping[str, Any], capital: str) -> str:
        """Return the one known term that a constraint has as its operand or operator."""
        term = self._single_iri(node, part, capital)
        if term and term not in allowed:
            self._add_unknown_term(node, part, term, allowed)
            return ""
        return term

    def _single_iri(self, node: Node, part: str, capital: str) -> str:
        iris = self.walker.iris(node, f"{_ODRL}{part}", terms_too=True)
        if len(iris) == 1:
            return iris[0][0]
        count = len(node.data.get(f"{_ODRL}{part}", []))
        if count != 1:
            prop = f"{_ODRL}{part}" if count else ""
            message = f"{capital} needs one {part}. Given: {count}."
            self.walker.add("P004", message, "", node, prop, 1)
        return ""

    def _add_unknown_term(
        self, node: Node, part: str, word: str, allowed: Mapping[str, Any]
    ) -> None:
        """Note a name that is not known, with those that may be meant, or all of them."""
        prop, name = f"{_ODRL}{part}", terms.compact(word)
        message = f"{name!r} is not a known {part}."
        same_name = [term for term in allowed if terms.local_name(term) == word]
        if same_name:
            full_name = terms.compact(same_name[0])
            self.walker.add(
                "P005",
                message,
                f"Write {full_name!r}.",
                node,
                prop,
                word=word,
                corrected=full_name,
            )
            return
        names = [*map(terms.compact, allowed)]
        is_short = name == word
        suggestion = terms.local_name(word) if is_short else name
        candidates = [*map(terms.local_name, allowed)] if is_short else names
        if not did_you_mean(suggestion, candidates):
            message += " " + self.walker.abbreviate_repeated(
                f"Known are {join_names(names)}.", "known", node, prop
            )
        self.walker.add("P005", message, "", node, prop, word=suggestion, allowed=candidates)

    def _status(self, node: Node) -> Value | None:
        items = node.data.get(STATUS, [])
        if not items:
            return None
        if len(items) > 1 or "@value" not in items[0]:
            self.walker.add("P007", "A constraint has one status, a literal.", "", node, STATUS)
            return None
        datatype = items[0].get("@type", "")
        value = self._right_operands.literal(items[0], datatype, "", node, STATUS)
        return None if value is None else Value(value, self.walker.graph.later_place(node, STATUS))


def _capitalized(text: str) -> str:
    return text[0].upper() + text[1:]
