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
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from hashlib import sha256
from json.encoder import encode_basestring_ascii as _quoted
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
_EMPTY = frozenset(('""', "[]", "{}"))
"""The texts of what says nothing."""


def digest_of(policy: Policy) -> str:
    """Return the sha-256 of a policy's canonical text, in hexadecimal."""
    return sha256(canonical_text(policy).encode()).hexdigest()


def digest_of_heir(policy: Policy, parents: Sequence[Policy], conflict: Strategy) -> str:
    """Return the digest of a policy that inherits: of what it says and of its parents' digests.

    What a policy shares with its rules goes for those that it inherits too, and what its parents
    share for its own; `conflict` is the strategy that results for them together.
    """
    parts = {
        **_members(policy),
        "conflict": _quoted(conflict),
        "shared": canonical_rule(policy.shared),
        "parents": _sorted(
            f"[{_quoted(one.digest)},{canonical_rule(one.shared)}]" for one in parents
        ),
    }
    return sha256(_object(parts).encode()).hexdigest()


def canonical_text(policy: Policy) -> str:
    """Return what a policy means as JSON: one text for all texts that mean the same.

    Hierarchies and vocabularies, which are said beside its rules, are there by their digest, for
    many policies of one text may share it.
    """
    return _object(_members(policy))


def _members(policy: Policy) -> dict[str, str]:
    parts = {
        "uid": _quoted(policy.uid),
        "type": _quoted(policy.type),
        "conflict": _quoted(policy.conflict),
        "inheritFrom": _names(policy.inherits),
        "endsWith": _names(policy.ends_with),
        "accepted": _quoted(policy.accepted),
        "permission": _sorted(map(canonical_rule, policy.permissions)),
        "prohibition": _sorted(map(canonical_rule, policy.prohibitions)),
        "obligation": _sorted(map(canonical_rule, policy.obligations)),
        "hierarchy": _quoted(policy.hierarchy.digest),
        "vocabulary": _quoted(policy.vocabulary.digest),
        "queries": _sorted(map(_query, policy.queries)),
        "budget": _sorted(map(_budget, policy.budgets)),
    }
    return {"canonical": str(VERSION), **_without_empty(parts)}


# -- queries and budgets ---------------------------------------------------------------------


def _query(query: Query) -> str:
    """Return a table of aggregates, the columns of which are in the order of its parts."""
    parts = {
        "uid": _quoted(query.uid),
        "groupBy": _list(map(_group_column, query.group_by)),
        "keys": _text(query.keys),
        "aggregate": _list(map(_aggregate, query.aggregates)),
        "rows": '""' if query.rows is None else _parameter_value(query.rows),
    }
    return _said(parts)


def _group_column(column: GroupColumn) -> str:
    return _said({"iri": _quoted(column.iri), "keys": _list(map(_parameter_value, column.keys))})


def _aggregate(aggregate: Aggregate) -> str:
    parts = {
        "function": _quoted(aggregate.function),
        "of": _text(aggregate.of),
        "name": _quoted(aggregate.name),
        **{name: _parameter_value(one) for name, one in aggregate.settings.items()},
        "candidates": _list(map(_parameter_value, aggregate.candidates)),
    }
    return _said(parts)


def _budget(budget: Budget) -> str:
    lifetime = {
        name: _quoted(canonical_literal(number))
        for name, number in (
            ("lifetimeEpsilon", budget.lifetime_epsilon),
            ("lifetimeDelta", budget.lifetime_delta),
        )
        if number is not None
    }
    parts = {
        "over": _text(budget.over),
        "epsilon": _quoted(canonical_literal(budget.epsilon)),
        "delta": _quoted(canonical_literal(budget.delta)),
        "scope": _text(budget.scope),
        "renewal": _text(budget.renewal),
        **lifetime,
    }
    return _said(parts)


# -- rules ------------------------------------------------------------------------------------


def canonical_rule(rule: Rule) -> str:
    """Return what a rule means as JSON, its kind apart."""
    parts = (
        ("action", _parts(rule.actions)),
        ("assignee", _parts(rule.assignees)),
        ("assigner", _parts(rule.assigners)),
        ("consequence", _sorted(map(canonical_rule, rule.consequences))),
        ("constraint", _conditions(rule.constraints, _operands)),
        ("duty", _sorted(map(canonical_rule, rule.duties))),
        ("function", _object({name: _parts(some) for name, some in rule.functions.items()})),
        ("output", _quoted(rule.output)),
        ("purpose", _names(rule.purposes)),
        ("remedy", _sorted(map(canonical_rule, rule.remedies))),
        ("target", _parts(rule.targets)),
        ("uid", _quoted(rule.uid)),
    )
    return _said_in_order(parts)


def _parts(parts: Sequence[Action | Party | Asset]) -> str:
    if len(parts) > 1:
        return _set([*map(_part, parts)])
    return f"[{_part(parts[0])}]" if parts else "[]"


def _part(part: Action | Party | Asset) -> str:
    if not part.refinements:
        return _quoted(part.iri)
    operands = _operands
    if isinstance(part, Action):
        operands = _parameters if part.iri == ANONYMIZE else _value_list
    refinements = _conditions(part.refinements, operands)
    return _object({"iri": _quoted(part.iri), "refinement": refinements})


# -- conditions -------------------------------------------------------------------------------

_Operands = Callable[[Constraint], str]


def _conditions(conditions: Sequence[Condition], operands: _Operands) -> str:
    """Return conditions that must all hold, those joined by `and` one by one."""
    return _sorted(_condition(one, operands) for one in _flat(conditions)) if conditions else "[]"


def _flat(conditions: Iterable[Condition]) -> Iterator[Condition]:
    for one in conditions:
        if isinstance(one, LogicalConstraint) and one.operator == _AND:
            yield from _flat(one.operands)
        else:
            yield one


def _condition(condition: Condition, operands: _Operands) -> str:
    if isinstance(condition, LogicalConstraint):
        inner = [_condition(one, operands) for one in condition.operands]
        is_ordered = condition.operator == _IN_ORDER
        return _object({condition.operator: _list(inner) if is_ordered else _sorted(inner)})
    parts = (
        # The type of the right operand is in its value.
        ("dataType", _quoted(condition.data_type if condition.references else "")),
        ("left", _quoted(condition.left_operand)),
        ("operator", _quoted(condition.operator)),
        ("reference", _names(condition.references)),
        ("right", operands(condition)),
        ("status", _literal(condition.status.value, "") if condition.status else "[]"),
        ("unit", _quoted(condition.unit)),
    )
    return _said_in_order(parts)


def _operands(constraint: Constraint) -> str:
    return _set(_values(constraint))


def _value_list(constraint: Constraint) -> str:
    return _list(_values(constraint))


def _values(constraint: Constraint) -> list[str]:
    is_name = terms.takes_names(constraint.left_operand)
    values = [one for value in constraint.right_operands for one in value.all]
    return [_value(one, constraint, is_name=is_name) for one in values]


def _parameters(constraint: Constraint) -> str:
    """Return the right operand of a parameter, where a number is a number of any type."""
    if terms.names_columns(constraint.left_operand):
        rights = constraint.right_operands
        return _list(_name(terms.canonical(str(one.value)), one) for one in rights)
    is_name = terms.takes_names(constraint.left_operand)
    return _list(
        _name(terms.canonical(terms.expand(str(one.value))))
        if is_name and not one.is_iri and _NAME.fullmatch(str(one.value))
        else _parameter_value(one)
        for one in constraint.right_operands
    )


# -- values -----------------------------------------------------------------------------------


def _name(iri: str, value: Value | None = None) -> str:
    """Return a name, with the settings of the column that it is, if it has any."""
    settings = _settings(value) if value else ""
    return f'["iri",{_quoted(iri)}{settings}]'


def _value(value: Value, constraint: Constraint, *, is_name: bool) -> str:
    """Return a name as one, a text that is a name where names are meant too, else a literal."""
    content = value.value
    if isinstance(content, str) and (value.is_iri or (is_name and _NAME.fullmatch(content))):
        # Names are compared so.
        return _name(terms.canonical(terms.expand(content)), value)
    return _literal(content, value.type or constraint.data_type, _settings(value))


def _settings(value: Value) -> str:
    """Return the settings of a column as a further item, if it has any."""
    if not value.settings:
        return ""
    return "," + _object({name: _setting(one) for name, one in value.settings.items()})


def _setting(value: Value) -> str:
    return _list(map(_parameter_value, value.all)) if value.more else _parameter_value(value)


def _parameter_value(value: Value) -> str:
    """Return a name or a literal, where a number is a number of any type."""
    if value.is_iri:
        return _name(str(value.value))
    content = value.value
    is_whole = isinstance(content, float) and content.is_integer()
    return _literal(int(content) if is_whole else content, value.type)  # type: ignore[arg-type]


def _literal(value: Literals, datatype: str, settings: str = "") -> str:
    """Return a literal by its kind; of a duration with its type, by which others are read."""
    kind, text = kind_of(value), canonical_literal(value)
    of_type = f",{_quoted(datatype or type_of(value))}" if kind == "duration" else ""
    return f"[{_quoted(kind)},{_quoted(text)}{of_type}{settings}]"


def canonical_literal(value: Literals) -> str:
    """Return the canonical text of a value in XSD; of an instant, whatever its zone, in UTC."""
    if isinstance(value, datetime):
        offset = value.utcoffset()
        if offset is not None:
            return _instant(value.replace(tzinfo=None), offset)
    return lexical(value)


@lru_cache(maxsize=4_096)
def _instant(local: datetime, offset: timedelta) -> str:
    moment = local.replace(tzinfo=timezone(offset))
    with suppress(OverflowError):
        return lexical(moment.astimezone(UTC))
    return lexical(moment)


# -- as text ----------------------------------------------------------------------------------


def _without_empty(parts: Mapping[str, str]) -> dict[str, str]:
    """Return the members that say something."""
    return {name: text for name, text in parts.items() if text not in _EMPTY}


def _said_in_order(parts: Iterable[tuple[str, str]]) -> str:
    """Return an object of the members that say something, given in the order of their names."""
    return "{" + ",".join([f'"{name}":{text}' for name, text in parts if text not in _EMPTY]) + "}"


def _said(parts: Mapping[str, str]) -> str:
    """Return an object of the members that say something."""
    return _object(_without_empty(parts))


def _object(parts: Mapping[str, str]) -> str:
    """Return an object of members, whose values are texts already, sorted by their names."""
    if not parts:
        return "{}"
    return "{" + ",".join([f"{_quoted(name)}:{parts[name]}" for name in sorted(parts)]) + "}"


def _list(texts: Iterable[str]) -> str:
    return f"[{','.join(texts)}]"


def _names(names: Collection[str]) -> str:
    """Return names in order, each once."""
    return _list(map(_quoted, sorted(set(names)))) if names else "[]"


def _sorted(texts: Iterable[str]) -> str:
    return _list(sorted(texts))


def _set(texts: Sequence[str]) -> str:
    """Return texts in order, each once."""
    return _list(sorted({*texts}))


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
