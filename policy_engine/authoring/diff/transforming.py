"""What changed in the transformation that a rule asks for."""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import cache

from policy_engine import terms
from policy_engine.authoring.diff.meaning import condition_key
from policy_engine.authoring.diff.model import Way
from policy_engine.methods import privacy_model_class
from policy_engine.policy.model import ANONYMIZE, Condition, Constraint, Rule, Value
from policy_engine.policy.wording import condition_text, printable, value_text

_EQ, _AT_MOST = f"{terms.ODRL}eq", f"{terms.ODRL}lteq"
_Finding = tuple[str, str, str, Way]


def transforms(rule: Rule) -> bool:
    """Return whether a rule asks for a transformation."""
    return bool(rule.output) or any(action.iri == ANONYMIZE for action in rule.actions)


def parameters(old: Iterable[Condition], new: Iterable[Condition]) -> Iterator[_Finding]:
    """Yield the changed parameters: what, before, after, and the effect on what is shown.

    A stricter bound shows less, a weaker one more. Everything else can do both: without one of the
    quasi-identifiers, the others become finer.
    """
    before, after = _group_by_operand(old), _group_by_operand(new)
    for name in dict.fromkeys((*before, *after)):
        one, other = before.get(name, []), after.get(name, [])
        if {*map(condition_key, one)} == {*map(condition_key, other)}:
            continue
        name_text = printable(terms.local_name(name))
        if terms.names_columns(name) and _is_list(one + other):
            yield from _columns(name_text, one, other)
        else:
            what = f"{name_text} of {terms.local_name(ANONYMIZE)} changed"
            yield what, _texts(one), _texts(other), _way(one, other)


def _group_by_operand(conditions: Iterable[Condition]) -> dict[str, list[Condition]]:
    groups: dict[str, list[Condition]] = {}
    for one in conditions:
        operand = one.left_operand if isinstance(one, Constraint) else one.operator
        groups.setdefault(operand, []).append(one)
    return groups


def _texts(conditions: list[Condition]) -> str:
    return ", ".join(map(_text, conditions))


def _text(condition: Condition) -> str:
    if isinstance(condition, Constraint) and condition.operator == _EQ:
        return ", ".join(value_text(value, _name) for value in condition.right_operands)
    return condition_text(condition, _name)


def _name(iri: str) -> str:
    return printable(terms.compact(iri))


def _is_list(conditions: Iterable[Condition]) -> bool:
    return all(isinstance(one, Constraint) and not one.references for one in conditions)


def _columns(role: str, old: list[Condition], new: list[Condition]) -> Iterator[_Finding]:
    """Yield the columns that gained or lost a role, or whose settings changed."""
    before, after = (
        {value_text(v, _name, is_name=True) for one in some for v in _values(one)}
        for some in (old, new)
    )
    for name in sorted(before - after):
        yield (f"{role} removed", name, "", Way.BOTH)
    for name in sorted(after - before):
        yield (f"{role} added", "", name, Way.BOTH)
    if before == after:
        yield (f"{role} changed", _texts(old), _texts(new), Way.BOTH)


def _values(condition: Condition) -> tuple[Value, ...]:
    return condition.right_operands if isinstance(condition, Constraint) else ()


def _way(old: list[Condition], new: list[Condition]) -> Way:
    bounds = [_number(some, _AT_MOST) for some in (old, new)]
    if all(bound and bound[0] in _LOOSER for bound in bounds):
        [(_, lower), (_, upper)] = filter(None, bounds)
        return Way.GROWS if upper > lower else Way.SHRINKS
    one, other = _number(old, _EQ), _number(new, _EQ)
    if one is None or other is None or one[0] != other[0]:
        return Way.BOTH
    name, before = one
    after = other[1]
    is_stricter = _senses().get(name)
    if is_stricter is None or before == after:
        return Way.BOTH
    return Way.SHRINKS if (after > before) == is_stricter else Way.GROWS


_LOOSER = ("pe:epsilon", "pe:delta")
"""The bounds under which a release may tell more where they are larger."""


def _number(conditions: list[Condition], operator: str) -> tuple[str, int | float | Decimal] | None:
    """Return the parameter and its value if it is a single number."""
    if len(conditions) == 1 and isinstance(conditions[0], Constraint):
        constraint = conditions[0]
        values = [value.value for value in constraint.right_operands if not value.settings]
        if (
            constraint.operator == operator
            and len(values) == 1
            and len(constraint.right_operands) == 1
        ):
            [value] = values
            if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
                return terms.compact(constraint.left_operand), value
    return None


@cache
def _senses() -> dict[str, bool]:
    """Return, for each parameter that bounds a guarantee, whether a larger value is stricter."""
    senses = {"k": True, "sampleShare": False, "sampleSize": False}
    for notation in terms.privacy_models():
        guarantee = getattr(privacy_model_class(notation), "guarantee", None)
        if guarantee is not None:
            senses[guarantee.parameter] = guarantee.sense == "at least"
    vocabulary = terms.vocabulary()
    return {
        terms.compact(iri): senses[terms.local_name(iri)]
        for iri in vocabulary
        if terms.local_name(iri) in senses and "range" in vocabulary[iri].facts
    }
