"""What a policy means as one text, however it is written, and the digest of that.

The text is JSON without white space, its keys sorted. It is made of the policy as it was read:
names in full and in one spelling, values instead of their literals, and what a policy shares
with all its rules in each of them. What has no order is sorted by its own text. Kept is the order
of a sequence (`odrl:andSequence`) and of what is listed in the refinement of an action, since the
columns of a release are in that order. A member that says nothing is left out, so that the form
of a policy does not change when the language grows.

Left out is what affects no decision and no plan: positions in the text, the names of
constraints, profiles except for their conflict strategy, descriptions, prefixes,
and the definitions of a vocabulary's terms in words. Left out too is what says whether a policy is
in force (`dct:isReplacedBy`, its dates): of texts that mean the same, one that was replaced speaks
for all (`collecting`).
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from policy_engine import terms
from policy_engine.policy.model import (
    ANONYMIZE,
    Action,
    Asset,
    Condition,
    Constraint,
    LogicalConstraint,
    Party,
    Policy,
    Rule,
    Strategy,
    Value,
)
from policy_engine.policy.queries import Aggregate, Budget, GroupColumn, Query
from policy_engine.policy.xsd.literals import lexical, type_of
from policy_engine.policy.xsd.values import Literals, kind_of

VERSION = 1
"""The version of the canonical form: it grows where one policy's text would become another."""
_AND, _IN_ORDER = f"{terms.ODRL}and", f"{terms.ODRL}andSequence"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20]+")
_Form = Any


def digest_of(policy: Policy) -> str:
    """Return the sha-256 of a policy's canonical text, in hexadecimal."""
    return sha256(canonical_text(policy).encode()).hexdigest()


def digest_of_heir(policy: Policy, parents: Sequence[Policy], conflict: Strategy) -> str:
    """Return the digest of a policy that inherits: of what it says and of its parents' digests.

    What a policy shares with its rules goes for those that it inherits too, and what its parents
    share for its own; `conflict` is the strategy that results for them together.
    """
    form = {
        **_form(policy),
        "conflict": conflict,
        "shared": _rule(policy.shared),
        "parents": _sorted([one.digest, _rule(one.shared)] for one in parents),
    }
    return sha256(_text(form).encode()).hexdigest()


def canonical_text(policy: Policy) -> str:
    """Return what a policy means as JSON: one text for all texts that mean the same.

    Hierarchies and vocabularies, which are said beside its rules, are there by their digest, for
    many policies of one text may share it.
    """
    return _text(_form(policy))


def canonical_rule(rule: Rule) -> str:
    """Return what a rule means as JSON, its kind apart."""
    return _text(_rule(rule))


def _form(policy: Policy) -> dict[str, _Form]:
    parts = {
        "uid": policy.uid,
        "type": policy.type,
        "conflict": policy.conflict,
        "inheritFrom": sorted(set(policy.inherits)),
        "endsWith": sorted(set(policy.ends_with)),
        "accepted": policy.accepted,
        "permission": _sorted(map(_rule, policy.permissions)),
        "prohibition": _sorted(map(_rule, policy.prohibitions)),
        "obligation": _sorted(map(_rule, policy.obligations)),
        "hierarchy": policy.hierarchy.digest,
        "vocabulary": policy.vocabulary.digest,
        "queries": _sorted(map(_query, policy.queries)),
        "budget": _sorted(map(_budget, policy.budgets)),
    }
    return {"canonical": VERSION, **_without_empty(parts)}


# -- queries and budgets ---------------------------------------------------------------------


def _query(query: Query) -> dict[str, _Form]:
    """Return a table of aggregates, the columns of which are in the order of its parts."""
    parts = {
        "uid": query.uid,
        "groupBy": [_group_column(one) for one in query.group_by],
        "keys": query.keys,
        "aggregate": [_aggregate(one) for one in query.aggregates],
        "rows": "" if query.rows is None else _parameter_value(query.rows),
    }
    return _without_empty(parts)


def _group_column(column: GroupColumn) -> dict[str, _Form]:
    return _without_empty({"iri": column.iri, "keys": [*map(_parameter_value, column.keys)]})


def _aggregate(aggregate: Aggregate) -> dict[str, _Form]:
    parts = {
        "function": aggregate.function,
        "of": aggregate.of,
        "name": aggregate.name,
        **{name: _parameter_value(one) for name, one in aggregate.settings.items()},
        "candidates": [*map(_parameter_value, aggregate.candidates)],
    }
    return _without_empty(parts)


def _budget(budget: Budget) -> dict[str, _Form]:
    lifetime = {
        name: canonical_literal(number)
        for name, number in (
            ("lifetimeEpsilon", budget.lifetime_epsilon),
            ("lifetimeDelta", budget.lifetime_delta),
        )
        if number is not None
    }
    parts = {
        "over": budget.over,
        "epsilon": canonical_literal(budget.epsilon),
        "delta": canonical_literal(budget.delta),
        "scope": budget.scope,
        "renewal": budget.renewal,
        **lifetime,
    }
    return _without_empty(parts)


# -- rules ------------------------------------------------------------------------------------


def _rule(rule: Rule) -> dict[str, _Form]:
    parts = {
        "uid": rule.uid,
        "assigner": _parts(rule.assigners),
        "assignee": _parts(rule.assignees),
        "target": _parts(rule.targets),
        "action": _parts(rule.actions),
        "purpose": sorted(set(rule.purposes)),
        "output": rule.output,
        "constraint": _conditions(rule.constraints, _operands),
        "duty": _sorted(map(_rule, rule.duties)),
        "remedy": _sorted(map(_rule, rule.remedies)),
        "consequence": _sorted(map(_rule, rule.consequences)),
        "function": {function: _parts(some) for function, some in rule.functions.items()},
    }
    return _without_empty(parts)


def _parts(parts: Iterable[Action | Party | Asset]) -> list[_Form]:
    return _set(map(_part, parts))


def _part(part: Action | Party | Asset) -> _Form:
    if not part.refinements:
        return part.iri
    operands = _operands
    if isinstance(part, Action):
        operands = _parameters if part.iri == ANONYMIZE else _values
    return {"iri": part.iri, "refinement": _conditions(part.refinements, operands)}


# -- conditions -------------------------------------------------------------------------------

_Operands = Callable[[Constraint], list[_Form]]


def _conditions(conditions: Iterable[Condition], operands: _Operands) -> list[_Form]:
    """Return conditions that must all hold, those joined by `and` one by one."""
    return _sorted(_condition(one, operands) for one in _flat(conditions))


def _flat(conditions: Iterable[Condition]) -> Iterator[Condition]:
    for one in conditions:
        if isinstance(one, LogicalConstraint) and one.operator == _AND:
            yield from _flat(one.operands)
        else:
            yield one


def _condition(condition: Condition, operands: _Operands) -> dict[str, _Form]:
    if isinstance(condition, LogicalConstraint):
        inner = [_condition(one, operands) for one in condition.operands]
        is_ordered = condition.operator == _IN_ORDER
        return {condition.operator: inner if is_ordered else _sorted(inner)}
    parts = {
        "left": condition.left_operand,
        "operator": condition.operator,
        "right": operands(condition),
        "reference": sorted(set(condition.references)),
        # The type of the right operand is in its value.
        "dataType": condition.data_type if condition.references else "",
        "unit": condition.unit,
        "status": _literal(condition.status.value, "") if condition.status else [],
    }
    return _without_empty(parts)


def _operands(constraint: Constraint) -> list[_Form]:
    return _set(_values(constraint))


def _values(constraint: Constraint) -> list[_Form]:
    is_name = terms.takes_names(constraint.left_operand)
    values = [one for value in constraint.right_operands for one in value.all]
    return [_value(one, constraint, is_name=is_name) for one in values]


def _parameters(constraint: Constraint) -> list[_Form]:
    """Return the right operand of a parameter, where a number is a number of any type."""
    if terms.names_columns(constraint.left_operand):
        rights = constraint.right_operands
        return [["iri", terms.canonical(str(one.value)), *_settings(one)] for one in rights]
    is_name = terms.takes_names(constraint.left_operand)
    return [
        ["iri", terms.canonical(terms.expand(str(one.value)))]
        if is_name and not one.is_iri and _NAME.fullmatch(str(one.value))
        else _parameter_value(one)
        for one in constraint.right_operands
    ]


# -- values -----------------------------------------------------------------------------------


def _value(value: Value, constraint: Constraint, *, is_name: bool) -> list[_Form]:
    """Return a name as one, a text that is a name where names are meant too, else a literal."""
    content = value.value
    if isinstance(content, str) and (value.is_iri or (is_name and _NAME.fullmatch(content))):
        # Names are compared so.
        return ["iri", terms.canonical(terms.expand(content)), *_settings(value)]
    return [*_literal(content, value.type or constraint.data_type), *_settings(value)]


def _settings(value: Value) -> Iterator[dict[str, _Form]]:
    """Yield the settings of a column, if it has any."""
    if value.settings:
        yield {name: _setting(one) for name, one in value.settings.items()}


def _setting(value: Value) -> list[_Form]:
    return [_parameter_value(one) for one in value.all] if value.more else _parameter_value(value)


def _parameter_value(value: Value) -> list[_Form]:
    """Return a name or a literal, where a number is a number of any type."""
    if value.is_iri:
        return ["iri", str(value.value)]
    content = value.value
    is_whole = isinstance(content, float) and content.is_integer()
    return _literal(int(content) if is_whole else content, value.type)  # type: ignore[arg-type]


def _literal(value: Literals, datatype: str) -> list[_Form]:
    """Return a literal by its kind; of a duration with its type, by which others are read."""
    kind, text = kind_of(value), canonical_literal(value)
    return [kind, text, datatype or type_of(value)] if kind == "duration" else [kind, text]


def canonical_literal(value: Literals) -> str:
    """Return the canonical text of a value in XSD; of an instant, whatever its zone, in UTC."""
    if isinstance(value, datetime) and value.utcoffset() is not None:
        with suppress(OverflowError):
            return lexical(value.astimezone(UTC))
    return lexical(value)


# -- as text ----------------------------------------------------------------------------------


def _without_empty(parts: Mapping[str, _Form]) -> dict[str, _Form]:
    """Return the members that say something."""
    return {name: value for name, value in parts.items() if value not in ("", [], {})}


def _sorted(forms: Iterable[_Form]) -> list[_Form]:
    sorted_forms = list(forms)
    return sorted_forms if len(sorted_forms) < 2 else sorted(sorted_forms, key=_text)


def _set(forms: Iterable[_Form]) -> list[_Form]:
    """Return forms in order, each once."""
    all_forms = list(forms)
    if len(all_forms) < 2:
        return all_forms
    forms_by_text = {_text(one): one for one in all_forms}
    return [forms_by_text[text] for text in sorted(forms_by_text)]


def _text(form: _Form) -> str:
    return "".join(_ENCODE(form, 0))


def _encoding() -> Callable[[_Form, int], Iterable[str]]:
    """Return what writes JSON without white space, its keys sorted.

    That of Python's own encoder in C is made once: `encode` makes another for each of the many
    small forms of a policy, which takes longer than to write them.
    """
    encoder = json.JSONEncoder(sort_keys=True, separators=(",", ":"))
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:  # a Python without it
        return lambda form, _: (encoder.encode(form),)
    text = json.encoder.encode_basestring_ascii
    sorts, skips, allows_nan = True, False, True
    fast: Callable[[_Form, int], Iterable[str]] = make(
        None, encoder.default, text, None, ":", ",", sorts, skips, allows_nan
    )
    return fast


_ENCODE = _encoding()
