"""What a rule asks of a release under differential privacy, and what its conditions say of others.

Epsilon and delta are bounds, and read as exact decimals: a binary float may be more than was
written. That they are the least possible, or above some bound, is nothing that a policy may ask.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from policy_engine import terms
from policy_engine.errors import join_names
from policy_engine.policy.model import (
    SPENDING_UNITS,
    SPENT,
    SPENT_DELTA,
    Condition,
    Constraint,
    Value,
)
from policy_engine.policy.reading.numbers import (
    CONTRIBUTIONS,
    DELTA,
    RELEASE_EPSILON,
    SPENT_EPSILON,
    ExactReader,
    Range,
    name_value,
)
from policy_engine.policy.reading.walker import Walker
from policy_engine.policy.structure import OPERATOR, REFERENCE, RIGHT, UNIT
from policy_engine.policy.syntax.json_ld import Node
from policy_engine.policy.xsd.values import exact_number

_ODRL, _PE = terms.ODRL, terms.PE
_AT_MOST, _IS = f"{_ODRL}lteq", f"{_ODRL}eq"
_RELEASE, _DELTA = f"{_PE}release", f"{_PE}delta"
_METHOD = f"{terms.MOSAICROWN}method"
DIFFERENTIAL_PRIVACY = "differential-privacy"
"""The end of the notations of methods that epsilon and delta bound."""
_WORDS: Mapping[str, str] = {
    f"{_PE}neighbours": "Neighbours",
    f"{_PE}mechanism": "NoiseMechanism",
    f"{_PE}selection": "SelectionMechanism",
}
_NUMBERS: Mapping[str, Range] = {
    f"{_PE}maxGroupsPerUnit": CONTRIBUTIONS,
    f"{_PE}maxRowsPerGroup": CONTRIBUTIONS,
    f"{_PE}epsilon": RELEASE_EPSILON,
    _DELTA: DELTA,
}


def read_parameter(walker: Walker, node: Node, parameter: Constraint) -> Constraint:
    """Return a refinement of `anonymize` with its words, names and numbers checked, if it has any.

    A delta that is not a bound is a parameter of another method, and is left alone.
    """
    operand = parameter.left_operand
    is_read = operand in _WORDS or operand == _RELEASE or operand in _NUMBERS
    if not is_read or (operand == _DELTA and parameter.operator != _AT_MOST):
        return parameter
    reader = ExactReader(walker)
    values = (
        _read(reader, node, operand, value, index)
        for index, value in enumerate(parameter.right_operands)
    )
    return replace(parameter, right_operands=tuple(one for one in values if one is not None))


def _read(reader: ExactReader, node: Node, operand: str, value: Value, index: int) -> Value | None:
    item = {"@id" if value.is_iri else "@value": value.value}
    if operand in _WORDS:
        word = reader.word_of(item, node, RIGHT, _WORDS[operand], index, operand)
        return Value(word, value.place) if word else None
    if operand == _RELEASE:
        # In JSON-LD a name is easily written as a text, and means what it names.
        iri = reader.name_of({"@id": str(value.value)}, node, RIGHT, index)
        return name_value(iri, value) if iri else None
    allowed = _NUMBERS[operand]
    try:
        number = exact_number(None if value.is_iri else value.value)
    except ValueError:
        number = None
    if number is None or not allowed.holds(number):
        text = repr(value.value) if number is None else f"{number:f}"
        message = f"{terms.compact(operand)} takes {allowed.words}. Given: {text}."
        reader.walker.add("P007", message, "", node, RIGHT, index)
        return None
    return replace(value, value=int(number) if allowed.is_integer else number)


def check_delta(walker: Walker, parameters: Iterable[tuple[Node, Constraint]]) -> None:
    """Note a delta that is a bound where its method takes a value, or the other way (P007)."""
    by_operand = {one.left_operand: (node, one) for node, one in parameters}
    if _DELTA not in by_operand or _METHOD not in by_operand:
        return
    node, delta = by_operand[_DELTA]
    methods = [str(one.value) for one in by_operand[_METHOD][1].right_operands]
    is_bound = any(method.endswith(DIFFERENTIAL_PRIVACY) for method in methods)
    operator = _AT_MOST if is_bound else _IS
    if delta.operator in (_AT_MOST, _IS) and delta.operator != operator:
        method_names = join_names(terms.local_name(one) for one in methods)
        message = f"pe:delta takes the operator {terms.local_name(operator)!r} with {method_names}."
        message += f" Given: {terms.local_name(delta.operator)!r}."
        walker.add("P007", message, "", node, OPERATOR)


def check_spent(walker: Walker, node: Node, condition: Constraint) -> None:
    """Note a condition on what releases cost that is not a bound, or not on a known account."""
    if condition.left_operand not in SPENT:
        return
    name = terms.compact(condition.left_operand)
    if condition.operator != _AT_MOST:
        message = f"{name} takes the operator 'lteq'. "
        message += f"Given: {terms.local_name(condition.operator)!r}."
        walker.add("P007", message, "", node, OPERATOR)
    _check_unit(walker, node, condition.unit, name)
    allowed = DELTA if condition.left_operand == SPENT_DELTA else SPENT_EPSILON
    _check_bounds(walker, node, condition.right_operands, allowed, name)
    for index, iri in enumerate(condition.references):
        message = f"{name} takes {allowed.words}. Given: a reference to {iri!r}."
        walker.add("P007", message, "Give the number itself: rightOperand.", node, REFERENCE, index)


def refuse_spent(walker: Walker, node: Node, prop: str, conditions: Iterable[Condition]) -> None:
    """Note a bound on what is spent in a part of a rule that no account is held to."""
    for one in (leaf for condition in conditions for leaf in condition.constraints()):
        if one.left_operand in SPENT:
            message = f"{terms.compact(one.left_operand)} is for constraints of permissions. "
            message += f"Given: in a {terms.local_name(prop)} of another part."
            walker.add("P007", message, "Make it a constraint of the permission.", node, prop)


def _check_unit(walker: Walker, node: Node, unit: str, name: str) -> None:
    units = [*map(terms.compact, SPENDING_UNITS)]
    if not unit:
        message = f"{name} is of an account: its unit is {join_names(units, 'or')}."
        walker.add("P023", message, "", node)
    elif unit not in SPENDING_UNITS:
        message = f"The unit of {name} is {join_names(units, 'or')}. "
        message += f"Given: {terms.compact(unit)!r}."
        word = terms.compact(unit)
        walker.add("P005", message, "", node, UNIT, word=word, allowed=units)


def _check_bounds(
    walker: Walker, node: Node, values: Sequence[Value], allowed: Range, name: str
) -> None:
    for index, value in enumerate(values):
        try:
            is_allowed = not value.is_iri and allowed.holds(exact_number(value.value))
        except ValueError:
            is_allowed = False
        if not is_allowed:
            message = f"{name} takes {allowed.words}. Given: {str(value.value)!r}."
            walker.add("P007", message, "", node, RIGHT, index)
